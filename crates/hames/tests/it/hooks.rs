//! Hooks as commands: real small scripts, and what the loop makes of them.
#![allow(clippy::unwrap_used)]
#![cfg(unix)]

use std::{
    fs,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use hames::{
    hooks::{CommandHooks, HookSession},
    settings::{HookEvent, HookSetting, Origin, Scope},
};
use hames_agent::{
    Transcript,
    hooks::{Hook, PreTool, StopHook, UserPrompt},
    permission::modes::Mode,
};
use hames_tools::{ProcessOptions, Processes};
use hames_types::{Content, Origin as Author, ResultStatus, ToolCall, ToolResult, UserMessage};
use serde_json::{Value, json};
use tempfile::TempDir;

struct Bench {
    folder: TempDir,
    told: Arc<Mutex<Vec<String>>>,
    settings: Vec<HookSetting>,
}

impl Bench {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            told: Arc::default(),
            settings: Vec::new(),
        }
    }

    fn on(mut self, event: HookEvent, matcher: &str, command: &str) -> Self {
        self.settings.push(HookSetting {
            event,
            matcher: matcher.to_owned(),
            only_if: None,
            command: command.to_owned(),
            timeout: Duration::from_secs(30),
            origin: Origin {
                scope: Scope::User,
                file: PathBuf::from("settings.json").into(),
            },
        });
        self
    }

    fn with(mut self, change: impl FnOnce(&mut HookSetting)) -> Self {
        self.settings.last_mut().map(change).unwrap();
        self
    }

    fn hooks(&self) -> CommandHooks {
        let session = HookSession {
            session_id: "s1".to_owned(),
            transcript_path: "/state/s1.jsonl".into(),
            workspace: self.folder.path().to_owned(),
            home: None,
            mode: Mode::AcceptEdits,
            env: vec![("OWN".to_owned(), "mine".to_owned())],
        };
        let told = self.told.clone();
        let tell = move |line| told.lock().unwrap().push(line);
        let processes = Processes::new(ProcessOptions::default());
        CommandHooks::new(self.settings.clone(), session, processes, Arc::new(tell))
    }

    fn told(&self) -> Vec<String> {
        self.told.lock().unwrap().clone()
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    async fn before(&self, call: &ToolCall) -> Vec<String> {
        shown(self.hooks().pre_tool(call).await)
    }
}

fn call(name: &str, input: &str) -> ToolCall {
    ToolCall {
        id: "c1".into(),
        name: name.to_owned(),
        input: input.into(),
    }
}

fn bash() -> ToolCall {
    call("bash", r#"{"command":"make all"}"#)
}

fn shown(said: PreTool) -> Vec<String> {
    match said {
        PreTool::Continue => vec![],
        PreTool::Replace(input) => vec![format!("replace {}", input.0)],
        PreTool::Allow => vec!["allow".to_owned()],
        PreTool::Ask { reason } => vec![format!("ask {reason}")],
        PreTool::Block { reason } => vec![format!("block {reason}")],
        PreTool::Remark(text) => vec![format!("remark {text}")],
        PreTool::Halt { reason } => vec![format!("halt {reason}")],
        PreTool::Several(all) => all.into_iter().flat_map(shown).collect(),
    }
}

fn says(json: &Value) -> String {
    format!("echo '{json}'")
}

fn decides(decision: &str) -> String {
    let own = json!({"permissionDecision": decision, "permissionDecisionReason": decision});
    says(&json!({ "hookSpecificOutput": own }))
}

#[tokio::test]
async fn a_hook_reads_the_call_in_claudes_names() {
    let bench = Bench::new().on(
        HookEvent::PreToolUse,
        "",
        "cat > input; echo $CLAUDE_PROJECT_DIR $OWN > env",
    );
    let edit = call("edit", r#"{"path":"a","old":"x","new":"y"}"#);
    assert_eq!(bench.before(&edit).await, [""; 0]);
    let cwd = bench.folder.path().to_string_lossy().into_owned();
    let input: Value = serde_json::from_str(&bench.file("input")).unwrap();
    assert_eq!(
        input,
        json!({
            "session_id": "s1",
            "transcript_path": "/state/s1.jsonl",
            "cwd": cwd,
            "hook_event_name": "PreToolUse",
            "permission_mode": "acceptEdits",
            "tool_name": "Edit",
            "tool_input": {"file_path": "a", "old_string": "x", "new_string": "y"},
            "tool_use_id": "c1",
        })
    );
    assert_eq!(bench.file("env"), format!("{cwd} mine\n"));
}

#[tokio::test]
async fn exit_codes_say_go_on_block_and_tell_the_user() {
    let table = [
        ("exit 0", vec![], vec![]),
        ("echo 'plain text'", vec![], vec![]),
        ("echo no rm >&2; exit 2", vec!["block no rm"], vec![]),
        (
            "exit 2",
            vec!["block a hook does not allow this call"],
            vec![],
        ),
        (
            "echo oops >&2; exit 1",
            vec![],
            vec![
                "the PreToolUse hook `echo oops >&2; exit 1` ended with exit code 1: oops (settings.json)",
            ],
        ),
        (
            "kill -9 $$",
            vec![],
            vec!["the PreToolUse hook `kill -9 $$` was killed (settings.json)"],
        ),
        (
            "echo '{broken'",
            vec![],
            vec![
                "the PreToolUse hook `echo '{broken'` wrote JSON that cannot be read (settings.json)",
            ],
        ),
    ];
    for (command, said, told) in table {
        let bench = Bench::new().on(HookEvent::PreToolUse, "Bash", command);
        assert_eq!(bench.before(&bash()).await, said, "{command}");
        assert_eq!(bench.told(), told, "{command}");
    }
    let overruled = format!("{}; echo stop >&2; exit 2", decides("allow"));
    let bench = Bench::new().on(HookEvent::PreToolUse, "", &overruled);
    assert_eq!(bench.before(&bash()).await, ["block allow"]);
}

#[tokio::test]
async fn a_hook_that_takes_too_long_is_stopped_and_stops_nothing() {
    let bench = Bench::new()
        .on(HookEvent::PreToolUse, "", "exec sleep 100")
        .with(|hook| hook.timeout = Duration::from_millis(50));
    assert_eq!(bench.before(&bash()).await, [""; 0]);
    let told = "the PreToolUse hook `exec sleep 100` took longer than its 0.05 s and was stopped (settings.json)";
    assert_eq!(bench.told(), [told]);
}

#[tokio::test]
async fn req_oh10_json_decides_changes_and_remarks() {
    let table = [
        (
            json!({"hookSpecificOutput": {"permissionDecision": "allow"}}),
            vec!["allow"],
        ),
        (json!({"decision": "approve"}), vec!["allow"]),
        (
            json!({"decision": "block", "reason": "no"}),
            vec!["block no"],
        ),
        (
            json!({"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "why"}}),
            vec!["block why"],
        ),
        (
            json!({"hookSpecificOutput": {"permissionDecision": "ask"}}),
            vec!["ask a hook wants this call to be asked for"],
        ),
        (
            json!({"hookSpecificOutput": {
                "permissionDecision": "allow",
                "updatedInput": {"command": "make -n", "timeout": 3},
                "additionalContext": "note",
            }}),
            vec![
                r#"replace {"command":"make -n","timeout":3}"#,
                "remark note",
                "allow",
            ],
        ),
        (
            json!({"continue": false, "stopReason": "enough"}),
            vec!["halt enough"],
        ),
        (json!({"continue": true, "other": 1}), vec![]),
    ];
    for (json, said) in table {
        let bench = Bench::new().on(HookEvent::PreToolUse, "", &says(&json));
        assert_eq!(bench.before(&bash()).await, said, "{json}");
    }
    let bench = Bench::new().on(
        HookEvent::PreToolUse,
        "",
        &says(&json!({"systemMessage": "hello"})),
    );
    assert_eq!(bench.before(&bash()).await, [""; 0]);
    assert_eq!(bench.told(), ["hello"]);
    let edited =
        json!({"hookSpecificOutput": {"updatedInput": {"file_path": "b", "old_string": "1"}}});
    let bench = Bench::new().on(HookEvent::PreToolUse, "", &says(&edited));
    let said = bench.before(&call("edit", r#"{"path":"a"}"#)).await;
    assert_eq!(
        said,
        [r#"replace {"old":"1","path":"b"}"#],
        "in our names again"
    );
}

#[tokio::test]
async fn of_several_hooks_deny_beats_ask_beats_allow_and_each_runs_once() {
    let table = [
        (vec!["allow", "ask", "deny"], "block deny"),
        (vec!["deny", "allow"], "block deny"),
        (vec!["allow", "ask"], "ask ask"),
        (vec!["allow", "allow"], "allow"),
    ];
    for (decisions, expected) in table {
        let mut bench = Bench::new();
        for decision in &decisions {
            bench = bench.on(
                HookEvent::PreToolUse,
                "",
                &format!("echo x >> ran; {}", decides(decision)),
            );
        }
        assert_eq!(bench.before(&bash()).await, [expected]);
        let different: std::collections::BTreeSet<_> = decisions.iter().collect();
        assert_eq!(bench.file("ran").lines().count(), different.len());
    }
    // Each waits for the other: one after the other they would never end.
    let meet = |own: &str, other: &str| {
        format!("touch {own}; while ! test -e {other}; do sleep 0.01; done")
    };
    let bench = Bench::new()
        .on(HookEvent::PreToolUse, "", &meet("a", "b"))
        .on(HookEvent::PreToolUse, "", &meet("b", "a"));
    assert_eq!(bench.before(&bash()).await, [""; 0]);
    assert_eq!(bench.told(), [""; 0]);
}

#[tokio::test]
async fn a_matcher_is_a_list_of_names_or_a_regular_expression() {
    let table = [
        ("", "bash", true),
        ("*", "bash", true),
        ("Bash", "bash", true),
        ("bash", "bash", true),
        ("Bas", "bash", false),
        ("Edit|Write", "write", true),
        ("Edit, Write", "write", true),
        ("Edit|Write", "bash", false),
        ("mcp__.*__x", "mcp__a__x", true),
        ("^B.+h$", "bash", true),
        ("^Ba$", "bash", false),
        ("W.it", "write", true),
        ("(?=x)", "bash", true),
    ];
    for (matcher, tool, expected) in table {
        let bench = Bench::new().on(HookEvent::PreToolUse, matcher, "touch ran");
        bench.before(&call(tool, "{}")).await;
        let ran = bench.folder.path().join("ran").exists();
        assert_eq!(ran, expected, "{matcher} on {tool}");
        assert_eq!(
            bench.told().len(),
            usize::from(matcher == "(?=x)"),
            "{matcher}"
        );
    }
}

#[tokio::test]
async fn a_hook_may_be_about_one_rule() {
    let table = [
        ("Bash(git *)", bash(), false),
        (
            "Bash(git *)",
            call("bash", r#"{"command":"ls && git push"}"#),
            true,
        ),
        (
            "Bash(git *)",
            call("bash", r#"{"command":"ls 'open"}"#),
            true,
        ),
        (
            "Edit(/src/**)",
            call("edit", r#"{"file_path":"src/a"}"#),
            true,
        ),
        ("Edit(/src/**)", call("edit", r#"{"path":"docs/a"}"#), false),
        ("Read(.env)", call("read", r#"{"path":"a/.env"}"#), true),
        ("Bash", bash(), true),
        ("Bash(broken", bash(), true),
    ];
    for (rule, call, expected) in table {
        let bench = Bench::new()
            .on(HookEvent::PreToolUse, "", "touch ran")
            .with(|hook| hook.only_if = Some(rule.to_owned()));
        bench.before(&call).await;
        let ran = bench.folder.path().join("ran").exists();
        assert_eq!(ran, expected, "{rule} on {}", call.input.0);
    }
}

fn result(status: ResultStatus) -> ToolResult {
    ToolResult::text(&"c1".into(), status, "made")
}

#[tokio::test]
async fn after_a_call_a_hook_amends_and_remarks() {
    let output = json!({
        "decision": "block", "reason": "check it",
        "hookSpecificOutput": {"additionalContext": "more", "updatedToolOutput": "new"},
    });
    let command = format!("cat > input; {}", says(&output));
    let bench = Bench::new().on(HookEvent::PostToolUse, "Bash", &command);
    let post = bench
        .hooks()
        .post_tool(&bash(), &result(ResultStatus::Ok))
        .await;
    assert_eq!(post.replace, Some(Content::text("new")));
    assert_eq!(post.remark.as_deref(), Some("check it\nmore"));
    let input: Value = serde_json::from_str(&bench.file("input")).unwrap();
    assert_eq!(
        input["tool_response"],
        json!({"content": "made", "stdout": "made", "stderr": "", "interrupted": false})
    );

    let bench = Bench::new().on(HookEvent::PostToolUse, "", "echo bad style >&2; exit 2");
    let post = bench
        .hooks()
        .post_tool(&bash(), &result(ResultStatus::Ok))
        .await;
    assert_eq!(
        (post.replace, post.remark.as_deref()),
        (None, Some("bad style"))
    );
    let post = bench
        .hooks()
        .post_tool(&bash(), &result(ResultStatus::Error))
        .await;
    assert_eq!(post.remark, None, "a failed call is no PostToolUse");
}

#[tokio::test]
async fn a_hook_that_ends_the_run_after_a_call_lets_no_other_begin() {
    let ends = says(&json!({"continue": false, "stopReason": "budget"}));
    let bench =
        Bench::new()
            .on(HookEvent::PostToolUse, "", &ends)
            .on(HookEvent::Stop, "", "exit 2");
    let hooks = bench.hooks();
    assert_eq!(shown(hooks.pre_tool(&bash()).await), [""; 0]);
    hooks.post_tool(&bash(), &result(ResultStatus::Ok)).await;
    assert_eq!(shown(hooks.pre_tool(&bash()).await), ["halt budget"]);
    assert!(matches!(
        hooks.stop(&Transcript::default(), 0).await,
        StopHook::Accept
    ));
    hooks
        .user_prompt(&UserMessage::text(Author::Human, "again"))
        .await;
    assert_eq!(shown(hooks.pre_tool(&bash()).await), [""; 0]);
}

#[tokio::test]
async fn a_prompt_gets_context_or_is_blocked() {
    let context = json!({"hookSpecificOutput": {"additionalContext": "json"}});
    let table = [
        (
            "grep -q '\"prompt\":\"hi\"' && echo seen".to_owned(),
            Ok(Some("seen")),
        ),
        ("true".to_owned(), Ok(None)),
        (says(&context), Ok(Some("json"))),
        ("echo secret >&2; exit 2".to_owned(), Err("secret")),
        (
            says(&json!({"decision": "block", "reason": "no"})),
            Err("no"),
        ),
        (
            says(&json!({"continue": false, "stopReason": "off"})),
            Err("off"),
        ),
        ("exit 1".to_owned(), Ok(None)),
    ];
    for (command, expected) in table {
        let bench = Bench::new().on(HookEvent::UserPromptSubmit, "", &command);
        let prompt = UserMessage::text(Author::Human, "hi");
        let said = match bench.hooks().user_prompt(&prompt).await {
            UserPrompt::Accept { remark } => Ok(remark),
            UserPrompt::Block { reason } => Err(reason),
        };
        let expected = expected
            .map(|remark| remark.map(str::to_owned))
            .map_err(str::to_owned);
        assert_eq!(said, expected, "{command}");
    }
}

#[tokio::test]
async fn a_stop_hook_keeps_it_going_until_it_is_told_that_it_did() {
    let once = "grep -q '\"stop_hook_active\":true' && exit 0; echo tests first >&2; exit 2";
    let ends = says(&json!({"continue": false, "decision": "block", "reason": "x"}));
    let blocks = says(&json!({"decision": "block", "reason": "more"}));
    let table = [
        (once, 0, Some("tests first")),
        (once, 1, None),
        (blocks.as_str(), 0, Some("more")),
        (ends.as_str(), 0, None),
        ("exit 1", 0, None),
    ];
    for (command, again, expected) in table {
        let bench = Bench::new().on(HookEvent::Stop, "", command);
        let said = match bench.hooks().stop(&Transcript::default(), again).await {
            StopHook::Accept => None,
            StopHook::Continue(text) => Some(text),
        };
        assert_eq!(said.as_deref(), expected, "{command}");
    }
}
