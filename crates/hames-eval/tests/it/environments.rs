//! The local back-end on real interpreters: what it makes once, what a tree gets, how tests are run.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use hames_eval::{
    environment::{ApplyStep, Candidate, Environment, Prepared, TestOutput},
    environments::local::{Local, LocalOptions},
    instance::{Instance, Source, TestRun},
    stage::StageError,
};

use crate::ground::{Ground, files_below, instance};

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/test_data/environments/demo");

const GOLD: &str = "\
--- a/src/demo/__init__.py
+++ b/src/demo/__init__.py
@@ -1,5 +1,5 @@
 def double(number):
-    return number + number + 1
+    return number + number
 
 
 def main():
";

/// The project, with what its archive would bring.
fn demo(ground: &Ground) -> PathBuf {
    let folder = ground.folder("demo");
    for (name, bytes) in files_below(Path::new(DEMO)) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    fs::create_dir_all(folder.join("demo.egg-info")).unwrap();
    fs::write(folder.join("demo.egg-info/PKG-INFO"), "as it came\n").unwrap();
    fs::write(folder.join(".gitignore"), "*.egg-info/\n").unwrap();
    folder
}

/// A registry that is a folder, with the one package that the project needs.
fn registry(ground: &mut Ground) {
    let folder = ground.folder("registry");
    let wheel = folder.join("dep-1.0-py3-none-any.whl");
    let files = [
        ("dep.py", "VALUE = 'shared'\n"),
        (
            "dep-1.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: dep\nVersion: 1.0\n",
        ),
        (
            "dep-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        ),
        ("dep-1.0.dist-info/RECORD", ""),
    ];
    fs::write(wheel, zip(&files)).unwrap();
    let variables = &mut ground.host.variables;
    variables.insert(
        "PIP_FIND_LINKS".to_owned(),
        folder.to_string_lossy().into_owned(),
    );
    variables.insert("PIP_NO_INDEX".to_owned(), "1".to_owned());
}

/// An archive whose files are stored as they are.
fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let at = u32::try_from(out.len()).unwrap();
        let size = u32::try_from(text.len()).unwrap().to_le_bytes();
        let length = u16::try_from(name.len()).unwrap().to_le_bytes();
        let mut shared = [20_u16.to_le_bytes(), [0; 2], [0; 2], [0; 2], [0x21, 0]].concat();
        shared.extend(crc32(text.as_bytes()).to_le_bytes());
        shared.extend([size, size].concat());
        shared.extend([length, [0; 2]].concat());
        out.extend(b"PK\x03\x04");
        out.extend(&shared);
        out.extend(name.as_bytes());
        out.extend(text.as_bytes());
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(shared);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let count = u16::try_from(files.len()).unwrap().to_le_bytes();
    let (at, size) = (out.len(), directory.len());
    out.extend(directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([count, count].concat());
    out.extend(u32::try_from(size).unwrap().to_le_bytes());
    out.extend(u32::try_from(at).unwrap().to_le_bytes());
    out.extend([0; 2]);
    out
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        let shift = |crc: u32, _| (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
        (0..8).fold(crc ^ u32::from(*byte), shift)
    };
    !bytes.iter().fold(!0, step)
}

fn installed(ground: &mut Ground) -> Instance {
    registry(ground);
    let mut instance = instance("demo", Source::Folder { path: demo(ground) });
    instance.recipe.deps = vec!["dep==1.0".to_owned()];
    instance.recipe.editable = true;
    instance.recipe.env = [("PYTHONPATH", ".:src"), ("PYTHONDONTWRITEBYTECODE", "1")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    instance
}

fn plain(ground: &Ground) -> Instance {
    let mut instance = instance("demo", Source::Folder { path: demo(ground) });
    instance.recipe.env = [("PYTHONPATH", "src"), ("PYTHONDONTWRITEBYTECODE", "1")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    instance
}

async fn prepare(ground: &Ground, instance: &Instance) -> Prepared {
    Local::default()
        .prepare(instance, &ground.around())
        .await
        .unwrap()
}

fn has_python(ground: &Ground) -> bool {
    let found = ground.host.find("python3").is_some();
    if !found {
        println!("skipped: there is no python3");
    }
    found
}

/// In the tree, with the variables that whoever works in it gets.
async fn say(ground: &Ground, tree: &Path, env: &[(String, String)], command: &str) -> String {
    let tool = hames_eval::tool::Tool {
        program: Path::new("/bin/sh"),
        args: &["-c", command],
        cwd: tree,
        env,
        stdin: None,
        limit: Duration::from_secs(60),
    };
    let answer = tool.run(&ground.around()).await.unwrap();
    assert!(answer.is_fine(), "{command}: {}", answer.complaint());
    answer.text()
}

#[tokio::test]
async fn what_was_installed_is_made_again_where_its_mirror_was_removed() {
    let mut ground = Ground::new();
    if !has_python(&ground) {
        return;
    }
    let instance = installed(&mut ground);
    prepare(&ground, &instance).await;
    fs::remove_dir_all(ground.cache().join("mirrors")).unwrap();
    let prepared = prepare(&ground, &instance).await;
    let tree = ground.path("tree");
    Local::default()
        .checkout(&instance, &prepared, &tree, &ground.around())
        .await
        .unwrap();
    assert!(tree.join("demo.egg-info/PKG-INFO").exists());
}

#[tokio::test]
async fn a_tree_is_installed_once_and_each_checkout_has_it_in_place() {
    let mut ground = Ground::new();
    if !has_python(&ground) {
        return;
    }
    let instance = installed(&mut ground);
    let prepared = prepare(&ground, &instance).await;
    assert_eq!(prepared.record.freeze, ["dep==1.0"]);
    assert_eq!(prepared.record.backend, "local");
    assert!(
        prepared
            .record
            .interpreter
            .unwrap()
            .starts_with("CPython 3.")
    );
    let environment = prepared.environment.clone().unwrap();
    assert!(environment.starts_with(ground.cache()));

    for name in ["one", "two"] {
        let prepared = prepare(&ground, &instance).await;
        let tree = ground.path(name);
        let checkout = Local::default()
            .checkout(&instance, &prepared, &tree, &ground.around())
            .await
            .unwrap();
        // Installing rewrote a file that is ignored: the base has it, and nothing is left to commit.
        assert_eq!(
            fs::read_to_string(tree.join("demo.egg-info/PKG-INFO")).unwrap(),
            "rewritten by installing\n"
        );
        assert_eq!(
            ground
                .git(&tree, &["status", "--porcelain", "--ignored"])
                .await,
            ""
        );
        assert_eq!(
            ground.git(&tree, &["rev-parse", "HEAD"]).await,
            checkout.head
        );
        // Its script, found by its name, runs this tree with the shared dependency.
        let edit =
            "sed -i.bak 's/ + 1/ + 7/' src/demo/__init__.py && cd / && unset PYTHONPATH && demo";
        assert_eq!(
            say(&ground, &tree, &checkout.env, edit).await,
            "demo 9 shared"
        );
        let place = format!("{}.venv", tree.display());
        let which = "python -c 'import sys; print(sys.prefix)'; command -v demo; command -v pip";
        let expected = format!("{place}\n{place}/bin/demo\n{place}/bin/pip");
        assert_eq!(say(&ground, &tree, &checkout.env, which).await, expected);
        let variable = |name: &str| {
            checkout
                .env
                .iter()
                .find(|(held, _)| held == name)
                .unwrap()
                .1
                .clone()
        };
        assert_eq!(
            variable("PYTHONPATH"),
            format!("{0}:{0}/src", tree.display())
        );
        // No file of its own names another's place, or the folder where the tree was installed first.
        for (file, bytes) in files_below(Path::new(&place)) {
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains("/installs/"), "{file}: {text}");
        }
        // What is installed here does not reach the shared environment.
        say(
            &ground,
            &tree,
            &checkout.env,
            "python -c 'import site, os; \
            open(os.path.join(site.getsitepackages()[0], \"stray.py\"), \"w\")'",
        )
        .await;
    }
    let shared = files_below(&ground.cache().join("environments"));
    assert!(!shared.iter().any(|(name, _)| name.ends_with("stray.py")));
}

#[tokio::test]
async fn a_killed_build_leaves_no_half_environment() {
    let mut ground = Ground::new();
    if !has_python(&ground) {
        return;
    }
    let mut instance = installed(&mut ground);
    instance.recipe.deps.push("not-there==1.0".to_owned());
    let refused = Local::default().prepare(&instance, &ground.around()).await;
    let Err(StageError::Infrastructure(message)) = refused else {
        panic!("{refused:?}");
    };
    assert!(
        message.contains("pip install") && message.contains("not-there"),
        "{message}"
    );
    let made = files_below(&ground.cache().join("environments"));
    assert!(
        !made
            .iter()
            .any(|(name, _)| name.ends_with("environment.json"))
    );
    // The same environment, once the package is there.
    instance.recipe.deps.pop();
    instance.recipe.deps.push("dep".to_owned());
    prepare(&ground, &instance).await;
    let folders = fs::read_dir(ground.cache().join("environments")).unwrap();
    let names: Vec<String> = folders
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(
        names
            .iter()
            .filter(|name| name.starts_with("owner__demo-1.0-py3.")
                && !name.ends_with(".lock")
                && !name.ends_with(".half"))
            .count(),
        1,
        "{names:?}"
    );
}

#[tokio::test]
async fn without_dependencies_there_is_no_environment_but_the_interpreter() {
    let ground = Ground::new();
    if !has_python(&ground) {
        return;
    }
    let instance = plain(&ground);
    let prepared = prepare(&ground, &instance).await;
    assert_eq!(prepared.environment, None);
    assert!(!ground.cache().join("environments").exists());
    let tree = ground.path("tree");
    let checkout = Local::default()
        .checkout(&instance, &prepared, &tree, &ground.around())
        .await
        .unwrap();
    let said = say(
        &ground,
        &tree,
        &checkout.env,
        "python -c 'import demo; print(demo.double(1))'",
    )
    .await;
    assert_eq!(said, "3");
    assert_eq!(
        fs::read_to_string(tree.join("demo.egg-info/PKG-INFO")).unwrap(),
        "as it came\n"
    );
}

#[tokio::test]
async fn what_is_missing_is_told_before_anything_is_built() {
    let ground = Ground::new();
    let mut instance = plain(&ground);
    instance.recipe.python = "3.99.1".to_owned();
    let refused = Local::default().check(&instance, &ground.around());
    let expected = StageError::Missing {
        what: "demo: Python 3.99.1".to_owned(),
        hint: "install it with `pyenv install 3.99.1` or `uv python install 3.99.1`".to_owned(),
    };
    assert_eq!(refused, Err(expected.clone()));
    assert_eq!(
        Local::default().prepare(&instance, &ground.around()).await,
        Err(expected)
    );
    instance.recipe.python = String::new();
    instance.recipe.programs = vec!["no-such-program".to_owned()];
    let refused = Local::default().check(&instance, &ground.around());
    assert_eq!(
        refused.unwrap_err().to_string(),
        "demo: no-such-program is missing: install it, and see that `no-such-program` is on PATH"
    );
    instance.source = Source::Image {
        workdir: PathBuf::from("/testbed"),
    };
    let refused = Local::default()
        .check(&instance, &ground.around())
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "demo: its tree is in a container image only: run it with --environment docker"
    );
    assert!(!ground.cache().exists());
}

fn git_apply() -> Vec<ApplyStep> {
    let step = |argv: &[&'static str], resets| ApplyStep {
        argv: argv.to_vec(),
        resets,
    };
    vec![
        step(&["sh", "-c", "echo left > left.txt; exit 1"], true),
        step(&["git", "apply", "--verbose"], true),
    ]
}

struct Trying<'a> {
    patch: &'a str,
    script: &'a str,
    limit: Duration,
}

async fn try_out(ground: &Ground, instance: &Instance, trying: Trying<'_>) -> TestOutput {
    let prepared = prepare(ground, instance).await;
    try_prepared(ground, instance, &prepared, trying).await
}

async fn try_prepared(
    ground: &Ground,
    instance: &Instance,
    prepared: &Prepared,
    trying: Trying<'_>,
) -> TestOutput {
    let scratch = ground.folder("scratch");
    let candidate = Candidate {
        patch: trying.patch,
        eval_script: trying.script,
        apply: &git_apply(),
        time_limit: trying.limit,
        scratch: &scratch,
    };
    let local = Local::new(LocalOptions::default());
    let output = local
        .run_tests(instance, prepared, candidate, &ground.around())
        .await
        .unwrap();
    // The next to come may be an agent: nothing of the tests lies about.
    assert_eq!(files_below(&scratch), []);
    output
}

fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

const LONG: Duration = Duration::from_secs(120);

#[tokio::test]
async fn tests_run_on_a_clean_base_with_the_patch_and_in_the_recipe_s_environment() {
    let mut ground = Ground::new();
    if !has_python(&ground) {
        return;
    }
    let instance = installed(&mut ground);
    let script = "cd /testbed\ncat left.txt\npython tests/check.py\necho \"exit $?\"\n\
                  git rev-parse HEAD; echo {base}; test \"$HOME\" != \"$PWD\" && ls -A \"$HOME\" \"$TMPDIR\"; pwd; echo {testbed}\n\
                  demo; env | grep -c KEY; exit 3";
    let before = try_out(
        &ground,
        &instance,
        Trying {
            patch: "",
            script,
            limit: LONG,
        },
    )
    .await;
    assert_eq!(
        (before.applied_by, before.exit, before.timed_out),
        (Some(0), Some(3), false)
    );
    assert!(
        before.log.contains("FAILED (failures=1)\nexit 1\n"),
        "{}",
        before.log
    );
    // A home and a temporary folder of its own, with nothing in them.
    let empty = format!("{0}/home:\n\n{0}/tmp:\n", ground.path("scratch").display());
    assert!(before.log.contains(&empty), "{}", before.log);
    let base = prepare(&ground, &instance).await.base;
    assert!(
        before.log.contains(&format!("{base}\n{base}\n")),
        "{}",
        before.log
    );
    assert!(before.log.ends_with("demo 3 shared\n0\n"), "{}", before.log);

    let after = try_out(
        &ground,
        &instance,
        Trying {
            patch: GOLD,
            script,
            limit: LONG,
        },
    )
    .await;
    // The first try had failed, and what it left is gone.
    assert_eq!(after.applied_by, Some(1));
    assert!(
        after
            .apply_log
            .contains("Applied patch src/demo/__init__.py cleanly"),
        "{}",
        after.apply_log
    );
    assert!(
        after.log.contains("left.txt: No such file"),
        "{}",
        after.log
    );
    assert!(after.log.contains("OK\nexit 0\n"), "{}", after.log);
    assert!(after.log.ends_with("demo 2 shared\n0\n"), "{}", after.log);
}

#[tokio::test]
async fn a_shared_environment_that_somebody_changed_is_made_again_before_the_tests_run() {
    let mut ground = Ground::new();
    if !has_python(&ground) {
        return;
    }
    let instance = installed(&mut ground);
    let prepared = prepare(&ground, &instance).await;
    let script = "python -c 'import dep; print(dep.VALUE, dep.__file__)'";
    let trying = || Trying {
        patch: "",
        script,
        limit: LONG,
    };
    let first = try_prepared(&ground, &instance, &prepared, trying())
        .await
        .log;
    let place = first.trim().strip_prefix("shared ").unwrap();
    fs::write(place, "VALUE = 'hacked'\n").unwrap();
    assert_eq!(
        try_prepared(&ground, &instance, &prepared, trying())
            .await
            .log,
        first
    );
    assert_eq!(fs::read_to_string(place).unwrap(), "VALUE = 'shared'\n");
}

#[tokio::test]
async fn a_patch_that_does_not_apply_is_told_and_nothing_is_run() {
    let ground = Ground::new();
    if !has_python(&ground) {
        return;
    }
    let trying = Trying {
        patch: "no patch at all\n",
        script: "echo ran",
        limit: LONG,
    };
    let output = try_out(&ground, &plain(&ground), trying).await;
    assert_eq!(
        (output.applied_by, output.log.as_str(), output.exit),
        (None, "", None)
    );
    assert!(
        output.apply_log.contains("No valid patches in input"),
        "{}",
        output.apply_log
    );
}

#[tokio::test]
async fn at_its_limit_a_test_run_ends_with_all_it_started() {
    let ground = Ground::new();
    if !has_python(&ground) || !cfg!(target_os = "linux") {
        return;
    }
    let script = "echo begun; (trap '' TERM; while :; do sleep 1; done) & echo $!; while :; do sleep 1; done";
    let limit = Duration::from_secs(1);
    let output = try_out(
        &ground,
        &plain(&ground),
        Trying {
            patch: "",
            script,
            limit,
        },
    )
    .await;
    assert!(output.timed_out);
    let lines: Vec<&str> = output.log.lines().collect();
    assert_eq!(lines.first(), Some(&"begun"));
    assert_eq!(lines.last(), Some(&"Timeout error: 1 seconds exceeded."));
    assert!(!is_alive(lines[1]));

    let script = "sleep 100 & echo $!";
    let output = try_out(
        &ground,
        &plain(&ground),
        Trying {
            patch: "",
            script,
            limit: LONG,
        },
    )
    .await;
    assert_eq!(
        (output.survivors, output.exit, output.timed_out),
        (1, Some(0), false)
    );
    assert!(!is_alive(output.log.trim()));
}

#[tokio::test]
async fn tests_reach_loopback_and_nothing_else_where_the_system_can_keep_them_from_it() {
    let ground = Ground::new();
    if !has_python(&ground) {
        return;
    }
    let instance = plain(&ground);
    let prepared = prepare(&ground, &instance).await;
    if prepared.record.network != Some(false) {
        return println!("skipped: no namespace can be made here");
    }
    let script = "python - <<'END'\nimport socket\nserver = socket.create_server(('127.0.0.1', 0))\n\
        socket.create_connection(server.getsockname(), 5)\nprint('loopback')\n\
        print([name for _, name in socket.if_nameindex()])\nEND";
    let output = try_out(
        &ground,
        &instance,
        Trying {
            patch: "",
            script,
            limit: LONG,
        },
    )
    .await;
    assert_eq!(output.log, "loopback\n['lo']\n");

    let open = Local::new(LocalOptions {
        network: true,
        thorough: false,
    });
    let prepared = open.prepare(&instance, &ground.around()).await.unwrap();
    assert_eq!(prepared.record.network, Some(true));
}

#[tokio::test]
async fn a_task_s_own_tests_are_laid_beside_the_tree_and_their_reward_is_read() {
    let ground = Ground::new();
    if !has_python(&ground) {
        return;
    }
    let mut instance = plain(&ground);
    let tests = ground.folder("task/tests");
    let test = "cd /app && python /tests/check.py && echo 1 > /logs/verifier/reward.txt || \
                echo '{\"reward\": 0.25}' > /logs/verifier/reward.json\nls /app\n";
    fs::write(tests.join("test.sh"), test).unwrap();
    fs::copy(
        Path::new(DEMO).join("tests/check.py"),
        tests.join("check.py"),
    )
    .unwrap();
    instance.tests.run = TestRun::Reward { tests };
    for (patch, script, reward) in [
        ("", "bash {tests}/test.sh", Some(0.25)),
        (GOLD, "bash /tests/test.sh", Some(1.0)),
        (GOLD, "true", None),
    ] {
        let output = try_out(
            &ground,
            &instance,
            Trying {
                patch,
                script,
                limit: LONG,
            },
        )
        .await;
        assert_eq!(output.reward, reward, "{}", output.log);
    }
}
