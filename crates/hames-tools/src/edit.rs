//! `edit`: one text in a file in place of another; every other byte stays.
//!
//! It guesses nothing: a text that is not there exactly is an error that shows what is.

mod nearest;

use std::{ops::Range, sync::Arc};

use hames_types::{Access, RawJson, ToolContext, ToolError, ToolOutput, ToolSpec, TypedTool};
use memchr::memmem;
use serde::Deserialize;

use crate::{
    files::{Files, Knowledge, off_thread, read_whole, replace},
    layout::Layout,
    lenient,
    paths::Place,
    printable::is_binary,
    write::{changed, not_written},
};

pub(crate) struct Edit {
    pub files: Arc<Files>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    #[serde(alias = "file_path", alias = "absolute_path", alias = "filename")]
    path: String,
    #[serde(alias = "old_string", alias = "old_str", alias = "old_text")]
    old: String,
    #[serde(alias = "new_string", alias = "new_str", alias = "new_text")]
    new: String,
    #[serde(default, alias = "replaceAll", deserialize_with = "lenient::flag")]
    replace_all: bool,
    #[serde(skip)]
    place: Place,
}

impl TypedTool for Edit {
    type Input = Input;

    fn spec() -> ToolSpec {
        let schema = r#"{"type":"object","properties":{"path":{"type":"string"},"old":{"type":"string"},"new":{"type":"string"},"replace_all":{"type":"boolean"}},"required":["path","old","new"]}"#;
        ToolSpec {
            name: "edit".to_owned(),
            description: include_str!("edit.md").trim_end().to_owned(),
            input_schema: RawJson::from(schema),
        }
    }

    fn access(&self, input: &mut Input, cx: &ToolContext) -> Result<Access, ToolError> {
        input.old = input.old.replace("\r\n", "\n");
        input.new = input.new.replace("\r\n", "\n");
        if input.old.is_empty() {
            let reason = "old is empty; say which text to replace, or use write for a new file";
            return Err(ToolError::invalid(reason));
        }
        if input.old == input.new {
            let reason = "old and new are the same: this edit would change nothing. \
                          Line ends do not count; change them with bash";
            return Err(ToolError::invalid(reason));
        }
        input.place = Place::find(&cx.workspace, &input.path)?;
        let path = &input.place.path;
        Ok(Access {
            reads: Access::read(path).reads,
            ..Access::write(path)
        })
    }

    async fn call(&self, input: Input, cx: ToolContext) -> Result<ToolOutput, ToolError> {
        let files = self.files.clone();
        let work = move || files.alone(&input.place.path, || change(&files, &input, &cx));
        off_thread(work).await
    }
}

fn change(files: &Files, input: &Input, cx: &ToolContext) -> Result<ToolOutput, ToolError> {
    let place = &input.place;
    place.check_unmoved(&cx.workspace)?;
    let shown = place.shown(&cx.workspace);
    let Some(before) = read_whole(&place.path, &shown)? else {
        let reason = format!("{shown} does not exist; use write to create it, or glob to find it");
        return Err(ToolError::failed(reason));
    };
    // The text that is to go may still be there: it was read beside what has changed.
    if files.knowledge(&cx.agent, &place.path, &before) == Knowledge::Stale {
        return Err(changed(&shown));
    }
    if is_binary(&before) {
        let reason = format!("{shown} is a binary file; change it with a program that knows it");
        return Err(ToolError::invalid(reason));
    }
    let layout = Layout::of(&before);
    let matches = occurrences(&layout, input, &before, &shown)?;
    let after = spliced(&before, &layout, input, &matches);
    replace(&place.path, &after).map_err(|error| not_written(&shown, &error))?;
    files.saw(&cx.agent, &place.path, &after);
    let lines = line_list(&layout, &matches);
    Ok(ToolOutput::text(format!("edited {shown}, {lines}")))
}

/// Where `old` stands in the shown text: once, or as often as it was said to.
fn occurrences(
    layout: &Layout,
    input: &Input,
    before: &[u8],
    shown: &str,
) -> Result<Vec<usize>, ToolError> {
    let is_text = std::str::from_utf8(before).is_ok();
    let is_plain = input.old.is_ascii() && input.new.is_ascii();
    if !is_text && !is_plain {
        return Err(ToolError::invalid(format!(
            "{shown} is not UTF-8, so only ASCII text can be replaced by ASCII text in it; \
             for more convert it with bash: iconv"
        )));
    }
    // In such an encoding an ASCII byte may be the second half of a character.
    let stands_alone = |at: &usize| {
        is_text
            || at
                .checked_sub(1)
                .is_none_or(|before| layout.text.get(before).is_none_or(u8::is_ascii))
    };
    let found: Vec<usize> = overlapping(&layout.text, input.old.as_bytes())
        .filter(stands_alone)
        .collect();
    match found.len() {
        0 => Err(nearest::not_found(layout, &input.old, &input.new, shown)),
        1 => Ok(found),
        _ if input.replace_all => Ok(apart(found, input.old.len())),
        count => {
            let lines = line_list(layout, &found);
            Err(ToolError::failed(format!(
                "old occurs {count} times in {shown} ({lines}); \
                 add lines around it that make it unique, or set replace_all"
            )))
        }
    }
}

/// `aa` is twice in `aaa`: whoever says "once" may mean either.
fn overlapping<'a>(text: &'a [u8], old: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let finder = memmem::Finder::new(old);
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + finder.find(text.get(from..)?)?;
        from = at + 1;
        Some(at)
    })
}

fn apart(found: Vec<usize>, len: usize) -> Vec<usize> {
    let mut free_from = 0;
    let mut kept = found;
    kept.retain(|at| {
        let free = *at >= free_from;
        if free {
            free_from = at + len;
        }
        free
    });
    kept
}

fn spliced(before: &[u8], layout: &Layout, input: &Input, matches: &[usize]) -> Vec<u8> {
    let (kept, same) = differing(input.old.as_bytes(), input.new.as_bytes());
    let fresh = input.new.as_bytes().get(kept.clone()).unwrap_or_default();
    let mut after = Vec::with_capacity(before.len() + matches.len() * fresh.len());
    let mut done = 0;
    for at in matches {
        let begin = layout.in_file(at + kept.start);
        let end = layout.in_file(at + input.old.len() - same);
        after.extend_from_slice(before.get(done..begin).unwrap_or_default());
        let line_end = layout.line_end_near(at + kept.start);
        for line in fresh.split_inclusive(|byte| *byte == b'\n') {
            match line.strip_suffix(b"\n") {
                Some(line) => after.extend([line, line_end].concat()),
                None => after.extend_from_slice(line),
            }
        }
        done = end;
    }
    after.extend_from_slice(before.get(done..).unwrap_or_default());
    after
}

/// The part of `new` that `old` does not begin or end with, and how much both end with alike: what
/// stays keeps its own line ends.
fn differing(old: &[u8], new: &[u8]) -> (Range<usize>, usize) {
    let pairs = old.iter().zip(new);
    let begin = pairs.take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - begin;
    let pairs = old.iter().rev().zip(new.iter().rev()).take(rest);
    let end = pairs.take_while(|(one, other)| one == other).count();
    (begin..new.len() - end, end)
}

fn line_list(layout: &Layout, positions: &[usize]) -> String {
    let lines: Vec<_> = positions
        .iter()
        .take(10)
        .map(|at| layout.line_of(*at).to_string())
        .collect();
    let more = match positions.len() > lines.len() {
        true => format!(" and {} more", positions.len() - lines.len()),
        false => String::new(),
    };
    let word = if positions.len() == 1 {
        "line"
    } else {
        "lines"
    };
    format!("{word} {}{more}", lines.join(", "))
}
