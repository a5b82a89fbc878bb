//! `explain SESSION`: how it ended and why, and what each turn took, from the journal alone.
//!
//! Children are counted by their own journals; a line that cannot be read is said and skipped.

use std::{
    collections::BTreeSet,
    fmt::Write,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result};
use hames_agent::{
    ledger::{Ledger, Owners, Turn},
    replay,
};
use hames_journal::{Header, Record, file::read_records};
use hames_types::{Entry, JournalId, Outcome, Usage};

use super::{
    page::Table,
    prices::{PriceList, dollars},
};
use crate::exit;

/// A journal as it was read.
struct Read {
    records: Vec<Record>,
    bad_lines: usize,
}

/// A child, and how deep below the session it is.
struct Child {
    label: String,
    id: JournalId,
    /// `None` when its journal is gone.
    ledger: Option<Ledger>,
}

pub(crate) fn explain(path: &Path) -> Result<String> {
    let header = header(path)?;
    let read = read(path)?;
    let ledger = Ledger::of(read.records.iter().cloned());
    let mut children = Vec::new();
    let mut seen = BTreeSet::new();
    collect(path, &read.records, &mut seen, &mut children);
    let prices = PriceList::built_in()?;

    let mut text = format!("session {} in {}\n\n", header.id.0, header.cwd);
    text += &ending(&read.records, &ledger);
    text += &summary(&ledger, &children, &prices);
    if read.bad_lines > 0 {
        let _ = writeln!(
            text,
            "lines      {} of the journal cannot be read and were skipped",
            read.bad_lines
        );
    }
    // A child works while its parent waits, so that the session's own time is the whole.
    text += &times(&ledger.time());
    text += &turns(&ledger, &prices);
    text += &table_of_children(&children, &prices);
    if let Some(turn) = ledger.looks_cut() {
        let _ = writeln!(
            text,
            "\nturn {}: {} counted far fewer tokens than were sent; it may cut requests in silence",
            turn.number, turn.model
        );
    }
    Ok(text)
}

/// True when the first line is a journal's.
pub(crate) fn is_journal(path: &Path) -> bool {
    header(path).is_ok()
}

fn header(path: &Path) -> Result<Header> {
    let shown = || format!("{}", path.display());
    let mut line = String::new();
    BufReader::new(fs::File::open(path).with_context(shown)?)
        .read_line(&mut line)
        .with_context(shown)?;
    serde_json::from_str(&line)
        .map_err(|_| exit::usage(format!("{}: its first line is no journal header", shown())))
}

fn read(path: &Path) -> Result<Read> {
    let (mut records, mut bad_lines) = (Vec::new(), 0);
    for record in read_records(path, 0).with_context(|| format!("{}", path.display()))? {
        match record {
            Ok(record) => records.push(record),
            Err(_) => bad_lines += 1,
        }
    }
    Ok(Read { records, bad_lines })
}

fn collect(path: &Path, records: &[Record], seen: &mut BTreeSet<JournalId>, into: &mut Vec<Child>) {
    for record in records {
        let Entry::ChildOpened { journal, label } = &record.entry else {
            continue;
        };
        if !seen.insert(journal.clone()) {
            continue;
        }
        let file: PathBuf = path.with_file_name(format!("{}.jsonl", journal.0));
        let child = read(&file).ok();
        let ledger = child
            .as_ref()
            .map(|child| Ledger::of(child.records.iter().cloned()));
        into.push(Child {
            label: label.clone(),
            id: journal.clone(),
            ledger,
        });
        if let Some(child) = child {
            collect(path, &child.records, seen, into);
        }
    }
}

/// How it ended, in the word of every record, and the sentence that a user was shown.
fn ending(records: &[Record], ledger: &Ledger) -> String {
    match end_of(records) {
        End::At(outcome) => {
            let ending = exit::ending(outcome, ledger.refused_unasked > 0);
            let why = match ending.message.is_empty() {
                true => "the model had nothing more to ask for".to_owned(),
                false => ending.message,
            };
            format!(
                "ended      {} (exit code {})\nwhy        {why}\n",
                outcome.end_cause(),
                ending.code
            )
        }
        End::Empty => "ended      nothing has been asked in it\n".to_owned(),
        End::Open => {
            let replayed = replay(records.iter().cloned());
            let open = replayed.gaps.len();
            let left = match open {
                0 => "the last message waits for an answer".to_owned(),
                1 => "a tool call was not answered".to_owned(),
                open => format!("{open} tool calls were not answered"),
            };
            format!(
                "ended      not at all: the process was killed, or it still runs\nwhy        {left}; \
                 --resume goes on from there\n"
            )
        }
    }
}

enum End<'a> {
    At(&'a Outcome),
    /// Something was said after the last end, or there was none.
    Open,
    Empty,
}

fn end_of(records: &[Record]) -> End<'_> {
    let telling = records.iter().rev().find_map(|record| match &record.entry {
        Entry::QueryFinished { outcome } => Some(End::At(outcome)),
        Entry::User { .. }
        | Entry::SteeringReceived { .. }
        | Entry::TurnStarted { .. }
        | Entry::Assistant { .. }
        | Entry::ToolStarted { .. }
        | Entry::ToolFinished { .. } => Some(End::Open),
        Entry::EpochStarted { .. }
        | Entry::CallFailed { .. }
        | Entry::PermissionRequested { .. }
        | Entry::PermissionDecided { .. }
        | Entry::ToolReturned { .. }
        | Entry::HookRan { .. }
        | Entry::ChildOpened { .. }
        | Entry::ShapeProgress { .. }
        | Entry::Unknown => None,
    });
    telling.unwrap_or(End::Empty)
}

fn summary(ledger: &Ledger, children: &[Child], prices: &PriceList) -> String {
    let ledgers =
        || std::iter::once(ledger).chain(children.iter().filter_map(|c| c.ledger.as_ref()));
    let usage = ledgers().map(Ledger::usage).fold(Usage::default(), add);
    let cost: Option<f64> = ledgers()
        .map(|ledger| ledger.cost(|model| prices.of(model)))
        .sum();
    let turns: usize = ledgers().map(|ledger| ledger.turns.len()).sum();
    let calls: u32 = ledgers().map(Ledger::tool_calls).sum();
    let failed: u32 = ledgers()
        .flat_map(|l| &l.turns)
        .map(|turn| turn.call_errors)
        .sum();
    let retries: u32 = ledgers()
        .flat_map(|l| &l.turns)
        .map(|turn| turn.attempts.saturating_sub(1))
        .sum();
    let compactions: u32 = ledgers().map(|ledger| ledger.compactions).sum();
    format!(
        "turns      {turns}\ntokens     {} in ({} from the cache), {} out\ncost       {}\n\
         tool calls {calls}, {failed} failed or refused\nretries    {retries}\ncompacted  {compactions} times\n\
         children   {}\n",
        usage.input + usage.cache_read + usage.cache_write,
        usage.cache_read,
        usage.output,
        dollars(cost),
        children.len()
    )
}

fn times(time: &Owners) -> String {
    let all = time.total();
    let share = |part: Duration| match all.is_zero() {
        true => 0.0,
        false => 100.0 * part.as_secs_f64() / all.as_secs_f64(),
    };
    let part =
        |name: &str, part: Duration| format!("{name} {} ({:.0} %)", seconds(part), share(part));
    format!(
        "wall time  {}: {}, {}, {}, {}\n",
        seconds(all),
        part("harness", time.harness),
        part("model", time.model),
        part("tool", time.tool),
        part("waiting", time.waiting)
    )
}

fn turns(ledger: &Ledger, prices: &PriceList) -> String {
    let mut table = Table::new([
        "TURN",
        "MODEL",
        "IN",
        "CACHED",
        "OUT",
        "COST",
        "HARNESS",
        "MODEL TIME",
        "TOOL",
        "WAITING",
        "CALLS",
        "FAILED",
        "RETRIES",
    ]);
    for turn in &ledger.turns {
        let usage = add(turn.usage, turn.failed);
        table.row([
            turn.number.to_string(),
            turn.model.to_string(),
            (usage.input + usage.cache_read + usage.cache_write).to_string(),
            usage.cache_read.to_string(),
            usage.output.to_string(),
            cost_of(turn, prices),
            seconds(turn.time.harness),
            seconds(turn.time.model),
            seconds(turn.time.tool),
            seconds(turn.time.waiting),
            turn.calls.to_string(),
            turn.call_errors.to_string(),
            turn.attempts.saturating_sub(1).to_string(),
        ]);
    }
    match table.is_empty() {
        true => String::new(),
        false => format!("\n{}", table.render()),
    }
}

fn cost_of(turn: &Turn, prices: &PriceList) -> String {
    let cost = prices
        .of(&turn.model)
        .map(|prices| prices.cost(add(turn.usage, turn.failed)));
    cost.map_or("-".to_owned(), |cost| format!("${cost:.4}"))
}

fn table_of_children(children: &[Child], prices: &PriceList) -> String {
    let mut table = Table::new([
        "CHILD",
        "JOURNAL",
        "ENDED",
        "TURNS",
        "TOKENS",
        "COST",
        "WALL TIME",
    ]);
    for Child { label, id, ledger } in children {
        let (label, id) = (label.clone(), id.0.to_string());
        let Some(ledger) = ledger else {
            let none = || "-".to_owned();
            table.row([
                label,
                id,
                "its journal is gone".to_owned(),
                none(),
                none(),
                none(),
                none(),
            ]);
            continue;
        };
        // A compaction asks once and is no query: it has no end of its own.
        let unended = if label == "compact" {
            "-"
        } else {
            "not at all"
        };
        let ended = ledger.ends.last().map_or(unended, Outcome::end_cause);
        let cost = ledger.cost(|model| prices.of(model));
        table.row([
            label,
            id,
            ended.to_owned(),
            ledger.turns.len().to_string(),
            ledger.usage().total().to_string(),
            cost.map_or("-".to_owned(), |cost| format!("${cost:.4}")),
            seconds(ledger.time().total()),
        ]);
    }
    match table.is_empty() {
        true => String::new(),
        false => format!("\n{}", table.render()),
    }
}

pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

fn add(mut sum: Usage, usage: Usage) -> Usage {
    crate::tally::add(&mut sum, usage);
    sum
}
