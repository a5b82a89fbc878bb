//! The protocols side by side, as data: what each wire calls the parts of a call.
//!
//! It encodes and decodes nothing; tests hold each row to the codec that speaks it.

use hames_types::{ApiKind, StopReason};

/// One column of the table: a wire, in its own words.
#[derive(Debug, Clone, Copy)]
pub struct Protocol {
    pub api: ApiKind,
    pub name: &'static str,
    /// As its own service has it; a base URL of the catalog and `Api::path` make it up.
    pub endpoint: &'static str,
    pub auth: &'static str,
    pub history: &'static str,
    pub tool_spec: &'static str,
    pub tool_call: &'static str,
    pub tool_result: &'static str,
    /// Where the stop word stands.
    pub stop_field: &'static str,
    /// The wire's stop words, and what each means here.
    pub stop_words: &'static [(&'static str, StopReason)],
    pub stop_note: &'static str,
    /// Fields that bound an answer, as JSON pointers into the request.
    pub cap: &'static [&'static str],
    pub stream: &'static str,
    /// Input, output and the rest, as the wire counts them.
    pub usage: &'static str,
}

impl Protocol {
    /// False for a wire that is described and not spoken yet.
    pub fn is_spoken(&self) -> bool {
        crate::api(self.api).is_some()
    }

    /// The table's rows: what is described, and how this wire does it.
    pub fn rows(&self) -> [(&'static str, String); 10] {
        [
            ("Endpoint", self.endpoint.to_owned()),
            ("Auth", self.auth.to_owned()),
            ("History", self.history.to_owned()),
            ("Tool spec", self.tool_spec.to_owned()),
            ("Tool call", self.tool_call.to_owned()),
            ("Tool result", self.tool_result.to_owned()),
            ("Stop", self.stops()),
            ("Cap", self.caps()),
            ("Stream", self.stream.to_owned()),
            ("Usage", self.usage.to_owned()),
        ]
    }

    fn stops(&self) -> String {
        let words = self.stop_words.iter().map(|(word, _)| *word);
        let words = words.collect::<Vec<_>>().join(", ");
        let note = match self.stop_note {
            "" => String::new(),
            note => format!("; {note}"),
        };
        format!("{}: {words}{note}", self.stop_field)
    }

    fn caps(&self) -> String {
        let fields = self.cap.iter();
        let fields = fields.map(|field| field.trim_start_matches('/').replace('/', "."));
        fields.collect::<Vec<_>>().join(" or ")
    }
}

pub const PROTOCOLS: [Protocol; 4] = [
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    ANTHROPIC_MESSAGES,
    OLLAMA_CHAT,
];

const OPENAI_CHAT: Protocol = Protocol {
    api: ApiKind::OpenaiChat,
    name: "OpenAI Chat Completions",
    endpoint: "/v1/chat/completions",
    auth: "authorization: Bearer KEY",
    history: "messages[], roles system, user, assistant, tool",
    tool_spec: "tools[].function{name, description, parameters}",
    tool_call: "tool_calls[]{id, function{name, arguments}}; arguments is a JSON string",
    tool_result: "a message of role tool with tool_call_id, one for each call",
    stop_field: "finish_reason of the choice",
    stop_words: &[
        ("stop", StopReason::EndTurn),
        ("length", StopReason::MaxTokens),
        ("tool_calls", StopReason::ToolUse),
        ("content_filter", StopReason::ContentFilter),
        ("function_call", StopReason::ToolUse),
    ],
    stop_note: "gateways may say stop with calls, so calls are looked at first",
    cap: &["/max_tokens", "/max_completion_tokens"],
    stream: "SSE data chunks; arguments in fragments keyed by index, id and name in the first alone; \
             ends with a finish_reason, then [DONE]",
    usage: "prompt_tokens, completion_tokens; in a stream only with stream_options.include_usage, \
            in a last chunk without choices",
};

const OPENAI_RESPONSES: Protocol = Protocol {
    api: ApiKind::OpenaiResponses,
    name: "OpenAI Responses",
    endpoint: "/v1/responses",
    auth: "authorization: Bearer KEY",
    history: "input items[] (message, function_call, function_call_output, reasoning), or \
              previous_response_id",
    tool_spec: "flat: {type: function, name, parameters, strict}",
    tool_call: "an item function_call{call_id, name, arguments}; arguments is a JSON string",
    tool_result: "an item function_call_output{call_id, output}",
    stop_field: "status, incomplete_details.reason",
    stop_words: &[
        ("completed", StopReason::EndTurn),
        ("max_output_tokens", StopReason::MaxTokens),
        ("content_filter", StopReason::ContentFilter),
    ],
    stop_note: "failed is an error, and tool use is seen from the items",
    cap: &["/max_output_tokens"],
    stream: "SSE with named events and sequence_number; function_call_arguments.delta and .done; ends \
             with completed, incomplete or failed, without [DONE]",
    usage: "input_tokens, output_tokens, with details",
};

const ANTHROPIC_MESSAGES: Protocol = Protocol {
    api: ApiKind::AnthropicMessages,
    name: "Anthropic Messages",
    endpoint: "/v1/messages",
    auth: "x-api-key: KEY, and anthropic-version",
    history: "messages[], user and assistant only, of typed blocks; system stands at the top level",
    tool_spec: "tools[]{name, description, input_schema}",
    tool_call: "a block tool_use{id, name, input}; input is an object",
    tool_result: "blocks tool_result{tool_use_id, content, is_error} in one user message, before any \
                  text",
    stop_field: "stop_reason",
    stop_words: &[
        ("end_turn", StopReason::EndTurn),
        ("max_tokens", StopReason::MaxTokens),
        ("stop_sequence", StopReason::StopSequence),
        ("tool_use", StopReason::ToolUse),
        ("pause_turn", StopReason::PauseTurn),
        ("refusal", StopReason::Refusal),
        ("model_context_window_exceeded", StopReason::ContextExceeded),
    ],
    stop_note: "",
    cap: &["/max_tokens"],
    stream: "SSE with named events: message_start, content_block_start, _delta (text, input_json, \
             thinking, signature), _stop, message_delta (stop_reason, usage), message_stop, ping, error",
    usage: "input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens",
};

const OLLAMA_CHAT: Protocol = Protocol {
    api: ApiKind::OllamaChat,
    name: "Ollama chat",
    endpoint: "/api/chat",
    auth: "none by default",
    history: "messages[], roles as in chat completions",
    tool_spec: "tools[].function{name, description, parameters}",
    tool_call: "tool_calls[]{function{name, arguments}}; arguments is an object, an id often absent",
    tool_result: "a message of role tool with tool_call_id (its documentation names tool_name)",
    stop_field: "done_reason",
    stop_words: &[
        ("stop", StopReason::EndTurn),
        ("length", StopReason::MaxTokens),
    ],
    stop_note: "tool use is seen from the field; it says stop with calls as well",
    cap: &["/options/num_predict"],
    stream: "NDJSON, one object a line; a tool call arrives whole; the last line says done",
    usage: "prompt_eval_count, eval_count, in the last line",
};
