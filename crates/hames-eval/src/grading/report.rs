//! The official files: one instance's `report.json`, and a run's `<model>.<run id>.json`.
//!
//! Field names and their order are the official packages' own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Tier, Verdict, Version};
use crate::test_lists::TestLists;

/// `report.json` of an instance whose patch was run.
pub fn instance_report(id: &str, version: Version, verdict: &Verdict) -> Value {
    let mut report = Map::new();
    report.insert("patch_is_None".into(), json!(false));
    report.insert("patch_exists".into(), json!(true));
    report.insert("patch_successfully_applied".into(), json!(verdict.found));
    report.insert("resolved".into(), json!(verdict.resolved));
    if version == Version::V5 {
        let suspicion = verdict.suspicion.as_ref();
        let is_environment = suspicion.is_some_and(|found| found.tier == Tier::Environment);
        report.insert("infra_failure".into(), json!(is_environment));
        if let Some(found) = suspicion {
            report.insert("infra_failure_reason".into(), json!(found.reason));
        }
    }
    if verdict.found {
        let lists = |lists: &TestLists| json!({"success": lists.pass, "failure": lists.fail});
        let none = || lists(&TestLists::default());
        let status = json!({
            "FAIL_TO_PASS": lists(&verdict.fail_to_pass),
            "PASS_TO_PASS": lists(&verdict.pass_to_pass),
            "FAIL_TO_FAIL": none(),
            "PASS_TO_FAIL": none(),
        });
        report.insert("tests_status".into(), status);
    }
    json!({ id: report })
}

/// How an instance ended, for a run's report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    Resolved,
    Unresolved,
    EmptyPatch,
    /// A patch was there, and no report of it.
    Error,
    /// Not submitted.
    Incomplete,
}

/// A run's report (`schema_version` 2).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunReport {
    pub total_instances: usize,
    pub submitted_instances: usize,
    pub completed_instances: usize,
    pub resolved_instances: usize,
    pub unresolved_instances: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infra_failure_instances: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ambiguous_failure_instances: Option<usize>,
    pub empty_patch_instances: usize,
    pub error_instances: usize,
    pub completed_ids: Vec<String>,
    pub incomplete_ids: Vec<String>,
    pub empty_patch_ids: Vec<String>,
    pub submitted_ids: Vec<String>,
    pub resolved_ids: Vec<String>,
    pub unresolved_ids: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infra_failure_ids: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ambiguous_failure_ids: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_reasons: Option<BTreeMap<String, String>>,
    pub error_ids: Vec<String>,
    pub schema_version: u32,
}

/// One entry an instance; with the suspicion of version 5 where its log gave one.
pub struct Entry<'a> {
    pub id: &'a str,
    pub ended: Ended,
    pub suspicion: Option<super::Suspicion>,
}

pub fn run_report<'a>(version: Version, entries: impl IntoIterator<Item = Entry<'a>>) -> RunReport {
    let mut report = RunReport {
        schema_version: 2,
        ..RunReport::default()
    };
    let (mut infrastructure, mut ambiguous) = (Vec::new(), Vec::new());
    let mut reasons = BTreeMap::new();
    for Entry {
        id,
        ended,
        suspicion,
    } in entries
    {
        report.total_instances += 1;
        let id = id.to_owned();
        if ended != Ended::Incomplete {
            report.submitted_ids.push(id.clone());
        }
        let is_open = matches!(ended, Ended::Unresolved | Ended::Error);
        if let Some(found) = suspicion.filter(|_| is_open) {
            match found.tier {
                Tier::Environment => infrastructure.push(id.clone()),
                Tier::Ambiguous => ambiguous.push(id.clone()),
            }
            reasons.insert(id.clone(), found.reason);
        }
        match ended {
            Ended::Resolved => {
                report.completed_ids.push(id.clone());
                report.resolved_ids.push(id);
            }
            Ended::Unresolved => {
                report.completed_ids.push(id.clone());
                report.unresolved_ids.push(id);
            }
            Ended::EmptyPatch => report.empty_patch_ids.push(id),
            Ended::Error => report.error_ids.push(id),
            Ended::Incomplete => report.incomplete_ids.push(id),
        }
    }
    if version == Version::V5 {
        infrastructure.sort();
        ambiguous.sort();
        report.infra_failure_instances = Some(infrastructure.len());
        report.ambiguous_failure_instances = Some(ambiguous.len());
        report.infra_failure_ids = Some(infrastructure);
        report.ambiguous_failure_ids = Some(ambiguous);
        report.failure_reasons = Some(reasons);
    }
    report.counted()
}

impl RunReport {
    fn counted(mut self) -> Self {
        let lists = [
            &mut self.completed_ids,
            &mut self.incomplete_ids,
            &mut self.empty_patch_ids,
            &mut self.submitted_ids,
            &mut self.resolved_ids,
            &mut self.unresolved_ids,
            &mut self.error_ids,
        ];
        for list in lists {
            list.sort();
        }
        self.submitted_instances = self.submitted_ids.len();
        self.completed_instances = self.completed_ids.len();
        self.resolved_instances = self.resolved_ids.len();
        self.unresolved_instances = self.unresolved_ids.len();
        self.empty_patch_instances = self.empty_patch_ids.len();
        self.error_instances = self.error_ids.len();
        self
    }
}
