//! Declarations and names: what the model is shown, and what others call it.

use hames_tools::{
    ToolsConfig,
    aliases::{claude_field, claude_tool, our_field, our_tool, to_claude_input, to_our_input},
    builtin, changes_shared_state, simple_commands, suggest,
};
use hames_types::RawJson;
use serde_json::{Value, json};

#[test]
fn req_c02_seven_tools_are_declared_in_little_space() {
    let tools = builtin(&ToolsConfig::default());
    let names: Vec<_> = tools.iter().map(|tool| tool.spec().name.as_str()).collect();
    assert_eq!(
        names,
        ["bash", "read", "edit", "write", "glob", "grep", "todo"]
    );
    let mut total = 0;
    for tool in &tools {
        let spec = tool.spec();
        let schema: Value = spec.input_schema.parse().unwrap();
        assert_eq!(schema["type"], "object");
        for required in schema["required"].as_array().unwrap() {
            assert!(schema["properties"][required.as_str().unwrap()].is_object());
        }
        total += serde_json::to_string(spec).unwrap().len();
    }
    assert!(total < 3500, "the declarations take {total} bytes");
}

#[test]
fn every_tool_is_found_by_the_names_that_others_use() {
    for (name, ours) in [
        ("Bash", "bash"),
        ("run_shell_command", "bash"),
        ("Read", "read"),
        ("read_file", "read"),
        ("Write", "write"),
        ("Edit", "edit"),
        ("str_replace", "edit"),
        ("Glob", "glob"),
        ("LS", "glob"),
        ("Grep", "grep"),
        ("TodoWrite", "todo"),
        ("grep", "grep"),
    ] {
        assert_eq!(
            (our_tool(name), suggest(name)),
            (Some(ours), Some(ours)),
            "{name}"
        );
    }
    for name in ["readFile", "read-file", "functions.read_file", "READ"] {
        assert_eq!(
            (our_tool(name), suggest(name)),
            (None, Some("read")),
            "{name}"
        );
    }
    assert_eq!((our_tool("weather"), suggest("weather")), (None, None));
}

#[test]
fn names_go_to_claude_codes_and_back() {
    for tool in builtin(&ToolsConfig::default()) {
        let name = tool.spec().name.clone();
        let theirs = claude_tool(&name);
        assert_ne!(theirs, name);
        assert_eq!(our_tool(theirs), Some(name.as_str()));
        let schema: Value = tool.spec().input_schema.parse().unwrap();
        for field in schema["properties"].as_object().unwrap().keys() {
            assert_eq!(our_field(theirs, claude_field(&name, field)), field);
        }
    }
    assert_eq!(
        (claude_tool("weather"), claude_field("weather", "path")),
        ("weather", "path")
    );
}

#[test]
fn inputs_go_to_claude_codes_and_back() {
    for (tool, ours, theirs) in [
        (
            "bash",
            json!({ "command": "ls" }),
            json!({ "command": "ls" }),
        ),
        (
            "edit",
            json!({ "path": "a", "old": "x", "new": "y", "replace_all": true }),
            json!({ "file_path": "a", "old_string": "x", "new_string": "y", "replace_all": true }),
        ),
        (
            "todo",
            json!({ "items": [{ "text": "a", "status": "done" }] }),
            json!({ "todos": [{ "content": "a", "status": "completed" }] }),
        ),
    ] {
        let raw = |value: &Value| RawJson::from(value.to_string().as_str());
        let there: Value = to_claude_input(tool, &raw(&ours)).parse().unwrap();
        assert_eq!(there, theirs);
        let back: Value = to_our_input(claude_tool(tool), &raw(&theirs))
            .parse()
            .unwrap();
        assert_eq!(back, ours);
    }
    let broken = RawJson::from("{\"path\": ");
    assert_eq!(to_claude_input("read", &broken), broken);
}

#[test]
fn commands_that_change_what_all_share_run_alone() {
    for line in [
        "git commit -m x",
        "cd sub && git add .",
        "A=1 B='x y' git push",
        "git -C sub -c a=b stash",
        "sudo -u me apt-get install -y x",
        "sh -c 'git checkout -- .'",
        "bash -lc \"cd x; npm install\"",
        "echo $(git reset --hard)",
        "echo \"`git pull`\"",
        "true | xargs -n 1 git rm",
        "find . -name x -exec git add {} +",
        "if true; then git merge x; fi",
        "(git rebase x)",
        "timeout -k 1 10 pip install x",
        "python3 -m pip install x",
        "/usr/bin/git tag x",
        "env -u X docker run x",
        "systemctl restart x",
        "cargo add serde",
        "yarn",
        "ls\ngit clean -fd",
        "ls >out 2>&1 && git init",
        "eval 'git am x'",
    ] {
        assert!(changes_shared_state(line), "{line}");
    }
    for line in [
        "git status",
        "git log --oneline | head",
        "git -C sub diff",
        "ls -l; cat git",
        "echo 'git commit'",
        "echo \"git commit\"",
        "# git commit",
        "cargo test",
        "npm test",
        "npm run build",
        "python3 -m pytest",
        "docker ps",
        "sleep 1",
        "",
        "sh -c",
        "\"",
        "$(",
    ] {
        assert!(!changes_shared_state(line), "{line}");
    }
}

#[test]
fn a_line_is_taken_apart_into_its_commands() {
    let words = |line| {
        let commands = simple_commands(line);
        commands
            .iter()
            .map(|words| words.join("|"))
            .collect::<Vec<_>>()
    };
    assert_eq!(words("a 'b c' \"d $e\" f\\ g"), ["a|b c|d $e|f g"]);
    assert_eq!(
        words("a && b || c; d & e | f |& g\nh"),
        ["a", "b", "c", "d", "e", "f", "g", "h"]
    );
    assert_eq!(words("a 2>&1 &>f >&2 && b"), ["a|2>&1|&>f|>&2", "b"]);
    assert_eq!(words("a $(b $(c d) e) f"), ["c|d", "b||e", "a||f"]);
    assert_eq!(words("a ''"), ["a|"]);
}
