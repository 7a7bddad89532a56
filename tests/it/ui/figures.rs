//! Figures are copied and saved from the window: by their buttons, by keys, and on every screen that has some.

use eframe::egui::{OutputCommand, vec2};
use powerband_app::action::{Action, FigureAction};
use powerband_app::screen::Screen;
use powerband_findings::chart::figure::Drawing;

use super::Desk;
use super::pictures::small_session;
use crate::support::Home;

fn desk() -> Desk {
    let home = Home::new();
    let path = small_session(&home, "one");
    let mut desk = Desk::awake(home, vec![path]);
    desk.until("the session is open", |app| app.shared.sessions.len() == 1);
    desk.act(Action::Go(Screen::Curves));
    desk.steps(3);
    desk
}

/// Brings the hand onto the chart below a title.
fn hover(desk: &mut Desk, title: &str) {
    desk.reach(title);
    let below = desk.get(title).rect().left_bottom() + vec2(120.0, 90.0);
    desk.harness.hover_at(below);
    desk.steps(3);
}

fn is_copied(desk: &Desk) -> bool {
    let commands = desk.harness.output().platform_output.commands.iter();
    commands
        .clone()
        .any(|command| matches!(command, OutputCommand::CopyImage(image) if image.width() > 1_000))
}

#[test]
fn the_picture_of_the_chart_under_the_hand_is_copied() {
    let mut desk = desk();
    assert!(!desk.sees("Copy the picture"), "only under the hand");
    hover(&mut desk, "Throughput");
    desk.actions();
    desk.click("Copy the picture");
    let copied = desk
        .actions()
        .into_iter()
        .find_map(|request| match request {
            Action::Figures(FigureAction::Copy(shown)) => Some(shown),
            _ => None,
        });
    let copied = copied.expect("a request to copy");
    assert_eq!(copied.drawing.title(), "Throughput");
    desk.step_until("it is on the clipboard", super::PATIENCE, is_copied);
    desk.hear("Copied the picture");
    // By keys it is that of the chart that was last under the hand.
    hover(&mut desk, "Latency");
    desk.actions();
    desk.press("Ctrl+I");
    desk.steps(2);
    let titles: Vec<String> = desk
        .actions()
        .into_iter()
        .filter_map(|request| match request {
            Action::Figures(FigureAction::Copy(shown)) => Some(shown.drawing.title().to_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(titles, ["Latency"]);
}

#[test]
fn a_chart_is_saved_with_what_is_shown() {
    let mut desk = desk();
    let path = desk.path("latency.csv");
    desk.press("Ctrl+Shift+I");
    desk.steps(2);
    assert!(desk.harness.state().is_path_field_up());
    desk.press("Ctrl+A");
    desk.type_text(&path.display().to_string());
    desk.press("Enter");
    desk.hear("Saved to");
    let table = std::fs::read_to_string(&path).expect("a table");
    let Drawing::Chart(spec) = Drawing::Chart(Box::new(desk.app().curves.drawn.latency.clone()))
    else {
        panic!("no chart");
    };
    let points: usize = spec.series.iter().map(|series| series.points.len()).sum();
    assert!(points > 0 && table.lines().count() > points, "{table}");
    assert!(table.starts_with("series,batch size,"));
    // A name that says nothing that can be written is told so.
    desk.press("Ctrl+Shift+I");
    desk.steps(2);
    desk.press("Ctrl+A");
    desk.type_text(&desk.path("a.docx").display().to_string());
    desk.press("Enter");
    desk.hear("The figure was not saved");
    desk.act(Action::Go(Screen::Settings));
    desk.steps(2);
    assert!(!desk.app().shared.window.has_figure);
}
