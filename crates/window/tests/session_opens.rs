//! A session in a window of the desktop this is built for, with nothing there that measures.
//!
//! `scripts/check-windows` builds it for Windows and runs it under Wine.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use eframe::egui::{Color32, ColorImage, Context, Ui, ViewportBuilder, ViewportCommand};
use powerband_app::Installation;
use powerband_app::empty_backend::EmptyBackend;
use powerband_app::screen::Screen;
use powerband_core::base::paths::Paths;
use powerband_core::domain::session::Session;
use powerband_store::session_file;
use powerband_store::settings::Settings;
use powerband_window::{ScreenText, Started, Window};

const SESSION: &str = include_str!("../../../sessions/resnet50-two-engines.ron");
/// What its charts and its table say; the last is fitted to what was measured.
const EXPECTED: [&str; 3] = ["Throughput", "rten:cpu", "83.6 ms"];
/// How long the window may take until it shows all of it.
const LIMIT: Duration = Duration::from_secs(60);
/// The fewest colours of a window with curves and text; an empty one has a few.
const LEAST_COLOURS: usize = 50;

/// What was seen of the window.
#[derive(Default)]
struct SeenWindow {
    text: String,
    picture: Option<Arc<ColorImage>>,
}

/// The window until its text was seen and a picture was taken of it.
struct WatchedWindow {
    window: Window,
    seen: Arc<Mutex<SeenWindow>>,
    began: Instant,
    is_pictured: bool,
}

impl eframe::App for WatchedWindow {
    fn logic(&mut self, ctx: &Context, frame: &mut eframe::Frame) {
        self.window.logic(ctx, frame);
        let seen = self.seen.lock().expect("what was seen");
        if seen.picture.is_some() || self.began.elapsed() > LIMIT {
            ctx.send_viewport_cmd(ViewportCommand::Close);
        } else if !self.is_pictured && says_all(&seen.text) {
            self.is_pictured = true;
            let seen = Arc::clone(&self.seen);
            ctx.request_screenshot(move |picture| {
                seen.lock().expect("what was seen").picture = Some(picture);
            });
        }
        ctx.request_repaint_after(Duration::from_millis(50));
    }

    fn ui(&mut self, ui: &mut Ui, frame: &mut eframe::Frame) {
        self.window.ui(ui, frame);
    }
}

fn says_all(text: &str) -> bool {
    EXPECTED.iter().all(|expected| text.contains(expected))
}

fn session() -> Session {
    let opened = session_file::from_text(Path::new("resnet50-two-engines.ron"), SESSION);
    opened.expect("the session of the repository").session
}

fn show(ctx: &Context, seen: Arc<Mutex<SeenWindow>>) -> WatchedWindow {
    let texts = Arc::clone(&seen);
    ctx.add_plugin(ScreenText::new(move |text| {
        text.clone_into(&mut texts.lock().expect("what was seen").text);
    }));
    let place = Installation::new(
        Paths::under(&std::env::temp_dir()),
        &Settings::default(),
        PathBuf::new(),
    );
    let started = Started::new(Arc::new(EmptyBackend::default()), place, Vec::new());
    WatchedWindow {
        window: Window::new(ctx, started).showing(vec![session()], Some(Screen::Curves)),
        seen,
        began: Instant::now(),
        is_pictured: false,
    }
}

fn colours(picture: &ColorImage) -> usize {
    let mut colours: Vec<Color32> = picture.pixels.clone();
    colours.sort_unstable_by_key(Color32::to_array);
    colours.dedup();
    colours.len()
}

/// A window belongs to the first thread, which the usual harness keeps for itself.
fn main() {
    let options = eframe::NativeOptions {
        viewport: ViewportBuilder::default().with_inner_size([1280.0, 800.0]),
        renderer: eframe::Renderer::Glow,
        ..Default::default()
    };
    let seen = Arc::new(Mutex::new(SeenWindow::default()));
    let shown = Arc::clone(&seen);
    let run = eframe::run_native(
        "powerband",
        options,
        Box::new(move |creation| Ok(Box::new(show(&creation.egui_ctx, shown)))),
    );
    run.expect("a window");
    let seen = seen.lock().expect("what was seen");
    assert!(says_all(&seen.text), "the window says:\n{}", seen.text);
    let picture = seen.picture.as_ref().expect("a picture of the window");
    let colours = colours(picture);
    assert!(colours >= LEAST_COLOURS, "{colours} colours");
}
