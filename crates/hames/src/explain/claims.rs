//! What the tables say of the tree: files, tests and lines, as one list.
//!
//! A test reads the list against the tree, so that no table points at something that has gone.

use super::{compare, knows, loop_lines, proof::Proof};

/// Something a table says of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The file is there.
    File(&'static str),
    /// The file has a test of this name.
    Test {
        file: &'static str,
        test: &'static str,
    },
    /// The file has this line, blanks aside.
    Line {
        file: &'static str,
        line: &'static str,
    },
}

/// All that the tables say of the tree.
pub fn claims() -> Vec<Claim> {
    let mut claims = Vec::new();
    for line in &loop_lines::LINES {
        if let Some((file, line)) = line.ours {
            claims.push(Claim::Line { file, line });
        }
        claims.extend(line.proof.map(test));
    }
    claims.extend(compare::ROWS.iter().map(|row| test(row.proof)));
    claims.extend(compare::PATHS.iter().map(|path| Claim::File(path.file)));
    claims.extend(knows::ROWS.iter().map(|row| test(row.proof)));
    claims
}

fn test(Proof { file, test }: Proof) -> Claim {
    Claim::Test { file, test }
}
