//! Reports written from the window.

use std::fs;

use eframe::egui::Vec2;
use powerband_app::action::{Action, Sessions, Shell};
use powerband_app::library::examples;
use powerband_app::reports::ReportTarget;
use powerband_app::screen::Screen;
use powerband_app::shell::layout::Pane;

use super::Desk;
use crate::support::Home;
use crate::verdicts::measure;

#[test]
fn a_report_is_of_the_last_session_or_of_both_that_are_compared() {
    let home = Home::new();
    let setup = ["fake,fixed=300"];
    for (file, name) in [("a.ron", "Older"), ("b.ron", "Newer")] {
        let rest = ["--batch", "1", "--rounds", "2", "--name", name];
        measure(&home, file, &setup, &rest);
    }
    let files = vec![home.path("a.ron"), home.path("b.ron")];
    let mut desk = Desk::awake(home, files);
    desk.until("both are open", |app| app.shared.sessions.len() == 2);
    let to = desk.path("one.html");
    desk.press("Ctrl+Shift+E");
    assert!(desk.value("Path").ends_with("er.html"));
    desk.fill("Path", &to.display().to_string());
    desk.click("Save");
    desk.hear("The report is in");
    assert!(fs::read_to_string(&to).unwrap().contains("Key findings"));
    desk.act(Action::Go(Screen::Compare));
    desk.until("they are compared", |app| {
        app.compare.sides.found.result.is_some()
    });
    let to = desk.path("two.md");
    desk.click("Write a report…");
    desk.fill("Path", &to.display().to_string());
    desk.click("Save");
    desk.hear("its pictures in");
    let text = fs::read_to_string(&to).unwrap();
    assert!(text.contains("## Case by case"), "{text}");
    // What is there already is replaced when asked for twice, and not at the first key.
    fs::write(&to, "something else").unwrap();
    desk.click("Write a report…");
    desk.fill("Path", &to.display().to_string());
    desk.see("A file of this name exists. It would be replaced.");
    desk.press("Enter");
    assert_eq!(fs::read_to_string(&to).unwrap(), "something else");
    desk.press("Enter");
    desk.until("it is replaced", |_| {
        fs::read_to_string(&to).is_ok_and(|text| text.contains("## Case by case"))
    });
    let nowhere = desk.path("nowhere/x.html");
    desk.click("Write a report…");
    desk.fill("Path", &nowhere.display().to_string());
    desk.click("Save");
    desk.hear("The report was not written: cannot write");
}

#[test]
fn a_report_of_a_profile_begins_with_the_panes_that_are_shown() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.harness.set_size(Vec2::new(1_920.0, 1_080.0));
    let is_it = |one: &examples::Example| one.file == "resnet50-what-limits-it.ron";
    let place = examples::ALL.iter().position(is_it).expect("an example");
    desk.act(Action::Sessions(Sessions::OpenExample(place)));
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.act(Action::Go(Screen::Kernels));
    desk.act(Action::Shell(Shell::Pane(Pane::Right, Some(Screen::Why))));
    desk.until("both panes are there", |app| {
        let profile = &app.profile;
        profile.kernels.found.result.is_some() && profile.why.found.result.is_some()
    });
    desk.steps(3);
    let shown = desk.app().profile.why.found.result.as_ref();
    let sentence = shown.and_then(|found| found.headline()).expect("an answer");
    let to = desk.path("profile.md");
    desk.press("Ctrl+Shift+E");
    desk.fill("Path", &to.display().to_string());
    desk.click("Save");
    desk.hear("The report is in");
    let text = fs::read_to_string(&to).expect("a report");
    let place = |words: &str| {
        text.find(words)
            .unwrap_or_else(|| panic!("no {words}: {text}"))
    };
    let panes = [
        place("## Where the time goes"),
        place("## What limits it"),
        place(&sentence.sentence),
        place("Wall time in parts."),
        place("Roofline."),
        place("## Key findings"),
    ];
    assert!(panes.is_sorted(), "{panes:?}: {text}");
    // A preview is written into the cache.
    let subject = desk.app().reported_subject(Screen::Kernels);
    let subject = subject.expect("a profile of a session");
    desk.act(Action::Report(subject, ReportTarget::Preview));
    let folder = desk.app().shared.place.paths.cache.join("reports");
    desk.until("it is written", |_| {
        fs::read_dir(&folder).is_ok_and(|mut files| files.next().is_some())
    });
}
