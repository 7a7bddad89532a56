//! Notes on a trace, in the card at the side: a click looks at one, and its text is edited in place.

use eframe::egui::{Align, Button, Layout, RichText, Ui};

use crate::icon;
use crate::theme::{self, space, text};
use crate::widgets::{button, field, label, long_tip};
use powerband_app::App;
use powerband_app::action::Timeline;
use powerband_app::timeline::notebook::NOTE;
use powerband_core::base::humanize;
use powerband_findings::chart::timeline::exact;
use powerband_store::trace_notes::Note;

/// Letters of a text that are shown on its line.
const LONGEST: usize = 60;

pub(super) fn show(ui: &mut Ui, app: &App, changes: &mut Vec<Timeline>) {
    let Some((book, (_, _, view))) = app
        .profile
        .timeline
        .notebook()
        .zip(app.profile.timeline.current())
    else {
        return;
    };
    ui.add_space(space::SMALL);
    ui.horizontal(|ui| {
        label::caption(ui, "Notes");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let add = button::small_icon(ui, icon::ADD, "Add a note");
            let keys = app.shared.keys_of("timeline-note");
            if add.on_hover_text(keys).clicked() {
                changes.push(Timeline::AddNote);
            }
        });
    });
    if let Some(why) = &book.trouble {
        label::trouble(ui, &format!("Not saved: {why}"));
    }
    if book.notes.is_empty() {
        let keys = app.shared.keys_of("timeline-note");
        let words = format!("{keys} notes the selection, or the time under the pointer.");
        label::faint(ui, words.trim_start());
    }
    let step = view.stretch.length() / 1e3;
    for (place, note) in book.notes.iter().enumerate() {
        if book.editing == Some(place) {
            edited(ui, place, note, step, changes);
        } else {
            line(ui, place, note, step, changes);
        }
    }
}

fn edited(ui: &mut Ui, place: usize, note: &Note, step: f64, changes: &mut Vec<Timeline>) {
    label::faint(ui, &when(note, step));
    let width = ui.available_width() - 18.0;
    let (response, typed) = field::line(ui, NOTE, &note.text, "What is there to see?", width);
    if let Some(text) = typed {
        changes.push(Timeline::WriteNote(place, text));
    }
    if response.lost_focus() {
        changes.push(Timeline::EditNote(None));
    }
}

fn line(ui: &mut Ui, place: usize, note: &Note, step: f64, changes: &mut Vec<Timeline>) {
    let roles = theme::roles(ui);
    let number = place + 1;
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = space::HAIR;
            let remove = format!("Remove note {number}");
            if button::small_icon(ui, icon::DISCARD, &remove).clicked() {
                changes.push(Timeline::RemoveNote(place));
            }
            let edit = format!("Edit note {number}");
            if button::small_icon(ui, icon::EDIT, &edit).clicked() {
                changes.push(Timeline::EditNote(Some(place)));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let words = humanize::shorten(note.text.trim(), LONGEST);
                let words = if words.is_empty() {
                    RichText::new("No text yet").color(roles.faint)
                } else {
                    RichText::new(words).color(roles.text)
                };
                let button = Button::new(words).frame(false).truncate();
                let response = ui.add(button);
                let name = format!("Go to note {number}: {}", note.text.trim());
                let response = response.accessible_name(name);
                if long_tip::on_hover(response, &note.text).clicked() {
                    changes.push(Timeline::GoToNote(place));
                }
            });
        });
    });
    let when = RichText::new(when(note, step)).font(theme::numbers(text::CAPTION));
    ui.label(when.color(roles.quiet));
}

/// When it is, and how long.
fn when(note: &Note, step: f64) -> String {
    let (from, to) = note.times();
    let at = exact(from, step);
    if to > from {
        format!("{at}, {}", humanize::duration_ns(to - from))
    } else {
        at
    }
}
