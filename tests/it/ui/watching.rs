//! What the devices do, in the window: simulated cards, read as the kernel's driver shows them.

use powerband::app::action::{Action, Run as RunAction, Sessions};
use powerband::app::screen::Screen;
use powerband::app::settings::Watching;
use powerband::domain::telemetry::Quantity;
use powerband::runner::prepare::Place;
use powerband::runner::watching::WatchRequest;
use powerband::telemetry::source::Places;

use super::behaviour::{draft, is_saved};
use super::{Desk, PATIENCE, place};
use crate::cards::Cards;
use crate::support::Home;

/// A window on a machine that has these cards and nothing else.
fn desk(cards: &Cards) -> Desk {
    let home = Home::new();
    let watch = WatchRequest {
        rate_hz: 10.0,
        places: Places {
            root: cards.root().to_path_buf(),
            ..Places::default()
        },
    };
    let place = Place {
        watch: Some(watch),
        ..place(&home)
    };
    let mut desk = Desk::at(home, place, Vec::new(), 1.0);
    desk.until("the devices are found", |app| app.machine.devices.is_some());
    desk
}

fn lanes(desk: &Desk) -> usize {
    let run = desk.app().run.as_ref();
    run.map_or(0, |run| run.lanes.lanes.len())
}

#[test]
fn a_card_is_watched_until_it_falls_off_the_bus() {
    let cards = Cards::new(1);
    let mut desk = desk(&cards);
    desk.see("AMD INSTINCT MI250 (simulated)");
    desk.app_mut().planner.draft = draft("fake:rocm:0,sleep=yes,fixed=2000", "1, 2", 1000);
    desk.act(Action::Run(RunAction::Start));
    desk.see("Reading the power of the idle machine first.");
    desk.see("215 W");
    desk.see("1.15 GiB");
    desk.step_until("the lanes are drawn", PATIENCE, |desk| lanes(desk) == 6);
    desk.see("Devices over time, 6 lanes");
    desk.until("a case is marked", |app| {
        let run = app.run.as_ref();
        run.is_some_and(|run| !run.lanes.stretches.is_empty())
    });
    cards.vanish();
    desk.see("it fell off the bus");
    desk.see("GPU 0: its files in");
    let cuts = desk.app().run.as_ref().map(|run| run.lanes.cuts.len());
    assert_eq!(cuts, Some(1), "where it was lost is drawn");
    desk.act(Action::Run(RunAction::Stop));
    desk.step_until("the run is saved", PATIENCE, is_saved);
    let open = desk.app().sessions.iter().last().expect("its session");
    let track = &open.session.telemetry.tracks[0];
    assert!(track.lost.is_some());
    let watts = track.values(Quantity::Power);
    assert!(!watts.is_empty() && watts.iter().flatten().all(|watts| *watts == 215.0));
}

#[test]
fn a_pinned_case_has_its_devices_below_its_samples() {
    let cards = Cards::new(1);
    let mut desk = desk(&cards);
    desk.app_mut().planner.draft = draft("fake:rocm:0,sleep=yes,fixed=2000", "1, 2, 4", 2);
    desk.act(Action::Run(RunAction::Start));
    desk.step_until("the run is saved", PATIENCE, is_saved);
    desk.act(Action::Go(Screen::Curves));
    desk.press("Ctrl+ArrowRight");
    desk.until("its charts are made", |app| app.curves.pinned.is_some());
    desk.see("What the devices did meanwhile, over the same time");
    let pinned = desk.app().curves.pinned.as_ref().expect("a pinned case");
    let titles: Vec<&str> = pinned
        .lanes
        .lanes
        .iter()
        .map(|lane| lane.title.as_str())
        .collect();
    assert_eq!(titles[..3], ["Busy", "Memory", "Power"]);
    assert_eq!(pinned.lanes.x.high, pinned.strip.x.high, "one axis of time");
    // The card had the same memory in use all the time, which is no line to foretell anything by.
    desk.see("Peak memory");
    desk.see("Not known:");
    assert!(desk.app().curves.drawn.headroom.is_empty());
    let id = desk.app().sessions.iter().last().expect("its session").id;
    desk.act(Action::Sessions(Sessions::Close(id)));
    assert!(desk.app().curves.pinned.is_none());
}

#[test]
fn watching_can_be_turned_off_and_plans_can_ask_for_energy() {
    let cards = Cards::new(1);
    let mut desk = desk(&cards);
    desk.act(Action::Go(Screen::Settings));
    desk.click("Readings of the devices: Off");
    assert_eq!(desk.app().remembered.watching, Watching::Off);
    desk.act(Action::Go(Screen::Plan));
    desk.app_mut().planner.draft = draft("fake", "1", 2);
    let least_ms = |desk: &Desk| desk.app().planned().map(|plan| plan.measure.min_time_ms);
    assert_eq!(least_ms(&desk), Some(5_000));
    desk.click("Energy: each case");
    assert_eq!(least_ms(&desk), Some(12_000));
    desk.click("Energy: if it fits");
    desk.act(Action::Run(RunAction::Start));
    desk.step_until("the run is saved", PATIENCE, is_saved);
    let open = desk.app().sessions.iter().last().expect("its session");
    assert!(open.session.telemetry.tracks.is_empty());
    desk.act(Action::Go(Screen::Run));
    desk.see("Nobody watches: telemetry is off.");
}
