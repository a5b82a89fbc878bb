//! What the wire's chunks and whole bodies look like; both have one shape, `delta` or `message`.
//!
//! Fields that nobody here reads are not listed, so that new ones change nothing.

use std::{borrow::Cow, fmt};

use hames_types::Usage;
use serde::{
    Deserialize, Deserializer,
    de::{self, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::lenient::{Count, Text};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub choices: Option<Vec<Choice<'a>>>,
    pub usage: Option<WireUsage>,
    pub x_groq: Option<Groq>,
    pub error: Option<&'a RawValue>,
    pub object: Text<'a>,
    /// Some put an error's words at the top.
    pub message: Text<'a>,
    pub detail: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice<'a> {
    pub index: Count,
    #[serde(borrow)]
    pub delta: Option<Delta<'a>>,
    pub message: Option<Delta<'a>>,
    pub finish_reason: Text<'a>,
    pub usage: Option<WireUsage>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta<'a> {
    #[serde(borrow)]
    pub content: Content<'a>,
    pub refusal: Text<'a>,
    pub reasoning_content: Text<'a>,
    pub reasoning: Text<'a>,
    pub reasoning_text: Text<'a>,
    pub reasoning_details: Option<&'a RawValue>,
    pub tool_calls: Option<Vec<Option<CallDelta<'a>>>>,
    pub function_call: Option<Function<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct CallDelta<'a> {
    pub index: Count,
    #[serde(borrow)]
    pub id: Text<'a>,
    pub function: Option<Function<'a>>,
    /// What a vendor wants back with the call, a signature for example.
    pub extra_content: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Function<'a> {
    #[serde(borrow)]
    pub name: Text<'a>,
    pub arguments: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Groq {
    pub usage: Option<WireUsage>,
}

/// Text, or parts of which thinking may be one.
#[derive(Default)]
pub(super) enum Content<'a> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    pub text: Text<'a>,
    pub refusal: Text<'a>,
    pub thinking: Option<&'a RawValue>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text, parts or null")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Content::Nothing)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = items.next_element()? {
            parts.push(part);
        }
        Ok(Content::Parts(parts))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
        let part = Part::deserialize(de::value::MapAccessDeserializer::new(fields))?;
        Ok(Content::Parts(vec![part]))
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    prompt_tokens: Count,
    completion_tokens: Count,
    total_tokens: Count,
    prompt_tokens_details: Option<Details>,
    completion_tokens_details: Option<Details>,
    reasoning_tokens: Count,
    cached_tokens: Count,
    prompt_cache_hit_tokens: Count,
    cache_read_input_tokens: Count,
    cache_creation_input_tokens: Count,
}

#[derive(Default, Clone, Copy, Deserialize)]
#[serde(default)]
struct Details {
    cached_tokens: Count,
    cache_write_tokens: Count,
    reasoning_tokens: Count,
}

impl WireUsage {
    /// To our counts: input without what was cached, reasoning within output.
    ///
    /// Most count cached tokens in the prompt and reasoning in the completion. Who does not is found
    /// out by the total, or by a part that is larger than its whole.
    pub(super) fn counts(&self) -> Usage {
        let prompt = self.prompt_tokens_details.unwrap_or_default();
        let completion = self.completion_tokens_details.unwrap_or_default();
        let cache_read = prompt
            .cached_tokens
            .or(self.prompt_cache_hit_tokens)
            .or(self.cached_tokens)
            .or(self.cache_read_input_tokens)
            .or_zero();
        let cache_write = prompt
            .cache_write_tokens
            .or(self.cache_creation_input_tokens)
            .or_zero();
        let reasoning = completion
            .reasoning_tokens
            .or(self.reasoning_tokens)
            .or_zero();
        let prompt = self.prompt_tokens.or_zero();
        let completion = self.completion_tokens.or_zero();
        let beyond_prompt = self.total_tokens.or_zero().saturating_sub(prompt);
        let output = if beyond_prompt > completion {
            beyond_prompt
        } else if reasoning > completion {
            completion.saturating_add(reasoning)
        } else {
            completion
        };
        let cached = cache_read.saturating_add(cache_write);
        Usage {
            input: prompt.checked_sub(cached).unwrap_or(prompt),
            output,
            reasoning: reasoning.min(output),
            cache_read,
            cache_write,
        }
    }
}
