//! A trajectory in Harbor's Agent Trajectory Interchange Format, version 1.8.
//!
//! It knows no agent: what an agent told badly (no ids, no JSON, no turns) is still a valid document.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::trajectory::{Call, Source, Trajectory, Turn, Usage};

/// As `harbor.models.trajectories` of harbor 0.26.0 has it: keys that it does not know are errors.
pub const VERSION: &str = "ATIF-v1.8";

/// `agent` is the adapter's name.
pub fn export(told: &Trajectory, agent: &str) -> Value {
    let mut document = document(told, agent);
    if let Some(id) = &told.session_id {
        document["session_id"] = json!(id);
        document["trajectory_id"] = json!(id);
    }
    let mut ids = BTreeSet::new();
    let embedded = told.subagents.iter().enumerate().map(|(at, subagent)| {
        let own = subagent.session_id.clone().unwrap_or_default();
        let id = free(&mut ids, &own, || format!("subagent-{}", at + 1));
        let mut embedded = self::document(subagent, agent);
        embedded["trajectory_id"] = json!(id);
        embedded
    });
    let embedded: Vec<_> = embedded.collect();
    if !embedded.is_empty() {
        refer(&mut document, &ids);
        document["subagent_trajectories"] = json!(embedded);
    }
    document
}

fn document(told: &Trajectory, agent: &str) -> Value {
    let mut about = json!({
        "name": agent,
        "version": told.agent_version.as_deref().unwrap_or("unknown"),
    });
    if let Some(model) = &told.model {
        about["model_name"] = json!(model);
    }
    let mut steps: Vec<_> = told.turns.iter().map(step).collect();
    if steps.is_empty() {
        steps.push(json!({"source": "system", "message": "the agent told nothing"}));
    }
    for (at, step) in steps.iter_mut().enumerate() {
        step["step_id"] = json!(at + 1);
    }
    json!({
        "schema_version": VERSION,
        "agent": about,
        "final_metrics": final_metrics(told, steps.len()),
        "steps": steps,
    })
}

fn step(turn: &Turn) -> Value {
    let mut step = json!({"source": turn.source, "message": turn.text});
    let is_moment = |at: &&String| humantime::parse_rfc3339_weak(at).is_ok();
    if let Some(at) = turn.at.as_ref().filter(is_moment) {
        step["timestamp"] = json!(at);
    }
    match turn.source {
        Source::Agent => agents_own(turn, &mut step),
        Source::System | Source::User => {}
    }
    step
}

fn agents_own(turn: &Turn, step: &mut Value) {
    if let Some(reasoning) = &turn.reasoning {
        step["reasoning_content"] = json!(reasoning);
    }
    if let Some(usage) = turn.usage {
        step["metrics"] = metrics(usage);
        step["llm_call_count"] = json!(1);
    }
    let mut ids = BTreeSet::new();
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for (at, call) in turn.calls.iter().enumerate() {
        let id = free(&mut ids, &call.id, || format!("call-{}", at + 1));
        results.extend(call.result.as_ref().map(|result| {
            let mut answer = json!({"source_call_id": id, "content": result});
            if call.is_error {
                answer["extra"] = json!({"is_error": true});
            }
            answer
        }));
        calls.push(json!({
            "tool_call_id": id,
            "function_name": call.name,
            "arguments": arguments(call),
        }));
    }
    if !calls.is_empty() {
        step["tool_calls"] = json!(calls);
    }
    if !results.is_empty() {
        step["observation"] = json!({"results": results});
    }
}

/// The id itself, unless it is empty or taken.
fn free(taken: &mut BTreeSet<String>, id: &str, otherwise: impl Fn() -> String) -> String {
    let mut free = if id.is_empty() {
        otherwise()
    } else {
        id.to_owned()
    };
    while !taken.insert(free.clone()) {
        free.push('+');
    }
    free
}

/// The format takes an object alone.
fn arguments(call: &Call) -> Value {
    match &call.arguments {
        Value::Object(_) => call.arguments.clone(),
        Value::Null => Value::Object(Map::new()),
        other => json!({"raw": other}),
    }
}

/// Prompt tokens are all that went in, what was cached included.
fn metrics(usage: Usage) -> Value {
    let mut metrics = json!({
        "prompt_tokens": usage.input + usage.cache_read + usage.cache_write,
        "completion_tokens": usage.output,
        "cached_tokens": usage.cache_read,
    });
    if usage.cache_write + usage.reasoning > 0 {
        metrics["extra"] = json!({
            "cache_write_tokens": usage.cache_write,
            "reasoning_tokens": usage.reasoning,
        });
    }
    metrics
}

fn final_metrics(told: &Trajectory, steps: usize) -> Value {
    let usage = told.usage;
    let mut metrics = json!({
        "total_prompt_tokens": usage.input + usage.cache_read + usage.cache_write,
        "total_completion_tokens": usage.output,
        "total_cached_tokens": usage.cache_read,
        "total_steps": steps,
        "extra": {"model_calls": usage.calls},
    });
    if let Some(cost) = told.cost_usd {
        metrics["total_cost_usd"] = json!(cost);
    }
    metrics
}

/// A sub-agent that is named after the call that started it is referred to from the call's answer.
fn refer(document: &mut Value, subagents: &BTreeSet<String>) {
    let steps = document["steps"].as_array_mut().into_iter().flatten();
    let results = steps.filter_map(|step| step.pointer_mut("/observation/results")?.as_array_mut());
    for result in results.flatten() {
        let id = result["source_call_id"].as_str().unwrap_or_default();
        if subagents.contains(id) {
            result["subagent_trajectory_ref"] = json!([{"trajectory_id": id}]);
        }
    }
}
