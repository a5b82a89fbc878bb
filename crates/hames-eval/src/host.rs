//! What a run may know of the machine: folders, the path, variables; passed down from the binary.
//!
//! It reads none of them itself.

use std::{collections::BTreeMap, path::PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Every variable of the caller. What a child gets of it is decided where it is started.
    pub variables: BTreeMap<String, String>,
    /// Mirrors, environments and checkouts that runs share.
    pub cache: PathBuf,
    /// This program, for the adapters that run it.
    pub hames: PathBuf,
    pub version: String,
}

/// Variables that are passed to any child: where programs are, and how text is written.
const PLAIN: [&str; 9] = [
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "PYENV_ROOT",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// How a child reaches a package registry, where the machine has a way of its own.
const REGISTRY: [&str; 17] = [
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_NO_INDEX",
    "PIP_DEFAULT_TIMEOUT",
    "PIP_CONFIG_FILE",
    "PIP_CERT",
    "PIP_TRUSTED_HOST",
    "UV_INDEX_URL",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
];

impl Host {
    /// For tests, git and tools: no keys, no home.
    pub fn plain_env(&self) -> Vec<(String, String)> {
        self.pick(&PLAIN)
    }

    /// The same, and what a package client needs.
    pub fn registry_env(&self) -> Vec<(String, String)> {
        let mut env = self.plain_env();
        env.extend(self.pick(&REGISTRY));
        env
    }

    pub fn pick(&self, names: &[&str]) -> Vec<(String, String)> {
        let held = |name: &&str| self.variables.get_key_value(*name);
        let owned = |(name, value): (&String, &String)| (name.clone(), value.clone());
        names.iter().filter_map(held).map(owned).collect()
    }

    /// The program's place on `PATH`.
    pub fn find(&self, program: &str) -> Option<PathBuf> {
        if program.contains('/') {
            return Some(PathBuf::from(program)).filter(|path| path.is_file());
        }
        let path = self.variables.get("PATH")?;
        let places = path.split(':').filter(|folder| !folder.is_empty());
        places
            .map(|folder| PathBuf::from(folder).join(program))
            .find(|path| path.is_file())
    }
}
