//! Pages: aligned tables of text, and the one write that puts a page out.
//!
//! It cuts nothing: a line that is too long for a terminal is the terminal's to wrap.

use std::io::{self, Write};

use anyhow::{Result, anyhow};

/// Columns as wide as their widest cell; numbers stand to the right.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    columns: usize,
}

impl Table {
    pub fn new<const N: usize>(head: [&str; N]) -> Self {
        let rows = vec![head.map(str::to_owned).to_vec()];
        Self { rows, columns: N }
    }

    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.to_vec());
    }

    pub fn is_empty(&self) -> bool {
        self.rows.len() == 1
    }

    pub fn render(&self) -> String {
        let columns: Vec<_> = (0..self.columns).map(|at| self.column(at)).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, column) in row.iter().zip(&columns) {
                let gap = " ".repeat(column.width.saturating_sub(width(cell)));
                match column.is_number {
                    true => line.extend([gap.as_str(), cell, "  "]),
                    false => line.extend([cell.as_str(), &gap, "  "]),
                }
            }
            text.extend([line.trim_end(), "\n"]);
        }
        text
    }

    fn column(&self, at: usize) -> Column {
        let cells = || self.rows.iter().filter_map(|row| row.get(at));
        // An id and a date begin with digits, too, and are no numbers.
        let numbers = |cell: &String| {
            let begins = |letter: char| letter == '$' || letter.is_ascii_digit();
            cell == "-" || cell.starts_with(begins) && !cell.contains('-')
        };
        Column {
            width: cells().map(|cell| width(cell)).max().unwrap_or_default(),
            is_number: self.rows.len() > 1 && cells().skip(1).all(numbers),
        }
    }
}

struct Column {
    width: usize,
    is_number: bool,
}

/// In characters; wide ones (the source documents' Chinese) take two cells of a terminal.
fn width(text: &str) -> usize {
    let cells = |letter: char| match u32::from(letter) {
        0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xff00..=0xff60 => 2,
        _ => 1,
    };
    text.chars().map(cells).sum()
}

/// A reader that has gone has what it wanted.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(anyhow!("the output could not be written: {error}"))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn columns_are_aligned_and_numbers_stand_to_the_right() {
        let mut table = Table::new(["name", "n", "what"]);
        table.row(["消息".into(), "7".into(), "x".into()]);
        table.row(["a".into(), "120".into(), String::new()]);
        let expected = "name    n  what\n消息    7  x\na     120\n";
        assert_eq!(table.render(), expected);
    }
}
