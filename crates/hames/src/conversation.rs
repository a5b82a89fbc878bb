//! `hames` on a terminal: a plain conversation, line by line.
//!
//! A line typed while the model works is queued for it; Ctrl-C interrupts, and twice leaves.

mod commands;
mod desk;

use std::{
    io::{self, Write},
    path::PathBuf,
    sync::Arc,
    time::Instant,
};

use anyhow::Result;
use hames_agent::{Session, handle::InFlight, journal::Journal};
use hames_types::{Origin, Outcome, Seq, UserMessage};
use tokio::sync::mpsc;

use crate::{
    approve::AtTerminal,
    args::RunArgs,
    environment::Environment,
    exit,
    print::run_log,
    report::About,
    signals::Signals,
    surface::Text,
    typed,
    watching::{Closing, Watched, Watching},
    wiring::{Parts, Wired, prepare},
};
use commands::{Command, HELP};
use desk::{Attended, Desk};

pub fn run(args: &RunArgs, environment: &Environment) -> Result<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let code = runtime.block_on(async {
        let parts = prepare(args, environment, Some(&mut typed::yes_or_no)).await?;
        let mut conversation = Conversation::open(parts, args, environment)?;
        conversation.go(args.prompt.clone()).await
    });
    runtime.shutdown_background();
    code
}

struct Conversation<'a> {
    parts: Parts,
    args: &'a RunArgs,
    environment: &'a Environment,
    session: Session,
    journal: Journal,
    folder: PathBuf,
    about: Arc<About>,
    /// The first entry that has not been shown.
    from: Seq,
    desk: Desk,
}

/// What the one at the terminal wants next.
enum Next {
    Line(String),
    Leave(u8),
}

impl<'a> Conversation<'a> {
    fn open(parts: Parts, args: &'a RunArgs, environment: &'a Environment) -> Result<Self> {
        for note in &parts.notes {
            say(&format!("hames: {note}"));
        }
        let (questions, asked) = mpsc::unbounded_channel();
        let approver = AtTerminal {
            questions,
            workspace: parts.workspace().to_owned(),
            places: parts.settled.policy.places.clone(),
            trust: parts.trust(),
        };
        let Wired {
            session,
            journal,
            steering,
            from,
            folder,
            about,
        } = parts.open(environment, Some(Arc::new(approver)))?;
        Ok(Self {
            parts,
            args,
            environment,
            session,
            journal,
            folder,
            about,
            from,
            desk: Desk {
                lines: typed::lines()?,
                questions: asked,
                signals: Signals::listen()?,
                steering,
            },
        })
    }

    async fn go(&mut self, prompt: Option<String>) -> Result<u8> {
        say(&format!(
            "hames {}, {} in {}; /help lists what you can type",
            env!("CARGO_PKG_VERSION"),
            self.about.model,
            self.about.cwd
        ));
        let mut next = prompt.map(Next::Line);
        if next.is_none() && self.session.has_pending_continuation() {
            say("going on with what is pending");
            if self.work(None).await? {
                return Ok(0);
            }
        }
        loop {
            let now = match next.take() {
                Some(now) => now,
                None => self.wait().await,
            };
            match now {
                Next::Leave(code) => return Ok(code),
                Next::Line(line) if line.trim().is_empty() => {}
                Next::Line(line) => match Command::parse(&line) {
                    Some(Command::Exit) => return Ok(0),
                    Some(command) => self.obey(command).await?,
                    None if self.work(Some(line)).await? => return Ok(0),
                    None => {}
                },
            }
        }
    }

    /// The next line, or the second Ctrl-C in a row.
    async fn wait(&mut self) -> Next {
        let mut interrupted = false;
        loop {
            let _ = write!(io::stderr(), "> ");
            tokio::select! {
                line = self.desk.lines.recv() => return line.map_or(Next::Leave(0), Next::Line),
                () = self.desk.signals.next() => {
                    say("");
                    if interrupted {
                        return Next::Leave(exit::INTERRUPTED);
                    }
                    interrupted = true;
                    say("Ctrl-C again leaves; so does /exit");
                }
            }
        }
    }

    /// A prompt, or what is pending, to its end; true when the one at the terminal left meanwhile.
    async fn work(&mut self, prompt: Option<String>) -> Result<bool> {
        let began = Instant::now();
        let interrupter = self.session.interrupter();
        let watching = self.watch(interrupter.clone())?;
        let session = &mut self.session;
        let work = async {
            match prompt {
                Some(prompt) => {
                    session
                        .submit(UserMessage::text(Origin::Human, prompt))
                        .await
                }
                None => session
                    .continue_pending()
                    .await
                    .unwrap_or(Outcome::Completed),
            }
        };
        let Attended { result, leaves } = self.desk.attend(&interrupter, work).await;
        let closing = Closing {
            outcome: result,
            took: began.elapsed(),
            structured: None,
        };
        let report = watching.close(closing).await?;
        self.from = report.tally.last_seq + 1;
        Ok(leaves)
    }

    fn watch(&self, interrupter: InFlight) -> io::Result<Watching> {
        let surface = Text::new(self.environment, self.args.output.verbose);
        let watched = Watched {
            journal: self.journal.clone(),
            from: self.from,
            folder: self.folder.clone(),
            about: self.about.clone(),
            log: run_log(self.args, &self.folder, &self.about.session),
        };
        Watching::start(watched, Box::new(surface), move || interrupter.interrupt())
    }

    async fn obey(&mut self, command: Command) -> Result<()> {
        match command {
            Command::Help => say(HELP),
            Command::Clear => {
                if self.session.clear().is_continue() {
                    say("forgotten; the journal keeps what was said");
                }
            }
            Command::Compact => self.compact().await,
            Command::Cost => self.cost(),
            Command::Model(None) => say(&self.about.model),
            Command::Model(Some(name)) => self.change_model(&name).await,
            Command::Unknown(name) => {
                say(&format!("there is no {name}; /help lists what there is"))
            }
            Command::Exit => {}
        }
        Ok(())
    }

    async fn compact(&mut self) {
        let interrupter = self.session.interrupter();
        let compacting = self.session.compact();
        let Attended { result, .. } = self.desk.attend(&interrupter, compacting).await;
        match result.break_value() {
            None => say("compacted"),
            Some(outcome) => say(&exit::ending(&outcome, false).message),
        }
    }

    fn cost(&self) {
        let spent = self.session.spent();
        let cost = if self.about.prices.contains_key(self.about.model.as_str()) {
            format!("${:.4}", spent.cost)
        } else {
            "the price is not known".to_owned()
        };
        let plural = if spent.turns == 1 { "" } else { "s" };
        say(&format!(
            "{} turn{plural}, {} tokens, {cost}",
            spent.turns, spent.tokens
        ));
    }

    async fn change_model(&mut self, name: &str) {
        match self.parts.models.change(name, self.environment).await {
            Err(error) => say(&format!("{error:#}")),
            Ok(model) => {
                if self.session.configure(model).is_continue() {
                    self.about = Arc::new(self.parts.about(&self.about.session));
                    say(&format!("{} from here on", self.about.model));
                }
            }
        }
    }
}

fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
