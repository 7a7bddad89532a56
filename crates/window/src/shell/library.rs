//! The library beside the rail: every session, found by its words, opened and closed by a click.

use std::path::Path;

use eframe::egui::{
    self, Align, CornerRadius, Label, Layout, RichText, ScrollArea, Sense, Ui, UiBuilder, vec2,
};

use crate::icon;
use crate::theme::{self, size, space, text};
use crate::widgets::{button, field, label, marker, menu};
use powerband_app::App;
use powerband_app::action::{Action, Library, Sessions};
use powerband_app::items::MenuTarget;
use powerband_app::library::{SEARCH_BESIDE, ScannedFile};
use powerband_app::screen::Screen;
use powerband_app::sessions::{LIVE, OnDisk, OpenSession};
use powerband_core::base::humanize;
use powerband_core::domain::point::Point;
use powerband_core::domain::sweep;
use powerband_findings::analysis::claims::PUBLISHED_MARK;

/// Height of a session's two lines.
const ENTRY: f32 = 44.0;

pub(crate) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    search(ui, app, actions);
    ui.add_space(space::SMALL);
    // Open sessions stand below, so that no row moves under the pointer.
    let all = ui.available_size();
    let below = height_of_open(app.shared.sessions.len(), all.y);
    let above = (all.y - below).max(ENTRY);
    ui.allocate_ui(vec2(all.x, above), |ui| {
        ui.set_min_height(above);
        ui.vertical(|ui| in_library(ui, app, actions));
    });
    open_sessions(ui, app, below, actions);
}

/// Height of this many open sessions, at most a share of the panel.
fn height_of_open(count: usize, all: f32) -> f32 {
    if count == 0 {
        return 0.0;
    }
    let head = 2.0 * size::CONTROL;
    let rows = count as f32 * (size::CONTROL + space::TINY);
    head + rows.min((all * 0.4).max(ENTRY * 2.0))
}

fn in_library(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    heading(ui, app, actions);
    if let Some(trouble) = &app.library.trouble {
        label::trouble(ui, trouble);
    }
    let count = app.library.listed_len();
    if count == 0 {
        // A folder that cannot be read has a message above.
        if app.library.trouble.is_none() {
            label::quiet(ui, nothing_listed(app));
        }
        return;
    }
    ScrollArea::vertical()
        .id_salt("library")
        .auto_shrink([false, false])
        .show_rows(ui, ENTRY, count, |ui, rows| {
            for place in rows {
                if let Some((path, scanned)) = app.library.listed_at(place) {
                    entry(ui, app, path, scanned, actions);
                }
            }
        });
}

fn nothing_listed(app: &App) -> &'static str {
    match (app.library.is_scanned, app.library.search.is_empty()) {
        (false, _) => "Looking…",
        (true, true) => "No sessions yet. A run makes one; Ctrl+O opens one.",
        (true, false) => "No session matches these words.",
    }
}

fn search(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let width = ui.available_width();
    let (_, typed) = field::search(
        ui,
        SEARCH_BESIDE,
        &app.library.search,
        "Find a session",
        width,
    );
    if let Some(words) = typed {
        actions.push(Action::Library(Library::Search(words)));
    }
}

fn heading(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        label::caption(ui, "Library");
        let [all, listed] = [app.library.found.len(), app.library.listed_len()];
        let [of_all, count] = [all, listed].map(|number| humanize::count(number as u64));
        if listed < all {
            label::faint(ui, &format!("{count} of {of_all}"));
        } else if all > 0 {
            label::faint(ui, &of_all);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if button::small_icon(ui, icon::OPEN, "Open files…").clicked() {
                actions.push(Action::Sessions(Sessions::Choose));
            }
        });
    });
}

fn open_sessions(ui: &mut Ui, app: &App, height: f32, actions: &mut Vec<Action>) {
    if app.shared.sessions.is_empty() {
        return;
    }
    ui.add_space(space::SMALL);
    ui.horizontal(|ui| {
        label::caption(ui, "Open");
        // Not above the crosses of the rows, below which it would slide as they are closed.
        if app.shared.sessions.len() > 1
            && button::small_icon(ui, icon::CLOSE, "Close all").clicked()
        {
            actions.push(Action::Sessions(Sessions::CloseAll));
        }
    });
    ScrollArea::vertical()
        .id_salt("open")
        .max_height(height - size::CONTROL)
        .show(ui, |ui| {
            for open in app.shared.sessions.iter() {
                open_entry(ui, app, open, actions);
            }
        });
}

fn open_entry(ui: &mut Ui, app: &App, open: &OpenSession, actions: &mut Vec<Action>) {
    ui.push_id(open.id.0, |ui| {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = space::TINY;
            marker::of_session(ui, &app.shared.sessions, open);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if open.id == LIVE {
                    label::faint(ui, "running");
                } else if button::small_icon(
                    ui,
                    icon::CLOSE,
                    &format!("Close {}", open.session.name),
                )
                .clicked()
                {
                    actions.push(Action::Sessions(Sessions::Close(open.id)));
                }
                if open.on_disk != OnDisk::Same {
                    disk_note(ui, open, actions);
                }
                if !open.session.is_published_only() {
                    label::faint(ui, &humanize::short_moment(&open.session.created));
                }
                // An id of its own: what comes to stand beside the name must not close the name's menu.
                let of_name = UiBuilder::new()
                    .scope_id(ui.scope_id().with("name"))
                    .layout(Layout::left_to_right(Align::Center));
                ui.scope_builder(of_name, |ui| open_name(ui, app, open, actions));
            });
        });
    });
}

/// The name of an open session; a click shows its curves, its menu has its other screens.
fn open_name(ui: &mut Ui, app: &App, open: &OpenSession, actions: &mut Vec<Action>) {
    let name = label::fitted(ui, &open.session.name, ui.available_width());
    let name = Label::new(name).truncate().sense(Sense::click_and_drag());
    let response = ui.add(name).on_hover_cursor(egui::CursorIcon::PointingHand);
    // A side of a comparison takes it.
    response.dnd_set_drag_payload(open.id);
    let named = format!("Curves of {}", open.session.name);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::accesskit::Role::Button, true, &named));
    let response = response.on_hover_text(&open.session.name);
    if response.clicked() {
        actions.push(Action::Go(Screen::Curves));
    }
    menu::of_item(&response, app, &MenuTarget::Session(open.id), actions);
}

fn disk_note(ui: &mut Ui, open: &OpenSession, actions: &mut Vec<Action>) {
    let (glyph, words) = match open.on_disk {
        OnDisk::Gone => (icon::SAVE, "The file is missing; save the session"),
        _ => (icon::AGAIN, "Another program changed the file; reload it"),
    };
    if button::small_icon(ui, glyph, words).clicked() {
        actions.push(Action::Sessions(match open.on_disk {
            OnDisk::Gone => Sessions::SaveAs(open.id, None),
            _ => Sessions::Reload(open.id),
        }));
    }
}

fn entry(ui: &mut Ui, app: &App, path: &Path, scanned: &ScannedFile, actions: &mut Vec<Action>) {
    let roles = theme::roles(ui);
    let is_open = app.shared.sessions.by_path(path).is_some();
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), ENTRY), Sense::click());
    let [name, below, moment] = entry_texts(path, scanned);
    let doing = if is_open { "Close" } else { "Open" };
    response.widget_info(|| {
        egui::WidgetInfo::selected(
            egui::accesskit::Role::Button,
            true,
            is_open,
            format!("{doing} {name}"),
        )
    });
    let is_selected =
        app.shared.screen == Screen::Library && app.library.selected.as_deref() == Some(path);
    if is_open || is_selected || response.hovered() {
        ui.painter()
            .rect_filled(rect, CornerRadius::same(6), roles.raised);
    }
    let mut inner = ui.new_child(egui::UiBuilder::new().max_rect(rect.shrink2(vec2(8.0, 5.0))));
    inner.spacing_mut().item_spacing.y = 0.0;
    let color = if scanned.entry.is_ok() {
        roles.text
    } else {
        roles.bad
    };
    inner.add(Label::new(RichText::new(&name).color(color)).truncate());
    let faint = |words: &str| RichText::new(words).size(text::CAPTION).color(roles.faint);
    inner.spacing_mut().interact_size.y = 14.0;
    inner.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.label(faint(&moment));
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add(Label::new(faint(&below)).truncate());
            });
        });
    });
    if is_open {
        let bar =
            egui::Rect::from_min_size(rect.min + vec2(0.0, 10.0), vec2(2.0, rect.height() - 20.0));
        ui.painter().rect_filled(bar, 1.0, roles.accent);
    }
    let hint = format!(
        "{}\nClick to {}, Shift click to add it to what is drawn, Ctrl click to close all others",
        hover(path, scanned),
        doing.to_lowercase()
    );
    let response = response.on_hover_text(hint);
    if response.clicked() {
        let held = ui.input(|input| input.modifiers);
        actions.push(Action::Library(Library::Select(Some(path.to_path_buf()))));
        let path = path.to_path_buf();
        actions.push(Action::Sessions(if held.command {
            Sessions::OpenOnly(path)
        } else if held.shift {
            Sessions::Add(path)
        } else {
            Sessions::Toggle(path)
        }));
    }
    menu::of_item(
        &response,
        app,
        &MenuTarget::File(path.to_path_buf()),
        actions,
    );
}

/// A session's name, what is in it, and when it was measured.
pub(crate) fn entry_texts(path: &Path, scanned: &ScannedFile) -> [String; 3] {
    let Ok(entry) = &scanned.entry else {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        return [
            file.into_owned(),
            "cannot be read".to_owned(),
            String::new(),
        ];
    };
    let setups = humanize::pluralised(entry.setups.len() as u64, "setup");
    let made_up = if entry.made_up { ", made up" } else { "" };
    let held = if entry.is_published_only() {
        PUBLISHED_MARK.to_owned()
    } else {
        format!("{setups} × {}{made_up}", sizes(&entry.points))
    };
    [
        entry.name.clone(),
        held,
        // Published sessions have no time of measurement.
        entry
            .measured()
            .map_or_else(String::new, humanize::short_moment),
    ]
}

/// How many there are: `9 batches`, `3 × 3 points` of a grid.
fn sizes(points: &[Point]) -> String {
    match points.len() {
        _ if !sweep::is_of_batches(points) => sweep::point_count_text(points),
        1 => "1 batch".to_owned(),
        number => format!("{} batches", humanize::count(number as u64)),
    }
}

fn hover(path: &Path, scanned: &ScannedFile) -> String {
    match &scanned.entry {
        Ok(entry) => {
            let tags: Vec<String> = entry.tags.iter().map(|tag| format!("#{tag}")).collect();
            let lines = [
                entry.model.clone(),
                entry.setups.join("\n"),
                tags.join(" "),
                path.display().to_string(),
            ];
            lines
                .into_iter()
                .filter(|line| !line.is_empty())
                .collect::<Vec<_>>()
                .join("\n")
        }
        Err(reason) => reason.clone(),
    }
}
