//! The names by which other harnesses call our tools and their fields.
//!
//! Data and two look-ups: what a rule or a hook means by them is not known here.

use hames_types::RawJson;
use serde_json::{Map, Value};

/// One of our tools under others' names. The first of each list is Claude Code's.
struct Row {
    tool: &'static str,
    names: &'static [&'static str],
    fields: &'static [(&'static str, &'static [&'static str])],
}

#[rustfmt::skip]
const TABLE: &[Row] = &[
    Row {
        tool: "bash",
        names: &["Bash", "run_shell_command", "shell", "execute_command", "run_terminal_cmd", "run_command", "terminal",
            "exec", "exec_command", "local_shell", "execute_bash", "run_bash", "sh", "cmd"],
        fields: &[("command", &["command", "cmd"]), ("timeout", &["timeout", "timeout_seconds"])],
    },
    Row {
        tool: "read",
        names: &["Read", "read_file", "ReadFile", "view", "View", "cat", "open_file", "file_read", "view_file", "NotebookRead"],
        fields: &[("path", &["file_path", "absolute_path", "filename"])],
    },
    Row {
        tool: "write",
        names: &["Write", "write_file", "WriteFile", "create_file", "write_to_file", "file_write", "save_file", "create"],
        fields: &[("path", &["file_path", "absolute_path", "filename"]), ("content", &["content", "contents", "file_text"])],
    },
    Row {
        tool: "edit",
        names: &["Edit", "MultiEdit", "edit_file", "EditFile", "str_replace", "str_replace_editor", "str_replace_based_edit_tool",
            "replace", "replace_in_file", "search_replace", "file_edit", "apply_patch", "apply_diff", "patch"],
        fields: &[("path", &["file_path", "absolute_path", "filename"]), ("old", &["old_string", "old_str", "old_text"]),
            ("new", &["new_string", "new_str", "new_text"])],
    },
    Row {
        tool: "glob",
        names: &["Glob", "LS", "ls", "list_files", "list_directory", "list_dir", "find_files", "file_search", "find", "tree"],
        fields: &[("pattern", &["pattern", "glob", "glob_pattern"]), ("path", &["path", "dir", "directory", "root"])],
    },
    Row {
        tool: "grep",
        names: &["Grep", "search_file_content", "grep_search", "search_files", "search", "ripgrep", "rg", "codebase_search"],
        fields: &[("pattern", &["pattern", "query", "regex"]), ("path", &["path", "dir", "directory", "root"]),
            ("glob", &["glob", "include", "file_glob"]), ("ignore_case", &["-i"]), ("context", &["-C"]), ("max", &["head_limit", "limit"])],
    },
    Row {
        tool: "todo",
        names: &["TodoWrite", "todo_write", "update_plan", "write_todos", "TodoRead", "update_todo_list"],
        fields: &[("items", &["todos"])],
    },
];

/// Our tool of that name, whoever's name it is; `None` for a stranger's.
pub fn our_tool(name: &str) -> Option<&'static str> {
    let exactly = |row: &&Row| row.tool == name || row.names.contains(&name);
    TABLE.iter().find(exactly).map(|row| row.tool)
}

/// Our tool for someone who has used a name that is none of ours: any case, with or without a prefix.
pub fn suggest(name: &str) -> Option<&'static str> {
    let bare = name.rsplit(['.', ':', '/']).next().unwrap_or(name);
    let same = |other: &&str| plain(other) == plain(bare);
    let fits = |row: &&Row| same(&row.tool) || row.names.iter().any(same);
    TABLE.iter().find(fits).map(|row| row.tool)
}

/// Letters and digits alone, so that `readFile`, `read-file` and `read_file` are one.
fn plain(name: &str) -> String {
    let kept = name.chars().filter(char::is_ascii_alphanumeric);
    kept.map(|char| char.to_ascii_lowercase()).collect()
}

/// Claude Code's name of one of our tools; any other name stays as it is.
pub fn claude_tool(name: &str) -> &str {
    let row = TABLE.iter().find(|row| row.tool == name);
    row.and_then(|row| row.names.first().copied())
        .unwrap_or(name)
}

/// Claude Code's name of a field of one of our tools; any other stays as it is.
pub fn claude_field<'n>(tool: &str, field: &'n str) -> &'n str {
    let names = fields_of(tool).iter().find(|(ours, _)| *ours == field);
    names
        .and_then(|(_, names)| names.first().copied())
        .unwrap_or(field)
}

/// Our name of a field, whoever's it is; any other stays as it is. `tool` is anyone's name.
pub fn our_field<'n>(tool: &str, field: &'n str) -> &'n str {
    let tool = our_tool(tool).unwrap_or(tool);
    let row = fields_of(tool)
        .iter()
        .find(|(ours, names)| *ours == field || names.contains(&field));
    row.map_or(field, |(ours, _)| ours)
}

/// A call's input with Claude Code's field names, for its hooks and its stream; what is no object
/// stays as it is. `tool` is our name.
pub fn to_claude_input(tool: &str, input: &RawJson) -> RawJson {
    let input = renamed(input, |field| claude_field(tool, field));
    if tool == "todo" {
        with_items(&input, "todos", "text", "content", ("done", "completed"))
    } else {
        input
    }
}

/// A call's input with our field names. `tool` is anyone's name.
pub fn to_our_input(tool: &str, input: &RawJson) -> RawJson {
    let input = renamed(input, |field| our_field(tool, field));
    match our_tool(tool) {
        Some("todo") => with_items(&input, "items", "content", "text", ("completed", "done")),
        Some(_) | None => input,
    }
}

fn fields_of(tool: &str) -> &'static [(&'static str, &'static [&'static str])] {
    let row = TABLE.iter().find(|row| row.tool == tool);
    row.map_or(&[], |row| row.fields)
}

fn renamed<'f>(input: &RawJson, name: impl Fn(&str) -> &str + 'f) -> RawJson {
    let Ok(Value::Object(fields)) = input.parse::<Value>() else {
        return input.clone();
    };
    let rename = |(field, value): (String, Value)| (name(&field).to_owned(), value);
    let fields: Map<String, Value> = fields.into_iter().map(rename).collect();
    RawJson::from(Value::Object(fields).to_string().as_str())
}

/// The fields and the status of each item of a list.
fn with_items(input: &RawJson, list: &str, from: &str, to: &str, status: (&str, &str)) -> RawJson {
    let Ok(mut value) = input.parse::<Value>() else {
        return input.clone();
    };
    let items = value.get_mut(list).and_then(Value::as_array_mut);
    for item in items.into_iter().flatten().filter_map(Value::as_object_mut) {
        if let Some(text) = item.remove(from) {
            item.insert(to.to_owned(), text);
        }
        if let Some(word) = item
            .get_mut("status")
            .filter(|word| word.as_str() == Some(status.0))
        {
            *word = status.1.into();
        }
    }
    RawJson::from(value.to_string().as_str())
}
