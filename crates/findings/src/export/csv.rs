//! Tables with commas, as spreadsheets and other programs read them.

use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub enum CsvCell {
    /// Nothing, because it is not known.
    Empty,
    Text(String),
    /// A number; one that is none is an empty cell.
    Number(f64),
    /// A whole number.
    Whole(u64),
}

impl CsvCell {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A number, where it is known.
    pub fn number(value: Option<f64>) -> Self {
        value.map_or(Self::Empty, Self::Number)
    }

    /// The same in a JSON document.
    pub fn value(&self) -> Value {
        match self {
            Self::Empty => Value::Null,
            Self::Text(text) => Value::from(text.as_str()),
            Self::Number(number) => Value::from(*number),
            Self::Whole(number) => Value::from(*number),
        }
    }

    /// The same between tabs, as spreadsheets take it from the clipboard.
    pub(crate) fn to_tsv(&self) -> String {
        match self {
            Self::Text(text) => clean(text),
            other => other.written(),
        }
    }

    fn written(&self) -> String {
        match self {
            Self::Number(number) if number.is_finite() => number.to_string(),
            Self::Empty | Self::Number(_) => String::new(),
            Self::Whole(number) => number.to_string(),
            Self::Text(text) => quoted(text),
        }
    }
}

/// A table: its header and its rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CsvTable {
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<CsvCell>>,
}

impl CsvTable {
    /// A table without rows.
    pub fn new(header: &[&str]) -> Self {
        Self {
            header: header.iter().map(|name| (*name).to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// The table as text.
    pub fn to_csv(&self) -> String {
        let header: Vec<String> = self.header.iter().map(|name| quoted(name)).collect();
        let mut text = header.join(",");
        text.push('\n');
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(CsvCell::written).collect();
            text.push_str(&cells.join(","));
            text.push('\n');
        }
        text
    }
}

/// Words on one line, with an apostrophe before what a spreadsheet would take for a formula.
fn clean(text: &str) -> String {
    let letters = text.chars().filter_map(|letter| match letter {
        '\n' | '\r' | '\t' => Some(' '),
        letter if letter.is_control() => None,
        letter => Some(letter),
    });
    let mut clean: String = letters.collect();
    if clean.starts_with(['=', '+', '-', '@']) {
        clean.insert(0, '\'');
    }
    clean
}

/// The same in quotes where it has a comma, a quote or a space at an end.
fn quoted(text: &str) -> String {
    let clean = clean(text);
    if clean.contains([',', '"', ';']) || clean != clean.trim() {
        return format!("\"{}\"", clean.replace('"', "\"\""));
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_harmless() {
        let mut table = CsvTable::new(&["a", "b, in ms"]);
        table.rows.push(vec![
            CsvCell::text("x,\"y\"\nz"),
            CsvCell::Number(0.1 + 0.2),
        ]);
        table
            .rows
            .push(vec![CsvCell::text("=1+2"), CsvCell::Number(f64::NAN)]);
        table.rows.push(vec![CsvCell::Whole(7), CsvCell::Empty]);
        assert_eq!(
            table.to_csv(),
            "a,\"b, in ms\"\n\"x,\"\"y\"\" z\",0.30000000000000004\n'=1+2,\n7,\n"
        );
        assert_eq!(CsvCell::Number(f64::INFINITY).value(), Value::Null);
    }
}
