//! `read`: a file's lines as they are, or a picture.
//!
//! It lists no folders and searches nothing: that is for `glob` and `grep`.

use std::{fmt::Write, path::Path, sync::Arc};

use base64::{Engine, engine::general_purpose::STANDARD};
use hames_types::{
    Access, Content, RawJson, ToolContext, ToolError, ToolOutput, ToolSpec, TypedTool,
};
use serde::Deserialize;

use crate::{
    files::{Files, off_thread, read_whole},
    layout::Layout,
    lenient,
    paths::Place,
    printable::{is_binary, printable},
};

const MOST_LINES: usize = 2000;
const MOST_BYTES: usize = 48_000;
const LONGEST_LINE: usize = 2000;
const LARGEST_PICTURE: usize = 5 << 20;

pub(crate) struct Read {
    pub files: Arc<Files>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    #[serde(alias = "file_path", alias = "absolute_path", alias = "filename")]
    path: String,
    /// The first line to show, from 1.
    #[serde(default, deserialize_with = "lenient::count")]
    offset: Option<usize>,
    #[serde(default, deserialize_with = "lenient::count")]
    limit: Option<usize>,
    #[serde(skip)]
    place: Place,
}

impl TypedTool for Read {
    type Input = Input;

    fn spec() -> ToolSpec {
        let schema = r#"{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer"},"limit":{"type":"integer"}},"required":["path"]}"#;
        ToolSpec {
            name: "read".to_owned(),
            description: include_str!("read.md").trim_end().to_owned(),
            input_schema: RawJson::from(schema),
        }
    }

    fn access(&self, input: &mut Input, cx: &ToolContext) -> Result<Access, ToolError> {
        input.place = Place::find(&cx.workspace, &input.path)?;
        Ok(Access::read(&input.place.path))
    }

    async fn call(&self, input: Input, cx: ToolContext) -> Result<ToolOutput, ToolError> {
        let files = self.files.clone();
        off_thread(move || {
            input.place.check_unmoved(&cx.workspace)?;
            let shown = input.place.shown(&cx.workspace);
            let Some(bytes) = read_whole(&input.place.path, &shown)? else {
                return Err(missing(&input.place.path, &shown));
            };
            let output = show(&bytes, &shown, &input)?;
            files.saw(&cx.agent, &input.place.path, &bytes);
            Ok(output)
        })
        .await
    }
}

/// Names what is there instead, as far as it looks like it.
fn missing(path: &Path, shown: &str) -> ToolError {
    let wanted = path.file_name().unwrap_or_default().to_ascii_lowercase();
    let entries = path.parent().and_then(|folder| folder.read_dir().ok());
    let names = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name());
    let mut alike: Vec<_> = names.filter(|name| is_alike(name, &wanted)).collect();
    alike.sort();
    let alike: Vec<_> = alike
        .iter()
        .take(3)
        .map(|name| name.to_string_lossy())
        .collect();
    let hint = match alike.is_empty() {
        true => "find it with glob".to_owned(),
        false => format!("in that folder there is {}", alike.join(", ")),
    };
    ToolError::failed(format!("{shown} does not exist; {hint}"))
}

/// The same name in other letters, or with another ending.
fn is_alike(name: &std::ffi::OsStr, wanted: &std::ffi::OsStr) -> bool {
    let stem = |name: &std::ffi::OsStr| Path::new(name).file_stem().map(ToOwned::to_owned);
    let name = name.to_ascii_lowercase();
    name == wanted || stem(&name) == stem(wanted)
}

fn show(bytes: &[u8], shown: &str, input: &Input) -> Result<ToolOutput, ToolError> {
    if let Some(media_type) = picture(bytes) {
        return show_picture(bytes, shown, media_type);
    }
    if is_binary(bytes) {
        let len = bytes.len();
        let reason = format!(
            "{shown} is a binary file of {len} bytes; use bash: file, xxd | head, strings, \
             or a program that reads its format"
        );
        return Err(ToolError::invalid(reason));
    }
    show_lines(bytes, shown, input)
}

fn show_picture(bytes: &[u8], shown: &str, media_type: &str) -> Result<ToolOutput, ToolError> {
    if bytes.len() > LARGEST_PICTURE {
        let len = bytes.len();
        let reason = format!(
            "{shown} is a picture of {len} bytes, more than {LARGEST_PICTURE}; make it smaller first"
        );
        return Err(ToolError::invalid(reason));
    }
    let picture = Content::Image {
        media_type: media_type.to_owned(),
        base64: STANDARD.encode(bytes).into(),
    };
    Ok(ToolOutput {
        content: vec![picture],
    })
}

/// By its first bytes, whatever it is called.
fn picture(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("image/webp"),
        _ => None,
    }
}

fn show_lines(bytes: &[u8], shown: &str, input: &Input) -> Result<ToolOutput, ToolError> {
    let layout = Layout::of(bytes);
    let lines: Vec<&[u8]> = layout.text.split_inclusive(|byte| *byte == b'\n').collect();
    let first = input.offset.unwrap_or(1).max(1);
    if first > lines.len().max(1) {
        let reason = format!(
            "{shown} has {} lines; offset {first} is behind its end",
            lines.len()
        );
        return Err(ToolError::invalid(reason));
    }
    let limit = input.limit.unwrap_or(MOST_LINES).clamp(1, MOST_LINES);
    let mut text = String::new();
    let mut last = first - 1;
    for line in lines.iter().skip(first - 1).take(limit) {
        let line = printable_line(line);
        if last >= first && text.len() + line.len() > MOST_BYTES {
            break;
        }
        text.push_str(&line);
        last += 1;
    }
    let mut remarks = layout.remarks();
    if std::str::from_utf8(bytes).is_err() {
        remarks.push("it is not UTF-8: other bytes are shown as \\xff, and edit keeps them");
    }
    if last == lines.len() && !bytes.is_empty() && !bytes.ends_with(b"\n") {
        remarks.push("no newline at its end");
    }
    let part = match lines.len() {
        0 => Some("it is empty".to_owned()),
        all if last < all => {
            let next = last + 1;
            Some(format!(
                "lines {first} to {last} of {all}; read on with offset {next}"
            ))
        }
        all if first > 1 => Some(format!("lines {first} to {last} of {all}")),
        _ => None,
    };
    let remarks = part.iter().map(String::as_str).chain(remarks);
    let remarks: Vec<_> = remarks.collect();
    if !remarks.is_empty() {
        let break_line = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        // Writing to a string cannot fail.
        let _ = write!(text, "{break_line}[{}]", remarks.join("; "));
    }
    Ok(ToolOutput::text(text))
}

fn printable_line(line: &[u8]) -> String {
    if line.len() <= LONGEST_LINE {
        return printable(line);
    }
    let end = if line.ends_with(b"\n") { "\n" } else { "" };
    let (begin, _) = line.split_at(LONGEST_LINE);
    let (begin, _) = begin.split_at(begin.len() - crate::printable::unfinished(begin));
    let more = line.len() - begin.len() - end.len();
    format!(
        "{}[… {more} more bytes in this line]{end}",
        printable(begin)
    )
}
