//! What the command lines of all agents have in common: where a program is, what its environment holds.
//!
//! It starts nothing, and knows no agent.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    adapter::{Adapter, CommandLine, Options, Place},
    host::Host,
    instance::Task,
    stage::StageError,
};

/// What is put where a program asks for a key and the user's own server asks for none.
pub const NO_KEY: &str = "none";

/// A single argument or variable cannot be longer on Linux (`MAX_ARG_STRLEN`, 128 KiB with its end).
const LONGEST_ARGUMENT: usize = (128 << 10) - 1;

/// How any agent reaches its provider from behind a proxy.
const NETWORK: [&str; 11] = [
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "https_proxy",
    "http_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
];

/// The program's place, or how to get it.
pub fn program(host: &Host, name: &str, install: &str) -> Result<PathBuf, StageError> {
    host.find(name).ok_or_else(|| StageError::Missing {
        what: format!("the program {name}"),
        hint: install.to_owned(),
    })
}

/// A command line in a home of its own: no variables but what a terminal program needs, and the
/// adapter's own providers' keys and addresses.
pub fn command_line(
    adapter: &dyn Adapter,
    program: impl Into<PathBuf>,
    place: &Place,
    host: &Host,
) -> CommandLine {
    let mut line = CommandLine::new(program);
    line.env = host.pick(&NETWORK);
    line.env.extend(host.pick(adapter.passes()));
    set(&mut line, "HOME", place.home.to_string_lossy());
    set(&mut line, "TMPDIR", place.temp.to_string_lossy());
    set(&mut line, "TERM", "dumb");
    set(&mut line, "NO_COLOR", "1");
    line
}

/// Sets a variable; one of the same name is replaced.
pub fn set(line: &mut CommandLine, name: &str, value: impl Into<String>) {
    line.env.retain(|(known, _)| known != name);
    line.env.push((name.to_owned(), value.into()));
}

pub fn set_all(line: &mut CommandLine, variables: &[(&str, &str)]) {
    for (name, value) in variables {
        set(line, name, *value);
    }
}

pub fn set_if_absent(line: &mut CommandLine, name: &str, value: &str) {
    if !holds(line, name) {
        set(line, name, value);
    }
}

pub fn holds(line: &CommandLine, name: &str) -> bool {
    line.env.iter().any(|(known, _)| known == name)
}

pub fn add<const N: usize>(line: &mut CommandLine, args: [&str; N]) {
    line.args.extend(args.map(str::to_owned));
}

pub fn add_model(line: &mut CommandLine, flag: &str, options: &Options) {
    if !options.model.is_empty() {
        add(line, [flag, &options.model]);
    }
}

/// The variables by which a kind of client is pointed at a server.
#[derive(Debug, Clone, Copy)]
pub struct Interface {
    addresses: &'static [&'static str],
    key: &'static str,
    address: fn(&str) -> String,
}

pub const OPENAI: Interface = Interface {
    addresses: &["OPENAI_BASE_URL"],
    key: "OPENAI_API_KEY",
    address: openai_address,
};

/// For clients on litellm, which has an older name for it.
pub const LITELLM: Interface = Interface {
    addresses: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
    ..OPENAI
};

pub const ANTHROPIC: Interface = Interface {
    addresses: &["ANTHROPIC_BASE_URL"],
    key: "ANTHROPIC_API_KEY",
    address: bare_address,
};

pub const GOOGLE: Interface = Interface {
    addresses: &["GOOGLE_GEMINI_BASE_URL"],
    key: "GEMINI_API_KEY",
    address: bare_address,
};

/// At the address that was asked for, if any; such a server may want no key where the client does.
pub fn point_at(line: &mut CommandLine, options: &Options, interface: Interface) {
    let Some(url) = &options.base_url else {
        return;
    };
    for variable in interface.addresses {
        set(line, variable, (interface.address)(url));
    }
    set_if_absent(line, interface.key, NO_KEY);
}

/// The model as litellm spells it: at an address of the user's own it needs a provider's name.
pub fn litellm_model(options: &Options) -> String {
    let model = &options.model;
    if options.base_url.is_some() && !model.is_empty() && !model.contains('/') {
        return format!("openai/{model}");
    }
    model.clone()
}

/// For agents that are Python programs themselves: the task's import path is not theirs, or they
/// would load the project's modules in place of their own.
pub fn shield_python(line: &mut CommandLine, place: &Place) {
    if place.env.iter().any(|(name, _)| name == "PYTHONPATH") {
        set(line, "PYTHONPATH", "");
    }
    // The list of prices that litellm has with it will do.
    set(line, "LITELLM_LOCAL_MODEL_COST_MAP", "True");
}

/// Seconds since 1970 as ISO 8601.
pub fn moment(seconds: f64) -> String {
    let since = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    humantime::format_rfc3339_millis(std::time::UNIX_EPOCH + since).to_string()
}

/// The prompt as one argument. One that is too long for an argument lies in a file of the home,
/// and the argument says so.
pub fn prompt_argument(line: &mut CommandLine, task: &Task, place: &Place) -> String {
    // A prompt that begins like a flag is taken for one.
    let prompt = if task.prompt.starts_with('-') {
        format!("\n{}", task.prompt)
    } else {
        task.prompt.clone()
    };
    if prompt.len() < LONGEST_ARGUMENT {
        return prompt;
    }
    let file = prompt_file(line, task, place);
    format!("Read the file {} and do what it says.", file.display())
}

/// The prompt as a file of the home.
pub fn prompt_file(line: &mut CommandLine, task: &Task, place: &Place) -> PathBuf {
    let file = Path::new("prompt.md");
    line.files.push((file.to_owned(), task.prompt.clone()));
    place.home.join(file)
}

pub fn fits_an_argument(text: &str) -> bool {
    text.len() < LONGEST_ARGUMENT
}

/// As clients of OpenAI's interface want it: an address without a path gets `/v1`.
pub fn openai_address(url: &str) -> String {
    let url = url.trim_end_matches('/');
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    if rest.contains('/') {
        return url.to_owned();
    }
    format!("{url}/v1")
}

/// As clients of Anthropic's and Google's interfaces want it: they add the version themselves.
pub fn bare_address(url: &str) -> String {
    let url = url.trim_end_matches('/');
    let url = url.strip_suffix("/v1").unwrap_or(url);
    url.to_owned()
}
