//! What holds of every screen: controls have names, and no two widgets share a number.

use eframe::egui::Vec2;
use eframe::egui::accessibility::is_input;
use eframe::egui::accesskit::{Action as Listens, Role};
use egui_kittest::kittest::AccessKitNode;
use powerband_app::action::{Action, Library, RunAction, Sessions, Shell};
use powerband_app::reports::{ReportSubject, ReportTarget};
use powerband_app::run::ProgramsQuestion;
use powerband_app::screen::Screen;
use powerband_app::sessions::SessionId;

use super::pictures::{PictureState, desk};
use super::{Desk, name_of};

/// Windows from the smallest to a wall.
pub(super) const SIZES: [(f32, f32); 4] = [
    (720.0, 480.0),
    (1024.0, 700.0),
    (1280.0, 800.0),
    (2560.0, 1440.0),
];

/// Complaints about what is on the screen.
pub(super) fn faults(desk: &Desk, at: &str) -> Vec<String> {
    let icon = |c: char| ('\u{e000}'..='\u{f8ff}').contains(&c);
    let controls = desk
        .nodes()
        .into_iter()
        .filter(|node| node.role() != Role::Label);
    let signs = controls
        .filter_map(|node| name_of(&node))
        .filter(|name| name.chars().any(icon))
        .map(|name| format!("{name:?} is named by its sign"));
    let unnamed = desk.harness.unnamed_widgets();
    let unnamed = unnamed
        .into_iter()
        .map(|widget| format!("without a name: {widget}"));
    let clashes = desk.clashes().into_iter();
    clashes
        .chain(unnamed)
        .chain(nameless(desk))
        .chain(signs)
        .map(|fault| format!("{at}: {fault}"))
        .collect()
}

/// What can be clicked or reached by keyboard and has no name, although it is nothing that egui asks a name
/// of: a place that listens, such as a row of a table.
fn nameless(desk: &Desk) -> Vec<String> {
    let listens = |node: &AccessKitNode<'_>| {
        let data = node.data();
        data.supports_action(Listens::Click) || data.supports_action(Listens::Focus)
    };
    let nodes = desk.nodes().into_iter().filter(|node| {
        // Bars that scroll are egui's own.
        let is_ours = node.role() != Role::ScrollBar && !is_plot(node);
        listens(node) && !is_input(node.role()) && name_of(node).is_none() && is_ours
    });
    nodes
        .map(|node| {
            let place = node.raw_bounds();
            format!("listens without a name: {:?} at {place:?}", node.role())
        })
        .collect()
}

/// Whether it is what a chart draws into: the chart around it has the name.
fn is_plot(node: &AccessKitNode<'_>) -> bool {
    let around = node.parent().and_then(|within| within.parent());
    around.is_some_and(|around| {
        let mut names = around.children().filter_map(|child| child.label());
        names.any(|name| name.contains(" chart, "))
    })
}

#[test]
fn every_control_has_a_name_and_a_number_of_its_own() {
    let mut found = Vec::new();
    for state in PictureState::ALL {
        let mut desk = desk(state, 1.0);
        for size in SIZES {
            desk.harness.set_size(Vec2::from(size));
            for screen in Screen::ALL {
                desk.act(Action::Go(screen));
                desk.steps(2);
                found.extend(faults(&desk, &format!("{screen:?}, {state:?}, {size:?}")));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Options of the command line in what is to be read, except in whole commands.
fn advised_options(desk: &Desk, at: &str) -> Vec<String> {
    let names = desk.nodes().into_iter().filter_map(|node| name_of(&node));
    let is_option = |word: &str| {
        let word = word.trim_start_matches(['(', '"', '`']);
        let name = word.strip_prefix("--");
        name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
    };
    let advises = |name: &String| {
        let is_command = name.starts_with("powerband ") || name.contains("sudo ");
        name.split_whitespace().any(is_option) && !is_command
    };
    let found = names.filter(advises);
    found.map(|name| format!("{at}: {name:?}")).collect()
}

#[test]
fn no_text_advises_an_option_of_the_command_line() {
    let mut found = Vec::new();
    for state in PictureState::ALL {
        let mut desk = desk(state, 1.0);
        desk.harness.set_size(Vec2::from((2560.0, 1440.0)));
        for screen in Screen::ALL {
            desk.act(Action::Go(screen));
            desk.steps(2);
            found.extend(advised_options(&desk, &format!("{screen:?}, {state:?}")));
        }
    }
    // A plan that is refused says why in words of the window.
    let mut desk = desk(PictureState::Full, 1.0);
    desk.app_mut().bench.planner.draft.shapes = "ids".to_owned();
    desk.act(Action::Go(Screen::Plan));
    desk.steps(2);
    let faults = desk.app().bench.planner.faults();
    let texts: Vec<&str> = faults.iter().map(|fault| fault.text.as_str()).collect();
    assert!(texts.iter().any(|text| text.contains("shape")), "{texts:?}");
    assert!(!texts.iter().any(|text| text.contains("--")), "{texts:?}");
    found.extend(advised_options(&desk, "a plan that is refused"));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn what_lies_over_a_screen_is_named_too() {
    let mut found = Vec::new();
    let mut desk = desk(PictureState::Full, 1.0);
    let overlays = [
        Action::Shell(Shell::Palette(true)),
        Action::Shell(Shell::Log(true)),
        Action::Sessions(Sessions::Choose),
        Action::Sessions(Sessions::SaveAs(SessionId(1), None)),
        Action::Report(ReportSubject::of_session(SessionId(1)), ReportTarget::Ask),
        Action::Library(Library::FocusSearch),
    ];
    for overlay in overlays {
        let at = format!("{overlay:?}");
        desk.act(overlay);
        desk.steps(2);
        found.extend(faults(&desk, &at));
        desk.press("Escape");
    }
    desk.app_mut().shared.window.closing = true;
    desk.steps(2);
    found.extend(faults(&desk, "closing"));
    desk.press("Escape");
    desk.app_mut().bench.programs = Some(ProgramsQuestion {
        lines: (0..40)
            .map(|n| {
                format!(
                    "command: run=python bench.py --number {n} {}",
                    "x".repeat(200)
                )
            })
            .collect(),
        folder: "/home/someone/models".to_owned(),
        run: RunAction::Start,
    });
    desk.steps(2);
    found.extend(faults(&desk, "programs"));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn everything_can_be_larger_and_smaller() {
    let mut found = Vec::new();
    let mut desk = desk(PictureState::Full, 1.0);
    for by in [15, -30] {
        desk.act(Action::Shell(Shell::Zoom(by)));
        for screen in Screen::ALL {
            desk.act(Action::Go(screen));
            desk.steps(2);
            found.extend(faults(&desk, &format!("{screen:?} zoomed by {by}")));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
