//! The table of services and models, and what `--model` makes of it.

use std::collections::HashSet;

use hames_providers::{Catalog, CatalogError};
use hames_types::ApiKind;

fn built_in() -> Catalog {
    Catalog::built_in().unwrap()
}

#[test]
fn every_vendor_row_can_be_used() {
    let catalog = built_in();
    let names: Vec<_> = catalog
        .vendors()
        .iter()
        .map(|vendor| vendor.name.as_str())
        .collect();
    let wanted = [
        "anthropic",
        "openai",
        "openrouter",
        "groq",
        "deepseek",
        "mistral",
        "xai",
        "together",
        "ollama",
        "llamacpp",
        "lmstudio",
        "vllm",
    ];
    assert_eq!(names, wanted);
    for vendor in catalog.vendors() {
        let name = &vendor.name;
        let scheme = if vendor.local {
            "http://127.0.0.1:"
        } else {
            "https://"
        };
        assert!(vendor.base_url.starts_with(scheme), "{name}");
        assert!(!vendor.base_url.ends_with('/'), "{name}");
        assert_eq!(vendor.default_model.is_none(), vendor.local, "{name}");
        assert!(
            !vendor.keys.is_empty() && !vendor.base_url_variables.is_empty(),
            "{name}"
        );
        let variables = vendor.keys.iter().map(|row| &row.variable);
        let variables = variables
            .chain(&vendor.base_url_variables)
            .chain(&vendor.model_variables);
        for variable in variables {
            let shouts = |c: char| c.is_ascii_uppercase() || c == '_';
            assert!(variable.chars().all(shouts), "{name}: {variable}");
        }
        for header in &vendor.headers {
            assert!(
                header.value.is_some() != header.variable.is_some(),
                "{name}"
            );
        }
    }
}

#[test]
fn every_model_row_is_whole_and_dated() {
    let catalog = built_in();
    let mut seen = HashSet::new();
    for row in catalog.models() {
        let name = format!("{}/{}", row.vendor, row.name);
        assert!(catalog.vendor(&row.vendor).is_some(), "{name}");
        for called in [&row.name].into_iter().chain(&row.aliases) {
            assert!(
                seen.insert((row.vendor.clone(), called.clone())),
                "{name}: twice"
            );
        }
        let info = catalog.model(&row.vendor, &row.name);
        assert!(info.known && info.max_output < info.window, "{name}");
        assert_eq!(row.prices.is_some(), row.priced.is_some(), "{name}");
        let month = row.priced.as_deref().unwrap_or("2026-11");
        assert!(
            month.len() == 7 && month.starts_with("202"),
            "{name}: {month}"
        );
        let prices = row.prices.unwrap_or_default();
        assert!(prices.cache_read <= prices.input, "{name}");
        assert!(prices.input <= prices.cache_write, "{name}");
        assert!(prices.input <= prices.output, "{name}");
    }
    for vendor in catalog.vendors() {
        let default = vendor.default_model.as_deref();
        let routes_itself = vendor.name == "openrouter";
        let known = default.is_none_or(|model| catalog.model(&vendor.name, model).known);
        assert!(known || routes_itself, "{}", vendor.name);
    }
}

/// `VENDOR MODEL`, or the error.
fn found(spec: &str) -> String {
    match built_in().find(spec) {
        Ok(asked) => {
            let model = asked.model.map_or("-".to_owned(), |model| model.name);
            format!("{} {model}", asked.vendor.name)
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_model_is_named_with_its_vendor_or_alone_if_only_one_has_it() {
    let cases = [
        ("openai/gpt-5", "openai gpt-5"),
        (" openai/brand-new ", "openai brand-new"),
        (
            "openrouter/anthropic/claude-opus-5",
            "openrouter anthropic/claude-opus-5",
        ),
        ("groq/openai/gpt-oss-20b", "groq openai/gpt-oss-20b"),
        ("openai/gpt-oss-20b", "openai gpt-oss-20b"),
        ("claude-opus-5", "anthropic claude-opus-5"),
        ("sonnet", "anthropic claude-sonnet-5-5"),
        ("moonshotai/Kimi-K3", "together moonshotai/Kimi-K3"),
        ("ollama", "ollama -"),
        ("ollama/", "ollama -"),
        ("ollama/qwen3:4b", "ollama qwen3:4b"),
        ("http://10.0.0.1:80/v1#m/x", "http://10.0.0.1:80/v1 m/x"),
        ("anthropic+https://a.test#m", "https://a.test m"),
        ("ollama+http://a.test", "http://a.test -"),
    ];
    for (spec, wanted) in cases {
        assert_eq!(found(spec), wanted, "{spec}");
    }
}

#[test]
fn what_is_not_clear_is_refused_with_the_choices() {
    let vendors = "anthropic, openai, openrouter, groq, deepseek, mistral, xai, together, ollama, \
                   llamacpp, lmstudio, vllm";
    let how = format!("write VENDOR/MODEL with one of {vendors}, or URL#MODEL");
    assert_eq!(
        found("nobody/gpt"),
        format!("there is no vendor `nobody`; {how}")
    );
    assert_eq!(
        found("gpt-99"),
        format!("no vendor is known to have `gpt-99`; {how}")
    );
    assert_eq!(found(" "), format!("no model is named; {how}"));
    assert_eq!(
        found("grpc+http://a.test#m"),
        "`grpc+` names no wire; a URL may begin with openai+, anthropic+ or ollama+"
    );
    let row = |vendor: &str| {
        format!(
            "[[vendor]]\nname = \"{vendor}\"\napi = \"openai_chat\"\nbase_url = \"http://x\"\n\
             [[model]]\nvendor = \"{vendor}\"\nname = \"same\"\nwindow = 1\n"
        )
    };
    let two = Catalog::parse(&format!("{}{}", row("a"), row("b"))).unwrap();
    let wanted = CatalogError::Ambiguous {
        model: "same".into(),
        choices: vec!["a/same".into(), "b/same".into()],
    };
    assert_eq!(two.find("same"), Err(wanted.clone()));
    assert_eq!(
        wanted.to_string(),
        "several vendors have `same`; write one of a/same, b/same"
    );
}

#[test]
fn an_unknown_model_is_said_to_be_and_gets_no_price() {
    let catalog = built_in();
    let unknown = catalog.model("openai", "brand-new");
    let told = (
        unknown.window,
        unknown.max_output,
        unknown.prices,
        unknown.known,
    );
    assert_eq!(told, (32_768, 4_096, None, false));
    for dated in ["gpt-4o-2024-08-06", "gpt-4o"] {
        let known = catalog.model("openai", dated);
        assert_eq!(
            (known.name.as_str(), known.window, known.known),
            (dated, 128_000, true)
        );
    }
    assert!(
        catalog
            .model("anthropic", "claude-haiku-4-5-20251001")
            .known
    );
    assert!(!catalog.model("anthropic", "claude-haiku-4").known);
    let alias = catalog.model("anthropic", "haiku");
    assert_eq!(
        (alias.name.as_str(), alias.priced.as_deref()),
        ("claude-haiku-5-5", Some("2026-11"))
    );
}

#[test]
fn a_row_of_the_users_own_replaces_one() {
    let mut catalog = built_in();
    let mut ours = catalog.vendor("groq").unwrap().clone();
    ours.api = ApiKind::AnthropicMessages;
    catalog.add(ours.clone());
    assert_eq!(catalog.vendor("groq"), Some(&ours));
    assert_eq!(catalog.vendors().len(), 12);
}
