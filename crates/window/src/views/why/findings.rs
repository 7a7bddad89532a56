//! The findings, worst first, each with how it is known and how much is left; and what is not said.

use eframe::egui::{RichText, Sense, Ui, UiBuilder, WidgetInfo, accesskit::Role};

use super::nodes::sign;
use crate::icon;
use crate::theme::{self, space, text};
use crate::views::card;
use crate::widgets::{button, label};
use powerband_app::App;
use powerband_app::action::{Action, Roofs, Why};
use powerband_app::why::WhyResult;
use powerband_core::base::humanize;

/// Reasons that are listed.
const REASONS: usize = 6;

/// Both cards.
pub(super) fn cards(ui: &mut Ui, app: &App, found: &WhyResult, actions: &mut Vec<Action>) {
    card(ui, |ui| {
        label::card_title(ui, "Findings").on_hover_text(
            "Worst first. Each number is a share of a named line; the formula is under the pointer.",
        );
        let mut is_empty = true;
        for (place, _) in found.findings_beside_answer() {
            if !is_empty {
                ui.separator();
            }
            is_empty = false;
            finding_row(ui, app, found, place, actions);
        }
        if is_empty {
            label::quiet(ui, "Nothing is found beside it; the reasons stand below.");
        }
    });
    if !found.abstained.is_empty() || !found.has_roofs {
        unsaid(ui, app, found, actions);
    }
}

/// One finding. A click selects the node that it is about.
fn finding_row(ui: &mut Ui, app: &App, found: &WhyResult, place: usize, actions: &mut Vec<Action>) {
    let Some(finding) = found.findings.get(place) else {
        return;
    };
    // One about nodes that are alike selects the first; one about all of them none.
    let node = finding.nodes.first().copied();
    let node = node.filter(|_| !finding.is_whole);
    let roles = theme::roles(ui);
    let sense = if node.is_some() {
        Sense::click()
    } else {
        Sense::hover()
    };
    let builder = UiBuilder::new().sense(sense).id_salt(("finding", place));
    let shown = ui.scope_builder(builder, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = space::HAIR;
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = space::TINY;
            match finding.bound {
                Some(bound) => sign(ui, Some(bound)),
                None => ui.add_space(12.0),
            }
            ui.vertical(|ui| {
                let is_lit = node.is_some() && node == app.profile.why.selected;
                let color = if is_lit { roles.accent } else { roles.text };
                let words = RichText::new(&finding.sentence).color(color);
                ui.add(eframe::egui::Label::new(words).wrap());
                let at_most = finding.speed_up_text();
                if !at_most.is_empty() {
                    let words = RichText::new(humanize::capitalised(&at_most))
                        .font(theme::numbers(text::CAPTION))
                        .color(roles.quiet);
                    ui.add(eframe::egui::Label::new(words).wrap());
                }
                label::faint(ui, finding.basis.title());
            });
        });
    });
    let response = shown.response;
    response.widget_info(|| {
        let role = if node.is_some() {
            Role::Button
        } else {
            Role::Label
        };
        WidgetInfo::labeled(role, true, finding.full_text())
    });
    let clicked = response.clicked();
    let about = [&finding.line, &finding.formula];
    let about: Vec<&str> = about
        .into_iter()
        .map(String::as_str)
        .filter(|line| !line.is_empty())
        .collect();
    if !about.is_empty() {
        response.on_hover_text(about.join("\n"));
    }
    if clicked {
        let again = node == app.profile.why.selected;
        let node = node.filter(|_| !again);
        actions.push(Action::Why(Why::Select(node)));
    }
}

/// What is not said, and why.
fn unsaid(ui: &mut Ui, app: &App, found: &WhyResult, actions: &mut Vec<Action>) {
    card(ui, |ui| {
        label::card_title(ui, "Not known");
        for reason in found.abstained.iter().take(REASONS) {
            ui.horizontal_top(|ui| {
                let color = theme::roles(ui).faint;
                ui.label(button::glyph(icon::INFO).size(13.0).color(color));
                label::quiet(ui, &humanize::capitalised(reason));
            });
        }
        if found.abstained.len() > REASONS {
            let more = found.abstained.len() - REASONS;
            label::faint(ui, &format!("and {more} more"));
        }
        // Nothing here measures what another machine reaches.
        let session = app.shared.sessions.get(found.looking.session);
        let is_from_here = session.is_some_and(|open| open.session.imported.is_none());
        if !found.has_roofs && is_from_here && app.shared.has_machine() {
            let can_measure =
                powerband_app::roofs::commands::can_measure(&app.settings, &app.shared);
            if button::plain_if(ui, can_measure, None, "Measure roofs").clicked() {
                actions.push(Action::Roofs(Roofs::Measure));
            }
        }
    });
}
