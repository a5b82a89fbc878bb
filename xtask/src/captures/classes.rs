//! Which class an error belongs to, by a table of statuses and words.
//!
//! The table is data, and is not the codecs' own.

use std::{fs, io, path::Path};

use hames_types::ProviderErrorKind as Kind;
use serde_json::Value;

pub struct Classes(Vec<Row>);

struct Row {
    /// `*` for any, `-` for none, else the beginning of the status.
    status: String,
    word: String,
    kind: Kind,
}

impl Classes {
    /// Lines of `status | word | class`; the first that fits an error is its class.
    pub fn read(path: &Path) -> io::Result<Self> {
        let text = fs::read_to_string(path)?;
        let lines = text
            .lines()
            .filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
        let rows: io::Result<Vec<Row>> = lines.map(row).collect();
        rows.map(Self)
    }

    pub fn of(&self, status: Option<u16>, error: &Value) -> Kind {
        let named = ["status_code", "status", "code"].map(|name| error.get(name));
        let inner = named.into_iter().flatten().filter_map(Value::as_u64);
        let inner = inner.filter_map(|status| u16::try_from(status).ok()).next();
        let status = status.filter(|status| *status >= 400).or(inner);
        let status = status.map(|status| status.to_string());
        let words = error.to_string().to_lowercase();
        let fits = |row: &&Row| {
            let in_status = match (row.status.as_str(), &status) {
                ("*", _) => true,
                ("-", status) => status.is_none(),
                (begins, Some(status)) => status.starts_with(begins),
                (_, None) => false,
            };
            in_status && (row.word == "*" || words.contains(&row.word))
        };
        let row = self.0.iter().find(fits);
        row.map_or(Kind::Rejected, |row| row.kind)
    }
}

fn row(line: &str) -> io::Result<Row> {
    let wrong = || io::Error::other(format!("no class of errors: {line}"));
    let mut columns = line.split('|').map(str::trim);
    let mut next = || columns.next().map(str::to_owned).ok_or_else(wrong);
    let (status, word, kind) = (next()?, next()?.to_lowercase(), next()?);
    let kind = serde_json::from_value(Value::String(kind)).map_err(|_| wrong())?;
    Ok(Row { status, word, kind })
}
