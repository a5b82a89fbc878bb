//! `explain FILE.run.jsonl`: how a run ended and what each turn took, from the run log alone.
//!
//! The log is written for people: a line that does not fit is counted and skipped.

use std::{fmt::Write, fs, path::Path, time::Duration};

use anyhow::{Context, Result};
use hames_types::Usage;
use serde::Deserialize;

use super::{page::Table, session::seconds};
use crate::exit::usage;

/// What is read of a line.
#[derive(Deserialize)]
struct Line {
    turn: u32,
    ts: u64,
    #[serde(default)]
    tool_call: Vec<Asked>,
    #[serde(default)]
    tool_result: Vec<Got>,
    #[serde(default)]
    usage: Usage,
    /// In seconds.
    #[serde(default)]
    wall_time: f64,
    #[serde(default)]
    end_cause: Option<String>,
}

#[derive(Deserialize)]
struct Asked {
    name: String,
}

#[derive(Deserialize)]
struct Got {
    status: hames_types::ResultStatus,
    #[serde(default)]
    text: String,
}

pub(crate) fn explain(path: &Path) -> Result<String> {
    let shown = path.display();
    let text = fs::read_to_string(path).with_context(|| format!("{shown}"))?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let (read, bad): (Vec<_>, Vec<_>) = lines
        .map(serde_json::from_str::<Line>)
        .partition(Result::is_ok);
    let read: Vec<Line> = read.into_iter().flatten().collect();
    if read.is_empty() {
        return Err(usage(format!("{shown}: it holds no line of a run log")));
    }
    let mut page = format!("run log {shown}\n\n{}", ending(&read));
    if !bad.is_empty() {
        let _ = writeln!(
            page,
            "lines      {} cannot be read and were skipped",
            bad.len()
        );
    }
    page += &turns(&read);
    Ok(page)
}

fn ending(lines: &[Line]) -> String {
    let calls: usize = lines.iter().map(|line| line.tool_call.len()).sum();
    let tokens: u64 = lines.iter().map(|line| line.usage.total()).sum();
    let time: f64 = lines.iter().map(|line| line.wall_time).sum();
    let last = lines.last();
    let cause = last.and_then(|line| line.end_cause.as_deref());
    let cause = cause.unwrap_or("not at all: the process was killed, or it still runs");
    let mut text = format!("ended      {cause}\n");
    if let Some(failed) = last_failure(lines)
        && cause != "completed"
    {
        let _ = writeln!(text, "last error {failed}");
    }
    let at = last.map_or(0, |line| line.ts / 1000);
    let _ = writeln!(
        text,
        "turns      {}\ntokens     {tokens}\ntool calls {calls}\nwall time  {time:.2} s\nlast line  {at} \
         (seconds since 1970)",
        lines.len()
    );
    text
}

fn last_failure(lines: &[Line]) -> Option<&str> {
    let mut results = lines
        .iter()
        .rev()
        .flat_map(|line| line.tool_result.iter().rev());
    let failed = results.find(|got| got.status != hames_types::ResultStatus::Ok)?;
    failed.text.lines().find(|line| !line.trim().is_empty())
}

fn turns(lines: &[Line]) -> String {
    let mut table = Table::new(["TURN", "IN", "OUT", "WALL TIME", "FAILED", "CALLS"]);
    for line in lines {
        let failed = |got: &&Got| got.status != hames_types::ResultStatus::Ok;
        let names: Vec<_> = line
            .tool_call
            .iter()
            .map(|call| call.name.as_str())
            .collect();
        let usage = line.usage;
        table.row([
            line.turn.to_string(),
            (usage.input + usage.cache_read + usage.cache_write).to_string(),
            usage.output.to_string(),
            seconds(Duration::try_from_secs_f64(line.wall_time).unwrap_or_default()),
            line.tool_result.iter().filter(failed).count().to_string(),
            names.join(", "),
        ]);
    }
    format!("\n{}", table.render())
}
