//! What the palette offers beyond commands: what is open, planned or kept, found by a few letters.

use std::collections::BTreeSet;

use powerband_app::App;
use powerband_app::palette_entries;
use powerband_app::plan::ArrivalMode;
use powerband_app::screen::Screen;

use super::Desk;
use super::pictures::{PictureState, desk};

/// By the palette, as a hand does it.
fn give(desk: &mut Desk, words: &str) {
    desk.press("Ctrl+K");
    desk.steps(2);
    desk.type_text(words);
    desk.press("Enter");
    desk.steps(3);
}

fn titles(app: &App) -> BTreeSet<String> {
    palette_entries::all_entries(app)
        .into_iter()
        .map(|offer| offer.title)
        .collect()
}

#[test]
fn curves_sides_and_plans_are_reached_by_letters() {
    let mut desk = desk(PictureState::Full, 1.0);
    let name = desk.app().curves.drawn.legend[1].name.clone();
    give(&mut desk, &format!("curves: hide {name}"));
    assert_eq!(desk.app().shared.screen, Screen::Curves);
    let shown: Vec<bool> = desk
        .app()
        .curves
        .drawn
        .legend
        .iter()
        .map(|one| one.shown)
        .collect();
    assert!(shown[0] && !shown[1], "{shown:?}");
    give(&mut desk, &format!("compare: after is {name}"));
    assert_eq!(desk.app().shared.screen, Screen::Compare);
    let after = desk.app().compare.sides.after.expect("a side");
    assert_eq!(
        desk.app()
            .shared
            .sessions
            .series_name(after.session, after.setup),
        name
    );
    give(&mut desk, "plan: open loop, poisson");
    assert_eq!(desk.app().shared.screen, Screen::Plan);
    assert_eq!(
        desk.app().bench.planner.draft.requests,
        ArrivalMode::AtRandom
    );
    give(&mut desk, "plan: add rten");
    let setups = &desk.app().bench.planner.draft.setups;
    assert_eq!(setups.last().map(|setup| setup.spec.as_str()), Some("rten"));
}

#[test]
fn whole_sessions_are_compared_and_their_setups_named() {
    let mut desk = desk(PictureState::Full, 1.0);
    assert!(!desk.sees("rten · Before the upgrade"));
    give(
        &mut desk,
        "compare: before is Before the upgrade, all setups",
    );
    give(&mut desk, "compare: after is After the upgrade, all setups");
    desk.until("all of them are compared", |app| {
        let result = app.compare.sides.found.result.as_ref();
        result.is_some_and(|(before, after, _)| before.whole && after.whole)
    });
    desk.steps(2);
    for name in ["Before the upgrade", "After the upgrade"] {
        for setup in ["ONNX Runtime", "rten"] {
            desk.see(&format!("{setup} · {name}"));
        }
    }
}

#[test]
fn every_offer_has_a_title_of_its_own() {
    let desk = desk(PictureState::Full, 1.0);
    let all = palette_entries::all_entries(desk.app());
    assert!(all.len() > 60, "{}", all.len());
    assert_eq!(titles(desk.app()).len(), all.len(), "two offers read alike");
}

#[test]
fn what_was_offered_can_be_given_where_it_is_no_longer_there() {
    let full = desk(PictureState::Full, 1.0);
    let mut small = desk(PictureState::Empty, 1.0);
    for offer in palette_entries::all_entries(full.app()) {
        for action in offer.actions {
            small.act(action);
        }
        small.steps(1);
    }
    small.until("examples are open", |app| {
        app.shared.sessions.iter().next().is_some()
    });
}

#[test]
fn a_list_that_was_short_grows_again() {
    let mut desk = desk(PictureState::Full, 1.0);
    let last = "Plan: use Everything this machine can do";
    desk.press("Ctrl+K");
    desk.type_text(&last.to_lowercase());
    desk.steps(3);
    for _ in 0.."everything this machine can do".len() {
        desk.press("Backspace");
    }
    desk.steps(3);
    // A hand reaches the last of the plans that come ready.
    desk.get(last).click();
    desk.steps(3);
    assert!(
        !desk.app().shared.window.palette_open,
        "the last line is out of reach"
    );
    assert_eq!(
        desk.app().bench.planner.draft.name,
        "Everything this machine can do"
    );
}
