//! The pipeline S1 to S7: any coding agent on SWE-bench-like tasks, graded as the official grader does.
//!
//! It sees an agent only through [`adapter::Adapter`]; ours has no private door. It reads no
//! environment and no home: whoever calls it passes a [`host::Host`].

pub mod adapter;
pub mod adapters;
pub mod environment;
pub mod environments;
pub mod experiment;
pub mod host;
pub mod instance;
pub mod record;
pub mod stage;
pub mod trajectory;
