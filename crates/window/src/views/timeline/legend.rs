//! The card at the side where nothing is selected: colours, mouse and keys, and warnings of the import.

use eframe::egui::{Color32, TextStyle, Ui};

use super::notes;
use super::parts::swatch;
use crate::theme::space;
use crate::widgets::label;
use crate::widgets::timeline_canvas::TimelineContent;
use powerband_app::App;
use powerband_app::action::Timeline;
use powerband_app::timeline::OpenTrace;
use powerband_core::domain::trace::SliceKind;
use powerband_findings::chart::timeline;

/// Colours, mouse and keys, and the warnings of the import.
pub(super) fn show(
    ui: &mut Ui,
    app: &App,
    shown: &TimelineContent<'_>,
    open: &OpenTrace,
    changes: &mut Vec<Timeline>,
) {
    label::card_title(ui, "No selection");
    label::quiet(ui, "Click a slice, or Shift+drag to measure a range.");
    notes::show(ui, app, changes);
    ui.add_space(space::SMALL);
    label::caption(ui, "Colours");
    let mut occurs = [false; SliceKind::ALL.len()];
    for kind in shown.timeline.kinds() {
        occurs[*kind as usize] = true;
    }
    ui.scope(|ui| {
        ui.spacing_mut().interact_size.y = 18.0;
        ui.horizontal_wrapped(|ui| {
            let kinds = SliceKind::ALL.into_iter();
            let kinds = kinds.filter(|kind| occurs[*kind as usize]);
            for (kind, words) in timeline::legend(kinds) {
                keep_together(ui, &words);
                swatch(ui, kind, &words);
                ui.add_space(space::TINY);
            }
        });
    });
    ui.add_space(space::SMALL);
    label::caption(ui, "Mouse and keys");
    let keys = |one: &str, other: &str| {
        let both = [one, other].map(|id| app.shared.keys_of(id));
        both.join(" ").trim().to_owned()
    };
    let mouse = |words: &str| words.to_owned();
    for (words, keys) in [
        ("Zoom in, out", keys("timeline-closer", "timeline-farther")),
        ("Earlier, later", keys("timeline-earlier", "timeline-later")),
        ("Fit the selection", keys("timeline-fit", "")),
        ("Show everything", keys("timeline-whole", "")),
        ("Launch ↔ kernel", keys("timeline-partner", "")),
        ("Next hit", keys("timeline-next", "")),
        ("Next of its name", keys("timeline-next-alike", "")),
        ("Add a note", keys("timeline-note", "")),
        ("Scroll tracks", mouse("Wheel")),
        ("Zoom at the pointer", mouse("Ctrl+wheel")),
        ("Move", mouse("Drag")),
        ("Measure", mouse("Shift+drag")),
        ("Zoom to a slice", mouse("Double click")),
    ] {
        label::pair(ui, words, &keys);
    }
    if !open.notes.is_empty() {
        ui.add_space(space::SMALL);
        label::caption(ui, "Import warnings");
        for note in &open.notes {
            label::quiet(ui, note);
        }
    }
}

/// Starts another line where a colour and its word do not fit.
fn keep_together(ui: &mut Ui, words: &str) {
    let font = TextStyle::Body.resolve(ui.style());
    let galley = ui
        .painter()
        .layout_no_wrap(words.to_owned(), font, Color32::PLACEHOLDER);
    let width = galley.size().x + 10.0 + ui.spacing().item_spacing.x;
    if width > ui.available_size_before_wrap().x {
        ui.end_row();
    }
}
