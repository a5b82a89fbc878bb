//! The tables and views of `results.sqlite`, and its version.
//!
//! It refuses a newer one and another program's; additive changes alone raise the version.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::{StoreError, at};

pub const VERSION: u32 = 1;

/// "HAME", so that a stranger's database is not written into.
const APPLICATION: u32 = 0x4841_4d45;

const TABLES: &str = include_str!("schema.sql");

pub fn establish(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
    let transaction = begun.map_err(|source| at(path, source))?;
    let number = |name: &str| -> Result<u32, StoreError> {
        let read = transaction.pragma_query_value(None, name, |row| row.get(0));
        read.map_err(|source| at(path, source))
    };
    let (application, found) = (number("application_id")?, number("user_version")?);
    let tables = transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0));
    let tables: u32 = tables.map_err(|source| at(path, source))?;
    match (application, found) {
        (APPLICATION, VERSION) => return Ok(()),
        (APPLICATION, found) if found > VERSION => {
            let path = path.to_owned();
            return Err(StoreError::Newer { path, found });
        }
        (0, 0) if tables == 0 => {}
        _ => return Err(StoreError::Foreign(path.to_owned())),
    }
    let made = || -> rusqlite::Result<()> {
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", VERSION)
    };
    made().map_err(|source| at(path, source))?;
    transaction.commit().map_err(|source| at(path, source))
}
