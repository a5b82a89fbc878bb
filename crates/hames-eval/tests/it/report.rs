//! The report: figures over the right denominator, three faces, and nothing that breaks them.
#![allow(clippy::unwrap_used)]

use std::{fs, path::Path};

use hames_eval::{
    calibration::{Calibration, Found},
    environment::EnvironmentRecord,
    experiment::{Experiment, write_atomically},
    manifest::{Manifest, StageRecord},
    plan::RunPlan,
    record::{
        AdapterAttempt, Baseline, Failure, FailureClass, InstanceResult, LeakReport, PatchFacts,
    },
    report::{self, Options, Outcome, Run, Summary},
    stage::{Stage, StageState},
    store::Store,
    test_lists::TestLists,
    trajectory::{Source, Trajectory, Turn, Usage},
};
use tempfile::tempdir;

const TRAJECTORY: &str = include_str!("../../test_data/report/trajectory.json");
const PATCH: &str = "diff --git a/src/table.py b/src/table.py\n--- a/src/table.py\n+++ b/src/table.py\n@@ -1,2 +1,5 @@\n-def width(text):\n-\treturn len(text)\n+from unicodedata import east_asian_width\n+\n+\n+def width(text):\n+    return sum(2 if east_asian_width(c) in 'WF' else 1 for c in text)\n";

/// A trial of a run, before anything went wrong with it.
fn result(instance: &str, trial: u32) -> InstanceResult {
    InstanceResult {
        instance_id: instance.to_owned(),
        run_id: "first".to_owned(),
        trial,
        model: "qwen3-coder".to_owned(),
        adapter: "qwen-code".to_owned(),
        dataset: "mini".to_owned(),
        split: "test".to_owned(),
        resolved: true,
        report_source: "v5".to_owned(),
        fail_to_pass: passing("test_table.py::test_wide"),
        pass_to_pass: passing("test_table.py::test_narrow"),
        baseline: Some(Baseline {
            valid: true,
            ..Baseline::default()
        }),
        environment: environment(),
        usage: Usage {
            input: 2_000,
            output: 150,
            cache_read: 9_000,
            calls: 4,
            ..Usage::default()
        },
        cost_usd: Some(0.02),
        turns: 4,
        patch: PatchFacts {
            bytes: PATCH.len(),
            files: vec!["src/table.py".to_owned()],
            added: 5,
            removed: 2,
            ..PatchFacts::default()
        },
        harness_version: "0.3.0".to_owned(),
        stages: Stage::ALL.map(|stage| (stage, StageState::Done)).into(),
        stage_timings: [
            (Stage::Build, 0.1),
            (Stage::Prepare, 16.8),
            (Stage::Baseline, 3.0),
            (Stage::Solve, 420.4),
            (Stage::Patch, 0.2),
            (Stage::Score, 162.4),
            (Stage::Record, 0.0),
        ]
        .into(),
        adapter_attempts: vec![AdapterAttempt {
            adapter: "qwen-code".to_owned(),
            subprocess: true,
            wall_time_seconds: 420.3,
            returncode: Some(0),
            outcome: "resolved".to_owned(),
            ..AdapterAttempt::default()
        }],
        generated_at: "2026-03-01T10:10:00Z".to_owned(),
        ..InstanceResult::default()
    }
}

fn passing(test: &str) -> TestLists {
    TestLists {
        pass: vec![test.to_owned()],
        ..TestLists::default()
    }
}

fn environment() -> EnvironmentRecord {
    EnvironmentRecord {
        backend: "local".to_owned(),
        interpreter: Some("CPython 3.11.9".to_owned()),
        os: "Linux 6.1".to_owned(),
        ..EnvironmentRecord::default()
    }
}

fn fails(mut result: InstanceResult, class: FailureClass, message: &str) -> InstanceResult {
    result.resolved = false;
    let stage = if class == FailureClass::Infrastructure {
        Stage::Prepare
    } else {
        Stage::Score
    };
    if class == FailureClass::Unresolved {
        result.fail_to_pass.fail = std::mem::take(&mut result.fail_to_pass.pass);
    }
    let message = message.to_owned();
    result.failure = Some(Failure {
        class,
        stage,
        message,
    });
    result
}

fn write(experiment: &Experiment, result: &InstanceResult) {
    let dir = experiment.trial(&result.instance_id, result.trial);
    let text = serde_json::to_vec_pretty(result).unwrap();
    write_atomically(&dir.result(), &text).unwrap();
    fs::write(dir.trajectory(), TRAJECTORY).unwrap();
    fs::write(dir.model_patch(), PATCH).unwrap();
    fs::write(dir.worker_log(), "started\n").unwrap();
}

/// Seven trials of six instances: each way to end once.
fn first_run(root: &Path) -> Run {
    let experiment = Experiment::new(root, "first");
    let mut rescued = result("mini__wide-1", 1);
    for attempt in &mut rescued.adapter_attempts {
        (attempt.returncode, attempt.killed, attempt.rescued) = (Some(-15), true, true);
    }
    let mut peeks = fails(
        result("mini__naïve-4", 1),
        FailureClass::EmptyPatch,
        "the agent changed nothing",
    );
    peeks.leaks.peeking = vec!["turn 3: git log --all".to_owned()];
    let trials = [
        rescued,
        fails(
            result("mini__wide-1", 2),
            FailureClass::Unresolved,
            "1 of 2 tests fails",
        ),
        result("mini__slug-2", 1),
        fails(
            result("mini__csv-3", 1),
            FailureClass::Unresolved,
            "1 of 2 tests fails\nand more",
        ),
        peeks,
        fails(
            result("mini__net-5", 1),
            FailureClass::Infrastructure,
            "pip: no route to host",
        ),
    ];
    for trial in &trials {
        write(&experiment, trial);
    }
    let done = StageRecord {
        state: StageState::Done,
        seconds: 12.0,
        finished_at: String::new(),
        outputs: Vec::new(),
        error: None,
    };
    let manifest = Manifest {
        instance_id: "mini__half-6".to_owned(),
        trial: 1,
        stages: [(Stage::Build, done.clone()), (Stage::Prepare, done)].into(),
        ..Manifest::default()
    };
    let place = experiment.trial("mini__half-6", 1).manifest();
    write_atomically(&place, &serde_json::to_vec(&manifest).unwrap()).unwrap();
    Run::load(&experiment.dir).unwrap()
}

/// Compared whole; `HAMES_TEST_WRITE=1` writes what is found instead.
fn golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("test_data/report")
        .join(name);
    if std::env::var_os("HAMES_TEST_WRITE").is_some() {
        fs::write(&path, found).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "{name}");
}

#[test]
fn a_run_is_told_on_a_terminal_and_in_markdown() {
    let root = tempdir().unwrap();
    let run = first_run(root.path());
    golden("run.txt", &report::terminal(&run, &Options::default()));
    golden("run.md", &report::markdown(&run, &Options::default()));
}

#[test]
fn fault_n05_what_is_not_the_agents_failure_is_left_out_and_shown() {
    let root = tempdir().unwrap();
    let run = first_run(root.path());
    let summary = Summary::of(&run, 1);
    assert_eq!(
        (summary.trials, summary.counted, summary.instances),
        (7, 5, 4)
    );
    // 1/2, 1, 0, 0 of the four instances that count.
    assert!((summary.resolved.unwrap().value - 0.375).abs() < 1e-12);
    assert_eq!(summary.solved_instances, 2);
    let left: Vec<_> = summary
        .left_out
        .iter()
        .map(|left| left.trial.as_str())
        .collect();
    assert_eq!(
        (left, summary.unfinished),
        (vec!["mini__net-5"], vec!["mini__half-6".to_owned()])
    );
    // The cost of all six trials by the two that resolved.
    assert!((summary.cost_per_solved.unwrap() - 0.06).abs() < 1e-12);
    let seen: Vec<(u32, usize, usize)> = summary
        .pass_at
        .iter()
        .map(|pass| (pass.k, pass.instances, pass.too_few))
        .collect();
    assert_eq!(seen, [(1, 4, 0), (2, 1, 3)]);
}

/// What the machine did is not held against a task, and not taken for its being valid.
#[test]
fn a_calibration_tells_what_is_not_valid_from_what_is_not_known() {
    let infra = |trial| {
        fails(
            result("mini__net-5", trial),
            FailureClass::Infrastructure,
            "disk full",
        )
    };
    let wrong = |id: &str, trial| fails(result(id, trial), FailureClass::Unresolved, "1 failed");
    let calibration = Calibration::of(&[
        result("mini__good-1", 1),
        result("mini__good-1", 2),
        result("mini__net-5", 1),
        infra(2),
        result("mini__flaky-2", 1),
        wrong("mini__flaky-2", 2),
        wrong("mini__bad-3", 1),
        fails(result("mini__bad-3", 2), FailureClass::Infrastructure, "no"),
    ]);
    let told: Vec<(&str, bool, bool)> = calibration
        .instances
        .iter()
        .map(|(id, found)| (id.as_str(), found.valid, found.is_unknown()))
        .collect();
    let expected = [
        ("mini__bad-3", false, false),
        ("mini__flaky-2", false, false),
        ("mini__good-1", true, false),
        ("mini__net-5", false, true),
    ];
    assert_eq!(told, expected);
    assert_eq!(calibration.valid, 1);
}

/// Programs get the figures that people are shown, not results alone.
#[test]
fn the_json_face_has_the_figures_of_the_others() {
    let root = tempdir().unwrap();
    let run = first_run(root.path());
    let (options, summary) = (
        Options::default(),
        Summary::of(&run, Options::default().seed),
    );
    let told = report::json(&run, &options);
    assert_eq!(told["run"], "first");
    let results = told["results"].as_array().unwrap();
    let finished = run.trials.iter().filter(|trial| trial.result.is_some());
    assert_eq!(results.len(), finished.count());
    let figures = &told["figures"];
    let resolved = summary.resolved.unwrap();
    assert_eq!(figures["resolved"]["value"], resolved.value);
    assert_eq!(
        figures["resolved"]["interval"]["low"],
        resolved.interval.low
    );
    assert_eq!(figures["counted"], summary.counted);
    assert_eq!(figures["pass_at"][0]["k"], 1);
    assert_eq!(figures["environments"][0]["interpreter"], "CPython 3.11.9");
    assert_eq!(
        figures["stages"]["S4_solve"]["trials"],
        summary.stages[&Stage::Solve].trials
    );
}

#[test]
fn a_calibration_sets_the_denominator() {
    let root = tempdir().unwrap();
    let mut run = first_run(root.path());
    let found = |valid: bool| Found {
        valid,
        why_not: (!valid).then(|| "flaky: gold resolves it in 2 of 3 runs".to_owned()),
        ..Found::default()
    };
    let instances = [
        ("mini__wide-1", true),
        ("mini__slug-2", true),
        ("mini__csv-3", false),
    ];
    run.calibration = Some(Calibration {
        instances: instances
            .map(|(id, valid)| (id.to_owned(), found(valid)))
            .into(),
        ..Calibration::default()
    });
    let summary = Summary::of(&run, 1);
    assert_eq!((summary.instances, summary.counted), (2, 3));
    assert!((summary.resolved.unwrap().value - 0.75).abs() < 1e-12);
    let why: Vec<(&str, &str)> = summary
        .left_out
        .iter()
        .map(|left| (left.trial.as_str(), left.message.as_str()))
        .collect();
    let expected = [
        ("mini__csv-3", "flaky: gold resolves it in 2 of 3 runs"),
        ("mini__naïve-4", "it was not calibrated"),
        ("mini__net-5", "pip: no route to host"),
    ];
    assert_eq!(why, expected);
}

#[test]
fn a_calibration_named_by_the_plan_is_read() {
    let root = tempdir().unwrap();
    let run = first_run(root.path());
    let file = root.path().join("calibration.json");
    Calibration::default().write(&file).unwrap();
    let plan = RunPlan {
        calibration: Some(file.clone()),
        ..RunPlan::default()
    };
    let dir = run.dir.unwrap();
    fs::write(dir.join("run.json"), serde_json::to_vec(&plan).unwrap()).unwrap();
    let read = Run::load(&dir).unwrap();
    assert_eq!(read.calibration, Some(Calibration::default()));
    fs::remove_file(&file).unwrap();
    let without = Run::load(&dir).unwrap();
    assert_eq!((without.calibration, without.notes.len()), (None, 1));
}

#[test]
fn an_empty_patch_mixes_no_rules() {
    let root = tempdir().unwrap();
    let experiment = Experiment::new(root.path(), "empty");
    let mut empty = result("mini__a-1", 1);
    empty.report_source = "no tests were run".to_owned();
    write(&experiment, &empty);
    write(&experiment, &result("mini__b-2", 1));
    let run = Run::load(&experiment.dir).unwrap();
    let warnings = Summary::of(&run, 1).warnings;
    assert!(
        !warnings.iter().any(|warning| warning.contains("rules")),
        "{warnings:?}"
    );
    let shown = report::terminal(&run, &Options::default());
    assert!(shown.contains("verdicts by: v5\n"), "{shown}");
}

#[test]
fn what_spoils_a_score_is_said_first() {
    let root = tempdir().unwrap();
    let experiment = Experiment::new(root.path(), "spoilt");
    let mut leaky = result("mini__a-1", 1);
    leaky.leaks = LeakReport {
        scanned: 9,
        found: vec!["refs/tags/v2 is newer than the base".to_owned()],
        peeking: Vec::new(),
    };
    leaky.baseline = None;
    let mut other = result("mini__b-2", 1);
    other.environment.backend = "docker".to_owned();
    other.report_source = "v4".to_owned();
    write(&experiment, &leaky);
    write(&experiment, &other);
    fs::create_dir(experiment.dir.join("mini__c-3")).unwrap();
    fs::write(
        experiment.dir.join("mini__c-3/result.json"),
        "{\"instance_id\": \"mini__c-3\", ",
    )
    .unwrap();
    let run = Run::load(&experiment.dir).unwrap();
    let warnings = Summary::of(&run, 1).warnings;
    let expected = [
        "back-ends are mixed in one score (docker, local): their results are not comparable",
        "verdicts by different rules are mixed in one score: v4, v5",
        "1 of 3 trials have no result yet: this is a part of a score",
        "1 of 2 instances were not validated on this machine: `hames eval calibrate` tells which of them can be resolved here",
        "1 answer lay where the agent could read: these scores show nothing",
    ];
    assert_eq!(warnings.get(..5).unwrap(), expected);
    let note = warnings.get(5).unwrap();
    assert!(
        note.contains("mini__c-3/result.json cannot be read"),
        "{note}"
    );
    let outcomes: Vec<Outcome> = run
        .trials
        .iter()
        .map(|trial| Outcome::of(&run, trial))
        .collect();
    assert_eq!(
        outcomes,
        [Outcome::Resolved, Outcome::Resolved, Outcome::Unfinished]
    );
    let told = report::terminal(&run, &Options::default());
    assert!(told.find("Read this first").unwrap() < told.find("% resolved").unwrap());
}

#[test]
fn a_run_that_is_not_at_its_end_says_so() {
    let root = tempdir().unwrap();
    let run = first_run(root.path());
    let warned = |run: &Run| Summary::of(run, 1).warnings.first().cloned().unwrap();
    let expected = "1 of 7 trials have no result yet: this is a part of a score";
    assert_eq!(warned(&run), expected);
    let dir = run.dir.unwrap();
    fs::write(dir.join("progress.json"), r#"{"trials": 24, "done": 6}"#).unwrap();
    let expected = "18 of 24 trials have no result yet: this is a part of a score";
    assert_eq!(warned(&Run::load(&dir).unwrap()), expected);
}

#[test]
fn two_runs_are_compared_on_what_both_have() {
    let root = tempdir().unwrap();
    let first = first_run(root.path());
    let second = Experiment::new(root.path(), "second");
    let trials = [
        result("mini__wide-1", 1),
        result("mini__slug-2", 1),
        result("mini__csv-3", 1),
        result("mini__new-9", 1),
    ];
    for trial in &trials {
        write(&second, trial);
    }
    let second = Run::load(&second.dir).unwrap();
    let compared = report::compare(&first, &second, &Options::default());
    assert_eq!(
        (
            compared.instances,
            compared.pairing.both,
            compared.pairing.only_second
        ),
        (3, 2, 1)
    );
    assert_eq!(compared.only_in_first, ["mini__naïve-4"]);
    assert_eq!(compared.only_in_second, ["mini__new-9"]);
    let changed = [
        ("mini__csv-3".to_owned(), 0.0, 1.0),
        ("mini__wide-1".to_owned(), 0.5, 1.0),
    ];
    assert_eq!(compared.changed, changed);
    assert!((compared.difference.unwrap().value - 0.5).abs() < 1e-12);
    golden("compare.txt", &compared.terminal(&Options::default()));
    golden("compare.md", &compared.markdown());
    let page = compared.html();
    for shown in [
        "second against first",
        "+50.0",
        "+0.0 to +100.0",
        "p = 1.0000",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
}

#[test]
fn the_store_tells_the_same_figures_as_the_folder() {
    let root = tempdir().unwrap();
    let run = first_run(root.path());
    let store = Store::open(root.path()).unwrap();
    for trial in &run.trials {
        if let Some(result) = &trial.result {
            store.append(result).unwrap();
        }
    }
    let stored = Run::from_store(&store, "first").unwrap();
    let (mut of_folder, of_store) = (Summary::of(&run, 1), Summary::of(&stored, 1));
    // A trial without a result is in no store.
    of_folder.unfinished.clear();
    of_folder.warnings.remove(0);
    of_folder.trials -= 1;
    of_folder.stages.clone_from(&of_store.stages);
    assert_eq!(of_folder, of_store);
    let row = store.runs().unwrap().remove(0);
    assert_eq!((row.trials, row.counted, row.instances), (6, 5, 4));
    assert!((row.resolved_pct.unwrap() - 37.5).abs() < 1e-9);
    let page = report::html(&stored, &Options::default());
    assert!(page.contains("its trajectory is not known"));
    golden(
        "runs.txt",
        &report::runs(&store.runs().unwrap(), &Options::default()),
    );
    assert!(report::runs(&[], &Options::default()).contains("none yet"));
}

#[test]
fn req_w17_the_page_asks_for_nothing_and_runs_nothing() {
    let root = tempdir().unwrap();
    let run = first_run(root.path());
    let official = root
        .path()
        .join("first/logs/run_evaluation/first~2/qwen3-coder/mini__wide-1");
    write_atomically(&official.join("eval.sh"), b"#!/bin/sh\n").unwrap();
    let page = report::html(&run, &Options::default());
    for asks in [
        "<script", "<link", "<img", "<iframe", "@import", "url(", "http:", "https:", "srcset",
    ] {
        assert!(!page.contains(asks), "{asks}");
    }
    for shown in [
        "default-src 'none'",
        "&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;",
        "src/table.py:2:\treturn len(text)‹U+0007›  100%\n‹U+202E›txt.exe‹U+0000›",
        "bottleneck",
        "no result is recorded",
        "href=\"mini__na%C3%AFve-4/model.patch\"",
        "href=\"logs/run_evaluation/first~2/qwen3-coder/mini__wide-1/eval.sh\"",
        "[image]",
        "漢字",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
}

/// The results in the file stand in another order than their calls.
#[test]
fn a_result_stands_under_its_own_call() {
    let root = tempdir().unwrap();
    let page = report::html(&first_run(root.path()), &Options::default());
    let place = |text: &str| page.find(text).unwrap();
    let order = [
        place("call: <b>run_shell_command"),
        place("src/table.py:2:\treturn len(text)"),
        place("call: <b>read_file"),
        place("def width(text):\n\treturn len(text)\n</pre>"),
        place("call: <b>edit"),
    ];
    assert!(order.is_sorted(), "{order:?}");
}

#[test]
fn req_w17_what_is_missing_is_shown_as_missing() {
    let root = tempdir().unwrap();
    let experiment = Experiment::new(root.path(), "bare");
    let bare = experiment.trial("bare", 1);
    write_atomically(
        &bare.result(),
        b"{\"instance_id\": \"bare\", \"resolved\": true}",
    )
    .unwrap();
    let torn = experiment.trial("torn", 3);
    write_atomically(&torn.task(), b"{}").unwrap();
    fs::write(torn.trajectory(), "{\"steps\": [").unwrap();
    let odd = experiment.trial("odd", 1);
    write_atomically(&odd.result(), b"{\"instance_id\": \"odd\"}").unwrap();
    fs::write(
        odd.trajectory(),
        "{\"steps\": [7, {\"message\": 3, \"tool_calls\": {}}, {}]}",
    )
    .unwrap();
    fs::write(odd.model_patch(), [0xff, 0xfe]).unwrap();
    let large = fs::File::create(torn.model_patch()).unwrap();
    large.set_len(100_000_000).unwrap();
    let run = Run::load(&experiment.dir).unwrap();
    assert_eq!(
        run.trials
            .iter()
            .map(report::Trial::name)
            .collect::<Vec<_>>(),
        ["bare", "odd", "torn~3"]
    );
    let page = report::html(&run, &Options::default());
    for shown in [
        "not recorded",
        "model.patch is missing",
        "trajectory.json is missing",
        "trajectory.json cannot be read",
        "No result.json",
        "model.patch has 100 MB: too large to be shown here",
        "none recorded",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    let nothing = tempdir().unwrap();
    let empty = Run::load(nothing.path()).unwrap();
    assert!(report::html(&empty, &Options::default()).contains("This run has no trials."));
    assert!(report::terminal(&empty, &Options::default()).contains('–'));
    let refused = Run::load(&nothing.path().join("nowhere")).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("`hames eval list` shows the runs"),
        "{refused}"
    );
}

#[test]
fn what_a_sub_agent_did_is_shown_as_it_is_exported() {
    let root = tempdir().unwrap();
    let experiment = Experiment::new(root.path(), "children");
    write(&experiment, &result("mini__wide-1", 1));
    let turn = |text: &str| Turn {
        source: Source::Agent,
        at: None,
        text: text.to_owned(),
        reasoning: None,
        calls: Vec::new(),
        usage: None,
    };
    let told = Trajectory {
        turns: vec![turn("I ask another.")],
        subagents: vec![Trajectory {
            session_id: Some("explorer".to_owned()),
            turns: vec![turn("It is in table.py."), turn("Done.")],
            ..Trajectory::default()
        }],
        ..Trajectory::default()
    };
    let exported = hames_eval::atif::export(&told, "hames").to_string();
    fs::write(experiment.trial("mini__wide-1", 1).trajectory(), exported).unwrap();
    let run = Run::load(&experiment.dir).unwrap();
    let page = report::html(&run, &Options::default());
    for shown in [
        "I ask another.",
        "sub-agent <b>explorer</b>, 2 turns",
        "It is in table.py.",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
}

#[test]
fn a_huge_trajectory_is_cut_and_says_so() {
    let root = tempdir().unwrap();
    let experiment = Experiment::new(root.path(), "huge");
    write(&experiment, &result("mini__huge-1", 1));
    let step = |n: usize| serde_json::json!({"step_id": n, "source": "agent", "message": format!("turn {n} {}", "é".repeat(8_000))});
    let steps: Vec<_> = (1..=2_000).map(step).collect();
    let text = serde_json::json!({"steps": steps}).to_string();
    fs::write(experiment.trial("mini__huge-1", 1).trajectory(), text).unwrap();
    let run = Run::load(&experiment.dir).unwrap();
    let page = report::html(&run, &Options::default());
    assert!(page.len() < 2_000_000, "{}", page.len());
    for shown in [
        "2000 turns",
        "left out here to keep the page small",
        "bytes are left out here",
        "turn 2000 ",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
}

#[test]
fn hostile_names_reach_no_terminal_and_no_markdown() {
    let root = tempdir().unwrap();
    let experiment = Experiment::new(root.path(), "odd");
    let mut hostile = result("mini__x-1", 1);
    hostile.model = "\u{1b}[31mred\u{1b}[0m | **bold** <img src=x>\n# title".to_owned();
    write(&experiment, &hostile);
    let run = Run::load(&experiment.dir).unwrap();
    let told = report::terminal(&run, &Options::default());
    assert!(!told.contains('\u{1b}') && told.contains("model: red | **bold** <img src=x> # title"));
    let told = report::markdown(&run, &Options::default());
    assert!(
        told.contains("model: red \\| \\*\\*bold\\*\\* &lt;img src=x> # title"),
        "{told}"
    );
}

/// Pages to look at in a browser, of 12 and of 500 instances:
/// `HAMES_TEST_PAGES=<folder> cargo test -p hames-eval --test it report::pages -- --ignored`
#[test]
#[ignore = "writes pages for people to look at"]
fn pages_to_look_at() {
    let Some(folder) = std::env::var_os("HAMES_TEST_PAGES") else {
        return;
    };
    for (name, instances, trials) in [("twelve", 12, 4), ("five-hundred", 500, 1)] {
        let experiment = Experiment::new(Path::new(&folder), name);
        let mut random = fastrand::Rng::with_seed(7);
        for at in 0..instances {
            for trial in 1..=trials {
                let made = some_result(&mut random, at, trial);
                write(&experiment, &made);
                let file = experiment.trial(&made.instance_id, trial).trajectory();
                fs::write(file, some_trajectory(&mut random, made.turns)).unwrap();
            }
        }
        let begun = std::time::Instant::now();
        let run = Run::load(&experiment.dir).unwrap();
        let page = report::html(&run, &Options::default());
        println!("{name}: {} bytes in {:?}", page.len(), begun.elapsed());
        fs::write(experiment.dir.join("report.html"), page).unwrap();
        let told = report::terminal(&run, &Options::default());
        fs::write(experiment.dir.join("report.txt"), told).unwrap();
        let mut other = run.clone();
        "other".clone_into(&mut other.id);
        for result in other
            .trials
            .iter_mut()
            .filter_map(|trial| trial.result.as_mut())
        {
            result.resolved |= random.u8(..5) == 0;
            if result.resolved {
                result.failure = None;
            }
        }
        let compared = report::compare(&run, &other, &Options::default());
        fs::write(experiment.dir.join("compare.html"), compared.html()).unwrap();
    }
}

/// Of seven repositories, some harder than others.
fn some_result(random: &mut fastrand::Rng, at: usize, trial: u32) -> InstanceResult {
    let repos = [
        "django__django",
        "sympy__sympy",
        "scikit-learn__scikit-learn",
        "pallets__flask",
        "psf__requests",
        "pytest-dev__pytest",
        "astropy__astropy",
    ];
    let repo = repos[at * at % repos.len()];
    let mut made = result(&format!("{repo}-{}", 10_000 + at), trial);
    let solve = 40.0 + 500.0 * random.f64() * random.f64();
    for (stage, seconds) in [
        (Stage::Prepare, 2.0 + 15.0 * random.f64()),
        (Stage::Baseline, 5.0 * random.f64()),
        (Stage::Solve, solve),
        (Stage::Score, 8.0 + 160.0 * random.f64() * random.f64()),
    ] {
        made.stage_timings.insert(stage, seconds);
    }
    made.cost_usd = Some(solve / 900.0 * (0.5 + random.f64()));
    made.turns = random.u32(6..60);
    made.usage.input = random.u64(10_000..400_000);
    let luck = random.usize(..20);
    match luck + at % 5 {
        0..10 => made,
        10 => fails(made, FailureClass::EmptyPatch, "the agent changed nothing"),
        11 => fails(
            made,
            FailureClass::Infrastructure,
            "429 from the provider, six times in a row",
        ),
        12 => fails(
            made,
            FailureClass::PatchDoesNotApply,
            "src/table.py: hunk 2 does not apply",
        ),
        13 => {
            for attempt in &mut made.adapter_attempts {
                (attempt.returncode, attempt.killed, attempt.rescued) = (Some(-15), true, true);
            }
            made
        }
        _ => fails(made, FailureClass::Unresolved, "1 of 2 tests fails"),
    }
}

/// As long as a real one.
fn some_trajectory(random: &mut fastrand::Rng, turns: u32) -> String {
    let whole: serde_json::Value = serde_json::from_str(TRAJECTORY).unwrap();
    let known = whole["steps"].as_array().unwrap();
    let mut steps: Vec<_> = known.iter().take(1).cloned().collect();
    for _ in 0..turns {
        let mut step = known[random.usize(1..known.len())].clone();
        let lines = (0..random.usize(1..80)).map(|n| format!("src/table.py:{n}: return len(text)"));
        let text = lines.collect::<Vec<_>>().join("\n");
        if let Some(result) = step.pointer_mut("/observation/results/0/content") {
            *result = text.into();
        }
        steps.push(step);
    }
    serde_json::json!({"schema_version": "ATIF-v1.8", "steps": steps}).to_string()
}
