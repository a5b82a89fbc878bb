//! What an agent did, turn by turn, in one form for all agents: what is exported as ATIF and shown on a page.
//!
//! It judges nothing, and knows no agent's own format.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Trajectory {
    /// The agent's own name for the session.
    #[serde(default)]
    pub session_id: Option<String>,
    #[serde(default)]
    pub agent_version: Option<String>,
    #[serde(default)]
    pub model: Option<String>,
    pub turns: Vec<Turn>,
    /// The agent's own totals where it gives them, else the sum of the turns.
    #[serde(default)]
    pub usage: Usage,
    #[serde(default)]
    pub cost_usd: Option<f64>,
    #[serde(default)]
    pub final_answer: Option<String>,
    /// Agents that it had work for it, where their own turns are known; named by `session_id`.
    /// Their usage is part of `usage`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subagents: Vec<Self>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    pub source: Source,
    /// ISO 8601.
    #[serde(default)]
    pub at: Option<String>,
    #[serde(default)]
    pub text: String,
    #[serde(default)]
    pub reasoning: Option<String>,
    #[serde(default)]
    pub calls: Vec<Call>,
    #[serde(default)]
    pub usage: Option<Usage>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    System,
    User,
    Agent,
}

/// A tool call and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    pub id: String,
    pub name: String,
    /// As the model wrote them, JSON where they are JSON.
    pub arguments: serde_json::Value,
    #[serde(default)]
    pub result: Option<String>,
    #[serde(default)]
    pub is_error: bool,
}

/// Tokens. `input` leaves out what was read from a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub reasoning: u64,
    /// Model calls, where the agent tells.
    pub calls: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.reasoning += other.reasoning;
        self.calls += other.calls;
    }
}
