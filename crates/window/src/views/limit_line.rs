//! What limits the profile that is shown, in one line with how it is known, and the way to why.

use eframe::egui::{Align, Label, Layout, RichText, Ui, vec2};

use super::why::sign;
use crate::icon;
use crate::theme::{self, space};
use crate::widgets::{button, label, long_tip};
use powerband_app::App;
use powerband_app::action::{Action, Shell};
use powerband_app::kernels::ProfileRef;
use powerband_app::screen::Screen;
use powerband_app::shell::layout::Pane;

/// Height of the line, whether something is known yet or not.
const HEIGHT: f32 = 28.0;
/// Width of how it is known.
const BASIS: f32 = 92.0;

/// Shows it for a profile.
pub(super) fn show(ui: &mut Ui, app: &App, profile: ProfileRef, actions: &mut Vec<Action>) {
    let size = vec2(ui.available_width() - space::EDGE, HEIGHT);
    let layout = Layout::right_to_left(Align::Center);
    ui.allocate_ui_with_layout(size, layout, |ui| {
        ui.set_min_height(HEIGHT);
        why_button(ui, app, actions);
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            line(ui, app, profile);
        });
    });
}

fn line(ui: &mut Ui, app: &App, profile: ProfileRef) {
    let why = &app.profile.why;
    let found = why.found.result.as_ref();
    let Some(found) = found.filter(|found| found.looking.profile_ref() == Some(profile)) else {
        if why.found.busy().is_some() {
            label::quiet_line(ui, "Looking for what limits it…");
        }
        return;
    };
    let Some(headline) = found.headline() else {
        let reason = found.abstained.first().map_or("", String::as_str);
        label::quiet_line(ui, &format!("What limits it is not known: {reason}"));
        return;
    };
    sign(ui, headline.bound);
    let sentence = RichText::new(&headline.sentence).color(theme::roles(ui).text);
    let room = ui.available_width() - BASIS;
    ui.scope(|ui| {
        ui.set_max_width(room);
        let sentence = Label::new(sentence).truncate();
        let shown = ui.add(sentence.show_tooltip_when_elided(false));
        long_tip::on_hover(shown, &headline.details);
    });
    label::faint(ui, &headline.basis);
}

/// *Why* in a pane that is free, else in place of the main screen.
fn why_button(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let is_shown = app.shared.shows(Screen::Why);
    let response = ui.add_enabled_ui(!is_shown, |ui| button::labelled(ui, Some(icon::WHY), "Why"));
    let response = response.inner.accessible_name("Why is it limited so");
    if response
        .on_hover_text("The roofline, the wall time in parts and all findings")
        .clicked()
    {
        let is_free =
            |pane: &Pane| app.shared.has_room_for(*pane) && app.shared.screen_in(*pane).is_none();
        let free = [Pane::Right, Pane::Below].into_iter().find(is_free);
        actions.push(free.map_or(Action::Go(Screen::Why), |pane| {
            Action::Shell(Shell::Pane(pane, Some(Screen::Why)))
        }));
    }
}
