//! A result as one page: sessions with their timelines, and the viewer that shows them in any browser, without a
//! request to any machine. Where a browser cannot run the viewer, the page shows a report.

use std::fmt::Write as _;

use anyhow::{Context as _, bail};

use crate::secret::secret;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::category::Rules;
use powerband_findings::analysis::earlier_sessions::EarlierSessions;
use powerband_findings::export::html::{self, PageExtras};
use powerband_findings::report::Layout;
use powerband_findings::report::document::Document;
use powerband_findings::report::material::{ReportInputs, ReportedSession};
use powerband_store::bundle::Bundle;
use powerband_store::session_file;

/// The viewer as `scripts/viewer` packed it: the program, and the script around it.
#[cfg(has_viewer)]
const VIEWER: Option<[&[u8]; 2]> = Some([
    include_bytes!("../assets/viewer/viewer.wasm.gz"),
    include_bytes!("../assets/viewer/viewer.js.gz"),
]);
#[cfg(not(has_viewer))]
const VIEWER: Option<[&[u8]; 2]> = None;

const SCRIPT: &str = include_str!("../assets/result_page.js");
const STYLE: &str = include_str!("../assets/result_page.css");

/// Fails where this program has no viewer in it.
pub fn check_viewer() -> anyhow::Result<()> {
    if VIEWER.is_none() {
        bail!(
            "this build of Powerband has no viewer in it; run scripts/viewer in its source and build it again"
        );
    }
    Ok(())
}

/// The page of some sessions.
pub fn write(bundle: &Bundle, rules: &Rules) -> anyhow::Result<String> {
    check_viewer()?;
    let [program, script] = VIEWER.unwrap_or_default();
    let sessions = bundle.pack().context("the sessions cannot be packed")?;
    // Scripts that a session smuggles in do not know it.
    let nonce = secret().context("there are no random numbers for the page")?;
    let scripts = format!(" 'nonce-{nonce}' 'wasm-unsafe-eval'");
    let head = format!("<style>\n{STYLE}</style>\n<script nonce=\"{nonce}\">\n{SCRIPT}</script>\n");
    let before = "<p id=\"powerband-said\" role=\"status\">Opening\u{2026}</p>\n<canvas id=\"powerband-canvas\"></canvas>\n<pre id=\"powerband-screen\" role=\"region\" aria-label=\"What the screen shows\"></pre>\n";
    let mut parts = String::new();
    for (id, bytes) in [
        ("powerband-script", script),
        ("powerband-program", program),
        ("powerband-sessions", &sessions),
    ] {
        let text = as_text(bytes);
        let length = bytes.len();
        writeln!(
            parts,
            "<script type=\"text/plain\" id=\"{id}\" data-length=\"{length}\">{text}</script>"
        )?;
    }
    parts.push_str("<span id=\"powerband-end\" hidden></span>\n");
    let extras = PageExtras {
        scripts: &scripts,
        head: &head,
        beside: [before, &parts],
    };
    Ok(html::write_with(&report(bundle, rules)?, extras))
}

/// Each four bytes as five characters, whose codes are digits to the base of 85 above 40, the end filled up with zeros.
/// `!` stands for `<`, so that no text ends the element that it is in. Base64 would be 6 % longer.
fn as_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() / 4 * 5 + 5);
    for group in bytes.chunks(4) {
        let mut four = [0; 4];
        four[..group.len()].copy_from_slice(group);
        let value = u32::from_be_bytes(four);
        for place in (0..5).rev() {
            let digit = value / 85_u32.pow(place) % 85;
            let character = char::from(40 + digit as u8);
            text.push(if character == '<' { '!' } else { character });
        }
    }
    text
}

fn source(session: &Session) -> ReportedSession<'_> {
    ReportedSession::new(session, None, session_file::plan_text(&session.plan).ok())
}

/// The report of the comparison of two sessions, else of the first.
fn report(bundle: &Bundle, rules: &Rules) -> anyhow::Result<Document> {
    let (first, second) = match bundle.sessions.as_slice() {
        [] => bail!("there is no session"),
        [first, second] => (first, Some(second)),
        [first, ..] => (first, None),
    };
    let inputs = |second: Option<_>| ReportInputs {
        earlier: EarlierSessions::default(),
        first: source(first),
        second: second.map(source),
        rules,
        title: None,
    };
    let both = inputs(second);
    let layout = Layout::choose(None, second.is_some()).map_err(anyhow::Error::msg)?;
    if layout.check(&both).is_ok() {
        return Ok(layout.write(&both));
    }
    let layout = Layout::choose(None, false).map_err(anyhow::Error::msg)?;
    Ok(layout.write(&inputs(None)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_text_that_ends_no_element() {
        assert_eq!(as_text(&[0, 0, 0, 0]), "(((((");
        // 20 of 85 has the code of `<`.
        assert_eq!(as_text(&[0, 0, 0, 20]), "((((!");
        // 82, 23, 54, 12 and 0.
        assert_eq!(as_text(&[0xff; 4]), "z?^4(");
        let all: Vec<u8> = (0..=255).collect();
        let text = as_text(&all);
        assert_eq!(text.len(), 320);
        assert!(!text.contains(['<', '&']));
    }
}
