//! Puts a request's body together from kept bytes: commas, folded neighbours, cache markers, tail.
//!
//! No message is encoded or copied here; what it says is the codec's business.

use bytes::Bytes;
use hames_types::Encoded;

/// Messages that begin in the same way are sent as one, where a server may refuse two in a row.
pub(crate) struct Joint {
    pub opening: &'static str,
    pub closing: &'static str,
    pub between: &'static str,
}

/// What may stand at `Encoded::mark_at`, and at which of the messages.
pub(crate) struct Marks<'a> {
    pub marker: &'static str,
    pub places: &'a [usize],
}

/// A message's last joint is closed only when the next one does not go on with it, so that the
/// bytes before the tail grow and never change.
pub(crate) fn assemble(
    head: &Bytes,
    messages: &[Encoded],
    joints: &'static [Joint],
    marks: &Marks<'_>,
    tail: Bytes,
) -> Vec<Bytes> {
    let mut pieces = vec![head.clone()];
    let mut first = head.ends_with(b"[");
    let mut open: Option<&'static Joint> = None;
    for (index, message) in messages.iter().enumerate() {
        let bytes = &message.bytes;
        if bytes.is_empty() {
            continue;
        }
        let joint = joints
            .iter()
            .find(|joint| bytes.starts_with(joint.opening.as_bytes()));
        let goes_on =
            matches!((open, joint), (Some(open), Some(joint)) if std::ptr::eq(open, joint));
        let mut start = 0;
        if let (true, Some(joint)) = (goes_on, joint) {
            pieces.push(text(joint.between));
            start = joint.opening.len();
        } else {
            pieces.extend(open.map(|open| text(open.closing)));
            pieces.extend((!first).then(|| text(",")));
        }
        open = joint.filter(|joint| bytes.ends_with(joint.closing.as_bytes()));
        let end = bytes.len() - open.map_or(0, |joint| joint.closing.len());
        first = false;
        match message.mark_at.filter(|_| marks.places.contains(&index)) {
            Some(place) if (start..=end).contains(&place) => {
                pieces.push(bytes.slice(start..place));
                pieces.push(text(marks.marker));
                pieces.push(bytes.slice(place..end));
            }
            Some(_) | None => pieces.push(bytes.slice(start..end)),
        }
    }
    pieces.extend(open.map(|open| text(open.closing)));
    pieces.push(tail);
    pieces
}

fn text(text: &'static str) -> Bytes {
    Bytes::from_static(text.as_bytes())
}
