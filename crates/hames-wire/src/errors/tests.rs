//! Each word of the table, in an error of its own.
#![allow(clippy::unwrap_used)]

use super::{BY_WORDS, classify};

#[test]
fn every_word_of_the_table_decides() {
    for (kind, _, words) in BY_WORDS {
        for word in *words {
            let body = serde_json::json!({"error": {"message": format!("So: {word}.")}});
            let error = classify(400, body.to_string().as_bytes());
            assert_eq!(error.kind, *kind, "{word}");
        }
    }
}
