//! `eval list`: tasks, adapters, or the runs of a folder.
//!
//! It runs nothing.

use std::path::Path;

use anyhow::Result;
use hames_eval::{adapter::Options, adapters, datasets, plan::Filter, report, store::Store};

use super::{args::ListArgs, found};
use crate::{
    environment::Environment,
    exit::usage,
    explain::page::{self, Table},
};

pub(super) fn run(args: &ListArgs, environment: &Environment) -> Result<u8> {
    let text = match args.what.to_str() {
        Some("adapters") => adapters(args, environment)?,
        Some("runs") => runs(args, environment)?,
        _ => tasks(args, environment)?,
    };
    page::print(&text)?;
    Ok(0)
}

fn adapters(args: &ListArgs, environment: &Environment) -> Result<String> {
    let host = found::host(&args.place, environment)?;
    let mut table = Table::new(["ADAPTER", "ALSO", "HERE", "PASSES"]);
    for adapter in adapters::all() {
        let here = match adapter.check(&host, &Options::default()) {
            Ok(()) => "yes".to_owned(),
            Err(error) => error.to_string(),
        };
        table.row([
            adapter.name().to_owned(),
            adapter.aliases().join(", "),
            here,
            first(adapter.passes()),
        ]);
    }
    Ok(table.render())
}

/// The rest is in the page on adapters.
fn first(variables: &[&str]) -> String {
    match variables {
        [one, two, _, _, rest @ ..] => format!("{one} {two} and {} more", rest.len() + 2),
        few => few.join(" "),
    }
}

fn runs(args: &ListArgs, environment: &Environment) -> Result<String> {
    let root = found::root(&args.place, environment);
    let rows = match Store::database(&root).is_file() {
        true => Store::open(&root)?.runs()?,
        false => Vec::new(),
    };
    if rows.is_empty() {
        return Ok(format!("There is no run in {}.\n", root.display()));
    }
    Ok(report::runs(&rows, &report::Options::default()))
}

fn tasks(args: &ListArgs, environment: &Environment) -> Result<String> {
    let host = found::host(&args.place, environment)?;
    let path = found::tasks(Path::new(&args.what), &host, environment)?;
    let filter = Filter {
        ids: args.ids.clone(),
        repos: args.repos.clone(),
        split: args.split.clone(),
        limit: None,
    };
    let loaded = datasets::load(&path, &filter).map_err(|error| usage(error.to_string()))?;
    let mut table = Table::new(["ID", "REPOSITORY", "VERSION", "F2P", "P2P"]);
    for instance in &loaded.instances {
        table.row([
            instance.id.clone(),
            instance.repo.clone(),
            instance.version.clone(),
            instance.answers.fail_to_pass.len().to_string(),
            instance.answers.pass_to_pass.len().to_string(),
        ]);
    }
    let mut text = table.render();
    for (_, why) in &loaded.refused {
        text += &format!("left out {why}\n");
    }
    for note in &loaded.notes {
        text += &format!("{note}\n");
    }
    Ok(text)
}
