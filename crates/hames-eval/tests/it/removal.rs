//! Trees that an agent locked go all the same.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use hames_eval::removal::{remove_tree, unlock};

fn lock(folder: &Path, mode: u32) {
    fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
}

/// A module cache that nobody may write to, and a folder that nobody may enter.
fn locked_tree(root: &Path) -> std::path::PathBuf {
    let tree = root.join("home");
    fs::create_dir_all(tree.join("go/pkg/mod/inner")).unwrap();
    fs::create_dir_all(tree.join("shut")).unwrap();
    fs::write(tree.join("go/pkg/mod/inner/file.go"), "package x").unwrap();
    fs::write(tree.join("shut/file"), "").unwrap();
    for (folder, mode) in [
        ("go/pkg/mod/inner", 0o555),
        ("go/pkg/mod", 0o555),
        ("shut", 0),
    ] {
        lock(&tree.join(folder), mode);
    }
    tree
}

#[test]
fn a_tree_of_locked_folders_is_removed_and_nothing_beyond_its_links() {
    let root = tempfile::tempdir().unwrap();
    let tree = locked_tree(root.path());
    let beside = root.path().join("beside");
    fs::create_dir(&beside).unwrap();
    fs::write(beside.join("kept"), "").unwrap();
    std::os::unix::fs::symlink(&beside, tree.join("link")).unwrap();
    remove_tree(&tree).unwrap();
    assert!(!tree.exists() && beside.join("kept").exists());
}

/// Root is stopped by no mode: what others need is looked at by itself.
#[test]
fn its_owner_gets_into_every_folder_and_into_no_link() {
    let root = tempfile::tempdir().unwrap();
    let tree = locked_tree(root.path());
    let beside = root.path().join("beside");
    fs::create_dir(&beside).unwrap();
    lock(&beside, 0o555);
    std::os::unix::fs::symlink(&beside, tree.join("link")).unwrap();
    unlock(&tree).unwrap();
    let mode = |folder: &Path| fs::metadata(folder).unwrap().permissions().mode() & 0o777;
    for (folder, expected) in [
        ("go/pkg/mod/inner", 0o755),
        ("go/pkg/mod", 0o755),
        ("shut", 0o700),
    ] {
        assert_eq!(mode(&tree.join(folder)), expected, "{folder}");
    }
    assert_eq!(mode(&beside), 0o555);
}
