//! Ground to test on: a folder of its own, a host with this machine's path and no more, real git.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use hames_eval::{
    environment::Around,
    host::Host,
    instance::{Answers, Instance, Recipe, Source, TestPlan, TestRun},
    repository::git_text,
};
use tokio_util::sync::CancellationToken;

pub struct Ground {
    folder: tempfile::TempDir,
    pub host: Host,
    pub cancel: CancellationToken,
}

impl Ground {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let known = ["PATH", "HOME", "PYENV_ROOT"];
        let variables = known
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), env::var(name).ok()?)))
            .collect::<BTreeMap<_, _>>();
        let cache = fs::canonicalize(folder.path()).unwrap().join("cache");
        let host = Host {
            variables,
            cache,
            hames: PathBuf::from("hames"),
            version: "0".to_owned(),
        };
        let cancel = CancellationToken::new();
        Self {
            folder,
            host,
            cancel,
        }
    }

    pub fn around(&self) -> Around<'_> {
        Around {
            host: &self.host,
            cancel: &self.cancel,
        }
    }

    pub fn cache(&self) -> &Path {
        &self.host.cache
    }

    pub fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap().join(name)
    }

    pub fn folder(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    pub async fn git(&self, tree: &Path, args: &[&str]) -> String {
        git_text(args, tree, &self.around()).await.unwrap()
    }

    #[cfg(unix)]
    pub fn make_executable(&self, path: &Path) {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// One with no tests, no answers and no recipe: each test says what it is about.
pub fn instance(id: &str, source: Source) -> Instance {
    Instance {
        id: id.to_owned(),
        repo: format!("owner/{id}"),
        version: "1.0".to_owned(),
        base_commit: String::new(),
        problem_statement: String::new(),
        hints: String::new(),
        created_at: String::new(),
        environment_setup_commit: String::new(),
        difficulty: String::new(),
        dataset: String::new(),
        split: String::new(),
        answers: Answers::default(),
        source,
        tests: TestPlan {
            run: TestRun::Official,
            parser: String::new(),
            fail_only: false,
            time_limit: None,
        },
        recipe: Recipe::default(),
    }
}

/// Every file below a folder, by its path in it.
pub fn files_below(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            } else {
                let name = path
                    .strip_prefix(folder)
                    .unwrap()
                    .to_string_lossy()
                    .into_owned();
                found.push((name, fs::read(&path).unwrap_or_default()));
            }
        }
    }
    found.sort();
    found
}
