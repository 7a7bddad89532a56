//! The recipes of `docs/recipes.md` for the window, each done by hand. A recipe names the number of its
//! actions: a click, a key, or a line that is typed counts as one.

use std::path::PathBuf;

use eframe::egui::Modifiers;
use powerband_app::screen::Screen;
use powerband_app::shell::layout::Pane;
use powerband_core::domain::session::Session;

use super::data::{SessionSpec, speed};
use super::pictures::{Album, PictureState, desk};
use super::{Desk, data, shelve};
use crate::support::Home;

/// A hand that counts what it does.
struct Hand {
    desk: Desk,
    actions: usize,
}

impl Hand {
    fn new(desk: Desk) -> Self {
        Self { desk, actions: 0 }
    }

    /// The window after an action as a picture beside those of the screens, where pictures are wanted.
    fn picture(&mut self) {
        if std::env::var_os("POWERBAND_RENEW_PICTURES").is_none() {
            return;
        }
        let thread = std::thread::current();
        let test = thread.name().and_then(|name| name.rsplit("::").next());
        let name = format!("task-{}-{:02}", test.unwrap_or_default(), self.actions);
        if let Some(mut album) = Album::open() {
            album.paint(&mut self.desk, Some(&name));
        }
    }

    fn click(&mut self, name: &str) {
        self.actions += 1;
        self.desk.click(name);
        self.picture();
    }

    fn click_with(&mut self, name: &str, held: Modifiers) {
        self.actions += 1;
        self.desk.reach(name);
        self.desk.get(name).click_modifiers(held);
        self.desk.steps(3);
        self.picture();
    }

    /// The row of a category or a kernel.
    fn click_row(&mut self, name: &str) {
        self.click(&format!("Open {name}"));
    }

    fn right_click(&mut self, name: &str) {
        self.actions += 1;
        self.desk.right_click(name);
        self.picture();
    }

    fn press(&mut self, keys: &str) {
        self.actions += 1;
        self.desk.press(keys);
        self.desk.steps(2);
        self.picture();
    }

    /// A click into a field, and a line typed there.
    fn fill(&mut self, name: &str, text: &str) {
        self.actions += 2;
        self.desk.fill(name, text);
        self.picture();
    }

    /// The number of actions that the page names for a recipe.
    fn done(&self, recipe: &str) {
        let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/recipes.md");
        let page = std::fs::read_to_string(page).expect("the page");
        let word = if self.actions == 1 {
            "action"
        } else {
            "actions"
        };
        let head = format!("### {recipe} ({} {word})", self.actions);
        assert!(page.contains(&head), "docs/recipes.md lacks \"{head}\"");
    }
}

fn real(file: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("tests/fixtures/import").join(file)
}

#[test]
fn from_the_first_start_to_a_curve() {
    let mut hand = Hand::new(Desk::awake(Home::new(), Vec::new()));
    hand.click("Start");
    // Every engine is started, opened and warmed up before the first of them is measured, on any machine.
    let patience = 5 * super::PATIENCE;
    hand.desk.step_until("a point", patience, |desk| {
        let session = desk
            .app()
            .bench
            .run
            .as_ref()
            .and_then(|run| run.session.as_ref());
        session.is_some_and(|session| session.cases.iter().any(|case| !case.rounds.is_empty()))
    });
    hand.press("Ctrl+4");
    let drawn = &hand.desk.app().curves.drawn;
    assert!(drawn.latency.has_points(), "the first point is drawn");
    hand.done("From the first start to a curve");
    hand.desk.press("Ctrl+3");
    hand.desk.click("Stop");
    hand.desk.until("it is over", |app| {
        !app.bench.run.as_ref().expect("a run").stage.is_going_on()
    });
}

#[test]
fn three_precisions_are_planned() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.app_mut().shared.machine.engines = Some(data::engines(true));
    desk.press("Ctrl+1");
    let mut hand = Hand::new(desk);
    hand.press("Ctrl+2");
    hand.press("Ctrl+Alt+N");
    for precision in ["fp16", "int8"] {
        hand.click(&format!("Precision {precision}, add"));
    }
    hand.click("Add 2 setups");
    let setups = &hand.desk.app().bench.planner.draft.setups;
    for precision in ["precision=fp16", "precision=int8"] {
        let mut specs = setups.iter().map(|setup| &setup.spec);
        assert!(specs.any(|spec| spec.contains(precision)), "{setups:?}");
    }
    hand.done("Plan several precisions");
}

#[test]
fn the_slowest_kernel_of_a_trace_has_its_instances() {
    let mut hand = Hand::new(Desk::awake(Home::new(), Vec::new()));
    let trace = real("kineto/resnet50-v100-train.pt.trace.json.gz");
    hand.press("Ctrl+O");
    hand.type_path(&trace);
    hand.desk
        .until("a timeline", |app| !app.profile.timeline.traces.is_empty());
    hand.press("Ctrl+8");
    super::kernels::found(&mut hand.desk);
    let found = hand
        .desk
        .app()
        .profile
        .kernels
        .found
        .result
        .as_ref()
        .expect("a result");
    let level = hand.desk.app().profile.kernels.level;
    let slowest = found.breakdown(level).rows[0].short.clone();
    hand.click_row(&slowest);
    let found = hand
        .desk
        .app()
        .profile
        .kernels
        .found
        .result
        .as_ref()
        .expect("a result");
    let first = hand.desk.app().profile.kernels.drawn.rows[0];
    let kernel = found.breakdown(hand.desk.app().profile.kernels.level).rows[first]
        .short
        .clone();
    hand.click_row(&kernel);
    hand.desk.until("instances", |app| {
        app.profile.kernels.instances.looked.is_some()
    });
    hand.desk.see("Instance at ");
    let mut rows = hand.desk.names().into_iter();
    let longest = rows.find(|name| name.starts_with("Instance at "));
    hand.click(&longest.expect("instances, the longest first"));
    assert_eq!(hand.desk.app().shared.screen, Screen::Timeline);
    hand.done("From a trace to the slowest kernel");
}

#[test]
fn two_sessions_come_to_a_verdict_and_a_report() {
    let home = Home::new();
    for (place, name) in ["Before", "After"].into_iter().enumerate() {
        shelve(&home, &format!("s{place}"), &session(name, place));
    }
    let report = home.path("verdict.html");
    let mut hand = Hand::new(Desk::awake(home, Vec::new()));
    hand.click("Open Before");
    hand.click("Open After");
    hand.press("Ctrl+5");
    hand.desk.until("they are compared", |app| {
        app.compare.sides.found.result.is_some()
    });
    hand.press("Ctrl+Shift+E");
    hand.type_path(&report);
    hand.desk.hear("The report is in");
    let written = std::fs::read_to_string(&report).expect("the report");
    // It begins with what the screen says.
    let headline = &hand.desk.app().compare.sides.drawn.headline;
    let places = [
        headline.title.as_str(),
        headline.ratio.as_deref().expect("a ratio"),
        "What changed",
    ];
    let body = written
        .split_once("</nav>")
        .map_or(written.as_str(), |(_, body)| body);
    let places = places.map(|text| body.find(text));
    let [title, ratio, changes] = places;
    let summary = body.find("Summary");
    assert!(
        title.is_some() && title < ratio && ratio < changes,
        "{places:?}"
    );
    assert!(changes < summary, "{places:?} {summary:?}");
    hand.done("Two sessions, a verdict and a report");
}

#[test]
fn three_of_forty_sessions_are_compared() {
    let home = Home::new();
    for place in 0..40 {
        let name = format!("night {place:02}");
        shelve(&home, &format!("s{place}"), &session(&name, place));
    }
    let mut hand = Hand::new(Desk::awake(home, Vec::new()));
    hand.press("Ctrl+9");
    hand.click("Session night 39");
    hand.click_with("Session night 37", Modifiers::SHIFT);
    hand.click("Open all");
    hand.desk
        .until("three are open", |app| app.shared.sessions.len() == 3);
    hand.done("Three of forty sessions");
}

#[test]
fn the_samples_of_a_case_are_seen() {
    let mut hand = Hand::new(desk(PictureState::Full, 1.0));
    hand.press("Ctrl+4");
    hand.press("Ctrl+ArrowRight");
    hand.desk
        .until("its samples", |app| app.curves.pinned.is_some());
    hand.done("The samples of a case");
}

#[test]
fn two_setups_are_compared_from_the_legend() {
    let mut hand = Hand::new(desk(PictureState::Full, 1.0));
    hand.desk.press("Ctrl+4");
    let legend = hand.desk.app().curves.drawn.legend.clone();
    hand.right_click(&format!("Series {}", legend[0].name));
    hand.click("Set as before");
    hand.desk.press("Alt+ArrowLeft");
    hand.actions += 1;
    hand.right_click(&format!("Series {}", legend[1].name));
    hand.click("Set as after");
    let compare = &hand.desk.app().compare;
    let setup = |pick: Option<powerband_app::compare::SideChoice>| pick.map(|pick| pick.setup);
    assert_eq!(setup(compare.sides.before), Some(0));
    assert_eq!(setup(compare.sides.after), Some(1));
    hand.done("Compare two setups from the legend");
}

#[test]
fn a_case_is_followed_through_the_library() {
    let mut hand = Hand::new(desk(PictureState::Full, 1.0));
    hand.desk.press("Ctrl+4");
    let name = hand.desk.app().curves.drawn.legend[0].name.clone();
    hand.right_click(&format!("Series {name}"));
    hand.click("Follow it through the library");
    assert_eq!(hand.desk.app().shared.screen, Screen::History);
    hand.done("Follow a case through the library");
}

#[test]
fn curves_and_comparison_stand_side_by_side() {
    let mut hand = Hand::new(desk(PictureState::Full, 1.0));
    super::narrow::resize(&mut hand.desk, (1_920.0, 1_000.0));
    hand.desk.press("Ctrl+4");
    hand.right_click("Compare");
    hand.click("Show Two sides at the right");
    assert_eq!(
        hand.desk.app().shared.screen_in(Pane::Right),
        Some(Screen::Compare)
    );
    hand.done("Two screens side by side");
}

#[test]
fn a_table_goes_into_a_spreadsheet() {
    let mut hand = Hand::new(desk(PictureState::Full, 1.0));
    hand.desk.press("Ctrl+4");
    hand.fill("Filter Cases", "rten");
    hand.click("Copy Cases");
    let copied = hand.desk.copied.last().expect("something was copied");
    assert!(copied.lines().count() > 2, "{copied}");
    assert!(copied.lines().skip(1).all(|line| line.contains("rten")));
    hand.done("Part of a table for a spreadsheet");
}

#[test]
fn one_chart_is_seen_alone_and_saved() {
    let mut hand = Hand::new(desk(PictureState::Full, 1.0));
    hand.desk.press("Ctrl+4");
    let to = hand.desk.path("latency.png");
    hand.press("Ctrl+Shift+I");
    hand.type_path(&to);
    hand.desk.hear("Saved to");
    assert!(to.is_file());
    hand.done("A picture of a chart");
}

#[test]
fn an_earlier_screen_is_two_keys_away() {
    let mut hand = Hand::new(desk(PictureState::Full, 1.0));
    hand.desk.press("Ctrl+4");
    hand.desk.press("Ctrl+ArrowRight");
    let pin = hand.desk.app().curves.pin;
    assert!(pin.is_some());
    hand.desk.press("Ctrl+5");
    hand.desk.press("Ctrl+9");
    hand.press("Alt+ArrowLeft");
    hand.press("Alt+ArrowLeft");
    assert_eq!(hand.desk.app().shared.screen, Screen::Curves);
    assert_eq!(hand.desk.app().curves.pin, pin);
    hand.done("Back to where you were");
}

fn session(name: &str, place: usize) -> Session {
    SessionSpec {
        name,
        created: &format!("2026-09-{:02}T{:02}:22:07Z", 1 + place / 24, place % 24),
        model: "resnet50",
        speeds: &[speed("tract:cpu", "", 900.0, 9_800.0 - 20.0 * place as f64)],
        batches: &[1, 2],
        rounds: 3,
        samples: 20,
    }
    .session()
}

impl Hand {
    /// A path in the field that asks for one, and Enter.
    fn type_path(&mut self, path: &std::path::Path) {
        self.actions += 1;
        self.desk.fill("Path", &path.display().to_string());
        self.press("Enter");
    }
}
