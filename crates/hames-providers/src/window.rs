//! How large a local server's window really is: many cut a longer request in silence (B10).
//!
//! It only asks; what to do about the answer is decided elsewhere.

use std::time::Duration;

use hames_types::ApiKind;
use serde_json::{Value, json};

use crate::{
    ask::{Service, at, list, text, tokens},
    auth::header_map,
    choice::Choice,
    network::Network,
};

/// Asked beside the way to the first request, so it is short.
const QUESTION: Duration = Duration::from_secs(1);

/// What is asked for where the server leaves it to us: room for an agent, on most machines' memory.
const WANTED: u32 = 32_768;

/// A local server's real window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalWindow {
    /// Input and output together.
    pub tokens: u32,
    pub source: WindowSource,
    /// The server uses this window only if each request says so, or else its own smaller default,
    /// and cuts in silence: it goes to `Options::context_window`.
    pub say_in_request: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowSource {
    /// Ollama `/api/show`: `num_ctx` of the Modelfile.
    Modelfile,
    /// Ollama `/api/ps`: what the model is loaded with.
    Loaded,
    /// Ollama `/api/show`: what the model was trained for, up to what we want.
    Trained,
    /// llama.cpp `/props`: `n_ctx` of a slot.
    Props,
    /// LM Studio `/api/v0/models`: `loaded_context_length`.
    LmStudio,
    /// `/v1/models`: vLLM's `max_model_len`, llama.cpp's `n_ctx`.
    ModelList,
}

/// Asks the server of the choice; `None` for one that is not the user's own, or that does not say.
pub async fn local_window(choice: &Choice, network: &Network) -> Option<LocalWindow> {
    if !choice.is_own_server() {
        return None;
    }
    let headers = header_map(&choice.headers).ok()?;
    let service = Service::new(network, &choice.base_url, headers, QUESTION)?;
    let model = choice.model.name.as_str();
    if choice.api() == ApiKind::OllamaChat {
        return ollama(&service, model).await;
    }
    let (props, studio, models) = tokio::join!(
        service.get("/props"),
        service.get("/api/v0/models"),
        service.get("/v1/models"),
    );
    let said = [
        (
            WindowSource::Props,
            props.and_then(|answer| llama_cpp(&answer)),
        ),
        (
            WindowSource::LmStudio,
            studio.and_then(|answer| lm_studio(&answer, model)),
        ),
        (
            WindowSource::ModelList,
            models.and_then(|answer| listed(&answer, model)),
        ),
    ];
    let mut said = said.into_iter();
    said.find_map(|(source, tokens)| {
        Some(LocalWindow {
            tokens: tokens?,
            source,
            say_in_request: false,
        })
    })
}

async fn ollama(service: &Service, model: &str) -> Option<LocalWindow> {
    let question = json!({ "model": model });
    let (shown, loaded) =
        tokio::join!(service.post("/api/show", &question), service.get("/api/ps"));
    let shown = shown?;
    let (tokens, source) = if let Some(set) = modelfile(&shown) {
        (set, WindowSource::Modelfile)
    } else {
        let trained = trained(&shown).map(|tokens| tokens.min(WANTED));
        let loaded = loaded.and_then(|answer| loaded_with(&answer, model));
        match (trained, loaded) {
            (Some(trained), Some(loaded)) if loaded < trained => (trained, WindowSource::Trained),
            (_, Some(loaded)) => (loaded, WindowSource::Loaded),
            (Some(trained), None) => (trained, WindowSource::Trained),
            (None, None) => return None,
        }
    };
    Some(LocalWindow {
        tokens,
        source,
        say_in_request: true,
    })
}

/// A line `num_ctx   8192` among the parameters.
fn modelfile(shown: &Value) -> Option<u32> {
    let parameters = text(shown, "parameters")?;
    let set = |line: &str| line.trim().strip_prefix("num_ctx")?.trim().parse().ok();
    parameters.lines().find_map(set)
}

/// `llama.context_length`, `qwen3.context_length`: the key begins with the architecture's name.
fn trained(shown: &Value) -> Option<u32> {
    let info = shown.get("model_info")?.as_object()?;
    let length = info
        .iter()
        .find(|(key, _)| key.ends_with(".context_length"));
    length.and_then(|(_, value)| tokens(value))
}

fn loaded_with(running: &Value, model: &str) -> Option<u32> {
    let named = |entry: &&Value| {
        let name = text(entry, "name").or_else(|| text(entry, "model"));
        name.is_some_and(|name| name == model || name.strip_suffix(":latest") == Some(model))
    };
    let entry = list(running, "models").iter().find(named)?;
    tokens(entry.get("context_length")?)
}

fn llama_cpp(props: &Value) -> Option<u32> {
    let of_slot = at(props, &["default_generation_settings", "n_ctx"]);
    tokens(of_slot.or_else(|| props.get("n_ctx"))?)
}

fn lm_studio(models: &Value, model: &str) -> Option<u32> {
    tokens(named(models, model)?.get("loaded_context_length")?)
}

fn listed(models: &Value, model: &str) -> Option<u32> {
    let entry = named(models, model)?;
    tokens(
        entry
            .get("max_model_len")
            .or_else(|| at(entry, &["meta", "n_ctx"]))?,
    )
}

fn named<'a>(models: &'a Value, model: &str) -> Option<&'a Value> {
    let is = |entry: &&Value| text(entry, "id") == Some(model);
    list(models, "data").iter().find(is)
}
