//! Reports written from the window.

use std::fs;

use powerband_app::action::Action;
use powerband_app::screen::Screen;

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
