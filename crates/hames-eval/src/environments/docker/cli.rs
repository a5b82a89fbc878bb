//! Docker's command line: how it is found and called, and what its complaints mean.
//!
//! What is asked of it is not known here.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    environment::Around,
    lock::Lock,
    stage::StageError,
    tool::{Answer, Tool},
};

/// Images are large.
const LIMIT: Duration = Duration::from_secs(3600);

/// Which daemon the client talks to, and as whom.
const CLIENT: [&str; 7] = [
    "HOME",
    "XDG_RUNTIME_DIR",
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "DOCKER_CONFIG",
    "DOCKER_TLS_VERIFY",
    "DOCKER_CERT_PATH",
];

/// The run that containers are for: its lock is held as long as it lives.
#[derive(Debug)]
pub(super) struct Owner {
    pub run: String,
    pub lock: Lock,
}

pub(super) struct Docker<'a> {
    pub program: PathBuf,
    pub env: Vec<(String, String)>,
    pub owner: Option<&'a Owner>,
    pub cx: &'a Around<'a>,
}

impl<'a> Docker<'a> {
    pub fn find(cx: &'a Around<'a>) -> Result<Self, StageError> {
        let program = cx.host.find("docker").ok_or_else(|| StageError::Missing {
            what: "docker".to_owned(),
            hint: "install it and start its daemon, or run with --environment local".to_owned(),
        })?;
        let mut env = cx.host.registry_env();
        env.extend(cx.host.pick(&CLIENT));
        Ok(Self {
            program,
            env,
            owner: None,
            cx,
        })
    }

    /// Whatever comes of it.
    pub async fn ask(&self, args: &[&str]) -> Result<Answer, StageError> {
        self.ask_within(args, self.cx).await
    }

    /// The same also after the run was interrupted.
    pub async fn ask_within(&self, args: &[&str], cx: &Around<'_>) -> Result<Answer, StageError> {
        let tool = Tool {
            program: &self.program,
            args,
            cwd: Path::new("/"),
            env: &self.env,
            stdin: None,
            limit: LIMIT,
        };
        let answer = tool.run(cx).await?;
        match is_daemon(&String::from_utf8_lossy(&answer.err)) {
            Some(error) if !answer.is_fine() => Err(error),
            _ => Ok(answer),
        }
    }

    /// What it printed, where it has to succeed.
    pub async fn text(&self, args: &[&str]) -> Result<String, StageError> {
        let answer = self.ask(args).await?;
        if answer.is_fine() {
            return Ok(answer.text());
        }
        let what = format!("docker {}: {}", args.join(" "), answer.complaint());
        Err(StageError::Infrastructure(what))
    }
}

/// Whether it is the daemon that is at fault, and nothing that was asked of it.
pub(super) fn is_daemon(said: &str) -> Option<StageError> {
    let line = said.lines().find(|line| {
        let of_daemon = [
            "Cannot connect to the Docker daemon",
            "permission denied while trying to connect",
            "error during connect",
            "failed to connect to the docker API",
        ];
        of_daemon.iter().any(|words| line.contains(words))
    })?;
    Some(StageError::Missing {
        what: format!("docker's daemon ({})", line.trim()),
        hint:
            "start it (`systemctl start docker`), see that you may use it (group `docker`), or run \
               with --environment local"
                .to_owned(),
    })
}
