//! Which profile is shown, which one it is compared with, and how many runs each covers.

use eframe::egui::{ComboBox, Ui};

use crate::icon;
use crate::theme::space;
use crate::widgets::{button, field, label};
use powerband_app::App;
use powerband_app::action::Kernels;
use powerband_app::kernels::words::{self, name};
use powerband_app::kernels::{self, ProfileRef};
use powerband_findings::analysis::profile_runs::{ProfileRuns, RunsFrom};

/// What the picker has where nothing is compared.
const COMPARE: &str = "Compare with…";
/// Width of a picker at least and at most.
const PICKER: (f32, f32) = (160.0, 380.0);
/// Beside the two pickers: their buttons and the space between them.
const BESIDE: f32 = 110.0;
/// Width of the field for runs.
const RUNS: f32 = 72.0;

/// One profile with those that it may be compared with, or two side by side: before and after.
pub(super) fn show(ui: &mut Ui, app: &App, changes: &mut Vec<Kernels>) {
    let state = &app.profile.kernels;
    let picks = kernels::profile_refs(&app.shared.sessions);
    let width = ((ui.available_width() - BESIDE) / 2.0).clamp(PICKER.0, PICKER.1);
    let Some(before) = state.before else {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = space::SMALL;
            let looking = Picker::new("Profile", state.looking, width);
            looking.show(ui, app, &picks, |pick| changes.push(Kernels::Look(pick)));
            if picks.len() > 1 {
                let others = others(&picks, state.looking);
                let with = Picker::new("Compare with", None, width.min(200.0));
                with.show(ui, app, &others, |pick| {
                    changes.push(Kernels::Before(Some(pick)));
                });
            }
            runs(ui, app, state.looking, words::AFTER, changes);
        });
        return;
    };
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::SMALL;
        let side = |ui: &mut Ui, add: &mut dyn FnMut(&mut Ui)| {
            ui.vertical(|ui| {
                ui.set_width(width);
                ui.spacing_mut().item_spacing.y = space::TINY;
                add(ui);
            });
        };
        side(ui, &mut |ui| {
            label::caption(ui, "Before");
            let others = others(&picks, state.looking);
            let picker = Picker::new("Before", Some(before), width);
            picker.show(ui, app, &others, |pick| {
                changes.push(Kernels::Before(Some(pick)));
            });
            runs(ui, app, Some(before), words::BEFORE, changes);
        });
        between(ui, |ui| {
            if button::icon(ui, icon::SWAP, "Swap before and after").clicked() {
                changes.push(Kernels::Swap);
            }
        });
        side(ui, &mut |ui| {
            label::caption(ui, "After");
            let others = others(&picks, Some(before));
            let picker = Picker::new("After", state.looking, width);
            picker.show(ui, app, &others, |pick| changes.push(Kernels::Look(pick)));
            runs(ui, app, state.looking, words::AFTER, changes);
        });
        between(ui, |ui| {
            if button::icon(ui, icon::CLOSE, "End the comparison").clicked() {
                changes.push(Kernels::Before(None));
            }
        });
    });
}

/// The profile that another one is compared with, on another screen: chosen, changed or given up.
pub(in crate::views) fn before_choice(
    ui: &mut Ui,
    app: &App,
    after: ProfileRef,
    width: f32,
    changes: &mut Vec<Kernels>,
) {
    let others = others(&kernels::profile_refs(&app.shared.sessions), Some(after));
    if others.is_empty() {
        return;
    }
    let before = app.profile.kernels.before.filter(|before| *before != after);
    let picker = Picker::new("Compare with", before, width);
    picker.show(ui, app, &others, |pick| {
        changes.push(Kernels::Look(after));
        changes.push(Kernels::Before(Some(pick)));
    });
    if before.is_some() && button::icon(ui, icon::CLOSE, "End the comparison").clicked() {
        changes.push(Kernels::Before(None));
    }
}

/// Beside the pickers, below the height of their captions.
fn between(ui: &mut Ui, add: impl FnOnce(&mut Ui)) {
    ui.vertical(|ui| {
        ui.add_space(space::MEDIUM);
        add(ui);
    });
}

fn others(picks: &[ProfileRef], except: Option<ProfileRef>) -> Vec<ProfileRef> {
    let others = picks.iter().copied();
    others.filter(|pick| Some(*pick) != except).collect()
}

/// A list of profiles.
struct Picker {
    name: &'static str,
    chosen: Option<ProfileRef>,
    width: f32,
}

impl Picker {
    fn new(name: &'static str, chosen: Option<ProfileRef>, width: f32) -> Self {
        Self {
            name,
            chosen,
            width,
        }
    }

    fn show(
        &self,
        ui: &mut Ui,
        app: &App,
        picks: &[ProfileRef],
        mut choose: impl FnMut(ProfileRef),
    ) {
        let title = |pick| name(&app.shared.sessions, pick);
        let current = self.chosen.map_or_else(|| COMPARE.to_owned(), title);
        let combo = ComboBox::from_id_salt(self.name)
            .width(self.width)
            .truncate();
        let response = combo.selected_text(current.clone()).show_ui(ui, |ui| {
            for &pick in picks {
                let is_it = self.chosen == Some(pick);
                if ui.selectable_label(is_it, title(pick)).clicked() && !is_it {
                    choose(pick);
                }
            }
        });
        let response = response.response.accessible_name(self.name);
        response.on_hover_text(current);
    }
}

/// How many runs a profile covers and where that comes from; a field for it where the profile does not
/// state it.
fn runs(
    ui: &mut Ui,
    app: &App,
    pick: Option<ProfileRef>,
    name: &'static str,
    changes: &mut Vec<Kernels>,
) {
    let Some(pick) = pick else {
        return;
    };
    let known = app.profile.kernels.runs(&app.shared.sessions, pick);
    let known = known.filter(|runs| runs.from != RunsFrom::User);
    if let Some(known) = known {
        label::quiet_line(ui, &known.source());
        return;
    }
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::SMALL;
        label::quiet_line(ui, "Runs in this profile").on_hover_text(
            "The profile does not state how many runs it covers. With their number, times are those of a run, and profiles of different lengths compare.",
        );
        let typed = app.profile.kernels.typed(pick);
        let value = typed.map_or_else(String::new, |runs| runs.to_string());
        let (_, typed) = field::code(ui, name, &value, "unknown", RUNS);
        changes.extend(typed.and_then(|text| read(pick, &text)));
    });
}

/// What was typed as a number of runs, or that it is not known; nothing for what is no number.
fn read(pick: ProfileRef, text: &str) -> Option<Kernels> {
    let text = text.trim();
    if text.is_empty() {
        return Some(Kernels::Runs(pick, None));
    }
    let runs: u64 = text.parse().ok()?;
    (runs > 0).then_some(Kernels::Runs(pick, Some(runs)))
}

/// The unit of times, as a choice.
pub(super) fn unit(runs: Option<ProfileRuns>) -> &'static str {
    match runs.map(|runs| runs.from) {
        Some(RunsFrom::Marks) => "Per step",
        _ => "Per run",
    }
}
