//! Measurement settings of a plan: preset, rounds, energy, accuracy, profile.

use eframe::egui::{Align, Button, ComboBox, Layout, Ui, vec2};

use super::{fault, typed};
use crate::widgets::{label, segmented};
use powerband_app::App;
use powerband_app::plan::{
    ArrivalMode, Draft, PROFILE_STARTS, PlanEdit, PlanError, PlanField, preset_help,
};
use powerband_core::base::humanize;
use powerband_core::domain::plan::{AccuracyCheck, PresetName, Profiler, WorkerLifetime};

/// Width of the names.
const NAME: f32 = 62.0;
/// Height of a choice with its frame.
const ROW: f32 = 30.0;

pub(super) fn show(ui: &mut Ui, app: &App, faults: &[PlanError], edits: &mut Vec<PlanEdit>) {
    let draft = &app.bench.planner.draft;
    label::card_title(ui, "Measurement settings");
    let choices: Vec<(PresetName, String, &str)> = PresetName::ALL
        .iter()
        .map(|preset| (*preset, preset.to_string(), preset_help(*preset)))
        .collect();
    let taken = segmented::show(ui, "Preset", draft.preset, &choices);
    edits.extend(taken.map(PlanEdit::Preset));
    label::quiet(ui, preset_help(draft.preset));
    named(ui, PlanField::Rounds, |ui| {
        typed(ui, app, &[], (PlanField::Rounds, &draft.rounds), edits);
    });
    fault(ui, faults, PlanField::Rounds);
    requests(ui, app, faults, edits);
    named(ui, PlanField::Energy, |ui| {
        let choices = [
            (
                false,
                "when possible".to_owned(),
                "Reported for cases that happen to run for ten seconds",
            ),
            (true, "every case".to_owned(), PlanField::Energy.info().help),
        ];
        let taken = segmented::show(ui, "Energy", draft.energy, &choices);
        edits.extend(taken.map(PlanEdit::Energy));
    });
    machines(ui, draft, edits);
    accuracy(ui, app, edits);
    profile(ui, app, edits);
    if draft.rules.is_some() {
        label::faint(ui, "Rules as in the session that is run again");
    }
    if draft.keeping == WorkerLifetime::OneAtATime {
        label::faint(
            ui,
            "One worker at a time, as in the session that is run again",
        );
    }
}

/// Whether several machines take turns.
fn machines(ui: &mut Ui, draft: &Draft, edits: &mut Vec<PlanEdit>) {
    if draft.machine_count() < 2 {
        return;
    }
    named(ui, PlanField::MachinesAtOnce, |ui| {
        let count = draft.machine_count();
        let at_once = match draft.keeping {
            WorkerLifetime::MachinesAtOnce(fewer) if (fewer as usize) < count => {
                format!("{fewer} at the same time")
            }
            _ => "at the same time".to_owned(),
        };
        let choices = [
            (
                false,
                "in turns".to_owned(),
                "One machine measures while the others wait",
            ),
            (
                true,
                at_once,
                "Every machine measures its own setups in turns, at the same time as the others",
            ),
        ];
        let is_on = draft.measures_machines_at_once();
        let taken = segmented::show(ui, "Machines", is_on, &choices);
        edits.extend(taken.map(PlanEdit::MachinesAtOnce));
    });
}

/// How requests arrive.
fn requests(ui: &mut Ui, app: &App, faults: &[PlanError], edits: &mut Vec<PlanEdit>) {
    let draft = &app.bench.planner.draft;
    named(ui, PlanField::Arrivals, |ui| {
        let choices = ArrivalMode::ALL.map(|mode| (mode, mode.title().to_owned(), mode.help()));
        let taken = segmented::show(ui, "Requests", draft.requests, &choices);
        edits.extend(taken.map(PlanEdit::Requests));
    });
    if draft.requests == ArrivalMode::OneByOne {
        return;
    }
    named(ui, PlanField::Rate, |ui| {
        typed(ui, app, &[], (PlanField::Rate, &draft.rate), edits);
        label::quiet_line(ui, "requests/s");
    });
    fault(ui, faults, PlanField::Rate);
    label::quiet(
        ui,
        "Times count from each arrival; do not compare them with service times.",
    );
}

/// The control of a field with its name before it, aligned with those around it.
fn named(ui: &mut Ui, field: PlanField, content: impl FnOnce(&mut Ui)) {
    ui.horizontal(|ui| {
        ui.set_min_height(ROW);
        let room = vec2(NAME, ROW);
        ui.allocate_ui_with_layout(room, Layout::left_to_right(Align::Center), |ui| {
            ui.set_min_width(NAME);
            label::quiet_line_about(ui, &field.name(), field.info().help);
        });
        content(ui);
    });
}

/// Whether outputs are compared, and on what.
fn accuracy(ui: &mut Ui, app: &App, edits: &mut Vec<PlanEdit>) {
    let draft = &app.bench.planner.draft;
    named(ui, PlanField::Accuracy, |ui| {
        let inputs = draft.inputs.unwrap_or(AccuracyCheck::USUAL);
        let compared = format!(
            "Compares the outputs of each setup with the fp32 network, on {}, after all measurements",
            humanize::pluralised(inputs, "input")
        );
        let choices = [
            (false, "off".to_owned(), "Outputs are not compared"),
            (true, "compare outputs".to_owned(), compared.as_str()),
        ];
        let taken = segmented::show(ui, "Accuracy", draft.accuracy, &choices);
        edits.extend(taken.map(PlanEdit::Accuracy));
    });
    if draft.accuracy {
        named(ui, PlanField::Samples, |ui| {
            typed(ui, app, &[], (PlanField::Samples, &draft.samples), edits);
        });
    }
}

/// Whether each case is profiled, and by which profiler.
fn profile(ui: &mut Ui, app: &App, edits: &mut Vec<PlanEdit>) {
    let chosen = app.bench.planner.draft.profile;
    named(ui, PlanField::Profile, |ui| {
        let combo = ComboBox::from_id_salt("profile").selected_text(title(chosen));
        let shown = combo.show_ui(ui, |ui| {
            let choices = Profiler::ALL.into_iter().map(Some);
            for choice in std::iter::once(None).chain(choices) {
                let missing =
                    choice.and_then(|profiler| app.shared.machine.missing_profiler(profiler));
                let button = Button::selectable(chosen == choice, title(choice));
                let response = ui.add_enabled(missing.is_none(), button);
                let response = match missing {
                    Some(reason) => response.on_disabled_hover_text(reason),
                    None => response,
                };
                if response.clicked() {
                    edits.push(PlanEdit::Profile(choice));
                }
            }
        });
        shown.response.accessible_name("Profiler");
    });
    if chosen.is_some() {
        profile_starts(ui, app, edits);
        label::quiet(
            ui,
            "Profiles a few more runs of each case after all measurements. Profiled runs are never among the measurements.",
        );
    }
}

/// In how many starts each case is profiled.
fn profile_starts(ui: &mut Ui, app: &App, edits: &mut Vec<PlanEdit>) {
    let chosen = app.bench.planner.draft.profile_starts.unwrap_or(1);
    named(ui, PlanField::ProfileStarts, |ui| {
        let combo = ComboBox::from_id_salt("profile-starts").selected_text(chosen.to_string());
        let shown = combo.show_ui(ui, |ui| {
            for choice in PROFILE_STARTS {
                let response = ui.selectable_label(chosen == choice, choice.to_string());
                if response.clicked() {
                    edits.push(PlanEdit::ProfileStarts(choice));
                }
            }
        });
        shown.response.accessible_name("Profiled starts");
    });
}

fn title(profiler: Option<Profiler>) -> String {
    match profiler {
        None => "None".to_owned(),
        Some(Profiler::Engine) => "By the engine".to_owned(),
        Some(other) => format!("By {}", other.name()),
    }
}
