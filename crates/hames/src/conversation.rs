//! `hames` on a terminal: a plain conversation, line by line.
//!
//! A line typed while the model works is queued for it; Ctrl-C interrupts, and twice leaves.

mod commands;

use std::{
    io::{self, Write},
    path::PathBuf,
    pin::pin,
    sync::Arc,
    time::Instant,
};

use anyhow::Result;
use hames_agent::{Session, journal::Journal, steering::Steering};
use hames_types::{Origin, Outcome, Seq, UserMessage};
use tokio::sync::mpsc;

use crate::{
    approve::{AtTerminal, Awaited},
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
    steering: Steering,
    folder: PathBuf,
    about: Arc<About>,
    /// The first entry that has not been shown.
    from: Seq,
    lines: mpsc::UnboundedReceiver<String>,
    questions: mpsc::UnboundedReceiver<Awaited>,
    signals: Signals,
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
            steering,
            folder,
            about,
            from,
            lines: typed::lines()?,
            questions: asked,
            signals: Signals::listen()?,
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
            self.work(None).await?;
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
                    None => self.work(Some(line)).await?,
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
                line = self.lines.recv() => return line.map_or(Next::Leave(0), Next::Line),
                () = self.signals.next() => {
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

    /// A prompt, or what is pending, to its end.
    async fn work(&mut self, prompt: Option<String>) -> Result<()> {
        let began = Instant::now();
        let surface = Text::new(self.environment, self.args.output.verbose);
        let watched = Watched {
            journal: self.journal.clone(),
            from: self.from,
            folder: self.folder.clone(),
            about: self.about.clone(),
            log: run_log(self.args, &self.folder, &self.about.session),
        };
        let interrupter = self.session.interrupter();
        let unread = interrupter.clone();
        let watching = Watching::start(watched, Box::new(surface), move || unread.interrupt())?;
        let mut asking: Vec<Awaited> = Vec::new();
        let mut interrupted = false;
        let outcome = {
            let session = &mut self.session;
            let mut work = pin!(async move {
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
            });
            loop {
                tokio::select! {
                    biased;
                    outcome = &mut work => break outcome,
                    Some(question) = self.questions.recv() => asking.push(question),
                    Some(line) = self.lines.recv() => {
                        // A question that was withdrawn takes no line.
                        asking.retain(|question| !question.is_closed());
                        if asking.is_empty() {
                            queue(&self.steering, line);
                        } else {
                            let _ = asking.remove(0).send(line);
                        }
                    }
                    () = self.signals.next() => {
                        if interrupted {
                            std::process::exit(exit::INTERRUPTED.into());
                        }
                        interrupted = true;
                        interrupter.interrupt();
                    }
                }
            }
        };
        let closing = Closing {
            outcome,
            took: began.elapsed(),
            structured: None,
        };
        let report = watching.close(closing)?;
        self.from = report.tally.last_seq + 1;
        Ok(())
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
        let mut compacting = pin!(self.session.compact());
        let compacted = loop {
            tokio::select! {
                compacted = &mut compacting => break compacted,
                () = self.signals.next() => interrupter.interrupt(),
            }
        };
        match compacted.break_value() {
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
        say(&format!(
            "{} turns, {} tokens, {cost}",
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

/// Said while the model works: it is heard before the query ends.
fn queue(steering: &Steering, line: String) {
    if line.trim().is_empty() {
        return;
    }
    let queued = steering.send(UserMessage::text(Origin::Steering, line));
    say(if queued.is_continue() {
        "queued"
    } else {
        "it could not be recorded"
    });
}

fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
