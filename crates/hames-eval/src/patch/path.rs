//! Paths as git has them: bytes, which need not be text.

use std::path::{Path, PathBuf};

/// Where it lies in a tree.
#[cfg(unix)]
pub(super) fn on_disk(tree: &Path, path: &[u8]) -> PathBuf {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    tree.join(OsStr::from_bytes(path))
}

#[cfg(not(unix))]
pub(super) fn on_disk(tree: &Path, path: &[u8]) -> PathBuf {
    tree.join(in_words(path))
}

/// For people.
pub(super) fn in_words(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

/// As an attributes file names exactly this path: a quoted text whose content is a pattern.
pub(super) fn attribute_pattern(path: &[u8]) -> String {
    let mut pattern = String::from("\"/");
    for byte in path {
        match byte {
            b'"' => pattern.push_str("\\\""),
            b'\\' => pattern.push_str("\\\\\\\\"),
            b'*' | b'?' | b'[' => {
                pattern.push_str("\\\\");
                pattern.push(char::from(*byte));
            }
            b' '..=b'~' => pattern.push(char::from(*byte)),
            _ => pattern.push_str(&format!("\\{byte:03o}")),
        }
    }
    pattern.push('"');
    pattern
}
