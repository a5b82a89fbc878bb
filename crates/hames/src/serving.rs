//! Which model serves: a name on the command line, or what can be found, made into a `Model`.
//!
//! It reads no variable and opens no connection: the environment is handed in.

use std::{path::Path, sync::Arc};

use anyhow::Result;
use hames_providers::Scripted;
use hames_types::{Prices, Provider};

use crate::{exit::usage, report::Window};

pub struct Serving {
    pub provider: Arc<dyn Provider>,
    pub name: Arc<str>,
    pub window: Window,
    pub prices: Option<Prices>,
    pub key_source: String,
}

pub fn serving(name: Option<&str>) -> Result<Serving> {
    match name.and_then(|name| name.strip_prefix("script:")) {
        Some(file) => scripted(Path::new(file)),
        None => Err(usage("only script:FILE is there yet")),
    }
}

fn scripted(file: &Path) -> Result<Serving> {
    let provider = Scripted::open(file).map_err(|error| usage(error.to_string()))?;
    Ok(Serving {
        provider: Arc::new(provider),
        name: "scripted".into(),
        window: Window {
            context: 200_000,
            output: 4096,
        },
        prices: Some(Prices::default()),
        key_source: "none".to_owned(),
    })
}
