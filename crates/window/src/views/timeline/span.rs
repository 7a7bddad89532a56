//! What was measured: the card of a stretch, and the table of what ran in it.

use eframe::egui::Ui;

use super::parts::{line, swatch};
use crate::icon;
use crate::theme::{space, text};
use crate::widgets::data_table::{self, DataTable};
use crate::widgets::timeline_canvas::TimelineContent;
use crate::widgets::{button, label};
use powerband_app::App;
use powerband_app::action::{Action, Timeline};
use powerband_app::timeline::TimeSelection;
use powerband_core::base::humanize;
use powerband_findings::analysis::timeline::TimelineTrack;
use powerband_findings::analysis::timeline::selection::SelectionStatistics;
use powerband_findings::chart::timeline::exact;

pub(super) const TABLE: &str = "stretch";
/// Height of what stands above its rows.
const TOOLS: f32 = 64.0;

pub(super) fn show(
    ui: &mut Ui,
    shown: &TimelineContent<'_>,
    measured: &TimeSelection,
    changes: &mut Vec<Timeline>,
) {
    let stretch = measured.stretch;
    label::caption(ui, "Measured");
    label::number(ui, &humanize::duration_ns(stretch.length()), text::BIG);
    let step = stretch.length() / 1e3;
    label::pair(ui, "From", &exact(stretch.from, step));
    label::pair(ui, "To", &exact(stretch.to, step));
    let rows = &measured.rows;
    let strands = shown.timeline.tracks.iter();
    let is_measured = |strand: &&TimelineTrack| {
        let mut ranges = rows.iter();
        ranges.any(|rows| strand.rows.start < rows.end && strand.rows.end > rows.start)
    };
    let tracks = strands.filter(is_measured);
    let (tracks, all) = (tracks.count() as u64, shown.timeline.tracks.len() as u64);
    let words = if tracks == all {
        format!("all {}", humanize::count(all))
    } else {
        format!("{} of {}", humanize::count(tracks), humanize::count(all))
    };
    label::pair(ui, "Tracks", &words);
    ui.add_space(space::TINY);
    ui.horizontal_wrapped(|ui| {
        if button::labelled(ui, Some(icon::FIT), "Zoom to the selection").clicked() {
            changes.push(Timeline::Fit);
        }
        if button::labelled(ui, None, "Clear").clicked() {
            changes.push(Timeline::Select(None));
        }
    });
    ui.add_space(space::SMALL);
    match &shown.view.statistics {
        Some(found) => statistics(ui, found, stretch.length()),
        None => {
            label::quiet(ui, "Adding up…");
        }
    }
}

fn statistics(ui: &mut Ui, found: &SelectionStatistics, length: f64) {
    if found.slices == 0 {
        label::quiet(ui, "Nothing ran in this range.");
        return;
    }
    label::pair(ui, "Slices", &humanize::count(found.slices));
    ui.add_space(space::SMALL);
    label::caption(ui, "Utilisation by kind").on_hover_text(
        "Share of the range in which at least one slice of the kind ran on any track",
    );
    for kind in &found.kinds {
        let share = kind.busy_ns / length.max(1e-9) * 100.0;
        let time = humanize::duration_ns(kind.busy_ns);
        let help = format!(
            "{}, total {}",
            humanize::pluralised(kind.slices, "slice"),
            humanize::duration_ns(kind.sum_ns)
        );
        let value = format!("{time}  {:>5} %", humanize::value(share.min(100.0)));
        line(ui, kind.kind, kind.kind.title(), &value, &help);
    }
}

/// The table of what ran in the stretch. A click on a row selects all slices of its name.
pub(super) fn table(
    ui: &mut Ui,
    app: &App,
    shown: &TimelineContent<'_>,
    actions: &mut Vec<Action>,
) {
    let Some(found) = shown.view.statistics.as_deref() else {
        return;
    };
    let height = (ui.available_height() - TOOLS).max(60.0);
    let listed = found.names.len();
    let has_rows = data_table::tools(ui, app, TABLE, actions, |ui| {
        label::card_title(ui, "Selection");
        if found.distinct > listed {
            let [listed, all] = [listed, found.distinct].map(|count| humanize::count(count as u64));
            label::faint(
                ui,
                &format!("the {listed} with the most time of {all} names"),
            );
        }
    });
    if !has_rows {
        return;
    }
    let names = &shown.trace.names;
    let of = |row: usize| found.names.get(row);
    let name = |row: usize| of(row).map_or("", |of| names.get(of.name)).to_owned();
    let search = app.profile.timeline.search.trim_matches('"');
    let selected = found
        .names
        .iter()
        .position(|of| names.get(of.name) == search);
    let lead = |ui: &mut Ui, row: usize| {
        if let Some(of) = of(row) {
            swatch(ui, of.kind, "");
        }
    };
    let touched = DataTable {
        id: TABLE,
        height,
        selected: selected.filter(|_| !search.is_empty()),
        name: Some(&|row| format!("Select all with the name {}", name(row))),
        lead: Some(&lead),
        ..DataTable::default()
    }
    .show(ui, app, actions);
    if let Some(row) = touched.clicked {
        let wanted = format!("\"{}\"", name(row));
        let is_on = app.profile.timeline.search == wanted;
        let wanted = if is_on { String::new() } else { wanted };
        actions.push(Action::Timeline(Timeline::Search(wanted)));
    }
}
