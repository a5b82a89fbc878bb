//! S5 on trees that were left in every state: what is taken, what is left out, and that the patch laid
//! on a clean base gives the same tree (W-13's law).

mod steps;

use std::{
    collections::BTreeMap,
    fs,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use hames_eval::{
    experiment::TrialDir,
    patch::{Extracted, noise_of},
    prediction,
    stage::StageError,
    stages::s5_patch::{self, PatchContext},
};

use crate::{ground::Ground, solving::World};

/// The base that all cases begin from.
const BASE: &str = r#"
printf 'def double(n):\n    return n + n + 1\n' > code.py
mkdir -p 'docs' deep/a/b vendor/node_modules
printf 'hello\n' > 'docs/read me.md'
printf 'one\r\ntwo\r\nthree\r\n' > crlf.txt
printf 'no end' > unended.txt
printf 'caf\351\nole\n' > latin.txt
printf '\000\001\002\377binary' > data.bin
printf 'c\n' > deep/a/b/c.txt
printf 'x\n' > vendor/node_modules/x.js
: > empty
printf '#!/bin/sh\n' > run.sh; chmod +x run.sh
ln -s code.py link
printf '*.log\nbuild/\n' > .gitignore
"#;

/// What an agent did, which paths the patch is about, and what is told as left out.
struct Case {
    name: &'static str,
    script: &'static str,
    files: &'static [&'static str],
    filtered: &'static [&'static str],
}

const fn case(
    name: &'static str,
    script: &'static str,
    files: &'static [&'static str],
    filtered: &'static [&'static str],
) -> Case {
    Case {
        name,
        script,
        files,
        filtered,
    }
}

const CASES: [Case; 55] = [
    case("nothing", "true", &[], &[]),
    case("touched", "touch code.py; git status", &[], &[]),
    case("unstaged", "echo x >> code.py", &["code.py"], &[]),
    case("staged", "echo x >> code.py; git add -A", &["code.py"], &[]),
    case(
        "staged, then changed again",
        "echo x >> code.py; git add -A; echo y >> code.py",
        &["code.py"],
        &[],
    ),
    case(
        "staged, then undone",
        "echo x >> code.py; git add -A; git show HEAD:code.py > code.py",
        &[],
        &[],
    ),
    case(
        "committed twice",
        "echo x >> code.py; git commit -qam 1; echo y > new; git add new; git commit -qm 2",
        &["code.py", "new"],
        &[],
    ),
    case(
        "base amended",
        "echo x >> code.py; git commit -qa --amend -m other",
        &["code.py"],
        &[],
    ),
    case(
        "committed and reset softly",
        "echo x >> code.py; git commit -qam 1; git reset -q --soft HEAD~1",
        &["code.py"],
        &[],
    ),
    case(
        "another branch",
        "git checkout -qb other; echo x >> code.py; git commit -qam 1",
        &["code.py"],
        &[],
    ),
    case(
        "detached",
        "git checkout -q --detach; echo x >> code.py; git commit -qam 1",
        &["code.py"],
        &[],
    ),
    case(
        "an orphan branch",
        "git checkout -q --orphan alone; echo x >> code.py; git commit -qam 1; git branch -D main master",
        &["code.py"],
        &[],
    ),
    case(
        "a merge under way",
        "git checkout -qb a; echo a >> code.py; git commit -qam a; git checkout -qb b HEAD~1; echo b >> code.py; git commit -qam b; git merge a",
        &["code.py"],
        &[],
    ),
    case(
        "new",
        "echo x > new.py; mkdir -p pkg/sub; echo y > pkg/sub/mod.py",
        &["new.py", "pkg/sub/mod.py"],
        &[],
    ),
    case(
        "new and ignored",
        "echo x > a.log; mkdir build; echo y > build/out; git add -f a.log",
        &[],
        &["a.log (ignored)", "build/ (ignored)"],
    ),
    case(
        "a rule of the agent's own",
        "echo made/ >> .gitignore; mkdir made; echo x > made/x",
        &[".gitignore"],
        &["made/ (ignored)"],
    ),
    case(
        "hidden by the repository alone",
        "mkdir -p .git/info; echo secret.py > .git/info/exclude; git config core.excludesFile /dev/stdin; echo x > secret.py",
        &["secret.py"],
        &[],
    ),
    case(
        "hidden in the index",
        "git update-index --assume-unchanged code.py; git update-index --skip-worktree latin.txt; echo x >> code.py; echo y >> latin.txt",
        &["code.py", "latin.txt"],
        &[],
    ),
    case(
        "binary changed",
        r"printf '\000\377\376' >> data.bin",
        &["data.bin"],
        &[],
    ),
    case(
        "binary new",
        r"printf '\000\377\376\n\r' > new.bin; head -c 100000 /dev/urandom > big.bin",
        &["big.bin", "new.bin"],
        &[],
    ),
    case("binary gone", "rm data.bin", &["data.bin"], &[]),
    case(
        "renamed",
        "git mv code.py lib.py; mv deep/a/b moved",
        &["code.py", "deep/a/b/c.txt", "lib.py", "moved/c.txt"],
        &[],
    ),
    case(
        "renamed by case",
        "git mv code.py Code.py",
        &["Code.py", "code.py"],
        &[],
    ),
    case(
        "executable",
        "chmod +x code.py; chmod -x run.sh",
        &["code.py", "run.sh"],
        &[],
    ),
    case(
        "executable and changed",
        "chmod +x code.py; echo x >> code.py",
        &["code.py"],
        &[],
    ),
    case(
        "a new link",
        "ln -s ../out 'docs/out'; ln -s docs folder",
        &["docs/out", "folder"],
        &[],
    ),
    case("another link", "ln -sfn latin.txt link", &["link"], &[]),
    case(
        "a link for a file",
        "rm code.py; ln -s run.sh code.py",
        &["code.py"],
        &[],
    ),
    case(
        "a file for a link",
        "rm link; echo file > link",
        &["link"],
        &[],
    ),
    case(
        "a folder for a file",
        "rm code.py; mkdir code.py; echo x > code.py/inner",
        &["code.py", "code.py/inner"],
        &[],
    ),
    case(
        "a file for a folder",
        "rm -r deep; echo x > deep",
        &["deep", "deep/a/b/c.txt"],
        &[],
    ),
    case(
        "a link for a folder",
        "mv docs real; ln -s real docs",
        &["docs", "docs/read me.md", "real/read me.md"],
        &[],
    ),
    case(
        "carriage returns kept",
        r"printf 'four\r\n' >> crlf.txt",
        &["crlf.txt"],
        &[],
    ),
    case(
        "carriage returns taken out",
        "tr -d '\\r' < crlf.txt > t; mv t crlf.txt",
        &["crlf.txt"],
        &[],
    ),
    case(
        "carriage returns put in",
        r"sed -i 's/$/\r/' code.py; printf 'a\rb\r\n' > new.txt",
        &["code.py", "new.txt"],
        &[],
    ),
    case(
        "no final newline, still",
        "printf ', still' >> unended.txt",
        &["unended.txt"],
        &[],
    ),
    case(
        "a final newline",
        "echo >> unended.txt; printf 'end' >> code.py",
        &["code.py", "unended.txt"],
        &[],
    ),
    case(
        "not ASCII",
        "printf 'ça\\n' > 'naïve ☃.txt'; mkdir 日本; echo x > 日本/語",
        &["naïve ☃.txt", "日本/語"],
        &[],
    ),
    case(
        "odd names",
        "for n in 'a\"b' \"a'b\" 'a\\b' '-n' ' lead' 'tail ' 'a\tb' '*' '[x]' '#c' '!e' ':(top)' \"$(printf 'a\\nb')\"; do printf '%s' x > \"./$n\"; done",
        &["\ttab", "*"],
        &[],
    ),
    case(
        "names and lines that are no UTF-8",
        "printf 'x' > \"$(printf 'b\\351d')\"; printf 'caf\\351' > \"$(printf 'a\\351\"*?[\\\\z')\"; printf 'ol\\351\\n' >> latin.txt; printf 'caf\\351\\n' > 'odd \"*[x]\\.txt'; echo fine >> code.py",
        &["\ttab", "*"],
        &[],
    ),
    case(
        "no UTF-8, and another type",
        "rm link; printf 'caf\\351\\n' > link; printf 'caf\\351\\n' > z.txt; rm empty; ln -s code.py empty",
        &["empty", "link", "z.txt"],
        &[],
    ),
    case(
        "gone",
        "rm code.py; rm -r deep docs",
        &["code.py", "deep/a/b/c.txt", "docs/read me.md"],
        &[],
    ),
    case(
        "empty",
        ": > new; : > code.py; mkdir folder",
        &["code.py", "new"],
        &[],
    ),
    case(
        "a repository inside",
        "mkdir dep; cd dep; git init -q; echo x > x.py; git add -A; git -c user.name=a -c user.email=a@a commit -qm 1; mkdir inner; cd inner; git init -q; echo y > y.py; cd ../..; git add -A",
        &["dep/inner/y.py", "dep/x.py"],
        &[],
    ),
    case(
        "a worktree inside",
        "git worktree add -q wt; echo x > wt/new.py; mkdir .GIT; echo x > .GIT/x",
        &["wt/.gitignore", "*"],
        &["wt/vendor/node_modules/ (packages)"],
    ),
    case(
        "locked away",
        "echo x > secret; chmod 000 secret; mkdir vault; echo y > vault/y; chmod 000 vault; chmod 000 code.py; echo z >> docs/z; chmod 000 docs",
        &["docs/z", "secret", "vault/y"],
        &[],
    ),
    case(
        "the repository gone",
        "rm -rf .git; echo x >> code.py",
        &["code.py"],
        &[],
    ),
    case(
        "the repository damaged",
        "echo rubbish > .git/HEAD; echo rubbish > .git/index; touch .git/index.lock; find .git/objects -type f | while read f; do chmod +w $f; echo rubbish > $f; done; echo x >> code.py",
        &["code.py"],
        &[],
    ),
    case(
        "the repository is a file",
        "rm -rf .git; echo 'gitdir: /nowhere' > .git; echo x >> code.py",
        &["code.py"],
        &[],
    ),
    case(
        "a repository that means harm",
        "d=$(pwd); printf '#!/bin/sh\\ntouch %s/../harm\\n' $d > ../evil; chmod +x ../evil; mkdir h; for k in core.fsmonitor diff.external core.pager diff.x.textconv filter.x.clean filter.x.smudge core.sshCommand; do git config $k $d/../evil; done; git config core.autocrlf true; git config core.hooksPath $d/..; git config core.worktree /tmp; mkdir -p .git/info; echo '* filter=x diff=x' > .git/info/attributes; echo x >> code.py; rmdir h",
        &["code.py"],
        &[],
    ),
    case(
        "attributes of the agent's own",
        "printf '*.py -diff filter=x\\n*.txt text eol=crlf\\n* export-ignore\\n' > .gitattributes; echo x >> code.py; printf 'a\\r\\nb\\n' > mixed.txt",
        &[".gitattributes", "code.py", "mixed.txt"],
        &[],
    ),
    case(
        "too large",
        "head -c 11000000 /dev/zero > huge.bin; echo x > small",
        &["small"],
        &["huge.bin (10 MiB)"],
    ),
    case(
        "a link that git does not take",
        "ln -s code.py .gitmodules; echo x > small",
        &["small"],
        &[".gitmodules (git does not take it)"],
    ),
    case(
        "links in circles",
        "ln -s . self; ln -s two one; ln -s one two; echo x > small",
        &["one", "self", "small", "two"],
        &[],
    ),
    case(
        "no files at all",
        "mkfifo pipe; rm code.py; mkfifo code.py; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")' || mkfifo sock",
        &["code.py"],
        &["code.py (no file)", "pipe (no file)", "sock (no file)"],
    ),
];

/// What of it is noise, apart from the cases above: many of a kind are told as one.
const NOISE: &str = "mkdir -p pkg/__pycache__ .venv/lib node_modules/a/b x.egg-info .claude .qwen .hames/deep .aider.cache; \
    for f in pkg/__pycache__/a.pyc pkg/__pycache__/b.pyc .venv/lib/a .venv/lib/b node_modules/a/b/c x.egg-info/PKG-INFO \
    .claude/x .qwen/x .hames/deep/x .aider.chat.history.md .DS_Store left.orig a.swp; do echo x > $f; done; \
    echo changed > vendor/node_modules/x.js; echo work > pkg/work.py; echo fine > reorig; echo fine > aider.py";

async fn world() -> World {
    let ground = Ground::new();
    let source = ground.folder("source");
    ground
        .git(&source, &["init", "--quiet", "--initial-branch=main"])
        .await;
    sh(&source, BASE);
    World::of_tree(ground, &source).await
}

/// As an agent would, with a name to commit under.
fn sh(tree: &Path, script: &str) {
    let mut command = Command::new("sh");
    for name in ["GIT_AUTHOR", "GIT_COMMITTER"] {
        command.env(format!("{name}_NAME"), "agent");
        command.env(format!("{name}_EMAIL"), "agent@localhost");
    }
    let output = command
        .args(["-c", script])
        .current_dir(tree)
        .output()
        .unwrap();
    let _ = output;
}

/// What a tree holds: kind, whether it can be executed, and content, by path.
fn contents(tree: &Path) -> BTreeMap<String, (char, bool, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut open = vec![tree.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = fs::symlink_metadata(&path).unwrap();
            let inside = path.strip_prefix(tree).unwrap();
            if inside == Path::new(".git") {
                continue;
            }
            let name = format!("{:?}", inside.as_os_str());
            if meta.is_dir() {
                open.push(path);
            } else if meta.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                found.insert(name, ('l', false, target.as_os_str().as_bytes().to_vec()));
            } else {
                let executable = meta.permissions().mode() & 0o100 != 0;
                found.insert(name, ('f', executable, fs::read(&path).unwrap()));
            }
        }
    }
    found
}

/// The tree that the patch makes of a clean base.
async fn made(world: &World, patch: &str) -> BTreeMap<String, (char, bool, Vec<u8>)> {
    let clean = world.ground.path("clean");
    world.lay_out_in(&clean).await;
    if !patch.is_empty() {
        let file = world.ground.path("model.patch");
        fs::write(&file, patch).unwrap();
        let apply = ["apply", "--whitespace=nowarn", file.to_str().unwrap()];
        world.ground.git(&clean, &apply).await;
    }
    contents(&clean)
}

/// What is there beyond what was told as left out.
fn work_in(tree: &Path, filtered: &[String]) -> BTreeMap<String, (char, bool, Vec<u8>)> {
    let mut work = contents(tree);
    for told in filtered {
        let path = told.rsplit_once(" (").unwrap().0;
        let own = format!("{path:?}");
        match path.ends_with('/') {
            true => work.retain(|name, _| !name.starts_with(own.trim_end_matches('"'))),
            false => drop(work.remove(&own)),
        }
    }
    work
}

/// Takes the work, and holds it against the law.
async fn lawful(world: &World, name: &str) -> Extracted {
    let extracted = world
        .extract()
        .await
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let facts = &extracted.facts;
    let work = work_in(&world.place.tree, &facts.filtered);
    let made = made(world, &extracted.patch).await;
    let differ: Vec<_> = work
        .keys()
        .chain(made.keys())
        .filter(|path| work.get(*path) != made.get(*path))
        .collect();
    assert!(differ.is_empty(), "{name}: {differ:?}\n{}", extracted.patch);
    let is_empty = extracted.patch.is_empty();
    assert_eq!(facts.applies_to_base, (!is_empty).then_some(true), "{name}");
    assert_eq!(facts.from, if is_empty { "none" } else { "tree" }, "{name}");
    assert_eq!(facts.bytes, extracted.patch.len(), "{name}");
    assert!(!world.ground.path("scratch").exists(), "{name}");
    extracted
}

#[tokio::test]
async fn req_w13_whatever_was_done_to_a_tree_the_patch_gives_it_again() {
    let world = world().await;
    for case in CASES {
        world.lay_out().await;
        sh(&world.place.tree, case.script);
        let extracted = lawful(&world, case.name).await;
        let facts = extracted.facts;
        assert_eq!(facts.filtered, case.filtered, "{}", case.name);
        // For many and unreadable names the law alone has to do.
        if case.files.last() != Some(&"*") {
            assert_eq!(facts.files, case.files, "{}", case.name);
        }
        assert!(!world.ground.path("work/harm").exists(), "{}", case.name);
    }
}

#[tokio::test]
async fn req_w13_noise_is_left_out_and_told_and_a_file_of_the_base_never_is() {
    let world = world().await;
    sh(&world.place.tree, NOISE);
    let extracted = lawful(&world, "noise").await;
    let expected = [
        ".DS_Store (desktop)",
        ".aider.chat.history.md (agent's own)",
        ".claude/ (agent's own)",
        ".hames/ (agent's own)",
        ".qwen/ (agent's own)",
        ".venv/ (environment)",
        "a.swp (editor)",
        "left.orig (left by a patch)",
        "node_modules/ (packages)",
        "pkg/__pycache__/ (bytecode)",
        "x.egg-info/ (build)",
    ];
    assert_eq!(extracted.facts.filtered, expected);
    let files = [
        "aider.py",
        "pkg/work.py",
        "reorig",
        "vendor/node_modules/x.js",
    ];
    assert_eq!(extracted.facts.files, files);
    assert_eq!((extracted.facts.added, extracted.facts.removed), (4, 1));
    assert_eq!(
        noise_of("a/.aider.x/b").map(|noise| noise.pattern),
        Some(".aider*")
    );
    assert_eq!(noise_of("a/xaider/b"), None);
}

/// A base whose own attributes say how lines end, and that does not keep to them itself.
#[tokio::test]
async fn req_w13_the_bases_own_attributes_count_and_what_nobody_touched_is_no_work() {
    let ground = Ground::new();
    let source = ground.folder("source");
    ground.git(&source, &["init", "--quiet"]).await;
    sh(
        &source,
        "printf 'a\\r\\nb\\r\\n' > old.txt; printf 'a\\r\\nb\\r\\n' > other.txt; printf 'x\\n' > code.py; git add -A; git commit -qm raw;\
         printf '*.txt text\\n*.win text eol=crlf\\n' > .gitattributes; printf 'a\\nb\\n' > file.win",
    );
    // As it is committed, the texts keep their carriage returns.
    let attributes = fs::read(source.join(".gitattributes")).unwrap();
    ground
        .git(&source, &["add", ".gitattributes", "file.win"])
        .await;
    fs::write(source.join(".gitattributes"), attributes).unwrap();
    ground
        .git(&source, &["commit", "--quiet", "-m", "base"])
        .await;
    let mirror = ground.path("mirror");
    let clone = [
        "clone",
        "--quiet",
        "--bare",
        source.to_str().unwrap(),
        mirror.to_str().unwrap(),
    ];
    ground.git(&source, &clone).await;
    let head = ground.git(&source, &["rev-parse", "HEAD"]).await;
    let mut world = World::new().await;
    world.mirror = mirror;
    world.checkout.head = head.trim().to_owned();
    fs::remove_dir_all(world.ground.path("pristine")).unwrap();
    world.lay_out().await;
    let tree = world.place.tree.clone();
    assert_eq!(fs::read(tree.join("file.win")).unwrap(), b"a\r\nb\r\n");

    assert_eq!(lawful(&world, "untouched").await.patch, "");
    sh(&tree, "printf 'c\\r\\n' >> file.win; echo y >> code.py");
    let extracted = lawful(&world, "touched").await;
    assert_eq!(extracted.facts.files, ["code.py", "file.win"]);
    assert!(extracted.patch.contains("\n+c\n"), "{}", extracted.patch);
    // A second look finds the same.
    assert_eq!(lawful(&world, "again").await, extracted);
}

/// Reading it would take longer than all else.
#[tokio::test]
async fn req_w13_a_file_of_the_base_that_grew_beyond_measure_is_left_out_unread() {
    let world = world().await;
    sh(&world.place.tree, "truncate -s 3T code.py; echo x > small");
    // To read it takes hours: a minute tells that it was begun.
    let extracted = tokio::time::timeout(Duration::from_secs(60), world.extract());
    let extracted = extracted.await.expect("it is not read").unwrap();
    assert_eq!(extracted.facts.files, ["small"]);
    assert_eq!(extracted.facts.filtered, ["code.py (3145728 MiB)"]);
    assert_eq!(extracted.facts.applies_to_base, Some(true));
}

/// No path leads to the end of it, so no patch can.
#[tokio::test]
async fn req_w13_folders_too_deep_for_a_path_are_left_out_and_told() {
    let world = world().await;
    sh(
        &world.place.tree,
        "echo x >> code.py; i=0; n=$(printf '%0200d' 0); while [ $i -lt 30 ]; do mkdir $n && cd -P $n || exit; i=$((i + 1)); done; echo x > end",
    );
    let extracted = world.extract().await.unwrap();
    assert_eq!(extracted.facts.files, ["code.py"]);
    let [told] = extracted.facts.filtered.as_slice() else {
        panic!("{:?}", extracted.facts.filtered);
    };
    assert!(
        told.starts_with("0000") && told.ends_with("/ (too deep)"),
        "{told}"
    );
    assert!(!world.ground.path("scratch").exists());
}

#[tokio::test]
async fn a_tree_that_is_gone_is_no_work_and_one_that_was_cleared_away_is_said() {
    let world = world().await;
    let tree = &world.place.tree;
    fs::remove_dir_all(tree).unwrap();
    let gone = world.extract().await.unwrap();
    assert_eq!((gone.patch.as_str(), gone.facts.filtered.len()), ("", 1));
    // Nobody is led elsewhere.
    std::os::unix::fs::symlink(world.ground.path("source"), tree).unwrap();
    assert_eq!(world.extract().await.unwrap(), gone);
    fs::remove_dir_all(tree.parent().unwrap()).unwrap();
    let refused = run(&world, None).await.unwrap_err();
    assert!(refused.to_string().contains("--force S4"), "{refused}");
}

async fn run(world: &World, printed: Option<&str>) -> Result<Extracted, StageError> {
    s5_patch::run(&PatchContext {
        instance_id: "owner__demo-1",
        model_name: "maker/model",
        checkout: &world.checkout,
        mirror: &world.mirror,
        printed,
        scratch: &world.ground.path("scratch"),
        trial: &world.trial,
        around: &world.ground.around(),
    })
    .await
}

fn written(trial: &TrialDir) -> (String, Option<String>) {
    let predictions = prediction::read(&trial.prediction()).unwrap();
    let own = &predictions[0];
    let names = (own.instance_id.as_str(), own.model_name_or_path.as_str());
    assert_eq!(
        (predictions.len(), names),
        (1, ("owner__demo-1", "maker/model"))
    );
    let patch = fs::read_to_string(trial.model_patch()).unwrap();
    (patch, own.model_patch.clone())
}

#[tokio::test]
async fn s5_writes_patch_and_prediction_and_takes_a_printed_diff_where_the_tree_is_unchanged() {
    let world = world().await;
    let printed = "--- a/code.py\n+++ b/code.py\n@@ -1,2 +1,2 @@\n def double(n):\n-    return n + n + 1\n+    return n + n";
    let empty = run(&world, None).await.unwrap();
    assert_eq!(
        (empty.patch.as_str(), empty.facts.applies_to_base),
        ("", None)
    );
    assert_eq!(written(&world.trial), (String::new(), Some(String::new())));

    let extracted = run(&world, Some(printed)).await.unwrap();
    let facts = &extracted.facts;
    assert_eq!(extracted.patch, format!("{printed}\n"));
    assert_eq!(
        (
            facts.from.as_str(),
            facts.applies_to_base,
            facts.added,
            facts.removed
        ),
        ("printed", Some(true), 1, 1)
    );
    assert_eq!(facts.files, ["code.py"]);
    assert_eq!(
        written(&world.trial),
        (extracted.patch.clone(), Some(extracted.patch))
    );
    let wrong = run(&world, Some(&printed.replace("double", "triple")))
        .await
        .unwrap();
    assert_eq!(wrong.facts.applies_to_base, Some(false));

    // What was made goes before what was said.
    sh(
        &world.place.tree,
        "printf 'caf\\351\\r\\n' > latin-new; echo x >> code.py",
    );
    let extracted = run(&world, Some(printed)).await.unwrap();
    assert_eq!(extracted.facts.from, "tree");
    assert_eq!(
        written(&world.trial),
        (extracted.patch.clone(), Some(extracted.patch))
    );
}

#[tokio::test]
async fn the_base_is_taken_from_the_mirror_first_and_from_the_tree_where_there_is_none() {
    let mut world = world().await;
    sh(&world.place.tree, "echo x >> code.py");
    let from_mirror = world.extract().await.unwrap();
    let mirror = std::mem::replace(&mut world.mirror, PathBuf::from("/nowhere"));
    assert_eq!(world.extract().await.unwrap(), from_mirror);
    fs::remove_dir_all(world.place.tree.join(".git")).unwrap();
    let refused = world.extract().await.unwrap_err();
    assert!(
        matches!(refused, StageError::Infrastructure(_)),
        "{refused}"
    );
    world.mirror = mirror;
    assert_eq!(world.extract().await.unwrap(), from_mirror);
}
