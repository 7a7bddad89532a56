//! How the window is divided, and the way back: two screens, sizes, and the places where one was.

use eframe::egui::accesskit::{Role, Toggled};
use egui_kittest::kittest::NodeT as _;
use powerband_app::action::{Action, Compare, Shell};
use powerband_app::items::MenuTarget;
use powerband_app::screen::Screen;
use powerband_app::shell::layout;
use powerband_app::shell::layout::Pane;
use powerband_app::tables::action::TableChange;
use powerband_findings::chart::spec::Mark;

use super::compare_by_hand::drag;
use super::instances;
use super::narrow::resize;
use super::pictures::{Album, PictureState, THEMES, desk};
use super::{Desk, name_of};

/// A window with room for two screens.
const WIDE: (f32, f32) = (1_920.0, 1_000.0);

#[test]
fn back_and_forward_go_through_where_one_was() {
    let mut desk = desk(PictureState::Full, 1.0);
    desk.press("Ctrl+1");
    desk.press("Ctrl+5");
    desk.press("Alt+ArrowLeft");
    assert_eq!(desk.app().shared.screen, Screen::Home);
    desk.press("Alt+ArrowRight");
    assert_eq!(desk.app().shared.screen, Screen::Compare);
    desk.press("Alt+ArrowLeft");
    desk.press("Ctrl+9");
    assert!(!desk.app().shared.trail.has_future(), "a new way begins");
    desk.press("Alt+ArrowLeft");
    assert_eq!(desk.app().shared.screen, Screen::Home);
}

#[test]
fn a_screen_shows_what_it_showed_when_it_was_left() {
    let mut desk = desk(PictureState::Full, 1.0);
    desk.press("Ctrl+5");
    let (before, after) = (
        desk.app().compare.sides.before,
        desk.app().compare.sides.after,
    );
    assert!(before.is_some() && before != after);
    desk.press("Ctrl+4");
    desk.act(Action::Compare(Compare::Swap));
    assert_eq!(desk.app().compare.sides.before, after);
    desk.press("Alt+ArrowLeft");
    assert_eq!(desk.app().shared.screen, Screen::Compare);
    assert_eq!(desk.app().compare.sides.before, before);
    let closed = before.expect("a side").session;
    desk.press("Ctrl+4");
    desk.act(Action::Sessions(powerband_app::action::Sessions::Close(
        closed,
    )));
    desk.press("Alt+ArrowLeft");
    assert_eq!(
        desk.app().shared.screen,
        Screen::Compare,
        "and nothing is missed"
    );
}

#[test]
fn two_screens_stand_side_by_side_and_are_swapped() {
    let mut desk = desk(PictureState::Full, 1.0);
    resize(&mut desk, WIDE);
    desk.press("Ctrl+4");
    desk.right_click("Compare");
    desk.click("Show Two sides at the right");
    assert_eq!(
        desk.app().shared.screen_in(Pane::Right),
        Some(Screen::Compare)
    );
    desk.until("it is compared", |app| {
        app.compare.sides.found.result.is_some()
    });
    desk.steps(2);
    let left = desk.get("Throughput").rect();
    desk.reach("Case by case");
    let right = desk.get("Case by case").rect();
    assert!(left.right() < right.left(), "{left:?} {right:?}");
    desk.act(Action::Shell(Shell::Pane(
        Pane::Right,
        Some(Screen::Curves),
    )));
    desk.steps(2);
    assert_eq!(desk.app().shared.screen, Screen::Compare);
    assert_eq!(
        desk.app().shared.screen_in(Pane::Right),
        Some(Screen::Curves)
    );
    assert!(desk.harness.unnamed_widgets().is_empty());
    resize(&mut desk, (1_280.0, 800.0));
    assert_eq!(
        desk.app().shared.screen_in(Pane::Right),
        None,
        "there is no room for two"
    );
    resize(&mut desk, WIDE);
    assert_eq!(
        desk.app().shared.screen_in(Pane::Right),
        Some(Screen::Curves)
    );
    desk.act(Action::Shell(Shell::Pane(Pane::Right, None)));
    assert_eq!(desk.app().shared.screen_in(Pane::Right), None);
}

#[test]
fn a_third_screen_stands_below_and_screens_change_places() {
    use Screen::{Kernels, Timeline, Why};
    let mut desk = desk(PictureState::Full, 1.0);
    let shown = |desk: &Desk| Pane::ALL.map(|pane| desk.app().shared.screen_in(pane));
    let put = |desk: &mut Desk, pane, screen| {
        desk.act(Action::Shell(Shell::Pane(pane, screen)));
        desk.steps(3);
        assert!(desk.harness.unnamed_widgets().is_empty());
    };
    resize(&mut desk, (900.0, 600.0));
    desk.act(Action::Go(Kernels));
    put(&mut desk, Pane::Right, Some(Why));
    put(&mut desk, Pane::Below, Some(Timeline));
    assert_eq!(
        shown(&desk),
        [Some(Kernels), None, None],
        "there is no room"
    );
    resize(&mut desk, WIDE);
    assert_eq!(shown(&desk), [Some(Kernels), Some(Why), Some(Timeline)]);
    // The rest of the row with the tabs is dragged onto another pane.
    drag(&mut desk, "Move Timeline", "Move Kernels");
    desk.steps(3);
    assert_eq!(shown(&desk), [Some(Timeline), Some(Why), Some(Kernels)]);
    put(&mut desk, Pane::Right, Some(Kernels));
    assert_eq!(shown(&desk), [Some(Timeline), Some(Kernels), Some(Why)]);
    let kept = desk.app().to_remember();
    assert_eq!(
        (kept.right_screen, kept.below_screen),
        (Some(Kernels), Some(Why))
    );
    desk.click("Close Kernels");
    assert_eq!(shown(&desk), [Some(Timeline), None, Some(Why)]);
    put(&mut desk, Pane::Right, Some(Timeline));
    assert_eq!(shown(&desk)[0], Some(Timeline), "it would be left empty");
}

#[test]
fn the_panes_of_a_profile_are_painted() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let mut desk = instances::opened("kineto/resnet50-v100-train.pt.trace.json.gz");
    resize(&mut desk, (1_920.0, 1_080.0));
    desk.act(Action::Go(Screen::Kernels));
    for (pane, screen) in [(Pane::Right, Screen::Why), (Pane::Below, Screen::Timeline)] {
        desk.act(Action::Shell(Shell::Pane(pane, Some(screen))));
    }
    desk.until("all three are there", |app| {
        let profile = &app.profile;
        let found = (&profile.kernels.found.result, &profile.why.found.result);
        found.0.is_some() && found.1.is_some() && profile.timeline.current().is_some()
    });
    desk.steps(4);
    for (theme, word) in THEMES {
        desk.act(Action::Shell(Shell::Theme(theme)));
        desk.steps(2);
        album.take(&mut desk, &format!("profile-panes-{word}"));
    }
    album.close();
}

#[test]
fn every_pair_of_screens_has_room() {
    let mut desk = desk(PictureState::Full, 1.0);
    resize(&mut desk, WIDE);
    for screen in Screen::ALL {
        desk.act(Action::Go(Screen::Curves));
        if screen == Screen::Curves {
            continue;
        }
        desk.act(Action::Shell(Shell::Pane(Pane::Right, Some(screen))));
        desk.steps(4);
        for node in desk.nodes() {
            let is_control = matches!(node.role(), Role::Button | Role::TextInput);
            let Some(name) = name_of(&node).filter(|_| is_control) else {
                continue;
            };
            let bounds = node.bounding_box();
            let right = bounds.map_or(0.0, |bounds| bounds.x1);
            assert!(right <= f64::from(WIDE.0), "{name} on {screen:?}: {right}");
        }
    }
}

#[test]
fn the_edge_of_the_library_is_dragged_and_moved_by_keys() {
    let mut desk = desk(PictureState::Full, 1.0);
    let usual = desk.app().shared.size_of(&layout::LIBRARY);
    let name = "Size of the library";
    let at = desk.get(name).rect().center();
    desk.get(name).focus();
    desk.steps(2);
    desk.press("ArrowRight");
    assert_eq!(desk.app().shared.size_of(&layout::LIBRARY), usual + 16.0);
    let moved = desk.get(name).rect().center();
    assert!((moved.x - at.x - 16.0).abs() < 0.5, "{at:?} {moved:?}");
    desk.harness.drag_at(moved);
    desk.step();
    desk.harness.hover_at(moved + eframe::egui::vec2(60.0, 0.0));
    desk.step();
    desk.harness.drop_at(moved + eframe::egui::vec2(60.0, 0.0));
    desk.step();
    let dragged = desk.app().shared.size_of(&layout::LIBRARY);
    assert!((dragged - usual - 76.0).abs() < 1.0, "{dragged}");
    let kept = desk.app().to_remember().sizes;
    assert_eq!(kept.get("library"), Some(&dragged));
    desk.act(Action::Shell(Shell::Resize("library".to_owned(), None)));
    assert_eq!(desk.app().shared.size_of(&layout::LIBRARY), usual);
}

fn head_width(desk: &Desk, title: &str, next: &str) -> f32 {
    let left = |title: &str| desk.get(&format!("Sort by {title}")).rect().right();
    left(next) - left(title)
}

#[test]
fn a_column_is_as_wide_as_it_is_made() {
    let mut desk = desk(PictureState::Full, 1.0);
    desk.press("Ctrl+4");
    desk.reach("Sort by Throughput");
    let before = head_width(&desk, "Latency", "Throughput");
    desk.press("Ctrl+K");
    desk.steps(2);
    desk.type_text("Cases: Throughput wider");
    desk.press("Enter");
    desk.press("Ctrl+K");
    desk.steps(2);
    desk.type_text("Cases: Throughput wider");
    desk.press("Enter");
    desk.steps(3);
    let after = head_width(&desk, "Latency", "Throughput");
    assert!(after > before + 20.0, "{before} {after}");
    let kept = desk.app().to_remember().tables;
    assert!(kept["cases"].widths.contains_key("throughput_per_s"));
}

#[test]
fn tab_begins_with_the_content() {
    let mut desk = desk(PictureState::Small, 1.0);
    desk.press("Ctrl+9");
    desk.press("Tab");
    desk.step();
    let focused = desk.nodes().into_iter().find(|node| node.is_focused());
    let focused = focused.expect("something has the focus");
    let left = focused.bounding_box().map_or(0.0, |bounds| bounds.x0);
    let rail = desk.get("Home").rect().right();
    assert!(left > f64::from(rail), "{:?}", name_of(&focused));
}

#[test]
fn a_pinned_case_is_lit_in_the_comparison_and_followed_by_history() {
    let mut desk = desk(PictureState::Full, 1.0);
    // As tall as it takes to see the rows below the charts.
    resize(&mut desk, (1_280.0, 1_400.0));
    desk.press("Ctrl+5");
    desk.until("a comparison is there", |app| {
        app.compare.sides.found.result.is_some()
    });
    desk.steps(2);
    let pair = powerband_app::items::pair(desk.app(), 3);
    let name = powerband_app::items::name(desk.app(), &MenuTarget::Case(pair[1]));
    desk.click(&format!("Pair of {name}"));
    let app = desk.app();
    assert_eq!(app.shared.screen, Screen::Compare, "one stays where one is");
    assert_eq!(app.curves.pin, Some(pair[1]));
    assert_eq!(powerband_app::items::pinned_pair(app), Some(3));
    let marks = &app.compare.sides.drawn.latency.marks;
    assert!(marks.iter().any(|mark| matches!(mark, Mark::Pin { .. })));
    let following = app.compare.history.following.expect("a case is followed");
    assert_eq!(following.session, pair[1].session);
    assert_eq!(following.point.batch(), pair[1].case.point.batch());
    let row = desk.get(&format!("Pair of {name}")).accesskit_node();
    assert_eq!(row.toggled(), Some(Toggled::True));
}

#[test]
fn an_example_is_shown_also_during_a_run() {
    let mut desk = desk(PictureState::Small, 1.0);
    desk.app_mut().bench.run = Some(super::commands::live());
    desk.press("Ctrl+3");
    desk.act(Action::Sessions(
        powerband_app::action::Sessions::OpenExample(0),
    ));
    desk.until("it is shown", |app| app.shared.screen == Screen::Curves);
}

#[test]
fn hints_come_one_by_one_and_stay_away_once_closed() {
    let mut desk = desk(PictureState::Empty, 1.0);
    desk.press("Ctrl+1");
    desk.see("1 of 5");
    for place in 2..=5 {
        desk.click("Next hint");
        desk.see(&format!("{place} of 5"));
    }
    desk.click("Done");
    assert!(desk.find("5 of 5").is_none());
    assert_eq!(desk.app().to_remember().hint, 5);
    desk.act(Action::Shell(Shell::Hint(0)));
    desk.click("Close the hints for good");
    assert!(desk.app().shared.hint().is_none());
}

#[test]
fn what_was_written_can_be_opened() {
    let mut desk = desk(PictureState::Small, 1.0);
    let path = desk.path("cases.csv");
    desk.press("Ctrl+4");
    let export = TableChange::Export(Some(path.clone()));
    desk.act(Action::Table("cases", export));
    desk.hear("The table is in");
    let open = Action::Shell(Shell::OpenFile(path));
    let offered = desk
        .app()
        .shared
        .notices
        .on_screen()
        .filter_map(|one| one.offer.clone());
    let offered: Vec<_> = offered.collect();
    assert_eq!(offered, [("Open".to_owned(), open)]);
}

#[test]
fn the_rail_has_names_until_one_wants_icons_alone() {
    let mut desk = desk(PictureState::Small, 1.0);
    let wide = desk.get("Home").rect().width();
    desk.click("Hide the names on the rail");
    assert!(desk.get("Home").rect().width() < wide - 50.0);
    assert!(desk.app().to_remember().rail_icons_only);
    desk.click("Show the names on the rail");
    assert!((desk.get("Home").rect().width() - wide).abs() < 0.5);
}
