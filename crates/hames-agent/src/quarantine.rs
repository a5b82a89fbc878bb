//! Quarantine: a picture or document that the provider refuses must not be sent for ever after.
//!
//! Text is never taken out: where there is nothing else, the refusal stands.

use std::sync::Arc;

use hames_types::{Content, EpochMessage, Message, ToolResult, UserMessage};

use crate::Transcript;

const NOTICE: &str = "[taken out: the model's provider refuses this picture or document]";

/// The same messages, without what is no text in the newest message that holds such; `None` where
/// there is none.
pub(crate) fn quarantine(transcript: &Transcript) -> Option<Vec<EpochMessage>> {
    let messages = transcript.messages();
    let place = messages.iter().rposition(holds_more_than_text)?;
    let changed = match messages.get(place)? {
        Message::User(message) => EpochMessage::User(Arc::new(UserMessage {
            content: cleaned(&message.content),
            origin: message.origin,
        })),
        Message::Tool(results) => {
            let cleaned = results.iter().map(|result| {
                Arc::new(ToolResult {
                    content: cleaned(&result.content),
                    ..(**result).clone()
                })
            });
            EpochMessage::Results(cleaned.collect())
        }
        Message::Assistant(_) => return None,
    };
    let kept = |first, count| EpochMessage::Kept { first, count };
    let rest = messages.len() - place - 1;
    Some(vec![kept(0, place), changed, kept(place + 1, rest)])
}

fn holds_more_than_text(message: &Message) -> bool {
    let more = |content: &Content| content.as_text().is_none();
    match message {
        Message::User(message) => message.content.iter().any(more),
        Message::Tool(results) => results.iter().any(|result| result.content.iter().any(more)),
        Message::Assistant(_) => false,
    }
}

fn cleaned(content: &[Content]) -> Vec<Content> {
    let clean = |content: &Content| match content {
        Content::Text { .. } => content.clone(),
        Content::Image { .. }
        | Content::Document { .. }
        | Content::Blob(_)
        | Content::Opaque(_) => Content::Text {
            text: NOTICE.to_owned(),
        },
    };
    content.iter().map(clean).collect()
}
