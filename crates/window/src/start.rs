//! From the start of the program to its window, and to the end of its display.

use eframe::egui;

use super::desktop::{heap, lost_display, missing_libraries};
use super::theme;
use super::window::{Started, Window};
use powerband_app::shell::settings::{self, Placement};
use powerband_core::base::clock;
use powerband_core::base::ending::Ending;

/// Size of the first window of a new user.
const FIRST_SIZE: (f32, f32) = (1440.0, 900.0);
/// If this is set, the window prints the time of its first frame to standard error, for the bench.
const TIMES: &str = "POWERBAND_TIMES";

/// Why the window is not on the screen any more, or never was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No window could be opened: the reason.
    NoWindow(String),
    /// Its display ended: the whole sentence.
    Lost(String),
}

/// Opens the window and blocks until it closes, or a signal ends it.
pub fn run(started: Started, ending: Ending) -> Result<(), Failure> {
    let since = std::env::var_os(TIMES).map(|_| clock::monotonic_ns());
    if let Some(sentence) = missing_libraries::sentence() {
        return Err(Failure::NoWindow(sentence));
    }
    heap::limit();
    let (remembered, _) = settings::read(&settings::window_file(&started.place));
    let options = eframe::NativeOptions {
        viewport: viewport(remembered.placement),
        // The tests draw pictures with another one, and cargo builds this program with both while they run.
        renderer: eframe::Renderer::Glow,
        ..Default::default()
    };
    let opened = ending.clone();
    eframe::run_native(
        "powerband",
        options,
        Box::new(move |creation| {
            let ctx = creation.egui_ctx.clone();
            ending.wake_with(move || ctx.request_repaint());
            lost_display::watch();
            // What it shows is remembered as it closes, however long its next frame takes.
            ending.set_saving(true);
            let window = Window::new(&creation.egui_ctx, started);
            Ok(Box::new(window.of_program(since, ending)))
        }),
    )
    .map_err(|error| {
        // The window library names its own source files; the cause stands at the end.
        let words = error.to_string();
        let cause = words.rsplit(": ").next().unwrap_or(&words);
        if opened.is_saving() {
            return Failure::Lost(format!("{} ({cause})", lost_display::sentence()));
        }
        Failure::NoWindow(format!("the display cannot be used: {cause}."))
    })
}

fn viewport(placement: Option<Placement>) -> egui::ViewportBuilder {
    let builder = egui::ViewportBuilder::default()
        .with_app_id("powerband")
        .with_title("Powerband")
        .with_icon(app_icon())
        .with_min_inner_size([720.0, 480.0]);
    let Some(placement) = placement else {
        return builder.with_inner_size([FIRST_SIZE.0, FIRST_SIZE.1]);
    };
    let builder = builder
        .with_inner_size([placement.size.0, placement.size.1])
        .with_maximized(placement.maximized);
    match placement.position {
        Some((x, y)) => builder.with_position([x, y]),
        None => builder,
    }
}

/// The program's icon on the task bar, painted here so that no picture is decoded at start.
fn app_icon() -> egui::IconData {
    const SIDE: usize = 64;
    let amber = theme::DARK.accent;
    let ground = theme::DARK.ground;
    let mut rgba = Vec::with_capacity(SIDE * SIDE * 4);
    for index in 0..SIDE * SIDE {
        let (x, y) = (
            (index % SIDE) as f32 / SIDE as f32,
            1.0 - (index / SIDE) as f32 / SIDE as f32,
        );
        let curve = 0.16 + 0.62 * (1.0 - (-3.4 * (x - 0.1)).exp());
        let is_curve = (0.1..0.9).contains(&x) && (y - curve).abs() < 0.045;
        let to_knee = (x - 0.46).hypot(y - 0.64);
        let color = if is_curve || to_knee < 0.11 {
            amber
        } else {
            ground
        };
        let color = if to_knee < 0.06 { ground } else { color };
        rgba.extend_from_slice(&color.to_array());
    }
    egui::IconData {
        rgba,
        width: SIDE as u32,
        height: SIDE as u32,
    }
}
