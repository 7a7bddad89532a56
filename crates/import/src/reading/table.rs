//! Tables of text with a header line, read row by row, so that large ones need no more memory than what
//! is kept of them.

use std::borrow::Cow;
use std::io::{self, BufRead as _, BufReader, Read as _};

use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::{ImportSource, Stream};
use crate::{ImportError, Imported};

/// No row is longer; a file without line ends must not fill the memory.
const ROW_BYTES: u64 = 16 << 20;
/// Rows between two reports of progress.
const ROWS_A_TICK: u64 = 2048;

/// A table that is being read.
#[derive(Debug)]
pub struct TextTable<'a> {
    /// Names of the columns: small letters, no quotation marks, `_` in place of `-` and blanks.
    pub columns: Vec<String>,
    /// Names of the columns as they are written.
    pub titles: Vec<String>,
    source: &'a ImportSource,
    watch: &'a ReadProgress<'a>,
    reader: BufReader<Stream>,
    separator: char,
    free: Option<usize>,
    bytes: Vec<u8>,
    line: String,
    rows: u64,
    unread: u64,
    is_cut: bool,
}

#[derive(Debug)]
pub struct TableRow<'a> {
    fields: Vec<&'a str>,
    /// It is the last one and no line end follows: it may have been cut off.
    pub is_open: bool,
}

impl<'a> TextTable<'a> {
    /// Reads the header. One of the columns in `free` may hold anything, the separator and quotation
    /// marks included; no other column holds the separator.
    pub fn open(
        source: &'a ImportSource,
        watch: &'a ReadProgress<'a>,
        separator: char,
        free: &[&str],
    ) -> Result<Self, ImportError> {
        let mut table = Self {
            columns: Vec::new(),
            titles: Vec::new(),
            source,
            watch,
            reader: BufReader::with_capacity(1 << 18, source.stream()?),
            separator,
            free: None,
            bytes: Vec::new(),
            line: String::new(),
            rows: 0,
            unread: 0,
            is_cut: false,
        };
        if table.next_line()?.is_some() {
            let header = table.line.trim_start_matches('\u{feff}');
            table.titles = lines::fields(header, separator);
            let titles = table.titles.iter();
            table.columns = titles.map(|name| plain_name(name)).collect();
            table.free = table.place(free);
        }
        Ok(table)
    }

    /// Where a column is that has one of these names.
    pub fn place(&self, names: &[&str]) -> Option<usize> {
        names
            .iter()
            .find_map(|name| self.columns.iter().position(|column| column == name))
    }

    /// The next row that has as many fields as there are columns; others are counted.
    pub(crate) fn next_row(&mut self) -> Result<Option<TableRow<'_>>, ImportError> {
        loop {
            let Some(is_open) = self.next_line()? else {
                return Ok(None);
            };
            // Counted first, since what is borrowed in a loop cannot be handed out of it.
            if self.line.matches(self.separator).count() + 1 < self.columns.len() {
                self.unread += 1;
                continue;
            }
            let fields = split_fields(&self.line, self.separator, self.columns.len(), self.free);
            return Ok(fields.map(|fields| TableRow { fields, is_open }));
        }
    }

    /// Notes what could not be read; `unread` are the rows that the caller could not read.
    pub fn finish(self, unread: u64, into: &mut Imported) {
        note_unread(unread + self.unread, self.source, into);
        if self.is_cut {
            into.note_cut(&self.source.name());
        }
    }

    /// The next line that is not blank, and whether it lacks its end.
    fn next_line(&mut self) -> Result<Option<bool>, ImportError> {
        loop {
            if self.rows.is_multiple_of(ROWS_A_TICK) {
                self.watch.tick(self.reader.get_ref().bytes_read())?;
            }
            self.rows += 1;
            self.bytes.clear();
            let mut part = (&mut self.reader).take(ROW_BYTES);
            match part.read_until(b'\n', &mut self.bytes) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if self.source.is_cut(&error) => self.is_cut = true,
                Err(error) => return Err(self.source.io(error)),
            }
            if self.bytes.is_empty() {
                return Ok(None);
            }
            let is_open = self.bytes.last() != Some(&b'\n');
            self.line.clear();
            self.line.push_str(&String::from_utf8_lossy(&self.bytes));
            if !self.line.trim().is_empty() {
                return Ok(Some(is_open));
            }
        }
    }
}

impl<'a> TableRow<'a> {
    /// A field without quotation marks; empty where there is no such column.
    pub fn text(&self, place: Option<usize>) -> &'a str {
        let field = place.and_then(|place| self.fields.get(place));
        field.map_or("", |field| field.trim().trim_matches('"').trim())
    }

    /// The field that may hold anything.
    pub fn name(&self, place: Option<usize>) -> Cow<'a, str> {
        let Some(field) = place.and_then(|place| self.fields.get(place)) else {
            return Cow::Borrowed("");
        };
        let field = field.trim();
        let inner = field
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'));
        match inner {
            Some(inner) if inner.contains("\"\"") => Cow::Owned(inner.replace("\"\"", "\"")),
            Some(inner) => Cow::Borrowed(inner),
            None => Cow::Borrowed(field),
        }
    }

    pub fn whole_number(&self, place: Option<usize>) -> Option<u64> {
        lines::whole_number(self.text(place))
    }
}

/// Notes how many rows could not be read.
pub(crate) fn note_unread(rows: u64, source: &ImportSource, into: &mut Imported) {
    let fate = "could not be read: cut off, or not only numbers";
    into.note_some(rows, "row", &source.name(), fate);
}

/// A column's name in one spelling.
pub(crate) fn plain_name(name: &str) -> String {
    name.trim()
        .trim_matches('"')
        .trim()
        .to_lowercase()
        .replace(['-', ' '], "_")
}

/// The fields of a row, where one column may hold the separator: what stands before it is taken from
/// the left, what follows from the right. Nothing where there are too few.
fn split_fields(
    row: &str,
    separator: char,
    columns: usize,
    free: Option<usize>,
) -> Option<Vec<&str>> {
    let mut rest = row.trim_end_matches(['\r', '\n']);
    let free = free.unwrap_or(columns.checked_sub(1)?);
    let mut fields = Vec::with_capacity(columns);
    for _ in 0..free {
        let (field, right) = rest.split_once(separator)?;
        fields.push(field);
        rest = right;
    }
    let mut after = Vec::with_capacity(columns - free);
    for _ in free + 1..columns {
        let (left, field) = rest.rsplit_once(separator)?;
        after.push(field);
        rest = left;
    }
    fields.push(rest);
    fields.extend(after.into_iter().rev());
    Some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_column_may_hold_anything() {
        let row = "\"K\",\"f<int, 3>(char const*, \"x\"), y\",\"5\",6\r\n";
        let fields = split_fields(row, ',', 4, Some(1)).unwrap();
        let row = TableRow {
            fields,
            is_open: false,
        };
        assert_eq!(row.text(Some(0)), "K");
        assert_eq!(row.name(Some(1)), "f<int, 3>(char const*, \"x\"), y");
        assert_eq!(
            (row.whole_number(Some(2)), row.whole_number(Some(3))),
            (Some(5), Some(6))
        );
        assert_eq!((row.text(None), row.whole_number(Some(9))), ("", None));
        assert!(split_fields("a,b", ',', 4, Some(1)).is_none());
        assert!(split_fields("", ',', 0, None).is_none());
    }

    #[test]
    fn names_of_columns_are_compared_in_one_spelling() {
        assert_eq!(plain_name(" \"GPU-ID\" "), "gpu_id");
        assert_eq!(plain_name("Lds_Block_Size"), "lds_block_size");
    }
}
