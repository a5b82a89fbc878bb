//! The stages against the loop's parts: what each is given, what it leaves, and where it is written.
//!
//! Printed by `hames explain pipeline`; it runs nothing.

use crate::stage::Stage;

pub struct Row {
    pub stage: Stage,
    pub does: &'static str,
    /// Which of the six parts it is for a whole task, or why it is none.
    pub part: &'static str,
    pub leaves: &'static str,
    /// In this crate.
    pub file: &'static str,
    pub calls_a_model: bool,
}

pub const TABLE: [Row; 7] = [
    Row {
        stage: Stage::Build,
        does: "renders the task as the agent is told it, without the answers",
        part: "State Manager: the first message",
        leaves: "task.json",
        file: "src/stages/s1_build.rs",
        calls_a_model: false,
    },
    Row {
        stage: Stage::Prepare,
        does: "environment and clean checkout at the base, scanned for answers",
        part: "Tool Registry: what the agent can act on",
        leaves: "environment and mirror in the cache, the checkout",
        file: "src/stages/s2_prepare.rs",
        calls_a_model: false,
    },
    Row {
        stage: Stage::Baseline,
        does: "with --baseline: the tests before any fix, or the instance is invalid here",
        part: "none: it judges the task, not the agent",
        leaves: "`baseline` in the result; null without it",
        file: "src/stages/s3_baseline.rs",
        calls_a_model: false,
    },
    Row {
        stage: Stage::Solve,
        does: "runs the agent under a wall limit, and nothing of it afterwards",
        part: "Loop Controller: the whole loop happens here, and here alone",
        leaves: "s4_worker.log, agent.stdout, agent.stderr, trajectory.json",
        file: "src/stages/s4_solve.rs",
        calls_a_model: true,
    },
    Row {
        stage: Stage::Patch,
        does: "takes the work from the tree, whatever became of the agent",
        part: "Output Parser, and Error Handler where it rescues",
        leaves: "model.patch, prediction.jsonl",
        file: "src/stages/s5_patch.rs",
        calls_a_model: false,
    },
    Row {
        stage: Stage::Score,
        does: "the patch on a clean base, the tests over it, the official rules over their output",
        part: "none: the task's own check, outside the loop",
        leaves: "report.json, test_output.txt, the official logs/run_evaluation layout",
        file: "src/stages/s6_score.rs",
        calls_a_model: false,
    },
    Row {
        stage: Stage::Record,
        does: "writes the result whole and enters it into the store",
        part: "Logger",
        leaves: "result.json, results.sqlite, results.jsonl",
        file: "src/stages/s7_record.rs",
        calls_a_model: false,
    },
];
