//! What the timeline promises about its own speed: a trace of 1,000,000 slices is made ready, searched and
//! added up in the background, and panned and zoomed at 1920 × 1080.
//!
//! `cargo bench --bench timeline`, on a quiet machine. No screen is needed: frames are made up to the
//! triangles that a graphics card would be handed. Figures are printed beside their promises; nothing is
//! asserted.

use std::env;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use eframe::egui::{
    self, Context, Event, Modifiers, MouseWheelUnit, PointerButton, Pos2, RawInput, Rect,
    TouchPhase, pos2, vec2,
};
use tempfile::TempDir;

use powerband::backend::LocalBackend;
use powerband_app::Installation;
use powerband_app::action::{Action, Timeline as Change};
use powerband_app::plan::ModelFacts;
use powerband_app::screen::Screen;
use powerband_app::timeline::{OpenTrace, TraceId};
use powerband_core::base::environment_roots::EnvironmentRoots;
use powerband_core::base::paths::Paths;
use powerband_core::domain::trace::{MemoryEvent, Slice, SliceKind, Trace, Track};
use powerband_findings::analysis::category::Rules;
use powerband_findings::analysis::timeline::Timeline;
use powerband_findings::analysis::timeline::find::SearchHits;
use powerband_findings::analysis::timeline::selection::SelectionStatistics;
use powerband_findings::analysis::timeline::stretch::TimeRange;
use powerband_window::{Started, Window};

const SIZE: egui::Vec2 = vec2(1920.0, 1080.0);
const SLICES: usize = 1_000_000;
/// Frames of each script, after as many as fill the caches.
const FRAMES: usize = 600;
const WARM_UP: usize = 40;
const PATIENCE: Duration = Duration::from_mins(1);

fn main() -> Result<()> {
    let made = trace(1);
    say(&format!(
        "{} slices on {} tracks, {} names",
        made.len(),
        made.tracks.len(),
        made.names.len()
    ));
    in_background(&made);
    let open = Arc::new(OpenTrace::new("a million slices", made));
    say(&format!(
        "{:<46}{:>7}{:>7}{:>7}{:>7}   ms a frame, {FRAMES} frames at {} × {}",
        "the program's own work", "p50", "p95", "p99", "max", SIZE.x, SIZE.y
    ));
    for script in [
        Script::Zoom,
        Script::Pan,
        Script::Drag,
        Script::Wheel,
        Script::Search,
    ] {
        measure(&open, script)?;
    }
    let begin = Instant::now();
    let sides = [TraceId(0), TraceId(1)];
    let before = OpenTrace::new("another million", trace(2));
    let compared = OpenTrace::compared(sides, [&before, &open], &Rules::default());
    say(&format!(
        "compared with another million slices{:>14.0} ms",
        begin.elapsed().as_secs_f64() * 1e3
    ));
    let compared = Arc::new(compared);
    for script in [Script::Zoom, Script::Pan] {
        measure(&compared, script)?;
    }
    Ok(())
}

#[expect(
    clippy::print_stdout,
    reason = "the figures are what this program is for"
)]
fn say(line: &str) {
    println!("{line}");
}

fn in_background(trace: &Trace) {
    let timed = |what: &str, promised: &str, most: f64, work: &dyn Fn() -> usize| {
        let mut times: Vec<f64> = (0..5)
            .map(|_| {
                let begin = Instant::now();
                let found = std::hint::black_box(work());
                assert!(found > 0, "{what} found nothing");
                begin.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let verdict = if times[2] < most { "kept" } else { "MISSED" };
        say(&format!(
            "{what:<46}{:>9.0} ms   {promised:<10} {verdict}",
            times[2]
        ));
    };
    timed("made ready for looking at", "< 500 ms", 500.0, &|| {
        Timeline::from_trace(trace).rows.len()
    });
    let timeline = Timeline::from_trace(trace);
    timed("a name looked for", "< 200 ms", 200.0, &|| {
        SearchHits::search(trace, &timeline, "conv").all.len()
    });
    timed("all of it added up", "< 500 ms", 500.0, &|| {
        SelectionStatistics::from_range(
            &timeline,
            timeline.full_range(),
            std::slice::from_ref(&(0..timeline.rows.len())),
        )
        .distinct
    });
}

/// What a hand does for 600 frames.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Script {
    /// From all of it down to thirty microseconds and back, several times.
    Zoom,
    /// Through the trace at a dozen zooms.
    Pan,
    /// The mouse drags the tracks about.
    Drag,
    /// The wheel scrolls tracks, and zooms with Ctrl.
    Wheel,
    /// As the first, with a third of the slices found.
    Search,
}

impl Script {
    fn title(self) -> &'static str {
        match self {
            Self::Zoom => "from ten seconds to 30 µs and back",
            Self::Pan => "panned at a dozen zooms",
            Self::Drag => "dragged with the mouse",
            Self::Wheel => "scrolled, and zoomed with the wheel",
            Self::Search => "zoomed with a third of the slices found",
        }
    }
}

fn measure(open: &Arc<OpenTrace>, script: Script) -> Result<()> {
    let mut scene = Scene::start(open)?;
    if script == Script::Search {
        scene.act(Change::Search("conv".to_owned()));
        let begin = Instant::now();
        while scene.window.app().profile.timeline.hits.is_none() {
            ensure!(begin.elapsed() < PATIENCE, "nothing is found");
            scene.frame(Vec::new());
        }
    }
    let whole = open.timeline.full_range();
    let mut times = Vec::new();
    for frame in 0..WARM_UP + FRAMES {
        let share = frame as f64 / FRAMES as f64;
        let mut events = Vec::new();
        match script {
            Script::Zoom | Script::Search => {
                let depth = 0.5 - 0.5 * (share * 6.0 * std::f64::consts::TAU).cos();
                let times = 10_f64.powf(-5.5 * depth);
                scene.act(Change::Look(whole.zoomed(whole.length() * 0.1321, times)));
                scene.act(Change::Scroll((share * 900.0) as f32));
                events.push(Event::PointerMoved(wandering(frame)));
            }
            Script::Pan => {
                let zoom = (share * 12.0).floor();
                let length = whole.length() * 10_f64.powf(-zoom * 0.5);
                let step = (share * 12.0).fract();
                let from = whole.length() * 0.1 + length * 2.0 * step;
                scene.act(Change::Look(TimeRange::new(from, from + length)));
                scene.act(Change::Scroll((step * 900.0) as f32));
                events.push(Event::PointerMoved(wandering(frame)));
            }
            Script::Drag => scene.drag(frame, whole, &mut events),
            Script::Wheel => scene.wheel(frame, &mut events),
        }
        let took = scene.frame(events);
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
    let what = script.title();
    say(&format!(
        "{what:<46}{p50:>7.2}{p95:>7.2}{p99:>7.2}{max:>7.2}   p95 < 4, p99 < 8: {verdict}"
    ));
    Ok(())
}

/// Over the tracks, a little further every frame.
fn wandering(frame: usize) -> Pos2 {
    let t = frame as f32 / 60.0;
    let (x, y) = ((1.3 * t).sin(), (1.7 * t + 0.4).sin());
    pos2(SIZE.x * (0.5 + 0.3 * x), SIZE.y * (0.5 + 0.35 * y))
}

/// A window without a screen.
struct Scene {
    _home: TempDir,
    ctx: Context,
    window: Window,
    frames: usize,
    modifiers: Modifiers,
}

impl Scene {
    fn start(open: &Arc<OpenTrace>) -> Result<Self> {
        let home = TempDir::new()?;
        let ctx = Context::default();
        let place = Installation {
            machines: Vec::new(),
            paths: Paths::under(&home.path().join("home")),
            onnxruntime: None,
            python: None,
            program: env::var_os("POWERBAND_PROGRAM").map_or_else(
                || PathBuf::from(env!("CARGO_BIN_EXE_powerband")),
                Into::into,
            ),
            watch: None,
            environment_roots: EnvironmentRoots::default(),
        };
        let files = Vec::new();
        let mut scene = Self {
            _home: home,
            window: Window::new(
                &ctx,
                Started::new(Arc::new(LocalBackend::default()), place, files),
            ),
            ctx,
            frames: 0,
            modifiers: Modifiers::NONE,
        };
        let begin = Instant::now();
        loop {
            scene.frame(Vec::new());
            let app = scene.window.app();
            // What is read of the plan's model takes a processor for a while.
            let is_reading = matches!(app.bench.planner.facts, ModelFacts::Reading);
            if !app.shared.machine.is_looking && app.library.is_scanned && !is_reading {
                break;
            }
            ensure!(begin.elapsed() < PATIENCE, "the window does not get ready");
            std::thread::sleep(Duration::from_millis(5));
        }
        let timeline = &mut scene.window.app_mut().profile.timeline;
        let id = timeline.new_id();
        timeline.put(id, Arc::clone(open));
        scene.window.act(Action::Go(Screen::Timeline));
        Ok(scene)
    }

    fn act(&mut self, request: Change) {
        self.window.act(Action::Timeline(request));
    }

    /// Takes hold every hundredth frame, at another zoom, and pulls to the left and up.
    fn drag(&mut self, frame: usize, whole: TimeRange, events: &mut Vec<Event>) {
        let step = frame % 100;
        let at = pos2(1_100.0 - 6.0 * step as f32, 700.0 - 2.0 * step as f32);
        if step == 0 {
            let times = 10_f64.powi(-(frame as i32 / 100));
            let middle = whole.length() * 0.12;
            self.act(Change::Look(whole.zoomed(middle, times)));
        }
        events.push(Event::PointerMoved(at));
        if step == 0 || step == 99 {
            events.push(Event::PointerButton {
                pos: at,
                button: PointerButton::Primary,
                pressed: step == 0,
                modifiers: Modifiers::NONE,
            });
        }
    }

    fn wheel(&mut self, frame: usize, events: &mut Vec<Event>) {
        let zooms = (frame / 50).is_multiple_of(2);
        let is_back = (frame / 100) % 2 == 1;
        self.modifiers = if zooms {
            Modifiers::CTRL | Modifiers::COMMAND
        } else {
            Modifiers::NONE
        };
        events.push(Event::ModifiersChanged(self.modifiers));
        events.push(Event::PointerMoved(wandering(frame)));
        events.push(Event::MouseWheel {
            unit: MouseWheelUnit::Point,
            delta: vec2(0.0, if is_back { -30.0 } else { 30.0 }),
            phase: TouchPhase::Move,
            source: egui::MouseWheelSource::Wheel,
            modifiers: self.modifiers,
        });
    }

    /// One frame, from the input to the triangles; how long it took, in milliseconds.
    fn frame(&mut self, events: Vec<Event>) -> f64 {
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, SIZE)),
            time: Some(self.frames as f64 / 60.0),
            focused: true,
            events,
            ..RawInput::default()
        };
        self.frames += 1;
        let (ctx, window) = (&self.ctx, &mut self.window);
        let begin = Instant::now();
        let output = ctx.run_ui(input, |ui| {
            window.before_frame(&ui.ctx().clone());
            window.frame(ui);
        });
        let triangles = ctx.tessellate(output.shapes, output.pixels_per_point);
        let took = begin.elapsed().as_secs_f64() * 1e3;
        drop(triangles);
        took
    }
}

/// Ten seconds of four devices with four streams each, and of 24 threads whose operators nest; times are
/// made up and the same every time.
fn trace(seed: u64) -> Trace {
    let mut trace = Trace::default();
    let mut noise = Noise(seed);
    let kernels: Vec<u32> = (0..400)
        .map(|n| {
            let family = ["conv2d_implicit_gemm", "gemm_f16", "elementwise"][n % 3];
            let name = format!(
                "void library::kernels::{family}_{n}<float, {}>(Params)",
                n % 7
            );
            trace.names.number(&name)
        })
        .collect();
    let operators: Vec<u32> = (0..200)
        .map(|n| {
            let family = ["aten::conv2d", "aten::linear", "aten::add"][n % 3];
            trace.names.number(&format!("{family}_{n}"))
        })
        .collect();
    let launch = trace.names.number("cudaLaunchKernel");
    let each = SLICES / 40;
    for stream in 0..16_u32 {
        let track = trace.track(Track {
            device: Some(stream / 4),
            group: format!("GPU {}", stream / 4),
            name: format!("stream {}", stream % 4 * 7),
        });
        let mut at = 0_i64;
        for n in 0..each {
            let (kind, length) = match n % 20 {
                0 => (SliceKind::Copy, 20_000 + noise.below(60_000)),
                1 => (SliceKind::Set, 800 + noise.below(800)),
                _ => (SliceKind::Kernel, 2_000 + noise.below(380_000)),
            };
            let name = kernels[noise.below(400) as usize];
            let link = u64::from(stream) * each as u64 + n as u64 + 1;
            let slice = Slice::new(kind, name, track, at, length);
            trace.push(Slice { link, ..slice });
            at += (length + noise.below(400_000)) as i64;
            if n % 50 == 0 {
                trace.memory.push(MemoryEvent {
                    at_ns: at,
                    device: Some(stream / 4),
                    change: 0,
                    total: Some(noise.below(8_000_000_000)),
                    track: None,
                    op: 0,
                });
            }
        }
    }
    for thread in 0..24_u32 {
        let track = trace.track(Track {
            device: None,
            group: format!("python {}", thread / 6),
            name: format!("thread {thread}"),
        });
        nest(&mut trace, &mut noise, track, each, &operators, launch);
    }
    trace
}

/// Operators within operators, five deep, with launches at the bottom.
fn nest(
    trace: &mut Trace,
    noise: &mut Noise,
    track: u32,
    slices: usize,
    names: &[u32],
    launch: u32,
) {
    let (mut at, mut made) = (0_i64, 0);
    while made < slices {
        let whole = 200_000 + noise.below(4_000_000) as i64;
        let (mut from, mut to) = (at, at + whole);
        for _ in 0..5 {
            if made < slices && to - from > 2_000 {
                let name = names[noise.below(names.len() as u64) as usize];
                let length = (to - from).unsigned_abs();
                trace.push(Slice::new(SliceKind::Operator, name, track, from, length));
                made += 1;
                from += 300 + noise.below(1_000) as i64;
                to -= 300 + noise.below(1_000) as i64;
            }
        }
        while made < slices && from + 8_000 < to {
            let length = 3_000 + noise.below(5_000);
            let slice = Slice::new(SliceKind::Call, launch, track, from, length);
            let link = noise.below(SLICES as u64 * 2 / 5) + 1;
            trace.push(Slice { link, ..slice });
            made += 1;
            from += length as i64 + noise.below(60_000) as i64 * 4;
        }
        at += whole + noise.below(300_000) as i64;
    }
}

struct Noise(u64);

impl Noise {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}
