//! Instructions from small trees of folders.

use super::*;

struct Tree(tempfile::TempDir);

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            let path = tree.at(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        tree
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(path)
    }

    fn read(&self, workspace: &str, home: Option<&str>) -> (Vec<String>, Vec<String>) {
        let home = home.map(|home| self.at(home));
        let Instructions { files, notes } = read(&self.at(workspace), home.as_deref());
        let top = format!("{}/", self.at("").to_string_lossy().trim_end_matches('/'));
        let short = |text: String| text.replace(&top, "");
        let files = files.into_iter();
        let files = files.map(|file| short(format!("{}={}", file.path.display(), file.text)));
        (files.collect(), notes.into_iter().map(short).collect())
    }
}

#[test]
fn from_the_repositorys_root_down_to_the_workspace() {
    let tree = Tree::new(&[
        ("AGENTS.md", "above the repository"),
        ("repo/.git/HEAD", ""),
        ("repo/AGENTS.md", "root"),
        ("repo/CLAUDE.md", "root claude"),
        ("repo/a/b/AGENTS.md", "near"),
        ("repo/a/CLAUDE.md", "middle"),
    ]);
    let files = [
        "repo/AGENTS.md=root",
        "repo/CLAUDE.md=root claude",
        "repo/a/CLAUDE.md=middle",
        "repo/a/b/AGENTS.md=near",
    ];
    assert_eq!(
        tree.read("repo/a/b", None),
        (files.map(str::to_owned).into(), Vec::new())
    );
}

#[test]
fn without_a_repository_up_to_home_or_not_at_all() {
    let tree = Tree::new(&[
        ("AGENTS.md", "strangers"),
        ("home/AGENTS.md", "mine"),
        ("home/w/AGENTS.md", "work"),
        ("tmp/w/AGENTS.md", "here"),
        ("tmp/AGENTS.md", "anybody's"),
    ]);
    let under_home = ["home/AGENTS.md=mine", "home/w/AGENTS.md=work"];
    let (files, _) = tree.read("home/w", Some("home"));
    assert_eq!(files, under_home);
    assert_eq!(tree.read("tmp/w", Some("home")).0, ["tmp/w/AGENTS.md=here"]);
}

#[test]
fn imports_follow_their_file_once_and_circles_are_cut() {
    let tree = Tree::new(&[
        ("w/.git/HEAD", ""),
        ("w/AGENTS.md", "agents"),
        (
            "w/CLAUDE.md",
            "@AGENTS.md and @docs/style.md, ask @alice `@docs/code.md`\n```\n@docs/code.md\n```",
        ),
        ("w/docs/style.md", "style @../CLAUDE.md @more.md"),
        ("w/docs/more.md", "more"),
        ("w/docs/code.md", "never"),
    ]);
    let (files, notes) = tree.read("w", None);
    let names: Vec<_> = files
        .iter()
        .map(|file| file.split('=').next().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "w/AGENTS.md",
            "w/CLAUDE.md",
            "w/docs/style.md",
            "w/docs/more.md"
        ]
    );
    assert_eq!(notes, [""; 0]);
}

#[test]
fn imports_end_at_a_depth() {
    let chain = |n: u32| (format!("w/{n}.md"), format!("@{}.md", n + 1));
    let files: Vec<_> = (1..9).map(chain).collect();
    let mut files: Vec<_> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    files.extend([("w/.git/HEAD", ""), ("w/CLAUDE.md", "@1.md")]);
    let (read, _) = Tree::new(&files).read("w", None);
    assert_eq!(read.len(), 1 + MAX_DEPTH as usize);
}

#[cfg(unix)]
#[test]
fn nothing_outside_the_project_is_read() {
    let tree = Tree::new(&[
        ("secret", "key"),
        ("w/.git/HEAD", ""),
        ("w/CLAUDE.md", "@../secret"),
    ]);
    std::os::unix::fs::symlink(tree.at("secret"), tree.at("w/AGENTS.md")).unwrap();
    let (files, notes) = tree.read("w", None);
    assert_eq!(files, ["w/CLAUDE.md=@../secret"]);
    let outside = [
        "instructions: w/AGENTS.md: it lies outside the project",
        "instructions: w/../secret: it lies outside the project",
    ];
    assert_eq!(notes, outside);
}

#[test]
fn a_long_file_is_cut_and_said() {
    let long = "é".repeat(MAX_BYTES);
    let tree = Tree::new(&[("w/AGENTS.md", &long), ("w/CLAUDE.md", "after")]);
    let Instructions { files, notes } = read(&tree.at("w"), None);
    assert_eq!(
        files.iter().map(|file| file.text.len()).sum::<usize>(),
        MAX_BYTES
    );
    assert_eq!(notes.len(), 2);
}
