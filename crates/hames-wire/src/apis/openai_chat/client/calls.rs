//! Tool calls that come in fragments, put together whoever numbered them and however badly.
//!
//! A fragment belongs to the call of its index, unless its id, its name, or a call that is complete
//! already says that it begins another.

use hames_types::ModelEvent;
use serde_json::value::RawValue;

use super::chunk::{CallDelta, Function};
use crate::arguments;

#[derive(Default)]
pub(super) struct Calls(Vec<Call>);

struct Call {
    block: u32,
    index: Option<u64>,
    id: String,
    name: String,
    announced: bool,
    /// Arguments that are not passed on yet: nobody can say so far what they are.
    held: String,
    /// They begin with a brace, so that they are passed on as they come.
    flowing: bool,
    extent: arguments::Extent,
}

impl Calls {
    /// A fragment of a stream.
    pub(super) fn take_in(
        &mut self,
        delta: CallDelta<'_>,
        next_block: &mut u32,
        out: &mut Vec<ModelEvent>,
    ) {
        let text = argument_text(delta.function.as_ref());
        let found = self.find(&delta);
        let found = found.filter(|place| {
            let call = self.0.get(*place);
            call.is_some_and(|call| !call.is_followed_by(&delta, &text))
        });
        let last_name = self.0.last().map(|call| call.name.clone());
        let place = found.unwrap_or_else(|| {
            let name = last_name.unwrap_or_default();
            self.open(&delta, name, next_block)
        });
        let Some(call) = self.0.get_mut(place) else {
            return;
        };
        call.name_and_number(&delta, out);
        call.push(&text, out);
        call.keep_extra(delta.extra_content, out);
    }

    /// A call that came in one piece, whatever its index and id.
    pub(super) fn take_whole(
        &mut self,
        delta: CallDelta<'_>,
        next_block: &mut u32,
        out: &mut Vec<ModelEvent>,
    ) {
        let place = self.open(&delta, String::new(), next_block);
        let Some(call) = self.0.get_mut(place) else {
            return;
        };
        call.name_and_number(&delta, out);
        call.push(&argument_text(delta.function.as_ref()), out);
        call.keep_extra(delta.extra_content, out);
    }

    /// Lets go of what was held back.
    pub(super) fn flush(&mut self, out: &mut Vec<ModelEvent>) {
        for call in &mut self.0 {
            call.flush(out);
        }
    }

    fn find(&self, delta: &CallDelta<'_>) -> Option<usize> {
        if let Some(index) = delta.index.0 {
            return self.0.iter().rposition(|call| call.index == Some(index));
        }
        if !delta.id.is_empty() {
            let same = |call: &Call| call.id.is_empty() || call.id == delta.id.as_str();
            return self.0.iter().rposition(same);
        }
        self.0.len().checked_sub(1)
    }

    fn open(&mut self, delta: &CallDelta<'_>, last_name: String, next_block: &mut u32) -> usize {
        let named = delta
            .function
            .as_ref()
            .is_some_and(|function| !function.name.is_empty());
        let follows_unnamed = !named && delta.id.is_empty();
        let block = *next_block;
        *next_block = next_block.saturating_add(1);
        self.0.push(Call {
            block,
            index: delta.index.0,
            id: String::new(),
            name: if follows_unnamed {
                last_name
            } else {
                String::new()
            },
            announced: false,
            held: String::new(),
            flowing: false,
            extent: arguments::Extent::default(),
        });
        self.0.len() - 1
    }
}

impl Call {
    /// Whether this fragment begins another call, though its number says otherwise.
    fn is_followed_by(&self, delta: &CallDelta<'_>, text: &str) -> bool {
        let (id, name) = (delta.id.as_str(), name_of(delta));
        if !id.is_empty() && !self.id.is_empty() {
            return id != self.id;
        }
        if !name.is_empty() && !self.name.is_empty() && name != self.name {
            return true;
        }
        self.extent.is_complete() && !text.trim().is_empty()
    }

    fn name_and_number(&mut self, delta: &CallDelta<'_>, out: &mut Vec<ModelEvent>) {
        let mut news = false;
        if self.id.is_empty() && !delta.id.is_empty() {
            self.id = delta.id.as_str().to_owned();
            news = true;
        }
        let name = name_of(delta);
        if self.name.is_empty() && !name.is_empty() {
            self.name = name.to_owned();
            news = true;
        }
        let first = !self.announced;
        if !self.name.is_empty() && (news || first) {
            self.announce(out);
        }
    }

    fn announce(&mut self, out: &mut Vec<ModelEvent>) {
        self.announced = true;
        out.push(ModelEvent::CallStarted {
            block: self.block,
            id: self.id.clone(),
            name: self.name.clone(),
        });
    }

    fn push(&mut self, text: &str, out: &mut Vec<ModelEvent>) {
        if self.repeats_itself(text) {
            return;
        }
        self.extent.push(text);
        self.held += text;
        self.flowing = self.flowing || self.held.trim_start().starts_with('{');
        if self.flowing && self.announced {
            let json = std::mem::take(&mut self.held);
            self.pass_on(json, out);
        }
    }

    /// Some send the whole arguments again with the end of the call.
    fn repeats_itself(&self, text: &str) -> bool {
        self.extent.is_complete() && self.extent.text() == text.trim()
    }

    fn flush(&mut self, out: &mut Vec<ModelEvent>) {
        if !self.announced {
            self.announce(out);
        }
        let held = std::mem::take(&mut self.held);
        if self.flowing {
            self.pass_on(held, out);
        } else {
            self.pass_on(arguments::unwrap(&held).into_owned(), out);
        }
    }

    fn pass_on(&self, json: String, out: &mut Vec<ModelEvent>) {
        let block = self.block;
        if !json.is_empty() {
            out.push(ModelEvent::CallInputDelta { block, json });
        }
    }

    fn keep_extra(&self, extra: Option<&RawValue>, out: &mut Vec<ModelEvent>) {
        if let Some(extra) = extra {
            let (block, json) = (self.block, format!(r#"{{"extra_content":{extra}}}"#));
            out.push(ModelEvent::BlockEcho { block, json });
        }
    }
}

fn name_of<'a>(delta: &'a CallDelta<'_>) -> &'a str {
    let function = delta.function.as_ref();
    function.map_or("", |function| function.name.as_str())
}

/// Arguments as text: a string's content, or an object as it stands.
fn argument_text(function: Option<&Function<'_>>) -> String {
    let Some(raw) = function.and_then(|function| function.arguments) else {
        return String::new();
    };
    let raw = raw.get();
    serde_json::from_str(raw).unwrap_or_else(|_| raw.to_owned())
}
