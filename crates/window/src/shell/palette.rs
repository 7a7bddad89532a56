//! The command palette: every command and every session, found by words or a few letters.

use std::path::Path;

use eframe::egui::{
    self, Align, Context, Id, Key, Label, Layout, Modal, Modifiers, RichText, ScrollArea, Sense,
    TextEdit, Ui, vec2,
};

use crate::theme::{self, text};
use crate::widgets::field;
use powerband_app::App;
use powerband_app::action::{Action, Sessions, Shell};
use powerband_app::command::{self, Command};
use powerband_app::library::SessionEntry;
use powerband_app::{find, palette_entries};
use powerband_core::base::humanize;

/// Height of a line.
const LINE: f32 = 30.0;
/// Lines at the most.
const MOST: usize = 200;

#[derive(Clone, Default)]
struct PaletteMemory {
    words: String,
    chosen: usize,
}

/// An item whose title is searched; only matches become lines.
enum PaletteSource<'a> {
    Command(&'static Command),
    Session(&'a Path, &'a SessionEntry),
    Other(Vec<Action>),
}

struct PaletteEntry {
    title: String,
    keys: String,
    act: Result<Vec<Action>, &'static str>,
}

/// Shows it while it is open.
pub(crate) fn show(ui: &Ui, app: &App, actions: &mut Vec<Action>) {
    let id = memory_id();
    if !app.shared.window.palette_open {
        ui.data_mut(|data| data.remove::<PaletteMemory>(id));
        return;
    }
    let mut memory = ui
        .data_mut(|data| data.get_temp::<PaletteMemory>(id))
        .unwrap_or_default();
    let area = Modal::default_area(id).anchor(egui::Align2::CENTER_TOP, vec2(0.0, 90.0));
    let frame = theme::card(ui).inner_margin(egui::Margin::same(8));
    let modal = Modal::new(id).area(area).frame(frame).show(ui.ctx(), |ui| {
        ui.set_width(520.0);
        let before = memory.words.clone();
        let field = TextEdit::singleline(&mut memory.words)
            .desired_width(f32::INFINITY)
            .hint_text("Find a command or a session")
            .margin(egui::Margin::symmetric(10, 8));
        let response = ui.add(field).accessible_name("Find a command or a session");
        response.request_focus();
        if field::is_cleared(ui, &response, &memory.words) {
            memory.words.clear();
        }
        if memory.words != before {
            memory.chosen = 0;
        }
        let offers = offers(app, &memory.words);
        step(ui, &mut memory, offers.len());
        let taken = list(ui, &offers, &memory).or_else(|| {
            let enter = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter));
            enter.then_some(memory.chosen)
        });
        taken.and_then(|place| offers.into_iter().nth(place))
    });
    if let Some(offer) = modal.inner
        && let Ok(asked) = offer.act
    {
        actions.push(Action::Shell(Shell::Palette(false)));
        actions.extend(asked);
    }
    if modal.backdrop_response.clicked() {
        actions.push(Action::Shell(Shell::Palette(false)));
    }
    ui.data_mut(|data| data.insert_temp(id, memory));
}

fn memory_id() -> Id {
    Id::unique("palette")
}

/// Whether it has text: then Escape clears the text and does not close it.
pub(crate) fn has_words(ctx: &Context) -> bool {
    let memory = ctx.data(|data| data.get_temp::<PaletteMemory>(memory_id()));
    memory.is_some_and(|memory| !memory.words.is_empty())
}

fn step(ui: &Ui, memory: &mut PaletteMemory, count: usize) {
    let by = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    if by(Key::ArrowDown) {
        memory.chosen += 1;
    }
    if by(Key::ArrowUp) {
        memory.chosen = memory.chosen.saturating_sub(1);
    }
    memory.chosen = memory.chosen.min(count.saturating_sub(1));
}

fn offers(app: &App, words: &str) -> Vec<PaletteEntry> {
    let commands = command::offered(&app.shared)
        .map(|command| (command.title.to_owned(), PaletteSource::Command(command)));
    let sessions = app.library.found.iter().filter_map(|(path, scanned)| {
        let entry = scanned.entry.as_ref().ok()?;
        Some((
            format!("Open {}", entry.name),
            PaletteSource::Session(path, entry),
        ))
    });
    // Entries that depend on open sessions are many, so they need a search.
    let others = if words.trim().is_empty() {
        Vec::new()
    } else {
        palette_entries::all_entries(app)
    };
    let others = others
        .into_iter()
        .map(|offered| (offered.title, PaletteSource::Other(offered.actions)));
    let all: Vec<(String, PaletteSource<'_>)> = commands.chain(sessions).chain(others).collect();
    let found = find::by_words(all, |(title, _)| title.as_str(), words);
    let mut offers: Vec<PaletteEntry> = found
        .into_iter()
        .take(MOST)
        .map(|(title, source)| offer(app, title, source))
        .collect();
    offers.sort_by_key(|offer| offer.act.is_err());
    offers
}

fn offer(app: &App, title: String, source: PaletteSource<'_>) -> PaletteEntry {
    let (keys, act) = match source {
        PaletteSource::Command(command) => {
            let act = (command.act)(app).map(|action| vec![action]);
            (app.shared.keys_of(command.id), act)
        }
        PaletteSource::Session(path, entry) => {
            let open = Action::Sessions(Sessions::Open(vec![path.to_path_buf()]));
            let moment = entry.measured().map(humanize::short_moment);
            (moment.unwrap_or_default(), Ok(vec![open]))
        }
        PaletteSource::Other(actions) => (String::new(), Ok(actions)),
    };
    PaletteEntry { title, keys, act }
}

fn list(ui: &mut Ui, offers: &[PaletteEntry], memory: &PaletteMemory) -> Option<usize> {
    let mut taken = None;
    if offers.is_empty() {
        ui.add_space(8.0);
        super::super::widgets::label::quiet(ui, "No matches.");
        return None;
    }
    ScrollArea::vertical()
        .max_height(LINE * 11.0)
        // Else the list would stay short when it grows again.
        .min_scrolled_height(LINE * 11.0)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            for (place, offer) in offers.iter().enumerate() {
                if line(ui, offer, place == memory.chosen) {
                    taken = Some(place);
                }
            }
        });
    taken
}

fn line(ui: &mut Ui, offer: &PaletteEntry, is_chosen: bool) -> bool {
    let roles = theme::roles(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), LINE), Sense::click());
    response.widget_info(|| {
        egui::WidgetInfo::selected(
            egui::accesskit::Role::MenuItem,
            offer.act.is_ok(),
            is_chosen,
            &offer.title,
        )
    });
    if !ui.is_rect_visible(rect) && !is_chosen {
        return response.clicked();
    }
    if is_chosen {
        response.scroll_to_me(None);
    }
    if is_chosen || response.hovered() {
        ui.painter().rect_filled(rect, 6.0, roles.raised);
    }
    if is_chosen {
        let bar = egui::Rect::from_min_size(rect.min + vec2(0.0, 7.0), vec2(2.0, LINE - 14.0));
        ui.painter().rect_filled(bar, 1.0, roles.accent);
    }
    let mut inner = ui.new_child(egui::UiBuilder::new().max_rect(rect.shrink2(vec2(10.0, 0.0))));
    inner.with_layout(Layout::right_to_left(Align::Center), |ui| {
        let right = match offer.act {
            Ok(_) => RichText::new(&offer.keys)
                .font(theme::numbers(text::CAPTION))
                .color(roles.quiet),
            Err(reason) => RichText::new(reason).size(text::CAPTION).color(roles.faint),
        };
        ui.label(right);
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let color = if offer.act.is_ok() {
                roles.text
            } else {
                roles.faint
            };
            ui.add(
                Label::new(RichText::new(&offer.title).color(color))
                    .truncate()
                    .selectable(false),
            );
        });
    });
    response.clicked()
}
