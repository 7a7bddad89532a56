//! The beginning of a file, by which its format is recognised.

use super::protobuf;

/// The beginning of a file, unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileHead {
    /// A database of `SQLite`, with the names of its tables and views.
    Sqlite(Vec<String>),
    /// Text that begins with a brace or a bracket.
    Json(String),
    /// Any other text, without a byte order mark.
    Text(String),
    /// Messages of protobuf, one after the other.
    Messages(Vec<u8>),
    /// No text: its bytes.
    Bytes(Vec<u8>),
}

impl FileHead {
    /// The head of a file with these first bytes. A character that is cut at the end is left out.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        if protobuf::is_message_list(bytes) {
            return Self::Messages(bytes.to_vec());
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
            }
            // Names may hold anything; the marks of formats are plain.
            Err(_) if !bytes.contains(&0) => return Self::text(&String::from_utf8_lossy(bytes)),
            Err(_) => return Self::Bytes(bytes.to_vec()),
        };
        if text.contains('\0') {
            return Self::Bytes(bytes.to_vec());
        }
        Self::text(text)
    }

    fn text(text: &str) -> Self {
        match text.trim_start().chars().next() {
            Some('{' | '[') => Self::Json(text.to_owned()),
            _ => Self::Text(text.to_owned()),
        }
    }

    /// The beginning of a file that is no database.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Sqlite(_) => &[],
            Self::Json(text) | Self::Text(text) => text.as_bytes(),
            Self::Messages(bytes) | Self::Bytes(bytes) => bytes,
        }
    }

    /// Whether a database has this table or view.
    pub(crate) fn has_table(&self, name: &str) -> bool {
        matches!(self, Self::Sqlite(tables) if tables.iter().any(|table| table == name))
    }

    /// The beginning of a JSON file.
    pub fn json(&self) -> Option<&str> {
        match self {
            Self::Json(text) => Some(text),
            _ => None,
        }
    }

    /// Whether a JSON file begins as an object, and has this key near its beginning.
    pub(crate) fn has_key(&self, key: &str) -> bool {
        self.json().is_some_and(|text| {
            let quoted = format!("\"{key}\"");
            text.match_indices(&quoted)
                .any(|(at, _)| text[at + quoted.len()..].trim_start().starts_with(':'))
        })
    }

    /// Whether a JSON file begins as a list.
    pub(crate) fn is_list(&self) -> bool {
        self.json()
            .is_some_and(|text| text.trim_start().starts_with('['))
    }

    /// The beginning of a file of messages of protobuf.
    pub(crate) fn messages(&self) -> Option<&[u8]> {
        match self {
            Self::Messages(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The beginning of a text.
    pub fn plain_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The beginning of any text. Logs often begin with a date in brackets, as if they were JSON.
    pub(crate) fn any_text(&self) -> Option<&str> {
        self.plain_text().or_else(|| self.json())
    }

    /// The first line of a text that is not blank.
    pub(crate) fn first_line(&self) -> Option<&str> {
        self.plain_text()?
            .lines()
            .find(|line| !line.trim().is_empty())
    }

    /// The fields of a table's first line, without quotation marks and in small letters.
    pub fn columns(&self, separator: char) -> Vec<String> {
        let Some(line) = self.first_line() else {
            return Vec::new();
        };
        line.split(separator)
            .map(|field| field.trim().trim_matches('"').to_lowercase())
            .collect()
    }

    /// Whether the first line has all these columns, in small letters.
    pub(crate) fn has_columns(&self, separator: char, names: &[&str]) -> bool {
        let columns = self.columns(separator);
        names
            .iter()
            .all(|name| columns.iter().any(|column| column == name))
    }

    /// What an unknown file looks like, for a message.
    pub fn description(&self) -> String {
        let short = |text: &str| -> String { text.chars().take(60).collect() };
        match self {
            Self::Sqlite(tables) if tables.is_empty() => {
                "a database of SQLite without tables".to_owned()
            }
            Self::Sqlite(tables) => {
                let some: Vec<&str> = tables.iter().take(4).map(String::as_str).collect();
                format!("a database of SQLite with the tables {}", some.join(", "))
            }
            Self::Json(text) if may_be_json(text) => {
                format!("JSON that begins {}", short(text.trim()))
            }
            Self::Text(text) | Self::Json(text) => {
                let first = text.lines().find(|line| !line.trim().is_empty());
                format!(
                    "text that begins \"{}\"",
                    short(first.unwrap_or_default().trim())
                )
            }
            Self::Messages(_) | Self::Bytes(_) => "it is neither text nor a database".to_owned(),
        }
    }
}

/// Whether what follows the first brace or bracket can stand there in JSON. Logs begin with `[Step 1/11]` or `[INFO]`.
fn may_be_json(text: &str) -> bool {
    let mut letters = text.trim_start().chars();
    let first = letters.next();
    let second = letters.find(|letter| !letter.is_whitespace());
    match (first, second) {
        (_, None) => true,
        (Some('{'), Some(second)) => matches!(second, '"' | '}'),
        (_, Some(second)) => {
            second.is_ascii_digit()
                || matches!(second, '"' | '{' | '[' | ']' | '-' | 't' | 'f' | 'n')
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_halves_of_characters_do_no_harm() {
        let head = FileHead::from_bytes("\u{feff}\"Name\",\"Calls\"\nµ".as_bytes());
        assert!(head.has_columns(',', &["name", "calls"]));
        let cut = &"[1, \"µ".as_bytes()[..6];
        assert!(FileHead::from_bytes(cut).is_list());
        assert_eq!(FileHead::from_bytes(&[0, 1, 2]).bytes(), [0, 1, 2]);
    }

    #[test]
    fn logs_with_words_in_brackets_are_not_called_json() {
        let looks = |text: &str| FileHead::from_bytes(text.as_bytes()).description();
        assert_eq!(looks("[Stage 1] go\n"), "text that begins \"[Stage 1] go\"");
        assert_eq!(looks("{ begin }"), "text that begins \"{ begin }\"");
        assert!(looks("[ 1, 2]").starts_with("JSON") && looks(" {\n\"a\": 1}").starts_with("JSON"));
    }

    #[test]
    fn keys_are_no_values() {
        let head = FileHead::from_bytes(br#"{"a": "traceEvents", "results" : []}"#);
        assert!(head.has_key("results") && !head.has_key("traceEvents") && !head.is_list());
    }
}
