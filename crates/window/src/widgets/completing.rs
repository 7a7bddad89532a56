//! A one-line field with a list of what can stand at the cursor, while text is typed.
//!
//! Arrow keys choose, Tab or Enter takes, Escape hides the list, the Down key shows it again.

use eframe::egui::text::{CCursor, CCursorRange};
use eframe::egui::{
    AtomExt as _, Button, EventFilter, Id, Key, Modifiers, Popup, PopupKind, RectAlign, Response,
    RichText, TextEdit, Ui, vec2,
};

use super::{field, tip};
use crate::theme::{self, space, text};
use powerband_app::plan::{Alternative, Completion};

/// Least width of the list.
const WIDTH: f32 = 420.0;
/// Height of a line.
const LINE: f32 = 24.0;

/// What the window keeps of a field.
#[derive(Clone, Copy, Debug, Default)]
struct CompletionMemory {
    /// Whether the list is wanted.
    is_open: bool,
    /// The line that Tab takes.
    chosen: usize,
    /// Whether the cursor was in the field: a click on the list takes it away.
    had_cursor: bool,
}

/// What the user did with a list.
enum CompletionEvent {
    /// Took a line.
    Taken(usize),
    /// Hid it.
    Hidden,
}

/// A field with a name, and a list of what `propose` says for a text and a cursor in bytes.
pub(crate) fn show(
    ui: &mut Ui,
    name: &str,
    value: &str,
    hint: &str,
    propose: impl Fn(&str, usize) -> Option<Completion>,
) -> (Response, Option<String>) {
    let id = ui.make_persistent_id(("completing", name));
    let mut memory: CompletionMemory = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    let has_cursor = ui.memory(|memory| memory.has_focus(id));
    let is_live = has_cursor || memory.had_cursor;
    if has_cursor && !memory.is_open && pressed(ui, Key::ArrowDown) {
        memory = CompletionMemory {
            is_open: true,
            ..CompletionMemory::default()
        };
    }
    let completion = (is_live && memory.is_open)
        .then(|| propose(value, cursor(ui, id, value)))
        .flatten();
    let done = completion.as_ref().and_then(|completion| {
        let count = available(completion);
        memory.chosen = memory.chosen.min(count.saturating_sub(1));
        has_cursor.then(|| keys(ui, &mut memory, count)).flatten()
    });
    let mut typed = value.to_owned();
    let mut news = None;
    if let (Some(CompletionEvent::Taken(place)), Some(completion)) = (&done, &completion) {
        news = take(ui, id, value, completion, *place, &mut memory);
        typed = news.clone().unwrap_or(typed);
    }
    let response = edit(
        ui,
        id,
        name,
        &mut typed,
        hint,
        has_cursor && completion.is_some(),
    );
    if response.changed() {
        memory.is_open = true;
        memory.chosen = 0;
        news = Some(typed);
    } else if matches!(done, Some(CompletionEvent::Hidden)) || (!has_cursor && !memory.had_cursor) {
        memory.is_open = false;
    } else if let Some(completion) = completion.filter(|_| done.is_none())
        && let Some(place) = list(&response, &completion, memory.chosen)
    {
        news = take(ui, id, value, &completion, place, &mut memory);
        response.request_focus();
    }
    memory.had_cursor = has_cursor;
    ui.data_mut(|data| data.insert_temp(id, memory));
    (response, news)
}

/// The field itself. While the list is shown, Tab, Escape and the arrows are for it.
fn edit(
    ui: &mut Ui,
    id: Id,
    name: &str,
    typed: &mut String,
    hint: &str,
    has_list: bool,
) -> Response {
    let edit = TextEdit::singleline(typed)
        .id(id)
        .desired_width(ui.available_width())
        .hint_text(RichText::new(hint).color(theme::roles(ui).faint))
        .margin(eframe::egui::Margin::symmetric(8, 5))
        .font(theme::numbers(12.5));
    let response = ui.add(edit).accessible_name(name);
    field::take_cursor(ui, name, &response);
    if has_list {
        let wanted = EventFilter {
            horizontal_arrows: true,
            vertical_arrows: true,
            tab: true,
            escape: true,
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(id, wanted));
    }
    response
}

fn pressed(ui: &Ui, key: Key) -> bool {
    ui.input_mut(|input| input.consume_key(Modifiers::NONE, key))
}

/// What the keys do with the list.
fn keys(ui: &Ui, memory: &mut CompletionMemory, count: usize) -> Option<CompletionEvent> {
    if pressed(ui, Key::ArrowDown) {
        memory.chosen = (memory.chosen + 1) % count.max(1);
    }
    if pressed(ui, Key::ArrowUp) {
        memory.chosen = memory
            .chosen
            .checked_sub(1)
            .unwrap_or_else(|| count.saturating_sub(1));
    }
    if pressed(ui, Key::Escape) {
        return Some(CompletionEvent::Hidden);
    }
    let is_taken = count > 0 && (pressed(ui, Key::Tab) || pressed(ui, Key::Enter));
    is_taken.then_some(CompletionEvent::Taken(memory.chosen))
}

/// How many lines can be taken; they come first.
fn available(completion: &Completion) -> usize {
    let proposals = completion.proposals.iter();
    proposals.filter(|one| one.why_not.is_none()).count()
}

/// Where the cursor is, in bytes.
fn cursor(ui: &Ui, id: Id, value: &str) -> usize {
    let state = TextEdit::load_state(ui.ctx(), id);
    let range = state.and_then(|state| state.cursor.char_range());
    let place = range.map_or(usize::MAX, |range| range.primary.index.0);
    let byte = value.char_indices().nth(place).map(|(byte, _)| byte);
    byte.unwrap_or(value.len())
}

/// The text with a line of the list in it; the cursor goes behind it.
fn take(
    ui: &Ui,
    id: Id,
    value: &str,
    completion: &Completion,
    place: usize,
    memory: &mut CompletionMemory,
) -> Option<String> {
    let proposal = completion.proposals.get(place)?;
    let before = value.get(..completion.range.start)?;
    let after = value.get(completion.range.end..)?;
    let text = format!("{before}{}{after}", proposal.value);
    let letters = before.chars().count() + proposal.value.chars().count();
    let mut state = TextEdit::load_state(ui.ctx(), id).unwrap_or_default();
    let cursor = CCursor::new(letters);
    state.cursor.set_char_range(Some(CCursorRange::one(cursor)));
    state.store(ui.ctx(), id);
    // A key is followed by its value, and a folder by what is in it.
    memory.is_open = proposal.value.ends_with(['=', '.', '/']);
    memory.chosen = 0;
    Some(text)
}

/// Shows the list below the field; returns the line that is clicked.
fn list(field: &Response, completion: &Completion, chosen: usize) -> Option<usize> {
    let mut taken = None;
    Popup::from_response(field)
        .id(field.id.with("list"))
        .kind(PopupKind::Menu)
        .align(RectAlign::BOTTOM_START)
        .gap(space::HAIR)
        .show(|ui| {
            ui.set_width(WIDTH.max(field.rect.width().min(WIDTH * 1.4)));
            ui.spacing_mut().item_spacing.y = 0.0;
            let words = completion
                .proposals
                .iter()
                .map(|one| one.title.chars().count());
            let longest = words.max().unwrap_or_default();
            for (place, proposal) in completion.proposals.iter().enumerate() {
                if line(ui, proposal, place == chosen, longest) {
                    taken = Some(place);
                }
            }
        });
    taken
}

fn line(ui: &mut Ui, proposal: &Alternative, is_chosen: bool, longest: usize) -> bool {
    let roles = theme::roles(ui);
    // As wide as the longest, so that what they mean begins in one column.
    let words = format!("{:<longest$} ", proposal.title);
    let words = RichText::new(words).font(theme::numbers(12.5));
    let help = proposal.why_not.as_deref().unwrap_or(&proposal.help);
    let help = RichText::new(help).size(text::CAPTION).color(roles.faint);
    let button = Button::selectable(is_chosen, (words, help.atom_shrink(true))).truncate();
    let response = ui.add_enabled(proposal.why_not.is_none(), button.min_size(vec2(0.0, LINE)));
    let response = response.accessible_name(format!("Complete {}", proposal.title));
    tip::why_not(response, proposal.why_not.as_deref()).clicked()
}
