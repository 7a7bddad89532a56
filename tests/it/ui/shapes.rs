//! Sweeps over batch and sequence: curves over either, the heat map, and the comparison of two as one.

use eframe::egui::accesskit::Role;
use powerband_app::action::{Action, Compare, Curves, Sessions, Shell};
use powerband_app::compare::SideChoice;
use powerband_app::curves::heat::SweepView;
use powerband_app::plan::{PlanEdit, PlanField};
use powerband_app::screen::Screen;
use powerband_app::sessions::SessionId;
use powerband_core::domain::case::{Case, CaseKey};
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_findings::chart::heat_map::cases::MapQuantity;
use powerband_findings::chart::layout::cells::size_text;
use powerband_findings::chart::spec::Stroke;

use super::data::{SessionSpec, Speed, speed};
use super::pictures::{Album, PictureState, THEMES, furnish};
use super::{Desk, write};
use crate::support::Home;

const BATCHES: [usize; 5] = [1, 2, 4, 8, 16];
const LENGTHS: [usize; 5] = [32, 128, 512, 1_024, 2_048];
/// Items times tokens that have no room.
const TOO_MUCH: usize = 20_000;

/// A network over batch and sequence; `faster` makes the long sequences faster and the shortest ones slower.
pub(crate) fn session(name: &str, created: &str, faster: bool) -> Session {
    let speeds: [Speed; 2] = [
        speed("ort:cpu", "ONNX Runtime", 900.0, 2_300.0),
        Speed {
            noise: 0.02,
            ..speed("tract:cpu", "tract", 700.0, 4_100.0)
        },
    ];
    let mut session = SessionSpec {
        name,
        created,
        model: "bert-base",
        speeds: &speeds,
        batches: &BATCHES,
        rounds: 5,
        samples: 40,
    }
    .session();
    let made = std::mem::take(&mut session.cases);
    let point = |batch: usize, length: usize| Point::of_batch(batch).with("sequence", length);
    session.plan.points = BATCHES
        .iter()
        .flat_map(|batch| LENGTHS.map(|length| point(*batch, length)))
        .collect();
    session.plan.points.sort_unstable();
    let case = |key: CaseKey| {
        let length = key.point.get("sequence").expect("a length");
        let batch = key.point.batch();
        let like = |case: &&Case| case.setup == key.setup && case.point.batch() == batch;
        let mut case = made.iter().find(like).expect("a case").clone();
        case.point = key.point;
        if key.setup == 1 && batch * length > TOO_MUCH {
            case = Case::pending(key);
            case.outcome = Outcome::OutOfMemory {
                reason: "the engine wanted 3.2 GB more than there is".to_owned(),
            };
            return case;
        }
        let tokens = length as f64 / 512.0;
        let change = match length {
            1_024.. if faster => 0.74,
            32 if faster => 1.36,
            _ => 1.0,
        };
        let factor = (0.08 + 0.8 * tokens + 0.25 * tokens * tokens) * change;
        for round in &mut case.rounds {
            for ns in &mut round.samples_ns {
                *ns = (*ns as f64 * factor) as u64;
            }
            round.spent_ns = (round.spent_ns as f64 * factor) as u64;
        }
        case
    };
    session.cases = session.plan.cases().into_iter().map(case).collect();
    session
}

/// A window with the sweep, or with two to be compared.
fn desk(both: bool) -> Desk {
    let home = Home::new();
    let before = session("bert-base", "2026-10-01T08:00:00Z", false);
    let mut files = vec![home.path("before.ron")];
    write(&files[0], &before);
    if both {
        let after = session("bert-base, fused attention", "2026-10-02T08:00:00Z", true);
        files.push(home.path("after.ron"));
        write(&files[1], &after);
    }
    let count = files.len();
    let mut desk = Desk::awake(home, files);
    desk.until("they are open", |app| app.shared.sessions.len() == count);
    furnish(&mut desk, PictureState::Small);
    desk.act(Action::Go(Screen::Curves));
    desk.steps(2);
    desk
}

fn curves(desk: &mut Desk, change: Curves) {
    desk.act(Action::Curves(change));
    desk.steps(2);
}

/// The comparison of the two sessions' first setups.
fn compare(desk: &mut Desk) {
    for (place, side) in [
        (1, Compare::Before as fn(SideChoice) -> Compare),
        (2, Compare::After),
    ] {
        let pick = SideChoice {
            session: SessionId(place),
            setup: 0,
            point: None,
            whole: false,
            profile: None,
        };
        desk.act(Action::Compare(side(pick)));
    }
    desk.act(Action::Go(Screen::Compare));
    desk.until("they are compared", |app| {
        app.compare.sides.found.result.is_some()
    });
    desk.steps(2);
}

#[test]
fn heat_maps_and_curves_over_the_sequence_are_painted() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let mut desk = desk(true);
    desk.act(Action::Sessions(Sessions::Close(SessionId(2))));
    for (theme, word) in THEMES {
        desk.act(Action::Shell(Shell::Theme(theme)));
        curves(&mut desk, Curves::Limit(Some(60e6)));
        curves(&mut desk, Curves::Show(SweepView::Map));
        album.take(&mut desk, &format!("heat-map-{word}"));
        curves(&mut desk, Curves::Show(SweepView::Curves));
        curves(&mut desk, Curves::Over("sequence"));
        curves(&mut desk, Curves::Fix("batch", Some(4)));
        album.take(&mut desk, &format!("curves-over-sequence-{word}"));
        curves(&mut desk, Curves::Fix("batch", None));
        album.take(&mut desk, &format!("curves-over-sequence-each-{word}"));
        curves(&mut desk, Curves::Show(SweepView::Both));
        curves(&mut desk, Curves::Over("batch"));
        curves(&mut desk, Curves::Mapped(MapQuantity::OfLimit));
        album.take(&mut desk, &format!("heat-map-limit-{word}"));
        curves(&mut desk, Curves::Mapped(MapQuantity::Latency));
    }
    let path = desk.path("after.ron");
    desk.act(Action::Sessions(Sessions::Open(vec![path])));
    desk.until("both are open", |app| app.shared.sessions.len() == 2);
    let second = desk.app().shared.sessions.iter().last().expect("open").id;
    for (theme, word) in THEMES {
        desk.act(Action::Shell(Shell::Theme(theme)));
        for (session, side) in [
            (SessionId(1), Compare::Before as fn(SideChoice) -> Compare),
            (second, Compare::After),
        ] {
            desk.act(Action::Compare(side(SideChoice {
                session,
                setup: 0,
                point: None,
                whole: false,
                profile: None,
            })));
        }
        desk.act(Action::Go(Screen::Compare));
        desk.until("they are compared", |app| {
            app.compare.sides.found.result.is_some()
        });
        album.take(&mut desk, &format!("heat-map-comparison-{word}"));
    }
    let sweeps = PlanEdit::Text(
        PlanField::Sweeps,
        "sequence=32,128,512\npast=0,128".to_owned(),
    );
    desk.act(Action::Plan(sweeps));
    desk.act(Action::Go(Screen::Plan));
    desk.steps(3);
    album.take(&mut desk, "plan-sequence-light");
    album.close();
}

/// The middle of a cell of the first field, and of the label of its column.
fn field_name(desk: &Desk) -> String {
    let nodes = desk.nodes();
    let field = nodes
        .iter()
        .filter(|node| node.role() == Role::Button)
        .find_map(|node| node.label().filter(|name| name.starts_with("Heat map of ")));
    field.expect("a heat map")
}

#[test]
fn a_cell_is_found_by_keys_and_pinned() {
    let mut desk = desk(false);
    curves(&mut desk, Curves::Show(SweepView::Map));
    let name = field_name(&desk);
    assert!(
        name.contains("ONNX Runtime. batch 1, sequence 32: "),
        "{name}"
    );
    desk.get(&name).focus();
    desk.steps(2);
    for key in ["ArrowRight", "ArrowUp", "ArrowUp"] {
        desk.press(key);
    }
    let name = field_name(&desk);
    assert!(name.contains("batch 2, sequence 512: "), "{name}");
    desk.press("Enter");
    desk.steps(2);
    let pin = desk.app().curves.pin.expect("a pinned case");
    let point = Point::of_batch(2).with("sequence", 512);
    assert_eq!((pin.case.setup, pin.case.point), (0, point));
    let map = desk.app().curves.drawn.map.clone().expect("a map").map;
    let cells = map.panels.iter().flat_map(|panel| &panel.cells);
    assert_eq!(cells.filter(|cell| cell.is_pinned).count(), 1);
    // The table below has the same cases.
    assert_eq!(desk.column("cases", "batch").len(), 50);
}

#[test]
fn a_row_of_the_heat_map_becomes_a_curve() {
    let mut desk = desk(false);
    curves(&mut desk, Curves::Show(SweepView::Map));
    let along = Curves::Along("sequence", "batch", 8);
    curves(&mut desk, along);
    let drawn = desk.app().curves.drawn.clone();
    assert_eq!(drawn.axes.x, "sequence");
    let series = drawn.latency.series.iter();
    let series: Vec<_> = series.filter(|one| one.stroke == Stroke::Curve).collect();
    assert_eq!(series.len(), 2, "a curve for each setup");
    let tags: Vec<u64> = series[0].points.iter().map(|point| point.tag).collect();
    assert_eq!(tags, LENGTHS.map(|length| length as u64));
    assert_eq!(drawn.latency.x.title, "sequence");
    assert!(desk.app().curves.shows_curves());
    // A point of the curve is the case at that length and batch.
    let id = series[0].id;
    let point = desk
        .app()
        .curves
        .point_at(&desk.app().shared.sessions, id, 512);
    assert_eq!(point, Some(Point::of_batch(8).with("sequence", 512)));
    // And what did not fit is at its length.
    let failed = drawn.latency.failures();
    assert_eq!(failed.len(), 0, "batch 8 × 2,048 fits");
    curves(&mut desk, Curves::Fix("batch", Some(16)));
    let failed = desk.app().curves.drawn.latency.failures();
    assert_eq!(failed, [(11.0, 1)]);
    curves(&mut desk, Curves::Fix("batch", None));
    let names = desk.app().curves.drawn.legend.iter();
    let names: Vec<String> = names.map(|entry| entry.name.clone()).collect();
    assert_eq!(names.len(), 10);
    assert!(names[0].ends_with(", batch 1") && names[4].ends_with(", batch 16"));
}

#[test]
fn chips_and_choices_are_there_and_only_where_two_dimensions_vary() {
    let mut desk = desk(false);
    assert!(desk.sees("Over: sequence") && desk.sees("sequence: 128"));
    desk.click("Over: sequence");
    assert_eq!(desk.app().curves.drawn.axes.x, "sequence");
    desk.click(&format!("batch: {}", size_text(8)));
    let fixed = desk.app().curves.drawn.axes.others[0].size;
    assert_eq!(fixed, Some(8));
    let all = desk
        .app()
        .shared
        .sessions
        .iter()
        .map(|open| open.id)
        .collect::<Vec<_>>();
    for id in all {
        desk.act(Action::Sessions(Sessions::Close(id)));
    }
    desk.steps(2);
    assert!(!desk.sees("Over: sequence"));
}

#[test]
fn two_sweeps_are_compared_cell_by_cell() {
    let mut desk = desk(true);
    super::narrow::resize(&mut desk, (1_280.0, 1_400.0));
    compare(&mut desk);
    let map = desk.app().compare.sides.drawn.map.clone().expect("a map");
    assert_eq!(
        (map.x.name.as_str(), map.y.name.as_str()),
        ("batch", "sequence")
    );
    let cells = &map.panels[0].cells;
    assert_eq!(cells.len(), BATCHES.len() * LENGTHS.len());
    assert!(cells.iter().all(|cell| cell.call.is_some()));
    let name = field_name(&desk);
    assert!(name.starts_with("Heat map of Speed-up"), "{name}");
    assert!(name.ends_with(", slower"), "{name}");
    let pairs = desk.column("pairs", "speed_up");
    assert_eq!(pairs.len(), 25, "the table beside it");
}
