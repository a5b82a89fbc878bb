//! What a model in a journal costs, by the catalog.
//!
//! A journal names models and not vendors: where vendors differ, no price is known.

use anyhow::Result;
use hames_providers::Catalog;
use hames_types::Prices;

pub(crate) struct PriceList(Catalog);

impl PriceList {
    pub fn built_in() -> Result<Self> {
        Ok(Self(Catalog::built_in()?))
    }

    /// `None` where no vendor, or more than one of several minds, has a price.
    pub fn of(&self, model: &str) -> Option<Prices> {
        let vendors = self.0.vendors().iter();
        let mut prices = vendors.filter_map(|vendor| {
            let model = self.0.model(&vendor.name, model);
            model.known.then_some(model.prices)
        });
        let first = prices.next()??;
        prices.all(|other| other == Some(first)).then_some(first)
    }
}

/// `$0.0123`, or that it is not known.
pub(crate) fn dollars(cost: Option<f64>) -> String {
    cost.map_or("no price known".to_owned(), |cost| format!("${cost:.4}"))
}
