//! Loop Controller's guard against going in circles: the same calls with the same results.
//!
//! A call that is repeated while its result changes is work, and none of its business.

use std::{
    ops::ControlFlow::{self, Break, Continue},
    sync::Arc,
};

use hames_types::{Entry, HookEffect, Limit, Message, Outcome, ToolCall, ToolResult, ToolResults};

use crate::{QueryContext, round::ToolRound};

/// The longest circle that is seen, in rounds.
const LONGEST_CIRCLE: usize = 3;

/// How often the same calls may give the same results, one round after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeats {
    /// Then the model is told, each time.
    pub tell_at: u32,
    /// Then the query ends.
    pub stop_at: u32,
}

impl Repeats {
    /// Nothing is looked for.
    pub const NEVER: Self = Self {
        tell_at: u32::MAX,
        stop_at: u32::MAX,
    };
}

impl Default for Repeats {
    fn default() -> Self {
        let (tell_at, stop_at) = (3, 6);
        Self { tell_at, stop_at }
    }
}

/// Looks at a round that is answered, and at no more rounds before it than the limit needs.
pub(crate) fn check(cx: &QueryContext, round: &mut ToolRound<'_>) -> ControlFlow<Outcome> {
    let Repeats { tell_at, stop_at } = cx.repeats;
    if cx.repeats == Repeats::NEVER {
        return Continue(());
    }
    let times = round.answered().map_or(1, |newest| {
        let needed = stop_at as usize * LONGEST_CIRCLE;
        times_in_a_row(&rounds(newest, round.before(), needed))
    });
    if times >= stop_at {
        let limit = Limit::RepeatedCall;
        return Break(Outcome::LimitReached { limit });
    }
    let calls = round.calls();
    let Some(last) = calls.last().filter(|_| times >= tell_at) else {
        return Continue(());
    };
    let text = format!(
        "This is time {times} that the same call has given the same result; at {stop_at} the query \
         ends. Change something, or say what stops you."
    );
    round.record(Entry::HookRan {
        hook: "repeated_call".to_owned(),
        call: Some(last.id.clone()),
        did: HookEffect::Remarked { text },
    })
}

/// What a round asked and what came of it, ids aside.
#[derive(PartialEq)]
struct Round<'a>(Vec<(&'a str, &'a str, Arc<ToolResult>)>);

impl<'a> Round<'a> {
    fn new(calls: impl Iterator<Item = &'a ToolCall>, results: &ToolResults) -> Self {
        let nameless = |result: &Arc<ToolResult>| {
            let call = "".into();
            Arc::new(ToolResult {
                call,
                ..(**result).clone()
            })
        };
        let pairs = calls.zip(results.iter());
        Self(
            pairs
                .map(|(call, result)| (&*call.name, &*call.input.0, nameless(result)))
                .collect(),
        )
    }
}

/// Newest first, back to what a human said last.
fn rounds<'a>(
    newest: (&'a [ToolCall], ToolResults),
    before: &'a [Message],
    most: usize,
) -> Vec<Round<'a>> {
    let mut rounds = vec![Round::new(newest.0.iter(), &newest.1)];
    // The last message is the one whose round this is.
    let mut earlier = before.iter().rev().skip(1).peekable();
    while let Some(message) = earlier.next() {
        match (message, earlier.peek()) {
            (Message::User(said), _) if said.origin.is_human() => break,
            (Message::Tool(results), Some(Message::Assistant(asked))) => {
                rounds.push(Round::new(asked.tool_calls(), results));
            }
            (Message::Tool(_) | Message::User(_) | Message::Assistant(_), _) => {}
        }
        if rounds.len() >= most {
            break;
        }
    }
    rounds
}

/// How often the newest circle of one, two or three rounds has come without a break.
fn times_in_a_row(rounds: &[Round<'_>]) -> u32 {
    let times = |circle: usize| {
        let same = rounds.iter().zip(rounds.iter().skip(circle));
        let same = same.take_while(|(one, other)| one == other).count();
        u32::try_from(same / circle)
            .unwrap_or(u32::MAX)
            .saturating_add(1)
    };
    (1..=LONGEST_CIRCLE).map(times).max().unwrap_or(1)
}
