//! A result as one page: sessions with their timelines, and the viewer that shows them in any browser, without a
//! request to anybody. Where a browser cannot run the viewer, the page shows a report.

use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use powerband_core::base::clock;
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
    let nonce = format!("{:x}", clock::entropy());
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; img-src data:"
    );
    let head = format!("<style>\n{STYLE}</style>\n<script nonce=\"{nonce}\">\n{SCRIPT}</script>\n");
    let before = "<p id=\"powerband-said\" role=\"status\">Opening\u{2026}</p>\n<canvas id=\"powerband-canvas\"></canvas>\n";
    let mut parts = String::new();
    for (id, bytes) in [
        ("powerband-script", script),
        ("powerband-program", program),
        ("powerband-sessions", &sessions),
    ] {
        let text = BASE64.encode(bytes);
        writeln!(
            parts,
            "<script type=\"text/plain\" id=\"{id}\">{text}</script>"
        )?;
    }
    parts.push_str("<span id=\"powerband-end\" hidden></span>\n");
    let extras = PageExtras {
        policy: &policy,
        head: &head,
        beside: [before, &parts],
    };
    Ok(html::write_with(&report(bundle, rules)?, extras))
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
