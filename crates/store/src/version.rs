//! The version of a session file, read before anything else of it.
//!
//! Every session file, of any version, begins with comments and then `(version: N,`. That is all
//! that later versions promise.

/// The version that this program writes.
pub(crate) const CURRENT: u32 = 2;

/// What a file's version means for this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionStatus {
    /// As this program writes it.
    Current,
    /// From an earlier program: read through the migration ladder.
    Older(u32),
    /// From a later program: read as far as possible, never written.
    Newer(u32),
}

/// The standing of a file's text; nothing where it does not begin like a session.
pub fn version_status(text: &str) -> Option<VersionStatus> {
    let version = read(text)?;
    Some(match version {
        CURRENT => VersionStatus::Current,
        newer if newer > CURRENT => VersionStatus::Newer(newer),
        older => VersionStatus::Older(older),
    })
}

/// The number after `version:` at the head of the text.
fn read(text: &str) -> Option<u32> {
    let text = skip_comments(text.trim_start_matches('\u{feff}'));
    let text = text
        .trim_start_matches(|c: char| c.is_alphanumeric() || c == '_')
        .trim_start();
    let text = skip_comments(text.strip_prefix('(')?);
    let text = text
        .strip_prefix("version")?
        .trim_start()
        .strip_prefix(':')?
        .trim_start();
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text[..digits].parse().ok()
}

fn skip_comments(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        match text.strip_prefix("//") {
            Some(comment) => text = comment.split_once('\n').map_or("", |(_, rest)| rest),
            None => return text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read() {
        let cases = [
            ("(version: 2, session: ())", Some(VersionStatus::Current)),
            (
                "// a comment\n\n// another\n(\n  version : 7,",
                Some(VersionStatus::Newer(7)),
            ),
            ("Document(version: 0", Some(VersionStatus::Older(0))),
            ("", None),
            ("(name: \"x\", version: 1)", None),
            ("(version: x)", None),
            ("{\"version\": 1}", None),
        ];
        for (text, expected) in cases {
            assert_eq!(version_status(text), expected, "{text}");
        }
    }
}
