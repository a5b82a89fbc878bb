//! How long things may be: files, the loop, its own imports, and the tests inside a module.
//!
//! Functions are clippy's (`too_many_lines`).

use super::{Finding, tree::File, tree::Tree};
use crate::source;

const FILE: usize = 800;
const LOOP: &str = "crates/hames-agent/src/run_query.rs";
const LOOP_LINES: usize = 130;
const LOOP_IMPORTS: usize = 12;
const INNER_TESTS: usize = 80;

pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust().flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut over = |what: &str, line, size: usize, limit: usize| {
        if size > limit {
            let what = format!("{what}: {size}, at most {limit}");
            findings.push(Finding::new(&file.path, line, what));
        }
    };
    let lines = file.text.lines().count();
    over("lines of the file", 0, lines, FILE);
    if file.path == LOOP {
        over("lines of the loop", 0, lines, LOOP_LINES);
        let imports = source::imports(&source::code_only(&file.text));
        let own = imports
            .iter()
            .filter(|import| import.path.starts_with("crate::"));
        over(
            "names the loop imports from its own crate",
            0,
            own.count(),
            LOOP_IMPORTS,
        );
    }
    if !file.path.contains("/tests/") {
        for (line, size) in inner_tests(&file.text) {
            over(
                "lines of tests inside a module (move them to a file)",
                line,
                size,
                INNER_TESTS,
            );
        }
    }
    findings
}

/// `mod tests {` with the lines of its body, as rustfmt lays it out.
fn inner_tests(text: &str) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let opens = |line: &str| line.ends_with("mod tests {");
    let starts = lines.iter().enumerate().filter(|(_, line)| opens(line));
    let measure = |(start, line): (usize, &&str)| {
        let indent = line.len() - line.trim_start().len();
        let close = format!("{}}}", " ".repeat(indent));
        let body = lines[start + 1..].iter().position(|line| *line == close);
        (start + 1, body.unwrap_or(lines.len() - start - 1))
    };
    starts.map(measure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::shown;

    #[test]
    fn what_is_too_long_is_found() {
        let body = "    x\n".repeat(81);
        let long = "\n".repeat(801);
        let inner = format!("//! a\n#[cfg(test)]\nmod tests {{\n{body}}}\n");
        let names: Vec<String> = (0..13).map(|nth| format!("n{nth}")).collect();
        let the_loop = format!("use crate::{{{}}};\n{}", names.join(", "), "\n".repeat(130));
        let tree = Tree::of(&[("a.rs", &long), ("b.rs", &inner), (LOOP, &the_loop)]);
        let expected = [
            "a.rs: lines of the file: 801, at most 800",
            "b.rs:3: lines of tests inside a module (move them to a file): 81, at most 80",
            "crates/hames-agent/src/run_query.rs: lines of the loop: 131, at most 130",
            "crates/hames-agent/src/run_query.rs: names the loop imports from its own crate: 13, at most 12",
        ];
        assert_eq!(shown(&check(&tree)), expected);
    }

    #[test]
    fn what_just_fits_is_not() {
        let body = "    x\n".repeat(80);
        let inner = format!("mod tests {{\n{body}}}\n");
        let tree = Tree::of(&[("a.rs", &"\n".repeat(800)), ("b.rs", &inner)]);
        assert_eq!(check(&tree), []);
    }
}
