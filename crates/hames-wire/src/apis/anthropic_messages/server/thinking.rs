//! Signatures on thinking: what proves that a client sends it back as it came.
//!
//! Foreign signatures are taken on trust: only the service that wrote them could tell.

use serde_json::Value;

use super::required;
use crate::request::Refusal;

const MARK: &str = "scripted-";

/// A checksum, so that a block that was changed is seen.
pub(super) fn sign(thinking: &str) -> String {
    let mixed = thinking
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("{MARK}{mixed:016x}")
}

pub(super) fn check(block: &Value, at: &str) -> Result<String, Refusal> {
    let thinking = block["thinking"].as_str();
    let thinking = thinking.ok_or_else(|| required(&format!("{at}.thinking.thinking")))?;
    let signature = block["signature"].as_str();
    let signature = signature.ok_or_else(|| required(&format!("{at}.thinking.signature")))?;
    let is_ours = signature.starts_with(MARK);
    if signature.is_empty() || is_ours && signature != sign(thinking) {
        let message = format!("{at}: Invalid `signature` in `thinking` block");
        return Err(Refusal::bad(message));
    }
    Ok(thinking.to_owned())
}
