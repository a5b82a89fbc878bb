//! The mini benchmark through this machine's back-end and the official rules, both versions of them.

use std::time::Duration;

use crate::ground::Ground;
use hames_eval::{
    adapter::Place,
    datasets,
    environment::{Candidate, Environment, Prepared},
    environments::local::Local,
    grading::{self, Resolution, Version},
    instance::Instance,
    leaks, mini,
    plan::Filter,
};

struct Bench {
    ground: Ground,
    local: Local,
}

impl Bench {
    /// How the tests went with this patch on the base, by each version's rules.
    async fn graded(
        &self,
        instance: &Instance,
        prepared: &Prepared,
        patch: &str,
    ) -> Vec<(Version, bool, Resolution)> {
        // Both packages run the same script; what they make of its output is what differs.
        let candidate = Candidate {
            patch,
            eval_script: &grading::eval_script(instance, Version::V5).unwrap().text,
            apply: &grading::apply_chain(Version::V5),
            time_limit: Duration::from_secs(60),
            scratch: &self.ground.folder("scratch"),
        };
        let cx = self.ground.around();
        let ran = self.local.run_tests(instance, prepared, candidate, &cx);
        let output = ran.await.unwrap();
        assert!(output.applied_by.is_some(), "{}", output.apply_log);
        let verdict = |version| {
            let verdict = grading::grade(instance, version, &output);
            (version, verdict.resolved, verdict.resolution)
        };
        vec![verdict(Version::V4), verdict(Version::V5)]
    }

    /// Nothing of the answers can be read where the agent works.
    async fn assert_tight(&self, instance: &Instance, prepared: &Prepared) {
        let cx = self.ground.around();
        let tree = self.ground.path("trees").join(&instance.id);
        let made = self.local.checkout(instance, prepared, &tree, &cx);
        let checkout = made.await.unwrap();
        let place = Place {
            tree,
            home: self.ground.folder("home"),
            temp: self.ground.folder("tmp"),
            env: checkout.env.clone(),
        };
        let report = leaks::scan(instance, &checkout, &place, &cx).await.unwrap();
        assert_eq!(report.found, [""; 0], "{}", instance.id);
    }
}

#[tokio::test]
async fn req_w18_each_mini_task_is_resolved_by_gold_alone() {
    let (ground, local) = (Ground::new(), Local::default());
    if ground.host.find("python3").is_none() {
        return println!("skipped: there is no python3");
    }
    let bench = Bench { ground, local };
    let folder = bench.ground.path("benchmark");
    mini::lay_out(&folder).unwrap();
    for instance in &datasets::load(&folder, &Filter::default())
        .unwrap()
        .instances
    {
        let cx = bench.ground.around();
        let prepared = bench.local.prepare(instance, &cx).await.unwrap();
        bench.assert_tight(instance, &prepared).await;
        let no = Resolution::No;
        let nothing = bench.graded(instance, &prepared, "").await;
        assert_eq!(
            nothing,
            [(Version::V4, false, no), (Version::V5, false, no)],
            "{}",
            instance.id
        );
        let wrong = mini::wrong_patch(&instance.id).unwrap();
        for (version, resolved, _) in bench.graded(instance, &prepared, wrong).await {
            assert!(!resolved, "{} by {version}", instance.id);
        }
        let full = Resolution::Full;
        let gold = bench
            .graded(instance, &prepared, &instance.answers.gold_patch)
            .await;
        assert_eq!(
            gold,
            [(Version::V4, true, full), (Version::V5, true, full)],
            "{}",
            instance.id
        );
    }
}
