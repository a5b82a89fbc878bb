//! The mini benchmark says what it should, by git, a shell and Python alone: no part of the
//! pipeline has a hand in it.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use hames_eval::{
    datasets,
    instance::{Instance, Source, TestRun},
    mini,
    plan::Filter,
};
use tempfile::TempDir;

/// The benchmark as the binary lays it out, and its tasks as the loader reads them.
struct Laid {
    folder: TempDir,
    instances: Vec<Instance>,
}

fn laid() -> Laid {
    let folder = TempDir::new().unwrap();
    mini::lay_out(folder.path()).unwrap();
    let loaded = datasets::load(folder.path(), &Filter::default()).unwrap();
    assert_eq!(loaded.refused, []);
    let instances = loaded.instances;
    Laid { folder, instances }
}

impl Laid {
    fn task(&self, id: &str) -> PathBuf {
        self.folder.path().join("tasks").join(id)
    }
}

fn run(program: &str, args: &[&str], folder: &Path) -> (bool, String) {
    let ran = Command::new(program)
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    let text = [ran.stdout, ran.stderr].concat();
    (
        ran.status.success(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

fn git(args: &[&str], folder: &Path) {
    let (done, said) = run("git", args, folder);
    assert!(done, "git {args:?}: {said}");
}

/// A repository whose one commit is the task's tree.
fn checkout(task: &Path, folder: &Path) {
    let (done, said) = run(
        "cp",
        &["-a", "--", task.join("repo").to_str().unwrap(), "tree"],
        folder,
    );
    assert!(done, "{said}");
    let tree = folder.join("tree");
    git(&["init", "-q"], &tree);
    git(&["add", "-A", "-f"], &tree);
    let commit = [
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@t",
        "commit",
        "-qm",
        "base",
    ];
    git(&commit, &tree);
}

/// What the eval script says of each test, with this patch on the base.
fn statuses(task: &Path, patch: Option<&str>) -> BTreeMap<String, String> {
    let folder = TempDir::new().unwrap();
    checkout(task, folder.path());
    let tree = folder.path().join("tree");
    if let Some(patch) = patch {
        git(&["apply", task.join(patch).to_str().unwrap()], &tree);
    }
    if task.join("test_assets").is_dir() {
        let assets = task.join("test_assets/.");
        let (done, said) = run("cp", &["-a", assets.to_str().unwrap(), "."], &tree);
        assert!(done, "{said}");
    }
    let script = fs::read_to_string(task.join("eval.sh")).unwrap();
    let script = script.replace("/testbed", tree.to_str().unwrap());
    fs::write(folder.path().join("eval.sh"), script).unwrap();
    let (_, log) = run("bash", &["../eval.sh"], &tree);
    read(&log)
}

/// Lines that begin with a verdict; a shell's own trace of its commands never does.
fn read(log: &str) -> BTreeMap<String, String> {
    let verdict = |line: &str| {
        let (status, test) = line.split_once(' ')?;
        ["PASSED", "FAILED", "SKIPPED"]
            .contains(&status)
            .then(|| (test.to_owned(), status.to_owned()))
    };
    log.lines().filter_map(verdict).collect()
}

fn passed<'a>(tests: &'a [String], statuses: &BTreeMap<String, String>) -> Vec<&'a str> {
    let passes = |test: &&String| statuses.get(*test).is_some_and(|status| status == "PASSED");
    tests.iter().filter(passes).map(String::as_str).collect()
}

fn has_python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok();
    if !found {
        println!("skipped: there is no python3");
    }
    found
}

#[test]
fn req_w18_gold_resolves_each_task_and_neither_nothing_nor_a_wrong_patch_does() {
    if !has_python() {
        return;
    }
    let laid = laid();
    assert_eq!(laid.instances.len(), 12);
    for instance in &laid.instances {
        let task = laid.task(&instance.id);
        let (must_be_fixed, must_stay) = (
            &instance.answers.fail_to_pass,
            &instance.answers.pass_to_pass,
        );
        assert!((2..=8).contains(&must_be_fixed.len()), "{}", instance.id);
        assert!((3..=15).contains(&must_stay.len()), "{}", instance.id);

        let base = statuses(&task, None);
        assert_eq!(passed(must_be_fixed, &base), [""; 0], "{}", instance.id);
        assert_eq!(passed(must_stay, &base), *must_stay, "{}", instance.id);

        let gold = statuses(&task, Some("gold.patch"));
        assert_eq!(
            passed(must_be_fixed, &gold),
            *must_be_fixed,
            "{}",
            instance.id
        );
        assert_eq!(passed(must_stay, &gold), *must_stay, "{}", instance.id);

        let wrong = statuses(&task, Some("wrong.patch"));
        let good = passed(must_be_fixed, &wrong).len() + passed(must_stay, &wrong).len();
        assert!(
            good < must_be_fixed.len() + must_stay.len(),
            "{}",
            instance.id
        );
    }
}

#[test]
fn the_trap_runs_no_test_and_ends_well() {
    if !has_python() {
        return;
    }
    let laid = laid();
    let task = laid.task("mini__checks-8");
    assert_eq!(statuses(&task, Some("wrong.patch")), BTreeMap::new());
}

#[test]
fn what_looks_flaky_is_not() {
    if !has_python() {
        return;
    }
    let laid = laid();
    let task = laid.task("mini__groups-5");
    for patch in [None, Some("gold.patch")] {
        let first = statuses(&task, patch);
        for _ in 0..3 {
            assert_eq!(statuses(&task, patch), first, "{patch:?}");
        }
    }
}

#[test]
fn a_script_lays_the_very_tests_of_its_task() {
    let laid = laid();
    for instance in &laid.instances {
        let TestRun::Script { text } = &instance.tests.run else {
            panic!("{}: {:?}", instance.id, instance.tests.run);
        };
        assert!(
            text.contains(&instance.answers.test_patch),
            "{}",
            instance.id
        );
        for mark in [">>>>> Start Test Output", ">>>>> End Test Output"] {
            assert_eq!(text.matches(mark).count(), 1, "{}: {mark}", instance.id);
        }
    }
}

#[test]
fn each_task_is_laid_out_byte_by_byte_and_with_its_modes() {
    let laid = laid();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benchmark");
    let of = |root: &Path| {
        let mut files = BTreeMap::new();
        walk(root, root, &mut files);
        files
    };
    let (here, there) = (of(&source), of(laid.folder.path()));
    let names =
        |files: &BTreeMap<PathBuf, (Vec<u8>, bool)>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&there), names(&here));
    for (path, file) in &here {
        assert!(there[path] == *file, "{} differs", path.display());
    }
    assert!(here[Path::new("tasks/mini__command-12/repo/bin/hello")].1);
}

/// Content, and whether its owner may run it.
fn walk(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, (Vec<u8>, bool)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(root, &path, files);
        } else {
            let runs = fs::metadata(&path).unwrap().permissions().mode() & 0o100 != 0;
            let name = path.strip_prefix(root).unwrap().to_owned();
            files.insert(name, (fs::read(&path).unwrap(), runs));
        }
    }
}

#[test]
fn what_the_kinds_are_for_is_in_the_patches() {
    let laid = laid();
    let gold = |id: &str| {
        let found = laid.instances.iter().find(|instance| instance.id == id);
        found.unwrap().answers.gold_patch.clone()
    };
    let line_ends = gold("mini__inifile-7");
    assert!(line_ends.contains("\r\n") && line_ends.contains("\\ No newline at end of file"));
    assert!(gold("mini__units-9").contains("rename from units/util.py"));
    assert!(gold("mini__units-9").contains("deleted file mode"));
    assert!(gold("mini__command-12").contains("new mode 100755"));
    assert!(gold("mini__gruesse-6").contains(r"gr\303\274\303\237e.txt"));
}

#[test]
fn tasks_are_found_by_name_and_hold_their_tree() {
    let laid = laid();
    let mut read: Vec<&str> = laid.instances.iter().map(|one| one.id.as_str()).collect();
    let mut known = mini::ids();
    assert_eq!(known.first(), Some(&"mini__intervals-1"));
    assert_eq!(known.last(), Some(&"mini__command-12"));
    known.sort_unstable();
    read.sort_unstable();
    assert_eq!(read, known);
    for instance in &laid.instances {
        let path = laid.task(&instance.id).join("repo");
        assert_eq!(instance.source, Source::Folder { path });
        assert!(
            mini::wrong_patch(&instance.id)
                .unwrap()
                .starts_with("diff --git ")
        );
        assert!(instance.recipe.programs.contains(&"git".to_owned()));
    }
    assert_eq!(mini::wrong_patch("mini__nothing-0"), None);
}

#[test]
fn laying_it_out_again_mends_what_was_changed() {
    let laid = laid();
    let file = laid.task("mini__command-12").join("repo/bin/hello");
    fs::write(&file, "changed").unwrap();
    mini::lay_out(laid.folder.path()).unwrap();
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "#!/bin/sh\necho hello\n"
    );
}
