//! Finds files by a list of them: a CSV with a file and its label on each line.
//!
//! Fields may be in quotes, as RFC 4180 has it, and there may be a first line that names the columns.
//! Paths go from the folder of the list. Whether the files are there is looked at later.

use std::path::{Path, PathBuf};

use super::{FoundFiles, SampleError};
use powerband_core::base::regular_file;

/// First lines that name columns have one of these for the file.
const FILE_WORDS: &[&str] = &[
    "file",
    "filename",
    "file_name",
    "path",
    "filepath",
    "image",
    "image_path",
    "img",
    "picture",
    "id",
];
/// And one of these for the label.
const LABEL_WORDS: &[&str] = &["label", "labels", "class", "class_id", "category", "target"];
/// Lists of millions of files are no longer than this, in bytes.
const LONGEST: u64 = 1 << 30;

/// The files of a list, in the order of their paths.
pub(super) fn find(path: &Path) -> Result<FoundFiles, SampleError> {
    let failed = |why| SampleError::Read {
        path: path.to_owned(),
        why,
    };
    let wrong = |line: usize, why: String| SampleError::List {
        path: path.to_owned(),
        line,
        why,
    };
    if std::fs::metadata(path).map_err(failed)?.len() > LONGEST {
        return Err(wrong(1, "the file is too long for a list".to_owned()));
    }
    let bytes = regular_file::read(path).map_err(failed)?;
    let text = str::from_utf8(&bytes).map_err(|why| wrong(1, format!("it is not UTF-8: {why}")))?;
    let mut rows = parse(text.trim_start_matches('\u{feff}'))
        .map_err(|line| wrong(line, "a quotation mark is not closed".to_owned()))?;
    let (file, label) = columns(&mut rows);
    let beside = path.parent().unwrap_or_else(|| Path::new("."));
    let mut files: Vec<(PathBuf, Option<String>)> = Vec::with_capacity(rows.len());
    let with_labels = rows.iter().any(|row| label.field(row).is_some());
    for row in &rows {
        let name = file
            .field(row)
            .ok_or_else(|| wrong(row.line, "no file is named".to_owned()))?;
        let label = label.field(row).map(str::to_owned);
        if with_labels && label.is_none() {
            return Err(wrong(
                row.line,
                "there is no label, and other lines have one".to_owned(),
            ));
        }
        files.push((beside.join(name), label));
    }
    files.sort();
    Ok(FoundFiles {
        files,
        ..Default::default()
    })
}

/// Which field of a row.
#[derive(Clone, Copy)]
struct Column(usize);

impl Column {
    /// The field without spaces around it; nothing where it is empty.
    fn field(self, row: &ListRow) -> Option<&str> {
        let field = row.fields.get(self.0)?.trim();
        (!field.is_empty()).then_some(field)
    }
}

/// The fields of a line, and its number from 1.
#[derive(Debug, PartialEq)]
struct ListRow {
    line: usize,
    fields: Vec<String>,
}

/// Where file and label are. Takes away the first line where it names them.
fn columns(rows: &mut Vec<ListRow>) -> (Column, Column) {
    let place = |words: &[&str]| {
        let fields = &rows.first()?.fields;
        fields
            .iter()
            .position(|field| words.contains(&field.trim().to_lowercase().as_str()))
    };
    let (file, label) = (place(FILE_WORDS), place(LABEL_WORDS));
    if file.is_none() && label.is_none() {
        return (Column(0), Column(1));
    }
    rows.remove(0);
    match (file, label) {
        (Some(file), Some(label)) => (Column(file), Column(label)),
        (Some(file), None) => (Column(file), Column(usize::from(file == 0))),
        (None, Some(label)) => (Column(usize::from(label == 0)), Column(label)),
        (None, None) => (Column(0), Column(1)),
    }
}

/// Parts text into rows; the line of a quotation mark that is never closed where there is one.
fn parse(text: &str) -> Result<Vec<ListRow>, usize> {
    let mut rows = Vec::new();
    let (mut line, mut start) = (1, 1);
    let mut fields = Vec::new();
    let mut field = String::new();
    let mut in_quotes = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if in_quotes && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' if in_quotes => in_quotes = false,
            '"' if field.trim().is_empty() => {
                field.clear();
                in_quotes = true;
            }
            ',' if !in_quotes => fields.push(std::mem::take(&mut field)),
            '\r' if !in_quotes && chars.peek() == Some(&'\n') => {}
            '\n' if !in_quotes => {
                fields.push(std::mem::take(&mut field));
                end_row(&mut rows, start, &mut fields);
                start = line + 1;
            }
            other => field.push(other),
        }
        line += usize::from(c == '\n');
    }
    if in_quotes {
        return Err(start);
    }
    fields.push(field);
    end_row(&mut rows, start, &mut fields);
    Ok(rows)
}

/// Keeps a row, unless the line is blank.
fn end_row(rows: &mut Vec<ListRow>, line: usize, fields: &mut Vec<String>) {
    let fields = std::mem::take(fields);
    if fields.iter().any(|field| !field.trim().is_empty()) {
        rows.push(ListRow { line, fields });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Vec<Vec<String>> {
        let rows = parse(text).unwrap();
        rows.into_iter().map(|row| row.fields).collect()
    }

    #[test]
    fn rows_are_parted_as_the_standard_has_it() {
        assert_eq!(fields("a,b\nc,d"), [["a", "b"], ["c", "d"]]);
        assert_eq!(fields("a,b\r\n\r\n\nc,\r\n"), [["a", "b"], ["c", ""]]);
        assert_eq!(fields("\"a, \"\"1\"\"\nx\",b\n"), [["a, \"1\"\nx", "b"]]);
        assert_eq!(fields("a, \"b\" \n"), [["a", "b "]]);
        assert_eq!(fields("5\" disk,b"), [["5\" disk", "b"]]);
        assert_eq!(fields(""), Vec::<Vec<String>>::new());
        assert_eq!(parse("a,b\nc,\"d\ne"), Err(2));
        assert_eq!(parse("\n\na,b").unwrap()[0].line, 3);
    }

    fn found(text: &str) -> Result<Vec<(String, Option<String>)>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.csv");
        std::fs::write(&path, text).unwrap();
        let relative = |file: &Path| {
            let file = file.strip_prefix(folder.path()).unwrap_or(file);
            file.to_str().unwrap().to_owned()
        };
        find(&path)
            .map(|found| {
                let files = found.files.into_iter();
                files
                    .map(|(file, label)| (relative(&file), label))
                    .collect()
            })
            .map_err(|error| error.to_string())
    }

    #[test]
    fn columns_are_found_by_their_names_or_places() {
        let expect = Ok(vec![
            ("a/1.png".to_owned(), Some("cat".to_owned())),
            ("b.png".to_owned(), Some("dog".to_owned())),
        ]);
        assert_eq!(found("b.png,dog\na/1.png, cat\n"), expect);
        assert_eq!(found("\u{feff}file,label\na/1.png,cat\nb.png,dog"), expect);
        assert_eq!(found("n,Label,Path\n1,cat,a/1.png\n2,dog,b.png"), expect);
        assert_eq!(found("label,x\ncat,a/1.png\ndog,b.png"), expect);
        assert_eq!(
            found("image\n/b.png\n"),
            Ok(vec![("/b.png".to_owned(), None)])
        );
        assert_eq!(found("file,label\n"), Ok(vec![]));
    }

    #[test]
    fn lines_that_say_nothing_are_named() {
        for (text, expect) in [
            ("a.png,1\n,2\n", "line 2: no file is named"),
            ("a.png,1\n\nb.png\n", "line 3: there is no label"),
            ("a.png,\"1\n", "line 1: a quotation mark is not closed"),
        ] {
            let message = found(text).unwrap_err();
            assert!(message.contains(expect), "{message}");
        }
    }
}
