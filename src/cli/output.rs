//! Where text goes: answers to standard output, everything else to standard error.
//!
//! Names of setups, kernels and files may come from anyone, and a terminal obeys what stands in them. So nothing
//! but text gets there: characters that move the cursor, or change the direction of reading, are replaced.

use std::io::{self, Write as _};

pub(super) use powerband_core::base::plain_text::harmless;
use powerband_core::base::plain_text::is_obeyed;
use powerband_findings::export::terminal;
use powerband_findings::report::document::Block;

/// A JSON document that says the same without such characters: they stand in its texts alone.
fn harmless_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_obeyed(letter) {
            out.push_str(&format!("\\u{:04x}", u32::from(letter)));
        } else {
            out.push(letter);
        }
    }
    out
}

/// Prints an answer, and nothing but the answer.
pub(super) fn answer(text: &str) -> anyhow::Result<()> {
    print(&harmless(text))
}

/// Prints the sections of a document.
pub(super) fn sections(sections: &[Vec<Block>]) -> anyhow::Result<()> {
    answer(&terminal::sections(sections))
}

fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(())
}

/// Goes back so many lines on a terminal, and clears from there.
pub(super) fn go_back(lines: usize) -> anyhow::Result<()> {
    write!(io::stdout(), "\x1b[{lines}A\x1b[J")?;
    Ok(())
}

/// Prints a document for another program.
pub(super) fn document(value: &serde_json::Value) -> anyhow::Result<()> {
    print(&harmless_json(&serde_json::to_string_pretty(value)?))
}

/// The same in one line.
pub(super) fn document_line(value: &serde_json::Value) -> anyhow::Result<()> {
    print(&harmless_json(&value.to_string()))
}

/// Prints a remark. It is optional: where standard error is closed, it is dropped.
pub(super) fn note(text: &str) {
    drop(writeln!(io::stderr(), "{}", harmless(text)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::base::plain_text::REPLACED;

    #[test]
    fn a_terminal_obeys_nothing_that_a_name_says() {
        let plain = "ort:cpu\t37.7 ms ± 1.7 % µ × 名\n";
        assert_eq!(harmless(plain), plain);
        let hostile = "a\u{1b}[2Jb\u{9b}31mc\u{7}\rd\u{202e}e\u{7f}\u{8}";
        let shown = harmless(hostile);
        assert!(!shown.contains(is_obeyed), "{shown:?}");
        assert_eq!(shown.replace(REPLACED, ""), "a[2Jb31mcde");
        let value = serde_json::json!({ "name": hostile });
        let text = harmless_json(&value.to_string());
        assert!(!text.contains(is_obeyed), "{text:?}");
        let again: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(again, value, "a program reads what was written");
    }
}
