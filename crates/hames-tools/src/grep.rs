//! `grep`: lines by a regular expression.
//!
//! It changes nothing, and shows no more than the model can use.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};
use hames_types::{Access, RawJson, ToolContext, ToolError, ToolOutput, ToolSpec, TypedTool};
use serde::Deserialize;

use crate::{
    files::off_thread,
    lenient,
    paths::{Place, shown},
    printable::printable,
    walk::{self, Patience, SearchLimits},
};

const MOST_LINES: usize = 1000;
const MOST_BYTES: usize = 30_000;
const MOST_CONTEXT: usize = 20;
const LONGEST_LINE: usize = 400;

pub(crate) struct Grep {
    pub limits: SearchLimits,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    #[serde(alias = "query", alias = "regex")]
    pattern: String,
    #[serde(default, alias = "dir", alias = "directory", alias = "root")]
    path: Option<String>,
    #[serde(default, alias = "include", alias = "file_glob")]
    glob: Option<String>,
    #[serde(default, alias = "-i", deserialize_with = "lenient::flag")]
    ignore_case: bool,
    #[serde(default, alias = "-C", deserialize_with = "lenient::count")]
    context: Option<usize>,
    #[serde(
        default,
        alias = "head_limit",
        alias = "limit",
        deserialize_with = "lenient::count"
    )]
    max: Option<usize>,
    #[serde(skip)]
    place: Place,
}

impl TypedTool for Grep {
    type Input = Input;

    fn spec() -> ToolSpec {
        let schema = r#"{"type":"object","properties":{"pattern":{"type":"string"},"path":{"type":"string"},"glob":{"type":"string"},"ignore_case":{"type":"boolean"},"context":{"type":"integer"},"max":{"type":"integer"}},"required":["pattern"]}"#;
        ToolSpec {
            name: "grep".to_owned(),
            description: include_str!("grep.md").trim_end().to_owned(),
            input_schema: RawJson::from(schema),
        }
    }

    fn access(&self, input: &mut Input, cx: &ToolContext) -> Result<Access, ToolError> {
        matcher(input)?;
        if let Some(glob) = &input.glob {
            walk::pattern(glob)?;
        }
        input.place = Place::find(&cx.workspace, input.path.as_deref().unwrap_or("."))?;
        Ok(Access::read(&input.place.path))
    }

    async fn call(&self, input: Input, cx: ToolContext) -> Result<ToolOutput, ToolError> {
        let patience = Patience::new(self.limits.time, cx.cancel.clone());
        let most = input.max.unwrap_or(self.limits.lines).clamp(1, MOST_LINES);
        off_thread(move || search(&input, &cx, patience, most)).await
    }
}

fn matcher(input: &Input) -> Result<RegexMatcher, ToolError> {
    if input.pattern.is_empty() {
        return Err(ToolError::invalid(
            "pattern is empty; say what to search for",
        ));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(input.ignore_case)
        .line_terminator(Some(b'\n'));
    builder.build(&input.pattern).map_err(|error| {
        ToolError::invalid(format!(
            "pattern is not a regular expression of one line: {error}; \
             put \\ before ( ) [ ] {{ }} . * + ? | ^ $ to search for them as they are"
        ))
    })
}

fn search(
    input: &Input,
    cx: &ToolContext,
    patience: Patience,
    most: usize,
) -> Result<ToolOutput, ToolError> {
    input.place.check_unmoved(&cx.workspace)?;
    let root = &input.place.path;
    walk::check_there(root, &input.place.shown(&cx.workspace))?;
    let matcher = matcher(input)?;
    let glob = input.glob.as_deref().map(walk::pattern).transpose()?;
    let mut searcher = searcher(input.context.unwrap_or(0).min(MOST_CONTEXT));
    let mut lines = Lines::new(most);
    for found in walk::files(root, patience.clone()) {
        let path = match found {
            Ok(path) => path,
            Err(reason) => {
                lines.ended = Some(reason);
                break;
            }
        };
        let below = path.strip_prefix(root).unwrap_or(&path);
        let name = if below.as_os_str().is_empty() {
            Path::new(path.file_name().unwrap_or_default())
        } else {
            below
        };
        if glob.as_ref().is_some_and(|glob| !glob.is_match(name)) || !is_plain(&path) {
            continue;
        }
        let Ok(file) = File::open(&path) else {
            continue;
        };
        let reader = Patiently {
            file,
            patience: &patience,
        };
        lines.file = shown(&path, &cx.workspace);
        // A file that cannot be read to its end, or was given up, has shown what it had.
        let _ = searcher.search_reader(&matcher, reader, &mut lines);
        lines.end_file();
        if lines.ended.is_some() {
            break;
        }
    }
    Ok(ToolOutput::text(lines.told()))
}

/// A link, a pipe or a device is no file to search.
fn is_plain(path: &Path) -> bool {
    path.symlink_metadata()
        .is_ok_and(|metadata| metadata.is_file())
}

fn searcher(context: usize) -> Searcher {
    SearcherBuilder::new()
        .line_number(true)
        .binary_detection(BinaryDetection::quit(0))
        .before_context(context)
        .after_context(context)
        .heap_limit(Some(64 << 20))
        .build()
}

/// A file that is read no further once patience is at its end.
struct Patiently<'a> {
    file: File,
    patience: &'a Patience,
}

impl Read for Patiently<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.patience.ends() {
            Some(reason) => Err(io::Error::other(reason)),
            None => self.file.read(buffer),
        }
    }
}

/// The lines found so far.
struct Lines {
    most: usize,
    matches: usize,
    text: String,
    file: String,
    in_file: String,
    ended: Option<String>,
}

impl Lines {
    fn new(most: usize) -> Self {
        Self {
            most,
            matches: 0,
            text: String::new(),
            file: String::new(),
            in_file: String::new(),
            ended: None,
        }
    }

    fn push(&mut self, mark: char, number: Option<u64>, line: &[u8]) {
        let (line, cut) = line.split_at(line.len().min(LONGEST_LINE));
        let whole = line.len() - crate::printable::unfinished(line);
        let (line, _) = line.split_at(whole);
        let more = if cut.trim_ascii().is_empty() {
            ""
        } else {
            " […]"
        };
        let (file, number, line) = (&self.file, number.unwrap_or(0), printable(line));
        let line = line.trim_end_matches(['\r', '\n']);
        self.in_file
            .push_str(&format!("{file}{mark}{number}{mark}{line}{more}\n"));
    }

    fn end_file(&mut self) {
        self.text.push_str(&std::mem::take(&mut self.in_file));
    }

    fn told(mut self) -> String {
        if let Some(reason) = &self.ended {
            let note =
                format!("[PARTIAL: {reason}; narrow the pattern, path or glob, or raise max]");
            self.text.push_str(&note);
        } else if self.matches == 0 {
            self.text
                .push_str("[no line matches; ignored and binary files were not searched]");
        }
        self.text
    }
}

impl Sink for Lines {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.matches == self.most {
            self.ended = Some(format!("the first {} matching lines", self.most));
            return Ok(false);
        }
        self.matches += 1;
        self.push(':', found.line_number(), found.bytes());
        if self.text.len() + self.in_file.len() > MOST_BYTES {
            self.ended = Some(format!("the first {} matching lines", self.matches));
            return Ok(false);
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> io::Result<bool> {
        match around.kind() {
            SinkContextKind::Before | SinkContextKind::After | SinkContextKind::Other => {
                self.push('-', around.line_number(), around.bytes());
            }
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.in_file.push_str("--\n");
        Ok(true)
    }
}
