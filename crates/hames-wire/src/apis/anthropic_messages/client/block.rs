//! One content block, from its start to its stop.
//!
//! What it does not know stays JSON text, with the deltas put in, to go back as it came.

use std::fmt;

use hames_types::ModelEvent;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{arguments, lenient::Text, written};

pub(super) struct OpenBlock {
    /// The wire's number.
    pub index: u64,
    /// Ours: where two blocks of the wire share a number, these differ.
    block: u32,
    kind: Kind,
    fields: Fields,
    closed: bool,
}

enum Kind {
    Text {
        text: String,
        citations: Vec<String>,
    },
    Thinking {
        text: String,
        signature: String,
    },
    ToolUse {
        input: String,
    },
    Opaque {
        input: String,
    },
}

/// A JSON object's fields in their order, each as it was written.
#[derive(Default)]
struct Fields(Vec<(String, Box<RawValue>)>);

#[derive(Default, Deserialize)]
#[serde(default)]
struct Delta<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    text: Text<'a>,
    thinking: Text<'a>,
    signature: Text<'a>,
    partial_json: Text<'a>,
    citation: Option<&'a RawValue>,
}

impl OpenBlock {
    pub(super) fn start(
        index: u64,
        block: u32,
        raw: &RawValue,
        out: &mut Vec<ModelEvent>,
    ) -> serde_json::Result<Self> {
        let fields: Fields = serde_json::from_str(raw.get())?;
        let text = |name: &str| fields.text(name);
        let kind = match text("type").as_str() {
            "text" => {
                let text = text("text");
                say(block, &text, out);
                let citations = fields.list("citations");
                Kind::Text { text, citations }
            }
            "thinking" => {
                let (text, signature) = (text("thinking"), text("signature"));
                // Even without words it is thinking: a signature may be all that comes.
                think(block, &text, out);
                Kind::Thinking { text, signature }
            }
            "tool_use" => {
                let (id, name) = (text("id"), text("name"));
                out.push(ModelEvent::CallStarted { block, id, name });
                let input = String::new();
                Kind::ToolUse { input }
            }
            _ => {
                let input = String::new();
                Kind::Opaque { input }
            }
        };
        Ok(Self {
            index,
            block,
            kind,
            fields,
            closed: false,
        })
    }

    pub(super) fn delta(
        &mut self,
        raw: &RawValue,
        out: &mut Vec<ModelEvent>,
    ) -> serde_json::Result<()> {
        let block = self.block;
        let delta: Delta<'_> = serde_json::from_str(raw.get())?;
        match &mut self.kind {
            Kind::Text { text, citations } => {
                *text += delta.text.as_str();
                citations.extend(delta.citation.map(|citation| citation.get().to_owned()));
                say(block, delta.text.as_str(), out);
            }
            Kind::Thinking { text, signature } => {
                *text += delta.thinking.as_str();
                *signature += delta.signature.as_str();
                if !delta.thinking.is_empty() {
                    think(block, delta.thinking.as_str(), out);
                }
            }
            Kind::ToolUse { input } => {
                let json = delta.partial_json.into_string();
                *input += &json;
                if !json.is_empty() {
                    out.push(ModelEvent::CallInputDelta { block, json });
                }
            }
            Kind::Opaque { input } if delta.kind.as_str() == "input_json_delta" => {
                *input += delta.partial_json.as_str();
            }
            Kind::Opaque { .. } => self.fields.merge(raw)?,
        }
        Ok(())
    }

    /// The block is whole; what has to go back verbatim is handed over.
    pub(super) fn close(&mut self, out: &mut Vec<ModelEvent>) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        let block = self.block;
        let echo = match &self.kind {
            Kind::Text { citations, .. } if citations.is_empty() => None,
            Kind::Text { text, citations } => {
                self.fields.set("text", written::string(text));
                self.fields
                    .set("citations", format!("[{}]", citations.join(",")));
                Some(self.fields.to_json())
            }
            // Thinking without a signature is refused when it comes back.
            Kind::Thinking { signature, .. } if signature.is_empty() => None,
            Kind::Thinking { text, signature } => {
                self.fields.set("thinking", written::string(text));
                self.fields.set("signature", written::string(signature));
                Some(self.fields.to_json())
            }
            Kind::ToolUse { input } => {
                let sent_whole = self.fields.raw("input").filter(|_| input.is_empty());
                let json = sent_whole.map(arguments::text_of).unwrap_or_default();
                let input = arguments::as_object(if input.is_empty() { &json } else { input });
                let echo = self.fields.has_more_than_a_call().then(|| {
                    self.fields.set("input", input.to_owned());
                    self.fields.to_json()
                });
                if !matches!(json.as_str(), "" | "{}") {
                    out.push(ModelEvent::CallInputDelta { block, json });
                }
                echo
            }
            Kind::Opaque { input } => {
                if !input.is_empty() {
                    self.fields
                        .set("input", arguments::as_object(input).to_owned());
                }
                Some(self.fields.to_json())
            }
        };
        if let Some(json) = echo {
            out.push(ModelEvent::BlockEcho { block, json });
        }
    }
}

fn say(block: u32, text: &str, out: &mut Vec<ModelEvent>) {
    if !text.is_empty() {
        let text = text.to_owned();
        out.push(ModelEvent::TextDelta { block, text });
    }
}

fn think(block: u32, text: &str, out: &mut Vec<ModelEvent>) {
    let text = text.to_owned();
    out.push(ModelEvent::ReasoningDelta { block, text });
}

impl Fields {
    fn raw(&self, name: &str) -> Option<&RawValue> {
        let field = self.0.iter().find(|(field, _)| field == name);
        field.map(|(_, value)| &**value)
    }

    fn text(&self, name: &str) -> String {
        let text = self
            .raw(name)
            .and_then(|raw| serde_json::from_str::<Text<'_>>(raw.get()).ok());
        text.unwrap_or_default().into_string()
    }

    fn list(&self, name: &str) -> Vec<String> {
        let raw = self.raw(name).map_or("[]", RawValue::get);
        let items: Vec<&RawValue> = serde_json::from_str(raw).unwrap_or_default();
        items
            .into_iter()
            .map(|item| item.get().to_owned())
            .collect()
    }

    fn set(&mut self, name: &str, json: String) {
        let Ok(json) = RawValue::from_string(json) else {
            return;
        };
        match self.0.iter_mut().find(|(field, _)| field == name) {
            Some((_, value)) => *value = json,
            None => self.0.push((name.to_owned(), json)),
        }
    }

    /// A delta of a kind that is new to us: text grows, anything else replaces.
    fn merge(&mut self, delta: &RawValue) -> serde_json::Result<()> {
        let delta: Self = serde_json::from_str(delta.get())?;
        for (name, value) in delta.0 {
            if name == "type" {
                continue;
            }
            let json = match serde_json::from_str::<String>(value.get()) {
                Ok(more) => written::string(&(self.text(&name) + &more)),
                Err(_) => value.get().to_owned(),
            };
            self.set(&name, json);
        }
        Ok(())
    }

    /// Something beside id, name and input that its service wants back.
    fn has_more_than_a_call(&self) -> bool {
        self.0.iter().any(|(name, value)| match name.as_str() {
            "type" | "id" | "name" | "input" => false,
            "caller" => !value.get().contains(r#""direct""#),
            _ => value.get() != "null",
        })
    }

    fn to_json(&self) -> String {
        let fields = self.0.iter();
        let fields = fields.map(|(name, value)| format!("{}:{value}", written::string(name)));
        format!("{{{}}}", written::joined(fields))
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;

        impl<'de> Visitor<'de> for Read {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(Read)
    }
}
