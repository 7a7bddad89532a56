//! Library: every session with its details, and actions on its file.

use std::path::Path;

use eframe::egui::{self, Id, ScrollArea, Ui, vec2};

use crate::icon;
use crate::shell;
use crate::theme::{self, size, space};
use crate::widgets::data_table::{self, DataTable};
use crate::widgets::{button, field, label, marker};
use powerband_app::App;
use powerband_app::action::{Action, Library, RunAction, Sessions};
use powerband_app::library::{self, SessionEntry};
use powerband_app::reports::{ReportSubject, ReportTarget};
use powerband_app::screen::Screen;
use powerband_app::sessions::LIVE;
use powerband_app::tables::action::TableChange;
use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_core::domain::sweep;

/// Width of the details.
const SIDE: f32 = 330.0;
/// Up to this width they stand below the list.
const NARROW: f32 = 800.0;
/// Width of the field of tags for several sessions.
const TAGS: f32 = 130.0;
/// The list's share of the height then, so that the details stay visible.
const LIST_SHARE: f32 = 0.4;
/// The list's height at the least.
const LIST_LEAST: f32 = 170.0;

pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    header(ui, app, actions);
    ui.add_space(space::MEDIUM);
    if let Some(trouble) = &app.library.trouble {
        label::trouble(ui, trouble);
        ui.add_space(space::SMALL);
    }
    if app.library.found.is_empty() {
        return empty(ui, app, actions);
    }
    // Several have a bar above the table, and no details.
    let is_one = selected_rows(app) < 2;
    let selected = app.library.selected.clone().filter(|_| is_one);
    match selected {
        Some(path) if ui.available_width() <= NARROW => stacked(ui, app, &path, actions),
        selected => list_with_details(ui, app, selected.as_deref(), actions),
    }
}

fn list_with_details(ui: &mut Ui, app: &App, selected: Option<&Path>, actions: &mut Vec<Action>) {
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::MEDIUM;
        let side = selected.map_or(0.0, |_| SIDE + space::MEDIUM);
        let size = vec2(ui.available_width() - side, ui.available_height());
        ui.allocate_ui(size, |ui| ui.vertical(|ui| list(ui, app, actions)));
        if let Some(path) = selected {
            ui.vertical(|ui| {
                ui.set_width(SIDE - 2.0);
                // A window can be wide enough and too low.
                let scrolled = ScrollArea::vertical().id_salt("details");
                scrolled.show(ui, |ui| details(ui, app, path, actions));
            });
        }
    });
}

fn stacked(ui: &mut Ui, app: &App, path: &Path, actions: &mut Vec<Action>) {
    let height = (ui.available_height() * LIST_SHARE).max(LIST_LEAST);
    super::scrolled(ui, |ui| {
        let size = vec2(ui.available_width(), height);
        ui.allocate_ui(size, |ui| ui.vertical(|ui| list(ui, app, actions)));
        ui.add_space(space::SMALL);
        details(ui, app, path, actions);
    });
}

fn header(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let sentence = session_count_text(app);
    super::screen_header(ui, "Library", &sentence, NARROW, |ui| {
        super::in_order(ui, 3, |ui, place| match place {
            0 => search(ui, app, actions),
            1 => bring_back(ui, app, actions),
            _ => open_files(ui, actions),
        });
    });
    if !app.library.found.is_empty() {
        tags(ui, app, actions);
    }
}

/// How many sessions there are, how many of them are listed, and where.
fn session_count_text(app: &App) -> String {
    let (all, listed) = (app.library.found.len(), app.library.listed_len());
    let count = humanize::pluralised(all as u64, "session");
    let folder = app.shared.place.paths.library.display();
    if listed == all {
        format!("{count} in {folder}")
    } else {
        format!("{} of {count} in {folder}", humanize::count(listed as u64))
    }
}

/// The tags in use. Their line is there without tags too, so that the first tag does not move everything
/// below it.
fn tags(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        ui.set_min_height(size::CONTROL);
        let tags = app.library.tags();
        if tags.is_empty() {
            label::faint(ui, "No tags yet. Select a session to give it some.");
        }
        for tag in tags.iter().take(20) {
            let words = format!("#{tag}");
            let is_on = app.library.search.trim() == words;
            if ui.selectable_label(is_on, &words).clicked() {
                let search = if is_on { String::new() } else { words };
                actions.push(Action::Library(Library::Search(search)));
            }
        }
    });
}

fn open_files(ui: &mut Ui, actions: &mut Vec<Action>) {
    if button::labelled(ui, Some(icon::OPEN), "Open files…").clicked() {
        actions.push(Action::Sessions(Sessions::Choose));
    }
}

fn bring_back(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let restore = app.library.discarded.last().map(|_| ());
    let restore = restore.ok_or("nothing was moved to the trash");
    if button::plain_if(ui, restore, Some(icon::UNDO), "Restore").clicked() {
        actions.push(Action::Library(Library::Restore));
    }
}

fn search(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let (_, typed) = field::search(
        ui,
        library::SEARCH,
        &app.library.search,
        "Words, or #tag",
        220.0,
    );
    actions.extend(typed.map(|words| Action::Library(Library::Search(words))));
}

fn empty(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    ui.add_space(ui.available_height() * 0.25);
    ui.vertical_centered(|ui| {
        if !app.library.is_scanned {
            label::empty(ui, icon::LIBRARY, "Looking…", "");
            return;
        }
        let (title, sentence) = why_empty(app);
        label::empty(ui, icon::LIBRARY, title, &sentence);
        if button::primary(ui, Some(icon::RUN), "Benchmark ResNet-50").clicked() {
            actions.push(Action::Run(RunAction::StartFirst));
        }
    });
}

/// Title and text of an empty library.
fn why_empty(app: &App) -> (&'static str, String) {
    if app.library.trouble.is_some() {
        let sentence = "The message above says what is wrong with the folder.";
        return ("No sessions available", sentence.to_owned());
    }
    let kept = "Every run is saved here under its model and time.";
    let names: Vec<&str> = app
        .shared
        .sessions
        .iter()
        .filter(|open| open.id != LIVE)
        .map(|open| open.session.name.as_str())
        .collect();
    match names.as_slice() {
        [] => ("No sessions yet", kept.to_owned()),
        [one] => (
            "No sessions in the library yet",
            format!("{one} is open, but not saved here. {kept}"),
        ),
        [first, others @ ..] => (
            "No sessions in the library yet",
            format!(
                "{first} and {} are open, but not saved here. {kept}",
                humanize::pluralised(others.len() as u64, "other")
            ),
        ),
    }
}

fn list(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    super::rows_card(ui, |ui| {
        let count = app.library.listed_len();
        if count == 0 {
            ui.horizontal(|ui| {
                label::quiet(ui, "No session matches these words.");
                if button::labelled(ui, None, "Clear the search").clicked() {
                    actions.push(Action::Library(Library::Search(String::new())));
                }
            });
            return;
        }
        let title = |ui: &mut Ui| {
            ui.add_space(10.0);
            label::card_title(ui, "Sessions");
        };
        if !data_table::tools(ui, app, "sessions", actions, title) {
            return;
        }
        bar(ui, app, actions);
        let place_of =
            |path: &std::path::PathBuf| app.library.listed().position(|(listed, _)| listed == path);
        let lead = |ui: &mut Ui, row: usize| {
            let path = app.library.listed_at(row).map(|(path, _)| path);
            if let Some(open) = path.and_then(|path| app.shared.sessions.by_path(path)) {
                marker::of_session(ui, &app.shared.sessions, open);
            }
        };
        let name = |row: usize| row_name(app, row);
        let table = DataTable {
            id: "sessions",
            height: ui.available_height() - 40.0,
            selected: app.library.selected.as_ref().and_then(place_of),
            name: Some(&name),
            lead: Some(&lead),
            ..DataTable::default()
        };
        let touched = table.show(ui, app, actions);
        if let Some((path, _)) = touched
            .clicked
            .and_then(|index| app.library.listed_at(index))
        {
            // Where several were selected, a click selects this one.
            let again = app.library.selected.as_ref() == Some(path) && selected_rows(app) == 0;
            let double = ui.input(|input| {
                input
                    .pointer
                    .button_double_clicked(egui::PointerButton::Primary)
            });
            if double {
                actions.push(Action::Sessions(Sessions::Open(vec![path.clone()])));
            } else {
                actions.push(Action::Library(Library::Select(
                    (!again).then(|| path.clone()),
                )));
            }
        }
    });
}

fn selected_rows(app: &App) -> usize {
    let rows = app.shared.tables.selected("sessions");
    rows.map_or(0, |rows| rows.len())
}

/// What can be done with several sessions that are selected.
fn bar(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let rows = selected_rows(app);
    if rows < 2 {
        return;
    }
    // Of thousands, the files are listed only where something is done with them.
    let files = || app.library.selected_files(&app.shared);
    let is_leaving = !actions.is_empty();
    ui.horizontal_wrapped(|ui| {
        ui.add_space(10.0);
        let count = humanize::count(rows as u64);
        label::card_title(ui, &format!("{count} selected"));
        if button::primary(ui, None, "Open all").clicked() {
            actions.push(Action::Sessions(Sessions::Open(files())));
        }
        let allowed = if rows == 2 {
            Ok(())
        } else {
            Err("select two sessions to compare them")
        };
        let is_asked = button::plain_if(ui, allowed, Some(icon::COMPARE), "Compare the two");
        if is_asked.clicked()
            && let [one, other] = files().as_slice()
        {
            let compare = Library::Compare(one.clone(), other.clone());
            actions.push(Action::Library(compare));
        }
        if button::labelled(ui, Some(icon::HISTORY), "History of these").clicked() {
            actions.push(Action::Library(Library::History(files())));
        }
        if button::labelled(ui, Some(icon::FLEET), "Machines of these").clicked() {
            actions.push(Action::Library(Library::Fleet(files())));
        }
        if button::labelled(ui, Some(icon::EXPORT), "Export the rows…").clicked() {
            actions.push(Action::Table("sessions", TableChange::Export(None)));
        }
        if button::labelled(ui, Some(icon::DISCARD), "Move all to the trash").clicked() {
            actions.push(Action::Library(Library::DiscardAll(files())));
        }
        let size = vec2(TAGS, size::CONTROL);
        let typed = ui.allocate_ui(size, |ui| {
            let id = Id::unique("tags-for-all");
            field::draft(ui, id, library::TAG_ALL, "", "tags for all", 1, is_leaving)
        });
        if let Some(words) = typed.inner {
            let tags = library::typed_tags(&words);
            actions.push(Action::Library(Library::TagAll(files(), tags)));
        }
        if button::labelled(ui, Some(icon::CLOSE), "Clear the selection").clicked() {
            actions.push(Action::Table("sessions", TableChange::SelectNone));
        }
    });
    ui.add_space(space::TINY);
}

/// The name of a row.
fn row_name(app: &App, index: usize) -> String {
    let listed = app.library.listed_at(index);
    let name = listed.map(|(path, scanned)| {
        let [name, ..] = shell::library::entry_texts(path, scanned);
        name
    });
    format!("Session {}", name.unwrap_or_default())
}

/// When it was measured; published sessions were not measured here.
fn measured(entry: &SessionEntry) -> String {
    entry
        .measured()
        .map_or_else(|| UNKNOWN.to_owned(), humanize::moment)
}

fn details(ui: &mut Ui, app: &App, path: &Path, actions: &mut Vec<Action>) {
    theme::card(ui).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = space::SMALL;
            match app.library.entry(path) {
                Some(entry) => of_entry(ui, entry, actions),
                None => unreadable(ui, app, path),
            }
            ui.add_space(space::TINY);
            action_buttons(ui, app, path, actions);
        });
    });
}

fn unreadable(ui: &mut Ui, app: &App, path: &Path) {
    label::card_title(ui, "Cannot be read");
    let reason = app
        .library
        .found
        .get(path)
        .and_then(|scanned| scanned.entry.as_ref().err());
    let words = reason.map_or("", String::as_str);
    label::copyable(ui, words.into());
}

fn of_entry(ui: &mut Ui, entry: &SessionEntry, actions: &mut Vec<Action>) {
    let path = entry.path.clone();
    // Another action of this frame may leave the screen, with the text typed on it.
    let is_leaving = !actions.is_empty();
    let draft = |ui: &mut Ui, caption, name: &str, value: &str, hint, rows| {
        let id = Id::unique((hint, &entry.path));
        label::caption(ui, caption);
        field::draft(ui, id, name, value, hint, rows, is_leaving)
    };
    if let Some(name) = draft(ui, "Name", "Session name", &entry.name, "name", 1) {
        actions.push(Action::Library(Library::Rename(path.clone(), name)));
    }
    let (tags, hint) = (entry.tags.join(" "), "words, separated by spaces or commas");
    if let Some(tags) = draft(ui, "Tags", "Tags", &tags, hint, 1) {
        let tags = library::typed_tags(&tags);
        actions.push(Action::Library(Library::Tags(path.clone(), tags)));
    }
    let hint = "what this run was about";
    if let Some(notes) = draft(ui, "Notes", "Notes", &entry.notes, hint, 4) {
        actions.push(Action::Library(Library::Notes(path, notes)));
    }
    ui.add_space(space::TINY);
    label::pair(ui, "Model", &entry.model);
    label::pair(ui, "Measured", &measured(entry));
    let sweep = if entry.is_published_only() {
        UNKNOWN.to_owned()
    } else {
        sweep::points_text(&entry.points)
    };
    let title = if sweep::is_of_batches(&entry.points) {
        "Batches"
    } else {
        "Sweep"
    };
    label::pair(ui, title, &sweep);
    label::pair(ui, "State", entry.state_name());
    label::pair(ui, "File", &humanize::bytes(entry.stamp.bytes()));
    if !entry.setups.is_empty() {
        label::caption(ui, "Setups");
    }
    for setup in entry.setups.iter().take(12) {
        label::quiet_line(ui, setup);
    }
}

fn action_buttons(ui: &mut Ui, app: &App, path: &Path, actions: &mut Vec<Action>) {
    let path = path.to_path_buf();
    ui.horizontal_wrapped(|ui| {
        if let Some(open) = app.shared.sessions.by_path(&path) {
            if button::primary(ui, Some(icon::CURVES), "Show curves").clicked() {
                actions.push(Action::Go(Screen::Curves));
            }
            if button::labelled(ui, Some(icon::SAVE), "Write a report…").clicked() {
                actions.push(Action::Report(
                    ReportSubject::of_session(open.id),
                    ReportTarget::Ask,
                ));
            }
            if button::labelled(ui, None, "Close").clicked() {
                actions.push(Action::Sessions(Sessions::Toggle(path.clone())));
            }
        } else if button::primary(ui, None, "Open").clicked() {
            actions.push(Action::Sessions(Sessions::Open(vec![path.clone()])));
        }
        let entry = app.library.entry(&path);
        let again = entry.map_or(Ok(()), SessionEntry::can_run_again);
        if button::plain_if(ui, again, Some(icon::AGAIN), "Run again…").clicked() {
            actions.push(Action::Sessions(Sessions::RunFileAgain(path.clone())));
        }
        for (glyph, name, action) in [
            (icon::COPY, "Duplicate", Library::Duplicate(path.clone())),
            (icon::OPEN, "Show the file", Library::Reveal(path.clone())),
            (
                icon::DISCARD,
                "Move to the trash",
                Library::Discard(path.clone()),
            ),
        ] {
            if button::labelled(ui, Some(glyph), name).clicked() {
                actions.push(Action::Library(action));
            }
        }
    });
}
