//! Both sides of a comparison, chosen in their boxes.

use std::path::Path;

use powerband_app::compare::SideChoice;
use powerband_core::domain::point::Point;

use super::Desk;
use super::pictures::small_session;
use crate::support::Home;

/// Two sessions, side by side.
fn two() -> Desk {
    let home = Home::new();
    let files = ["Before", "After"].map(|name| small_session(&home, name));
    let mut desk = Desk::awake(home, files.to_vec());
    desk.until("both are open", |app| app.shared.sessions.len() == 2);
    desk.press("Ctrl+5");
    compared(&mut desk);
    desk
}

/// Waits until what is chosen is compared.
fn compared(desk: &mut Desk) {
    desk.steps(2);
    desk.until("the sides are compared", |app| {
        let chosen = (app.compare.sides.before, app.compare.sides.after);
        let result = app.compare.sides.found.result.as_ref();
        result.is_some_and(|(before, after, _)| chosen == (Some(*before), Some(*after)))
    });
}

fn pairs(desk: &Desk) -> usize {
    let result = desk.app().compare.sides.found.result.as_ref();
    result.expect("a comparison").2.pairs.len()
}

fn sides(desk: &Desk) -> [SideChoice; 2] {
    [
        desk.app().compare.sides.before,
        desk.app().compare.sides.after,
    ]
    .map(|side| side.expect("a side"))
}

#[test]
fn a_setup_of_any_session_is_either_side() {
    let mut desk = two();
    let ids: Vec<_> = desk
        .app()
        .shared
        .sessions
        .iter()
        .map(|open| open.id)
        .collect();
    for (side, session, setup) in [("Before", 1, 1), ("After", 0, 0)] {
        desk.click(&format!("{side}: setup"));
        let name = desk.app().shared.sessions.series_name(ids[session], setup);
        desk.click(&name);
        compared(&mut desk);
        let chosen = sides(&desk)[usize::from(side == "After")];
        assert_eq!((chosen.session, chosen.setup), (ids[session], setup));
        assert_eq!((chosen.point, chosen.whole), (None, false));
    }
    assert_eq!(pairs(&desk), 5, "every batch size");
}

#[test]
fn one_batch_size_is_compared_with_another() {
    let mut desk = two();
    for (side, batch) in [("Before", 4), ("After", 16)] {
        desk.click(&format!("{side}: point"));
        desk.click(&format!("Batch {batch}"));
    }
    compared(&mut desk);
    assert_eq!(
        sides(&desk).map(|side| side.point),
        [4, 16].map(|batch| Some(Point::of_batch(batch)))
    );
    assert_eq!(pairs(&desk), 1);
    desk.click("Before: point");
    desk.click("All batches");
    assert_eq!(sides(&desk)[0].point, None);
}

#[test]
fn whole_sessions_are_chosen_in_the_same_boxes() {
    let mut desk = two();
    for (side, name) in [
        ("Before", "Before, all setups"),
        ("After", "After, all setups"),
    ] {
        desk.click(&format!("{side}: setup"));
        desk.click(name);
    }
    compared(&mut desk);
    assert!(sides(&desk).iter().all(|side| side.whole));
    assert_eq!(pairs(&desk), 10, "two setups, five batch sizes");
}

/// Drags from the middle of one control onto that of another.
fn drag_side(desk: &mut Desk, from: &str, to: &str) {
    drag(desk, from, to);
    compared(desk);
}

/// Drags what has a name onto something else.
pub(super) fn drag(desk: &mut Desk, from: &str, to: &str) {
    let middle = |desk: &Desk, name: &str| desk.get(name).rect().center();
    let (from, to) = (middle(desk, from), middle(desk, to));
    desk.harness.hover_at(from);
    desk.steps(2);
    desk.harness.drag_at(from);
    desk.steps(1);
    for place in [from.lerp(to, 0.5), to] {
        desk.harness.hover_at(place);
        desk.steps(2);
    }
    desk.harness.drop_at(to);
    desk.steps(2);
}

#[test]
fn a_side_is_dragged_onto_the_other_and_a_session_onto_a_side() {
    let mut desk = two();
    let [before, after] = sides(&desk);
    drag_side(&mut desk, "Before", "After");
    assert_eq!(sides(&desk), [after, before], "swapped");
    drag_side(&mut desk, "Curves of Before", "Before: setup");
    let session = |desk: &Desk| sides(desk).map(|side| side.session);
    assert_eq!(session(&desk), [before.session; 2]);
}

#[test]
fn long_lists_of_setups_are_searched_by_typing() {
    let home = Home::new();
    let names = ["One", "Two", "Three", "Four"];
    let files = names.map(|name| small_session(&home, name));
    let mut desk = Desk::awake(home, files.to_vec());
    desk.until("all are open", |app| app.shared.sessions.len() == 4);
    desk.press("Ctrl+5");
    compared(&mut desk);
    desk.click("After: setup");
    desk.type_text("three, all");
    desk.steps(2);
    desk.press("Enter");
    compared(&mut desk);
    let [before, after] = sides(&desk);
    let name = |side: SideChoice| {
        let open = desk.app().shared.sessions.get(side.session);
        open.expect("an open session").session.name.clone()
    };
    assert!(after.whole && before.whole);
    assert_eq!(name(after), "Three");
}

#[test]
fn a_published_table_is_a_side_and_its_steps_are_steps() {
    let home = Home::new();
    let measured = small_session(&home, "Measured");
    let published =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions/published-resnet50-case-study.ron");
    let mut desk = Desk::awake(home, vec![measured, published]);
    desk.until("both are open", |app| app.shared.sessions.len() == 2);
    desk.press("Ctrl+5");
    compared(&mut desk);
    desk.click("Before: setup");
    desk.click("MIGraphX, published · ResNet-50 case study, as published");
    compared(&mut desk);
    assert_eq!(pairs(&desk), 4, "batch 1, 4, 8 and 16");
    desk.see("? inconclusive");
    desk.see("One side states its time without its rounds");
    desk.see("published: Case Study: ResNet-50 Inference Optimization");
    desk.press("Ctrl+7");
    desk.until("steps are compared", |app| {
        app.compare.journey.found.result.is_some()
    });
    desk.click("Session");
    desk.click("ResNet-50 case study, as published");
    desk.see("Kernel fusion with MIGraphX vs. Baseline");
    desk.see("2.98");
}
