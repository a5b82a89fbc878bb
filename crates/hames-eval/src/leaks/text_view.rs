//! The search through bytes: files of the base first, to know what is no secret, then all else.
//!
//! Where the bytes come from is not its business.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::needles::Needles;
use crate::record::LeakReport;

#[derive(Debug)]
pub(super) struct TextView {
    needles: Needles,
    /// Needles that the base holds anyway.
    known: BTreeSet<usize>,
    /// Needle and place.
    hits: BTreeSet<(usize, String)>,
    report: LeakReport,
}

impl TextView {
    pub fn new(needles: Needles) -> Self {
        Self {
            needles,
            known: BTreeSet::new(),
            hits: BTreeSet::new(),
            report: LeakReport::default(),
        }
    }

    /// The files of the base itself: what they say is no secret, but a patch among them is.
    pub fn base(&mut self, tree: &Path, files: &[String]) {
        for name in files {
            let Some(bytes) = read(&tree.join(name)) else {
                continue;
            };
            self.report.scanned += 1;
            let mut as_patch = BTreeSet::new();
            for found in self.needles.search.find_iter(&bytes) {
                let needle = found.pattern().as_usize();
                if is_added(bytes.get(..found.start()).unwrap_or_default()) {
                    as_patch.insert(needle);
                } else {
                    self.known.insert(needle);
                }
            }
            let place = format!("the base's file {name}, as a patch");
            self.hits
                .extend(as_patch.into_iter().map(|needle| (needle, place.clone())));
        }
    }

    pub fn files(&mut self, tree: &Path, names: &[String]) {
        for name in names {
            self.file(&tree.join(name), &format!("the tree's file {name}"));
        }
    }

    /// All that is below it. A folder that is not there holds nothing.
    pub fn folder(&mut self, folder: &Path, kind: &str) {
        let mut open = vec![folder.to_owned()];
        while let Some(at) = open.pop() {
            for path in entries(&at) {
                // Objects are read unpacked.
                let is_folder = path.is_dir() && !path.is_symlink();
                if is_folder && !path.ends_with(".git/objects") {
                    open.push(path);
                } else if !is_folder {
                    let name = path.strip_prefix(folder).unwrap_or(&path);
                    self.file(&path, &format!("{kind}{}", name.display()));
                }
            }
        }
    }

    fn file(&mut self, path: &Path, place: &str) {
        if let Some(bytes) = read(path) {
            self.bytes(place, &bytes);
        }
        let name = path.file_name().unwrap_or_default();
        self.look(&format!("the name of {place}"), name.as_encoded_bytes());
    }

    pub fn bytes(&mut self, place: &str, bytes: &[u8]) {
        self.report.scanned += 1;
        self.look(place, bytes);
    }

    fn look(&mut self, place: &str, bytes: &[u8]) {
        for found in self.needles.search.find_iter(bytes) {
            let needle = found.pattern().as_usize();
            self.hits.insert((needle, place.to_owned()));
        }
    }

    /// One line for each place, with the first of what it gives away.
    pub fn report(mut self) -> LeakReport {
        let mut told = BTreeSet::new();
        for (needle, place) in self.hits {
            if self.known.contains(&needle) || !told.insert(place.clone()) {
                continue;
            }
            let what = self.needles.names.get(needle).map_or("", String::as_str);
            self.report.found.push(format!("{place} holds {what}"));
        }
        self.report.found.sort();
        self.report
    }
}

/// Whether what comes next is a line that a patch adds.
fn is_added(before: &[u8]) -> bool {
    let line = before
        .rsplit(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    line.strip_prefix(b"+")
        .is_some_and(|rest| rest.trim_ascii().is_empty())
}

fn read(path: &Path) -> Option<Vec<u8>> {
    if path.is_symlink() {
        let target = fs::read_link(path).ok()?;
        return Some(target.into_os_string().into_encoded_bytes());
    }
    if !path.is_file() {
        return None;
    }
    fs::read(path).ok()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}
