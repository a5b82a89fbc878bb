//! The built-in tools, and the wall around processes and the file walker.
//!
//! It knows neither the loop nor the journal, and judges no permission.

pub mod aliases;
mod bash;
mod builtin;
mod capture;
mod command_hook;
mod edit;
mod files;
mod glob;
mod grep;
mod layout;
mod lenient;
mod paths;
mod printable;
mod process;
mod program;
mod read;
mod shared_state;
mod shell_words;
mod todo;
mod walk;
mod write;

pub use aliases::suggest;
pub use bash::TimeLimits;
pub use builtin::{ToolsConfig, builtin};
pub use capture::OutputLimits;
pub use command_hook::{HookCommand, HookOutput, run_hook};
pub use process::{ProcessOptions, Processes};
pub use program::{EndCause, Mark, Program, ProgramEnd, Stream, run_program, run_tidy_program};
pub use shared_state::changes_shared_state;
pub use shell_words::simple_commands;
pub use todo::{TodoItem, TodoStatus, todo_items};
pub use walk::SearchLimits;
