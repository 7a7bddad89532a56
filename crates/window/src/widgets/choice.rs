//! A choice among names: the chosen one, cut in its middle where it is long, and a list that can be searched by typing.

use eframe::egui::{Align, ComboBox, Id, Key, Modifiers, PopupCloseBehavior, Response, Ui};

use super::{field, label, marker};

/// A list longer than this can be searched.
const SEARCHED: usize = 8;
/// Width of the button beside its text: its arrow and its margins.
const BESIDE_TEXT: f32 = 46.0;

/// The button that opens the list.
pub(crate) struct Choice<'a> {
    /// Its name for screen readers.
    pub name: &'a str,
    /// The chosen one.
    pub shown: &'a str,
    pub width: f32,
}

/// A line of the list.
pub(crate) struct ChoiceRow {
    pub name: String,
    /// The colour of its marker; nothing for no marker.
    pub colour: Option<usize>,
    pub is_chosen: bool,
}

impl Choice<'_> {
    /// Shows it; answers which line was taken. The lines are made while the list is open.
    pub(crate) fn show(
        self,
        ui: &mut Ui,
        rows: impl FnOnce() -> Vec<ChoiceRow>,
    ) -> (Response, Option<usize>) {
        let id = ui.make_persistent_id(("choice", self.name));
        let room = self.width - BESIDE_TEXT;
        let combo = ComboBox::from_id_salt(self.name)
            .width(self.width)
            .truncate()
            .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
            .selected_text(label::fitted(ui, self.shown, room));
        let shown = field::within(ui, self.width, |ui| {
            combo.show_ui(ui, |ui| list(ui, id, self.name, &rows()))
        });
        if shown.inner.is_none() {
            ui.data_mut(|data| data.remove::<String>(id));
        }
        let response = shown.response.accessible_name(self.name);
        // What is cut is whole for screen readers.
        ui.ctx().accesskit_node_builder(response.id, |node| {
            node.set_value(self.shown);
        });
        let response = response.on_hover_text(self.shown);
        (response, shown.inner.flatten())
    }
}

/// The lines that have what was typed. Enter takes the first of them.
fn list(ui: &mut Ui, id: Id, name: &str, rows: &[ChoiceRow]) -> Option<usize> {
    let mut typed: String = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    let is_searched = rows.len() > SEARCHED;
    let mut is_entered = false;
    if is_searched {
        let is_first = ui.data(|data| data.get_temp::<String>(id)).is_none();
        let search = format!("{name}: search");
        let (response, news) = field::search(ui, &search, &typed, "Search", ui.available_width());
        if is_first {
            response.request_focus();
        }
        typed = news.unwrap_or(typed);
        ui.data_mut(|data| data.insert_temp(id, typed.clone()));
        is_entered = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter));
    }
    let wanted = typed.to_lowercase();
    let found = rows.iter().enumerate();
    let found = found.filter(|(_, row)| row.name.to_lowercase().contains(&wanted));
    let mut taken = None;
    for (place, row) in found {
        let is_first = taken.is_none();
        let shown = ui.horizontal(|ui| {
            if let Some(colour) = row.colour {
                marker::inline(ui, colour);
            }
            ui.selectable_label(row.is_chosen, &row.name)
        });
        if row.is_chosen && !is_searched {
            shown.inner.scroll_to_me(Some(Align::Center));
        }
        if shown.inner.clicked() || (is_entered && is_first) {
            taken = Some(place);
            is_entered = false;
        }
    }
    if taken.is_some() {
        ui.close();
    }
    taken
}
