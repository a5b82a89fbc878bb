//! `result.json`: what is written reads back, and the form of the source document is understood.

use std::path::Path;

use hames_eval::{
    record::{AdapterAttempt, InstanceResult},
    stage::{Stage, StageState},
};

/// The same fields and remarks as the document's example, in words of our own.
const EXAMPLE: &str = r#"{
  "instance_id": "owner__repo-7",
  "model": "some-model",
  "resolved": true,                    // S6: all of "F2P" and P2P
  "stages": { "S1_build": "done", "S4_solve": "done", "S7_record": "done" },
  "stage_timings": {                   // seconds
    "S1_build": 0.1, "S4_solve": 61.5  // the limit was 60
  },
  "adapter_attempts": [{
    "adapter": "http://agent", "subprocess": true,
    "wall_time_seconds": 61.4, "returncode": -15,
    "killed": true, "rescued": true,   // \ "
    "outcome": "resolved"
  }]
}"#;

#[test]
fn req_w04_the_documented_form_is_read_with_its_remarks() {
    let result = InstanceResult::parse(EXAMPLE).unwrap();
    let attempt = AdapterAttempt {
        adapter: "http://agent".to_owned(),
        subprocess: true,
        wall_time_seconds: 61.4,
        returncode: Some(-15),
        killed: true,
        rescued: true,
        outcome: "resolved".to_owned(),
        ..AdapterAttempt::default()
    };
    let expected = InstanceResult {
        instance_id: "owner__repo-7".to_owned(),
        model: "some-model".to_owned(),
        resolved: true,
        stages: [Stage::Build, Stage::Solve, Stage::Record]
            .map(|stage| (stage, StageState::Done))
            .into(),
        stage_timings: [(Stage::Build, 0.1), (Stage::Solve, 61.5)].into(),
        adapter_attempts: vec![attempt],
        ..InstanceResult::default()
    };
    assert_eq!(result, expected);
    let written = serde_json::to_string(&expected).unwrap();
    assert_eq!(InstanceResult::parse(&written).unwrap(), expected);
    assert!(InstanceResult::parse("{ // no end").is_err());
}

#[test]
fn req_w04_the_document_s_own_example_is_read_word_for_word() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/seeds");
    let Ok(entries) = std::fs::read_dir(&seeds) else {
        return println!("skipped: the source documents are not here");
    };
    let texts = entries
        .flatten()
        .filter_map(|entry| std::fs::read_to_string(entry.path()).ok());
    let examples: Vec<String> = texts
        .filter_map(|text| {
            let at = text.find("\"instance_id\"")?;
            let begin = text.get(..at)?.rfind('{')?;
            let end = text.get(at..)?.find("\n}\n")? + at + 2;
            text.get(begin..end).map(str::to_owned)
        })
        .collect();
    assert_eq!(examples.len(), 1);
    let result = InstanceResult::parse(&examples[0]).unwrap();
    assert!(result.resolved);
    assert_eq!((result.stages.len(), result.stage_timings.len()), (6, 5));
    let attempt = &result.adapter_attempts[0];
    assert_eq!(
        (attempt.returncode, attempt.killed, attempt.rescued),
        (Some(-15), true, true)
    );
}
