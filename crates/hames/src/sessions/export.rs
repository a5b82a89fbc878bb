//! `sessions export`: a session as one file that needs nothing else.
//!
//! A line that cannot be read is exported as it stands, or counted where the format has no place.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{ExportArgs, Format, transcript};
use crate::{explain::page, state_dir::SessionsDir};

pub(super) fn run(args: &ExportArgs, sessions: &SessionsDir) -> Result<u8> {
    let session = sessions.find(&args.id)?;
    let text = match args.format {
        Format::Journal => whole_lines(&session.path)?,
        Format::Markdown => markdown(&session.id, &session.path)?,
        Format::Json => {
            let mut text = serde_json::to_string_pretty(&object(&session.path, "")?)?;
            text.push('\n');
            text
        }
    };
    if args.format == Format::Journal && text.contains("\"entry\":\"child_opened\"") {
        let _ = writeln!(
            io::stderr(),
            "hames: children have journals of their own; --format json holds them, too"
        );
    }
    match &args.output {
        Some(file) => fs::write(file, text).with_context(|| format!("{}", file.display()))?,
        None => page::print(&text)?,
    }
    Ok(0)
}

/// Without a last line that is still being written.
fn whole_lines(path: &Path) -> Result<String> {
    let mut text = fs::read_to_string(path).with_context(|| format!("{}", path.display()))?;
    text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
    Ok(text)
}

fn markdown(id: &str, path: &Path) -> Result<String> {
    let mut text = format!("# Session {id}\n\n{}", transcript::text(path)?);
    for (label, child) in children(path)? {
        text += &format!("# {label}\n\n");
        let said = transcript::text(&child);
        text += &said.unwrap_or_else(|_| "(its journal is gone)\n\n".to_owned());
    }
    Ok(text)
}

/// `{label, header, records, children}`, as deep as children go.
fn object(path: &Path, label: &str) -> Result<Value> {
    let text = whole_lines(path)?;
    let mut lines = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| Value::String(line.to_owned())));
    let header = lines.next().unwrap_or_default();
    let records: Vec<Value> = lines.collect();
    let below = children(path)?.into_iter();
    let below = below.filter_map(|(label, child)| object(&child, &label).ok());
    Ok(json!({
        "label": label,
        "header": header,
        "records": records,
        "children": below.collect::<Vec<_>>(),
    }))
}

/// The children that a journal names, with their files.
fn children(path: &Path) -> Result<Vec<(String, std::path::PathBuf)>> {
    let text = whole_lines(path)?;
    let child = |line: &str| {
        let line: Value = serde_json::from_str(line).ok()?;
        if line.get("entry")? != "child_opened" {
            return None;
        }
        let (id, label) = (line.get("journal")?.as_str()?, line.get("label")?.as_str()?);
        Some((label.to_owned(), path.with_file_name(format!("{id}.jsonl"))))
    };
    Ok(text.lines().filter_map(child).collect())
}
