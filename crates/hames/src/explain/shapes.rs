//! `explain guide`: the truth table of the four questions, by asking `choose` each of the sixteen.
//!
//! It decides nothing: what `choose` says is what stands there.

use hames_agent::shapes::{Answers, choose};

use super::page::Table;
use crate::guide;

pub(crate) fn table() -> String {
    let mut table = Table::new([
        "STEPS FORESEEABLE",
        "QUALITY-SENSITIVE",
        "SEVERAL ROLES",
        "COST-SENSITIVE",
        "SHAPE",
        "CONFLICTS",
    ]);
    for row in 0..16_u8 {
        let answers = Answers {
            steps_foreseeable: row & 8 != 0,
            quality_sensitive: row & 4 != 0,
            several_roles: row & 2 != 0,
            cost_sensitive: row & 1 != 0,
        };
        let choice = choose(answers);
        table.row([
            yes(answers.steps_foreseeable),
            yes(answers.quality_sensitive),
            yes(answers.several_roles),
            yes(answers.cost_sensitive),
            guide::name(&choice),
            choice.conflicts.join("; "),
        ]);
    }
    format!(
        "Four questions choose a shape: foreseeable steps pick the base, roles and quality wrap it, \
         cost takes the wrappers off again and says so.\n\n{}\n`hames guide` asks them; the test is \
         req_s05_four_answers_choose_a_shape_and_say_why in crates/hames-agent/tests/it/shapes.rs.\n",
        table.render()
    )
}

fn yes(answer: bool) -> String {
    if answer { "yes" } else { "no" }.to_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn req_s05_the_table_has_sixteen_rows_and_each_names_what_choose_says() {
        let table = super::table();
        let rows: Vec<_> = table
            .lines()
            .filter(|line| line.starts_with("yes ") || line.starts_with("no "))
            .collect();
        assert_eq!(rows.len(), 16);
        assert!(rows[0].ends_with("react"), "{}", rows[0]);
        assert!(rows[14].contains("plan_execute + multi_agent + reflection"));
        assert!(rows[15].contains("plan_execute") && rows[15].contains("cost counts"));
    }
}
