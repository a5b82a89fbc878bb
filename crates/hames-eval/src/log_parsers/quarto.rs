//! Quarto: `[smoke] name ... ok`, in colours; names of temporary files are numbered as they come.

use std::{collections::HashMap, sync::LazyLock};

use regex::{NoExpand, Regex};

use super::status::{Status, StatusMap, is_space, pattern};
use crate::official::Version;

static TEMPORARY: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let forms = [r"/tmp/(\w+)\.qmd", r"/tmp/(\w+)/"];
    forms.into_iter().filter_map(pattern).collect()
});

pub(super) fn parse(log: &str, _version: Version) -> StatusMap {
    let mut map = StatusMap::default();
    let mut numbers = HashMap::new();
    for line in log.split('\n') {
        if line.contains("ERRORS") || line.contains("failures:") {
            break;
        }
        if !line.contains("[smoke]") && !line.contains("[unit]") {
            continue;
        }
        let line = numbered(line, &mut numbers);
        let test = line.split("...").next().unwrap_or_default();
        let test = test.trim_matches(is_space);
        if is_summary(&line) {
            continue;
        }
        if line.contains("32mok") {
            map.set(test, Status::Passed);
        } else if line.contains("31mFAILED") || map.get(test).is_none() {
            // A test that is never said to have passed has failed.
            map.set(test, Status::Failed);
        }
    }
    map
}

fn numbered(line: &str, numbers: &mut HashMap<String, usize>) -> String {
    let mut line = line.to_owned();
    for form in TEMPORARY.iter() {
        let Some(found) = form.find(&line) else {
            continue;
        };
        let next = numbers.len();
        let number = *numbers.entry(found.as_str().to_owned()).or_insert(next);
        let name = format!("/tmp/{number}");
        line = form.replace_all(&line, NoExpand(&name)).into_owned();
    }
    line
}

fn is_summary(line: &str) -> bool {
    let counts = ["passed", "failed", "steps"];
    line.starts_with("test result:")
        || counts.iter().all(|word| line.contains(word))
        || line.contains("34mINFO")
}
