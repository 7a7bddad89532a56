//! What the devices do, in the window: simulated cards, read as the kernel's driver shows them.

use std::path::{Path, PathBuf};

use eframe::egui::{Event, Pos2};
use powerband_app::action::{Action, Kernels, RunAction, Sessions};
use powerband_app::screen::Screen;
use powerband_app::shell::settings::ReadingRate;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point::Point;
use powerband_core::domain::telemetry::Quantity;
use powerband_core::domain::telemetry_paths::TelemetryPaths;
use powerband_findings::analysis::breakdown::BreakdownLevel;
use powerband_store::installation::Installation;
use powerband_store::installation::WatchRequest;
use powerband_store::session_file;

use super::behaviour::{draft, is_saved};
use super::{Desk, PATIENCE, devices, place};
use crate::cards::FakeAmdCards;
use crate::support::Home;

/// A window on a machine that has these cards and nothing else.
fn desk(cards: &FakeAmdCards) -> Desk {
    let home = Home::new();
    let watch = WatchRequest {
        rate_hz: 10.0,
        places: TelemetryPaths {
            root: cards.root().to_path_buf(),
            ..TelemetryPaths::default()
        },
        for_energy: false,
    };
    let place = Installation {
        watch: Some(watch),
        ..place(&home)
    };
    let mut desk = Desk::at_installation(home, place, Vec::new(), 1.0);
    desk.until("the devices are found", |app| {
        app.shared.machine.devices.is_some()
    });
    desk
}

fn lanes(desk: &Desk) -> usize {
    let run = desk.app().bench.run.as_ref();
    run.map_or(0, |run| run.lanes.lanes.len())
}

#[test]
fn a_card_is_watched_until_it_falls_off_the_bus() {
    let cards = FakeAmdCards::new(1);
    let mut desk = desk(&cards);
    desk.see("AMD INSTINCT MI250 (simulated)");
    desk.app_mut().bench.planner.draft = draft("fake:rocm:0,sleep=yes,fixed=2000", "1, 2", 1000);
    desk.act(Action::Run(RunAction::Start));
    desk.see("Reading the power of the idle machine first.");
    desk.see("215 W");
    desk.see("1.15 GiB");
    desk.step_until("the lanes are drawn", PATIENCE, |desk| lanes(desk) == 6);
    desk.see("Devices over time, 6 lanes");
    desk.until("a case is marked", |app| {
        let run = app.bench.run.as_ref();
        run.is_some_and(|run| !run.lanes.stretches.is_empty())
    });
    cards.vanish();
    desk.see("it fell off the bus");
    desk.see("GPU 0: its files in");
    let cuts = desk
        .app()
        .bench
        .run
        .as_ref()
        .map(|run| run.lanes.cuts.len());
    assert_eq!(cuts, Some(1), "where it was lost is drawn");
    desk.act(Action::Run(RunAction::Stop));
    desk.step_until("the run is saved", PATIENCE, is_saved);
    let open = desk
        .app()
        .shared
        .sessions
        .iter()
        .last()
        .expect("its session");
    let track = &open.session.telemetry.tracks[0];
    assert!(track.lost.is_some());
    let watts = track.values(Quantity::Power);
    assert!(!watts.is_empty() && watts.iter().flatten().all(|watts| *watts == 215.0));
}

#[test]
fn a_pinned_case_has_its_devices_below_its_samples() {
    let cards = FakeAmdCards::new(1);
    let mut desk = desk(&cards);
    desk.app_mut().bench.planner.draft = draft("fake:rocm:0,sleep=yes,fixed=2000", "1, 2, 4", 2);
    desk.act(Action::Run(RunAction::Start));
    desk.step_until("the run is saved", PATIENCE, is_saved);
    desk.act(Action::Go(Screen::Curves));
    desk.press("Ctrl+ArrowRight");
    desk.until("its charts are made", |app| app.curves.pinned.is_some());
    desk.see("Device telemetry over the same time");
    let pinned = desk.app().curves.pinned.as_ref().expect("a pinned case");
    let titles: Vec<&str> = pinned
        .lanes
        .lanes
        .iter()
        .map(|lane| lane.title.as_str())
        .collect();
    assert_eq!(titles[..3], ["Utilisation", "Memory", "Power"]);
    assert_eq!(pinned.lanes.x.high, pinned.strip.x.high, "one axis of time");
    // The card had the same memory in use all the time, which is no line to foretell anything by.
    desk.see("Peak memory");
    desk.see("Not available:");
    assert!(desk.app().curves.drawn.headroom.is_empty());
    let id = desk
        .app()
        .shared
        .sessions
        .iter()
        .last()
        .expect("its session")
        .id;
    desk.act(Action::Sessions(Sessions::Close(id)));
    assert!(desk.app().curves.pinned.is_none());
}

#[test]
fn watching_can_be_turned_off_and_plans_can_ask_for_energy() {
    let cards = FakeAmdCards::new(1);
    let mut desk = desk(&cards);
    desk.act(Action::Go(Screen::Settings));
    desk.click("Device readings: Off");
    assert_eq!(desk.app().shared.remembered.watching, ReadingRate::Off);
    desk.act(Action::Go(Screen::Plan));
    desk.app_mut().bench.planner.draft = draft("fake", "1", 2);
    let least_ms = |desk: &Desk| {
        desk.app()
            .bench
            .planned(&desk.app().shared)
            .map(|plan| plan.measure.min_time_ms)
    };
    assert_eq!(least_ms(&desk), Some(5_000));
    desk.click("Energy: every case");
    assert_eq!(least_ms(&desk), Some(12_000));
    desk.click("Energy: when possible");
    desk.act(Action::Run(RunAction::Start));
    desk.step_until("the run is saved", PATIENCE, is_saved);
    let open = desk
        .app()
        .shared
        .sessions
        .iter()
        .last()
        .expect("its session");
    assert!(open.session.telemetry.tracks.is_empty());
    desk.act(Action::Go(Screen::Run));
    desk.see("No device was read in this run.");
}

/// A session on disk with a profile of a card's case, taken while devices were watched.
fn watched_profile(home: &Home) -> PathBuf {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import");
    let trace = fixtures.join("rocprofv3/docs-kernel_trace.csv");
    let taken = home.run(&["import", &trace.display().to_string(), "--out", "kept.ron"]);
    assert_eq!(taken.status, Some(0), "{}", taken.err);
    let path = home.path("kept.ron");
    let mut session = session_file::read(&path).expect("a session").session;
    session.telemetry = devices::watched(&[], 20_000_000_000);
    session.plan.setups = vec!["fake:rocm:0".parse().expect("a setup")];
    session.profiles[0].case = Some(CaseKey {
        setup: 0,
        point: Point::of_batch(1),
    });
    session.profiles[0].began_ns = Some(10_000_000_000);
    session_file::write(&path, &session).expect("a session file");
    path
}

#[test]
fn what_the_devices_did_stands_beneath_the_timeline_of_a_profile() {
    let home = Home::new();
    let path = watched_profile(&home);
    let mut desk = Desk::awake(home, vec![path]);
    desk.until("a session", |app| !app.shared.sessions.is_empty());
    desk.act(Action::Go(Screen::Kernels));
    desk.until("a breakdown", |app| app.profile.kernels.looking.is_some());
    desk.act(Action::Kernels(Kernels::Timeline));
    desk.until("a timeline", |app| app.profile.timeline.current().is_some());
    desk.steps(2);
    let lanes = desk.app().profile.timeline.current().map(|(_, open, _)| {
        let names = open
            .lanes
            .iter()
            .map(|lane| (lane.device.as_str(), lane.title.as_str()));
        names
            .map(|(device, title)| format!("{device} {title}"))
            .collect::<Vec<_>>()
    });
    let lanes = lanes.expect("a timeline");
    assert_eq!(lanes[..2], ["GPU 0 Utilisation", "GPU 0 Power"]);
    assert!(
        lanes.iter().any(|lane| lane == "Host Utilisation"),
        "{lanes:?}"
    );
    let canvas = desk.nodes().into_iter().find_map(|node| {
        let is_it = super::name_of(&node).is_some_and(|name| name.starts_with("Timeline of"));
        is_it.then(|| node.bounding_box())?
    });
    let canvas = canvas.expect("a timeline");
    let at = Pos2::new(canvas.x1 as f32 - 90.0, canvas.y1 as f32 - 10.0);
    desk.harness.event(Event::PointerMoved(at));
    desk.see("Read at");
    desk.see("Range");
    // The longest pause is a click away, and is what is seen then.
    desk.act(Action::Go(Screen::Kernels));
    desk.see("longest gap");
    let gap = desk
        .app()
        .profile
        .kernels
        .found
        .result
        .as_ref()
        .expect("a breakdown");
    let gap = gap.breakdown(BreakdownLevel::Category).gaps[0].clone();
    let name = desk
        .names()
        .into_iter()
        .find(|name| name.starts_with("longest gap"));
    desk.click(&name.expect("a link"));
    assert_eq!(desk.app().shared.screen, Screen::Timeline);
    let (_, _, view) = desk.app().profile.timeline.current().expect("a timeline");
    let (from, to) = (gap.start_ns as f64, (gap.start_ns + gap.length_ns) as f64);
    assert!(
        view.stretch.contains(from) && view.stretch.contains(to),
        "{view:?}"
    );
    assert!(
        view.stretch.length() < 1.5 * gap.length_ns as f64,
        "{view:?}"
    );
}
