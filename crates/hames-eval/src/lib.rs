//! The pipeline S1 to S7: any coding agent on SWE-bench-like tasks, graded as the official grader does.
//!
//! It sees an agent only through [`adapter::Adapter`]; ours has no private door. It reads no
//! environment and no home: whoever calls it passes a [`host::Host`].

pub mod adapter;
pub mod adapters;
pub mod atif;
pub mod calibration;
pub mod clock;
pub mod confinement;
pub mod datasets;
pub mod digest;
pub mod dry_run;
pub mod environment;
pub mod environments;
pub mod event;
pub mod experiment;
pub mod given;
pub mod grading;
pub mod host;
pub mod instance;
pub mod leaks;
pub mod lock;
pub mod log_parsers;
pub mod manifest;
pub mod mini;
pub mod official;
pub mod patch;
pub mod pipeline;
pub mod plan;
pub mod prediction;
pub mod progress;
pub mod rate_limit;
pub mod record;
pub mod regrade;
pub mod removal;
pub mod report;
pub mod repository;
pub mod runner;
pub mod scripted;
pub mod stage;
pub mod stage_table;
pub mod stages;
pub mod statistics;
pub mod store;
pub mod summary;
pub mod test_lists;
pub mod tool;
pub mod trajectory;
pub mod trial;
pub mod worker_log;
