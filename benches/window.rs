//! What the window promises about its own speed: work per frame, start-up, and rest.
//!
//! `cargo bench --bench window`, on a quiet machine; `-- frames`, `-- start` or `-- rest` measure that
//! part alone. Frames need no screen: they are made up to the triangles that a graphics card would be
//! handed. Start-up and rest need Xvfb. Figures are printed beside their promises; nothing is asserted.

#[path = "../tests/it/display.rs"]
mod display;
mod large_network;
mod made_up;
mod window_process;

use std::env;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use eframe::egui::{self, Context, Event, MouseWheelUnit, Pos2, RawInput, Rect, TouchPhase, vec2};
use tempfile::TempDir;

use display::Display;
use made_up::session;
use powerband::backend::LocalBackend;
use powerband_app::action::{Action, Curves, Library, Network, Sessions, Shell, Why};
use powerband_app::curves::heat;
use powerband_app::library::examples;
use powerband_app::screen::Screen;
use powerband_app::sessions::Pin;
use powerband_app::{App, Installation};
use powerband_core::base::environment_roots::EnvironmentRoots;
use powerband_core::base::paths::Paths;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::machine::RemoteMachine;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_store::session_file;
use powerband_window::{Started, Window};
use window_process::{program, rest, say, start_up};

const SIZE: egui::Vec2 = vec2(1920.0, 1080.0);
/// Frames that are counted, after as many as fill the caches.
const FRAMES: usize = 360;
const WARM_UP: usize = 40;
const PATIENCE: Duration = Duration::from_mins(1);

fn main() -> Result<()> {
    let wanted: Vec<String> = env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let is_wanted = |part: &str| wanted.is_empty() || wanted.iter().any(|word| word == part);
    if is_wanted("frames") {
        frames()?;
    }
    if !is_wanted("start") && !is_wanted("rest") {
        return Ok(());
    }
    if !display::are_installed(&["Xvfb"]) {
        say("Start-up and rest were not measured: Xvfb is needed (apt-get install xvfb).");
        return Ok(());
    }
    let display = Display::start(1920, 1080)?;
    if is_wanted("start") {
        start_up(&display)?;
    }
    if is_wanted("rest") {
        rest(&display)?;
    }
    Ok(())
}

/// What is on the screen while frames are counted, and what moves besides the pointer.
fn frames() -> Result<()> {
    say(&format!(
        "{:<46}{:>7}{:>7}{:>7}{:>7}   ms a frame, {FRAMES} frames at {} × {}",
        "the program's own work", "p50", "p95", "p99", "max", SIZE.x, SIZE.y
    ));
    let curves = Scene::open(&sixty_curves()?)?;
    curves
        .go(Screen::Curves)
        .measure("60 curves of 12 points", |_, _| ());
    let limited = Scene::open(&sixty_curves()?)?.go(Screen::Curves);
    limited.measure_limit("60 curves, the latency limit is dragged")?;
    sweeps()?;
    machines_compared()?;
    pinned()?.measure("100,000 samples of a pinned case", |_, _| ());
    libraries()?;
    open_sessions()?;
    let many = Scene::open(&[many_cases()?])?.go(Screen::Curves);
    many.measure("5,000 cases in a session, scrolled", |scene, frame| {
        scene.scroll(frame);
    });
    let limited = Scene::open(&[many_cases()?])?.go(Screen::Curves);
    limited.measure_limit("5,000 cases, the latency limit is dragged")?;
    Scene::open(&sixty_curves()?)?
        .go(Screen::Plan)
        .measure("the plan", |_, _| ());
    network()?.measure(
        "a network of 10,000 nodes, moved and zoomed",
        |scene, frame| {
            scene.scroll(frame);
            scene.zoom = if frame % 240 < 120 { 1.02 } else { 1.0 / 1.02 };
        },
    );
    why()?.measure("58 nodes, each selected in its turn", |scene, frame| {
        scene.act(Action::Why(Why::Select(Some(frame / 8 % 50))));
    });
    Ok(())
}

/// A library of 2,000 sessions: its list, the palette, and one case through all of them.
fn libraries() -> Result<()> {
    library()?.measure("2,000 sessions in the library, scrolled", |scene, frame| {
        scene.scroll(frame);
    });
    library()?.measure(
        "2,000 sessions, another word is searched for",
        |scene, frame| {
            let words = format!("number {}", frame / 8);
            scene.act(Action::Library(Library::Search(words)));
        },
    );
    let mut palette = library()?;
    palette.act(Action::Shell(Shell::Palette(true)));
    palette.typed = Some("number 7".to_owned());
    palette.measure("2,000 sessions, words in the palette", |_, _| ());
    let mut history = library()?;
    let newest = history.app().library.listed_at(0);
    let newest = newest.map(|(path, _)| path.clone()).context("no session")?;
    history.act(Action::Sessions(Sessions::Open(vec![newest])));
    let history = history.until(|app| app.shared.sessions.len() == 1)?;
    let history = history.go(Screen::History);
    let history = history.until(|app| app.compare.history.found.result.is_some())?;
    history.measure("the history of a case in 2,000 sessions", |scene, frame| {
        scene.scroll(frame);
    });
    Ok(())
}

/// As many sessions open as fifty windows would have.
fn open_sessions() -> Result<()> {
    let sessions: Vec<Session> = (0..50)
        .map(|index| session(&format!("session {index}"), 2, 8, 5, 200))
        .collect::<Result<_>>()?;
    for (screen, what) in [
        (Screen::Curves, "50 open sessions, their curves"),
        (Screen::Compare, "50 open sessions, two compared"),
        (Screen::Kernels, "50 open sessions, kernels"),
        (Screen::Library, "50 open sessions, the library"),
        (Screen::Plan, "50 open sessions, the plan"),
    ] {
        let scene = Scene::open(&sessions)?.go(screen);
        scene.measure(what, |scene, frame| scene.scroll(frame));
    }
    let mut palette = Scene::open(&sessions)?.go(Screen::Curves);
    palette.act(Action::Shell(Shell::Palette(true)));
    palette.typed = Some("session 7".to_owned());
    palette.measure("50 open sessions, words in the palette", |_, _| ());
    let limited = Scene::open(&sessions)?.go(Screen::Curves);
    limited.measure_limit("50 open sessions, the latency limit is dragged")
}

/// The example with profiles and roofs, once its limits were found.
fn why() -> Result<Scene> {
    let is_it = |one: &&examples::Example| one.file == "resnet50-what-limits-it.ron";
    let example = examples::ALL.iter().find(is_it).context("no example")?;
    Scene::open(&[example.open()?.session])?
        .go(Screen::Why)
        .until(|app| {
            app.profile.why.found.result.is_some() && app.profile.why.found.busy().is_none()
        })
}

/// A large network with everything in it open, once it is drawn.
fn network() -> Result<Scene> {
    const NODES: usize = 10_000;
    let home = TempDir::new()?;
    let path = home.path().join("large.ron");
    session_file::write(&path, &large_network::session(home.path(), NODES)?)?;
    let mut scene = Scene::start(home, vec![path])?
        .until(|app| app.shared.sessions.len() == 1)?
        .go(Screen::Network)
        .until(|app| app.profile.network.picture.result.is_some())?;
    scene.act(Action::Network(Network::OpenAll));
    scene.until(|app| {
        let picture = &app.profile.network.picture;
        let drawn = picture.result.as_ref().filter(|_| picture.busy().is_none());
        drawn.is_some_and(|drawn| drawn.layout.items().len() >= NODES)
    })
}

fn machines_compared() -> Result<()> {
    let compared = Scene::open(&[machines()?])?.go(Screen::Fleet);
    let compared = compared.until(|app| app.compare.fleet.found.result.is_some())?;
    compared.measure("64 machines compared, scrolled", |scene, frame| {
        scene.scroll(frame);
    });
    Ok(())
}

/// One setup on 64 machines.
fn machines() -> Result<Session> {
    let mut session = session("64 machines", 64, 1, 5, 200)?;
    for (number, setup) in session.plan.setups.iter_mut().enumerate() {
        let name = format!("ssh:node-{number}");
        *setup = setup.clone().with("where", &name);
        session.machines.push(RemoteMachine {
            host: format!("node-{number}"),
            setups: vec![number],
            name,
            ..RemoteMachine::default()
        });
    }
    Ok(session)
}

/// Sweeps over two dimensions.
fn sweeps() -> Result<()> {
    let mut swept = Scene::open(&[swept_session()?])?.go(Screen::Curves);
    swept.act(Action::Curves(Curves::Show(heat::SweepView::Map)));
    let sessions = &swept.app().shared.sessions;
    let from = sessions.suggested_limit_ns().context("no limit")?;
    swept.act(Action::Curves(Curves::Limit(Some(from))));
    swept.measure("a heat map of 20 × 20 points, 5 setups", |_, _| ());
    let swept = Scene::open(&[swept_session()?])?.go(Screen::Curves);
    swept.measure_limit("the same with its curves, the limit is dragged")
}

/// A window without a screen.
struct Scene {
    /// Its sessions, for as long as it may look at them.
    _home: TempDir,
    ctx: Context,
    window: Box<Window>,
    frame: usize,
    wheel: f32,
    /// What the picture below the pointer is scaled by in the next frame.
    zoom: f32,
    typed: Option<String>,
}

impl Scene {
    /// The window with these sessions open, once nothing goes on in the background any more.
    fn open(sessions: &[Session]) -> Result<Self> {
        let home = TempDir::new()?;
        let mut files = Vec::new();
        for (index, session) in sessions.iter().enumerate() {
            let path = home.path().join(format!("{index}.ron"));
            session_file::write(&path, session)?;
            files.push(path);
        }
        let count = files.len();
        Self::start(home, files)?.until(|app| app.shared.sessions.len() == count)
    }

    fn start(home: TempDir, files: Vec<PathBuf>) -> Result<Self> {
        let ctx = Context::default();
        let place = Installation {
            machines: Vec::new(),
            paths: Paths::under(&home.path().join("home")),
            onnxruntime: None,
            python: None,
            program: program(),
            watch: None,
            environment_roots: EnvironmentRoots::default(),
        };
        let window = Box::new(Window::new(
            &ctx,
            Started::new(Arc::new(LocalBackend::default()), place, files),
        ));
        Self {
            _home: home,
            ctx,
            window,
            frame: 0,
            wheel: 0.0,
            zoom: 1.0,
            typed: None,
        }
        .until(|app| !app.shared.machine.is_looking && app.library.is_scanned)
    }

    fn until(mut self, is_ready: impl Fn(&App) -> bool) -> Result<Self> {
        let begin = Instant::now();
        loop {
            self.paint();
            if is_ready(self.app()) {
                return Ok(self);
            }
            ensure!(begin.elapsed() < PATIENCE, "the window does not get ready");
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn go(mut self, screen: Screen) -> Self {
        self.act(Action::Go(screen));
        self
    }

    fn act(&mut self, action: Action) {
        self.window.act(action);
    }

    fn app(&self) -> &App {
        self.window.app()
    }

    /// Turns the wheel in the next frame, down and up again by turns.
    fn scroll(&mut self, frame: usize) {
        self.wheel = if frame % 120 < 60 { -40.0 } else { 40.0 };
    }

    /// The pointer wanders over all of the window, a little further every frame.
    fn pointer(&self) -> Pos2 {
        let t = self.frame as f32 / 60.0;
        let (x, y) = ((1.3 * t).sin(), (1.7 * t + 0.4).sin());
        Pos2::new(SIZE.x * (0.5 + 0.49 * x), SIZE.y * (0.5 + 0.49 * y))
    }

    /// One frame, from the input to the triangles; how long it took, in milliseconds.
    fn paint(&mut self) -> f64 {
        let mut events = vec![Event::PointerMoved(self.pointer())];
        if self.wheel != 0.0 {
            events.push(Event::MouseWheel {
                unit: MouseWheelUnit::Point,
                delta: vec2(0.0, std::mem::take(&mut self.wheel)),
                phase: TouchPhase::Move,
                source: egui::MouseWheelSource::Wheel,
                modifiers: egui::Modifiers::NONE,
            });
        }
        let zoom = std::mem::replace(&mut self.zoom, 1.0);
        if zoom != 1.0 {
            events.push(Event::Zoom(zoom));
        }
        events.extend(self.typed.take().map(Event::Text));
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, SIZE)),
            time: Some(self.frame as f64 / 60.0),
            focused: true,
            events,
            ..RawInput::default()
        };
        self.frame += 1;
        let (ctx, window) = (&self.ctx, &mut self.window);
        let begin = Instant::now();
        let mut output = ctx.run_ui(input, |ui| {
            window.before_frame(&ui.ctx().clone());
            window.frame(ui);
        });
        let triangles = ctx.tessellate(output.shapes, output.pixels_per_point);
        let took = begin.elapsed().as_secs_f64() * 1e3;
        drop(triangles);
        // There is no card that they could be handed to, which a build with assertions wants to be said.
        output.textures_delta.clear();
        took
    }

    /// Frames while the latency limit is dragged to and fro.
    fn measure_limit(mut self, what: &str) -> Result<()> {
        let sessions = &self.app().shared.sessions;
        let from = sessions.suggested_limit_ns().context("no limit")?;
        self.act(Action::Curves(Curves::Limit(Some(from))));
        self.measure(what, |scene, frame| {
            let limit = from * (1.0 + 0.3 * (frame as f64 / 20.0).sin());
            scene.act(Action::Curves(Curves::Limit(Some(limit))));
        });
        Ok(())
    }

    fn measure(mut self, what: &str, mut before: impl FnMut(&mut Self, usize)) {
        let mut times = Vec::new();
        for frame in 0..WARM_UP + FRAMES {
            before(&mut self, frame);
            let took = self.paint();
            if frame >= WARM_UP {
                times.push(took);
            }
        }
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize];
        let (p50, p95, p99, max) = (at(0.5), at(0.95), at(0.99), at(1.0));
        let verdict = if p95 < 4.0 && p99 < 8.0 {
            "kept"
        } else {
            "MISSED"
        };
        say(&format!(
            "{what:<46}{p50:>7.2}{p95:>7.2}{p99:>7.2}{max:>7.2}   p95 < 4, p99 < 8: {verdict}"
        ));
    }
}

fn pinned() -> Result<Scene> {
    let session = session("samples", 1, 2, 10, 10_000)?;
    let mut scene = Scene::open(&[session])?.go(Screen::Curves);
    let open = scene
        .app()
        .shared
        .sessions
        .iter()
        .next()
        .context("no session")?;
    let pin = Pin {
        session: open.id,
        case: CaseKey {
            setup: 0,
            point: Point::of_batch(1),
        },
    };
    scene.act(Action::Curves(Curves::Pin(Some(pin))));
    scene.until(|app| app.curves.pinned.is_some())
}

fn library() -> Result<Scene> {
    const SESSIONS: usize = 2_000;
    let home = TempDir::new()?;
    made_up::library(&home.path().join("home/sessions"), SESSIONS, 1, 8)?;
    let mut scene = Scene::start(home, Vec::new())?
        .until(|app| app.library.found.len() == SESSIONS)?
        .go(Screen::Library);
    let oldest = scene
        .app()
        .library
        .listed()
        .last()
        .map(|(path, _)| path.clone());
    scene.act(Action::Library(Library::Select(oldest)));
    Ok(scene)
}

/// Five sessions of twelve setups.
fn sixty_curves() -> Result<Vec<Session>> {
    (0..5)
        .map(|index| session(&format!("session {index}"), 12, 12, 3, 30))
        .collect()
}

/// Five setups over 20 batch sizes and 20 lengths.
fn swept_session() -> Result<Session> {
    let mut session = session("swept", 5, 20, 1, 12)?;
    let made = std::mem::take(&mut session.cases);
    let lengths = (1..=20).map(|n| 64 * n);
    let points = std::mem::take(&mut session.plan.points).into_iter();
    session.plan.points = points
        .flat_map(|point| {
            lengths
                .clone()
                .map(move |length| point.with("sequence", length))
        })
        .collect();
    session.plan.points.sort_unstable();
    let case = |key: CaseKey| {
        let like = made
            .iter()
            .find(|case| case.setup == key.setup && case.point.batch() == key.point.batch());
        let mut case = like.cloned()?;
        let length = key.point.get("sequence")? as u64;
        for ns in case
            .rounds
            .iter_mut()
            .flat_map(|round| &mut round.samples_ns)
        {
            *ns = *ns * length / 256;
        }
        case.point = key.point;
        Some(case)
    };
    session.cases = session.plan.cases().into_iter().filter_map(case).collect();
    Ok(session)
}

fn many_cases() -> Result<Session> {
    session("many cases", 50, 100, 1, 12)
}
