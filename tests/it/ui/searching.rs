//! Fields for what is looked for: Escape clears them, and then leaves them.

use powerband_app::App;
use powerband_app::action::{Action, Shell};
use powerband_app::screen::Screen;

use super::Desk;
use super::pictures::{PictureState, desk, open_for};
use super::typing::at_keyboard;

/// A field that looks for something, on its screen, and what the application has of it.
struct SearchField {
    screen: Screen,
    field: &'static str,
    kept: fn(&App) -> Option<&str>,
}

const SEARCHES: [SearchField; 6] = [
    SearchField {
        screen: Screen::Timeline,
        field: "Find in the timeline",
        kept: |app| Some(&app.profile.timeline.search),
    },
    SearchField {
        screen: Screen::Library,
        field: "Search the library",
        kept: |app| Some(&app.library.search),
    },
    SearchField {
        screen: Screen::Plan,
        field: "Find a session",
        kept: |app| Some(&app.library.search),
    },
    SearchField {
        screen: Screen::Curves,
        field: "Filter Cases",
        kept: |app| Some(app.shared.tables.filter_text("cases")),
    },
    SearchField {
        screen: Screen::Kernels,
        field: "Filter",
        kept: |app| Some(&app.profile.kernels.filter().words),
    },
    SearchField {
        screen: Screen::Settings,
        field: "Find a shortcut",
        kept: |_| None,
    },
];

/// A window with something on every screen that has such a field.
fn furnished() -> Desk {
    let mut desk = desk(PictureState::Full, 1.0);
    for screen in [Screen::Timeline, Screen::Kernels] {
        open_for(&mut desk, screen);
    }
    desk.act(Action::Go(Screen::Kernels));
    super::kernels::found(&mut desk);
    desk
}

#[test]
fn escape_clears_a_search_and_then_leaves_the_field() {
    let mut desk = furnished();
    for search in &SEARCHES {
        let field = search.field;
        desk.act(Action::Go(search.screen));
        desk.steps(2);
        desk.fill(field, "no such words");
        assert_eq!(desk.value(field), "no such words");
        desk.press("Escape");
        desk.steps(2);
        assert_eq!(desk.value(field), "", "{field}");
        let kept = (search.kept)(desk.app()).unwrap_or_default();
        assert_eq!(kept, "", "{field}");
        assert_eq!(at_keyboard(&desk).as_deref(), Some(field));
        assert_eq!(desk.app().shared.screen, search.screen);
        // It is the same field still, and can be typed into at once.
        desk.type_text("again");
        assert_eq!(desk.value(field), "again");
        desk.press("Escape");
        desk.press("Escape");
        assert_eq!(at_keyboard(&desk), None, "{field}");
        assert_eq!(
            desk.app().shared.screen,
            search.screen,
            "one step at a time"
        );
    }
}

#[test]
fn escape_clears_the_palette_and_then_closes_it() {
    let mut desk = desk(PictureState::Small, 1.0);
    let field = "Find a command or a session";
    desk.act(Action::Shell(Shell::Palette(true)));
    desk.steps(2);
    desk.type_text("curv");
    assert_eq!(desk.value(field), "curv");
    desk.press("Escape");
    assert!(desk.app().shared.window.palette_open);
    assert_eq!(desk.value(field), "");
    desk.type_text("plan");
    assert_eq!(desk.value(field), "plan", "the cursor is in it still");
    desk.press("Escape");
    desk.press("Escape");
    assert!(!desk.app().shared.window.palette_open);
}
