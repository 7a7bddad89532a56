//! The tools above a timeline: which trace, the search, measuring, and what fits the view.

use eframe::egui::{self, Align, ComboBox, Layout, RichText, Ui};

use super::Current;
use crate::icon;
use crate::theme::{self, space, text};
use crate::widgets::{button, field, label};
use powerband_app::App;
use powerband_app::action::Timeline;
use powerband_app::timeline::tracks::FILTER;
use powerband_app::timeline::{OpenTrace, SEARCH, TraceId, TraceView};
use powerband_core::base::humanize;

/// Below this width the tracks have a line of tools of their own.
const WIDE: f32 = 860.0;

pub(super) fn show(ui: &mut Ui, app: &App, current: Current<'_>, changes: &mut Vec<Timeline>) {
    let (id, open, view) = current;
    let is_wide = ui.available_width() >= WIDE;
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if button::icon(ui, icon::CLOSE, "Close the trace").clicked() {
                changes.push(Timeline::Close(id));
            }
            if app.shared.has_machine() && button::icon(ui, icon::OPEN, "Open a trace").clicked() {
                changes.push(Timeline::Choose);
            }
            let several = open
                .timeline
                .tracks
                .iter()
                .any(|strand| strand.rows.len() > 1);
            let folds = view.folded.is_empty();
            let name = if folds {
                "Fold all tracks"
            } else {
                "Unfold all tracks"
            };
            if several && button::icon(ui, icon::FOLD, name).clicked() {
                changes.push(Timeline::FoldAll(folds));
            }
            let fit = button::icon(ui, icon::FIT, "Fit the selection, or everything");
            if fit.clicked() {
                changes.push(Timeline::Fit);
            }
            let measures = app.profile.timeline.measures;
            let timer = button::labelled(ui, Some(icon::TIMER), "Measure").highlight_if(measures);
            let help =
                "Drag to measure a range of time; Shift+drag does the same without this mode";
            if timer.on_hover_text(help).clicked() {
                changes.push(Timeline::Measuring(!measures));
            }
            search(ui, app, changes);
            super::compared::tools(ui, app, changes);
            if is_wide {
                tracks(ui, open, view, changes);
            }
        });
    });
    if !is_wide {
        ui.horizontal(|ui| tracks(ui, open, view, changes));
    }
}

/// The look of a button that is on.
trait Highlight {
    fn highlight_if(self, is_on: bool) -> Self;
}

impl Highlight for egui::Response {
    fn highlight_if(self, is_on: bool) -> Self {
        if is_on { self.highlight() } else { self }
    }
}

/// Which trace is shown, in the row of the tabs.
pub(super) fn title(ui: &mut Ui, app: &App, current: Current<'_>, changes: &mut Vec<Timeline>) {
    let (id, open, _) = current;
    if app.profile.timeline.traces.len() < 2 {
        let slices = humanize::pluralised(open.trace.len() as u64, "slice");
        let tracks = humanize::pluralised(open.timeline.tracks.len() as u64, "track");
        label::quiet_line(ui, &format!("{}: {slices}, {tracks}", open.name));
        return;
    }
    choice(ui, app, id, open, changes);
}

/// Which of several open traces is shown.
fn choice(ui: &mut Ui, app: &App, id: TraceId, open: &OpenTrace, changes: &mut Vec<Timeline>) {
    let combo = ComboBox::from_id_salt("trace")
        .width((ui.available_width() - 8.0).clamp(80.0, 320.0))
        .truncate()
        .selected_text(&open.name);
    let response = combo.show_ui(ui, |ui| {
        for (other, trace) in &app.profile.timeline.traces {
            if ui.selectable_label(*other == id, &trace.name).clicked() {
                changes.push(Timeline::Show(*other));
            }
        }
    });
    response.response.accessible_name("Trace");
}

/// A field that filters the tracks, and how many are shown.
fn tracks(ui: &mut Ui, open: &OpenTrace, view: &TraceView, changes: &mut Vec<Timeline>) {
    let (_, typed) = field::search(ui, FILTER, &view.filter, "Filter tracks", 118.0);
    if let Some(typed) = typed {
        changes.push(Timeline::FilterTracks(typed));
    }
    let shown = view.shown_tracks(open);
    if !shown.is_partial() {
        return;
    }
    let name = "Show all tracks";
    let (some, all) = (shown.len() as u64, shown.all as u64);
    let words = format!("{} of {}", humanize::count(some), humanize::count(all));
    let response = button::labelled(ui, None, &words).accessible_name(name);
    if response.on_hover_text(name).clicked() {
        changes.push(Timeline::ShowAllTracks);
    }
}

/// From right to left: the field, the number of hits, and buttons to step through them. The field comes
/// first, so that it keeps its id while hits come and go.
fn search(ui: &mut Ui, app: &App, changes: &mut Vec<Timeline>) {
    let state = &app.profile.timeline;
    let (response, typed) = field::search(ui, SEARCH, &state.search, "Name or argument", 150.0);
    if let Some(typed) = typed {
        changes.push(Timeline::Search(typed));
    }
    let enter = ui.input(|input| input.key_pressed(egui::Key::Enter));
    if response.lost_focus() && enter {
        let back = ui.input(|input| input.modifiers.shift);
        changes.push(Timeline::NextHit(!back));
        response.request_focus();
    }
    if state.search.is_empty() {
        return;
    }
    let words = match (&state.hits, state.hit) {
        (Some(hits), _) if hits.all.is_empty() => "not found".to_owned(),
        (Some(hits), Some(hit)) => format!(
            "{} of {}",
            humanize::count(hit as u64 + 1),
            humanize::count(hits.all.len() as u64)
        ),
        (Some(hits), None) => humanize::pluralised(hits.all.len() as u64, "hit"),
        (None, _) => "…".to_owned(),
    };
    ui.spacing_mut().item_spacing.x = space::TINY;
    for (icon, name, forward) in [
        (icon::DOWN, "Next hit", true),
        (icon::UP, "Previous hit", false),
    ] {
        if button::small_icon(ui, icon, name).clicked() {
            changes.push(Timeline::NextHit(forward));
        }
    }
    let words = RichText::new(words).font(theme::numbers(text::CAPTION));
    let response = ui.label(words.color(theme::roles(ui).quiet));
    let by_arguments = state.hits.as_ref().map_or(0, |hits| hits.by_arguments);
    if by_arguments > 0 {
        let slices = humanize::pluralised(by_arguments as u64, "slice");
        response.on_hover_text(format!("{slices} by an argument alone"));
    }
}
