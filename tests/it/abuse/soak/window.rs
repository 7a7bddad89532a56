//! What stays behind after many runs in one window: memory, descriptors, threads, child processes.
//!
//! The runs are real ones, with workers, journals, device telemetry and files; only the screen is missing. Their
//! cases end in every way: measured, failed, crashed, stopped. Between two runs the window shows every screen,
//! opens, compares and closes sessions, and moves old ones to the trash. `scripts/soak` has 10,000 cases measured
//! so (`benches/soak.rs`), the test some hundred.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use eframe::egui::{Context, RawInput, Rect, pos2, vec2};
use powerband::backend::LocalBackend;
use powerband_app::action::{Action, Library, RunAction, Sessions};
use powerband_app::plan::{Draft, DraftSetup};
use powerband_app::run::Stage;
use powerband_app::screen::Screen;
use powerband_app::{App, Installation};
use powerband_core::base::environment_roots::EnvironmentRoots;
use powerband_core::base::paths::Paths;
use powerband_core::domain::plan::{MeasureRule, PresetName, TimeLimits, WarmUpRule};
use powerband_core::domain::request::Rules;
use powerband_core::stats::summary::median;
use powerband_window::{Started, Window};

/// Sessions that stay in the library; older ones go to the trash.
const LIBRARY: usize = 12;
const PATIENCE: Duration = Duration::from_mins(2);
/// The share of all cases after which memory is compared.
const WARM_UP: f64 = 0.2;

/// A window without a screen, in a home of its own.
struct SoakWindow {
    window: Window,
    ctx: Context,
    frames: u32,
    model: PathBuf,
    n_runs: usize,
    n_cases: usize,
}

/// What the process holds at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub cases: usize,
    pub memory_mb: f64,
    pub descriptors: usize,
    pub threads: usize,
    pub children: usize,
}

impl Held {
    fn now(cases: usize) -> Self {
        Self {
            cases,
            memory_mb: memory_mb(),
            descriptors: entries("/proc/self/fd"),
            threads: entries("/proc/self/task"),
            children: children(),
        }
    }
}

fn entries(folder: &str) -> usize {
    fs::read_dir(folder).expect("a folder of /proc").count()
}

fn memory_mb() -> f64 {
    let status = fs::read_to_string("/proc/self/status").expect("a file of /proc");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next());
    let kib: f64 = kib.and_then(|kib| kib.parse().ok()).expect("a size");
    kib * 1024.0 / 1e6
}

/// Child processes of any thread, ended or not.
fn children() -> usize {
    let threads = fs::read_dir("/proc/self/task").expect("a folder of /proc");
    let of_thread = |thread: fs::DirEntry| {
        let children = fs::read_to_string(thread.path().join("children"));
        children.unwrap_or_default().split_whitespace().count()
    };
    threads.filter_map(Result::ok).map(of_thread).sum()
}

impl SoakWindow {
    fn new(folder: &Path, model: &Path) -> Self {
        let place = Installation {
            machines: Vec::new(),
            paths: Paths::under(&folder.join("home")),
            onnxruntime: None,
            python: None,
            program: PathBuf::from(env!("CARGO_BIN_EXE_powerband")),
            watch: None,
            environment_roots: EnvironmentRoots::default(),
        };
        let ctx = Context::default();
        let files = Vec::new();
        let window = Window::new(
            &ctx,
            Started {
                backend: Arc::new(LocalBackend::default()),
                place,
                files,
                warnings: Vec::new(),
            },
        )
        .without_desktop();
        let mut desk = Self {
            window,
            ctx,
            frames: 0,
            model: model.to_path_buf(),
            n_runs: 0,
            n_cases: 0,
        };
        desk.until("everything is looked up", |app| {
            app.shared.machine.engines.is_some() && app.library.is_scanned
        });
        desk
    }

    fn app(&self) -> &App {
        self.window.app()
    }

    fn paint(&mut self) {
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(pos2(0.0, 0.0), vec2(1440.0, 900.0))),
            time: Some(f64::from(self.frames) / 60.0),
            focused: true,
            ..RawInput::default()
        };
        self.frames += 1;
        let window = &mut self.window;
        let mut output = self.ctx.run_ui(input, |ui| {
            window.before_frame(&ui.ctx().clone());
            window.frame(ui);
        });
        let triangles = self.ctx.tessellate(output.shapes, output.pixels_per_point);
        drop(triangles);
        // There is no card that they could be handed to.
        output.textures_delta.clear();
    }

    fn act(&mut self, action: Action) {
        self.window.act(action);
        self.paint();
    }

    fn until(&mut self, what: &str, is_so: impl Fn(&App) -> bool) {
        let begin = Instant::now();
        loop {
            self.paint();
            if is_so(self.app()) {
                return;
            }
            let notices = self
                .app()
                .shared
                .notices
                .all()
                .iter()
                .map(|notice| &notice.text);
            assert!(
                begin.elapsed() < PATIENCE,
                "waited in vain until {what}: {:?}",
                notices.collect::<Vec<_>>()
            );
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for background work that is about to end, then looks.
    fn held(&mut self, threads: usize) -> Held {
        let begin = Instant::now();
        loop {
            self.paint();
            let held = Held::now(self.n_cases);
            let is_quiet = held.threads <= threads && held.children == 0;
            if is_quiet || begin.elapsed() > Duration::from_secs(5) {
                return held;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// One run from start to saved file.
    fn measure(&mut self) {
        let draft = draft(&self.model, self.n_runs);
        let is_to_be_stopped = self.n_runs % 7 == 6;
        self.n_runs += 1;
        self.window.app_mut().bench.planner.draft = draft;
        self.act(Action::Run(RunAction::Start));
        if is_to_be_stopped {
            self.until("something is measured", |app| {
                let run = app.bench.run.as_ref();
                let session = run.and_then(|run| run.session.as_ref());
                let measured = session.map(|session| session.cases.iter());
                measured.is_some_and(|mut cases| cases.any(|case| !case.rounds.is_empty()))
                    || !app.bench.is_running()
            });
            self.act(Action::Run(RunAction::Stop));
        }
        self.until("the run is over", |app| !app.bench.is_running());
        let run = self.app().bench.run.as_ref().expect("a run");
        assert!(matches!(run.stage, Stage::Saved(_)), "{:?}", run.stage);
        let session = run.session.as_ref().expect("its session");
        self.n_cases += session.cases.len();
    }

    /// What a user does between two runs.
    fn look_around(&mut self) {
        let newest = self.app().library.newest();
        let two: Vec<PathBuf> = newest.map(|(path, _)| path.clone()).take(2).collect();
        let n_open = two.len();
        self.act(Action::Sessions(Sessions::Open(two)));
        self.until("they are open", |app| app.shared.sessions.len() >= n_open);
        for screen in Screen::ALL {
            self.act(Action::Go(screen));
            self.paint();
        }
        self.act(Action::Go(Screen::History));
        self.until("the history is there", |app| {
            app.compare.history.found.busy().is_none()
        });
        let search = Library::Search(format!("setup {}", self.n_runs));
        self.act(Action::Library(search));
        self.act(Action::Library(Library::Search(String::new())));
        self.act(Action::Sessions(Sessions::CloseAll));
        let newest = self.app().library.newest();
        let old: Vec<PathBuf> = newest.skip(LIBRARY).map(|(path, _)| path.clone()).collect();
        if !old.is_empty() {
            self.act(Action::Library(Library::DiscardAll(old)));
            self.until("old sessions are in the trash", |app| {
                app.library.found.len() <= LIBRARY
            });
        }
        self.act(Action::Go(Screen::Home));
    }
}

/// A plan of the number's kind: made-up timings with cases that fail, or a real engine.
fn draft(model: &Path, number: usize) -> Draft {
    let failure = [
        "run-abort",
        "run-error",
        "load-exit",
        "run-kill",
        "open-error",
    ];
    let failure = failure[number % failure.len()];
    let failing = format!("fake,fail={failure},at=8");
    let (specs, batches) = if number % 4 == 3 {
        (vec!["rten:cpu,threads=1".to_owned()], "1, 2, 4, 8")
    } else {
        (
            vec!["fake".to_owned(), "fake,fixed=300".to_owned(), failing],
            "1..512",
        )
    };
    let setup = |spec| DraftSetup {
        spec,
        ..DraftSetup::default()
    };
    let measure = MeasureRule {
        rounds: 2,
        min_samples: 20,
        min_time_ms: 5,
        max_time_ms: 50,
        spacing: None,
        ..MeasureRule::from_preset(PresetName::Quick)
    };
    let warm_up = WarmUpRule {
        min_runs: 3,
        min_time_ms: 1,
        max_time_ms: 20,
        ..WarmUpRule::for_device(false)
    };
    Draft {
        name: format!("Soak {number}"),
        model: model.display().to_string(),
        setups: specs.into_iter().map(setup).collect(),
        batches: batches.to_owned(),
        preset: PresetName::Quick,
        rules: Some(Rules {
            measure,
            warm_up,
            limits: TimeLimits::default(),
        }),
        seed: Some(number as u64),
        ..Draft::default()
    }
}

/// Measures so many cases in a folder; what the process held after each run, from the second one on.
pub(crate) fn soak(
    (folder, model): (&Path, &Path),
    n_cases: usize,
    mut after_run: impl FnMut(&Held),
) -> Vec<Held> {
    let mut desk = SoakWindow::new(folder, model);
    let mut all: Vec<Held> = Vec::new();
    // The first one starts what stays.
    desk.measure();
    desk.look_around();
    let usual = desk.held(0).threads;
    while desk.n_cases < n_cases {
        desk.measure();
        desk.look_around();
        let held = desk.held(usual);
        after_run(&held);
        all.push(held);
    }
    all
}

/// A figure of what is held.
type Count = fn(&Held) -> usize;

/// What is more in each of the last runs than in any of the first ones, a sentence each. A file or a thread that is
/// there for a moment is no leak.
pub(crate) fn leaks(all: &[Held]) -> Vec<String> {
    let third = all.len().div_ceil(3);
    let (first, last) = (&all[..third], &all[all.len() - third..]);
    let counts: [(&str, Count); 3] = [
        ("descriptors", |held| held.descriptors),
        ("threads", |held| held.threads),
        ("child processes", |held| held.children),
    ];
    let mut said = Vec::new();
    for (what, count) in counts {
        let before = first.iter().map(count).max();
        let after = last.iter().map(count).min();
        match before.zip(after) {
            Some((before, after)) if after > before => {
                said.push(format!("{after} {what}, {before} at first"));
            }
            Some(_) => {}
            None => said.push(format!("no {what} were counted")),
        }
    }
    said
}

/// By how much memory grew after warm-up, as a share: the median of the last fifth over that of the first.
pub(crate) fn growth(all: &[Held], n_cases: usize) -> Option<f64> {
    let warm = WARM_UP * n_cases as f64;
    let fifth = (n_cases as f64 - warm) / 5.0;
    let memory = |from: f64| -> Vec<f64> {
        let within = |held: &&Held| (from..from + fifth).contains(&(held.cases as f64));
        all.iter()
            .filter(within)
            .map(|held| held.memory_mb)
            .collect()
    };
    let [before, after] = [warm, n_cases as f64 - fifth].map(|from| median(&memory(from)));
    Some(after? / before? - 1.0)
}
