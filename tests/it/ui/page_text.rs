//! A page of results in a browser and the window show the same numbers.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use powerband_app::action::{Action, Shell};
use powerband_app::screen::Screen;
use powerband_window::ScreenText;

use super::instances::real;
use super::{Desk, SIZE, kernels};
use crate::reports::browser;
use crate::result_page::{WEBGL, document, page};
use crate::support::Home;
use crate::verdicts::measure;

/// Opens the editor of categories, which a page does not offer.
const OFFER: &str = "is in no category yet.";

/// Lines of a screen that have a number.
fn numbers(text: &str) -> BTreeSet<String> {
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.ends_with(OFFER));
    let lines = lines.filter(|line| line.contains(|letter: char| letter.is_ascii_digit()));
    lines.map(str::to_owned).collect()
}

/// What the window shows of the sessions in some files.
fn in_the_window(home: Home, files: &[&str], screen: Screen) -> BTreeSet<String> {
    let files: Vec<_> = files.iter().map(|file| home.path(file)).collect();
    let n_files = files.len();
    let mut desk = Desk::awake(home, files);
    let shown = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&shown);
    desk.harness.ctx.add_plugin(ScreenText::new(move |text| {
        text.clone_into(&mut kept.lock().unwrap_or_else(PoisonError::into_inner));
    }));
    desk.until("all are open", |app| app.shared.sessions.len() == n_files);
    // Beside the screen a page has nothing.
    desk.act(Action::Shell(Shell::ToggleLibrary));
    desk.act(Action::Go(screen));
    if screen == Screen::Kernels {
        kernels::found(&mut desk);
    }
    desk.steps(8);
    let text = shown.lock().unwrap_or_else(PoisonError::into_inner);
    numbers(&text)
}

/// What a page shows of them.
fn in_the_page(home: &Home, files: &[&str], screen: &str) -> Option<BTreeSet<String>> {
    let browser = browser()?;
    let (file, _) = page(home, files)?;
    let address = format!("{}#{screen}", file.display());
    let size = format!("--window-size={},{}", SIZE.0, SIZE.1);
    let look = [&size, WEBGL[0], WEBGL[1]];
    let document = document(home, &browser, Path::new(&address), &look);
    let (_, text) = document
        .split_once("id=\"powerband-screen\"")
        .expect("a text");
    let text = text.split_once('>').expect("its begin").1;
    let (text, _) = text.split_once("</pre>").expect("its end");
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    Some(numbers(&text.replace("&amp;", "&")))
}

#[test]
fn a_page_has_the_numbers_of_the_window() {
    for (files, screen, word) in [
        (&["a.ron", "b.ron"][..], Screen::Curves, "curves"),
        (&["a.ron", "b.ron"], Screen::Compare, "two-sides"),
        (&["profile.ron"], Screen::Kernels, "kernels"),
    ] {
        let home = Home::new();
        for (file, time) in [("a.ron", "300"), ("b.ron", "240")] {
            let setup = format!("fake,fixed={time}");
            let rest = ["--batch", "1,2", "--rounds", "2", "--name", file];
            measure(&home, file, &[&setup], &rest);
        }
        let trace = real("kineto/resnet18-contiguous.pt.trace.json.gz");
        let imported = home.run(&[
            "import",
            &trace.display().to_string(),
            "--out",
            "profile.ron",
        ]);
        assert_eq!(imported.status, Some(0), "{imported:#?}");
        let Some(in_page) = in_the_page(&home, files, word) else {
            return;
        };
        let in_window = in_the_window(home, files, screen);
        assert!(in_window.len() > 10, "{in_window:?}");
        let missing: Vec<_> = in_window.difference(&in_page).collect();
        let more: Vec<_> = in_page.difference(&in_window).collect();
        assert!(
            missing.is_empty() && more.is_empty(),
            "{word}: not in the page {missing:#?}, only there {more:#?}"
        );
    }
}
