//! Prints a scenario in which a scripted model plays a task's gold patch: `scenario TASKS ID DIALECT`.
//!
//! With it a real agent can be driven through a whole trial, its model a scripted server.

use std::{error::Error, path::Path};

use hames_eval::{
    datasets,
    plan::Filter,
    scripted::{Dialect, scenario_for},
};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [tasks, id, dialect] = args.as_slice() else {
        return Err("usage: scenario TASKS ID hames|qwen-code|mini-swe-agent".into());
    };
    let dialect: Dialect = dialect.parse()?;
    let filter = Filter {
        ids: vec![id.clone()],
        ..Filter::default()
    };
    let loaded = datasets::load(Path::new(tasks), &filter)?;
    let instance = loaded.instances.first().ok_or("no such task can be used")?;
    std::io::Write::write_all(
        &mut std::io::stdout(),
        scenario_for(instance, dialect).as_bytes(),
    )?;
    Ok(())
}
