//! Windows that are small and made larger by Ctrl+Plus too: nothing is cut off, nothing lies on anything
//! else, and what can be done stands in the order that it always has.

use std::collections::BTreeMap;
use std::path::PathBuf;

use eframe::egui::accesskit::Role;
use eframe::egui::{Rect, pos2};
use egui_kittest::Node;
use egui_kittest::kittest::NodeT as _;
use powerband_app::action::Action;
use powerband_app::run::Stage;
use powerband_app::screen::{Door, Screen};

use super::narrow::{live, reach, resize};
use super::pictures::{PictureState, desk};
use super::{Desk, name_of};
use crate::support::Home;

/// What windows of 900 × 640 and 1280 × 800 are at 120, 150 and 150 %.
const SCALED: [(f32, f32); 3] = [(750.0, 533.0), (600.0, 427.0), (853.0, 533.0)];
/// A wide window, and one in which heads wrap.
const BOTH: [(f32, f32); 2] = [(1_280.0, 800.0), (600.0, 427.0)];

/// The entries of the rail from top to bottom, but for the switch of the library.
fn entries() -> Vec<&'static str> {
    Door::ALL.map(Door::title).to_vec()
}

/// What has a name, with its number, its role and its place.
pub(super) fn named(desk: &Desk) -> Vec<(u128, Role, String, Rect)> {
    let scale = desk.harness.ctx.pixels_per_point();
    let nodes = desk.nodes().into_iter();
    nodes
        .filter_map(|node| {
            let place = node.bounding_box()?;
            let rect = Rect::from_min_max(
                pos2(place.x0 as f32, place.y0 as f32) / scale,
                pos2(place.x1 as f32, place.y1 as f32) / scale,
            );
            let id = u128::from(node.id());
            Some((id, node.role(), name_of(&node)?, rect))
        })
        .collect()
}

/// Whether no two of them share more than an edge.
fn are_apart(places: &[(String, Rect)]) -> Result<(), String> {
    for (index, (name, rect)) in places.iter().enumerate() {
        for (other, over) in &places[index + 1..] {
            let shared = rect.intersect(*over);
            if shared.width() > 1.0 && shared.height() > 1.0 {
                return Err(format!("\"{name}\" and \"{other}\" lie on one another"));
            }
        }
    }
    Ok(())
}

#[test]
fn the_rail_keeps_every_door() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.act(Action::Go(Screen::Timeline));
    for size in SCALED {
        resize(&mut desk, size);
        let mut names = entries();
        names.push("Show the library");
        let places: Vec<(String, Rect)> = names
            .iter()
            .map(|name| ((*name).to_owned(), desk.get(name).rect()))
            .collect();
        let width = if size.0 < 760.0 { 56.0 } else { 112.0 };
        let rail = Rect::from_min_max(pos2(0.0, 0.0), pos2(width, size.1 - 32.0));
        for (name, rect) in &places {
            assert!(
                rail.contains_rect(*rect),
                "{size:?}: \"{name}\" at {rect:?}"
            );
        }
        assert_eq!(are_apart(&places), Ok(()), "{size:?}");
    }
    // Too low for all of them: they are scrolled, above the two that stay.
    resize(&mut desk, (480.0, 200.0));
    let end = desk.get("Show the library").rect().top();
    for name in entries() {
        desk.get(name).scroll_to_me();
        desk.steps(3);
        let rect = desk.get(name).rect();
        assert!(rect.top() > 0.0 && rect.bottom() <= end, "{name}: {rect:?}");
    }
    desk.get("Library").click();
    desk.steps(2);
    assert_eq!(desk.app().shared.screen, Screen::Library);
}

/// Holds that names are read in this order: each is at the right of the one before, or in a later row.
fn are_read_in_order(desk: &Desk, names: &[&str]) {
    for pair in names.windows(2) {
        let [before, after] = [pair[0], pair[1]].map(|name| desk.get(name).rect());
        let is_beside = before.right() <= after.left();
        let is_above = before.bottom() <= after.top();
        assert!(is_beside || is_above, "{pair:?}: {before:?}, {after:?}");
    }
}

#[test]
fn what_can_be_done_stands_in_one_order() {
    let mut desk = desk(PictureState::Small, 1.0);
    for size in BOTH {
        resize(&mut desk, size);
        for (screen, names) in [
            (Screen::Plan, &["Undo", "Redo", "Save", "Start the run"][..]),
            (Screen::Compare, &["Swap", "Write a report…"][..]),
            (
                Screen::Library,
                &["Search the library", "Restore", "Open files…"][..],
            ),
            (
                Screen::Curves,
                &["Latency: Median", "Efficiency: of best"][..],
            ),
        ] {
            desk.act(Action::Go(screen));
            desk.steps(2);
            are_read_in_order(&desk, names);
        }
        desk.app_mut().bench.run = Some(live());
        desk.act(Action::Go(Screen::Run));
        desk.steps(2);
        are_read_in_order(&desk, &["Pause", "Skip this case", "Stop"]);
        let became = desk.app().shared.sessions.iter().map(|open| open.id).next();
        let run = desk.app_mut().bench.run.as_mut().expect("the run");
        run.became = became;
        run.stage = Stage::Saved(PathBuf::from("/a/folder/whose/name/is/long/resnet50.ron"));
        run.current = None;
        desk.steps(2);
        are_read_in_order(&desk, &["Run again", "Show curves"]);
    }
}

#[test]
fn a_head_ends_where_its_cards_do() {
    let mut desk = desk(PictureState::Small, 1.0);
    desk.act(Action::Go(Screen::Plan));
    desk.steps(2);
    // The field ends its card's margin and line before the card.
    let field = desk.get("Name").rect().right() + 17.0;
    let button = desk.get("Start the run").rect().right();
    assert!((field - button).abs() < 1.5, "{field}, {button}");
}

#[test]
fn a_plan_keeps_its_cards_and_the_path_of_its_model() {
    let mut desk = desk(PictureState::Full, 1.0);
    desk.act(Action::Go(Screen::Plan));
    for size in SCALED {
        resize(&mut desk, size);
        for name in [
            "Start the run",
            "Built-in network",
            "ONNX file…",
            "Setup 1",
            "Estimate",
            "Measurement settings",
            "Profiler",
            "Name",
            "Ready-made plans",
        ] {
            reach(&mut desk, size, name);
        }
        let path = reach(&mut desk, size, "Model");
        assert!(path.width() > 200.0, "{size:?}: {path:?}");
    }
}

#[test]
fn settings_end_before_the_window_does() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.act(Action::Go(Screen::Settings));
    for size in SCALED.into_iter().chain([(900.0, 640.0)]) {
        resize(&mut desk, size);
        for name in [
            "Find a shortcut",
            "Reset all",
            "Keys of Go to Home",
            "Device readings: 100 Hz",
        ] {
            let rect = reach(&mut desk, size, name);
            // The margin of the screen, and that of the card.
            let most = size.0 - 22.0 - 16.0;
            assert!(rect.right() < most, "{name} in {size:?}: {rect:?}");
        }
    }
}

#[test]
fn the_strip_leaves_out_what_there_is_no_room_for() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    // A screen that scrolls has controls below its end.
    desk.act(Action::Go(Screen::Timeline));
    for size in SCALED.into_iter().chain([(1_280.0, 800.0)]) {
        resize(&mut desk, size);
        desk.app_mut().bench.run = Some(live());
        desk.steps(2);
        let places: Vec<(String, Rect)> = named(&desk)
            .into_iter()
            .filter(|(_, _, _, rect)| rect.top() >= size.1 - 32.0)
            .map(|(_, _, name, rect)| (name, rect))
            .collect();
        assert!(
            places.iter().any(|(name, _)| name == "Find a command"),
            "{places:?}"
        );
        assert!(
            places
                .iter()
                .any(|(name, _)| name.ends_with("% of the time")),
            "{places:?}"
        );
        assert_eq!(are_apart(&places), Ok(()), "{size:?}: {places:?}");
    }
}

/// The last column with a name of tables that have buttons in their rows.
const LAST_COLUMN: &str = "Outcome";

/// What reaches over the side of the window and is not moved into it, as columns of a table are.
fn out_of_reach(desk: &mut Desk) -> Vec<String> {
    let window = desk.harness.ctx.content_rect().expand(0.6);
    let is_out = |rect: Rect| rect.left() < window.left() || rect.right() > window.right();
    // One for each column: what stands below each other is moved together.
    let mut far = BTreeMap::new();
    for (id, role, name, rect) in named(desk) {
        // Rows of a table are as wide as all its columns.
        if role != Role::Label && is_out(rect) && rect.width() < window.width() {
            far.insert((rect.left() as i32, rect.right() as i32), (id, name));
        }
    }
    let mut faults = Vec::new();
    for (id, name) in far.into_values() {
        if let Some(node) = by_id(desk, id) {
            node.scroll_to_me();
        }
        desk.steps(4);
        // What rows have is scrolled within them; a table is moved by its head.
        let is_still_out = by_id(desk, id).is_some_and(|node| is_out(node.rect()));
        if let Some(head) = desk.find(LAST_COLUMN).filter(|_| is_still_out) {
            head.scroll_to_me();
        }
        desk.steps(4);
        let rect = by_id(desk, id).map(|node| node.rect());
        if let Some(rect) = rect.filter(|rect| is_out(*rect)) {
            faults.push(format!("\"{name}\" reaches over the side: {rect:?}"));
        }
    }
    faults
}

pub(super) fn by_id(desk: &Desk, id: u128) -> Option<Node<'_>> {
    let mut nodes = desk.harness.root().children_recursive();
    nodes.find(|node| u128::from(node.accesskit_node().id()) == id)
}

#[test]
fn nothing_reaches_over_the_side() {
    let mut found = Vec::new();
    for state in PictureState::ALL {
        let mut desk = desk(state, 1.0);
        for size in SCALED {
            resize(&mut desk, size);
            for at in Screen::ALL {
                let runs = at == Screen::Run && state != PictureState::Empty;
                desk.app_mut().bench.run = runs.then(live);
                desk.act(Action::Go(at));
                desk.steps(2);
                let faults = out_of_reach(&mut desk).into_iter();
                found.extend(faults.map(|fault| format!("{at:?}, {state:?}, {size:?}: {fault}")));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn help_of_a_setup_leaves_most_of_the_window() {
    let mut desk = desk(PictureState::Full, 1.0);
    desk.act(Action::Go(Screen::Plan));
    for size in [(1_280.0, 800.0), SCALED[1]] {
        resize(&mut desk, size);
        desk.get("Setup 1").scroll_to_me();
        desk.steps(3);
        desk.get("Setup 1").hover();
        desk.steps(4);
        let last = "Type a key to see its values here";
        desk.see(last);
        desk.steps(2);
        let whole = named(&desk)
            .into_iter()
            .filter(|(_, _, name, _)| name == "ONNX Runtime" || name.contains(last))
            .fold(Rect::NOTHING, |all, (_, _, _, rect)| all.union(rect));
        assert!(whole.height() < size.1 * 0.75, "{size:?}: {whole:?}");
        assert!(whole.right() < size.0, "{size:?}: {whole:?}");
    }
}

#[test]
fn a_legend_of_many_leaves_room_for_the_charts() {
    let mut desk = desk(PictureState::Full, 1.0);
    desk.act(Action::Go(Screen::Curves));
    desk.steps(2);
    assert!(!desk.sees("Show 2 more"), "all eight have room");
    resize(&mut desk, SCALED[1]);
    desk.see("Show 2 more");
}
