//! Mirrors and checkouts, with real git: a base is all that can be read in a checkout.

use std::{fs, path::Path};

use hames_eval::{
    instance::Source,
    repository::{Depth, Mirrored, clone, mirror},
    stage::StageError,
};

use crate::ground::{Ground, files_below, instance};

/// A repository with a past, and with everything that can come after a base.
async fn busy(ground: &Ground) -> (std::path::PathBuf, String) {
    let origin = ground.folder("origin");
    ground.git(&origin, &["init", "-q", "-b", "trunk"]).await;
    let commit = async |name: &str, text: &str| {
        fs::write(origin.join(name), text).unwrap();
        ground.git(&origin, &["add", "-A"]).await;
        ground.git(&origin, &["commit", "-qm", name]).await;
        ground.git(&origin, &["rev-parse", "HEAD"]).await
    };
    commit("past.txt", "PAST").await;
    let base = commit("base.txt", "BASE").await;
    ground.git(&origin, &["tag", "v1"]).await;
    commit("later.txt", "THE-FIX in a later commit").await;
    ground
        .git(&origin, &["tag", "-a", "-m", "THE-FIX in a tag", "v2"])
        .await;
    ground
        .git(&origin, &["notes", "add", "-m", "THE-FIX in a note", &base])
        .await;
    ground
        .git(&origin, &["checkout", "-q", "-b", "side", &base])
        .await;
    commit("side.txt", "THE-FIX on another branch").await;
    fs::write(origin.join("base.txt"), "THE-FIX in a stash").unwrap();
    ground.git(&origin, &["stash", "-q"]).await;
    fs::write(
        origin.join(".git/hooks/post-checkout"),
        "#!/bin/sh\necho THE-FIX",
    )
    .unwrap();
    (origin, base)
}

fn git_source(origin: &Path, commit: &str) -> Source {
    Source::Git {
        url: Some(origin.to_string_lossy().into_owned()),
        commit: commit.to_owned(),
    }
}

#[tokio::test]
async fn req_w12_fault_n01_a_checkout_holds_nothing_that_came_after_its_base() {
    let ground = Ground::new();
    let (origin, base) = busy(&ground).await;
    let instance = instance("demo", git_source(&origin, &base));
    let mirrored = mirror(&instance, Path::new("python3"), &ground.around())
        .await
        .unwrap();
    assert_eq!(mirrored.commit, base);
    let tree = ground.path("tree");
    clone(&mirrored, &tree, Depth::Whole, &ground.around())
        .await
        .unwrap();

    // The past is there, as in the official images.
    let log = ground.git(&tree, &["log", "--all", "--format=%s"]).await;
    assert_eq!(log, "base.txt\npast.txt");
    let refs = ground
        .git(
            &tree,
            &["for-each-ref", "--format=%(refname) %(objectname)"],
        )
        .await;
    assert_eq!(refs, format!("refs/heads/main {base}"));
    assert_eq!(ground.git(&tree, &["status", "--porcelain"]).await, "");
    assert_eq!(ground.git(&tree, &["remote"]).await, "");
    assert_eq!(
        ground
            .git(&tree, &["fsck", "--unreachable", "--no-reflogs"])
            .await,
        ""
    );
    let objects = ground
        .git(
            &tree,
            &[
                "cat-file",
                "--batch-all-objects",
                "--batch-check=%(objecttype)",
            ],
        )
        .await;
    let count = |kind: &str| objects.lines().filter(|line| *line == kind).count();
    assert_eq!(
        (count("commit"), count("tree"), count("blob"), count("tag")),
        (2, 2, 2, 0)
    );
    // Nothing of git's own files leads back, and there are no hooks, reflogs and leftovers.
    let own = files_below(&tree.join(".git"));
    let cache = ground.cache().to_string_lossy().into_owned();
    for (name, bytes) in &own {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains(&cache), "{name} names the mirror");
        assert!(!text.contains("origin"), "{name} names the origin");
        assert!(!text.contains("THE-FIX"), "{name}");
    }
    let names: Vec<&str> = own.iter().map(|(name, _)| name.as_str()).collect();
    for absent in [
        "logs/",
        "hooks/",
        "FETCH_HEAD",
        "ORIG_HEAD",
        "packed-refs",
        "alternates",
    ] {
        assert!(
            !names.iter().any(|name| name.contains(absent)),
            "{absent}: {names:?}"
        );
    }
}

#[tokio::test]
async fn a_mirror_is_made_once_and_fetched_again_for_a_commit_that_is_new() {
    let ground = Ground::new();
    let (origin, base) = busy(&ground).await;
    let python = Path::new("python3");
    let cx = ground.around();
    let first = mirror(&instance("demo", git_source(&origin, &base)), python, &cx)
        .await
        .unwrap();
    let side = ground.git(&origin, &["rev-parse", "side"]).await;
    fs::rename(&origin, ground.path("elsewhere")).unwrap();
    let known = mirror(&instance("demo", git_source(&origin, &side)), python, &cx)
        .await
        .unwrap();
    assert_eq!(known.repository, first.repository);
    fs::rename(ground.path("elsewhere"), &origin).unwrap();

    fs::write(origin.join("new.txt"), "new").unwrap();
    ground.git(&origin, &["add", "-A"]).await;
    ground.git(&origin, &["commit", "-qm", "new"]).await;
    let new = ground.git(&origin, &["rev-parse", "HEAD"]).await;
    let short = new.get(..12).unwrap();
    let fetched = mirror(&instance("demo", git_source(&origin, short)), python, &cx)
        .await
        .unwrap();
    assert_eq!(
        (fetched.repository, fetched.commit),
        (first.repository, new)
    );
}

#[tokio::test]
async fn what_a_source_does_not_have_is_bad_input() {
    let ground = Ground::new();
    let (origin, _) = busy(&ground).await;
    let python = Path::new("python3");
    for (source, expected) in [
        (git_source(&origin, &"1".repeat(40)), "has no commit \"1111"),
        (
            git_source(&ground.path("nowhere"), "main"),
            "there is no repository",
        ),
        (
            Source::Folder {
                path: ground.path("nowhere"),
            },
            "there is no folder",
        ),
    ] {
        let refused = mirror(&instance("demo", source), python, &ground.around()).await;
        let Err(StageError::BadInput(message)) = refused else {
            panic!("{refused:?}");
        };
        assert!(message.contains(expected), "{message}");
    }
}

#[tokio::test]
async fn a_folder_becomes_the_same_commit_on_every_machine() {
    let ground = Ground::new();
    let cx = ground.around();
    let mut commits = Vec::new();
    for name in ["one", "two"] {
        let folder = ground.folder(name);
        fs::write(folder.join(".gitignore"), "ignored.txt\n").unwrap();
        fs::write(folder.join("ignored.txt"), "kept").unwrap();
        fs::write(folder.join("größe"), "a\r\nb").unwrap();
        fs::write(folder.join("run.sh"), "#!/bin/sh\n").unwrap();
        ground.make_executable(&folder.join("run.sh"));
        fs::create_dir(folder.join(".git")).unwrap();
        fs::write(folder.join(".git/secret"), "THE-FIX").unwrap();
        let source = Source::Folder { path: folder };
        let mirrored = mirror(&instance("demo", source), Path::new("python3"), &cx)
            .await
            .unwrap();
        let tree = ground.path(&format!("{name}.tree"));
        clone(&mirrored, &tree, Depth::Whole, &cx).await.unwrap();
        let listed = ground
            .git(&tree, &["-c", "core.quotePath=false", "ls-files", "-s"])
            .await;
        let listed: Vec<String> = listed
            .lines()
            .map(|line| format!("{} {}", &line[..6], line.split('\t').nth(1).unwrap()))
            .collect();
        let expected = [
            "100644 .gitignore",
            "100644 größe",
            "100644 ignored.txt",
            "100755 run.sh",
        ];
        assert_eq!(listed, expected);
        assert_eq!(fs::read(tree.join("größe")).unwrap(), b"a\r\nb");
        commits.push(mirrored.commit);
    }
    // Written down: it must not depend on who, when and where.
    assert_eq!(commits, [COMMIT, COMMIT]);
}

const COMMIT: &str = "509f104aae8818beb0035295e73b08ddc9b596dc";

#[tokio::test]
async fn a_folder_that_changed_is_another_base() {
    let ground = Ground::new();
    let folder = ground.folder("task");
    let cx = ground.around();
    let base = async || {
        let source = Source::Folder {
            path: folder.clone(),
        };
        mirror(&instance("demo", source), Path::new("python3"), &cx)
            .await
            .unwrap()
    };
    fs::write(folder.join("a"), "1").unwrap();
    let first = base().await;
    assert_eq!(base().await, first);
    fs::write(folder.join("a"), "2").unwrap();
    assert_ne!(base().await, first);
}

#[tokio::test]
async fn a_checkout_is_made_in_an_empty_place_alone() {
    let ground = Ground::new();
    let base = Mirrored {
        repository: ground.path("mirror.git"),
        commit: "0".repeat(40),
    };
    let tree = ground.folder("tree");
    fs::write(tree.join("mine"), "").unwrap();
    let refused = clone(&base, &tree, Depth::Whole, &ground.around()).await;
    assert!(matches!(refused, Err(StageError::BadInput(text)) if text.contains("is not empty")));
}

#[tokio::test]
async fn req_w11_what_a_kill_left_of_a_mirror_goes_when_it_is_made_again() {
    let ground = Ground::new();
    let (origin, base) = busy(&ground).await;
    let from = ground.folder("tree");
    fs::write(from.join("a.txt"), "a").unwrap();
    for source in [git_source(&origin, &base), Source::Folder { path: from }] {
        let instance = instance("demo", source);
        let python = Path::new("python3");
        let make = async || mirror(&instance, python, &ground.around()).await.unwrap();
        let first = make().await;
        fs::remove_dir_all(&first.repository).unwrap();
        let half = first.repository.with_extension("half");
        fs::create_dir_all(half.join("new.git/objects")).unwrap();
        assert_eq!(make().await, first);
        assert!(!half.exists());
    }
    let left = fs::read_dir(ground.cache().join("mirrors")).unwrap();
    let left = left.map(|entry| entry.unwrap().path());
    let mut kinds: Vec<_> = left
        .map(|path| path.extension().unwrap().to_owned())
        .collect();
    kinds.sort();
    assert_eq!(kinds, ["git", "git", "lock", "lock"]);
}
