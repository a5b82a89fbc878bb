//! SHA-256 in hexadecimal: what tells a content, or a place, from another.
//!
//! For names and comparisons; nothing here is a secret.

use sha2::{Digest, Sha256};

/// Enough not to meet another of its kind.
const SHORT: usize = 16;

pub fn of(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// A short name for some texts.
pub fn short(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
    shortened(hash)
}

/// A short name for what has been hashed piece by piece.
pub(crate) fn shortened(hash: Sha256) -> String {
    let mut name = format!("{:x}", hash.finalize());
    name.truncate(SHORT);
    name
}
