//! A result as rows, and rows as what is asked for.
//!
//! Columns are for queries; what the report reads back is the result's own text.

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params, types::Value};

use super::RunRow;
use crate::{record::InstanceResult, test_lists::TestLists};

pub const RESULTS: &str = "SELECT json FROM results WHERE run_id = ?1 ORDER BY instance_id, trial";

pub const RUNS: &str = "
SELECT runs.run_id, runs.adapter, runs.model, runs.dataset,
       count(*), sum(results.counted), coalesce(max(by_run.instances), 0), max(by_run.resolved_pct),
       sum(results.cost_usd), min(results.generated_at), max(results.generated_at)
FROM runs JOIN results USING (run_id) LEFT JOIN resolved_by_run AS by_run USING (run_id)
GROUP BY runs.run_id ORDER BY min(results.generated_at), runs.run_id";

pub fn run_row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    Ok(RunRow {
        run_id: row.get(0)?,
        adapter: row.get(1)?,
        model: row.get(2)?,
        dataset: row.get(3)?,
        trials: row.get(4)?,
        counted: row.get(5)?,
        instances: row.get(6)?,
        resolved_pct: row.get(7)?,
        cost_usd: row.get(8)?,
        first_at: row.get(9)?,
        last_at: row.get(10)?,
    })
}

pub fn plain(value: Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text,
        Value::Blob(bytes) => format!("({} bytes)", bytes.len()),
    }
}

/// The result's text as it is stored now.
pub fn text_of(
    connection: &Connection,
    result: &InstanceResult,
) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT json FROM results WHERE run_id = ?1 AND instance_id = ?2 AND trial = ?3";
    let key = params![result.run_id, result.instance_id, result.trial];
    connection.query_row(sql, key, |row| row.get(0)).optional()
}

pub fn write(
    transaction: &Transaction<'_>,
    result: &InstanceResult,
    text: &str,
) -> rusqlite::Result<()> {
    write_run(transaction, result)?;
    transaction.execute(
        "DELETE FROM results WHERE run_id = ?1 AND instance_id = ?2 AND trial = ?3",
        params![result.run_id, result.instance_id, result.trial],
    )?;
    write_result(transaction, result, text)?;
    let id = transaction.last_insert_rowid();
    write_stages(transaction, id, result)?;
    write_attempts(transaction, id, result)?;
    write_tests(transaction, id, "fail_to_pass", &result.fail_to_pass)?;
    write_tests(transaction, id, "pass_to_pass", &result.pass_to_pass)
}

fn write_run(transaction: &Transaction<'_>, result: &InstanceResult) -> rusqlite::Result<()> {
    let sql = "INSERT INTO runs VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
    let InstanceResult {
        run_id,
        adapter,
        model,
        dataset,
        harness_version,
        ..
    } = result;
    transaction
        .execute(
            sql,
            params![run_id, adapter, model, dataset, harness_version],
        )
        .map(drop)
}

fn write_result(
    transaction: &Transaction<'_>,
    result: &InstanceResult,
    text: &str,
) -> rusqlite::Result<()> {
    let failure = result.failure.as_ref();
    let sql = "INSERT INTO results VALUES
        (NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19,
         ?20, ?21, ?22, ?23, ?24)";
    let values = params![
        result.run_id,
        result.instance_id,
        result.trial,
        result.repository(),
        result.adapter,
        result.model,
        result.resolved,
        result.counts(),
        failure.map(|failure| failure.class.name()),
        failure.map(|failure| failure.stage.name()),
        failure.map(|failure| &failure.message),
        result.report_source,
        result.environment.backend,
        result.cost_usd,
        whole(result.usage.input),
        whole(result.usage.output),
        whole(result.usage.cache_read),
        result.turns,
        whole(result.patch.bytes),
        whole(result.leaks.found.len()),
        whole(result.leaks.peeking.len()),
        result.seconds(),
        result.generated_at,
        text,
    ];
    transaction.execute(sql, values).map(drop)
}

fn write_stages(
    transaction: &Transaction<'_>,
    id: i64,
    result: &InstanceResult,
) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached("INSERT INTO stages VALUES (?1, ?2, ?3, ?4)")?;
    for stage in crate::stage::Stage::ALL {
        let state = result.stages.get(&stage).map(|state| state.name());
        let seconds = result.stage_timings.get(&stage);
        if state.is_some() || seconds.is_some() {
            insert.execute(params![id, stage.name(), state, seconds])?;
        }
    }
    Ok(())
}

fn write_attempts(
    transaction: &Transaction<'_>,
    id: i64,
    result: &InstanceResult,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO attempts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let mut insert = transaction.prepare_cached(sql)?;
    for (ordinal, attempt) in (1_u32..).zip(&result.adapter_attempts) {
        insert.execute(params![
            id,
            ordinal,
            attempt.adapter,
            attempt.outcome,
            attempt.wall_time_seconds,
            attempt.returncode,
            attempt.killed,
            attempt.rescued,
            attempt.cost_usd,
            attempt.error,
        ])?;
    }
    Ok(())
}

fn write_tests(
    transaction: &Transaction<'_>,
    id: i64,
    list: &str,
    lists: &TestLists,
) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached("INSERT INTO tests VALUES (?1, ?2, ?3, ?4)")?;
    let verdicts = [
        ("pass", &lists.pass),
        ("fail", &lists.fail),
        ("left_out", &lists.left_out),
    ];
    for (verdict, names) in verdicts {
        for name in names {
            insert.execute(params![id, list, name, verdict])?;
        }
    }
    Ok(())
}

/// SQLite's integers have a sign.
fn whole(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}
