//! Two traces as one: which is compared with which, how they stand, and what a slice gained or lost.

use eframe::egui::{ComboBox, Ui};

use crate::theme::space;
use crate::widgets::{label, segmented};
use powerband_app::App;
use powerband_app::action::Timeline;
use powerband_app::timeline::compared::ComparedTrace;
use powerband_core::base::humanize;
use powerband_findings::chart::ribbon::RibbonBar;

/// Width of the choice of a trace.
const CHOICE: f32 = 190.0;

/// Chooses what the trace is compared with; of two that are compared, how they stand.
pub(super) fn tools(ui: &mut Ui, app: &App, changes: &mut Vec<Timeline>) {
    let state = &app.profile.timeline;
    if let Some(compared) = state.comparison() {
        let choices = [
            (
                false,
                "own time".to_owned(),
                "Both keep their lengths, and their steps begin together",
            ),
            (
                true,
                "aligned".to_owned(),
                "What ran before is stretched so that what matches stands above each other",
            ),
        ];
        let taken = segmented::show(
            ui,
            "Time of the trace before",
            compared.is_aligned,
            &choices,
        );
        changes.extend(taken.map(Timeline::Align));
    }
    let others = state.comparable();
    if others.is_empty() {
        return;
    }
    let before = state
        .comparison()
        .and_then(|one| state.traces.get(&one.sides[0]));
    let name = before.map_or("Compare with…", |open| open.name.as_str());
    let combo = ComboBox::from_id_salt("compare")
        .width(CHOICE)
        .truncate()
        .selected_text(name);
    let response = combo.show_ui(ui, |ui| {
        for (id, name) in others {
            if ui.selectable_label(false, name).clicked() {
                changes.push(Timeline::CompareWith(id));
            }
        }
    });
    response.response.accessible_name("Compare with");
}

/// Says that the times of one side are not its own.
pub(super) fn stretched(ui: &mut Ui, compared: &ComparedTrace) {
    if compared.is_aligned {
        label::quiet(
            ui,
            "What ran before is stretched: when it starts and how busy its tracks are is read in own time.",
        );
        ui.add_space(space::SMALL);
    }
}

/// What the operator of a slice gained or lost.
pub(super) fn slice_facts(ui: &mut Ui, compared: &ComparedTrace, slice: usize) {
    let Some((row, pair)) = compared.merged.row(slice).zip(compared.pair(slice)) else {
        return;
    };
    ui.add_space(space::SMALL);
    label::caption(ui, "Compared with the other trace");
    label::pair(ui, "Matched by", pair.match_title());
    let time = |ns: u64| humanize::duration_ns(ns as f64);
    if pair.before.is_some() {
        label::pair(ui, "Before", &time(pair.before_ns()));
    }
    if pair.after.is_some() {
        label::pair(ui, "After", &time(pair.after_ns()));
    }
    if pair.matched_by.is_some() {
        let change = humanize::time_change(pair.difference_ns() as f64);
        label::pair(ui, "Difference", &change);
    }
    if let Some(steps) = pair.steps {
        let (low, high) = steps.recorded.interval;
        let [ratio, low, high] =
            [steps.recorded.ratio, low, high].map(|ratio| humanize::significant(ratio, 3));
        label::pair(ui, "Over steps", &format!("× {ratio}"));
        label::pair(ui, "Interval", &format!("{low} to {high}"));
    }
    let bar = compared.ribbon().bars.iter().find(|bar| bar.row == row);
    if let Some(standing) = bar.map(|bar: &RibbonBar| bar.standing.title()) {
        label::quiet(ui, &humanize::capitalised(standing));
    }
}
