//! `sessions list`: a line for each, from the beginning and the end of its file alone.
//!
//! It reads no more of a session of a gigabyte than of one of a kilobyte.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
    path::Path,
    time::{Duration, SystemTime},
};

use anyhow::Result;
use hames_journal::{Header, Record};
use hames_types::Entry;

use super::ListArgs;
use crate::{
    environment::Environment,
    explain::page::{self, Table},
    state_dir::{Listed, SessionsDir},
};

/// In bytes: how far the first prompt is looked for, behind the system prompt and the tools.
const HEAD: u64 = 1 << 20;
/// In bytes: how far the end is looked for.
const TAIL: u64 = 1 << 16;
/// In characters.
const WORDS: usize = 50;

/// What the two ends of a journal say.
#[derive(Debug, Default, PartialEq)]
struct Ends {
    words: String,
    /// Of the last submission: a count of all would need the whole file.
    turns: Option<u32>,
    end: String,
}

pub(super) fn run(
    args: &ListArgs,
    sessions: &SessionsDir,
    environment: &Environment,
) -> Result<u8> {
    let mut table = Table::new(["ID", "USED", "TURNS", "END", "FOLDER", "FIRST WORDS"]);
    let here = environment.current_dir.to_string_lossy();
    let listed = sessions.list()?.into_iter();
    let listed = listed.filter(|session| !args.here || session.cwd == here);
    for session in listed.take(args.most.unwrap_or(usize::MAX)) {
        let ends = ends(&session.path).unwrap_or_else(|error| Ends {
            end: format!("unreadable: {error}"),
            ..Ends::default()
        });
        table.row([
            session.id.clone(),
            ago(&session, SystemTime::now()),
            ends.turns.map_or("-".to_owned(), |turns| turns.to_string()),
            ends.end,
            short(&session.cwd, environment),
            ends.words,
        ]);
    }
    match table.is_empty() {
        true => page::print(&format!(
            "there are no sessions in {}\n",
            sessions.folder().display()
        ))?,
        false => page::print(&table.render())?,
    }
    Ok(0)
}

fn ends(path: &Path) -> io::Result<Ends> {
    let mut file = File::open(path)?;
    let mut lines = BufReader::new((&mut file).take(HEAD)).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    if serde_json::from_str::<Header>(&first).is_err() {
        return Err(io::Error::other("its first line is no journal header"));
    }
    let prompt = lines.map_while(Result::ok).find_map(|line| prompt(&line));
    let (turns, end) = end(&tail(&mut file)?);
    Ok(Ends {
        words: prompt.unwrap_or_default(),
        turns,
        end: end.to_owned(),
    })
}

fn prompt(line: &str) -> Option<String> {
    let record: Record = serde_json::from_str(line).ok()?;
    let Entry::User { message, .. } = record.entry else {
        return None;
    };
    if !message.origin.is_human() {
        return None;
    }
    let text = message.plain_text();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= WORDS {
        return Some(text);
    }
    let kept: String = text.chars().take(WORDS - 1).collect();
    Some(format!("{kept}…"))
}

/// The last records, the newest first; a first line that the cut has torn parses to nothing.
fn tail(file: &mut File) -> io::Result<Vec<Record>> {
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let lines = bytes.rsplit(|byte| *byte == b'\n');
    let records = lines.filter_map(|line| serde_json::from_slice(line).ok());
    Ok(records.collect())
}

fn end(newest_first: &[Record]) -> (Option<u32>, &'static str) {
    let turn = newest_first.iter().find_map(|record| match record.entry {
        Entry::TurnStarted { turn, .. } if turn > 0 => Some(turn),
        _ => None,
    });
    let end = newest_first.iter().find_map(|record| match &record.entry {
        Entry::QueryFinished { outcome } => Some(outcome.end_cause()),
        // A new epoch stands at the head of a session, and where one was opened again.
        Entry::EpochStarted { .. } | Entry::Unknown => None,
        _ => Some("unfinished"),
    });
    (turn, end.unwrap_or("empty"))
}

fn ago(session: &Listed, now: SystemTime) -> String {
    let since = now
        .duration_since(session.changed)
        .unwrap_or(Duration::ZERO);
    let seconds = since.as_secs();
    let (count, unit) = match seconds {
        0..60 => return "just now".to_owned(),
        60..3600 => (seconds / 60, "min"),
        3600..86_400 => (seconds / 3600, "h"),
        86_400.. => (
            seconds / 86_400,
            if seconds < 172_800 { "day" } else { "days" },
        ),
    };
    format!("{count} {unit} ago")
}

fn short(cwd: &str, environment: &Environment) -> String {
    let home = environment.home().map(|home| home.to_string_lossy());
    let below = home.and_then(|home| cwd.strip_prefix(&*home));
    match below {
        Some(below) if below.is_empty() || below.starts_with('/') => format!("~{below}"),
        Some(_) | None => cwd.to_owned(),
    }
}
