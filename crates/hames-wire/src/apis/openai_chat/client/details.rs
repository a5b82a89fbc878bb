//! `reasoning_details`: a vendor's reasoning in pieces, joined so that it can go back unchanged.
//!
//! Only neighbours of one kind are joined; signed and encrypted pieces stay as they came.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::lenient::Text;

#[derive(Default)]
pub(super) struct Details(Vec<Piece>);

enum Piece {
    /// Text that may go on in the next chunk.
    Open(Detail),
    Closed(Box<RawValue>),
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Detail {
    #[serde(rename = "type")]
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Kind<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
}

impl Details {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes in one chunk's pieces; what is no list of objects is left out.
    pub(super) fn take_in(&mut self, raw: &RawValue) {
        let pieces: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
        for piece in pieces {
            let kind: Kind<'_> = serde_json::from_str(piece.get()).unwrap_or_default();
            let grows = matches!(kind.kind.as_str(), "reasoning.text" | "reasoning.summary");
            match serde_json::from_str::<Detail>(piece.get()) {
                Ok(detail) if grows => self.grow(detail),
                _ => self.0.push(Piece::Closed(piece.to_owned())),
            }
        }
    }

    /// A whole body's pieces, verbatim.
    pub(super) fn take_whole(&mut self, raw: &RawValue) {
        let pieces: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
        let closed = pieces
            .into_iter()
            .map(|piece| Piece::Closed(piece.to_owned()));
        self.0.extend(closed);
    }

    pub(super) fn to_json(&self) -> String {
        let pieces: Vec<String> = self.0.iter().map(Piece::to_json).collect();
        format!("[{}]", pieces.join(","))
    }

    fn grow(&mut self, next: Detail) {
        match self.0.last_mut() {
            Some(Piece::Open(last)) if last.goes_on_as(&next) => last.join(next),
            Some(_) | None => self.0.push(Piece::Open(next)),
        }
    }
}

impl Piece {
    fn to_json(&self) -> String {
        match self {
            Self::Open(detail) => serde_json::to_string(detail).unwrap_or_default(),
            Self::Closed(raw) => raw.get().to_owned(),
        }
    }
}

impl Detail {
    fn goes_on_as(&self, next: &Self) -> bool {
        self.kind == next.kind && self.index == next.index && self.signature.is_none()
    }

    fn join(&mut self, next: Self) {
        join(&mut self.text, next.text);
        join(&mut self.summary, next.summary);
        self.signature = next.signature;
        self.id = self.id.take().or(next.id);
        self.format = self.format.take().or(next.format);
    }
}

fn join(text: &mut Option<String>, more: Option<String>) {
    match (text, more) {
        (Some(text), Some(more)) => *text += &more,
        (text @ None, more) => *text = more,
        (Some(_), None) => {}
    }
}
