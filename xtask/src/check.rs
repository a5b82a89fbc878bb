//! Everything a change must pass before it is shown to anyone, in one command.
//!
//! It goes on after a failure, so that one run tells all of them.

use std::{
    io,
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use crate::{graph::Graph, targets, tidy};

pub fn run(root: &Path) -> io::Result<bool> {
    let graph = Graph::load(root)?;
    let mut check = Check {
        root,
        failed: Vec::new(),
    };
    check.cargo("fmt --all --check")?;
    check.cargo("clippy --workspace --all-targets -- --deny warnings")?;
    check.step("tidy", tidy::run)?;
    for package in &graph.packages {
        // Alone, since a neighbour's features can hide what a crate forgot to ask for.
        check.cargo(&format!("check --package {}", package.name))?;
        if package.has_features {
            check.cargo(&format!(
                "check --package {} --no-default-features",
                package.name
            ))?;
        }
    }
    check.cargo("test --workspace")?;
    for target in targets::OTHERS {
        match targets::installed(target)? {
            true => check.cargo(&targets::command(target))?,
            false => eprintln!("-- {target}: skipped, its standard library is not installed"),
        }
    }
    Ok(check.report())
}

struct Check<'r> {
    root: &'r Path,
    failed: Vec<String>,
}

impl Check<'_> {
    fn cargo(&mut self, line: &str) -> io::Result<()> {
        self.step(&format!("cargo {line}"), |root| {
            let status = Command::new("cargo")
                .args(line.split(' '))
                .current_dir(root)
                .stdin(Stdio::null())
                .status()?;
            Ok(status.success())
        })
    }

    fn step(&mut self, name: &str, work: impl FnOnce(&Path) -> io::Result<bool>) -> io::Result<()> {
        eprintln!("-- {name}");
        let began = Instant::now();
        let passed = work(self.root)?;
        let verdict = if passed { "passed" } else { "FAILED" };
        eprintln!(
            "-- {verdict} in {:.1} s: {name}",
            began.elapsed().as_secs_f64()
        );
        if !passed {
            self.failed.push(name.to_owned());
        }
        Ok(())
    }

    fn report(&self) -> bool {
        match self.failed.as_slice() {
            [] => eprintln!("-- all passed"),
            failed => eprintln!("-- failed: {}", failed.join("; ")),
        }
        self.failed.is_empty()
    }
}
