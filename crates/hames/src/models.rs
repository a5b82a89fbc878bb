//! `hames models`: what the catalog knows, and which of it can be used now.
//!
//! It shows no key, sends no prompt, and asks only servers on this machine whether they are there.

pub(crate) mod reach;

use anyhow::Result;
use hames_providers::{Catalog, Vendor};
use hames_types::Prices;

use crate::{
    environment::Environment,
    explain::page::{self, Table},
};
use reach::{Reach, reach};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only vendors and models whose name contains this.
    filter: Option<String>,
    /// Only what can be used now.
    #[arg(long)]
    ready: bool,
}

/// The exit code.
pub fn run(args: &Args, environment: &Environment) -> Result<u8> {
    let catalog = Catalog::built_in()?;
    let vendors: Vec<_> = catalog
        .vendors()
        .iter()
        .map(|vendor| (vendor, reach(vendor, environment)))
        .filter(|(_, reach)| !args.ready || reach.is_ready())
        .collect();
    let mut text = models(args, &catalog, &vendors);
    text += &services(args, &vendors);
    text += "\nUse one as --model VENDOR/MODEL, or as --model MODEL where only one vendor has it; any other\n\
             model of a vendor works, too, with cautious limits and its cost in tokens only.\n";
    page::print(&text)?;
    Ok(0)
}

fn wanted(args: &Args, name: &str) -> bool {
    args.filter
        .as_ref()
        .is_none_or(|filter| name.contains(filter.as_str()))
}

fn models(args: &Args, catalog: &Catalog, vendors: &[(&Vendor, Reach)]) -> String {
    let mut table = Table::new([
        "VENDOR/MODEL",
        "WINDOW",
        "OUTPUT",
        "$ IN",
        "$ OUT",
        "$ CACHED",
        "PRICED",
        "NOW",
    ]);
    for (vendor, reach) in vendors {
        for row in catalog
            .models()
            .iter()
            .filter(|row| row.vendor == vendor.name)
        {
            let name = format!("{}/{}", vendor.name, row.name);
            if !wanted(args, &name) {
                continue;
            }
            let price = |of: fn(&Prices) -> f64| {
                row.prices
                    .as_ref()
                    .map_or("-".to_owned(), |prices| dollars(of(prices)))
            };
            table.row([
                name,
                row.window.to_string(),
                row.max_output
                    .map_or("-".to_owned(), |most| most.to_string()),
                price(|prices| prices.input),
                price(|prices| prices.output),
                price(|prices| prices.cache_read),
                row.priced.clone().unwrap_or_else(|| "-".to_owned()),
                reach.in_a_word().to_owned(),
            ]);
        }
    }
    match table.is_empty() {
        true => String::new(),
        false => format!(
            "Models, their windows and longest answers in tokens, US dollars per million tokens.\n\n{}",
            table.render()
        ),
    }
}

fn services(args: &Args, vendors: &[(&Vendor, Reach)]) -> String {
    let mut table = Table::new(["VENDOR", "ADDRESS", "NOW"]);
    for (vendor, reach) in vendors {
        if wanted(args, &vendor.name) {
            table.row([
                vendor.name.clone(),
                vendor.base_url.clone(),
                reach.to_string(),
            ]);
        }
    }
    match table.is_empty() {
        true => "nothing of the catalog is meant by that\n".to_owned(),
        false => format!("\nVendors.\n\n{}", table.render()),
    }
}

fn dollars(price: f64) -> String {
    let text = format!("{price:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}
