//! Decodes recorded traffic with our codecs, and compares what comes out with what is right.
//!
//! It knows the layout of a folder of recordings and no single one of them: what may differ, and
//! why, is data in `xtask/captures/`.

mod classes;
mod cuts;
mod expected;
mod listed;
mod observed;
mod recording;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use listed::{Difference, Listed};
use recording::Recording;

#[derive(Default)]
struct Tally {
    total: usize,
    agree: usize,
    listed: usize,
    cuts: usize,
}

/// False when something differs that no line of the list explains.
pub fn run(root: &Path, dirs: &[String]) -> io::Result<bool> {
    if dirs.is_empty() {
        return Err(io::Error::other(
            "say which directories hold the recordings",
        ));
    }
    let data = root.join("xtask/captures");
    let mut listed = Listed::read(&data.join("differences.txt"))?;
    let classes = classes::Classes::read(&data.join("error-classes.txt"))?;
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut skipped: BTreeMap<String, usize> = BTreeMap::new();
    let mut unlisted = 0;
    for path in find(dirs)? {
        let recording = Recording::read(&path)?;
        let Some(api) = recording.api() else {
            *skipped.entry(recording.protocol.clone()).or_default() += 1;
            continue;
        };
        let tally = tallies.entry(recording.protocol.clone()).or_default();
        tally.total += 1;
        let mut differences = expected::compare(&recording, api, &classes);
        let (cuts, more) = cuts::compare(&recording, api);
        tally.cuts += cuts;
        differences.extend(more);
        let unexplained = explain(&recording, &differences, &mut listed);
        match (differences.is_empty(), unexplained) {
            (true, _) => tally.agree += 1,
            (false, 0) => tally.listed += 1,
            (false, more) => unlisted += more,
        }
    }
    report(&tallies, &skipped, &listed, unlisted);
    Ok(unlisted == 0)
}

/// Prints what differs; how many of the differences are not in the list comes back.
fn explain(recording: &Recording, differences: &[Difference], listed: &mut Listed) -> usize {
    let mut unexplained = 0;
    for difference in differences {
        let name = &recording.file;
        match listed.reason(recording, difference) {
            Some(reason) => eprintln!("listed: {name}: {difference} ({reason})"),
            None => {
                unexplained += 1;
                eprintln!("DIFFERS: {name}: {difference}");
            }
        }
    }
    unexplained
}

fn report(
    tallies: &BTreeMap<String, Tally>,
    skipped: &BTreeMap<String, usize>,
    listed: &Listed,
    unlisted: usize,
) {
    for (protocol, tally) in tallies {
        let Tally {
            total,
            agree,
            listed,
            cuts,
        } = tally;
        eprintln!(
            "{protocol}: {agree}/{total} as recorded, {listed} with listed differences only; \
             {cuts} other ways of cutting them"
        );
    }
    for (protocol, count) in skipped {
        eprintln!("{protocol}: {count} skipped, this API is not built yet");
    }
    for line in listed.unused() {
        eprintln!("not needed here: {line}");
    }
    eprintln!("{unlisted} unlisted differences");
}

/// Every recording below these directories; one that is absent is said, and is no failure.
fn find(dirs: &[String]) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for dir in dirs {
        let dir = Path::new(dir);
        if dir.is_dir() {
            walk(dir, &mut found)?;
        } else {
            eprintln!("{} is absent: nothing to decode", dir.display());
        }
    }
    found.sort();
    Ok(found)
}

fn walk(dir: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        if path.is_dir() {
            walk(&path, found)?;
        } else if name.is_some_and(|name| name.ends_with(".expect.json")) {
            found.push(path);
        }
    }
    Ok(())
}
