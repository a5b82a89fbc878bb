//! `hames eval`: the pipeline as a user runs it.

use std::{fs, path::Path};

use serde_json::Value;

use crate::world::{HELLO, Ran, World};

fn hames(world: &World, args: &[&str]) -> Ran {
    Ran::of(world.bare(args).output().unwrap())
}

fn has_python() -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    let found = path
        .split(':')
        .any(|folder| Path::new(folder).join("python3").is_file());
    if !found {
        println!("skipped: there is no python3 here");
    }
    found
}

fn result(world: &World, trial: &str) -> Value {
    let path = world
        .workspace()
        .join("experiments/r")
        .join(trial)
        .join("result.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn req_w18_the_selftest_comes_to_what_it_has_to() {
    if !has_python() {
        return;
    }
    let world = World::new(HELLO);
    let ran = hames(&world, &["eval", "selftest"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("48 of 48 as they have to be"), "{ran:?}");
}

#[test]
fn req_w01_a_dry_run_prints_six_stages_with_their_commands_and_does_nothing() {
    let world = World::new(HELLO);
    let args = ["eval", "run", "mini", "--adapter", "replay", "--dry-run"];
    let ran = hames(&world, &args);
    assert_eq!(ran.code, 0, "{ran:?}");
    let stages = [
        "S1_build",
        "S2_prepare",
        "S4_solve",
        "S5_patch",
        "S6_score",
        "S7_record",
    ];
    for stage in stages {
        assert_eq!(ran.out.matches(stage).count(), 1, "{stage}: {ran:?}");
    }
    assert!(!ran.out.contains("S3_baseline"), "{ran:?}");
    assert_eq!(ran.out.matches("  $ ").count(), stages.len(), "{ran:?}");
    assert!(!world.workspace().join("experiments").exists());
    let with = hames(&world, &[&args[..], &["--baseline"]].concat());
    assert!(with.out.contains("S3_baseline"), "{with:?}");
}

#[test]
fn a_run_is_reported_resumed_regraded_and_listed() {
    if !has_python() {
        return;
    }
    let world = World::new(HELLO);
    let run = [
        "eval",
        "run",
        "mini",
        "--id",
        "mini__units-9",
        "--adapter",
        "replay",
        "--run-id",
        "r",
    ];
    let ran = hames(&world, &run);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(result(&world, "mini__units-9")["resolved"], true);
    let again = hames(&world, &["eval", "resume", "r"]);
    assert_eq!(
        (again.code, again.err.contains("S6_score begins")),
        (0, false),
        "{again:?}"
    );
    let graded = hames(&world, &["eval", "regrade", "r", "--grader", "v4"]);
    assert!(
        graded
            .out
            .contains("0 of 1 graded trials have another verdict under v4"),
        "{graded:?}"
    );
    let page = hames(&world, &["eval", "report", "r", "--format", "html"]);
    assert_eq!(page.code, 0, "{page:?}");
    let compare = ["eval", "report", "r", "--compare", "r", "--format", "html"];
    let compared = hames(&world, &compare);
    assert!(
        compared.out.ends_with("experiments/r/report-r.html\n"),
        "{compared:?}"
    );
    let html = fs::read_to_string(world.workspace().join("experiments/r/report.html")).unwrap();
    assert!(
        html.contains("mini__units-9") && !html.contains("http://") && !html.contains("<script")
    );
    for (args, told) in [
        (&["eval", "list", "runs"][..], "r"),
        (&["eval", "list", "adapters"], "mini-swe-agent"),
        (
            &["eval", "list", "mini", "--id", "mini__u*"],
            "mini__units-9",
        ),
        (&["eval", "status", "r"], "mini__units-9"),
    ] {
        let ran = hames(&world, args);
        assert!(ran.code == 0 && ran.out.contains(told), "{args:?}: {ran:?}");
    }
}

#[test]
fn predictions_from_elsewhere_are_graded_and_unknown_ones_are_refused() {
    if !has_python() {
        return;
    }
    let world = World::new(HELLO);
    let line = |id: &str| {
        format!(r#"{{"instance_id": "{id}", "model_name_or_path": "m/x", "model_patch": ""}}"#)
    };
    world.file("preds.jsonl", &line("mini__units-9"));
    let grade = ["eval", "grade", "preds.jsonl", "mini", "--run-id", "r"];
    let ran = hames(&world, &grade);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        result(&world, "mini__units-9")["failure"]["class"],
        "empty_patch"
    );
    world.file("preds.jsonl", &line("mini__nothing"));
    let refused = hames(&world, &grade);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains("mini__nothing"), "{refused:?}");
}

#[test]
fn predictions_of_several_models_are_told_of_and_leave_no_folder_in_the_cache() {
    if !has_python() {
        return;
    }
    let world = World::new(HELLO);
    let line = |id: &str, model: &str| {
        format!(r#"{{"instance_id": "{id}", "model_name_or_path": "{model}", "model_patch": ""}}"#)
    };
    let lines = [line("mini__units-9", "m/x"), line("mini__cache-2", "m/y")];
    world.file("preds.jsonl", &lines.join("\n"));
    let grade = ["eval", "grade", "preds.jsonl", "mini", "--cache", "cache"];
    let ran = hames(&world, &grade);
    assert_eq!(ran.code, 0, "{ran:?}");
    let told = "predictions of 2 models (m/x, m/y), scored as one under the name m/x";
    assert!(ran.err.contains(told), "{ran:?}");
    let work = world.workspace().join("cache/work");
    let left: Vec<_> = fs::read_dir(work).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_is_asked_for_wrongly_is_refused_before_anything_runs() {
    let world = World::new(HELLO);
    world.file("rows.jsonl", r#"{"instance_id": "a__b-1", "repo": "a/b"}"#);
    let cases: [(&[&str], &str); 6] = [
        (
            &["eval", "run", "mini", "--adapter", "nobody"],
            "there is no adapter nobody",
        ),
        (
            &[
                "eval",
                "run",
                "mini",
                "--adapter",
                "replay",
                "--id",
                "mini__unit-9",
            ],
            "mini__units-9",
        ),
        (
            &["eval", "run", "nowhere", "--adapter", "replay"],
            "nowhere",
        ),
        (
            &["eval", "run", "rows.jsonl", "--adapter", "replay"],
            "is missing",
        ),
        (&["eval", "run", "mini", "--adapter", "codex"], "npm"),
        (&["eval", "report", "never"], "there is no run never"),
    ];
    for (args, told) in cases {
        let mut command = world.bare(args);
        if args.contains(&"codex") {
            command.env("PATH", "/usr/bin:/bin");
        }
        let ran = Ran::of(command.output().unwrap());
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(ran.err.contains(told), "{args:?}: {ran:?}");
    }
    assert!(!world.workspace().join("experiments").join("r").exists());
}

#[test]
fn a_run_that_has_begun_is_not_turned_into_another_one() {
    if !has_python() {
        return;
    }
    let world = World::new(HELLO);
    let run = |adapter: &str, more: &[&str]| {
        let task = [
            "eval",
            "run",
            "mini",
            "--id",
            "mini__units-9",
            "--run-id",
            "r",
        ];
        hames(&world, &[&task[..], &["--adapter", adapter], more].concat())
    };
    assert_eq!(run("replay", &[]).code, 0);
    for force in [&[][..], &["--force", "S6_score"]] {
        let refused = run("command:true", force);
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(
            refused
                .err
                .contains("run r was begun with something else (the agents and what they are told"),
            "{refused:?}"
        );
        assert_eq!(result(&world, "mini__units-9")["resolved"], true);
    }
    // How its work is graded changes nothing of the work.
    let graded = run("replay", &["--grader", "v4"]);
    assert!(
        graded.err.contains("S6_score begins") && !graded.err.contains("S4_solve begins"),
        "{graded:?}"
    );
    assert_eq!(result(&world, "mini__units-9")["report_source"], "v4");
    assert_eq!(run("command:true", &["--force"]).code, 0);
    assert_eq!(result(&world, "mini__units-9")["resolved"], false);
}

#[test]
fn a_dry_run_names_a_program_that_is_missing_and_goes_on() {
    let world = World::new(HELLO);
    let args = [
        "eval",
        "run",
        "mini",
        "--adapter",
        "codex,replay",
        "--dry-run",
    ];
    let ran = Ran::of(
        world
            .bare(&args)
            .env("PATH", "/usr/bin:/bin")
            .output()
            .unwrap(),
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.out
            .contains("codex (the program codex is missing: npm install -g @openai/codex)")
            && ran.out.contains("or $ replay (in this process)"),
        "{ran:?}"
    );
}

#[test]
fn what_cannot_be_begun_leaves_no_run_behind() {
    let world = World::new(HELLO);
    let run = [
        "eval",
        "run",
        "mini",
        "--adapter",
        "command:no-such-program",
        "--run-id",
        "r",
    ];
    assert_eq!(hames(&world, &run).code, 2);
    assert!(!world.workspace().join("experiments").exists());
}

#[test]
fn predictions_under_an_old_path_are_graded_anew_and_the_rest_of_the_set_is_told_of() {
    if !has_python() {
        return;
    }
    let world = World::new(HELLO);
    let grade = |patch: &str| {
        let line = serde_json::json!({
            "instance_id": "mini__units-9", "model_name_or_path": "m/x", "model_patch": patch,
        });
        world.file("preds.jsonl", &line.to_string());
        hames(&world, &["eval", "grade", "preds.jsonl", "mini"])
    };
    let first = grade("");
    assert!(first.out.contains("empty_patch"), "{first:?}");
    let second = grade("no diff");
    assert!(second.out.contains("patch_does_not_apply"), "{second:?}");
    let told = "11 of 12 tasks have no prediction and are no part of this score";
    assert!(second.out.contains(told), "{second:?}");
    let again = hames(&world, &["eval", "resume"]);
    assert!(again.out.contains("0 of 1 instance"), "{again:?}");
    let runs = fs::read_dir(world.workspace().join("experiments")).unwrap();
    let runs: Vec<_> = runs
        .map(|run| run.unwrap().path())
        .filter(|run| run.is_dir())
        .collect();
    assert_eq!(runs.len(), 2, "{runs:?}");
    for run in runs {
        let name = run.file_name().unwrap().to_str().unwrap();
        let report = run.join(format!("m__x.{name}.json"));
        let report: Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
        assert_eq!(report["total_instances"], 12);
        assert_eq!(
            report["submitted_ids"],
            serde_json::json!(["mini__units-9"])
        );
        assert_eq!(report["incomplete_ids"].as_array().unwrap().len(), 11);
    }
    world.file("preds.jsonl", "\n");
    let none = hames(&world, &["eval", "grade", "preds.jsonl", "mini"]);
    assert!(
        none.code == 2 && none.err.contains("it is empty"),
        "{none:?}"
    );
}
