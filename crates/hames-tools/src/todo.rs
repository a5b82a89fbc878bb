//! `todo`: the agent's list of what is to be done, replaced whole by each call.
//!
//! It keeps nothing: the last call's input, in the journal, is the list.

use std::fmt::Write;

use hames_types::{Access, RawJson, ToolContext, ToolError, ToolOutput, ToolSpec, TypedTool};
use serde::{Deserialize, Serialize};

pub(crate) struct Todo;

#[derive(Deserialize)]
pub(crate) struct Input {
    #[serde(alias = "todos")]
    items: Vec<TodoItem>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    #[serde(alias = "content", alias = "title", alias = "step")]
    pub text: String,
    #[serde(default)]
    pub status: TodoStatus,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    #[default]
    Pending,
    InProgress,
    #[serde(alias = "completed")]
    Done,
}

/// The list that a `todo` call set, from its input as the journal has it.
pub fn todo_items(input: &RawJson) -> Option<Vec<TodoItem>> {
    let input: Input = input.parse().ok()?;
    Some(input.items)
}

impl TypedTool for Todo {
    type Input = Input;

    fn spec() -> ToolSpec {
        let schema = r#"{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"},"status":{"enum":["pending","in_progress","done"]}},"required":["text","status"]}}},"required":["items"]}"#;
        ToolSpec {
            name: "todo".to_owned(),
            description: include_str!("todo.md").trim_end().to_owned(),
            input_schema: RawJson::from(schema),
        }
    }

    fn access(&self, input: &mut Input, _cx: &ToolContext) -> Result<Access, ToolError> {
        match input
            .items
            .iter()
            .position(|item| item.text.trim().is_empty())
        {
            Some(at) => Err(ToolError::invalid(format!("item {} has no text", at + 1))),
            None => Ok(Access::nothing()),
        }
    }

    async fn call(&self, input: Input, _cx: ToolContext) -> Result<ToolOutput, ToolError> {
        let open = |item: &&TodoItem| item.status != TodoStatus::Done;
        let left = input.items.iter().filter(open).count();
        let mut text = format!("{left} of {} to do\n", input.items.len());
        for item in &input.items {
            let mark = match item.status {
                TodoStatus::Pending => ' ',
                TodoStatus::InProgress => '>',
                TodoStatus::Done => 'x',
            };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "[{mark}] {}", item.text);
        }
        Ok(ToolOutput::text(text))
    }
}
