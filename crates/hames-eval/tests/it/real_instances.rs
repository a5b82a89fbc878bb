//! Real instances with recipes that need no container, from the package registry alone.
//!
//! They take minutes and a network, so they are asked for by name.

use std::{fs, path::Path, time::Duration};

use hames_eval::{
    adapter::Place,
    datasets,
    environment::{Around, Candidate, Environment},
    environments::local::Local,
    grading::{self, Version},
    host::Host,
    instance::{Instance, Source},
    leaks,
    plan::Filter,
};
use tokio::time::Instant;

use crate::ground::Ground;

const RECORDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/swe");

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
    if !Path::new(RECORDS).exists() {
        return println!("skipped: there are no records beside the checkout");
    }
    let loaded = datasets::load(Path::new(RECORDS), &Filter::default()).unwrap();
    let from_registry = |instance: &&Instance| matches!(instance.source, Source::Sdist { .. });
    let mut wrong = Vec::new();
    for instance in loaded.instances.iter().filter(from_registry) {
        if instance.id.contains(&wanted) {
            wrong.extend(check(&ground, instance).await);
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
    let checkout = local
        .checkout(instance, &prepared, &tree, &cx)
        .await
        .unwrap();
    took(&mut lap);
    let place = Place {
        home: ground.folder("home"),
        temp: ground.folder("tmp"),
        env: checkout.env.clone(),
        tree,
    };
    let leaks = leaks::scan(instance, &checkout, &place, &cx).await.unwrap();
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
        "{id}: {resolved:?}; prepare, again, checkout, scan of {}, unpatched, gold: {} s",
        leaks.scanned,
        seconds.join(", ")
    );
    let right = resolved == [false, true] && leaks.found.is_empty();
    (!right).then(|| format!("{id}: {resolved:?}, {leaks:?}"))
}
