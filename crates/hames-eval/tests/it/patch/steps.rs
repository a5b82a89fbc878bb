//! S5's law on random work: any steps in any order give a patch that gives the tree.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use proptest::{
    prelude::{Just, Strategy, any, prop, prop_oneof},
    test_runner::{Config, TestRunner},
};

use super::{lawful, sh, world};

/// One step of somebody who works in a tree.
#[derive(Debug, Clone)]
enum Step {
    Write(usize, Vec<u8>),
    Append(usize, Vec<u8>),
    Remove(usize),
    Move(usize, usize),
    Mode(usize, bool),
    Link(usize, usize),
    Git(&'static str),
}

const NAMES: [&str; 12] = [
    "code.py",
    "crlf.txt",
    "latin.txt",
    "data.bin",
    "docs/read me.md",
    "link",
    "new",
    "new/inner",
    "deep/a",
    "naïve \"q\".txt",
    "a\\b*",
    "deep/a/b/new\nline",
];

const GIT: [&str; 8] = [
    "git add -A",
    "git add -A; git commit -qm x",
    "git reset -q --hard",
    "git reset -q --soft HEAD~1",
    "git checkout -q --detach",
    "git stash -u",
    "git checkout -qb b$(ls .git/refs/heads | wc -l)",
    "git rm -q --cached code.py",
];

fn step() -> impl Strategy<Value = Step> {
    let name = || 0..NAMES.len();
    let line = prop_oneof![
        Just(b"plain\n".to_vec()),
        Just(b"dos\r\n".to_vec()),
        Just(b"unended".to_vec()),
        Just(b"caf\xe9\n".to_vec()),
        Just(b"\0\xff".to_vec()),
        Just(b"diff --git a/x b/x\n".to_vec()),
        prop::collection::vec(any::<u8>(), 0..20),
    ];
    let text = prop::collection::vec(line, 0..4).prop_map(|lines| lines.concat());
    prop_oneof![
        3 => (name(), text.clone()).prop_map(|(at, text)| Step::Write(at, text)),
        3 => (name(), text).prop_map(|(at, text)| Step::Append(at, text)),
        2 => name().prop_map(Step::Remove),
        2 => (name(), name()).prop_map(|(from, to)| Step::Move(from, to)),
        1 => (name(), any::<bool>()).prop_map(|(at, executable)| Step::Mode(at, executable)),
        1 => (name(), name()).prop_map(|(at, to)| Step::Link(at, to)),
        3 => (0..GIT.len()).prop_map(|at| Step::Git(GIT[at])),
    ]
}

/// What cannot be done is not done.
fn take(tree: &Path, step: &Step) {
    let at = |name: usize| tree.join(NAMES[name]);
    let ready = |path: &Path| drop(fs::create_dir_all(path.parent().unwrap()));
    match step {
        Step::Write(name, text) => {
            ready(&at(*name));
            let _ = fs::write(at(*name), text);
        }
        Step::Append(name, text) => {
            let mut bytes = fs::read(at(*name)).unwrap_or_default();
            bytes.extend(text);
            ready(&at(*name));
            let _ = fs::write(at(*name), bytes);
        }
        Step::Remove(name) => {
            let _ = fs::remove_file(at(*name)).or_else(|_| fs::remove_dir_all(at(*name)));
        }
        Step::Move(from, to) => {
            ready(&at(*to));
            let _ = fs::rename(at(*from), at(*to));
        }
        Step::Mode(name, executable) => {
            let mode = if *executable { 0o755 } else { 0o644 };
            if at(*name).is_file() {
                let _ = fs::set_permissions(at(*name), fs::Permissions::from_mode(mode));
            }
        }
        Step::Link(name, to) => {
            ready(&at(*name));
            let _ = std::os::unix::fs::symlink(NAMES[*to], at(*name));
        }
        Step::Git(script) => sh(tree, script),
    }
}

#[test]
fn req_w13_any_steps_in_any_order_give_a_patch_that_gives_the_tree() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let world = runtime.block_on(world());
    let config = Config {
        cases: 24,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new(config);
    let steps = prop::collection::vec(step(), 1..12);
    let ran = runner.run(&steps, |steps| {
        runtime.block_on(world.lay_out());
        for step in &steps {
            take(&world.place.tree, step);
        }
        runtime.block_on(lawful(&world, "steps"));
        Ok(())
    });
    ran.unwrap();
}
