//! `kill -9` at random instants over scripted sessions with effects, resumed each time.
//!
//! It looks at what a user would find afterwards (journal, files, what the model was sent), and never
//! inside the program.

mod journal;
mod play;
mod service;

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use journal::Journal;
pub(crate) use play::build;
use play::{Ended, Program};
use service::Service;

/// How many messages with calls a session has; each makes two.
const ROUNDS: usize = 6;

/// A session that takes longer than this, unkilled, is stuck.
const PATIENCE: Duration = Duration::from_secs(60);

/// Resumptions after which a session is given up.
const TRIES: usize = 200;

const SERVE: [&str; 6] = [
    "-p",
    "hames-testkit",
    "--features",
    "server",
    "--example",
    "serve",
];

const USAGE: &str = "usage: crash [--kills N] [--seed S] [--keep] [--hames FILE] [--serve FILE]";

const WIRES: [&str; 3] = ["", "anthropic+", "ollama+"];

#[derive(Debug, Default)]
struct Counts {
    kills: usize,
    sessions: usize,
    resumed: usize,
    torn: usize,
    requests: usize,
    effects: usize,
    unknown: usize,
    never_began: usize,
    /// Of those, effects that had happened.
    happened_unknown: usize,
    wrong: Vec<String>,
}

/// `--kills N`, `--seed S`, `--keep` (leaves its folders where they are); `--hames` and `--serve`
/// name executables that are built already.
pub fn run(root: &Path, args: &[String]) -> io::Result<bool> {
    let Some(options) = Options::read(args) else {
        return Err(io::Error::other(USAGE));
    };
    let hames = match &options.hames {
        Some(built) => built.clone(),
        None => play::build(root, &["-p", "hames", "--bin", "hames"])?,
    };
    let serve = match &options.serve {
        Some(built) => built.clone(),
        None => play::build(root, &SERVE)?,
    };
    let folder = std::env::temp_dir().join(format!("hames-crash-{}", std::process::id()));
    let mut crash = Crash {
        hames,
        serve,
        folder: folder.clone(),
        random: Random(options.seed),
        counts: Counts::default(),
        whole: Duration::ZERO,
    };
    let done = crash.run(options.kills);
    if !options.keep && crash.counts.wrong.is_empty() && done.is_ok() {
        let _ = fs::remove_dir_all(&folder);
    } else {
        eprintln!("kept: {}", folder.display());
    }
    done?;
    Ok(crash.report(&options))
}

struct Options {
    kills: usize,
    seed: u64,
    keep: bool,
    hames: Option<PathBuf>,
    serve: Option<PathBuf>,
}

impl Options {
    fn read(args: &[String]) -> Option<Self> {
        let mut options = Self {
            kills: 30,
            seed: 1,
            keep: false,
            hames: None,
            serve: None,
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--kills" => options.kills = args.next()?.parse().ok()?,
                "--seed" => options.seed = args.next()?.parse().ok()?,
                "--keep" => options.keep = true,
                "--hames" => options.hames = Some(args.next()?.into()),
                "--serve" => options.serve = Some(args.next()?.into()),
                _ => return None,
            }
        }
        Some(options)
    }
}

struct Crash {
    hames: PathBuf,
    serve: PathBuf,
    folder: PathBuf,
    random: Random,
    counts: Counts,
    /// How long a session takes that nobody kills.
    whole: Duration,
}

impl Crash {
    fn run(&mut self, kills: usize) -> io::Result<()> {
        self.session(0, 0)?;
        let mut number = 1;
        while self.counts.kills < kills && self.counts.wrong.is_empty() {
            self.session(number, kills - self.counts.kills)?;
            number += 1;
        }
        Ok(())
    }

    /// One session, killed up to so many times, until it completes.
    fn session(&mut self, number: usize, kills: usize) -> io::Result<()> {
        let folder = self.folder.join(format!("{number:03}"));
        let program = Program::new(&self.hames, &folder)?;
        let scenario = folder.join("scenario.json");
        fs::write(&scenario, play::scenario(ROUNDS))?;
        let service = Service::start(&self.serve, &scenario)?;
        let wire = WIRES[number % WIRES.len()];
        let model = service.model(wire);
        let mut journal = Journal::default();
        let mut left = kills;
        let mut completed = false;
        for _ in 0..TRIES {
            let begun = Instant::now();
            let after = if left > 0 { self.instant() } else { PATIENCE };
            let ended = program.run(&model, journal.has_prompt(), after)?;
            match ended {
                Ended::Killed if left == 0 => {
                    self.wrong(number, "it hangs, though nobody killed it");
                    return Ok(());
                }
                Ended::Killed => {
                    left -= 1;
                    self.counts.kills += 1;
                }
                Ended::ByItself(0) => completed = true,
                Ended::ByItself(code) => {
                    self.wrong(
                        number,
                        &format!("exit code {code}: {}", program.last_words()),
                    );
                    return Ok(());
                }
            }
            if kills == 0 {
                self.whole = begun.elapsed();
            }
            self.look(number, &program, &mut journal)?;
            completed |= journal.is_complete();
            if completed || !self.counts.wrong.is_empty() {
                break;
            }
            self.counts.resumed += usize::from(journal.has_prompt());
        }
        if !completed {
            self.wrong(number, "it never completed");
        }
        self.counts.sessions += 1;
        self.effects(number, &program, &journal)?;
        self.requests(number, service);
        Ok(())
    }

    /// Somewhere in a session's first half, so that one is killed more than once.
    fn instant(&mut self) -> Duration {
        let most = u64::try_from(self.whole.as_micros() / 2).unwrap_or(u64::MAX);
        Duration::from_micros(self.random.below(most.max(1000)))
    }

    /// What was in the journal is in it still.
    fn look(&mut self, number: usize, program: &Program, journal: &mut Journal) -> io::Result<()> {
        let now = Journal::read(&program.sessions())?;
        self.counts.torn += usize::from(now.torn);
        if let Some(lost) = journal.lost_in(&now) {
            self.wrong(number, &format!("a journaled line is gone: {lost}"));
        }
        *journal = now;
        Ok(())
    }

    /// No effect twice, and none that the model was told cannot be.
    fn effects(&mut self, number: usize, program: &Program, journal: &Journal) -> io::Result<()> {
        let effects = program.effects()?;
        for call in journal.calls() {
            let times = effects.iter().filter(|line| **line == call.effect).count();
            let told = call.told.as_str();
            self.counts.effects += times;
            let unknown = told.contains("unknown");
            let never_began = told.contains("no effect");
            self.counts.unknown += usize::from(unknown);
            self.counts.never_began += usize::from(never_began);
            self.counts.happened_unknown += usize::from(unknown && times > 0);
            let fits = match times {
                0 => unknown || never_began,
                1 => !never_began,
                _ => false,
            };
            if !fits {
                let problem = format!(
                    "{} happened {times} times; the model was told: {told}",
                    call.effect
                );
                self.wrong(number, &problem);
            }
        }
        let expected = ROUNDS * 2;
        let found = journal.calls().len();
        if found != expected {
            self.wrong(
                number,
                &format!("{found} calls are journaled, not {expected}"),
            );
        }
        Ok(())
    }

    fn requests(&mut self, number: usize, service: Service) {
        let (requests, refused) = service.stop();
        self.counts.requests += requests;
        for refusal in refused {
            self.wrong(number, &format!("the service refused a request: {refusal}"));
        }
    }

    fn wrong(&mut self, session: usize, problem: &str) {
        self.counts
            .wrong
            .push(format!("session {session:03}: {problem}"));
    }

    fn report(&self, options: &Options) -> bool {
        let counts = &self.counts;
        eprintln!(
            "{} kills in {} sessions, {} resumed, seed {}",
            counts.kills, counts.sessions, counts.resumed, options.seed
        );
        eprintln!("{} torn last lines", counts.torn);
        eprintln!(
            "{} effects happened; {} calls were told that their effect is unknown ({} of these had happened), {} that they never began",
            counts.effects, counts.unknown, counts.happened_unknown, counts.never_began
        );
        eprintln!("{} requests to the strict service", counts.requests);
        for wrong in &counts.wrong {
            eprintln!("WRONG {wrong}");
        }
        if counts.wrong.is_empty() {
            eprintln!("no journaled line lost, no effect run twice, no request refused");
        }
        counts.wrong.is_empty()
    }
}

/// SplitMix64: the same seed draws the same instants, as shares of how long a session takes.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % most.max(1)
    }
}
