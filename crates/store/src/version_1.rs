//! From session version 1 to 2: a case had a batch size, now it has a point with a size for each dimension.
//!
//! The text is changed where a batch size stands and nowhere else, so that every number keeps its digits.
//! What a document publishes keeps its batch sizes.

use powerband_core::domain::point::BATCH;

/// The key whose value stays as it is.
const PUBLISHED: &str = "published";

/// The text of version 2. It may be the head of a file, which ends within its parentheses.
#[expect(clippy::unnecessary_wraps, reason = "the signature of every step")]
pub(crate) fn to_version_2(text: &str) -> Result<String, String> {
    let mut step = Version1Rewriter {
        rest: text,
        out: String::with_capacity(text.len() + text.len() / 8),
        keys: Vec::new(),
        key: "",
    };
    while !step.rest.is_empty() {
        step.token();
    }
    Ok(step.out)
}

/// State of rewriting a text from version 1 to 2.
struct Version1Rewriter<'a> {
    rest: &'a str,
    out: String,
    /// The keys of the values that we are within.
    keys: Vec<&'a str>,
    /// The last key.
    key: &'a str,
}

impl<'a> Version1Rewriter<'a> {
    /// Hands one token on, and with a key that has changed its value, too.
    fn token(&mut self) {
        let rest = self.rest;
        if let Some(length) = text_or_comment(rest) {
            self.copy(length);
        } else if let Some(word) = word(rest) {
            let after = rest[word.len()..].trim_start();
            match after
                .strip_prefix(':')
                .filter(|after| !after.starts_with(':'))
            {
                Some(value) => self.key(word, value.trim_start()),
                None => self.copy(word.len()),
            }
        } else {
            let length = rest.chars().next().map_or(rest.len(), char::len_utf8);
            match rest.as_bytes().first() {
                Some(b'(' | b'[' | b'{') => self.keys.push(self.key),
                Some(b')' | b']' | b'}') => self.key = self.keys.pop().unwrap_or(""),
                _ => {}
            }
            self.copy(length);
        }
    }

    fn copy(&mut self, length: usize) {
        let (token, rest) = self.rest.split_at(length);
        self.out.push_str(token);
        self.rest = rest;
    }

    fn key(&mut self, key: &'a str, value: &'a str) {
        self.key = key;
        let is_published = self.keys.contains(&PUBLISHED);
        let changed = match key {
            BATCH if !is_published => self.point(value),
            "batches" if self.keys.last() == Some(&"plan") => self.points(value),
            _ => None,
        };
        match changed {
            Some(rest) => self.rest = rest,
            None => self.copy(key.len()),
        }
    }

    /// `batch: 8` → `point: {"batch": 8}`, whether within `Some(…)` or not; what follows.
    fn point(&mut self, value: &'a str) -> Option<&'a str> {
        let inner = value.strip_prefix("Some(");
        let (number, rest) = number(inner.unwrap_or(value).trim_start()).unwrap_or(("", value));
        match (number, inner) {
            ("", _) if value.starts_with("None") => self.out.push_str("point: "),
            ("", _) => return None,
            (number, None) => self.out.push_str(&format!("point: {}", bound(number))),
            (number, Some(_)) => self.out.push_str(&format!("point: Some({}", bound(number))),
        }
        Some(rest)
    }

    /// `batches: [1, 2]` → `points: [{"batch": 1}, {"batch": 2}]`; what follows.
    fn points(&mut self, value: &'a str) -> Option<&'a str> {
        let (list, rest) = value.strip_prefix('[')?.split_once(']')?;
        self.out.push_str("points: [");
        let mut list = list;
        while let Some(next) = list.chars().next() {
            if let Some((size, after)) = number(list) {
                self.out.push_str(&bound(size));
                list = after;
            } else {
                self.out.push(next);
                list = &list[next.len_utf8()..];
            }
        }
        self.out.push(']');
        Some(rest)
    }
}

/// A batch size as a point.
fn bound(size: &str) -> String {
    format!("{{\"{BATCH}\": {size}}}")
}

/// The length of a text in quotation marks or a comment that a token begins with.
fn text_or_comment(rest: &str) -> Option<usize> {
    let ends = |after: usize, end: &str| {
        let found = rest.get(after..).and_then(|rest| rest.find(end));
        found.map_or(rest.len(), |found| after + found + end.len())
    };
    if rest.starts_with("//") {
        return Some(ends(2, "\n"));
    }
    if rest.starts_with("/*") {
        return Some(ends(2, "*/"));
    }
    if let Some(raw) = rest.strip_prefix('r') {
        let marks = raw.len() - raw.trim_start_matches('#').len();
        if raw[marks..].starts_with('"') {
            return Some(ends(marks + 2, &format!("\"{}", "#".repeat(marks))));
        }
    }
    let quoted = rest.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = quoted.find(|c| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    });
    Some(end.map_or(rest.len(), |end| end + 2))
}

/// The identifier or number that a token begins with.
fn word(rest: &str) -> Option<&str> {
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
    rest.get(..end.unwrap_or(rest.len()))
        .filter(|word| !word.is_empty())
}

/// A whole number, and what follows.
fn number(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '_');
    let (number, rest) = text.split_at(end.unwrap_or(text.len()));
    number
        .starts_with(|c: char| c.is_ascii_digit())
        .then_some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_sizes_become_points_and_nothing_else_changes() {
        for (before, after) in [
            (
                "(setup: 0, batch: 8,)",
                "(setup: 0, point: {\"batch\": 8},)",
            ),
            ("(batch :\n 1_024)", "(point: {\"batch\": 1_024})"),
            ("(batch: Some(8))", "(point: Some({\"batch\": 8}))"),
            ("(batch: None)", "(point: None)"),
            (
                "(plan: (batches: [\n 1,\n 2,]))",
                "(plan: (points: [\n {\"batch\": 1},\n {\"batch\": 2},]))",
            ),
            ("(plan: (batches: []))", "(plan: (points: []))"),
            (
                "(fixed_batch: 8, batch_axis: [])",
                "(fixed_batch: 8, batch_axis: [])",
            ),
            (
                "(notes: \"a \\\" batch: 8\", batch: 1)",
                "(notes: \"a \\\" batch: 8\", point: {\"batch\": 1})",
            ),
            (
                "(notes: r#\"a\" batch: 8\"#) // batch: 8",
                "(notes: r#\"a\" batch: 8\"#) // batch: 8",
            ),
            (
                "(published: Some((points: [(batch: 8)])), batch: 2)",
                "(published: Some((points: [(batch: 8)])), point: {\"batch\": 2})",
            ),
            (
                "(case: Some((setup: 0, batch: 2",
                "(case: Some((setup: 0, point: {\"batch\": 2}",
            ),
        ] {
            assert_eq!(to_version_2(before).unwrap(), after);
        }
    }
}
