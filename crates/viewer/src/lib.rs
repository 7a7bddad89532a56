//! The window in a page of a browser: it shows the sessions that the page hands over, and measures nothing.
//!
//! `scripts/viewer` builds it, and the page that `src/result_page.rs` writes starts it.

#![cfg(target_arch = "wasm32")]

use std::panic;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use eframe::{Renderer, WebOptions, WebRunner};
use powerband_app::Installation;
use powerband_app::empty_backend::EmptyBackend;
use powerband_app::screen::Screen;
use powerband_core::base::paths::Paths;
use powerband_store::bundle::Bundle;
use powerband_store::settings::Settings;
use powerband_window::{ScreenText, Started, Window};
use wasm_bindgen::prelude::{JsError, wasm_bindgen};
use web_sys::HtmlCanvasElement;

#[wasm_bindgen]
extern "C" {
    /// The page shows its report in place of the viewer.
    fn powerband_failed(reason: &str);
    /// The page has the text of the screen for programs that read it aloud.
    fn powerband_screen_text(text: &str);
}

/// Shows the sessions of a bundle on a canvas, on the screen of this name where there is one.
#[wasm_bindgen]
pub async fn show(
    canvas: HtmlCanvasElement,
    bundle: Vec<u8>,
    screen: String,
) -> Result<(), JsError> {
    let runner = WebRunner::new();
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        usual(info);
        powerband_failed(&info.to_string());
    }));
    let Bundle {
        sessions,
        timelines,
    } = Bundle::unpack(&bundle)?;
    let backend = EmptyBackend {
        timelines,
        ..EmptyBackend::default()
    };
    let paths = Paths::under(Path::new("/"));
    let place = Installation::new(paths, &Settings::default(), PathBuf::new());
    let started = Started::new(Arc::new(backend), place, Vec::new());
    let options = WebOptions {
        renderer: Renderer::Glow,
        // Only shadows could have bands, and the noise against those makes frames without a graphics card a tenth slower.
        dithering: false,
        ..WebOptions::default()
    };
    let create: eframe::AppCreator<'static> = Box::new(move |creation| {
        let text = ScreenText::new(|text| powerband_screen_text(text));
        creation.egui_ctx.add_plugin(text);
        let window = Window::new(&creation.egui_ctx, started);
        Ok(Box::new(window.showing(sessions, Screen::named(&screen))))
    });
    let shown = runner.start(canvas, options, create).await;
    shown.map_err(|error| JsError::new(&format!("{error:?}")))
}
