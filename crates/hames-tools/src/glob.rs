//! `glob`: files by the pattern of their paths.
//!
//! It opens none of them.

use hames_types::{Access, RawJson, ToolContext, ToolError, ToolOutput, ToolSpec, TypedTool};
use serde::Deserialize;

use crate::{
    files::off_thread,
    paths::{Place, shown},
    walk::{self, Patience, SearchLimits},
};

pub(crate) struct Glob {
    pub limits: SearchLimits,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    #[serde(alias = "glob", alias = "glob_pattern")]
    pattern: String,
    #[serde(default, alias = "dir", alias = "directory", alias = "root")]
    path: Option<String>,
    #[serde(skip)]
    place: Place,
}

impl TypedTool for Glob {
    type Input = Input;

    fn spec() -> ToolSpec {
        let schema = r#"{"type":"object","properties":{"pattern":{"type":"string"},"path":{"type":"string"}},"required":["pattern"]}"#;
        ToolSpec {
            name: "glob".to_owned(),
            description: include_str!("glob.md").trim_end().to_owned(),
            input_schema: RawJson::from(schema),
        }
    }

    fn access(&self, input: &mut Input, cx: &ToolContext) -> Result<Access, ToolError> {
        walk::pattern(&input.pattern)?;
        input.place = Place::find(&cx.workspace, input.path.as_deref().unwrap_or("."))?;
        Ok(Access::read(&input.place.path))
    }

    async fn call(&self, input: Input, cx: ToolContext) -> Result<ToolOutput, ToolError> {
        let patience = Patience::new(self.limits.time, cx.cancel.clone());
        let most = self.limits.files;
        off_thread(move || list(&input, &cx, patience, most)).await
    }
}

fn list(
    input: &Input,
    cx: &ToolContext,
    patience: Patience,
    most: usize,
) -> Result<ToolOutput, ToolError> {
    input.place.check_unmoved(&cx.workspace)?;
    let root = &input.place.path;
    walk::check_there(root, &input.place.shown(&cx.workspace))?;
    let pattern = walk::pattern(&input.pattern)?;
    let mut lines = Vec::new();
    let mut ended = None;
    for found in walk::files(root, patience) {
        let path = match found {
            Ok(path) => path,
            Err(reason) => {
                ended = Some(format!("PARTIAL: {reason}; narrow the pattern or the path"));
                break;
            }
        };
        let below = path.strip_prefix(root).unwrap_or(&path);
        if !pattern.is_match(below) {
            continue;
        }
        if lines.len() == most {
            let reason = format!("PARTIAL: the first {most} files; narrow the pattern or the path");
            ended = Some(reason);
            break;
        }
        lines.push(shown(&path, &cx.workspace));
    }
    if lines.is_empty() && ended.is_none() {
        ended =
            Some("no file fits; ignored files are left out, bash with find shows all".to_owned());
    }
    lines.extend(ended.map(|reason| format!("[{reason}]")));
    Ok(ToolOutput::text(lines.join("\n")))
}
