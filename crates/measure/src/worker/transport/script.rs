//! Lines of shell for other machines, which any login shell hands to `/bin/sh` unchanged.
//!
//! No line break, no backslash and no exclamation mark comes from us: shells that are none of Bourne's family treat
//! them in ways of their own within quotes.

/// Comes on a line of its own before the output of what was asked for; greetings, and what a noisy `.bashrc` says,
/// come before it.
pub(crate) const BEGINS: &str = "powerband-begins-here";

/// A word as a shell takes it literally.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A line that prepares with `before`, announces what follows, and does it. What prepares, such as `module`, is there
/// in a login shell alone, and does not read what is meant for the program.
pub(crate) fn announced(before: &str, what: &str) -> String {
    let before = before.trim().trim_end_matches(';');
    let announced = format!("echo; echo {BEGINS}; {what}");
    if before.is_empty() {
        return announced;
    }
    let line = quoted(&format!("{{ {before}; }} </dev/null; {announced}"));
    format!(
        "if command -v bash >/dev/null 2>&1; then exec bash -lc {line}; else exec sh -lc {line}; fi"
    )
}

/// The last line that says something.
pub(crate) fn last_line(text: &str) -> &str {
    let mut lines = text.lines().rev().map(str::trim);
    lines.find(|line| !line.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("/opt/pb"), "/opt/pb");
        assert_eq!(quoted("it's a $HOME"), r"'it'\''s a $HOME'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn the_line_before_does_not_read_what_is_meant_for_the_program() {
        let line = announced("module load rocm;", "exec x");
        assert!(
            line.contains("{ module load rocm; } </dev/null; echo; echo"),
            "{line}"
        );
        assert!(line.contains("bash -lc"), "{line}");
        assert!(announced(" ", "exec x").starts_with("echo; "));
    }
}
