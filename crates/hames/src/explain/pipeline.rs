//! `explain pipeline`: the evaluation's stages against the parts of the loop.
//!
//! The rows are the pipeline's own data; nothing is said twice.

use hames_eval::stage_table::TABLE;

use super::page::Table;

pub(crate) fn table() -> String {
    let mut table = Table::new([
        "STAGE",
        "DOES",
        "PART OF THE LOOP",
        "LEAVES",
        "CALLS A MODEL",
        "FILE IN HAMES-EVAL",
    ]);
    for row in &TABLE {
        table.row([
            row.stage.name().to_owned(),
            row.does.to_owned(),
            row.part.to_owned(),
            row.leaves.to_owned(),
            if row.calls_a_model { "yes" } else { "no" }.to_owned(),
            row.file.to_owned(),
        ]);
    }
    format!(
        "A pipeline around a loop: the model is called in S4_solve and nowhere else; the other stages are for one \
         task what the loop's parts are for one query.\n\n{}\nEach stage's time is in a result's stage_timings, each run of an \
         agent in adapter_attempts. `hames eval run TASKS --dry-run` prints the stages with their commands.\n",
        table.render()
    )
}

#[cfg(test)]
mod tests {
    use hames_eval::stage::Stage;

    #[test]
    fn req_w03_every_stage_has_a_row_and_one_calls_a_model() {
        let table = super::table();
        for stage in Stage::ALL {
            assert_eq!(
                table.matches(&format!("\n{} ", stage.name())).count(),
                1,
                "{stage}"
            );
        }
        let calls: Vec<_> = super::TABLE
            .iter()
            .filter(|row| row.calls_a_model)
            .map(|row| row.stage)
            .collect();
        assert_eq!(calls, [Stage::Solve]);
    }
}
