//! `docs/adapters.md` and `docs/frameworks.md` say what the code does.
#![allow(clippy::unwrap_used)]

use std::{fs, path::Path};

use hames_eval::{
    adapter::{Adapter, Choice, CommandLine, Options, Plan},
    adapters,
};

use crate::adapters::{Machine, task};

const PROGRAMS: [&str; 10] = [
    "aider", "claude", "codex", "gemini", "kimi", "mini", "oh", "opencode", "python3", "qwen",
];

fn docs(file: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    fs::read_to_string(docs.join(file)).unwrap()
}

/// Everything chosen, each choice by its name.
fn options() -> Options {
    Options {
        model: "MODEL".to_owned(),
        base_url: Some("http://ADDRESS".to_owned()),
        shape: Some("SHAPE".to_owned()),
        max_turns: Some(30),
        max_cost: Some(2.5),
        command: "COMMAND".to_owned(),
        ..Options::default()
    }
}

fn line(machine: &Machine, adapter: &dyn Adapter) -> Option<CommandLine> {
    let mut task = task();
    "PROMPT".clone_into(&mut task.prompt);
    task.gold_patch = Some(String::new());
    match adapter
        .plan(&task, &machine.place, &machine.host, &options())
        .ok()?
    {
        Plan::Subprocess(line) => Some(line),
        Plan::Patch(_) => None,
    }
}

/// The words as a reader would type them, with the test's own folders by name.
fn shown(machine: &Machine, line: &CommandLine) -> String {
    let program = line
        .program
        .file_name()
        .unwrap()
        .to_string_lossy()
        .into_owned();
    let words = line.args.iter().map(|word| {
        let is_plain = !word.contains([' ', '"', '\'', '{', '$']);
        if is_plain {
            word.clone()
        } else {
            format!("'{word}'")
        }
    });
    let words: Vec<_> = std::iter::once(program).chain(words).collect();
    let home = machine.place.home.to_string_lossy();
    words.join(" ").replace(&*home, "$HOME").replace('|', "\\|")
}

fn codes(words: &[impl AsRef<str>]) -> String {
    let codes = words.iter().map(|word| format!("`{}`", word.as_ref()));
    codes.collect::<Vec<_>>().join(", ")
}

fn told(takes: &[Choice]) -> String {
    let names = takes.iter().map(|choice| match choice {
        Choice::Model => "model",
        Choice::BaseUrl => "address",
        Choice::Shape => "shape",
        Choice::MaxTurns => "turns",
        Choice::MaxCost => "cost",
        Choice::Temperature => "temperature",
        Choice::Seed => "seed",
        Choice::ExtraArgs => "further flags",
    });
    names.collect::<Vec<_>>().join(", ")
}

/// One adapter's section.
fn section(machine: &Machine, adapter: &dyn Adapter) -> String {
    let about = adapter.about();
    let mut rows = Vec::new();
    if !adapter.aliases().is_empty() {
        rows.push(("also", codes(adapter.aliases())));
    }
    if let Some(line) = line(machine, adapter) {
        rows.push(("command line", format!("`{}`", shown(machine, &line))));
        let prompt = match &line.stdin {
            Some(_) => "on stdin",
            None if line
                .files
                .iter()
                .any(|(file, _)| file == Path::new("prompt.md")) =>
            {
                "in a file"
            }
            None => "as an argument",
        };
        rows.push(("prompt", prompt.to_owned()));
        let standing = ["HOME", "TMPDIR", "TERM", "NO_COLOR"];
        let own = line
            .env
            .iter()
            .filter(|(name, _)| !standing.contains(&name.as_str()));
        let home = machine.place.home.to_string_lossy();
        let own = own.map(|(name, value)| format!("{name}={}", value.replace(&*home, "$HOME")));
        let own: Vec<_> = own.collect();
        if !own.is_empty() {
            rows.push(("sets", codes(&own)));
        }
        let files: Vec<_> = line
            .files
            .iter()
            .map(|(file, _)| file.to_string_lossy())
            .collect();
        if !files.is_empty() {
            rows.push(("in its home", codes(&files)));
        }
    }
    if !adapter.passes().is_empty() {
        rows.push(("gets of yours", codes(adapter.passes())));
    }
    if !about.takes.is_empty() {
        rows.push(("can be told", told(about.takes)));
    }
    rows.push(("is read from", about.reads.to_owned()));
    rows.push(("when told to end", about.stops.to_owned()));
    rows.push(("install", about.install.to_owned()));
    let rows = rows
        .iter()
        .map(|(name, value)| format!("| {name} | {value} |\n"));
    let rows: String = rows.collect();
    format!("## {}\n\n| | |\n|---|---|\n{rows}\n", adapter.name())
}

#[test]
fn docs_say_what_the_adapters_do() {
    let machine = Machine::new();
    for program in PROGRAMS {
        machine.stub(program, "");
    }
    let sections = adapters::all();
    let sections = sections
        .iter()
        .map(|adapter| section(&machine, adapter.as_ref()));
    let sections: String = sections.collect();
    let written = docs("adapters.md");
    let (_, written) = written.split_once("-->\n\n").unwrap();
    if written.trim_end() == sections.trim_end() {
        return;
    }
    let right = Path::new(env!("CARGO_TARGET_TMPDIR")).join("adapters.md");
    fs::write(&right, &sections).unwrap();
    panic!(
        "docs/adapters.md is behind: below its comment it should be {}",
        right.display()
    );
}

#[test]
fn every_adapter_says_how_it_is_installed_read_and_ended() {
    for adapter in adapters::all() {
        let about = adapter.about();
        let said = [about.install, about.reads, about.stops];
        assert!(
            said.iter().all(|text| !text.is_empty()),
            "{}",
            adapter.name()
        );
    }
}

#[test]
fn req_c11_each_framework_has_all_six_parts() {
    const PARTS: [&str; 6] = [
        "State Manager",
        "Tool Registry",
        "Output Parser",
        "Loop Controller",
        "Error Handler",
        "Logger",
    ];
    let text = docs("frameworks.md");
    let tables: Vec<_> = text.split("| part |").skip(1).collect();
    let mut frameworks = Vec::new();
    for table in tables {
        let mut rows = table.lines().take_while(|line| line.contains('|'));
        let cells = |row: &str| -> Vec<String> {
            let row = row.trim().trim_start_matches('|').trim_end_matches('|');
            row.split(" | ")
                .map(|cell| cell.trim().to_owned())
                .collect()
        };
        let names = cells(rows.next().unwrap());
        let parts: Vec<_> = rows.skip(1).map(cells).collect();
        let first: Vec<_> = parts.iter().map(|row| row[0].as_str()).collect();
        assert_eq!(first, PARTS);
        for row in &parts {
            assert_eq!(row.len(), names.len() + 1, "{row:?}");
            assert!(row.iter().all(|cell| !cell.is_empty()), "{row:?}");
        }
        frameworks.extend(names);
    }
    for wanted in [
        "LangGraph",
        "LangChain",
        "AutoGen",
        "Claude Agent SDK",
        "AutoGPT",
    ] {
        assert!(
            frameworks.iter().any(|name| name.starts_with(wanted)),
            "{frameworks:?}"
        );
    }
}
