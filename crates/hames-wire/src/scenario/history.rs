//! What a request's history holds, as conditions ask for it.
//!
//! Only what stands in the request counts: who a user message came from does not, since no wire
//! tells it.

use std::borrow::Cow;

use hames_types::{Block, BlockKind, Content};

use crate::request::{ServedMessage, ServedRequest, ServedResult};

pub struct History<'a> {
    request: &'a ServedRequest,
    /// Where the current prompt begins.
    prompt_at: usize,
    /// The first message after it.
    after_prompt: usize,
}

impl<'a> History<'a> {
    /// The current prompt is the last run of user messages that stands at the start or after an
    /// answer that asked for nothing; a remark after tool results begins none.
    pub fn of(request: &'a ServedRequest) -> Self {
        let messages = &request.messages;
        let begins = |index: usize| {
            is_user(messages.get(index))
                && index
                    .checked_sub(1)
                    .is_none_or(|before| match &messages[before] {
                        ServedMessage::Assistant(blocks) => calls(blocks) == 0,
                        ServedMessage::User(_) | ServedMessage::Tool(_) => false,
                    })
        };
        let prompt_at = (0..messages.len()).rev().find(|&index| begins(index));
        let prompt_at = prompt_at.unwrap_or(0);
        let mut after_prompt = prompt_at;
        while is_user(messages.get(after_prompt)) {
            after_prompt += 1;
        }
        Self {
            request,
            prompt_at,
            after_prompt,
        }
    }

    pub fn request(&self) -> &'a ServedRequest {
        self.request
    }

    /// The current prompt's text, its messages one below the other.
    pub fn prompt(&self) -> String {
        let run = &self.request.messages[self.prompt_at..self.after_prompt];
        run.iter().map(text_of).collect::<Vec<_>>().join("\n")
    }

    /// The last message's text; neighbours of the user count as one, as some wires fold them.
    pub fn last(&self) -> String {
        let messages = &self.request.messages;
        let users = messages
            .iter()
            .rev()
            .take_while(|message| is_user(Some(message)));
        let first = messages.len() - users.count().max(1).min(messages.len());
        messages[first..]
            .iter()
            .map(text_of)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The newest tool results' text since the current prompt; empty when there are none.
    pub fn last_results(&self) -> String {
        self.results_of_last_round()
            .iter()
            .map(|result| contents(&result.content))
            .collect::<Vec<_>>()
            .join("\n")
    }

    pub fn last_result(&self) -> String {
        let result = self.results_of_last_round().last();
        result
            .map(|result| contents(&result.content))
            .unwrap_or_default()
    }

    fn results_of_last_round(&self) -> &'a [ServedResult] {
        let since = self.since_prompt().iter().rev();
        let mut rounds = since.filter_map(|message| match message {
            ServedMessage::Tool(results) => Some(results.as_slice()),
            ServedMessage::User(_) | ServedMessage::Assistant(_) => None,
        });
        rounds.next().unwrap_or_default()
    }

    /// How many answers there are since the current prompt.
    pub fn answers(&self) -> usize {
        let since = self.since_prompt().iter();
        since
            .filter(|message| matches!(message, ServedMessage::Assistant(_)))
            .count()
    }

    /// How many tool results there are since the current prompt.
    pub fn results(&self) -> usize {
        let since = self.since_prompt().iter();
        since
            .map(|message| match message {
                ServedMessage::Tool(results) => results.len(),
                ServedMessage::User(_) | ServedMessage::Assistant(_) => 0,
            })
            .sum()
    }

    pub fn holds(&self, text: &str) -> bool {
        self.request
            .messages
            .iter()
            .any(|message| text_of(message).contains(text))
    }

    pub fn system_holds(&self, text: &str) -> bool {
        self.request
            .system
            .iter()
            .any(|system| system.contains(text))
    }

    /// Four bytes a token, as a rule of thumb.
    pub fn estimated_tokens(&self) -> u64 {
        let messages = self
            .request
            .messages
            .iter()
            .map(|message| text_of(message).len() + 8);
        let system = self.request.system.iter().map(String::len);
        let tools = self.request.tools.iter();
        let tools = tools.map(|tool| tool.description.len() + tool.input_schema.0.len());
        let bytes: usize = messages.chain(system).chain(tools).sum();
        bytes as u64 / 4
    }

    /// Names this history; the same one on another wire may have another name.
    pub fn digest(&self) -> u64 {
        let mut digest = Fnv::default();
        let texts = self
            .request
            .system
            .iter()
            .map(|text| Cow::Borrowed(text.as_str()));
        let messages = self.request.messages.iter();
        let messages =
            messages.map(|message| Cow::Owned(format!("{}{}", role(message), text_of(message))));
        for text in texts.chain(messages) {
            digest.take_in(text.as_bytes());
            digest.take_in(&[0]);
        }
        digest.0
    }

    fn since_prompt(&self) -> &'a [ServedMessage] {
        &self.request.messages[self.after_prompt..]
    }
}

fn is_user(message: Option<&ServedMessage>) -> bool {
    matches!(message, Some(ServedMessage::User(_)))
}

fn role(message: &ServedMessage) -> char {
    match message {
        ServedMessage::User(_) => 'u',
        ServedMessage::Assistant(_) => 'a',
        ServedMessage::Tool(_) => 't',
    }
}

fn calls(blocks: &[Block]) -> usize {
    blocks
        .iter()
        .filter(|block| matches!(block.kind, BlockKind::ToolCall(_)))
        .count()
}

fn text_of(message: &ServedMessage) -> String {
    match message {
        ServedMessage::User(content) => contents(content),
        ServedMessage::Assistant(blocks) => blocks.iter().map(block).collect::<Vec<_>>().join("\n"),
        ServedMessage::Tool(results) => {
            let results = results.iter().map(|result| contents(&result.content));
            results.collect::<Vec<_>>().join("\n")
        }
    }
}

fn contents(contents: &[Content]) -> String {
    let texts = contents.iter().filter_map(Content::as_text);
    texts.collect::<Vec<_>>().join("\n")
}

fn block(block: &Block) -> Cow<'_, str> {
    match &block.kind {
        BlockKind::Text { text } | BlockKind::Reasoning { text } => text.into(),
        BlockKind::ToolCall(call) => format!("{}({})", call.name, call.input.0).into(),
        BlockKind::Opaque => "".into(),
    }
}

/// FNV-1a: names that stay the same from one build to the next.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn take_in(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
