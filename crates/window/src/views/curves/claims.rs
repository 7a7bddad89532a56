//! The cards of published numbers: inconsistent numbers, and the tables of the document.

use eframe::egui::{Align, Label, Layout, RichText, Ui, vec2};

use crate::icon;
use crate::theme::{self, space};
use crate::widgets::{button, label, sheet};
use powerband_app::App;
use powerband_app::action::{Action, Shell};
use powerband_app::curves::claims;
use powerband_app::sessions::{Claims, OpenSession};
use powerband_core::base::humanize;
use powerband_findings::analysis::claims::PUBLISHED_MARK;
use powerband_findings::analysis::lint::{self, LintFinding, LintOrigin, LintSeverity};

/// Width of the names before what is stated and what follows.
const NAMES: f32 = 64.0;

/// Shows what every open session has.
pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    for (session, found) in claims::shown(&app.shared.sessions) {
        if !found.findings.is_empty() {
            findings(ui, session, &found.findings, actions);
            ui.add_space(space::MEDIUM);
        }
        if !found.head.is_empty() {
            published(ui, session, &found);
            ui.add_space(space::MEDIUM);
        }
    }
}

fn findings(
    ui: &mut Ui,
    session: &OpenSession,
    findings: &[LintFinding],
    actions: &mut Vec<Action>,
) {
    super::super::card(ui, |ui| {
        ui.horizontal(|ui| {
            label::card_title(ui, "Inconsistent numbers").on_hover_text(
                "Stated numbers beside what follows from the other numbers of the same session, within their rounding.",
            );
            let number = humanize::pluralised(findings.len() as u64, "finding");
            label::faint(ui, &format!("{number} in {}", session.session.name));
            if button::small_icon(ui, icon::COPY, "Copy the findings").clicked() {
                actions.push(Action::Shell(Shell::Copy(claims::text(session, findings))));
            }
        });
        for finding in findings {
            ui.add_space(space::SMALL);
            finding_card(ui, finding);
        }
    });
}

fn finding_card(ui: &mut Ui, finding: &LintFinding) {
    let roles = theme::roles(ui);
    let color = match finding.weight {
        LintSeverity::Contradiction => roles.bad,
        LintSeverity::Doubt => roles.unsure,
    };
    ui.horizontal(|ui| {
        label::pill(ui, finding.weight.name(), color);
        let title = lint::check_by_id(finding.check).map_or("", |check| check.title);
        let origin = match finding.origin {
            LintOrigin::Published => "",
            LintOrigin::Measured => ", measured",
        };
        let words = format!("{title}: {}{origin}", finding.about);
        ui.label(
            RichText::new(words)
                .family(theme::medium())
                .color(roles.text),
        );
    });
    for (name, words, is_sum) in [
        ("stated", &finding.claimed, false),
        ("follows", &finding.follows, false),
        ("sum", &finding.sum, true),
    ] {
        named(ui, name, |ui| {
            if is_sum {
                let words = RichText::new(words.as_str()).font(theme::numbers(12.5));
                ui.add(Label::new(words.color(roles.text)).wrap());
            } else {
                label::quiet(ui, words);
            }
        });
    }
}

fn published(ui: &mut Ui, session: &OpenSession, found: &Claims) {
    super::super::card(ui, |ui| {
        ui.horizontal(|ui| {
            label::card_title(ui, &session.session.name);
            label::pill(ui, PUBLISHED_MARK, theme::roles(ui).quiet);
        });
        for (name, words) in &found.head {
            named(ui, name, |ui| {
                label::quiet(ui, words);
            });
        }
        for (place, one) in found.sheets.iter().enumerate() {
            ui.add_space(space::MEDIUM);
            label::caption(ui, &one.title);
            sheet::show(ui, &format!("{:?}-{place}", session.id), one);
        }
    });
}

/// A name and a text beside it.
fn named(ui: &mut Ui, name: &str, content: impl FnOnce(&mut Ui)) {
    ui.horizontal_top(|ui| {
        let size = vec2(NAMES, 16.0);
        ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::TOP), |ui| {
            ui.set_min_width(NAMES);
            label::faint(ui, name);
        });
        content(ui);
    });
}
