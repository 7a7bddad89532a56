//! The screen of machines: the medians of a setup on several, the odd one out, and what differs.

use eframe::egui::{Modifiers, Vec2};
use powerband_app::App;
use powerband_app::action::{Action, Compare, Fleet, RunAction, Sessions, Shell};
use powerband_app::compare::SideChoice;
use powerband_app::plan::DraftSetup;
use powerband_app::screen::Screen;
use powerband_app::shell::settings::Theme;
use powerband_core::domain::machine::RemoteMachine;
use powerband_core::domain::session::Session;

use super::behaviour::{draft, is_saved};
use super::data::{self, SessionSpec, Speed, speed};
use super::pictures::{Album, THEMES};
use super::{Desk, PATIENCE, SIZE, shelve, write};
use crate::support::Home;

/// Four machines, two setups on each; the last one has another governor and takes longer.
const SPEEDS: [Speed; 8] = [
    speed("ort:cpu,where=rack-1", "", 900.0, 9_800.0),
    speed("ort:cpu,where=rack-2", "", 905.0, 9_850.0),
    speed("ort:cpu,where=rack-3", "", 895.0, 9_790.0),
    speed("ort:cpu,where=rack-4", "", 1_300.0, 13_400.0),
    speed("tract:cpu,where=rack-1", "", 1_900.0, 15_800.0),
    speed("tract:cpu,where=rack-2", "", 1_905.0, 15_850.0),
    speed("tract:cpu,where=rack-3", "", 1_895.0, 15_790.0),
    speed("tract:cpu,where=rack-4", "", 2_700.0, 21_400.0),
];

/// One setup on eight machines; the sixth has another governor and takes longer.
const EIGHT: [Speed; 8] = [
    speed("ort:cpu,where=rack-1", "", 900.0, 9_800.0),
    speed("ort:cpu,where=rack-2", "", 905.0, 9_850.0),
    speed("ort:cpu,where=rack-3", "", 895.0, 9_790.0),
    speed("ort:cpu,where=rack-4", "", 902.0, 9_830.0),
    speed("ort:cpu,where=rack-5", "", 908.0, 9_870.0),
    speed("ort:cpu,where=rack-6", "", 1_300.0, 13_400.0),
    speed("ort:cpu,where=rack-7", "", 899.0, 9_810.0),
    speed("ort:cpu,where=rack-8", "", 903.0, 9_840.0),
];

/// One session of four machines.
pub(super) fn session() -> Session {
    session_on("resnet50 on four racks", &SPEEDS, 4, 3)
}

/// A session of so many machines, of which one is odd.
fn session_on(
    name: &'static str,
    speeds: &'static [Speed],
    machines: usize,
    odd: usize,
) -> Session {
    let mut session = SessionSpec {
        name,
        created: "2026-10-04T09:00:00Z",
        model: "resnet50",
        speeds,
        batches: &[1, 8],
        rounds: 5,
        samples: 40,
    }
    .session();
    session.telemetry = Default::default();
    session.machines = (0..machines)
        .map(|place| {
            let mut machine = RemoteMachine {
                name: format!("rack-{}", place + 1),
                host: format!("node{}", place + 1),
                user: "me".to_owned(),
                setups: (place..speeds.len()).step_by(machines).collect(),
                environment: data::environment(),
                ..RemoteMachine::default()
            };
            let governor = if place == odd {
                "powersave"
            } else {
                "performance"
            };
            machine.environment.cpu.governor = Some(governor.to_owned());
            machine
        })
        .collect();
    let warning = format!(
        "rack-{}: its devices are not read: the connection was lost. The run goes on without their readings.",
        odd + 1
    );
    session.warnings = vec![warning];
    session
}

/// Whether the machines that are wanted are compared.
pub(super) fn is_compared(app: &App) -> bool {
    app.compare.fleet.found.result.is_some() && app.compare.fleet.found.busy().is_none()
}

fn desk() -> Desk {
    desk_with(&session())
}

fn desk_with(session: &Session) -> Desk {
    let home = Home::new();
    let path = home.path("racks.ron");
    write(&path, session);
    let mut desk = Desk::awake(home, vec![path]);
    desk.act(Action::Go(Screen::Fleet));
    desk.until("machines are compared", is_compared);
    desk.steps(3);
    desk
}

#[test]
fn the_odd_machine_is_named_with_what_differs() {
    let mut desk = desk();
    let case = desk.app().compare.fleet.shown().expect("a case").clone();
    assert_eq!((case.setup.as_str(), case.machines.len()), ("ort:cpu", 4));
    desk.see("is the odd one out");
    assert_eq!(
        desk.column("fleet", "machine"),
        ["rack-1", "rack-2", "rack-3", "rack-4"]
    );
    assert_eq!(desk.column("fleet", "odd"), ["–", "–", "–", "odd one out"]);
    desk.see("Governor: powersave (others: performance)");
    assert_eq!(
        desk.column("machines", "governor").last().unwrap(),
        "powersave"
    );
    assert_eq!(
        desk.column("machines", "warnings").last().unwrap(),
        "1 warning"
    );
    // Six pairs of machines have the first one in three; each part stands once.
    assert!(!desk.column("fleet-effects", "change").is_empty());

    let other = powerband_app::fleet::CaseChoice {
        setup: "tract:cpu".to_owned(),
        ..powerband_app::fleet::CaseChoice::from_case(&case)
    };
    desk.act(Action::Fleet(Fleet::Show(other.clone())));
    desk.steps(2);
    let shown = desk.app().compare.fleet.shown().expect("a case");
    assert_eq!(powerband_app::fleet::CaseChoice::from_case(shown), other);

    // Rows are there once they are on the screen.
    desk.reach("Filter Setup and machine");
    desk.reach("Case on rack-4");
    desk.click("Case on rack-4");
    let pin = desk.app().curves.pin.expect("a pinned case");
    assert_eq!(pin.case.setup, 7);
}

#[test]
fn sessions_count_as_machines_where_that_is_said() {
    let home = Home::new();
    let times = [("north", 9_800.0), ("south", 9_900.0), ("west", 9_850.0)];
    for (place, (name, time)) in times.into_iter().enumerate() {
        let session = SessionSpec {
            name,
            created: &format!("2026-09-18T18:22:0{place}Z"),
            model: "resnet50",
            speeds: &[speed("ort:cpu", "", 900.0, time)],
            batches: &[1],
            rounds: 4,
            samples: 20,
        }
        .session();
        shelve(&home, name, &session);
    }
    let mut desk = Desk::awake(home, Vec::new());
    desk.act(Action::Go(Screen::Fleet));
    desk.steps(2);
    desk.see("No case of several machines");

    desk.press("Ctrl+9");
    desk.steps(2);
    for (place, name) in ["north", "south", "west"].into_iter().enumerate() {
        let row = format!("Session {name}");
        desk.reach(&row);
        let held = if place == 0 {
            Modifiers::NONE
        } else {
            Modifiers::COMMAND.plus(Modifiers::CTRL)
        };
        desk.get(&row).click_modifiers(held);
        desk.steps(3);
    }
    desk.click("Machines of these");
    desk.until("machines are compared", |app| {
        app.shared.screen == Screen::Fleet && is_compared(app)
    });
    desk.steps(3);
    assert_eq!(desk.column("fleet", "machine").len(), 3);
    desk.see("Of 3 selected sessions");

    // All have the same hardware.
    desk.click("Each session is a machine");
    desk.until("they are one machine", |app| {
        is_compared(app) && app.compare.fleet.shown().is_none()
    });
    desk.steps(2);
    desk.see("No case of several machines");
    desk.click("All open sessions");
    assert!(desk.app().compare.fleet.only.is_none());

    // A choice ends with its sessions.
    let open = desk.app().shared.sessions.iter();
    let files: Vec<_> = open.filter_map(|open| open.path.clone()).collect();
    desk.act(Action::Fleet(Fleet::Only(Some(files))));
    assert!(desk.app().compare.fleet.only.is_some());
    desk.act(Action::Sessions(Sessions::CloseAll));
    assert!(desk.app().compare.fleet.only.is_none());
}

#[test]
fn a_run_in_progress_is_compared_as_it_goes() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    let program = env!("CARGO_BIN_EXE_powerband");
    let there = format!("fake,sleep=yes,via=\"env THERE=1\",remote_program={program}");
    let mut plan = draft("fake,sleep=yes", "1", 1000);
    plan.setups.push(DraftSetup {
        spec: there,
        ..DraftSetup::default()
    });
    desk.app_mut().bench.planner.draft = plan;
    desk.act(Action::Run(RunAction::Start));
    desk.act(Action::Run(RunAction::AllowPrograms(true)));
    desk.act(Action::Go(Screen::Fleet));
    desk.until("its machines are compared", |app| {
        let shown = app.compare.fleet.shown();
        app.bench.is_running() && shown.is_some_and(|case| case.median_ns.is_some())
    });
    desk.steps(2);
    desk.see("Of the run in progress");
    assert_eq!(desk.column("fleet", "machine").len(), 2);
    desk.act(Action::Run(RunAction::Stop));
    desk.step_until("it is saved", PATIENCE, is_saved);
    desk.until("the saved session is compared", |app| {
        !app.compare.fleet.is_of_run() && is_compared(app)
    });
}

#[test]
fn two_setups_on_two_machines_are_compared_by_part() {
    let mut desk = desk();
    let session = desk.app().shared.sessions.iter().next().expect("open").id;
    let pick = |setup: usize| SideChoice {
        session,
        setup,
        point: None,
        whole: false,
        profile: None,
    };
    desk.act(Action::Go(Screen::Compare));
    desk.act(Action::Compare(Compare::Before(pick(0))));
    desk.act(Action::Compare(Compare::After(pick(7))));
    desk.until("they are compared", |app| {
        let sides = app.compare.sides.found.result.as_ref();
        sides.is_some_and(|(before, after, _)| (before.setup, after.setup) == (0, 7))
    });
    desk.steps(3);
    desk.see("Setup and machine");
    assert_eq!(desk.column("parts", "with").len(), 10, "two batch sizes");
    desk.act(Action::Compare(Compare::After(pick(4))));
    desk.until("on one machine", |app| {
        app.shared.tables.view("parts").is_none()
    });
}

#[test]
fn a_closed_session_leaves_no_machines() {
    let mut desk = desk();
    let id = desk.app().shared.sessions.iter().next().expect("open").id;
    desk.act(Action::Sessions(Sessions::Close(id)));
    desk.until("nothing is compared", |app| {
        app.compare.fleet.found.result.is_none()
    });
    assert!(desk.app().shared.tables.view("fleet").is_none());
    desk.steps(2);
    desk.see("No case of several machines");
}

#[test]
fn the_screen_is_painted() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let mut desk = desk_with(&session_on("resnet50 on eight racks", &EIGHT, 8, 5));
    for (theme, word) in THEMES {
        desk.act(Action::Shell(Shell::Theme(theme)));
        desk.harness.set_size(Vec2::new(SIZE.0, SIZE.1));
        album.take(&mut desk, &format!("fleet-racks-{word}"));
        desk.harness.set_size(Vec2::new(SIZE.0, 1_900.0));
        album.take(&mut desk, &format!("fleet-racks-{word}-tall"));
        desk.harness.set_size(Vec2::new(720.0, 480.0));
        album.take(&mut desk, &format!("fleet-racks-{word}-narrow"));
    }
    desk.act(Action::Shell(Shell::Theme(Theme::Dark)));
    album.close();
}
