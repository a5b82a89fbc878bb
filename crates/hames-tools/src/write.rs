//! `write`: a whole file, new or in the place of one that was read.
//!
//! It never writes over what this agent has not seen.

use std::{io, sync::Arc};

use hames_types::{Access, RawJson, ToolContext, ToolError, ToolOutput, ToolSpec, TypedTool};
use serde::Deserialize;

use crate::{
    files::{Files, Knowledge, off_thread, read_whole, replace},
    layout::Layout,
    paths::Place,
};

pub(crate) struct Write {
    pub files: Arc<Files>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    #[serde(alias = "file_path", alias = "absolute_path", alias = "filename")]
    path: String,
    #[serde(alias = "contents", alias = "file_text", alias = "text")]
    content: String,
    #[serde(skip)]
    place: Place,
}

impl TypedTool for Write {
    type Input = Input;

    fn spec() -> ToolSpec {
        let schema = r#"{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}"#;
        ToolSpec {
            name: "write".to_owned(),
            description: include_str!("write.md").trim_end().to_owned(),
            input_schema: RawJson::from(schema),
        }
    }

    fn access(&self, input: &mut Input, cx: &ToolContext) -> Result<Access, ToolError> {
        if input.path.ends_with('/') {
            let reason = format!("{} names a folder; name a file in it", input.path);
            return Err(ToolError::invalid(reason));
        }
        input.place = Place::find(&cx.workspace, &input.path)?;
        Ok(Access::write(&input.place.path))
    }

    async fn call(&self, input: Input, cx: ToolContext) -> Result<ToolOutput, ToolError> {
        let files = self.files.clone();
        let work = move || files.alone(&input.place.path, || put(&files, &input, &cx));
        off_thread(work).await
    }
}

fn put(files: &Files, input: &Input, cx: &ToolContext) -> Result<ToolOutput, ToolError> {
    let Input { content, place, .. } = input;
    place.check_unmoved(&cx.workspace)?;
    let shown = place.shown(&cx.workspace);
    let before = read_whole(&place.path, &shown)?;
    let bytes = match &before {
        None => content.as_bytes().to_vec(),
        Some(before) => {
            check_known(files.knowledge(&cx.agent, &place.path, before), &shown)?;
            Layout::of(before).clothe(content)
        }
    };
    if before.as_ref() == Some(&bytes) {
        return Ok(ToolOutput::text(format!(
            "{shown} holds exactly this already; nothing was written"
        )));
    }
    replace(&place.path, &bytes).map_err(|error| not_written(&shown, &error))?;
    files.saw(&cx.agent, &place.path, &bytes);
    let did = if before.is_some() {
        "wrote over"
    } else {
        "created"
    };
    let lines = content.lines().count();
    let kept = match bytes.len() == content.len() {
        true => "",
        false => "; its byte order mark and CRLF line ends were kept",
    };
    Ok(ToolOutput::text(format!(
        "{did} {shown}, {lines} lines{kept}"
    )))
}

fn check_known(knowledge: Knowledge, shown: &str) -> Result<(), ToolError> {
    match knowledge {
        Knowledge::Current => Ok(()),
        Knowledge::Nothing => Err(ToolError::failed(format!(
            "{shown} is there already and you have not read it; read it first, \
             or change a part of it with edit"
        ))),
        Knowledge::Stale => Err(changed(shown)),
    }
}

pub(crate) fn changed(shown: &str) -> ToolError {
    ToolError::failed(format!(
        "{shown} was changed by someone else since you read it; nothing was written, read it again"
    ))
}

pub(crate) fn not_written(shown: &str, error: &io::Error) -> ToolError {
    let advice = match error.kind() {
        io::ErrorKind::PermissionDenied => "; it is read-only, or its folder is",
        io::ErrorKind::StorageFull => "; make room first",
        _ => "",
    };
    ToolError::failed(format!(
        "{shown} was not written and is as it was: {error}{advice}"
    ))
}
