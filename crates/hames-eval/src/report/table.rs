//! Sections of lines and tables, as aligned plain text and as Markdown.
//!
//! It knows nothing of runs; every cell has been made safe by whoever wrote it.

use unicode_width::UnicodeWidthStr;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Section {
    pub title: String,
    pub lines: Vec<String>,
    pub table: Option<Table>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    pub align: Align,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

impl Table {
    /// `>` before a name: its column is aligned to the right.
    pub fn new(names: &[&'static str]) -> Self {
        let column = |name: &&'static str| match name.strip_prefix('>') {
            Some(name) => Column {
                name,
                align: Align::Right,
            },
            None => Column {
                name,
                align: Align::Left,
            },
        };
        Self {
            columns: names.iter().map(column).collect(),
            rows: Vec::new(),
        }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

/// For a terminal of `width` columns: the last column is folded where a row is too long.
pub fn plain(title: &str, sections: &[Section], width: usize) -> String {
    let mut text = format!("{title}\n");
    for section in sections {
        text.push('\n');
        if !section.title.is_empty() {
            text += &format!("{}\n", section.title);
        }
        for line in &section.lines {
            for piece in wrapped(line, width.saturating_sub(2).max(20)) {
                text += &format!("  {piece}\n");
            }
        }
        if let Some(table) = &section.table {
            text += &plain_table(table, width);
        }
    }
    text
}

fn plain_table(table: &Table, width: usize) -> String {
    let names: Vec<String> = table.columns.iter().map(|c| c.name.to_owned()).collect();
    let lines = || std::iter::once(&names).chain(&table.rows);
    let mut widths = vec![0; table.columns.len()];
    for row in lines() {
        for (held, cell) in widths.iter_mut().zip(row) {
            *held = (*held).max(cell.width());
        }
    }
    let before: usize = widths.iter().rev().skip(1).map(|width| width + 2).sum();
    if let Some(last) = widths.last_mut() {
        *last = (*last).min(width.saturating_sub(before + 2).max(12));
    }
    let mut text = String::new();
    for (at, row) in lines().enumerate() {
        text += &plain_row(table, row, &widths);
        if at == 0 {
            let rules = widths.iter().map(|width| "─".repeat(*width));
            text += &format!("  {}\n", rules.collect::<Vec<_>>().join("  "));
        }
    }
    text
}

/// The last cell goes on below itself where it is too long.
fn plain_row(table: &Table, row: &[String], widths: &[usize]) -> String {
    let (Some((last, cells)), Some((width, before))) = (row.split_last(), widths.split_last())
    else {
        return String::new();
    };
    let aligned = table.columns.iter().zip(cells).zip(before);
    let padded = aligned.map(|((column, cell), width)| pad(cell, *width, column.align) + "  ");
    let head: String = padded.collect();
    let align = table
        .columns
        .last()
        .map_or(Align::Left, |column| column.align);
    let mut text = String::new();
    for (at, piece) in wrapped(last, *width).iter().enumerate() {
        let start = match at {
            0 => head.clone(),
            _ => " ".repeat(head.width()),
        };
        let line = format!("  {start}{}", pad(piece, *width, align));
        text += &format!("{}\n", line.trim_end());
    }
    text
}

/// To exactly so many columns.
pub fn pad(cell: &str, width: usize, align: Align) -> String {
    let cell = shortened(cell, width);
    let space = " ".repeat(width.saturating_sub(cell.width()));
    match align {
        Align::Left => format!("{cell}{space}"),
        Align::Right => format!("{space}{cell}"),
    }
}

/// To so many columns, which wide letters take two of.
pub fn shortened(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for letter in text.chars() {
        let longer = format!("{short}{letter}");
        if longer.width() + 1 > width {
            break;
        }
        short = longer;
    }
    short + "…"
}

/// At least one line. A word that is too long for one stands alone.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut held = String::new();
    for word in text.split(' ') {
        if !held.is_empty() && held.width() + 1 + word.width() > width {
            lines.push(std::mem::take(&mut held));
        }
        if !held.is_empty() {
            held.push(' ');
        }
        held += word;
    }
    lines.push(held);
    lines
}

pub fn markdown(title: &str, sections: &[Section]) -> String {
    let mut text = format!("# {}\n", literal(title));
    for section in sections {
        if !section.title.is_empty() {
            text += &format!("\n## {}\n", literal(&section.title));
        }
        text.push('\n');
        for line in &section.lines {
            text += &format!("{}  \n", literal(line));
        }
        if let Some(table) = &section.table {
            if !section.lines.is_empty() {
                text.push('\n');
            }
            text += &markdown_table(table);
        }
    }
    text
}

fn markdown_table(table: &Table) -> String {
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let names = table.columns.iter().map(|column| column.name.to_owned());
    let rules = table.columns.iter().map(|column| match column.align {
        Align::Left => "---".to_owned(),
        Align::Right => "---:".to_owned(),
    });
    let mut text = row(names.collect()) + &row(rules.collect());
    for cells in &table.rows {
        text += &row(cells.iter().map(|cell| literal(cell)).collect());
    }
    text
}

/// Nothing in a name or a message is Markdown, or HTML inside of it.
fn literal(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => shown.push_str("&lt;"),
            '&' => shown.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '|' | '[' | ']' | '~' => {
                shown.push('\\');
                shown.push(letter);
            }
            '\n' => shown.push(' '),
            _ => shown.push(letter),
        }
    }
    shown
}
