//! Real instances with recipes that need no container, from the package registry alone.
//!
//! They take minutes and a network, so they are asked for by name.

use std::{fs, path::Path, time::Duration};

use hames_eval::{
    environment::{Around, Candidate, Environment},
    environments::local::Local,
    grading::{self, Version},
    host::Host,
    instance::{Instance, Source, TestRun},
};
use tokio::time::Instant;

use crate::ground::{Ground, instance};

const RECORDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/swe");

fn read(path: &Path) -> Option<Instance> {
    let record: serde_json::Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let recipe = record.get("_local")?.get("offline")?;
    let text =
        |value: &serde_json::Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let list =
        |name: &str| -> Vec<String> { serde_json::from_value(recipe[name].clone()).unwrap() };
    let source = &recipe["source"];
    let mut instance = instance(
        record["instance_id"].as_str()?,
        Source::Sdist {
            project: text(source, "project"),
            version: text(source, "version"),
            file: text(source, "file"),
            sha256: text(source, "sha256"),
        },
    );
    instance.repo = text(&record, "repo");
    instance.version = text(&record, "version");
    instance.answers.gold_patch = text(&record, "patch");
    instance.answers.test_patch = text(&record, "test_patch");
    instance.answers.fail_to_pass = list("FAIL_TO_PASS");
    instance.answers.pass_to_pass = list("PASS_TO_PASS");
    instance.tests.run = TestRun::Command {
        command: text(recipe, "test_cmd"),
    };
    instance.recipe.python = text(recipe, "python");
    instance.recipe.deps = list("deps");
    instance.recipe.editable = recipe["install_source_editable"].as_bool().unwrap();
    instance.recipe.env = serde_json::from_value(recipe["env"].clone()).unwrap();
    Some(instance)
}

/// `HAMES_REAL=flask cargo test -p hames-eval --test it real_instances -- --ignored --nocapture`;
/// with `HAMES_REAL_CACHE`, what was built is kept there.
#[tokio::test]
#[ignore = "needs a package registry, and minutes"]
async fn real_instances_are_unresolved_unpatched_and_resolved_with_gold() {
    let mut ground = Ground::new();
    ground.host.variables = std::env::vars().collect();
    if let Ok(cache) = std::env::var("HAMES_REAL_CACHE") {
        ground.host.cache = cache.into();
    }
    let wanted = std::env::var("HAMES_REAL").unwrap_or_default();
    let Ok(entries) = fs::read_dir(RECORDS) else {
        return println!("skipped: there are no records beside the checkout");
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut wrong = Vec::new();
    for instance in paths.iter().filter_map(|path| read(path)) {
        if instance.id.contains(&wanted) {
            wrong.extend(check(&ground, &instance).await);
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

async fn check(ground: &Ground, instance: &Instance) -> Option<String> {
    let (host, cx): (&Host, Around<'_>) = (&ground.host, ground.around());
    let local = Local::default();
    let mut seconds = Vec::new();
    let mut lap = Instant::now();
    let mut took = |began: &mut Instant| {
        seconds.push(format!("{:.1}", began.elapsed().as_secs_f64()));
        *began = Instant::now();
    };
    local.prepare(instance, &cx).await.unwrap();
    took(&mut lap);
    let prepared = local.prepare(instance, &cx).await.unwrap();
    took(&mut lap);
    let tree = host.cache.join("trees").join(&instance.id);
    let _ = fs::remove_dir_all(&tree);
    let _ = fs::remove_dir_all(tree.with_added_extension("venv"));
    local
        .checkout(instance, &prepared, &tree, &cx)
        .await
        .unwrap();
    took(&mut lap);
    let script = grading::eval_script(instance, Version::V5).unwrap().text;
    let chain = grading::apply_chain(Version::V5);
    let mut resolved = Vec::new();
    for patch in ["", &instance.answers.gold_patch] {
        let candidate = Candidate {
            patch,
            eval_script: &script,
            apply: &chain,
            time_limit: Duration::from_secs(1800),
            scratch: &host.cache.join("scratch").join(&instance.id),
        };
        let output = local
            .run_tests(instance, &prepared, candidate, &cx)
            .await
            .unwrap();
        took(&mut lap);
        let verdict = grading::grade(instance, Version::V5, &output);
        let log = host
            .cache
            .join(format!("{}.{}.log", instance.id, resolved.len()));
        fs::write(log, &output.log).unwrap();
        resolved.push(verdict.resolved);
    }
    let id = &instance.id;
    println!(
        "{id}: {resolved:?}; prepare, again, checkout, unpatched, gold: {} s",
        seconds.join(", ")
    );
    (resolved != [false, true]).then(|| format!("{id}: {resolved:?}"))
}
