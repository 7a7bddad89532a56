//! Controls of a setup's keys: the fitting one for what a key takes.

use eframe::egui::{
    Align, Button, ComboBox, Id, Label, Layout, PopupCloseBehavior, RichText, Ui, vec2,
};

use crate::icon;
use crate::theme::{self, space, text};
use crate::widgets::{button, field, label, tip};
use powerband_app::App;
use powerband_app::plan::{Alternative, Control, PlanEdit, Takes, fields};
use powerband_core::domain::setup::Setup;

/// Width of the names behind *More*.
const NAMES: f32 = 108.0;
/// Width of the controls there.
const CONTROLS: f32 = 164.0;
/// Height of a line there.
const LINE: f32 = 30.0;
/// Up to this width the help stands below its control.
const NARROW: f32 = 430.0;
/// The longest default that a field has room for.
const SHORT: usize = 7;

/// A choice of one value.
pub(super) struct ComboChoice<'a> {
    /// What it is called.
    pub name: &'a str,
    /// What it shows while it is closed.
    pub shown: &'a str,
    /// The value that is chosen.
    pub current: &'a str,
    /// Its width.
    pub width: f32,
    /// Whether what it shows holds by default.
    pub is_default: bool,
    /// Why it cannot be used.
    pub why_not: Option<&'a str>,
}

impl ComboChoice<'_> {
    /// Shows it; returns the value that is taken.
    pub(super) fn show(
        &self,
        ui: &mut Ui,
        choices: impl FnOnce() -> Vec<Alternative>,
    ) -> Option<String> {
        self.with(ui, |ui| {
            let mut taken = None;
            for choice in choices() {
                if alternative(ui, &choice, choice.value == self.current) {
                    taken = Some(choice.value);
                    ui.close();
                }
            }
            taken
        })
    }

    /// Shows it with any content.
    fn with<T>(&self, ui: &mut Ui, content: impl FnOnce(&mut Ui) -> Option<T>) -> Option<T> {
        let roles = theme::roles(ui);
        let color = if self.is_default {
            roles.faint
        } else {
            roles.text
        };
        let shown = ui.add_enabled_ui(self.why_not.is_none(), |ui| {
            ComboBox::from_id_salt(self.name)
                .width(self.width)
                .truncate()
                .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
                .selected_text(RichText::new(self.shown).color(color))
                .show_ui(ui, content)
        });
        let shown = shown.inner;
        tip::why_not(shown.response.accessible_name(self.name), self.why_not);
        shown.inner.flatten()
    }
}

/// A line of a choice.
fn alternative(ui: &mut Ui, choice: &Alternative, is_on: bool) -> bool {
    let button = Button::selectable(is_on, &choice.title);
    let response = ui.add_enabled(choice.why_not.is_none(), button);
    let response = tip::why_not(response, choice.why_not.as_deref());
    let response = if choice.help.is_empty() || choice.why_not.is_some() {
        response
    } else {
        response.on_hover_text(&choice.help)
    };
    response.clicked()
}

/// The width of a control that is always shown.
pub(super) fn front_width(control: &Control) -> f32 {
    match control.key.takes {
        Takes::Count(_) | Takes::Number(_) => 60.0,
        Takes::Several(_) => 140.0,
        Takes::Text(..) | Takes::Path(_) | Takes::Folder(_) => 240.0,
        Takes::One(_) | Takes::OneOr(..) | Takes::Switch(..) => 108.0,
    }
}

/// The control of a key of a setup.
pub(super) fn of_key(
    ui: &mut Ui,
    app: &App,
    index: usize,
    read: &Setup,
    control: &Control,
    width: f32,
    edits: &mut Vec<PlanEdit>,
) {
    let key = control.key;
    let name = fields::of_key(index, key);
    let why_not = control.why_not.as_deref();
    let taken = match key.takes {
        Takes::Switch(..) if !key.default.is_empty() => switch(ui, &name, control),
        Takes::One(_) | Takes::Switch(..) => {
            choice(&name, control, width).show(ui, || app.shared.value_choices(read, key))
        }
        Takes::OneOr(..) => one_or_other(ui, app, read, &name, control, width),
        Takes::Several(_) => several(ui, app, read, &name, control, width),
        Takes::Count(_) | Takes::Number(_) => number(ui, &name, control, width),
        Takes::Path(_) | Takes::Folder(_) => path(ui, index, &name, control, width, edits),
        Takes::Text(..) => text_control(ui, &name, control, width, why_not),
    };
    edits.extend(taken.map(|value| PlanEdit::Key(index, key.name.to_owned(), value)));
}

/// The choice of a key, with its default in grey.
fn choice<'a>(name: &'a str, control: &'a Control, width: f32) -> ComboChoice<'a> {
    let default = match control.key.default {
        "" => "not set",
        default => default,
    };
    let is_default = control.value.is_empty();
    let is_word = control.key.choices().contains(&control.key.default);
    ComboChoice {
        name,
        shown: if is_default { default } else { &control.value },
        current: if is_default && is_word {
            default
        } else {
            &control.value
        },
        width,
        is_default,
        why_not: control.why_not.as_deref(),
    }
}

fn switch(ui: &mut Ui, name: &str, control: &Control) -> Option<String> {
    let mut is_on = control.is_on();
    let words = if is_on { "on" } else { "off" };
    let enabled = control.why_not.is_none();
    let response = ui
        .add_enabled_ui(enabled, |ui| field::check(ui, &mut is_on, words))
        .inner
        .accessible_name(name);
    let response = tip::why_not(response, control.why_not.as_deref());
    response
        .changed()
        .then(|| control.toggled_value().to_owned())
}

/// A choice with a field for what is not on its list.
fn one_or_other(
    ui: &mut Ui,
    app: &App,
    read: &Setup,
    name: &str,
    control: &Control,
    width: f32,
) -> Option<String> {
    let key = control.key;
    let choice = choice(name, control, width);
    choice.with(ui, |ui| {
        let mut taken = None;
        for one in app.shared.value_choices(read, key) {
            if alternative(ui, &one, one.value == choice.current) {
                taken = Some(one.value);
                ui.close();
            }
        }
        let Takes::OneOr(words, or) = key.takes else {
            return taken;
        };
        let is_own = !words.contains(&control.value.as_str());
        let value = if is_own { control.value.as_str() } else { "" };
        ui.set_min_width(CONTROLS);
        let id = Id::unique(("other", name));
        let other = format!("Other value, {name}");
        if let Some(typed) = field::draft(ui, id, &other, value, or, 1, false) {
            taken = Some(typed);
            ui.close();
        }
        taken
    })
}

/// Several words of a list.
fn several(
    ui: &mut Ui,
    app: &App,
    read: &Setup,
    name: &str,
    control: &Control,
    width: f32,
) -> Option<String> {
    choice(name, control, width).with(ui, |ui| {
        let mut taken = None;
        for word in control.key.choices() {
            let value = control.with_word(word);
            let why_not = app.shared.why_not_value(read, control.key, &value);
            let mut is_on = control.has_word(word);
            let response = ui
                .add_enabled_ui(why_not.is_none(), |ui| field::check(ui, &mut is_on, word))
                .inner;
            if tip::why_not(response, why_not.as_deref()).changed() {
                taken = Some(value);
            }
        }
        taken
    })
}

fn number(ui: &mut Ui, name: &str, control: &Control, width: f32) -> Option<String> {
    let default = control.key.default;
    let hint = if default.len() <= SHORT {
        default
    } else {
        "auto"
    };
    let enabled = control.why_not.is_none();
    let (response, typed) = ui
        .add_enabled_ui(enabled, |ui| {
            field::code(ui, name, &control.value, hint, width.min(60.0) - 4.0)
        })
        .inner;
    tip::why_not(response, control.why_not.as_deref()).on_hover_text(format!(
        "{}: {}",
        control.key.full_help(),
        control.key.values()
    ));
    typed
}

fn text_control(
    ui: &mut Ui,
    name: &str,
    control: &Control,
    width: f32,
    why_not: Option<&str>,
) -> Option<String> {
    let hint = control.key.values();
    let size = vec2(width, LINE - space::TINY);
    let shown = ui.add_enabled_ui(why_not.is_none(), |ui| {
        ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
            ui.set_max_width(width);
            let id = Id::unique(("key", name));
            field::draft(ui, id, name, &control.value, &hint, 1, false)
        })
    });
    tip::why_not(shown.response, why_not);
    shown.inner.inner
}

/// A path, with a button that asks for it.
fn path(
    ui: &mut Ui,
    index: usize,
    name: &str,
    control: &Control,
    width: f32,
    edits: &mut Vec<PlanEdit>,
) -> Option<String> {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::HAIR;
        let why_not = control.why_not.as_deref();
        let typed = text_control(ui, name, control, width - 26.0, why_not);
        let choose = format!("Choose {name}");
        let response = ui
            .add_enabled_ui(why_not.is_none(), |ui| {
                button::small_icon(ui, icon::OPEN, &choose)
            })
            .inner;
        if response.clicked() {
            let key = control.key.name.to_owned();
            edits.push(PlanEdit::ChoosePath(index, key));
        }
        typed
    })
    .inner
}

/// Every key that has no control in front: its name, its control, what it does and what holds without it.
pub(super) fn more(ui: &mut Ui, app: &App, index: usize, read: &Setup, edits: &mut Vec<PlanEdit>) {
    ui.add_space(space::TINY);
    let is_narrow = ui.available_width() < NARROW;
    for control in app.shared.controls(read, false) {
        let key = control.key;
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = space::SMALL;
            ui.set_min_height(LINE);
            let size = vec2(NAMES, LINE);
            ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
                ui.set_min_width(NAMES);
                label::number(ui, key.name, 12.0);
            });
            let size = vec2(CONTROLS, LINE);
            ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
                ui.set_min_width(CONTROLS);
                of_key(ui, app, index, read, &control, CONTROLS - 8.0, edits);
            });
            if !is_narrow {
                help(ui, &control);
            }
        });
        if is_narrow {
            help(ui, &control);
        }
    }
}

/// What a key does, and what holds without it.
fn help(ui: &mut Ui, control: &Control) {
    let roles = theme::roles(ui);
    let key = control.key;
    let color = if control.why_not.is_some() {
        roles.faint
    } else {
        roles.quiet
    };
    let words = RichText::new(key.full_help())
        .size(text::CAPTION)
        .color(color);
    let hover = match &control.why_not {
        Some(reason) => format!(
            "{}: {}\nNot available: {reason}",
            key.full_help(),
            key.values()
        ),
        None => format!("{}: {}", key.full_help(), key.values()),
    };
    ui.add(Label::new(words).wrap()).on_hover_text(hover);
}
