//! The workspace's crates and their arrows, as cargo itself reads the manifests.
//!
//! Nothing is resolved: what the manifests say is what is here, so no network is needed.

use std::{
    collections::BTreeSet,
    io,
    path::Path,
    process::{Command, Stdio},
};

use serde::Deserialize;

pub struct Graph {
    /// By name.
    pub packages: Vec<Package>,
}

pub struct Package {
    pub name: String,
    pub version: String,
    /// Below the workspace's root, with `/`.
    pub folder: String,
    pub dependencies: Vec<Dependency>,
    pub has_features: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Dependency {
    pub name: String,
    pub kind: Kind,
    pub optional: bool,
    /// A crate of this workspace.
    pub internal: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    Normal,
    Dev,
    Build,
}

impl Graph {
    pub fn load(root: &Path) -> io::Result<Self> {
        let output = Command::new("cargo")
            .args([
                "metadata",
                "--no-deps",
                "--offline",
                "--format-version",
                "1",
            ])
            .current_dir(root)
            .stderr(Stdio::inherit())
            .output()?;
        if !output.status.success() {
            return Err(io::Error::other("cargo cannot read the manifests"));
        }
        Self::read(&String::from_utf8_lossy(&output.stdout))
    }

    /// Reads what `cargo metadata --no-deps` prints.
    pub fn read(json: &str) -> io::Result<Self> {
        let metadata: Metadata = serde_json::from_str(json)?;
        let root = Path::new(&metadata.workspace_root);
        let packages = metadata.packages.into_iter();
        let mut packages: Vec<Package> = packages.map(|raw| raw.into_package(root)).collect();
        packages.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Self { packages })
    }

    pub fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }

    /// The crate that a file below the root belongs to.
    pub fn owner(&self, path: &str) -> Option<&Package> {
        let owns = |package: &&Package| {
            let rest = path.strip_prefix(&package.folder);
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        self.packages.iter().find(owns)
    }

    /// Crates whose tests can see a change in `name`, itself left out: those that are built on
    /// fewest others first, so that the heaviest comes last.
    pub fn dependents(&self, name: &str) -> Vec<&Package> {
        let mut reached = BTreeSet::from([name]);
        loop {
            let reaches = |package: &&Package| {
                let mut arrows = package.dependencies.iter();
                arrows.any(|arrow| arrow.internal && reached.contains(arrow.name.as_str()))
            };
            let names = self
                .packages
                .iter()
                .filter(reaches)
                .map(|package| package.name.as_str());
            let more: BTreeSet<&str> = names.chain(reached.iter().copied()).collect();
            if more.len() == reached.len() {
                break;
            }
            reached = more;
        }
        let is_above =
            |package: &&Package| package.name != name && reached.contains(package.name.as_str());
        let mut above: Vec<&Package> = self.packages.iter().filter(is_above).collect();
        above.sort_by_key(|package| self.beneath(package).len());
        above
    }

    /// What has to be built before a crate is, of this workspace.
    fn beneath<'g>(&'g self, package: &'g Package) -> BTreeSet<&'g str> {
        let mut beneath = BTreeSet::new();
        let mut open = vec![package];
        while let Some(package) = open.pop() {
            let built_on = package
                .dependencies
                .iter()
                .filter(|arrow| arrow.kind != Kind::Dev);
            for arrow in built_on.filter(|arrow| arrow.internal) {
                if beneath.insert(arrow.name.as_str()) {
                    open.extend(self.package(&arrow.name));
                }
            }
        }
        beneath
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<RawPackage>,
    workspace_root: String,
}

#[derive(Deserialize)]
struct RawPackage {
    name: String,
    version: String,
    manifest_path: String,
    dependencies: Vec<RawDependency>,
    features: serde_json::Map<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct RawDependency {
    name: String,
    kind: Option<String>,
    optional: bool,
    path: Option<String>,
}

impl RawPackage {
    fn into_package(self, root: &Path) -> Package {
        let folder = Path::new(&self.manifest_path).parent();
        let folder = folder.and_then(|folder| folder.strip_prefix(root).ok());
        let folder = folder.map(|folder| folder.to_string_lossy().replace('\\', "/"));
        Package {
            name: self.name,
            version: self.version,
            folder: folder.unwrap_or_default(),
            dependencies: self.dependencies.into_iter().map(Into::into).collect(),
            has_features: !self.features.is_empty(),
        }
    }
}

impl From<RawDependency> for Dependency {
    fn from(raw: RawDependency) -> Self {
        let kind = match raw.kind.as_deref() {
            Some("dev") => Kind::Dev,
            Some("build") => Kind::Build,
            _ => Kind::Normal,
        };
        Self {
            name: raw.name,
            kind,
            optional: raw.optional,
            internal: raw.path.is_some(),
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A graph of `name -> dependencies`, a dev-dependency written with a `+` before it, a
    /// third-party one with a `*`.
    pub fn graph(arrows: &[(&str, &[&str])]) -> Graph {
        let dependency = |word: &&str| Dependency {
            name: word.trim_start_matches(['+', '*']).to_owned(),
            kind: if word.starts_with('+') {
                Kind::Dev
            } else {
                Kind::Normal
            },
            optional: false,
            internal: !word.contains('*'),
        };
        let package = |(name, words): &(&str, &[&str])| Package {
            name: (*name).to_owned(),
            version: "0.0.0".to_owned(),
            folder: format!("crates/{name}"),
            dependencies: words.iter().map(dependency).collect(),
            has_features: false,
        };
        let packages = arrows.iter().map(package).collect();
        Graph { packages }
    }

    #[test]
    fn what_cargo_prints_becomes_a_graph() {
        let json = r#"{"workspace_root": "/top", "packages": [{"name": "b", "version": "0.0.0",
            "manifest_path": "/top/crates/b/Cargo.toml", "features": {"cli": []},
            "dependencies": [{"name": "a", "kind": "dev", "optional": false, "path": "/top/a"},
                             {"name": "serde", "kind": null, "optional": true}]}]}"#;
        let graph = Graph::read(json).unwrap();
        let b = graph.package("b").unwrap();
        let arrow = |name: &str, kind, optional, internal| {
            let name = name.to_owned();
            Dependency {
                name,
                kind,
                optional,
                internal,
            }
        };
        let expected = [
            arrow("a", Kind::Dev, false, true),
            arrow("serde", Kind::Normal, true, false),
        ];
        assert_eq!(b.dependencies, expected);
        assert!(b.has_features);
        assert_eq!(graph.owner("crates/b/src/lib.rs").unwrap().name, "b");
        assert!(graph.owner("crates/bb/src/lib.rs").is_none());
    }

    #[test]
    fn dependents_come_lightest_first_and_once() {
        let graph = graph(&[
            ("binary", &["a", "b", "c"]),
            ("a", &[]),
            ("b", &["a"]),
            ("c", &["b"]),
            ("tests", &["+a"]),
            ("other", &[]),
        ]);
        let above = graph.dependents("a");
        let names: Vec<&str> = above.iter().map(|package| package.name.as_str()).collect();
        assert_eq!(names, ["tests", "b", "c", "binary"]);
    }
}
