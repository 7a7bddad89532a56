//! A profile of several ranks in the window: it opens on Kernels, whose tables say who the others wait for.

use eframe::egui::Vec2;
use powerband_app::action::{Action, Shell};
use powerband_app::screen::Screen;
use powerband_import::reading::read_progress::ReadProgress;
use powerband_import::reading::source::Limits;
use powerband_import::session::import_files;

use super::kernels::found;
use super::pictures::{Album, THEMES};
use super::{Desk, SIZE, write};
use crate::ranks::rank_file;
use crate::support::Home;

fn desk() -> Desk {
    let home = Home::new();
    let path = home.path("job.ron");
    let files = [0, 1, 2].map(rank_file);
    let read = import_files(
        &files,
        None,
        Limits::default(),
        &ReadProgress::default(),
        "test",
    );
    write(&path, &read.expect("a job").session);
    let mut desk = Desk::with(home, vec![path]);
    desk.until("the session is open", |app| app.shared.sessions.len() == 1);
    desk
}

#[test]
fn a_job_opens_on_its_kernels_and_names_the_rank_that_is_late() {
    let mut desk = desk();
    desk.until("it is shown", |app| app.shared.screen == Screen::Kernels);
    found(&mut desk);
    let rows = |id: &str| {
        let view = desk.app().shared.tables.view(id);
        view.map(|view| view.len())
    };
    assert_eq!((rows("ranks"), rows("collectives")), (Some(3), Some(3)));
    desk.see("others wait for rank 1");
}

#[test]
fn ranks_are_painted() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let mut desk = desk();
    desk.until("it is shown", |app| app.shared.screen == Screen::Kernels);
    found(&mut desk);
    desk.harness.set_size(Vec2::from((SIZE.0, 1_150.0)));
    desk.steps(3);
    assert!(!desk.sees("Between nodes nothing is computed"));
    for (theme, word) in THEMES {
        desk.act(Action::Shell(Shell::Theme(theme)));
        album.take(&mut desk, &format!("kernels-ranks-{word}"));
    }
    album.close();
}
