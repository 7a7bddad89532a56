//! What comes from the desktop and goes back to it: dropped files, copied words, and the window's place.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use eframe::egui::{DroppedFile, HoveredFile, Rect, Vec2, ViewportId, pos2, vec2};
use powerband_app::screen::Screen;

use super::Desk;
use super::pictures::small_session;
use crate::models::good_model;
use crate::support::Home;

/// A file that a hand let go over the window.
#[derive(Debug)]
struct Let(PathBuf);

impl DroppedFile for Let {
    fn path(&self) -> &std::path::Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        fs::read(&self.0).map_err(|error| error.to_string())
    }
}

/// Files held over the window, and let go there.
fn drop_files(desk: &mut Desk, files: &[PathBuf]) {
    let held = files.iter().map(|path| HoveredFile {
        path: Some(path.clone()),
        ..HoveredFile::default()
    });
    desk.harness.input_mut().hovered_files = held.collect();
    desk.step();
    let input = desk.harness.input_mut();
    input.hovered_files.clear();
    for path in files {
        input.dropped_files.push(Arc::new(Let(path.clone())));
    }
    desk.step();
    desk.harness.input_mut().dropped_files.clear();
    desk.step();
}

/// What a button copies.
fn copied(desk: &mut Desk, button: &str) -> String {
    desk.copied.clear();
    desk.click(button);
    desk.steps(2);
    assert_eq!(desk.copied.len(), 1, "{:?}", desk.copied);
    desk.copied.remove(0)
}

#[test]
fn sessions_and_a_model_are_dropped() {
    let home = Home::new();
    let files = ["One", "Other"].map(|name| small_session(&home, name));
    home.write("mine.onnx", good_model());
    let model = home.path("mine.onnx");
    let mut desk = Desk::awake(home, Vec::new());
    drop_files(&mut desk, &files);
    desk.until("both are open", |app| app.shared.sessions.len() == 2);
    drop_files(&mut desk, std::slice::from_ref(&model));
    desk.until("the model is planned", |app| {
        app.shared.screen == Screen::Plan
    });
    assert_eq!(desk.value("Model"), model.display().to_string());
    // What is neither says so, and changes nothing.
    let other = desk.path("notes.bin");
    fs::write(&other, [0_u8, 159, 146, 150]).unwrap();
    drop_files(&mut desk, &[other]);
    desk.hear("notes.bin");
    assert_eq!(desk.app().shared.sessions.len(), 2);
    assert_eq!(desk.app().shared.screen, Screen::Plan);
}

#[test]
fn a_table_is_copied_as_it_is_shown() {
    let home = Home::new();
    let file = small_session(&home, "Copied");
    let mut desk = Desk::awake(home, vec![file]);
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.press("Ctrl+4");
    desk.click("Sort by Latency");
    desk.click("Sort by Latency");
    let rising = copied(&mut desk, "Copy Cases");
    let rows: Vec<Vec<&str>> = rising
        .lines()
        .map(|row| row.split('\t').collect())
        .collect();
    assert_eq!(rows.len(), 11, "{rising}");
    let heads = rows[0].len();
    assert!(rows.iter().all(|row| row.len() == heads), "{rising}");
    let latency = rows[0]
        .iter()
        .position(|head| *head == "Latency ms, median")
        .unwrap();
    let ms = |row: &Vec<&str>| {
        let number = row[latency].trim_end_matches(" ms");
        number.parse::<f64>().unwrap_or_else(|_| panic!("{row:?}"))
    };
    let times: Vec<f64> = rows[1..].iter().map(ms).collect();
    assert!(times.is_sorted(), "{times:?}");
    desk.click("Sort by Latency");
    desk.click("Sort by Latency");
    let falling = copied(&mut desk, "Copy Cases");
    let last = falling.lines().last().map(str::to_owned);
    assert_eq!(last.as_deref(), rising.lines().nth(1));
    desk.fill("Filter Cases", "rten");
    let fewer = copied(&mut desk, "Copy Cases");
    assert_eq!(fewer.lines().count(), 6, "{fewer}");
}

#[test]
fn the_right_button_on_a_cell_offers_what_can_be_done_with_it() {
    let home = Home::new();
    let file = small_session(&home, "Offered");
    let mut desk = Desk::awake(home, vec![file]);
    desk.until("it is open", |app| app.shared.sessions.len() == 1);
    desk.press("Ctrl+4");
    desk.reach("Sort by Throughput");
    let rate = desk.column("cases", "throughput_per_s").swap_remove(0);
    let right_click = |desk: &mut Desk| {
        let at = desk.get("Sort by Throughput").rect().center_bottom() + vec2(0.0, 22.0);
        desk.right_click_at(at);
    };
    right_click(&mut desk);
    assert_eq!(copied(&mut desk, "Copy the value"), rate);
    right_click(&mut desk);
    let row = copied(&mut desk, "Copy the row");
    assert_eq!(row.split('\t').count(), 10, "{row}");
    right_click(&mut desk);
    desk.click(&format!("Filter by “{rate}”"));
    assert_eq!(desk.column("cases", "throughput_per_s"), [rate]);
    right_click(&mut desk);
    desk.click("Hide Throughput");
    assert!(desk.find("Sort by Throughput").is_none());
    assert!(desk.harness.unnamed_widgets().is_empty());
}

#[test]
fn the_log_is_copied() {
    let mut desk = Desk::awake(Home::new(), vec![PathBuf::from("/nowhere/at all.ron")]);
    desk.hear("at all.ron");
    let words = copied(&mut desk, "Copy this message");
    assert!(words.contains("at all.ron"), "{words}");
    desk.press("Ctrl+L");
    let log = copied(&mut desk, "Copy the log");
    assert!(log.contains("at all.ron"), "{log}");
}

#[test]
fn the_window_is_where_it_was() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    let at = Rect::from_min_size(pos2(210.0, 130.0), Vec2::new(1300.0, 820.0));
    let put = |desk: &mut Desk, maximized: bool| {
        let viewports = &mut desk.harness.input_mut().viewports;
        let root = viewports.entry(ViewportId::ROOT).or_default();
        root.outer_rect = Some(at);
        root.inner_rect = Some(at.shrink(10.0));
        root.maximized = Some(maximized);
        desk.steps(2);
    };
    put(&mut desk, false);
    put(&mut desk, true);
    desk.app().remember().unwrap();
    let desk = Desk::awake(desk.home, Vec::new());
    let placement = desk.app().shared.remembered.placement.unwrap();
    assert_eq!(placement.position, Some((210.0, 130.0)));
    assert_eq!(placement.size, (1280.0, 800.0));
    assert!(placement.maximized);
}
