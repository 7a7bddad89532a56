//! Lines of shell for other machines, which any login shell hands to `/bin/sh` unchanged.
//!
//! No line break, no backslash and no exclamation mark comes from us: shells that are none of Bourne's family treat
//! them in ways of their own within quotes.

/// Comes on a line of its own before the output of what was asked for; greetings, and what a noisy `.bashrc` says,
/// come before it.
pub const BEGINS: &str = "powerband-begins-here";

/// Stands on standard error in front of the exit status of a line `before` that failed.
const BEFORE_FAILED: &str = "powerband-before-failed";

/// A word as a shell takes it literally.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A line that prepares with `before`, announces what follows, and does it.
///
/// What prepares, such as `module`, is there in a login shell alone, and does not read what is meant for the program,
/// which is not started where it fails.
pub fn announced(before: &str, what: &str) -> String {
    let before = before.trim().trim_end_matches(';');
    let announced = format!("echo; echo {BEGINS}; {what}");
    if before.is_empty() {
        return announced;
    }
    let line = quoted(&format!(
        "{{ {before}; }} </dev/null || {{ s=$?; echo {BEFORE_FAILED} $s >&2; exit $s; }}; {announced}"
    ));
    format!(
        "if command -v bash >/dev/null 2>&1; then exec bash -lc {line}; else exec sh -lc {line}; fi"
    )
}

/// How a line `before` failed, where standard error says that it did: its exit status, and what it wrote last.
pub fn before_failure(stderr: &str) -> Option<String> {
    let (said, status) = stderr.split_once(BEFORE_FAILED)?;
    let status = status.lines().next().unwrap_or_default().trim();
    Some(match last_line(said) {
        "" => format!("exit status {status}, without a word"),
        line => format!("exit status {status}: {line}"),
    })
}

/// The last line that says something.
pub fn last_line(text: &str) -> &str {
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
            line.contains("{ module load rocm; } </dev/null || {"),
            "{line}"
        );
        assert!(line.contains("}; echo; echo"), "{line}");
        assert!(line.contains("bash -lc"), "{line}");
        assert!(announced(" ", "exec x").starts_with("echo; "));
    }

    #[test]
    fn a_line_before_that_fails_is_known_by_its_mark() {
        let said = format!("Welcome\nmodule: unknown module rocm\n{BEFORE_FAILED} 3\n");
        let failure = before_failure(&said).unwrap();
        assert_eq!(failure, "exit status 3: module: unknown module rocm");
        let silent = before_failure(&format!("{BEFORE_FAILED} 1\n")).unwrap();
        assert_eq!(silent, "exit status 1, without a word");
        assert_eq!(before_failure("ssh: connection refused"), None);
    }
}
