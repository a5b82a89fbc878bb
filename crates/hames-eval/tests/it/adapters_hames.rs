//! `hames` and `oneshot`: their command lines, and what is read from a session's journal.
#![allow(clippy::unwrap_used)]

use std::{fs, sync::Arc};

use hames_eval::{
    adapter::Options,
    adapters::printed_diff,
    trajectory::{Source, Usage},
};
use hames_journal::{FileStore, JournalStore};
use hames_types::{
    ApiKind, AssistantMessage, Block, BlockKind, Entry, EpochCause, Head, JournalId, Origin,
    Outcome, ProviderError, ProviderErrorKind, ResultStatus, StopReason, ToolCall, ToolResult,
    UserMessage,
};
use serde_json::json;

use crate::adapters::{Machine, Ran, find, task, variable};

#[test]
fn hames_gets_its_prompt_on_stdin_and_a_state_folder_in_its_home() {
    let mut machine = Machine::new();
    machine.variable("OPENAI_API_KEY", "k");
    machine.variable("AWS_SECRET_ACCESS_KEY", "not for an agent");
    let options = Options {
        model: "openai/m".to_owned(),
        base_url: Some("http://127.0.0.1:9/".to_owned()),
        shape: Some("reflection".to_owned()),
        max_turns: Some(7),
        max_cost: Some(0.5),
        extra_args: vec!["--effort".to_owned(), "low".to_owned()],
        ..Options::default()
    };
    let line = machine.line(find("hames").as_ref(), &task(), &options);
    assert_eq!(line.program, machine.host.hames);
    assert_eq!(
        line.args.join(" "),
        "-p --output-format stream-json --model openai/m --max-cost 0.5 \
         --permission-mode full-auto --max-turns 7 --shape reflection --effort low -"
    );
    assert_eq!(line.stdin, Some(task().prompt));
    assert_eq!(variable(&line, "HOME"), machine.place.home.to_str());
    let state = machine.place.home.join(".local/state");
    assert_eq!(variable(&line, "XDG_STATE_HOME"), state.to_str());
    assert_eq!(
        variable(&line, "OPENAI_BASE_URL"),
        Some("http://127.0.0.1:9/v1")
    );
    assert_eq!(variable(&line, "OPENAI_API_KEY"), Some("k"));
    assert_eq!(variable(&line, "AWS_SECRET_ACCESS_KEY"), None);
}

#[test]
fn the_address_goes_to_the_models_own_vendor() {
    let machine = Machine::new();
    for (model, variable_name, address) in [
        ("anthropic/m", "ANTHROPIC_BASE_URL", "http://h"),
        ("ollama/m", "OLLAMA_HOST", "http://h"),
        ("groq/m", "GROQ_BASE_URL", "http://h/v1"),
        ("", "OPENAI_BASE_URL", "http://h/v1"),
    ] {
        let options = Options {
            model: model.to_owned(),
            base_url: Some("http://h/v1".to_owned()),
            ..Options::default()
        };
        let line = machine.line(find("hames").as_ref(), &task(), &options);
        assert_eq!(variable(&line, variable_name), Some(address), "{model}");
    }
}

#[test]
fn req_a04_hames_must_be_where_it_was_started_from() {
    let machine = Machine::new();
    let check = |name: &str| find(name).check(&machine.host, &Options::default());
    let said = check("hames").unwrap_err().to_string();
    assert!(
        said.contains("bin/hames is missing") && said.contains("start it again"),
        "{said}"
    );
    assert!(check("oneshot").is_err());
    machine.stub("hames", "");
    assert_eq!(check("hames"), Ok(()));
}

fn usage(input: u64, output: u64) -> hames_types::Usage {
    hames_types::Usage {
        input,
        output,
        cache_read: 2,
        ..hames_types::Usage::default()
    }
}

fn opened() -> Entry {
    Entry::EpochStarted {
        cause: EpochCause::Open,
        head: Arc::new(Head {
            api: ApiKind::OpenaiChat,
            model: "m1".into(),
            system: "You are Hames.".into(),
            tools: Vec::new(),
            options: hames_types::Options {
                max_tokens: 100,
                temperature: None,
                effort: None,
                context_window: None,
            },
        }),
        messages: Vec::new(),
    }
}

fn asked(text: &str) -> Entry {
    let message = Arc::new(UserMessage::text(Origin::Human, text));
    Entry::User {
        message,
        steering: None,
    }
}

fn said(blocks: Vec<BlockKind>, stop: StopReason) -> Entry {
    let blocks = blocks
        .into_iter()
        .map(|kind| Block { kind, echo: None })
        .collect();
    let usage = usage(10, 5);
    let message = Arc::new(AssistantMessage {
        blocks,
        stop,
        usage,
    });
    Entry::Assistant { message }
}

fn calls(id: &str, input: &str) -> BlockKind {
    BlockKind::ToolCall(ToolCall {
        id: id.into(),
        name: "bash".to_owned(),
        input: input.into(),
    })
}

fn answered(id: &str, status: ResultStatus, text: &str) -> Entry {
    let result = Arc::new(ToolResult::text(&id.into(), status, text));
    Entry::ToolFinished { result }
}

fn write(machine: &Machine, name: &str, entries: &[Entry]) -> FileStore {
    let folder = machine.place.home.join(".local/state/hames/sessions");
    fs::create_dir_all(&folder).unwrap();
    let store = FileStore::create(&folder.join(format!("{name}.jsonl")), "/tree").unwrap();
    for entry in entries {
        store.append(entry).unwrap();
    }
    store
}

fn killed() -> Ran {
    Ran {
        stdout:
            "{\"type\":\"system\",\"subtype\":\"init\",\"hames_version\":\"1.2\"}\n{\"type\":\"assi"
                .to_owned(),
        stderr: String::new(),
        returncode: Some(-15),
    }
}

#[test]
fn req_w07_a_killed_run_has_the_turns_that_its_journal_holds() {
    let machine = Machine::new();
    let thought = BlockKind::Reasoning {
        text: "hm".to_owned(),
    };
    let text = BlockKind::Text {
        text: "Let me look.".to_owned(),
    };
    let store = write(
        &machine,
        "20261201-1",
        &[
            opened(),
            asked("fix it"),
            said(
                vec![
                    thought,
                    text,
                    calls("c", r#"{"command":"ls"}"#),
                    calls("d", "{\"comm"),
                ],
                StopReason::ToolUse,
            ),
            answered("c", ResultStatus::Ok, "greet.py"),
            answered("d", ResultStatus::Error, "no JSON"),
            Entry::ChildOpened {
                journal: JournalId::from("20261201-1.1"),
                label: "critic".to_owned(),
            },
            said(
                vec![calls("c", r#"{"command":"make"}"#)],
                StopReason::ToolUse,
            ),
        ],
    );
    let child = store.child().unwrap();
    child.append(&opened()).unwrap();
    let text = BlockKind::Text {
        text: "approve".to_owned(),
    };
    child
        .append(&said(vec![text], StopReason::EndTurn))
        .unwrap();
    // What a kill in the middle of a write leaves.
    let file = machine
        .place
        .home
        .join(".local/state/hames/sessions/20261201-1.jsonl");
    let mut journal = fs::read_to_string(&file).unwrap();
    journal.push_str("{\"seq\":8,\"at\":1,\"ent");
    fs::write(&file, journal).unwrap();

    let reading = machine.read(find("hames").as_ref(), &killed(), &Options::default());
    let told = &reading.trajectory;
    assert_eq!(told.session_id.as_deref(), Some("20261201-1"));
    assert_eq!(told.model.as_deref(), Some("m1"));
    assert_eq!(told.agent_version.as_deref(), Some("1.2"));
    let sources: Vec<_> = told.turns.iter().map(|turn| turn.source).collect();
    assert_eq!(
        sources,
        [Source::System, Source::User, Source::Agent, Source::Agent]
    );
    let first = &told.turns[2];
    assert_eq!(first.text, "Let me look.");
    assert_eq!(first.reasoning.as_deref(), Some("hm"));
    assert!(first.at.as_deref().unwrap().ends_with('Z'));
    let seen: Vec<_> = first
        .calls
        .iter()
        .map(|call| {
            (
                call.arguments.clone(),
                call.result.as_deref(),
                call.is_error,
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            (json!({"command": "ls"}), Some("greet.py"), false),
            (json!("{\"comm"), Some("no JSON"), true),
        ]
    );
    // The same id again: the answer was the first call's.
    assert_eq!(told.turns[3].calls[0].result, None);
    assert_eq!(told.subagents.len(), 1);
    assert_eq!(
        told.subagents[0].session_id.as_deref(),
        Some("20261201-1.1")
    );
    let whole = Usage {
        input: 30,
        output: 15,
        cache_read: 6,
        calls: 3,
        ..Usage::default()
    };
    assert_eq!(told.usage, whole);
    assert_eq!(told.final_answer, None);
    assert_eq!((reading.infrastructure, reading.failure), (None, None));
    assert_eq!(reading.notes, ["2 lines of its output could not be read"]);
}

#[test]
fn the_newest_session_is_the_runs() {
    let machine = Machine::new();
    drop(write(&machine, "20261201-1", &[opened(), asked("old")]));
    drop(write(&machine, "20261201-2", &[opened(), asked("new")]));
    let reading = machine.read(
        find("hames").as_ref(),
        &Ran::printed(""),
        &Options::default(),
    );
    assert_eq!(reading.trajectory.turns[1].text, "new");
}

#[test]
fn a_run_that_a_service_ended_is_infrastructure_and_one_that_recovered_is_not() {
    let failed = |kind| Entry::CallFailed {
        turn: 1,
        error: ProviderError {
            kind,
            message: "slow down".to_owned(),
            retry_after: None,
            status: Some(429),
        },
        usage: usage(1, 0),
        retry_after: None,
    };
    let finished = |outcome| Entry::QueryFinished { outcome };
    let text = || BlockKind::Text {
        text: "done".to_owned(),
    };
    let ended = |entries: &[Entry], returncode| {
        let machine = Machine::new();
        drop(write(&machine, "20261201-1", entries));
        let ran = Ran {
            returncode: Some(returncode),
            ..Ran::printed("")
        };
        let reading = machine.read(find("hames").as_ref(), &ran, &Options::default());
        (reading.infrastructure, reading.failure)
    };
    let gave_up = Outcome::Failed {
        error: "the model could not be reached".to_owned(),
    };
    let (infrastructure, failure) = ended(
        &[
            opened(),
            failed(ProviderErrorKind::RateLimited),
            finished(gave_up),
        ],
        1,
    );
    assert!(infrastructure.unwrap().contains("RateLimited: slow down"));
    assert_eq!(failure, None);
    let recovered = [
        opened(),
        failed(ProviderErrorKind::RateLimited),
        said(vec![text()], StopReason::EndTurn),
        finished(Outcome::Completed),
    ];
    assert_eq!(ended(&recovered, 0), (None, None));
    let limited = [
        opened(),
        said(vec![text()], StopReason::EndTurn),
        finished(Outcome::LimitReached {
            limit: hames_types::Limit::Turns,
        }),
    ];
    let own = Some("it reached a limit: turns".to_owned());
    assert_eq!(ended(&limited, 3), (None, own));
}

#[test]
fn a_run_that_could_not_begin_is_not_the_models_failure() {
    let machine = Machine::new();
    for name in ["hames", "oneshot"] {
        let ran = Ran {
            returncode: Some(2),
            stderr: "hames: no model was found; there are four ways to get one:\n  1. a key\n"
                .to_owned(),
            ..Ran::printed("")
        };
        let reading = machine.read(find(name).as_ref(), &ran, &Options::default());
        let why = "no model was found; there are four ways to get one:".to_owned();
        assert_eq!((reading.infrastructure, reading.failure), (Some(why), None));
    }
}

#[test]
fn without_a_journal_the_stream_is_told_and_it_is_said() {
    let machine = Machine::new();
    let ran = Ran::printed(
        r#"{"type":"system","subtype":"init","session_id":"s","model":"m","hames_version":"1"}
{"type":"assistant","message":{"id":"1","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}}}
{"type":"result","subtype":"success","is_error":false,"result":"Done.","total_cost_usd":0.25,"usage":{"input_tokens":3,"output_tokens":2}}
"#,
    );
    let reading = machine.read(find("hames").as_ref(), &ran, &Options::default());
    assert_eq!(reading.trajectory.turns.len(), 1);
    assert_eq!(reading.trajectory.cost_usd, Some(0.25));
    assert_eq!(reading.trajectory.final_answer.as_deref(), Some("Done."));
    assert_eq!(reading.notes, ["there is no session's journal in its home"]);
}

#[test]
fn req_a06_oneshot_shows_the_issue_the_files_and_the_text_of_those_it_names() {
    let machine = Machine::new();
    let tree = &machine.place.tree;
    for (file, text) in [
        ("greet.py", "print('Helo')\n"),
        ("pkg/deep/names.py", "NAMES = []\n"),
        ("pkg/other.py", "SECRET = 1\n"),
        (".git/config", "[core]\n"),
    ] {
        let file = tree.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let mut task = task();
    task.problem_statement = "It says Helo, see greet.py; pkg.deep.names is empty.".to_owned();
    let options = Options {
        model: "openai/a,openai/b".to_owned(),
        ..Options::default()
    };
    let line = machine.line(find("oneshot").as_ref(), &task, &options);
    assert_eq!(
        line.stdin.unwrap(),
        "# The issue\n\nIt says Helo, see greet.py; pkg.deep.names is empty.\n\n# The files\n\n\
         greet.py\npkg/deep/names.py\npkg/other.py\n\
         \n# greet.py\n\n````\nprint('Helo')\n````\n\
         \n# pkg/deep/names.py\n\n````\nNAMES = []\n````\n"
    );
    let args = line.args.join(" ");
    assert!(
        args.contains("--model openai/a ") && args.contains("--max-turns 1 "),
        "{args}"
    );
    assert!(
        args.contains("--disallowed-tools bash,read,write,edit,glob,grep,todo"),
        "{args}"
    );
}

#[test]
fn diffs_are_found_in_prose_and_their_counts_are_mended() {
    let one = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@ def f():\n a\n-b\n+c\n";
    let two = "diff --git a/y b/y\nindex 1..2 100644\n--- a/y\n+++ b/y\n@@ -4,1 +4,2 @@\n q\n+r\n";
    let found = |text: &str| printed_diff::find(text);
    assert_eq!(found(one).as_deref(), Some(one));
    assert_eq!(
        found(&format!("Sure!\n```diff\n{one}```\nBye -- really\n")).as_deref(),
        Some(one)
    );
    let both = format!("{one}{two}");
    let text = format!("First:\n```diff\n{one}```\n- and then\n```patch\n{two}```\n");
    assert_eq!(found(&text), Some(both.clone()));
    assert_eq!(found(&both), Some(both));
    assert_eq!(
        found(&one.replace("-1,2 +1,2", "-1,7 +1,9")).as_deref(),
        Some(one)
    );
    assert_eq!(found(&one.replace('\n', "\r\n")).as_deref(), Some(one));
    // An empty context line without its blank, and a removed line that begins with dashes.
    let odd = "--- a/q.sql\n+++ b/q.sql\n@@ -1,4 +1,3 @@\n x\n \n--- old\n y\n";
    assert_eq!(found(&odd.replace("\n \n", "\n\n")).as_deref(), Some(odd));
    let renamed = "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n";
    assert_eq!(
        found(&format!("{renamed}\nand that is all")).as_deref(),
        Some(renamed)
    );
    for none in [
        "",
        "no diff",
        "--- a/x\n+++ b/x\n",
        "@@ -1,1 +1,1 @@\n-a\n+b\n",
        "- one\n+ two\n",
    ] {
        assert_eq!(found(none), None, "{none}");
    }
}
