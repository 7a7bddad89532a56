//! Every command can be found, can be given with its keys, and with other keys that the user chose.

use std::path::PathBuf;

use eframe::egui::accesskit::Role;
use eframe::egui::{Event, Key, Modifiers};
use egui_kittest::kittest::NodeT as _;
use powerband_app::action::{Action, Curves, Library, Shell};
use powerband_app::command::{self, Command};
use powerband_app::machine::Installing;
use powerband_app::notices::NoticeLevel;
use powerband_app::plan::{PlanEdit, PlanField};
use powerband_app::roofs::MeasuringRoofs;
use powerband_app::screen::{Door, Screen};
use powerband_app::shell::layout::{ROOM_BELOW, ROOM_FOR_TWO};
use powerband_app::shell::settings::Theme;
use powerband_core::base::cancel::CancelToken;
use powerband_core::base::clock;
use powerband_core::domain::session::Session;
use powerband_store::trash::{Discarded, discard};

use super::data::{SessionSpec, speed};
use super::pictures::{PictureState, desk, small_session};
use super::typing::at_keyboard;
use super::{Desk, alone, place, shelve, write};
use crate::support::Home;

fn by_id(id: &str) -> &'static Command {
    let found = command::ALL.iter().find(|command| command.id == id);
    found.expect("a command")
}

/// Brings the window into a state in which the command can be given.
fn prepare(desk: &mut Desk, discarded: &Discarded, id: &str) {
    // What goes to the trash is another one than what the commands after it are about.
    let name = if id == "discard" { "goes" } else { "stays" };
    let selected = desk.path(&format!("home/sessions/{name}.ron"));
    let ctx = desk.harness.ctx.clone();
    ctx.memory_mut(|memory| memory.stop_text_input());
    let app = desk.app_mut();
    app.shared.window.palette_open = false;
    app.shared.window.closing = false;
    app.shared.window.log_open = false;
    app.shared.screen = Screen::Curves;
    if id.starts_with("timeline-") {
        super::timeline::with_all_to_do(app);
    }
    if id == "kernels-timeline" {
        let session = app.shared.sessions.iter().next().expect("a session").id;
        super::timeline::with_one_of_a_profile(app, session);
    }
    app.shared.remembered.zoom_steps = 0;
    app.library.selected = Some(selected);
    app.library.discarded = vec![(discarded.clone(), "a session".to_owned())];
    app.shared
        .notices
        .add(NoticeLevel::Trouble, "a word", None, clock::monotonic_ns());
    app.shared.machine.installing = None;
    if id == "stop-install" {
        app.shared.machine.installing = Some(Installing {
            step: "Fetching".to_owned(),
            share: None,
            cancel: CancelToken::default(),
        });
    }
    app.settings.roofs.measuring = (id == "stop-roofs").then(|| MeasuringRoofs {
        what: "memory copy".to_owned(),
        share: 0.5,
        cancel: CancelToken::default(),
    });
    app.bench.run = None;
    if ["pause", "skip", "stop", "queue"].contains(&id) {
        app.bench.run = Some(live());
    }
    if ["earlier", "later"].contains(&id) {
        for action in [
            Action::Go(Screen::Home),
            Action::Go(Screen::Curves),
            Action::Shell(Shell::Earlier),
        ] {
            app.act(action);
        }
        if id == "earlier" {
            app.act(Action::Shell(Shell::Later));
        }
    }
    let right = ["swap-screens", "one-screen", "swap-below", "close-below"].contains(&id);
    app.shared.remembered.right_screen = right.then_some(Screen::Compare);
    app.shared.remembered.below_screen = right.then_some(Screen::Kernels);
    if ["undo", "redo"].contains(&id) {
        app.shared.screen = Screen::Plan;
    }
    app.bench
        .planner
        .edit(PlanEdit::Text(PlanField::Name, "one".to_owned()));
    app.bench.planner.edit(PlanEdit::Add("fake".to_owned()));
    if id == "redo" {
        app.bench.planner.edit(PlanEdit::Undo);
    }
    if id == "detach" {
        app.bench.planner.draft = super::behaviour::draft("fake,where=slurm", "1", 2);
    }
    if desk.app().curves.pin.is_none() {
        desk.act(Action::Curves(Curves::PinStep(1)));
    }
    desk.steps(2);
    // Until the next frame takes in how wide the window is.
    desk.app_mut().fit_panes(if right {
        [ROOM_FOR_TWO, ROOM_BELOW]
    } else {
        [0.0, 0.0]
    });
    if id == "why-none" {
        desk.app_mut().profile.why.selected = Some(0);
    }
}

pub(super) fn live() -> powerband_app::run::LiveRun {
    SessionSpec {
        name: "live",
        created: "2026-10-04T09:00:00Z",
        model: "resnet50",
        speeds: &[speed("tract:cpu", "", 900.0, 9_800.0)],
        batches: &[1, 2, 4],
        rounds: 3,
        samples: 10,
    }
    .live()
}

/// A desk with sessions open and one in the trash.
fn desk_with_everything(home: Home) -> (Desk, Discarded) {
    let small = small_session(&home, "Elsewhere");
    let session = powerband_store::session_file::read(&small)
        .expect("a session")
        .session;
    shelve(&home, "stays", &session);
    shelve(&home, "goes", &session);
    let doomed = shelve(&home, "doomed", &session);
    let discarded = discard(&place(&home).paths, &doomed).expect("the trash takes it");
    let open: Vec<PathBuf> = ["one", "two"].map(|name| small_session(&home, name)).into();
    let mut second = Session {
        name: "two".to_owned(),
        ..session
    };
    super::accuracy::judge(&mut second);
    write(&open[1], &second);
    let mut desk = Desk::awake(home, open);
    desk.until("sessions are open", |app| app.shared.sessions.len() == 2);
    (desk, discarded)
}

#[test]
fn every_command_can_be_given_by_its_keys() {
    let home = Home::new();
    if !alone(
        &home,
        "ui::commands::every_command_can_be_given_by_its_keys",
    ) {
        return;
    }
    let (mut desk, discarded) = desk_with_everything(home);
    for command in command::ALL.iter() {
        reopen(&mut desk);
        prepare(&mut desk, &discarded, command.id);
        if command.id.starts_with("network-") {
            super::network::fill_in(desk.app_mut());
        }
        if command.id == "more-rounds" {
            // It has a verdict that is open in `what_is_open_is_settled_by_more_rounds`, none here.
            let refused = (command.act)(desk.app());
            assert_eq!(refused, Err("more rounds would change no verdict"));
            continue;
        }
        if command.id == "measure-again" {
            // Both are copies of one run; `two_sessions_are_measured_again_in_turns` has two.
            let refused = (command.act)(desk.app());
            let reason = "no two sessions are compared that can be measured here";
            assert_eq!(refused, Err(reason));
            continue;
        }
        if command.id == "measure-history-again" {
            // `a_case_is_followed_through_the_library` has two.
            let refused = (command.act)(desk.app());
            let reason = "History shows no two sessions that can be measured here";
            assert_eq!(refused, Err(reason));
            continue;
        }
        if command.id == "start-next" {
            // `a_run_that_is_stopped_leaves_the_queue_to_the_user` has one.
            assert_eq!((command.act)(desk.app()), Err("no plan waits"));
            continue;
        }
        let wanted = (command.act)(desk.app());
        let wanted = wanted.unwrap_or_else(|reason| panic!("{}: {reason}", command.id));
        if command.keys.is_empty() {
            continue;
        }
        desk.actions();
        desk.press(command.keys);
        let given = desk.actions();
        assert!(
            given.contains(&wanted),
            "{} by {}: wanted {wanted:?}, got {given:?}",
            command.id,
            command.keys
        );
        if desk.harness.state().is_path_field_up() {
            desk.press("Escape");
            assert!(!desk.harness.state().is_path_field_up());
        }
    }
}

/// Opens again what a command closed.
fn reopen(desk: &mut Desk) {
    for name in ["one", "two"] {
        let path = desk.path(&format!("{name}.ron"));
        if desk.app().shared.sessions.by_path(&path).is_none() {
            let open = powerband_app::action::Sessions::Open(vec![path.clone()]);
            desk.act(Action::Sessions(open));
            desk.until("it is open", |app| {
                app.shared.sessions.by_path(&path).is_some()
            });
        }
    }
}

#[test]
fn the_palette_has_every_command() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.press("Ctrl+K");
    let root = desk.harness.root();
    let offered: Vec<String> = egui_kittest::kittest::NodeT::children_recursive(&root)
        .map(|node| node.accesskit_node())
        .filter(|node| node.role() == Role::MenuItem)
        .filter_map(|node| node.label())
        .collect();
    for command in command::ALL.iter() {
        assert!(
            offered.iter().any(|title| title == command.title),
            "{}",
            command.title
        );
    }
    desk.type_text("go lib");
    desk.press("Enter");
    assert_eq!(desk.app().shared.screen, Screen::Library);
    assert!(!desk.app().shared.window.palette_open);
    desk.press("Ctrl+K");
    desk.type_text("stop run");
    desk.press("Enter");
    assert!(
        desk.app().shared.window.palette_open,
        "what cannot be done is not taken"
    );
    desk.press("Escape");
    assert!(
        desk.app().shared.window.palette_open,
        "first what is looked for goes"
    );
    assert_eq!(desk.value("Find a command or a session"), "");
    desk.press("Escape");
    assert!(!desk.app().shared.window.palette_open);
    assert_eq!(
        desk.app().shared.screen,
        Screen::Library,
        "one step at a time"
    );
}

#[test]
fn shortcuts_are_redefined_and_clashes_end() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.press("Ctrl+Comma");
    desk.click("Keys of Go to Home");
    desk.press("Ctrl+Alt+9");
    assert_eq!(desk.app().shared.keys_of("go-home"), "Ctrl+Alt+9");
    for old in ["1", "Ctrl+1"] {
        desk.press(old);
        assert_eq!(
            desk.app().shared.screen,
            Screen::Settings,
            "the old keys mean nothing"
        );
    }
    desk.press("Ctrl+Alt+9");
    assert_eq!(desk.app().shared.screen, Screen::Home);

    desk.press("Ctrl+Comma");
    desk.click("Keys of Bench: the plan");
    desk.press("Ctrl+Alt+9");
    assert_eq!(desk.app().shared.keys_of("go-plan"), "Ctrl+Alt+9");
    assert_eq!(
        desk.app().shared.keys_of("go-home"),
        "",
        "whoever had them loses them"
    );
    desk.press("Ctrl+Alt+9");
    assert_eq!(desk.app().shared.screen, Screen::Plan);

    desk.press("Ctrl+Comma");
    desk.click("Keys of Bench: the plan");
    desk.press("Backspace");
    assert_eq!(desk.app().shared.keys_of("go-plan"), "");
    desk.click("Keys of Bench: the plan");
    desk.press("Escape");
    assert_eq!(
        desk.app().shared.screen,
        Screen::Settings,
        "Escape changes nothing"
    );
    desk.click("Reset all");
    assert_eq!(desk.app().shared.keys_of("go-plan"), by_id("go-plan").keys);
    assert_eq!(desk.app().shared.keys_of("go-home"), by_id("go-home").keys);
}

#[test]
fn a_key_that_is_held_waits_for_another() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.press("Ctrl+Comma");
    desk.click("Keys of Go to Home");
    for key in [Key::ControlLeft, Key::ShiftRight] {
        desk.harness.event(Event::Key {
            key,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers: Modifiers::NONE,
        });
        desk.steps(2);
        assert!(desk.app().shared.remembered.shortcuts.is_empty(), "{key:?}");
    }
    // Arrows are called as in the shortcuts that are delivered, or nobody would lose them.
    assert_eq!(desk.app().shared.keys_of("pin-previous"), "Ctrl+←");
    desk.press("Ctrl+ArrowLeft");
    assert_eq!(desk.app().shared.keys_of("go-home"), "Ctrl+←");
    assert_eq!(desk.app().shared.keys_of("pin-previous"), "");
    desk.press("Ctrl+ArrowLeft");
    assert_eq!(desk.app().shared.screen, Screen::Home);
}

#[test]
fn the_palette_finds_words_in_any_order() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.press("Ctrl+K");
    desk.type_text("light theme");
    desk.press("Enter");
    assert_eq!(desk.app().shared.remembered.theme, Theme::Light);
    desk.press("Ctrl+K");
    desk.type_text("recover");
    desk.steps(2);
    let root = desk.harness.root();
    let offered: Vec<String> = root
        .children_recursive()
        .map(|node| node.accesskit_node())
        .filter(|node| node.role() == Role::MenuItem)
        .filter_map(|node| node.label())
        .collect();
    assert_eq!(offered, ["Recover interrupted runs"]);
}

#[test]
fn nobody_waits_for_keys_on_another_screen() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.press("Ctrl+Comma");
    desk.click("Keys of Go to Home");
    desk.click("Library");
    desk.press("Ctrl+2");
    assert_eq!(
        desk.app().shared.screen,
        Screen::Plan,
        "shortcuts are not dead"
    );
    desk.press("Ctrl+Comma");
    assert!(desk.app().shared.remembered.shortcuts.is_empty());
}

#[test]
fn escape_leads_out_of_everything() {
    let home = Home::new();
    let file = small_session(&home, "one");
    let mut desk = Desk::awake(home, vec![file]);
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.press("Ctrl+4");
    desk.press("Ctrl+ArrowRight");
    assert!(desk.app().curves.pin.is_some());
    desk.app_mut()
        .shared
        .notices
        .add(NoticeLevel::Trouble, "a word", None, 0);
    desk.press("Ctrl+L");
    desk.press("Ctrl+K");
    desk.press("Escape");
    assert!(!desk.app().shared.window.palette_open && desk.app().shared.window.log_open);
    desk.press("Escape");
    assert!(!desk.app().shared.window.log_open && desk.app().shared.notices.newest_up().is_some());
    desk.press("Escape");
    assert!(desk.app().shared.notices.newest_up().is_none() && desk.app().curves.pin.is_some());
    desk.press("Escape");
    assert!(desk.app().curves.pin.is_none());
    assert_eq!(desk.app().shared.screen, Screen::Curves);
    desk.press("Escape");
    assert_eq!(
        desk.app().shared.screen,
        Screen::Curves,
        "Escape never leaves a screen"
    );
    desk.press("Ctrl+F");
    desk.type_text("abc");
    assert_eq!(desk.app().library.search, "abc");
    desk.press("Escape");
    assert_eq!(
        desk.app().library.search,
        "",
        "first what is looked for goes"
    );
    assert_eq!(at_keyboard(&desk).as_deref(), Some("Find a session"));
    desk.press("Escape");
    assert_eq!(at_keyboard(&desk), None);
}

#[test]
fn letters_in_a_field_are_letters() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.press("Ctrl+2");
    desk.press("Ctrl+N");
    let before = desk.app().bench.planner.draft.setups.len();
    desk.fill("Name", "ab");
    desk.press("Ctrl+Z");
    assert_eq!(
        desk.app().bench.planner.draft.setups.len(),
        before,
        "undo in a field is the field's"
    );
    desk.press("Escape");
    desk.act(Action::Library(Library::Search(String::new())));
    desk.press("Ctrl+Z");
    desk.press("Ctrl+Z");
    assert_eq!(desk.app().bench.planner.draft.setups.len(), before - 1);
}

#[test]
fn digits_lead_to_the_doors_and_each_to_what_was_shown_there() {
    let mut desk = desk(PictureState::Small, 1.0);
    let doors = Door::ALL.into_iter().enumerate();
    for (place, door) in doors.clone() {
        desk.press(&(place + 1).to_string());
        assert_eq!(desk.app().shared.screen, door.screens()[0]);
        assert!(desk.sees(door.title()));
    }
    desk.press("Ctrl+6");
    assert_eq!(desk.app().shared.screen, Screen::History);
    desk.press("1");
    desk.press("4");
    assert_eq!(desk.app().shared.screen, Screen::History);
    desk.click("Compare: Steps");
    assert_eq!(desk.app().shared.screen, Screen::Journey);
    // In a field digits are digits.
    desk.press("Ctrl+F");
    desk.type_text("4");
    assert_eq!(desk.app().library.search, "4");
    assert_eq!(desk.app().shared.screen, Screen::Journey);
}

#[test]
fn the_guide_opens_at_the_page_of_each_screen() {
    let mut desk = desk(PictureState::Small, 1.0);
    for (screen, title) in [
        (Screen::Home, "Home"),
        (Screen::Compare, "Compare: two sides"),
        (Screen::Kernels, "Profile: kernels"),
        (Screen::Settings, "Settings and shortcuts"),
    ] {
        desk.act(Action::Go(screen));
        desk.press("F1");
        desk.see(title);
        desk.see("Close the guide");
        desk.press("Escape");
        assert!(!desk.sees("Close the guide"));
        assert_eq!(
            desk.app().shared.screen,
            screen,
            "Escape closes the guide alone"
        );
    }
    desk.press("Shift+Questionmark");
    desk.click("Close the guide");
    assert!(!desk.app().shared.window.guide_open);
}

#[test]
fn tabs_stand_where_they_stood_whichever_screen_is_shown() {
    let mut desk = desk(PictureState::Full, 1.0);
    for door in [Door::Bench, Door::Compare, Door::Profile] {
        let names: Vec<String> = door
            .screens()
            .iter()
            .map(|screen| format!("{}: {}", door.title(), screen.title()))
            .collect();
        let mut places = Vec::new();
        for screen in door.screens() {
            desk.act(Action::Go(*screen));
            desk.steps(3);
            let rects = names.iter().map(|name| desk.get(name).rect());
            places.push(rects.collect::<Vec<_>>());
        }
        assert!(places.iter().all(|one| *one == places[0]), "{places:?}");
    }
}
