//! The grader: a corpus of logs with the official packages' own results beside them, and the rules
//! in which the two versions differ, one by one.

use std::path::Path;

use hames_eval::{
    environment::TestOutput,
    grading::{self, Version, eval_script, report},
    instance::{Answers, Instance, Recipe, Source, TestPlan, TestRun},
    prediction,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

fn instance(parser: &str, fail_to_pass: &[&str], pass_to_pass: &[&str]) -> Instance {
    let owned = |tests: &[&str]| tests.iter().map(|test| (*test).to_owned()).collect();
    Instance {
        id: "a__b-1".to_owned(),
        repo: "nobody/nothing".to_owned(),
        version: "1".to_owned(),
        base_commit: "c0ffee".to_owned(),
        problem_statement: "broken".to_owned(),
        hints: String::new(),
        created_at: String::new(),
        environment_setup_commit: String::new(),
        difficulty: String::new(),
        dataset: String::new(),
        split: String::new(),
        answers: Answers {
            fail_to_pass: owned(fail_to_pass),
            pass_to_pass: owned(pass_to_pass),
            ..Answers::default()
        },
        source: Source::Git {
            url: None,
            commit: "c0ffee".to_owned(),
        },
        tests: TestPlan {
            run: TestRun::Command {
                command: "python3 run_tests.py".to_owned(),
            },
            parser: parser.to_owned(),
            fail_only: false,
            time_limit: None,
        },
        recipe: Recipe::default(),
    }
}

fn log(lines: &str) -> String {
    format!("+ : '>>>>> Start Test Output'\n{lines}\n+ : '>>>>> End Test Output'\n")
}

/// Whether each version calls it resolved.
fn resolved(instance: &Instance, log: &str) -> (bool, bool) {
    let by = |version| grading::grade_log(instance, version, log).resolved;
    (by(Version::V4), by(Version::V5))
}

#[test]
fn req_w09_every_log_of_the_corpus_is_graded_as_the_official_package_does() {
    #[derive(Deserialize)]
    struct Case {
        version: Version,
        parser: String,
        fail_only: bool,
        log: String,
        fail_to_pass: Vec<String>,
        pass_to_pass: Vec<String>,
        #[serde(default)]
        id: String,
        #[serde(default)]
        project: String,
        expected: Value,
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("test_data/logs/corpus.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let mut read = 0;
    for line in text.lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        let mut instance = instance(&case.parser, &[], &[]);
        instance.tests.fail_only = case.fail_only;
        instance.answers.fail_to_pass = case.fail_to_pass;
        instance.answers.pass_to_pass = case.pass_to_pass;
        if !case.id.is_empty() {
            (instance.id, instance.version) = (case.id, case.project);
        }
        let parser = grading::parser_of(&instance).unwrap();
        let statuses = grading::statuses(&case.log, parser, case.version).map(|map| {
            let rows = map
                .iter()
                .map(|(test, status)| (test.to_owned(), json!(status.as_str())));
            Value::Object(rows.collect::<Map<String, Value>>())
        });
        let verdict = grading::grade_log(&instance, case.version, &case.log);
        let told = report::instance_report(&instance.id, case.version, &verdict);
        let ours = json!({"statuses": statuses, "report": told[&instance.id]});
        assert_eq!(ours, case.expected, "{}: {:?}", case.parser, case.log);
        read += 1;
    }
    assert!(read > 300, "only {read} logs");
}

/// The registry of swebench 5.0.2, by name.
#[test]
fn req_w09_every_official_parser_is_here() {
    let names = "
        pytest pytest_options django pytest_v2 seaborn sympy matplotlib astroid flask
        marshmallow pvlib pyvista sqlfluff xarray pydicom requests pylint astropy scikit sphinx
        calypso bpmn_js carbon eslint grommet highlightjs lighthouse next openlayers prismjs
        quarto_cli chart_js marked p5js react_pdf jest jest_json vitest karma tap immutable_js
        redis jq doctest micropython_test googletest gotest maven ant gradle_custom phpunit
        minitest cucumber ruby_unit rspec_transformed_json jekyll cargo
    ";
    for name in names.split_whitespace() {
        let mut instance = instance(&format!("parse_log_{name}"), &[], &[]);
        (instance.id, instance.version) = match name {
            "immutable_js" => ("immutable-js__immutable-js-2006".to_owned(), String::new()),
            "jekyll" => ("jekyll__jekyll-9141".to_owned(), String::new()),
            _ => ("a__b-1".to_owned(), "3.0".to_owned()),
        };
        assert!(grading::parser_of(&instance).is_ok(), "{name}");
    }
}

/// What was run by different frameworks over time is told by the instance, and not guessed.
#[test]
fn an_instance_that_no_official_table_knows_is_refused_by_name() {
    let mut unknown = instance("parse_log_jekyll", &[], &[]);
    "jekyll__jekyll-1".clone_into(&mut unknown.id);
    let Err(error) = grading::parser_of(&unknown) else {
        panic!("it was read by some parser");
    };
    let error = error.to_string();
    assert!(
        error.starts_with("jekyll__jekyll-1: no log parser for parse_log_jekyll"),
        "{error}"
    );
}

#[test]
fn a_skipped_test_is_left_out_by_v4_and_judged_by_v5() {
    let text = log("PASSED t.py::one\nSKIPPED t.py::two");
    assert_eq!(
        resolved(&instance("pytest", &["t.py::one", "t.py::two"], &[]), &text),
        (true, false)
    );
    assert_eq!(
        resolved(&instance("pytest", &["t.py::one"], &["t.py::two"]), &text),
        (true, true)
    );
    let verdict = grading::grade_log(&instance("pytest", &["t.py::two"], &[]), Version::V4, &text);
    assert_eq!(verdict.fail_to_pass.left_out, ["t.py::two"]);
}

#[test]
fn a_name_that_was_cut_stands_for_those_that_agree_in_v5_alone() {
    let cut = instance("pytest", &["t.py::p[a"], &[]);
    assert_eq!(
        resolved(&cut, &log("PASSED t.py::p[a-1]\nPASSED t.py::p[a-2]")),
        (false, true)
    );
    assert_eq!(
        resolved(&cut, &log("PASSED t.py::p[a-1]\nFAILED t.py::p[a-2]")),
        (false, false)
    );
    let whole = instance("pytest", &["t.py::p"], &[]);
    assert_eq!(
        resolved(&whole, &log("PASSED t.py::p_other")),
        (false, false)
    );
}

#[test]
fn printed_verdicts_are_believed_by_v4_and_not_by_v5_where_the_runner_failed() {
    let one = instance("pytest", &["t.py::one"], &[]);
    let printed = log("PASSED t.py::one") + ">>>>> Test Exit Code: 1\n";
    assert_eq!(resolved(&one, &printed), (true, false));
    let other_fails = log("PASSED t.py::one\nFAILED t.py::two") + ">>>>> Test Exit Code: 1\n";
    assert_eq!(resolved(&one, &other_fails), (true, true));
}

#[test]
fn without_marks_or_with_a_bad_one_nothing_is_found() {
    let one = instance("pytest", &["t.py::one"], &[]);
    let good = log("PASSED t.py::one");
    assert_eq!(resolved(&one, &good), (true, true));
    for bad in [
        good.replace(">>>>> End Test Output", ""),
        good.replace(">>>>> Start Test Output", ""),
        format!("{good}>>>>> Tests Timed Out\n"),
        format!(">>>>> Patch Apply Failed\n{good}"),
    ] {
        assert_eq!(resolved(&one, &bad), (false, false), "{bad}");
        assert!(!grading::grade_log(&one, Version::V5, &bad).found);
    }
}

#[test]
fn a_suite_that_never_ran_resolves_nothing_in_v5() {
    let mut one = instance("pytest", &["t.py::one"], &[]);
    one.tests.fail_only = true;
    assert_eq!(resolved(&one, &log("nothing here")), (true, false));
    assert_eq!(resolved(&one, &log("12 passing")), (true, true));
}

#[test]
fn a_patch_that_does_not_apply_has_no_result() {
    let one = instance("pytest", &["t.py::one"], &["t.py::two"]);
    let output = TestOutput {
        applied_by: None,
        apply_log: "error: patch failed".to_owned(),
        log: log("PASSED t.py::one\nPASSED t.py::two"),
        exit: None,
        timed_out: false,
        seconds: 0.0,
        survivors: 0,
        reward: None,
    };
    let verdict = grading::grade(&one, Version::V5, &output);
    assert_eq!((verdict.resolved, verdict.found), (false, false));
    assert_eq!(verdict.pass_to_pass.fail, ["t.py::two"]);
    let rewarded = TestOutput {
        reward: Some(1.0),
        ..output
    };
    assert!(grading::grade(&one, Version::V5, &rewarded).resolved);
}

#[test]
fn the_report_is_the_official_one() {
    let one = instance("pytest", &["t.py::one"], &["t.py::two"]);
    let verdict = grading::grade_log(
        &one,
        Version::V5,
        &log("PASSED t.py::one\nFAILED t.py::two"),
    );
    let told = report::instance_report("a__b-1", Version::V5, &verdict);
    let lists =
        |success: &[&str], failure: &[&str]| json!({"success": success, "failure": failure});
    let expected = json!({"a__b-1": {
        "patch_is_None": false, "patch_exists": true, "patch_successfully_applied": true, "resolved": false, "infra_failure": false,
        "tests_status": {
            "FAIL_TO_PASS": lists(&["t.py::one"], &[]), "PASS_TO_PASS": lists(&[], &["t.py::two"]),
            "FAIL_TO_FAIL": lists(&[], &[]), "PASS_TO_FAIL": lists(&[], &[]),
        },
    }});
    assert_eq!(told, expected);
}

const PATCH: &str = "diff --git a/tests/test_a.py b/tests/test_a.py\n--- a/tests/test_a.py\n+++ b/tests/test_a.py\n@@ -1 +1 @@\n-old\n+grün\r\n\
                     diff --git a/tests/new.py b/tests/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/tests/new.py\n@@ -0,0 +1 @@\n+EOF_114329324912\n";

#[test]
fn the_eval_script_lays_the_tests_as_the_patch_has_them() {
    let mut one = instance("pytest", &["t"], &[]);
    one.answers.test_patch = PATCH.to_owned();
    let script = eval_script(&one, Version::V5).unwrap().text;
    assert!(
        script.contains("git checkout '{base}' -- 'tests/test_a.py'\nrm -rf -- 'tests/new.py'\n"),
        "{script}"
    );
    // What stands behind a sign is no line that could end it.
    assert!(
        script.contains(
            "<<'EOF_114329324912'
diff --git"
        ),
        "{script}"
    );
    assert!(script.contains(PATCH.trim_end()), "{script}");
    let at = |text: &str| script.find(text).unwrap();
    assert!(
        at("Start Test Output") < at("python3 run_tests.py")
            && at("python3 run_tests.py") < at("TEST_EXIT_CODE=$?")
    );
    one.answers.test_patch = String::new();
    assert!(eval_script(&one, Version::V5).is_err());
}

#[test]
fn a_dataset_s_own_script_tells_in_v5_how_its_tests_ended() {
    let mut one = instance("pytest", &["t"], &[]);
    let text = "cd /testbed\n: '>>>>> Start Test Output'\nrun\n: '>>>>> End Test Output'\ngit checkout x\n".to_owned();
    one.tests.run = TestRun::Script { text: text.clone() };
    assert_eq!(eval_script(&one, Version::V4).unwrap().text, text);
    let told = eval_script(&one, Version::V5).unwrap().text;
    let expected = "cd /testbed\n: '>>>>> Start Test Output'\nrun\nHAMES_TEST_EXIT_CODE=$?\n: '>>>>> End Test Output'\n\
                    echo \">>>>> Test Exit Code: $HAMES_TEST_EXIT_CODE\"\ngit checkout x\n";
    assert_eq!(told, expected);
}

#[test]
fn predictions_come_in_every_form_and_a_doubtful_file_is_refused() {
    let forms = [
        r#"{"instance_id": "a", "model_name_or_path": "m", "model_patch": "p"}"#,
        "[{\"instance_id\": \"a\", \"model_name_or_path\": \"m\", \"model_patch\": \"p\"}]",
        r#"{"a": {"model_name_or_path": "m", "model_patch": "p"}}"#,
        r#"{"instance_id": "a", "model_name_or_path": "m", "patch": "p"}"#,
    ];
    for form in forms {
        let made = prediction::parse(form).unwrap();
        assert_eq!(
            prediction::to_jsonl(&made),
            format!("{}\n", forms[0].replace(": ", ":").replace(", ", ",")),
            "{form}"
        );
    }
    let empty = prediction::parse(
        r#"{"instance_id": "a", "model_name_or_path": "m", "model_patch": null}"#,
    )
    .unwrap();
    assert_eq!(empty[0].model_patch, None);
    let twice = format!("{}\n{}\n", forms[0], forms[0]);
    for (bad, told) in [
        (twice.as_str(), "a is there twice"),
        ("{\"instance_id\": \"a\"}", "a has no model_patch"),
        ("[3]", "prediction 1"),
    ] {
        let error = prediction::parse(bad).unwrap_err();
        assert!(error.contains(told), "{error}");
    }
}
