//! In the command palette: the list of the library, and the details of the session that is selected.

use super::TAG_ALL;
use crate::App;
use crate::action::{Action, Library, Sessions};
use crate::palette_entries::entry::{Offered, anywhere, seen_on, typed_on};
use crate::screen::Screen;
use powerband_core::base::humanize;

pub(crate) fn entries(app: &App) -> Vec<Offered> {
    [selections(app), several(app), details(app)].concat()
}

/// What can be done with several that are selected in the table.
fn several(app: &App) -> Vec<Offered> {
    let files = app.library.selected_files(&app.shared);
    if files.len() < 2 {
        return Vec::new();
    }
    let these = format!(
        "the {} selected sessions",
        humanize::count(files.len() as u64)
    );
    let open = Action::Sessions(Sessions::Open(files.clone()));
    let mut offered = vec![
        anywhere(format!("Library: open {these}"), open),
        typed_on(Screen::Library, &format!("Library: tag {these}"), TAG_ALL),
        offer(
            &format!("move {these} to the trash"),
            Library::DiscardAll(files.clone()),
        ),
        anywhere(
            format!("Library: history of {these}"),
            Action::Library(Library::History(files.clone())),
        ),
        anywhere(
            format!("Library: machines of {these}"),
            Action::Library(Library::Fleet(files.clone())),
        ),
    ];
    if let [one, other] = files.as_slice() {
        let compare = Library::Compare(one.clone(), other.clone());
        let title = format!("Library: compare {these}");
        offered.push(anywhere(title, Action::Library(compare)));
    }
    offered
}

fn offer(title: &str, library: Library) -> Offered {
    seen_on(
        Screen::Library,
        format!("Library: {title}"),
        Action::Library(library),
    )
}

fn selections(app: &App) -> Vec<Offered> {
    let titles = app.library.titles().into_iter();
    let others = titles.filter(|(path, _)| app.library.selected.as_ref() != Some(path));
    others
        .map(|(path, title)| {
            let select = Library::Select(Some(path.clone()));
            offer(&format!("select {title}"), select)
        })
        .collect()
}

/// What is typed of the session that is selected.
fn details(app: &App) -> Vec<Offered> {
    let selected = app.library.selected.as_ref();
    let is_one = app.library.selected_files(&app.shared).len() < 2;
    if !is_one || selected.is_none_or(|path| app.library.entry(path).is_none()) {
        return Vec::new();
    }
    [
        ("rename the selected session", "Session name"),
        ("tags of the selected session", "Tags"),
        ("notes of the selected session", "Notes"),
    ]
    .map(|(title, field)| typed_on(Screen::Library, &format!("Library: {title}"), field))
    .to_vec()
}
