//! What every way of comparing has on top: the ratio with its verdicts, what changed beside it, and notes on one line.

use eframe::egui::{Button, CollapsingHeader, Label, RichText, Ui, vec2};

use crate::icon::{self, Icon};
use crate::theme::{self, space, text};
use crate::widgets::choice::{Choice, ChoiceRow};
use crate::widgets::{button, label, long_tip, verdict};
use powerband_app::App;
use powerband_app::action::Action;
use powerband_app::reports::ReportTarget;
use powerband_app::screen::Screen;
use powerband_core::base::humanize;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_core::domain::sweep;
use powerband_findings::analysis::headline::{Change, Headline};

/// Most reasons on hover; each pair has its own in the table.
const REASONS: usize = 6;
/// Below this width cards stand below each other.
const HALVES: f32 = 520.0;

/// The answer, with what can be done about it below, and what changed at its right.
pub(super) fn show(ui: &mut Ui, found: &Headline, next_steps: impl FnOnce(&mut Ui)) {
    two_columns(ui, |ui, width| {
        ui.allocate_ui(vec2(width, 0.0), |ui| {
            ui.vertical(|ui| {
                super::card(ui, |ui| {
                    ratio(ui, found);
                    next_steps(ui);
                });
            });
        });
        ui.allocate_ui(vec2(width, 0.0), |ui| {
            ui.vertical(|ui| super::card(ui, |ui| changes(ui, found)));
        });
    });
}

/// Up to this width the buttons of a screen stand below the tabs.
const NARROW: f32 = 640.0;

/// The first row of a way of comparing: its tabs, and the report of what it shows.
pub(super) fn header(ui: &mut Ui, app: &App, screen: Screen, actions: &mut Vec<Action>) {
    super::tabs::with_buttons(ui, NARROW, |ui| report_button(ui, app, screen, actions));
}

/// Writes a report that begins with what the screen shows.
pub(super) fn report_button(ui: &mut Ui, app: &App, screen: Screen, actions: &mut Vec<Action>) {
    let subject = app.reported_subject(screen);
    if !app.shared.has_machine() {
        return;
    }
    let main = app.shared.screen;
    if screen != main && subject.is_some() && app.reported_subject(main) == subject {
        // That of the main pane begins with all panes of the same subject.
        return;
    }
    let subject =
        subject.ok_or("a report is about what was measured here, or imported as a session");
    let allowed = subject.map(|_| ());
    super::in_order(ui, 2, |ui, place| {
        let (icon, name, target) = match place {
            0 => (None, "Preview", ReportTarget::Preview),
            _ => (Some(icon::SAVE), "Write a report…", ReportTarget::Ask),
        };
        let button = button::plain_if(ui, allowed, icon, name);
        if let (true, Ok(subject)) = (button.clicked(), subject) {
            actions.push(Action::Report(subject, target));
        }
    });
}

/// Two parts side by side, or below each other in a narrow window. They get their width.
pub(super) fn two_columns(ui: &mut Ui, content: impl FnOnce(&mut Ui, f32)) {
    let whole = ui.available_width();
    if whole < HALVES {
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = space::MEDIUM;
            content(ui, whole);
        });
        return;
    }
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::MEDIUM;
        content(ui, (whole - space::MEDIUM) / 2.0);
    });
}

fn ratio(ui: &mut Ui, found: &Headline) {
    label::card_title(ui, &found.title).on_hover_text(found.help);
    if let Some(ratio) = &found.ratio {
        label::number(ui, ratio, text::HUGE);
    }
    if let Some(interval) = &found.interval {
        label::quiet(ui, interval);
    }
    if !found.sentence.is_empty() {
        label::quiet(ui, &found.sentence);
    }
    if !found.verdicts.is_empty() {
        ui.add_space(space::SMALL);
    }
    for (call, holds_for) in &found.verdicts {
        ui.horizontal_wrapped(|ui| {
            verdict::word(ui, *call);
            label::quiet(ui, holds_for);
        });
    }
    reasons(ui, &found.reasons);
}

/// The first reason; the others on hover, and in the table with each pair.
fn reasons(ui: &mut Ui, reasons: &[String]) {
    let Some((first, others)) = reasons.split_first() else {
        return;
    };
    let more = match others.len() {
        0 => String::new(),
        count => format!(" {} more on hover.", humanize::count(count as u64)),
    };
    let response = label::quiet(ui, &format!("{first}{more}"));
    if !others.is_empty() {
        let listed: Vec<&str> = others.iter().take(REASONS).map(String::as_str).collect();
        long_tip::on_hover(response, &listed.join("\n\n"));
    }
}

fn changes(ui: &mut Ui, found: &Headline) {
    if !found.time_differences.is_empty() {
        label::card_title(ui, "Where the time went").on_hover_text(
            "Parts of the time that add up to the difference: the work at the roofs, the time above them, starting nodes, and waiting; of cases that were profiled on both sides",
        );
        for sentence in &found.time_differences {
            ui.add_space(space::TINY);
            ui.add(Label::new(sentence).wrap());
        }
        ui.add_space(space::SMALL);
    }
    label::card_title(ui, found.changes_title);
    ui.add_space(space::TINY);
    if found.is_first {
        label::quiet(ui, "No session before it has this case.");
    } else if found.changes.is_empty() {
        label::quiet(ui, "No recorded difference.");
    }
    for Change { what, text } in &found.changes {
        label::faint(ui, what);
        ui.add(Label::new(text).wrap());
        ui.add_space(space::TINY);
    }
    ui.add_space(space::TINY);
    for (title, list) in [
        ("Known on one side only", &found.one_sided),
        ("The same on both sides", &found.unchanged),
    ] {
        if list.is_empty() {
            continue;
        }
        let words = RichText::new(title).color(theme::roles(ui).quiet);
        CollapsingHeader::new(words).id_salt(title).show(ui, |ui| {
            for Change { what, text } in list {
                label::pair(ui, what, text);
            }
        });
    }
}

/// Least height of a line of notes.
const LINE: f32 = 18.0;
/// Width of the choice of a point: of a batch, and of several sizes.
const POINT: (f32, f32) = (130.0, 220.0);

/// Which of the points of a session; answers the one that was taken.
pub(super) fn point_choice(
    ui: &mut Ui,
    name: &str,
    shown: Point,
    session: &Session,
) -> Option<Point> {
    let text = |point: &Point| humanize::capitalised(&point.to_string());
    let points = &session.plan.points;
    let choice = Choice {
        name,
        shown: &text(&shown),
        width: if sweep::is_of_batches(points) {
            POINT.0
        } else {
            POINT.1
        },
    };
    let rows = || {
        let rows = points.iter().map(|point| ChoiceRow {
            name: text(point),
            colour: None,
            is_chosen: *point == shown,
        });
        rows.collect()
    };
    let (_, taken) = choice.show(ui, rows);
    points.get(taken?).copied()
}

/// What went wrong, each on its own line, then notes: one in full; of several their number and the first, cut to one
/// line, until they are opened.
pub(super) fn notes(ui: &mut Ui, failures: &[String], notes: &[&str]) {
    if failures.is_empty() && notes.is_empty() {
        return;
    }
    super::card(ui, |ui| {
        ui.spacing_mut().interact_size.y = LINE;
        for failure in failures {
            note(ui, icon::WARNING, failure);
        }
        match notes {
            [] => {}
            [one] => note(ui, icon::INFO, one),
            several => folded_notes(ui, several),
        }
    });
}

fn folded_notes(ui: &mut Ui, notes: &[&str]) {
    let id = ui.make_persistent_id("notes");
    let is_open: bool = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    let count = humanize::pluralised(notes.len() as u64, "note");
    let (arrow, title) = if is_open {
        (icon::DOWN, count)
    } else {
        (icon::RIGHT, format!("{count}: {}", notes[0]))
    };
    ui.horizontal(|ui| {
        let color = theme::roles(ui).quiet;
        ui.label(button::glyph(arrow).size(13.0).color(color));
        ui.spacing_mut().button_padding.y = 0.0;
        let fold = Button::new(RichText::new(&title).color(color));
        let fold = ui.add(fold.frame(false).truncate());
        if fold.on_hover_text(title).clicked() {
            ui.data_mut(|data| data.insert_temp(id, !is_open));
        }
    });
    for one in notes.iter().filter(|_| is_open) {
        note(ui, icon::INFO, one);
    }
}

fn note(ui: &mut Ui, sign: Icon, words: &str) {
    ui.horizontal_top(|ui| {
        let color = theme::roles(ui).unsure;
        ui.label(button::glyph(sign).size(13.0).color(color));
        label::quiet(ui, words);
    });
}
