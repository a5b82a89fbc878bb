//! The flags of a run: every one, its spellings, and what its text must look like.
//!
//! It decides nothing that needs a file, a model or the environment.

use std::{path::PathBuf, time::Duration};

use clap::{Args, FromArgMatches, ValueEnum};
use hames_agent::permission::modes::{Mode, UnknownMode};

#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// What to do; `-` reads it from stdin.
    pub prompt: Option<String>,

    /// Answer and exit, without a conversation.
    #[arg(short = 'p', long)]
    pub print: bool,

    /// Hand over what stdin holds, to its end, after the prompt.
    #[arg(long, requires = "prompt")]
    pub stdin: bool,

    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    pub permission: PermissionArgs,
    #[command(flatten)]
    pub session: SessionArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

impl RunArgs {
    /// As a user would type them, the program's name first.
    pub fn typed<'a>(line: impl IntoIterator<Item = &'a str>) -> Result<Self, clap::Error> {
        let command = Self::augment_args(clap::Command::new("hames"));
        let matches = command.try_get_matches_from(line)?;
        Self::from_arg_matches(&matches)
    }
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Model")]
pub struct ModelArgs {
    /// VENDOR/MODEL, a model that only one vendor has, or script:FILE.
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,

    /// The model to go on with once retries are used up.
    #[arg(long, value_name = "MODEL")]
    pub fallback_model: Option<String>,

    /// A model for a role, as critic=MODEL or compact=MODEL; several with commas.
    #[arg(long, value_name = "ROLE=MODEL", value_delimiter = ',', value_parser = role_model)]
    pub model_for: Vec<(String, String)>,

    /// How queries are arranged: react, plan_execute, reflection, multi_agent or auto.
    #[arg(long, value_name = "NAME", value_parser = shape_name)]
    pub shape: Option<String>,

    /// A command that must succeed before the work counts as done.
    #[arg(long, value_name = "CMD")]
    pub check: Option<String>,

    /// What a critic judges the work by, with --shape reflection or auto.
    #[arg(long, value_name = "TEXT", conflicts_with = "check")]
    pub criteria: Option<String>,

    /// How hard the model should think, where its wire has a word for it.
    #[arg(long, value_name = "LEVEL")]
    pub effort: Option<String>,

    /// Replaces the built-in system prompt.
    #[arg(long, value_name = "TEXT")]
    pub system_prompt: Option<String>,

    /// Added to the system prompt.
    #[arg(long, value_name = "TEXT")]
    pub append_system_prompt: Option<String>,

    /// Tell the model what it does not know by itself: turns, budget, time.
    #[arg(long, value_name = "WHAT", value_enum, value_delimiter = ',')]
    pub inform: Vec<Informed>,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Model calls of one submission [default: 200], or none beside another limit.
    #[arg(long, value_name = "N", value_parser = turns)]
    pub max_turns: Option<Turns>,

    /// Wall time of one submission: seconds, or 90s, 10m, 2h.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub max_wall: Option<Duration>,

    /// US dollars of one submission.
    #[arg(long, alias = "max-budget-usd", value_name = "USD", value_parser = dollars)]
    pub max_cost: Option<f64>,

    /// Output tokens of one model call.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_output_tokens: Option<u32>,

    /// Tokens of one submission, input and output.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_total_tokens: Option<u64>,

    /// Tool calls of one message that may run at once [default: 8].
    #[arg(long, value_name = "N", value_parser = concurrency)]
    pub tool_concurrency: Option<usize>,

    /// Compact at this share of the model's window, in percent [default: 80].
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub compact_at: Option<u8>,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Permissions")]
pub struct PermissionArgs {
    /// What may happen without a question: default, plan, accept-edits or full-auto.
    #[arg(long, value_name = "MODE", value_parser = mode)]
    pub permission_mode: Option<Mode>,

    /// The same as --permission-mode full-auto.
    #[arg(long, hide = true, conflicts_with = "permission_mode")]
    pub dangerously_skip_permissions: bool,

    /// Rules that allow, as Tool or Tool(specifier); several with commas.
    #[arg(long, alias = "allowedTools", value_name = "RULES")]
    pub allowed_tools: Vec<String>,

    /// Rules that deny, as Tool or Tool(specifier); several with commas.
    #[arg(long, alias = "disallowedTools", value_name = "RULES")]
    pub disallowed_tools: Vec<String>,

    /// Let the workspace's own hooks and allow rules count.
    #[arg(long)]
    pub trust_workspace: bool,

    /// A folder beside the workspace that tools may use.
    #[arg(long, value_name = "DIR")]
    pub add_dir: Vec<PathBuf>,

    /// The shell that runs commands, instead of bash or sh.
    #[arg(long, value_name = "PATH")]
    pub shell: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Session")]
pub struct SessionArgs {
    /// The workspace [default: the current folder].
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,

    /// Go on with the newest session of this workspace; without a prompt, with what is pending.
    #[arg(short = 'c', long = "continue", conflicts_with = "resume")]
    pub continue_newest: bool,

    /// Go on with a session by its id; without a prompt, with what is pending.
    #[arg(short = 'r', long, value_name = "ID")]
    pub resume: Option<String>,

    /// What a session survives: a killed process, or a power cut as well [default: disk].
    #[arg(long, value_enum)]
    pub durability: Option<Durability>,

    /// Where the run log goes [default: beside the session].
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    #[arg(long, value_enum, default_value = "text")]
    pub output_format: Format,

    /// The final answer must be JSON that fits this schema.
    #[arg(long, value_name = "FILE")]
    pub json_schema: Option<PathBuf>,

    /// Say more on stderr: tool results, model turns.
    #[arg(long)]
    pub verbose: bool,

    /// Print the first request as a curl command, and send nothing.
    #[arg(long)]
    pub print_curl: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turns {
    AtMost(u32),
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// The answer on stdout, activity on stderr.
    Text,
    /// One result object.
    Json,
    /// One JSON object a message, then the result.
    StreamJson,
    /// The journal's own lines.
    Journal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Durability {
    /// What was written survives this process.
    Os,
    /// It survives the machine, at a query's end and before commands.
    Disk,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Informed {
    Turns,
    Budget,
    Time,
}

pub const SHAPES: [&str; 5] = ["react", "plan_execute", "reflection", "multi_agent", "auto"];

/// What `-p` allows itself when nothing else is said.
pub const DEFAULT_TURNS: u32 = 200;
pub const DEFAULT_CONCURRENCY: usize = 8;
/// In percent of the window.
pub const DEFAULT_COMPACT_AT: u8 = 80;

impl LimitArgs {
    /// `Err` when a run with these flags could go on for ever.
    pub fn turns(&self) -> Result<Option<u32>, String> {
        match self.max_turns {
            None => Ok(Some(DEFAULT_TURNS)),
            Some(Turns::AtMost(most)) => Ok(Some(most)),
            Some(Turns::None) if self.has_another_wall() => Ok(None),
            Some(Turns::None) => Err("--max-turns none needs another limit: add --max-wall, \
                                      --max-total-tokens or --max-cost"
                .to_owned()),
        }
    }

    fn has_another_wall(&self) -> bool {
        self.max_wall.is_some() || self.max_total_tokens.is_some() || self.max_cost.is_some()
    }
}

impl PermissionArgs {
    pub fn mode(&self) -> Option<Mode> {
        if self.dangerously_skip_permissions {
            return Some(Mode::FullAuto);
        }
        self.permission_mode
    }
}

fn mode(text: &str) -> Result<Mode, String> {
    text.parse()
        .map_err(|unknown: UnknownMode| unknown.to_string())
}

fn turns(text: &str) -> Result<Turns, String> {
    if text.eq_ignore_ascii_case("none") {
        return Ok(Turns::None);
    }
    match text.parse() {
        Ok(0) | Err(_) => Err("give a number from 1 on, or none".to_owned()),
        Ok(most) => Ok(Turns::AtMost(most)),
    }
}

/// `2`, `0.5`, `90s`, `10m`, `2h`, `500ms`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let refusal = || "give seconds, or a number with ms, s, m or h".to_owned();
    let unit_at = text.find(|letter: char| letter.is_ascii_alphabetic());
    let (number, unit) = text
        .split_at_checked(unit_at.unwrap_or(text.len()))
        .ok_or_else(refusal)?;
    let seconds = match unit {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(refusal()),
    };
    let number: f64 = number.trim().parse().map_err(|_| refusal())?;
    if number <= 0.0 {
        return Err("give a time above zero".to_owned());
    }
    Duration::try_from_secs_f64(number * seconds).map_err(|_| refusal())
}

fn dollars(text: &str) -> Result<f64, String> {
    match text.trim_start_matches('$').parse::<f64>() {
        Ok(amount) if amount > 0.0 && amount.is_finite() => Ok(amount),
        _ => Err("give an amount above zero, like 0.50".to_owned()),
    }
}

fn percent(text: &str) -> Result<u8, String> {
    match text.trim_end_matches('%').trim().parse() {
        Ok(share @ 1..=100) => Ok(share),
        _ => Err("give a share from 1 to 100".to_owned()),
    }
}

fn concurrency(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("give a number from 1 on".to_owned()),
        Ok(most) => Ok(most),
    }
}

fn role_model(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((role, model)) if !role.is_empty() && !model.is_empty() => {
            Ok((role.to_owned(), model.to_owned()))
        }
        _ => Err("give ROLE=MODEL, like critic=openai/gpt-5".to_owned()),
    }
}

pub fn shape_name(text: &str) -> Result<String, String> {
    let name = text.replace('-', "_");
    if SHAPES.contains(&name.as_str()) {
        return Ok(name);
    }
    Err(format!("give one of {}", SHAPES.join(", ")))
}

#[cfg(test)]
mod tests;
