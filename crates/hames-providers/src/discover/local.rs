//! Servers on this machine: who answers, and which of their models can do the work.
//!
//! All are looked for at once, and none is waited for longer than a glance.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{FourWays, GLANCE, NoModel, Seeker, models};
use crate::{
    ask::{Service, list, text},
    catalog::Vendor,
    choice::{Choice, Found, headers},
};

/// How many of an Ollama's models are asked whether they can call tools.
const ASKED: usize = 8;

/// The first in the catalog's order that answers with a model.
pub(super) async fn first(seeker: &Seeker<'_>) -> Result<Choice, NoModel> {
    let local = seeker
        .catalog
        .vendors()
        .iter()
        .filter(|vendor| vendor.local);
    let looks = join_all(local.map(|vendor| look(seeker, vendor))).await;
    let mut empty_server = None;
    for (vendor, base_url, there) in looks.into_iter().flatten() {
        let Some(model) = there.first() else {
            empty_server = empty_server.or(Some(base_url));
            continue;
        };
        return Ok(Choice {
            vendor: vendor.clone(),
            model: seeker.catalog.model(&vendor.name, model),
            found: Found::Server(base_url.clone()),
            base_url,
            headers: headers(vendor, seeker.variables),
        });
    }
    Err(NoModel::Nothing(FourWays { empty_server }))
}

async fn look<'a>(
    seeker: &Seeker<'_>,
    vendor: &'a Vendor,
) -> Option<(&'a Vendor, String, Vec<String>)> {
    let base_url = seeker.base_url(vendor);
    let service = seeker.service(vendor, &base_url, GLANCE)?;
    let there = models(&service, vendor.api).await?;
    Some((vendor, base_url, there))
}

/// Those that can call tools first, each group as Ollama lists it: the latest first.
pub(super) async fn ollama_models(service: &Service) -> Option<Vec<String>> {
    let answer = service.get("/api/tags").await?;
    let listed = list(&answer, "models").iter();
    let names: Vec<&str> = listed
        .filter_map(|model| text(model, "name"))
        .filter(|name| !name.contains("embed"))
        .collect();
    let asked = names.iter().take(ASKED);
    let can_call = join_all(asked.map(|name| calls_tools(service, name))).await;
    let can_call = |at: usize| can_call.get(at).copied().unwrap_or_default();
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|at| !can_call(*at));
    let name = |at: usize| names.get(at).map(|name| (*name).to_owned());
    Some(order.into_iter().filter_map(name).collect())
}

async fn calls_tools(service: &Service, name: &str) -> bool {
    let shown = service.post("/api/show", &json!({ "model": name })).await;
    let shown = shown.unwrap_or_default();
    let can = list(&shown, "capabilities").iter();
    can.filter_map(Value::as_str).any(|can| can == "tools")
}
