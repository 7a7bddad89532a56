//! Plan: model, setups, batch sizes and preset, with an estimate.

mod care;
mod cases;
mod controls;
mod keys;
mod matrix;
mod running;
mod setups;
mod sweeps;

use eframe::egui::{self, Align, CollapsingHeader, ComboBox, Layout, RichText, Ui, vec2};

use crate::icon;
use crate::theme::{self, size, space, text};
use crate::widgets::{button, completing, field, label, segmented};
use powerband_app::App;
use powerband_app::action::{Action, RunAction};
use powerband_app::plan::{self, Draft, ModelFacts, PlanEdit, PlanError, PlanField, saved};
use powerband_core::base::humanize;
use powerband_core::domain::sweep;

/// Width of the cards at the right.
const SIDE: f32 = 328.0;
/// Up to this width those cards stand in the one column.
const NARROW: f32 = 820.0;
/// In a card up to this width, the path of a model has a row of its own.
const NARROW_CARD: f32 = 520.0;
/// The room that the estimate needs in the first row, with the tabs.
const ESTIMATE: f32 = 340.0;
/// Width of a field for a number.
const NUMBER: f32 = 60.0;
/// Width of the list of built-in networks, and what else stands in its row at the least.
const NETWORKS: (f32, f32) = (220.0, 150.0);

pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let mut edits = Vec::new();
    let faults = app.bench.planner.faults();
    header(ui, app, actions, &mut edits);
    ui.add_space(space::MEDIUM);
    let mut asked = Vec::new();
    let mut changes = Changes {
        edits: &mut edits,
        actions: &mut asked,
    };
    super::scrolled(ui, |ui| {
        if ui.available_width() > NARROW {
            two_columns(ui, app, &faults, &mut changes);
        } else {
            one_column(ui, app, &faults, &mut changes);
        }
    });
    super::each(edits, Action::Plan, actions);
    actions.append(&mut asked);
}

fn two_columns(ui: &mut Ui, app: &App, faults: &[PlanError], changes: &mut Changes<'_>) {
    // The width of the side is changed with it, so that its actions are apart.
    let mut sized = Vec::new();
    super::columns(ui, app, &mut sized, |ui, is_side, _| {
        if is_side {
            running::or_estimate(ui, app, faults, changes.actions);
            card(ui, |ui| care::show(ui, app, faults, changes.edits));
            card(ui, |ui| kept(ui, app, changes.edits));
            card(ui, |ui| ready_made(ui, changes.edits));
        } else {
            measured(ui, app, faults, changes);
        }
    });
    changes.actions.append(&mut sized);
}

/// The cards of the right stand below, side by side while each has its width.
fn one_column(ui: &mut Ui, app: &App, faults: &[PlanError], changes: &mut Changes<'_>) {
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = space::MEDIUM;
        measured(ui, app, faults, changes);
        let whole = ui.available_width();
        if whole < 2.0 * SIDE + space::MEDIUM {
            running::or_estimate(ui, app, faults, changes.actions);
            card(ui, |ui| care::show(ui, app, faults, changes.edits));
            card(ui, |ui| kept(ui, app, changes.edits));
        } else {
            let half = vec2((whole - space::MEDIUM) / 2.0, 0.0);
            ui.horizontal_top(|ui| {
                ui.spacing_mut().item_spacing.x = space::MEDIUM;
                ui.allocate_ui(half, |ui| {
                    ui.vertical(|ui| {
                        running::or_estimate(ui, app, faults, changes.actions);
                        card(ui, |ui| kept(ui, app, changes.edits));
                    });
                });
                ui.allocate_ui(half, |ui| {
                    ui.vertical(|ui| card(ui, |ui| care::show(ui, app, faults, changes.edits)));
                });
            });
        }
        card(ui, |ui| ready_made(ui, changes.edits));
    });
}

/// What is measured: model, setups and batch sizes, and the cases that they make.
fn measured(ui: &mut Ui, app: &App, faults: &[PlanError], changes: &mut Changes<'_>) {
    card(ui, |ui| model(ui, app, faults, changes.edits));
    card(ui, |ui| setups::show(ui, app, faults, changes));
    card(ui, |ui| batches(ui, app, faults, changes.edits));
    cases::show(ui, app, changes.actions);
}

/// What the user did: changes of the plan, and anything else.
struct Changes<'a> {
    edits: &'a mut Vec<PlanEdit>,
    actions: &'a mut Vec<Action>,
}

fn card(ui: &mut Ui, content: impl FnOnce(&mut Ui)) {
    theme::card(ui).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = space::SMALL;
        content(ui);
    });
}

fn header(ui: &mut Ui, app: &App, actions: &mut Vec<Action>, edits: &mut Vec<PlanEdit>) {
    super::tabs::with_buttons(ui, super::NARROW_HEAD, |ui| {
        super::in_order(ui, 6, |ui, place| match place {
            0 => estimate_line(ui, app),
            1 => undo(ui, app, edits),
            2 => redo(ui, app, edits),
            3 => keep(ui, edits),
            4 => detach(ui, app, actions),
            _ => start(ui, app, actions),
        });
    });
}

/// The estimate where it stays in sight, if there is room beside the tabs.
fn estimate_line(ui: &mut Ui, app: &App) {
    let planned = app.bench.planned(&app.shared);
    let Some(plan) = planned.filter(|_| ui.available_width() > ESTIMATE) else {
        return;
    };
    let refused = app.shared.machine.refused(&plan);
    let estimate = app.bench.estimate(&plan, &refused);
    if estimate.cases > 0 {
        label::faint(ui, &estimate.to_string()).on_hover_text("The estimate of this plan");
    }
}

fn undo(ui: &mut Ui, app: &App, edits: &mut Vec<PlanEdit>) {
    let allowed = app.bench.planner.can_undo().then_some(());
    let allowed = allowed.ok_or("nothing to undo");
    if button::plain_if(ui, allowed, Some(icon::UNDO), "Undo").clicked() {
        edits.push(PlanEdit::Undo);
    }
}

fn redo(ui: &mut Ui, app: &App, edits: &mut Vec<PlanEdit>) {
    let allowed = app.bench.planner.can_redo().then_some(());
    let allowed = allowed.ok_or("nothing to redo");
    if button::plain_if(ui, allowed, Some(icon::REDO), "Redo").clicked() {
        edits.push(PlanEdit::Redo);
    }
}

fn keep(ui: &mut Ui, edits: &mut Vec<PlanEdit>) {
    if button::labelled(ui, Some(icon::SAVE), "Save")
        .on_hover_text("Saves the plan under its name")
        .clicked()
    {
        edits.push(PlanEdit::Keep);
    }
}

/// Shown where every setup runs in a job of Slurm.
fn detach(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if app.settings.can_detach(&app.bench.planner.draft, &app.shared).is_ok()
        && button::labelled(ui, None, "Detach")
            .on_hover_text("Measures in a job of Slurm that goes on when this window is closed; Run lists and collects it")
            .clicked()
    {
        actions.push(Action::Run(RunAction::Detach));
    }
}

/// The estimate stays in sight beside what starts the run; while one is in progress the plan is queued behind it.
fn start(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if app.bench.is_running() {
        let button = button::plain_if(ui, app.bench.can_queue(), Some(icon::RUN), "Queue");
        let button = button.on_hover_text(
            "Measures this plan after the run in progress; later changes do not count",
        );
        if button.clicked() {
            actions.push(Action::Run(RunAction::Queue));
        }
        return;
    }
    let obstacle = app.bench.plan_obstacle(&app.shared);
    if let Some(reason) = obstacle.as_deref() {
        button::plain_if(ui, Err(reason), Some(icon::RUN), "Start the run");
    } else if button::primary(ui, Some(icon::RUN), "Start the run").clicked() {
        actions.push(Action::Run(RunAction::Start));
    }
}

/// A text field where it is shown, with what is wrong with its text below.
fn typed(
    ui: &mut Ui,
    app: &App,
    faults: &[PlanError],
    (field, text): (PlanField, &str),
    edits: &mut Vec<PlanEdit>,
) {
    if !app.bench.planner.has_field(field) {
        return;
    }
    let paint = match field {
        PlanField::Sweeps | PlanField::Shapes | PlanField::Fills => field::lines,
        PlanField::Name | PlanField::BatchAxis => field::line,
        _ => field::code,
    };
    let width = match field {
        PlanField::Rounds | PlanField::Rate => NUMBER,
        _ => ui.available_width(),
    };
    let hint = app.bench.planner.hint(field);
    let (response, typed) = if field == PlanField::Model {
        let propose = |text: &str, _| app.shared.complete_model(text);
        completing::show(ui, &field.name(), text, &hint, propose)
    } else {
        paint(ui, &field.name(), text, &hint, width)
    };
    response.on_hover_text(field.info().help);
    edits.extend(typed.map(|text| PlanEdit::Text(field, text)));
    fault(ui, faults, field);
}

fn fault(ui: &mut Ui, faults: &[PlanError], field: PlanField) {
    for fault in faults.iter().filter(|fault| fault.field == field) {
        let bad = theme::roles(ui).bad;
        below(ui, &fault.text, bad);
    }
}

/// Text below a field.
fn below(ui: &mut Ui, words: &str, color: egui::Color32) {
    label::copyable(ui, RichText::new(words).size(text::CAPTION).color(color));
}

fn model(ui: &mut Ui, app: &App, faults: &[PlanError], edits: &mut Vec<PlanEdit>) {
    let draft = &app.bench.planner.draft;
    let path = (PlanField::Model, draft.model.as_str());
    label::card_title(ui, "Model");
    let is_wide = ui.available_width() > NARROW_CARD;
    ui.horizontal(|ui| {
        networks(ui, draft, edits);
        if is_wide {
            typed(ui, app, &[], path, edits);
        }
    });
    if !is_wide {
        typed(ui, app, &[], path, edits);
    }
    fault(ui, faults, PlanField::Model);
    match &app.bench.planner.facts {
        ModelFacts::Unknown => {}
        ModelFacts::Reading => {
            label::quiet(ui, "Reading the model…");
        }
        // A name that is still being typed is not wrong yet.
        ModelFacts::Refused(reason) if ui.ctx().text_edit_focused() => {
            label::quiet(ui, reason);
        }
        ModelFacts::Refused(reason) => {
            label::trouble(ui, reason);
        }
        ModelFacts::Known(summary) => facts(ui, summary),
    }
    for field in [
        (PlanField::Shapes, draft.shapes.as_str()),
        (PlanField::BatchAxis, &draft.batch_axis),
        (PlanField::Fills, &draft.fills),
    ] {
        typed(ui, app, faults, field, edits);
    }
}

/// The built-in networks, and a button for a file.
fn networks(ui: &mut Ui, draft: &Draft, edits: &mut Vec<PlanEdit>) {
    let built_in = plan::built_in().find(|(id, _)| *id == draft.model);
    let shown = built_in.map_or("A file", |(_, title)| title);
    let (width, beside) = NETWORKS;
    let combo = ComboBox::from_id_salt("model")
        .width((ui.available_width() - beside).clamp(80.0, width))
        .truncate()
        .selected_text(shown);
    combo
        .show_ui(ui, |ui| {
            for (id, title) in plan::built_in() {
                if ui.selectable_label(draft.model == id, title).clicked() {
                    edits.push(PlanEdit::Text(PlanField::Model, id.to_owned()));
                }
            }
        })
        .response
        .accessible_name("Built-in network");
    if button::labelled(ui, Some(icon::OPEN), "ONNX file…").clicked() {
        edits.push(PlanEdit::ChooseModel);
    }
}

fn facts(ui: &mut Ui, summary: &powerband_core::domain::model::ModelSummary) {
    let inputs: Vec<String> = summary
        .inputs
        .iter()
        .map(|port| format!("{} {}", port.name, port.describe()))
        .collect();
    let macs = summary
        .macs
        .map(|macs| format!("{} at batch 1", humanize::macs(macs)))
        .unwrap_or_default();
    let parameters = format!("{} parameters", humanize::count(summary.parameters));
    let all = [parameters, macs, inputs.join(", ")];
    let words: Vec<&str> = all
        .iter()
        .map(String::as_str)
        .filter(|words| !words.is_empty())
        .collect();
    label::quiet_line(ui, &words.join("  ·  "));
    let lines = summary.fill_lines();
    if !lines.is_empty() {
        let inputs = humanize::pluralised(summary.fills.len() as u64, "input");
        let title = format!("Values of {inputs}");
        let title = RichText::new(title).color(theme::roles(ui).quiet);
        let fold = CollapsingHeader::new(title).id_salt("fills");
        fold.show(ui, |ui| {
            for line in lines {
                label::quiet_line_about(ui, &line, line.as_str());
            }
        });
    }
    for reason in &summary.unfed {
        label::trouble(ui, reason);
    }
}

fn batches(ui: &mut Ui, app: &App, faults: &[PlanError], edits: &mut Vec<PlanEdit>) {
    let draft = &app.bench.planner.draft;
    label::card_title(ui, "Batch sizes");
    sweeps::chips(ui, &app.bench.planner.batch_dimension(), None, edits);
    let field = (PlanField::Batches, draft.batches.as_str());
    typed(ui, app, faults, field, edits);
    label::faint(
        ui,
        "1..64 means the powers of two in between; both can be mixed: 1..16, 24, 32",
    );
    task(ui, app, edits);
    sweeps::show(ui, app, faults, edits);
}

/// Of a language model: one step of the decoder, or whole requests, whose tokens are dimensions of the plan.
fn task(ui: &mut Ui, app: &App, edits: &mut Vec<PlanEdit>) {
    let Some(chosen) = app.bench.planner.whole_requests() else {
        return;
    };
    ui.add_space(space::SMALL);
    let choices = [
        (Some(false), "One step".to_owned(), "One run of the network"),
        (
            Some(true),
            "Whole requests".to_owned(),
            "A prompt, and new tokens one by one: time to first token, time per output token, tokens per second",
        ),
    ];
    ui.horizontal(|ui| {
        label::caption(ui, "Task");
        let taken = segmented::show(ui, "Task", chosen, &choices);
        edits.extend(taken.flatten().map(PlanEdit::WholeRequests));
    });
}

fn cost(ui: &mut Ui, app: &App, faults: &[PlanError]) {
    label::card_title(ui, "Estimate");
    let Some(plan) = app.bench.planned(&app.shared).filter(|_| faults.is_empty()) else {
        label::quiet(ui, "Fix the marked fields.");
        return;
    };
    let check = app.bench.plan_check(&plan);
    if let Some(reason) = check.and_then(|check| check.whole.as_ref()) {
        label::trouble(ui, reason);
        return;
    }
    let plan = app.bench.without_refused_points(&plan);
    let refused = app.shared.machine.refused(&plan);
    let estimate = app.bench.estimate(&plan, &refused);
    if estimate.cases == 0 && !refused.is_empty() {
        label::quiet(ui, "No setup of this plan can run here.");
        return;
    }
    let color = theme::roles(ui).text;
    let cases = RichText::new(estimate.cases.to_string())
        .font(egui::FontId::new(text::BIG, theme::mono_semibold()));
    ui.horizontal(|ui| {
        ui.label(cases.color(color));
        label::quiet(ui, if estimate.cases == 1 { "case" } else { "cases" });
    });
    let grounds = match estimate.known {
        0 => "No similar session on this machine yet: shortest and longest time of this plan",
        known if known == estimate.cases => "From earlier sessions on this machine",
        _ => "Partly from earlier sessions on this machine",
    };
    label::number(ui, &estimate.to_string(), 13.0).on_hover_text(grounds);
    let setups = plan.setups.len() - refused.len();
    let setups = humanize::pluralised(setups as u64, "setup");
    let batches = sweep::point_count_text(&plan.points);
    let rounds = humanize::pluralised(u64::from(plan.measure.rounds), "round");
    if plan.ladder.is_empty() {
        label::faint(ui, &format!("{setups} × {batches} × {rounds}"));
    } else {
        let steps = plan.ladder.iter();
        let steps = steps.filter(|step| !refused.contains(&step.case.setup));
        let steps = humanize::pluralised(steps.count() as u64, "step");
        label::faint(ui, &format!("{steps} × {rounds}"));
    }
    if !refused.is_empty() {
        let left_out = humanize::pluralised(refused.len() as u64, "setup");
        label::quiet(ui, &format!("Without {left_out} that cannot run here."));
    }
    let cases = check.map_or(0, |check| check.cases.len());
    if let Some(reason) = check.and_then(|check| check.cases.values().next()) {
        let left_out = humanize::pluralised(cases as u64, "case");
        label::quiet(ui, &format!("Without {left_out}: {reason}."));
    }
}

/// Built-in plans, each with its purpose.
fn ready_made(ui: &mut Ui, edits: &mut Vec<PlanEdit>) {
    label::card_title(ui, "Ready-made plans");
    for ladder in plan::ladders() {
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = space::HAIR;
            let name = format!("Ready-made plan {}", ladder.title);
            if ui.button(ladder.title).accessible_name(name).clicked() {
                edits.push(PlanEdit::Ladder(ladder.id));
            }
            label::quiet(ui, ladder.about);
        });
    }
}

fn kept(ui: &mut Ui, app: &App, edits: &mut Vec<PlanEdit>) {
    label::card_title(ui, "Name");
    let name = (PlanField::Name, app.bench.planner.draft.name.as_str());
    typed(ui, app, &[], name, edits);
    ui.horizontal(|ui| {
        label::card_title(ui, "Saved plans");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if button::labelled(ui, Some(icon::ADD), "New plan").clicked() {
                edits.push(PlanEdit::Clear);
            }
        });
    });
    if app.bench.planner.kept.is_empty() {
        label::quiet(ui, "None yet. Save puts this plan here.");
    }
    for (path, draft) in &app.bench.planner.kept {
        let title = saved::title(draft);
        let discard = format!("Discard plan {title}");
        ui.horizontal(|ui| {
            // The name is cut before what stands behind it.
            let room = (ui.available_width() - size::CONTROL - space::SMALL).max(40.0);
            let name = egui::Button::new(&title).truncate();
            let shown = ui.scope(|ui| {
                ui.set_max_width(room);
                ui.add(name)
            });
            let named = shown.inner.accessible_name(format!("Use plan {title}"));
            if named.on_hover_text(&title).clicked() {
                edits.push(PlanEdit::Use(path.clone()));
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if button::small_icon(ui, icon::DISCARD, &discard).clicked() {
                    edits.push(PlanEdit::Forget(path.clone()));
                }
            });
        });
    }
}
