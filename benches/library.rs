//! What a large library costs: 2,000 sessions are found, searched, sorted, and one case is followed through them.
//!
//! `cargo bench --bench library`, on a quiet machine; `-- 500` makes so many sessions in place of 2,000. *Own
//! work* is the time on the window's thread, during which it cannot paint; *ready* is the time until the result
//! is there, with the work of background threads. Figures are printed beside their promises; nothing is asserted.

mod made_up;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tempfile::TempDir;

use powerband::backend::LocalBackend;
use powerband_app::action::{Action, Library, Sessions};
use powerband_app::palette_entries::all_entries;
use powerband_app::screen::Screen;
use powerband_app::tables::action::TableChange;
use powerband_app::{App, Installation};
use powerband_core::base::environment_roots::EnvironmentRoots;
use powerband_core::base::paths::Paths;
use powerband_store::library;

const SESSIONS: usize = 2_000;
/// A session of the preset *standard*: rounds and samples of each case.
const ROUNDS: u32 = 5;
const SAMPLES: usize = 100;
const MOST_MS: f64 = 100.0;
const PATIENCE: Duration = Duration::from_mins(2);

fn main() -> Result<()> {
    let count = env::args().skip(1).find_map(|word| word.parse().ok());
    let count = count.unwrap_or(SESSIONS);
    let home = TempDir::new()?;
    let folder = home.path().join("home/sessions");
    made_up::library(&folder, count, ROUNDS, SAMPLES)?;
    let bytes = fs::metadata(folder.join("0000.ron"))?.len();
    say(&format!("{count} sessions of {} kB", bytes / 1000));
    say(&format!("{:<52}{:>10}{:>10}", "ms", "own work", "ready"));
    scans(&folder);
    in_the_application(home.path(), count)
}

#[expect(
    clippy::print_stdout,
    reason = "the figures are what this program is for"
)]
fn say(line: &str) {
    println!("{line}");
}

/// A line of the table. Nothing is promised of what only waits in the background.
fn line(what: &str, own: Option<f64>, ready: f64) {
    let verdict = match own {
        Some(own) if own < MOST_MS => format!("own work < {MOST_MS} ms: kept"),
        Some(_) => format!("own work < {MOST_MS} ms: MISSED"),
        None => String::new(),
    };
    let own = own.map_or_else(|| "–".to_owned(), |own| format!("{own:.2}"));
    say(&format!("{what:<52}{own:>10}{ready:>10.1}   {verdict}"));
}

fn ms(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1e3
}

/// The folder looked through, without an application.
fn scans(folder: &Path) {
    let begin = Instant::now();
    let found = library::scan(folder, &BTreeMap::new());
    line(
        "the folder is looked through, nothing is known",
        None,
        ms(begin),
    );
    let begin = Instant::now();
    let again = library::scan(folder, &found);
    line("the same, nothing has changed", None, ms(begin));
    drop(again);
}

struct Timed {
    app: App,
}

impl Timed {
    fn start(home: &Path) -> Self {
        let place = Installation {
            machines: Vec::new(),
            paths: Paths::under(&home.join("home")),
            onnxruntime: None,
            python: None,
            program: PathBuf::from(env!("CARGO_BIN_EXE_powerband")),
            watch: None,
            environment_roots: EnvironmentRoots::default(),
        };
        Self {
            app: App::new(place, Arc::new(LocalBackend::default()), Arc::new(|_| ())),
        }
    }

    /// Something is asked for; the time on this thread until the answer is there, at most at once and in all.
    fn until(
        &mut self,
        what: &str,
        ask: impl FnOnce(&mut App),
        is_there: impl Fn(&App) -> bool,
    ) -> Result<()> {
        let begin = Instant::now();
        ask(&mut self.app);
        let mut own = ms(begin);
        while !is_there(&self.app) {
            ensure!(begin.elapsed() < PATIENCE, "{what}: no answer");
            thread::sleep(Duration::from_micros(200));
            let piece = Instant::now();
            // As a frame does it, which takes in one report at the least.
            self.app.receive(Duration::ZERO);
            own = own.max(ms(piece));
        }
        line(what, Some(own), ms(begin));
        Ok(())
    }

    fn at_once(&mut self, what: &str, act: impl FnOnce(&mut App)) {
        let begin = Instant::now();
        act(&mut self.app);
        let own = ms(begin);
        line(what, Some(own), own);
    }
}

fn in_the_application(home: &Path, count: usize) -> Result<()> {
    let mut timed = Timed::start(home);
    let is_found = |app: &App| app.library.found.len() == count;
    timed.until(
        "the program starts, nothing is known",
        |app| app.wake_up(Vec::new()),
        is_found,
    )?;
    timed.app.act(Action::Go(Screen::Library));
    for words in ["n", "number 7", "#tag3 nightly resnet", "no such words", ""] {
        let what = format!("search for \u{201c}{words}\u{201d}");
        let search = Action::Library(Library::Search(words.to_owned()));
        timed.at_once(&what, |app| app.act(search));
    }
    for column in ["name", "measured", "tags", "model"] {
        let sort = Action::Table("sessions", TableChange::Sort(column.to_owned()));
        timed.at_once(&format!("sort by {column}"), |app| app.act(sort));
    }
    timed.at_once("select all rows", |app| {
        app.act(Action::Table("sessions", TableChange::SelectAll));
    });
    timed.at_once("the palette's entries", |app| drop(all_entries(app)));
    let newest = home.join(format!("home/sessions/{:04}.ron", count - 1));
    timed.until(
        "a session is opened",
        |app| app.act(Action::Sessions(Sessions::Open(vec![newest]))),
        |app| app.shared.sessions.len() == 1,
    )?;
    timed.until(
        "the history of a case through all of them",
        |app| app.act(Action::Go(Screen::History)),
        |app| {
            app.compare.history.found.result.is_some() && app.compare.history.found.busy().is_none()
        },
    )?;
    let points = timed.app.compare.history.found.result.as_ref();
    let points = points.map_or(0, |found| found.history.points.len());
    say(&format!("  ({points} points)"));
    timed.app.act(Action::Go(Screen::Library));
    timed.until(
        "the same again, after another screen",
        |app| app.act(Action::Go(Screen::History)),
        |app| app.compare.history.found.busy().is_none() && app.compare.history.is_fresh(),
    )?;
    timed.app.act(Action::Go(Screen::Curves));
    open_many(&mut timed, home, count)
}

/// As many sessions as fifty windows would have open, and what they take of memory.
fn open_many(timed: &mut Timed, home: &Path, count: usize) -> Result<()> {
    const OPEN: usize = 50;
    let file = |index: usize| home.join(format!("home/sessions/{index:04}.ron"));
    let others: Vec<PathBuf> = (0..OPEN - 1).map(|index| file(index % count)).collect();
    let before = memory_mb()?;
    timed.until(
        &format!("{OPEN} sessions are open"),
        |app| app.act(Action::Sessions(Sessions::Open(others))),
        |app| app.shared.sessions.len() == OPEN.min(count),
    )?;
    let grown = memory_mb()? - before;
    say(&format!("  ({grown:.1} MB of memory for them)"));
    timed.at_once("the palette's entries", |app| drop(all_entries(app)));
    timed.at_once("all are closed", |app| {
        app.act(Action::Sessions(Sessions::CloseAll));
    });
    Ok(())
}

/// Memory of this process.
fn memory_mb() -> Result<f64> {
    let pages = fs::read_to_string("/proc/self/statm")?;
    let pages: f64 = pages.split(' ').nth(1).unwrap_or_default().parse()?;
    Ok(pages * 4096.0 / 1e6)
}
