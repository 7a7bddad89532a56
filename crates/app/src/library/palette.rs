//! In the command palette: the list of the library, and the details of the session that is selected.

use crate::App;
use crate::action::{Action, Library};
use crate::palette_entries::entry::{Offered, seen_on, typed_on};
use crate::screen::Screen;

pub(crate) fn entries(app: &App) -> Vec<Offered> {
    [selections(app), details(app)].concat()
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
    if selected.is_none_or(|path| app.library.entry(path).is_none()) {
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
