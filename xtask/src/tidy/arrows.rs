//! Which crate may depend on which: the picture of ARCHITECTURE.md as a table.
//!
//! A new arrow is a new line here, and so a decision that someone reads.

use super::Finding;
use crate::graph::{Dependency, Graph, Kind, Package};

struct Crate {
    name: &'static str,
    /// Crates of this workspace that it is built on.
    on: &'static [&'static str],
    /// Crates of this workspace that only its tests use.
    tests: &'static [&'static str],
}

const CRATES: [Crate; 10] = [
    Crate {
        name: "hames-types",
        on: &[],
        tests: &[],
    },
    Crate {
        name: "hames-journal",
        on: &["hames-types"],
        tests: &["hames-testkit"],
    },
    Crate {
        name: "hames-wire",
        on: &["hames-types"],
        // The parser law: whatever a codec makes of a stream, one parser reads it.
        tests: &["hames-agent", "hames-testkit"],
    },
    Crate {
        name: "hames-providers",
        on: &["hames-types", "hames-wire"],
        tests: &["hames-testkit"],
    },
    Crate {
        name: "hames-tools",
        on: &["hames-types"],
        tests: &["hames-testkit"],
    },
    Crate {
        name: "hames-agent",
        on: &["hames-types", "hames-journal"],
        tests: &["hames-testkit"],
    },
    Crate {
        name: "hames-testkit",
        on: &[
            "hames-types",
            "hames-journal",
            "hames-wire",
            "hames-providers",
            "hames-agent",
        ],
        tests: &[],
    },
    Crate {
        name: "hames-eval",
        // No arrow to the agent: an evaluation runs it as a program, like any other.
        on: &["hames-types", "hames-journal", "hames-tools"],
        tests: &["hames-testkit"],
    },
    Crate {
        name: "hames",
        on: &[
            "hames-types",
            "hames-journal",
            "hames-wire",
            "hames-providers",
            "hames-tools",
            "hames-agent",
            "hames-eval",
        ],
        tests: &["hames-testkit"],
    },
    Crate {
        name: "xtask",
        on: &[
            "hames-types",
            "hames-journal",
            "hames-wire",
            "hames-providers",
            "hames-tools",
            "hames-agent",
            "hames-testkit",
            "hames",
        ],
        tests: &[],
    },
];

struct Wall {
    /// A third-party crate, or with a `*` at its end a family of them.
    around: &'static str,
    /// Who may depend on it.
    inside: &'static [&'static str],
}

const WALLS: [Wall; 13] = [
    Wall {
        around: "reqwest",
        inside: &["hames-providers"],
    },
    Wall {
        around: "rustls*",
        inside: &["hames-providers"],
    },
    Wall {
        around: "hyper*",
        inside: &["hames-providers", "hames-testkit"],
    },
    Wall {
        around: "clap*",
        inside: &["hames"],
    },
    Wall {
        around: "anyhow",
        inside: &["hames", "xtask"],
    },
    Wall {
        around: "ignore",
        inside: &["hames-tools"],
    },
    Wall {
        around: "grep*",
        inside: &["hames-tools"],
    },
    Wall {
        around: "globset",
        inside: &["hames-tools", "hames-eval"],
    },
    Wall {
        around: "dirs*",
        inside: &["hames"],
    },
    Wall {
        around: "ratatui*",
        inside: &[],
    },
    Wall {
        around: "rmcp*",
        inside: &[],
    },
    Wall {
        around: "async-trait",
        inside: &[],
    },
    Wall {
        around: "tokio",
        inside: &[
            "hames-agent",
            "hames-providers",
            "hames-tools",
            "hames-eval",
            "hames-testkit",
            "hames",
            "xtask",
        ],
    },
];

/// Crates that are read by whoever reads a journal: what they cost, everyone pays.
const FRUGAL: [(&str, &[&str]); 2] = [
    (
        "hames-types",
        &[
            "bytes",
            "futures-core",
            "serde",
            "serde_json",
            "thiserror",
            "tokio-util",
        ],
    ),
    ("hames-journal", &["serde", "serde_json", "thiserror"]),
];

pub fn check(graph: &Graph) -> Vec<Finding> {
    graph.packages.iter().flat_map(check_package).collect()
}

fn check_package(package: &Package) -> Vec<Finding> {
    let manifest = format!("{}/Cargo.toml", package.folder);
    let Some(row) = CRATES.iter().find(|row| row.name == package.name) else {
        let what = "the crate has no line in xtask/src/tidy/arrows.rs: what may it depend on, and why is it one?";
        return vec![Finding::new(&manifest, 0, what)];
    };
    let complaints = package.dependencies.iter().filter_map(|arrow| {
        let complaint = if arrow.internal {
            own(row, arrow)
        } else {
            foreign(row, arrow)
        };
        complaint.map(|what| Finding::new(&manifest, 0, what))
    });
    complaints.collect()
}

fn own(row: &Crate, arrow: &Dependency) -> Option<String> {
    let name = arrow.name.as_str();
    let allowed = match arrow.kind {
        Kind::Normal | Kind::Build => row.on.contains(&name),
        Kind::Dev => row.on.contains(&name) || row.tests.contains(&name),
    };
    (!allowed).then(|| format!("{} may not depend on {name}", row.name))
}

fn foreign(row: &Crate, arrow: &Dependency) -> Option<String> {
    if arrow.kind == Kind::Dev {
        return None;
    }
    let name = arrow.name.as_str();
    let stands_around = |wall: &&Wall| match wall.around.strip_suffix('*') {
        Some(family) => name.starts_with(family),
        None => wall.around == name,
    };
    let wall = WALLS.iter().find(stands_around);
    if wall.is_some_and(|wall| !wall.inside.contains(&row.name)) {
        return Some(format!(
            "{} may not depend on {name}: it has a wall around it",
            row.name
        ));
    }
    let frugal = FRUGAL.iter().find(|(frugal, _)| *frugal == row.name);
    let allowed = frugal.is_none_or(|(_, few)| few.contains(&name));
    (!allowed).then(|| format!("{} does without {name}", row.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{graph, tidy::tree::shown};

    #[test]
    fn arrows_against_the_picture_are_found() {
        let graph = graph::tests::graph(&[
            (
                "hames-agent",
                &[
                    "hames-types",
                    "hames-providers",
                    "*reqwest",
                    "+hames-testkit",
                ],
            ),
            (
                "hames-tools",
                &["hames-agent", "*rustls-pki-types", "*globset"],
            ),
            ("hames-types", &["*serde", "*tokio"]),
            ("hames-journal", &["*sha2"]),
            ("hames", &["hames-testkit", "*clap_complete"]),
            ("hames-new", &[]),
        ]);
        let expected = [
            "crates/hames-agent/Cargo.toml: hames-agent may not depend on hames-providers",
            "crates/hames-agent/Cargo.toml: hames-agent may not depend on reqwest: it has a wall around it",
            "crates/hames-tools/Cargo.toml: hames-tools may not depend on hames-agent",
            "crates/hames-tools/Cargo.toml: hames-tools may not depend on rustls-pki-types: it has a wall around it",
            "crates/hames-types/Cargo.toml: hames-types may not depend on tokio: it has a wall around it",
            "crates/hames-journal/Cargo.toml: hames-journal does without sha2",
            "crates/hames/Cargo.toml: hames may not depend on hames-testkit",
            "crates/hames-new/Cargo.toml: the crate has no line in xtask/src/tidy/arrows.rs: what may it depend on, and why is it one?",
        ];
        assert_eq!(shown(&check(&graph)), expected);
    }
}
