//! The command line of `hames eval`.
//!
//! It reads no file; what a name stands for is looked up where it is used.

use std::{path::PathBuf, time::Duration};

use clap::{Subcommand, ValueEnum};

use crate::args::duration;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run an agent on tasks, stage by stage, and grade what it did.
    Run(Box<RunArgs>),
    /// Say how far a run is.
    Status(Which),
    /// Go on with a run: what is done is kept, what failed for outer reasons is tried again.
    Resume(ResumeArgs),
    /// Report on a run, or compare two.
    Report(ReportArgs),
    /// Grade a run's saved logs again, without running anything.
    Regrade(RegradeArgs),
    /// Grade predictions that were made elsewhere.
    Grade(GradeArgs),
    /// Run the built-in benchmark offline: gold resolves, empty and wrong patches do not.
    Selftest(SelftestArgs),
    /// List tasks, adapters or runs.
    List(ListArgs),
    /// Run gold several times on this machine, and write down which instances are valid here.
    Calibrate(CalibrateArgs),
}

#[derive(Debug, Clone, clap::Args)]
pub struct Tasks {
    /// SWE-bench rows (JSON, JSONL), a task folder, a folder of any of them, or `mini`.
    #[arg(value_name = "TASKS")]
    pub tasks: PathBuf,
    /// Only these ids, or globs over them; several with commas.
    #[arg(long = "id", value_name = "ID|GLOB", value_delimiter = ',')]
    pub ids: Vec<String>,
    /// Only tasks of this repository.
    #[arg(long = "repo", value_name = "OWNER/REPO", value_delimiter = ',')]
    pub repos: Vec<String>,
    #[arg(long)]
    pub split: Option<String>,
    /// At most so many, in order.
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
}

/// Where results lie.
#[derive(Debug, Clone, clap::Args)]
pub struct Place {
    /// Where the folders of runs are.
    #[arg(long, value_name = "DIR", default_value = "experiments")]
    pub dir: PathBuf,
    /// Where mirrors, environments and checkouts are kept [default: ~/.cache/hames/eval].
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

/// How tests are run and judged.
#[derive(Debug, Clone, clap::Args)]
pub struct Grading {
    #[arg(long, value_name = "NAME", default_value = "local", value_parser = ["local", "docker"])]
    pub environment: String,
    /// The official rules: v4 (swebench 4.1.0) or v5 (5.0.2).
    #[arg(long, default_value = "v5", value_parser = ["v4", "v5"])]
    pub grader: String,
    /// Of the tests; a task's own limit wins.
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = duration)]
    pub test_limit: Duration,
}

#[derive(Debug, Clone, clap::Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub tasks: Tasks,

    /// The agent; further ones take over where it cannot work. `hames eval list adapters` names them.
    #[arg(long, value_name = "NAME[,NAME]", required = true)]
    pub adapter: Vec<String>,
    /// For the agent, as it spells it; with several adapters, one each or one for all.
    #[arg(long, value_name = "MODEL", value_delimiter = ',')]
    pub model: Vec<String>,
    /// The name that scores are kept under [default: ADAPTER or ADAPTER/MODEL].
    #[arg(long, value_name = "NAME")]
    pub model_name: Option<String>,
    /// The base address of a model service, for agents that can be pointed at one.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// The loop's shape, for hames.
    #[arg(long, value_name = "NAME", value_parser = crate::args::shape_name)]
    pub shape: Option<String>,
    #[arg(long, value_name = "N")]
    pub max_turns: Option<u32>,
    /// US dollars an attempt, for agents that can keep to it.
    #[arg(long, value_name = "USD")]
    pub max_cost: Option<f64>,
    /// The command of --adapter command; {prompt}, {prompt_file}, {model} and {tree} are filled in.
    #[arg(long, value_name = "CMD")]
    pub command: Option<String>,
    /// Handed to the agent as it is; may be given several times.
    #[arg(long = "agent-arg", value_name = "ARG", allow_hyphen_values = true)]
    pub agent_args: Vec<String>,
    /// Tell the agent the hints that came with an issue.
    #[arg(long)]
    pub hints: bool,

    /// Trials that run at once.
    #[arg(short = 'j', long, value_name = "N", default_value_t = 1, value_parser = positive)]
    pub workers: usize,
    /// Independent trials of each task.
    #[arg(short = 'k', long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub attempts: u32,
    /// Wall time of one attempt; then the agent is ended and its work taken.
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = duration)]
    pub wall_limit: Duration,
    /// Run S3: the tests before any fix.
    #[arg(long)]
    pub baseline: bool,
    /// Leave out what this file of `eval calibrate` says is not valid here.
    #[arg(long, value_name = "FILE")]
    pub calibration: Option<PathBuf>,
    /// How often what is nobody's fault is tried again.
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub retries: u32,
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    #[command(flatten)]
    pub grading: Grading,
    #[command(flatten)]
    pub place: Place,
    /// The run's name [default: the model's name and a time].
    #[arg(long, value_name = "ID")]
    pub run_id: Option<String>,
    /// Run everything again, or everything from a stage on.
    #[arg(long, value_name = "STAGE", num_args = 0..=1, default_missing_value = "S1_build")]
    pub force: Option<String>,
    /// Say what would be done, stage by stage, and do nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Let the agent see folders that hold answers.
    #[arg(long)]
    pub no_confine: bool,
    /// Keep the agents' checkouts.
    #[arg(long)]
    pub keep: bool,
}

#[derive(Debug, Clone, clap::Args)]
pub struct Which {
    /// A run [default: the newest].
    pub run: Option<String>,
    #[command(flatten)]
    pub place: Place,
}

#[derive(Debug, Clone, clap::Args)]
pub struct ResumeArgs {
    #[command(flatten)]
    pub which: Which,
    /// Instead of what the run began with.
    #[arg(short = 'j', long, value_name = "N", value_parser = positive)]
    pub workers: Option<usize>,
}

#[derive(Debug, Clone, clap::Args)]
pub struct ReportArgs {
    #[command(flatten)]
    pub which: Which,
    #[arg(long, value_enum, default_value = "terminal")]
    pub format: Face,
    /// Compare with this run.
    #[arg(long, value_name = "RUN")]
    pub compare: Option<String>,
    /// Write it there.
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Face {
    Terminal,
    Markdown,
    /// One page that needs nothing else.
    Html,
    Json,
}

#[derive(Debug, Clone, clap::Args)]
pub struct RegradeArgs {
    #[command(flatten)]
    pub which: Which,
    #[arg(long, default_value = "v5", value_parser = ["v4", "v5"])]
    pub grader: String,
}

#[derive(Debug, Clone, clap::Args)]
pub struct GradeArgs {
    /// JSONL, a JSON list, a map from id to prediction, or `gold`.
    #[arg(value_name = "PREDICTIONS")]
    pub predictions: PathBuf,
    #[command(flatten)]
    pub tasks: Tasks,
    #[arg(short = 'j', long, value_name = "N", default_value_t = 1, value_parser = positive)]
    pub workers: usize,
    #[command(flatten)]
    pub grading: Grading,
    #[command(flatten)]
    pub place: Place,
    #[arg(long, value_name = "ID")]
    pub run_id: Option<String>,
}

#[derive(Debug, Clone, clap::Args)]
pub struct SelftestArgs {
    /// Only these tasks, or globs over them.
    #[arg(long = "id", value_name = "ID|GLOB", value_delimiter = ',')]
    pub ids: Vec<String>,
    #[arg(short = 'j', long, value_name = "N", default_value_t = 2, value_parser = positive)]
    pub workers: usize,
    /// Where its runs are left [default: a temporary folder].
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Leave out the run of hames itself with a scripted model.
    #[arg(long)]
    pub no_agent: bool,
}

#[derive(Debug, Clone, clap::Args)]
pub struct ListArgs {
    /// `adapters`, `runs`, or TASKS to be listed.
    pub what: PathBuf,
    #[command(flatten)]
    pub place: Place,
    #[arg(long = "id", value_name = "ID|GLOB", value_delimiter = ',')]
    pub ids: Vec<String>,
    #[arg(long = "repo", value_name = "OWNER/REPO", value_delimiter = ',')]
    pub repos: Vec<String>,
    #[arg(long)]
    pub split: Option<String>,
}

#[derive(Debug, Clone, clap::Args)]
pub struct CalibrateArgs {
    #[command(flatten)]
    pub tasks: Tasks,
    /// How often gold is run.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub times: u32,
    #[arg(short = 'j', long, value_name = "N", default_value_t = 1, value_parser = positive)]
    pub workers: usize,
    #[command(flatten)]
    pub grading: Grading,
    #[command(flatten)]
    pub place: Place,
    #[arg(long, value_name = "ID")]
    pub run_id: Option<String>,
    /// Where the list of valid instances goes [default: calibration.json in the run's folder].
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("give a number from 1 on".to_owned()),
        Ok(number) => Ok(number),
    }
}
