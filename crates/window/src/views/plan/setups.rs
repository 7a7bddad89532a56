//! Setups of a plan: a card of controls for each, with its text below.

use eframe::egui::{self, Align, Frame, Layout, Response, RichText, Stroke, Ui, vec2};

use super::{Changes, below, controls, keys, matrix};
use crate::icon;
use crate::theme::{self, CONTROL_RADIUS, space, text};
use crate::widgets::{button, completing, field, label, marker, menu};
use powerband_app::App;
use powerband_app::items::MenuTarget;
use powerband_app::plan::{
    self, Draft, DraftSetup, MatrixEdit, PlanEdit, PlanError, PlanField, fields,
};
use powerband_core::domain::setup::Setup;
use powerband_core::domain::spelling::Spelling;
use powerband_findings::chart::palette;

/// Width of the choice of an engine.
const ENGINE: f32 = 132.0;
/// Width of the button for the other keys.
const MORE: f32 = 84.0;
/// Width of the choice of a device.
const DEVICE: f32 = 84.0;
/// Width of the buttons of a card.
const BUTTONS: f32 = 92.0;
/// Up to this width engine and device stand below the name.
const NARROW: f32 = 470.0;
/// Height of a control with its caption.
const CAPTIONED: f32 = 46.0;

pub(super) fn show(ui: &mut Ui, app: &App, faults: &[PlanError], changes: &mut Changes<'_>) {
    let draft = &app.bench.planner.draft;
    ui.horizontal(|ui| {
        label::card_title(ui, "Setups");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if button::labelled(ui, Some(icon::ADD), "Add a setup").clicked() {
                let next = app.bench.next_setup(&app.shared);
                changes.edits.push(PlanEdit::Add(next));
            }
            let response = button::labelled(ui, Some(icon::COLUMNS), "Matrix…");
            let response = response
                .on_hover_text("Several values of several keys: adds a setup of each combination");
            if response.clicked() {
                let edit = match app.bench.planner.matrix {
                    None => MatrixEdit::Open,
                    Some(_) => MatrixEdit::Close,
                };
                changes.edits.push(PlanEdit::Matrix(edit));
            }
        });
    });
    journey(ui, draft, changes.edits);
    if draft.setups.is_empty() {
        label::quiet(ui, "No setup: every engine that can run here is measured.");
    }
    for (index, setup) in draft.setups.iter().enumerate() {
        ui.push_id(index, |ui| card(ui, app, index, setup, faults, changes));
    }
    matrix::show(ui, app, changes.edits);
}

/// Whether the setups are steps, and which batch sizes each one has.
fn journey(ui: &mut Ui, draft: &Draft, edits: &mut Vec<PlanEdit>) {
    let mut is_on = draft.journey;
    let steps = PlanField::Steps.info();
    field::check(ui, &mut is_on, steps.name).on_hover_text(steps.help);
    if is_on != draft.journey {
        edits.push(PlanEdit::Journey(is_on));
    }
    let batches = plan::parse_batches(&draft.batches).unwrap_or_default();
    let (true, Some((first, larger))) = (is_on, batches.split_first()) else {
        return;
    };
    let words = if larger.is_empty() {
        format!("Every step at batch {first}.")
    } else {
        let larger = plan::show_batches(larger);
        format!("Every step at batch {first}; the last setup also at {larger}.")
    };
    label::quiet_line(ui, &words);
}

/// One setup.
fn card(
    ui: &mut Ui,
    app: &App,
    index: usize,
    setup: &DraftSetup,
    faults: &[PlanError],
    changes: &mut Changes<'_>,
) {
    let edge = Stroke::new(1.0, theme::roles(ui).line);
    let frame = Frame::new()
        .stroke(edge)
        .corner_radius(CONTROL_RADIUS)
        .inner_margin(space::SMALL);
    let read = Spelling::parse(&setup.spec).setup;
    let refusal = app.shared.machine.refusal(&read);
    frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = space::TINY;
        if refusal.is_some() {
            ui.multiply_opacity(0.55);
        }
        header(ui, app, index, setup, &read, changes);
        front(ui, app, index, &read, changes.edits);
        spelling(ui, app, index, setup, faults, changes.edits);
        if let Some(reason) = refusal {
            let color = theme::roles(ui).quiet;
            below(ui, &format!("Cannot run here: {reason}"), color);
        }
        if app.bench.planner.more == Some(index) {
            controls::more(ui, app, index, &read, changes.edits);
        }
    });
}

/// Colour, name, engine, device, and the buttons of a setup.
fn header(
    ui: &mut Ui,
    app: &App,
    index: usize,
    setup: &DraftSetup,
    read: &Setup,
    changes: &mut Changes<'_>,
) {
    let is_narrow = ui.available_width() < NARROW;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::TINY;
        let marker = colour(ui, index, setup, changes.edits);
        menu::of_item(&marker, app, &MenuTarget::Setup(index), changes.actions);
        let others = if is_narrow {
            0.0
        } else {
            ENGINE + DEVICE + 4.0 * space::TINY
        };
        let room = ui.available_width() - BUTTONS - others - 22.0;
        let own = PlanField::Label(index);
        let hint = app.bench.planner.hint(own);
        let (_, typed) = field::line(ui, &own.name(), &setup.label, &hint, room.max(60.0));
        let edit = typed.map(|typed| PlanEdit::Text(own, typed));
        changes.edits.extend(edit);
        if !is_narrow {
            target(ui, app, index, read, changes.edits);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            buttons(ui, app, index, changes.edits);
        });
    });
    if is_narrow {
        ui.horizontal(|ui| target(ui, app, index, read, changes.edits));
    }
}

/// Engine and device.
fn target(ui: &mut Ui, app: &App, index: usize, read: &Setup, edits: &mut Vec<PlanEdit>) {
    let engine = controls::ComboChoice {
        name: &fields::of_engine(index),
        shown: plan::engine_title(&read.engine),
        current: &read.engine,
        width: ENGINE,
        is_default: false,
        why_not: None,
    };
    let taken = engine.show(ui, || app.shared.engine_choices(&read.engine));
    edits.extend(taken.map(|id| PlanEdit::Engine(index, id)));
    let device = controls::ComboChoice {
        name: &fields::of_device(index),
        shown: &read.device,
        current: &read.device,
        width: DEVICE,
        is_default: false,
        why_not: None,
    };
    let taken = device.show(ui, || app.shared.device_choices(read));
    edits.extend(taken.map(|device| PlanEdit::Device(index, device)));
}

/// Moves, duplicates and removes; they fill the row from its end.
fn buttons(ui: &mut Ui, app: &App, index: usize, edits: &mut Vec<PlanEdit>) {
    let count = app.bench.planner.draft.setups.len();
    for (glyph, name, edit) in [
        (icon::DISCARD, "Remove", Some(PlanEdit::Remove(index))),
        (icon::COPY, "Duplicate", Some(PlanEdit::Duplicate(index))),
        (
            icon::DOWN,
            "Move down",
            (index + 1 < count).then(|| PlanEdit::Move(index, index + 1)),
        ),
        (
            icon::UP,
            "Move up",
            (index > 0).then(|| PlanEdit::Move(index, index - 1)),
        ),
    ] {
        let name = format!("{name} setup {}", index + 1);
        let response = ui
            .add_enabled_ui(edit.is_some(), |ui| button::small_icon(ui, glyph, &name))
            .inner;
        if response.clicked() {
            edits.extend(edit);
        }
    }
}

/// The controls that are always shown, and the button for the others.
fn front(ui: &mut Ui, app: &App, index: usize, read: &Setup, edits: &mut Vec<PlanEdit>) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(space::SMALL, space::TINY);
        for control in app.shared.controls(read, true) {
            let width = controls::front_width(&control);
            captioned(ui, control.key.title(), width, |ui| {
                controls::of_key(ui, app, index, read, &control, width, edits);
            });
        }
        captioned(ui, "", MORE, |ui| more_button(ui, app, index, read, edits));
    });
}

/// A control with its caption above it.
fn captioned(ui: &mut Ui, caption: &str, width: f32, content: impl FnOnce(&mut Ui)) {
    let size = vec2(width, CAPTIONED);
    ui.allocate_ui_with_layout(size, Layout::top_down(Align::Min), |ui| {
        ui.set_min_size(size);
        ui.spacing_mut().item_spacing.y = space::HAIR;
        label::faint(ui, if caption.is_empty() { " " } else { caption });
        content(ui);
    });
}

fn more_button(ui: &mut Ui, app: &App, index: usize, read: &Setup, edits: &mut Vec<PlanEdit>) {
    let is_open = app.bench.planner.more == Some(index);
    let title = match (is_open, app.shared.given_behind_more(read)) {
        (true, _) => "Fewer".to_owned(),
        (false, 0) => "More…".to_owned(),
        (false, given) => format!("More ({given})…"),
    };
    let response = button::labelled(ui, None, &title);
    let name = format!(
        "{} options of setup {}",
        if is_open { "Fewer" } else { "More" },
        index + 1
    );
    let response = response.accessible_name(name);
    if response
        .on_hover_text("Every key that the engine takes")
        .clicked()
    {
        edits.push(PlanEdit::More((!is_open).then_some(index)));
    }
}

/// The setup as text, with what is wrong with it below.
fn spelling(
    ui: &mut Ui,
    app: &App,
    index: usize,
    setup: &DraftSetup,
    faults: &[PlanError],
    edits: &mut Vec<PlanEdit>,
) {
    let field = PlanField::Setup(index);
    let (response, typed) = completing::show(
        ui,
        &field.name(),
        &setup.spec,
        &app.bench.planner.hint(field),
        |text, cursor| app.shared.complete_setup(text, cursor),
    );
    let is_typing = response.has_focus();
    if !is_typing {
        response.on_hover_ui(|ui| keys::help(ui, &setup.spec));
    }
    edits.extend(typed.map(|typed| PlanEdit::Text(field, typed)));
    let own = faults.iter().filter(|fault| fault.field == field);
    for fault in own {
        ui.horizontal_wrapped(|ui| {
            let bad = theme::roles(ui).bad;
            let words = RichText::new(&fault.text).size(text::CAPTION).color(bad);
            label::copyable(ui, words);
            if let Some(fix) = &fault.fix {
                let title = format!("Use {}", fix.meant);
                let response = button::labelled(ui, None, &title);
                let name = format!("Use {} in place of {}", fix.meant, fix.wrong);
                if response.accessible_name(name).clicked() {
                    edits.push(PlanEdit::Fix(index));
                }
            }
        });
    }
}

fn colour(ui: &mut Ui, index: usize, setup: &DraftSetup, edits: &mut Vec<PlanEdit>) -> Response {
    let shown = setup.colour.unwrap_or(index);
    let roles = theme::roles(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(24.0, 24.0), egui::Sense::click());
    let response = response.accessible_name(format!("Colour of setup {}", index + 1));
    marker::paint(ui.painter(), rect.center(), shown, 5.0, roles.series(shown));
    egui::Popup::menu(&response).show(|ui| {
        ui.horizontal(|ui| {
            for choice in 0..palette::COLOURS {
                let (rect, response) =
                    ui.allocate_exact_size(vec2(26.0, 26.0), egui::Sense::click());
                let response = response.accessible_name(format!("Colour {}", choice + 1));
                if response.hovered() {
                    ui.painter().rect_filled(rect, 6.0, roles.line);
                }
                marker::paint(
                    ui.painter(),
                    rect.center(),
                    choice,
                    6.0,
                    roles.series(choice),
                );
                if response.clicked() {
                    edits.push(PlanEdit::Colour(index, Some(choice)));
                    ui.close();
                }
            }
        });
        if button::labelled(ui, None, "Automatic").clicked() {
            edits.push(PlanEdit::Colour(index, None));
            ui.close();
        }
    });
    response.on_hover_text("Colour and marker on every chart")
}
