//! The hub's own copies of datasets: rows of a Parquet file as JSON.
//!
//! Columns become fields by their names; what they mean is not known here.

use std::{fs::File, path::Path};

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use serde_json::Value;

pub(super) fn rows(path: &Path) -> Result<Vec<Value>, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let reader = SerializedFileReader::new(file).map_err(|error| error.to_string())?;
    let rows = reader
        .get_row_iter(None)
        .map_err(|error| error.to_string())?;
    rows.map(|row| row.map(|row| row.to_json_value()))
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())
}
