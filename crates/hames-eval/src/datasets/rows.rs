//! Files of rows: JSON, a JSON list, lines of JSON, or Parquet.
//!
//! What a row means is not known here; a line that cannot be read costs that line alone.

use std::{fs, path::Path};

use serde_json::Value;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Rows with their places, or what is wrong with one.
pub(super) type Rows = Vec<(String, Result<Value, String>)>;

/// Each row with its place, as `FILE line 3`; the error is about the file as a whole.
pub(super) fn read(path: &Path) -> Result<Rows, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if path.extension().is_some_and(|kind| kind == "parquet") {
        return parquet(path, &name);
    }
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
    match serde_json::from_slice::<Value>(bytes) {
        Ok(Value::Array(rows)) => Ok(numbered(&name, rows)),
        Ok(Value::Object(mut whole)) => match whole.remove("rows") {
            // As the hub's own service hands rows out.
            Some(Value::Array(rows)) => Ok(numbered(&name, rows.into_iter().map(inner).collect())),
            Some(other) => {
                whole.insert("rows".to_owned(), other);
                Ok(numbered(&name, vec![Value::Object(whole)]))
            }
            None => Ok(numbered(&name, vec![Value::Object(whole)])),
        },
        Ok(_) => Err("it is neither a row, a list of rows nor lines of JSON".to_owned()),
        Err(whole) => lines(&name, bytes, &whole),
    }
}

fn numbered(name: &str, rows: Vec<Value>) -> Rows {
    let place = |at: usize| format!("{name} row {}", at + 1);
    rows.into_iter()
        .enumerate()
        .map(|(at, row)| (place(at), Ok(row)))
        .collect()
}

fn inner(row: Value) -> Value {
    match row {
        Value::Object(mut fields) if fields.contains_key("row_idx") => {
            fields.remove("row").unwrap_or(Value::Null)
        }
        other => other,
    }
}

fn lines(name: &str, bytes: &[u8], whole: &serde_json::Error) -> Result<Rows, String> {
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let filled = lines.enumerate().filter(|(_, line)| !line.is_empty());
    let rows: Rows = filled
        .map(|(at, line)| (format!("{name} line {}", at + 1), row(line)))
        .collect();
    let is_row = |row: &Result<Value, String>| row.as_ref().is_ok_and(Value::is_object);
    if rows.is_empty() {
        return Err("it is empty".to_owned());
    }
    // One value spread over many lines is best told by its own error.
    if !rows.iter().any(|(_, row)| is_row(row)) {
        return Err(format!("it is no JSON: {whole}"));
    }
    Ok(rows)
}

fn row(line: &[u8]) -> Result<Value, String> {
    let text = str::from_utf8(line).map_err(|error| format!("it is no UTF-8: {error}"))?;
    serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))
}

/// Rows, or a map from id to row, that hold patches of some model and no statement.
pub(super) fn are_predictions(rows: &[(String, Result<Value, String>)]) -> bool {
    let first = rows.iter().find_map(|(_, row)| row.as_ref().ok());
    let is_one =
        |row: &Value| row.get("model_patch").is_some() && row.get("problem_statement").is_none();
    first.is_some_and(|row| {
        let mut inner = row.as_object().into_iter().flat_map(|map| map.values());
        is_one(row) || inner.next().is_some_and(is_one)
    })
}

#[cfg(feature = "parquet")]
fn parquet(path: &Path, name: &str) -> Result<Rows, String> {
    super::parquet::rows(path).map(|rows| numbered(name, rows))
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: &Path, _: &str) -> Result<Rows, String> {
    Err(
        "Parquet is read only by a hames that was built with `--features parquet`; or write the rows \
         out as JSONL: `python3 -c \"import pandas, sys; pandas.read_parquet(sys.argv[1])\
         .to_json(sys.argv[2], orient='records', lines=True)\" IN.parquet OUT.jsonl`"
            .to_owned(),
    )
}
