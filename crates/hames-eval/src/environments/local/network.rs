//! Tests without a network: a namespace with nothing in it but loopback, where Linux allows one.
//!
//! Whether one was made is told in every record; nothing else is walled off.

use std::{path::Path, time::Duration};

use crate::{environment::Around, stage::StageError, tool::Tool};

/// The words before a command line that keep it from the network; none where nothing can.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Network(Vec<String>);

impl Network {
    pub fn reaches(&self) -> bool {
        self.0.is_empty()
    }

    /// The command with its wall around it.
    pub fn around(&self, command: &[&str]) -> Vec<String> {
        let command = command.iter().map(|word| (*word).to_owned());
        self.0.iter().cloned().chain(command).collect()
    }
}

/// With each: as root, as a user who stays themselves, as a user who becomes root of a namespace.
const WAYS: [&[&str]; 3] = [
    &["--net"],
    &["--user", "--map-current-user", "--keep-caps", "--net"],
    &["--user", "--map-root-user", "--net"],
];

/// Loopback comes down in a new namespace. The words after it are run in its place.
const LOOPBACK_UP: &str = "ip link set lo up 2>/dev/null || \"$0\" -c 'import fcntl, socket, struct; \
    fcntl.ioctl(socket.socket(), 0x8914, struct.pack(\"16sh14x\", b\"lo\", 0x41))' || exit 1; \
    exec \"$@\"";

/// Connects to itself.
const TRIAL: &str = "import socket; s = socket.socket(); s.bind((\"127.0.0.1\", 0)); s.listen(1); \
    socket.create_connection(s.getsockname(), 2)";

/// Tries once what this machine allows.
pub(super) async fn probe(
    allowed: bool,
    python: &Path,
    cx: &Around<'_>,
) -> Result<Network, StageError> {
    let open = Network(Vec::new());
    let Some(unshare) = cx.host.find("unshare").filter(|_| !allowed) else {
        return Ok(open);
    };
    let python_word = python.to_string_lossy();
    for way in WAYS {
        let unshare = [&*unshare.to_string_lossy()].map(str::to_owned);
        let rest = ["--", "sh", "-c", LOOPBACK_UP, &python_word].map(str::to_owned);
        let way = way.iter().map(|word| (*word).to_owned());
        let walled = Network(unshare.into_iter().chain(way).chain(rest).collect());
        if works(&walled, &python_word, cx).await? {
            return Ok(walled);
        }
    }
    Ok(open)
}

async fn works(walled: &Network, python: &str, cx: &Around<'_>) -> Result<bool, StageError> {
    let words = walled.around(&[python, "-I", "-c", TRIAL]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some((program, args)) = words.split_first() else {
        return Ok(false);
    };
    let env = cx.host.plain_env();
    let tool = Tool {
        program: Path::new(program),
        args,
        cwd: Path::new("/"),
        env: &env,
        stdin: None,
        limit: Duration::from_secs(30),
    };
    match tool.run(cx).await {
        Ok(answer) => Ok(answer.is_fine()),
        Err(StageError::Interrupted) => Err(StageError::Interrupted),
        Err(_) => Ok(false),
    }
}
