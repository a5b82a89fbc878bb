//! The scan of an agent's view: a leak of each kind is planted and found, and a clean view has none.

use std::{
    fs,
    path::{Path, PathBuf},
};

use hames_eval::{
    adapter::Place,
    environment::Checkout,
    instance::{Instance, Source},
    leaks::{peeking, scan},
    record::LeakReport,
    repository::{Depth, clone, git_told, mirror},
    trajectory::{Call, Source as Author, Trajectory, Turn},
};
use serde_json::json;

use crate::ground::{Ground, instance};

const GOLD: &str = "\
--- a/sum.py
+++ b/sum.py
@@ -1,2 +1,3 @@
 def total(numbers):
-    return 0
+    checked = [int(n) for n in numbers]
+    return sum_of_all(checked)
";
const TESTS: &str = "\
--- a/test_sum.py
+++ b/test_sum.py
@@ -1 +1,3 @@
 import sum
+def test_total_of_three_numbers():
+    assert sum.total([1, 2, 3]) == 6
";

/// What an agent is about to see: a checkout, a home, a temp folder.
struct View {
    ground: Ground,
    instance: Instance,
    checkout: Checkout,
    place: Place,
}

impl View {
    async fn clean() -> Self {
        let ground = Ground::new();
        let origin = ground.folder("origin");
        ground.git(&origin, &["init", "-q", "-b", "main"]).await;
        // The past may hold what is an answer later: it is the past.
        fs::write(
            origin.join("old.py"),
            "checked = [int(n) for n in numbers]\n",
        )
        .unwrap();
        ground.git(&origin, &["add", "-A"]).await;
        ground.git(&origin, &["commit", "-qm", "past"]).await;
        fs::remove_file(origin.join("old.py")).unwrap();
        fs::write(origin.join("sum.py"), "def total(numbers):\n    return 0\n").unwrap();
        fs::write(origin.join("test_sum.py"), "import sum\n").unwrap();
        fs::write(origin.join(".gitignore"), "ignored/\n").unwrap();
        ground.git(&origin, &["add", "-A"]).await;
        ground.git(&origin, &["commit", "-qm", "base"]).await;
        let commit = ground.git(&origin, &["rev-parse", "HEAD"]).await;
        let url = Some(origin.to_string_lossy().into_owned());
        let mut instance = instance("demo", Source::Git { url, commit });
        instance.answers.gold_patch = GOLD.to_owned();
        instance.answers.test_patch = TESTS.to_owned();
        instance.answers.fail_to_pass = vec!["test_sum.py::test_total_of_three_numbers".to_owned()];
        let base = mirror(&instance, Path::new("python3"), &ground.around())
            .await
            .unwrap();
        let tree = ground.path("tree");
        clone(&base, &tree, Depth::Whole, &ground.around())
            .await
            .unwrap();
        let env = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
        let place = Place {
            tree: tree.clone(),
            home: ground.folder("home"),
            temp: ground.folder("tmp"),
            env: env.clone(),
        };
        let checkout = Checkout {
            tree,
            head: base.commit,
            env,
        };
        Self {
            ground,
            instance,
            checkout,
            place,
        }
    }

    fn tree(&self) -> PathBuf {
        self.place.tree.clone()
    }

    async fn git(&self, args: &[&str]) -> String {
        self.ground.git(&self.tree(), args).await
    }

    async fn scan(&self) -> LeakReport {
        scan(
            &self.instance,
            &self.checkout,
            &self.place,
            &self.ground.around(),
        )
        .await
        .unwrap()
    }

    async fn found(&self) -> Vec<String> {
        self.scan().await.found
    }
}

const FIX: &str = "    return sum_of_all(checked)\n";

#[tokio::test]
async fn req_w12_a_clean_view_has_no_leak_and_all_of_it_was_looked_at() {
    let view = View::clean().await;
    let report = view.scan().await;
    assert_eq!(report.found, Vec::<String>::new());
    // Three files of the base, seven objects, one ref, git's own files, variables.
    assert!(report.scanned > 12, "{report:?}");
}

#[tokio::test]
async fn req_w12_files_of_the_tree_and_around_it_that_hold_an_answer_are_found() {
    let mut view = View::clean().await;
    let tree = view.tree();
    fs::write(tree.join("notes.txt"), format!("hint:\n{FIX}")).unwrap();
    fs::create_dir(tree.join("ignored")).unwrap();
    fs::write(tree.join("ignored/tests"), TESTS).unwrap();
    fs::write(tree.join("sum.py"), format!("def total(numbers):\n{FIX}")).unwrap();
    fs::create_dir(tree.join(".git/hooks")).unwrap();
    fs::write(tree.join(".git/hooks/pre-commit"), FIX).unwrap();
    fs::create_dir_all(view.place.home.join(".config")).unwrap();
    fs::write(view.place.home.join(".config/a"), GOLD).unwrap();
    fs::write(view.place.temp.join("test_total_of_three_numbers.log"), "").unwrap();
    view.place
        .env
        .push(("HINT".to_owned(), FIX.trim().to_owned()));
    let venv = view.ground.folder("tree.venv/lib");
    fs::write(venv.join("fixed.py"), FIX).unwrap();
    let fix = "holds a line of the fix: return sum_of_all(checked)";
    assert_eq!(
        view.found().await,
        [
            &format!("git's own file hooks/pre-commit {fix}"),
            &format!("the environment's file lib/fixed.py {fix}"),
            "the home's file .config/a holds a line of the fix: checked = [int(n) for n in numbers]",
            "the name of the temp folder's file test_total_of_three_numbers.log holds the name of a test: \
             test_total_of_three_numbers",
            "the tree's file ignored/tests holds a line of the tests: assert sum.total([1, 2, 3]) == 6",
            &format!("the tree's file notes.txt {fix}"),
            &format!("the tree's file sum.py {fix}"),
            &format!("the variable HINT {fix}"),
        ]
    );
}

#[tokio::test]
async fn req_w12_fault_n01_what_git_holds_of_later_history_is_found() {
    let view = View::clean().await;
    let tree = view.tree();
    // A blob that nothing leads to, and one in a pack.
    let cx = view.ground.around();
    let store = ["hash-object", "-w", "--stdin"];
    let loose = git_told(&store, FIX.as_bytes(), &tree, &cx).await;
    let loose = loose.unwrap().text();
    let fix = "holds a line of the fix: return sum_of_all(checked)";
    assert_eq!(view.found().await, [format!("the blob {loose} {fix}")]);
    view.git(&["tag", "kept", &loose]).await;
    view.git(&["repack", "-adq"]).await;
    let found = view.found().await;
    assert!(
        found.contains(&format!("the blob {loose} {fix}")),
        "{found:?}"
    );
    view.git(&["tag", "-d", "kept"]).await;
    view.git(&["prune", "--expire=now"]).await;
    view.git(&["repack", "-adq"]).await;
    assert_eq!(view.found().await, Vec::<String>::new());

    // A later commit with nothing of the answers in it is later history all the same.
    view.git(&["commit", "-q", "--allow-empty", "-m", "later"])
        .await;
    let later = view.git(&["rev-parse", "HEAD"]).await;
    view.git(&["tag", "v2"]).await;
    view.git(&["reset", "-q", "--hard", "HEAD~1"]).await;
    let found = view.found().await;
    for expected in [
        format!("the commit {later} is not in the past of HEAD"),
        format!("a reflog leads to {later}, out of the past of HEAD"),
        "refs/tags/v2 leads out of the past of HEAD".to_owned(),
        "there is .git/ORIG_HEAD".to_owned(),
    ] {
        assert!(found.contains(&expected), "{expected}: {found:?}");
    }
}

#[tokio::test]
async fn req_w12_what_leads_out_of_a_checkout_is_found() {
    let view = View::clean().await;
    let origin = view.ground.path("origin").to_string_lossy().into_owned();
    view.git(&["remote", "add", "origin", &origin]).await;
    fs::create_dir_all(view.tree().join(".git/objects/info")).unwrap();
    let objects = view.ground.path("origin/.git/objects");
    fs::write(
        view.tree().join(".git/objects/info/alternates"),
        objects.to_string_lossy().as_bytes(),
    )
    .unwrap();
    assert_eq!(
        view.found().await,
        [
            format!("git's configuration says remote.origin.url {origin}"),
            "git's configuration says remote.origin.fetch +refs/heads/*:refs/remotes/origin/*"
                .to_owned(),
            "there is .git/objects/info/alternates".to_owned(),
        ]
    );
}

#[tokio::test]
async fn what_the_base_or_the_problem_says_is_no_secret_but_a_patch_in_the_base_is() {
    let mut view = View::clean().await;
    let tree = view.tree();
    // The base has one of the lines, and the user quotes the other.
    fs::write(
        tree.join("other.py"),
        "    checked = [int(n) for n in numbers]\n",
    )
    .unwrap();
    view.git(&["add", "-A"]).await;
    view.git(&["commit", "-qm", "more"]).await;
    view.git(&["reflog", "expire", "--expire=now", "--all"])
        .await;
    view.instance.problem_statement = "I expected `return sum_of_all(checked)`.".to_owned();
    fs::write(view.place.home.join("a"), GOLD).unwrap();
    assert_eq!(view.found().await, Vec::<String>::new());

    fs::write(tree.join("gold.patch"), TESTS).unwrap();
    view.git(&["add", "-A"]).await;
    view.git(&["commit", "-qm", "careless"]).await;
    view.git(&["reflog", "expire", "--expire=now", "--all"])
        .await;
    assert_eq!(
        view.found().await,
        [
            "the base's file gold.patch, as a patch holds a line of the tests: assert sum.total([1, 2, 3]) == 6"
        ]
    );
}

fn steps(calls: &[(&str, serde_json::Value)]) -> Trajectory {
    let turn = |(name, arguments): &(&str, serde_json::Value)| Turn {
        source: Author::Agent,
        at: None,
        text: String::new(),
        reasoning: None,
        calls: vec![Call {
            id: String::new(),
            name: (*name).to_owned(),
            arguments: arguments.clone(),
            result: None,
            is_error: false,
        }],
        usage: None,
    };
    Trajectory {
        turns: calls.iter().map(turn).collect(),
        ..Trajectory::default()
    }
}

#[test]
fn fault_n01_steps_that_look_for_answers_are_told_with_their_words() {
    let cases = [
        ("git log --oneline --all | head", "later history"),
        ("cd sub && git -C . reflog", "later history"),
        ("git fsck --lost-found", "later history"),
        (
            "git cat-file --batch-all-objects --batch-check",
            "later history",
        ),
        ("git stash list", "later history"),
        ("git show ORIG_HEAD", "later history"),
        ("git show origin/main:src/a.py", "later history"),
        ("git fetch origin", "the project's repository"),
        (
            "git clone https://github.com/pallets/flask /tmp/x",
            "the project's repository",
        ),
        (
            "curl -sL https://github.com/pallets/flask/pull/4992.diff",
            "the project's repository",
        ),
        ("gh pr view 4992", "the project's repository"),
        ("pip download flask==2.3", "a release of the project"),
        (
            "python -m pip install git+ssh://a/b",
            "a release of the project",
        ),
        ("ls ~/.cache/hames/mirrors/", "the benchmark's files"),
        ("grep -r FAIL_TO_PASS /", "the benchmark's files"),
        (
            "cat /usr/lib/python3/site-packages/flask/config.py",
            "installed copies",
        ),
    ];
    for (command, what) in cases {
        let found = peeking(&steps(&[("bash", json!({"command": command}))]));
        assert_eq!(found, [format!("turn 1: bash looks for {what}: {command}")]);
    }
    let found = peeking(&steps(&[
        ("read", json!({"path": "a.py"})),
        (
            "web_fetch",
            json!({"urls": ["https://api.github.com/repos/a/b/pulls/1"]}),
        ),
    ]));
    let expected = "turn 2: web_fetch looks for the project's repository: https://api.github.com/repos/a/b/pulls/1";
    assert_eq!(found, [expected]);
}

#[test]
fn steps_of_honest_work_are_no_peeking() {
    for command in [
        "git log --oneline -5",
        "git log -p src/a.py",
        "git diff && git status --all-match; git stash",
        "git show HEAD~2",
        "git grep origin",
        "pip install -e .",
        "python -m pytest tests/test_config.py",
        "grep -rn 'download' src && pip list",
        "git checkout -b fix-all",
    ] {
        let found = peeking(&steps(&[("bash", json!({"command": command}))]));
        assert_eq!(found, Vec::<String>::new(), "{command}");
    }
    let written = json!({"path": "README.md", "content": "see https://github.com/a/b/pull/1"});
    assert_eq!(peeking(&steps(&[("write", written)])), Vec::<String>::new());
}
