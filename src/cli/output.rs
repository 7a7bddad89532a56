//! Where text goes: answers to standard output, everything else to standard error.

use std::io::{self, Write as _};

/// Prints an answer, and nothing but the answer.
pub(super) fn answer(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(())
}

/// Prints a document for another program.
pub(super) fn document(value: &serde_json::Value) -> anyhow::Result<()> {
    answer(&serde_json::to_string_pretty(value)?)
}

/// Prints a remark. It is optional: where standard error is closed, it is dropped.
pub(super) fn note(text: &str) {
    drop(writeln!(io::stderr(), "{text}"));
}
