//! The window, driven without a screen: a hand that clicks and types, and eyes that read names.
//!
//! Every test has a home of its own. Background threads are real, so waiting is by the clock.

mod accuracy;
mod bad_libraries;
mod bad_luck;
mod behaviour;
mod changed_files;
mod charts_zoomed;
mod claims;
mod commands;
mod compare_by_hand;
mod compared_profiles;
mod compared_timelines;
mod curves_by_hand;
mod curves_charts;
mod curves_under_hand;
mod data;
mod desktop;
mod devices;
mod elsewhere;
mod every_screen;
mod figures;
mod fleet;
mod hanging;
mod imported;
mod instances;
mod journey;
mod kept_timelines;
mod kernels;
mod kernels_by_hand;
mod layout;
mod library;
mod long_names;
mod machine;
mod made_up_trace;
mod menus;
mod narrow;
mod network;
mod numbers;
mod offers;
mod one_number;
mod over_controls;
mod over_time;
mod page_text;
mod pictures;
mod pixels;
mod plan_by_hand;
mod plan_form;
mod plan_inputs;
mod programs;
mod queue;
mod ranks;
mod reach;
mod recipes;
mod reports;
mod result_page;
mod roofs;
mod run_screen;
mod scaled;
mod searching;
mod several;
pub(crate) mod shapes;
mod timeline;
mod timeline_notes;
mod timeline_slices;
mod traces;
mod typing;
mod unmoved;
mod verdicts;
mod watching;
mod why;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use eframe::egui::accesskit::Role;
use eframe::egui::{
    self, Event, Key, Modifiers, OutputCommand, PointerButton, Pos2, Shape, ViewportCommand,
    ViewportEvent, ViewportId,
};
use egui_kittest::kittest::{AccessKitNode, NodeT as _};
use egui_kittest::{Harness, Node};
use powerband::backend::LocalBackend;
use powerband_app::action::{Action, FigureAction};
use powerband_app::figures::ShownFigure;
use powerband_app::keys::Shortcut;
use powerband_app::{App, Installation};
use powerband_core::base::clock;
use powerband_core::base::environment_roots::EnvironmentRoots;
use powerband_core::base::paths::Paths;
use powerband_findings::tables::cell::Cell;
use powerband_window::{Started, Window};

use crate::support::{Home, alone};

/// Long enough for a loaded machine.
const PATIENCE: Duration = Duration::from_mins(1);
/// Between two frames while a test waits.
const PAUSE: Duration = Duration::from_millis(8);
/// The window of the tests.
const SIZE: (f32, f32) = (1280.0, 800.0);

/// A window on a desk: the program as its user has it, and what came of it.
struct Desk {
    harness: Harness<'static, Window>,
    /// What the window asked of the system, oldest first.
    asked: Vec<ViewportCommand>,
    /// What was copied, oldest first.
    copied: Vec<String>,
    home: Home,
}

/// The folders of a home, without engines from elsewhere.
fn place(home: &Home) -> Installation {
    Installation {
        machines: Vec::new(),
        paths: Paths::under(&home.path("home")),
        onnxruntime: None,
        python: None,
        program: PathBuf::from(env!("CARGO_BIN_EXE_powerband")),
        watch: None,
        environment_roots: EnvironmentRoots::default(),
    }
}

impl Desk {
    /// A window in a home, with files to open.
    fn with(home: Home, files: Vec<PathBuf>) -> Self {
        Self::sized(home, files, 1.0)
    }

    /// A window at so many pixels a point.
    fn sized(home: Home, files: Vec<PathBuf>, pixels_per_point: f32) -> Self {
        let place = place(&home);
        Self::at_installation(home, place, files, pixels_per_point)
    }

    /// A window whose runs happen at a place.
    fn at_installation(
        home: Home,
        place: Installation,
        files: Vec<PathBuf>,
        pixels_per_point: f32,
    ) -> Self {
        clock::show_utc();
        let started = Started::new(Arc::new(LocalBackend::default()), place, files);
        let harness = Harness::builder()
            .with_size(SIZE)
            .with_pixels_per_point(pixels_per_point)
            .with_render_cursor(false)
            .build_eframe(|creation| Window::new(&creation.egui_ctx, started).without_desktop());
        harness.ctx.all_styles_mut(|style| {
            style.animation_time = 0.0;
            style.scroll_animation = egui::style::ScrollAnimation::none();
            style.visuals.text_cursor.blink = false;
        });
        let mut desk = Self {
            harness,
            asked: Vec::new(),
            copied: Vec::new(),
            home,
        };
        desk.step();
        desk
    }

    /// A window that has looked around: engines and library are known.
    fn awake(home: Home, files: Vec<PathBuf>) -> Self {
        let mut desk = Self::with(home, files);
        desk.until("everything is looked up", |app| {
            app.shared.machine.engines.is_some() && app.library.is_scanned
        });
        desk
    }

    fn app(&self) -> &App {
        self.harness.state().app()
    }

    fn app_mut(&mut self) -> &mut App {
        self.harness.state_mut().app_mut()
    }

    /// What was wished for since the last time.
    fn actions(&mut self) -> Vec<Action> {
        self.harness.state_mut().take_actions()
    }

    fn act(&mut self, action: Action) {
        self.harness.state_mut().act(action);
        self.step();
    }

    /// One frame, or one for each thing that the hand did.
    fn step(&mut self) {
        self.harness.step();
        let root = self.harness.output().viewport_output.get(&ViewportId::ROOT);
        self.asked
            .extend(root.into_iter().flat_map(|output| output.commands.clone()));
        let commands = &self.harness.output().platform_output.commands;
        self.copied
            .extend(commands.iter().filter_map(|command| match command {
                OutputCommand::CopyText(text) => Some(text.clone()),
                _ => None,
            }));
    }

    fn steps(&mut self, number: usize) {
        for _ in 0..number {
            self.step();
        }
    }

    /// Frames until it is so.
    fn until(&mut self, what: &str, is_so: impl Fn(&App) -> bool) {
        self.step_until(what, PATIENCE, |desk| is_so(desk.app()));
    }

    /// Frames until it is so; after too long a time, a word of what is on the screen instead.
    fn step_until(&mut self, what: &str, patience: Duration, is_so: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !is_so(self) {
            assert!(
                begun.elapsed() < patience,
                "never came true: {what}. On the screen:\n{}\nSaid:\n{}",
                self.names().join("\n"),
                self.said().join("\n")
            );
            std::thread::sleep(PAUSE);
            self.step();
        }
    }

    /// Frames until something of this name is seen.
    fn see(&mut self, name: &str) {
        self.step_until(&format!("\"{name}\" is seen"), PATIENCE, |desk| {
            desk.sees(name)
        });
    }

    /// Whether something has the words in its name.
    pub(super) fn sees(&self, words: &str) -> bool {
        self.names().iter().any(|name| name.contains(words))
    }

    /// What is copied of the figure under the pointer.
    fn figure_at(&mut self, place: Pos2) -> Arc<ShownFigure> {
        self.harness.hover_at(place);
        self.steps(3);
        self.actions();
        self.press("Ctrl+I");
        self.steps(2);
        let copied = self
            .actions()
            .into_iter()
            .find_map(|request| match request {
                Action::Figures(FigureAction::Copy(shown)) => Some(shown),
                _ => None,
            });
        copied.expect("a request to copy")
    }

    /// Everything that was said in notices.
    fn said(&self) -> Vec<String> {
        let all = self.app().shared.notices.all().iter();
        all.map(|notice| notice.text.clone()).collect()
    }

    /// Frames until a notice has the words.
    fn hear(&mut self, words: &str) {
        self.step_until(&format!("\"{words}\" is said"), PATIENCE, |desk| {
            desk.said().iter().any(|text| text.contains(words))
        });
    }

    /// Names of everything on the screen, from top to bottom of the tree.
    fn names(&self) -> Vec<String> {
        let nodes = self.nodes().into_iter();
        nodes.filter_map(|node| name_of(&node)).collect()
    }

    fn nodes(&self) -> Vec<AccessKitNode<'_>> {
        let root = self.harness.root();
        let nodes = root.children_recursive();
        nodes
            .map(|node| node.accesskit_node())
            .filter(|node| !node.is_hidden())
            .collect()
    }

    /// The control of this name; labels only where nothing else has it.
    fn find(&self, name: &str) -> Option<Node<'_>> {
        let root = self.harness.root();
        let mut found: Vec<Node<'_>> = root
            .children_recursive()
            .filter(|node| name_of(&node.accesskit_node()).as_deref() == Some(name))
            .collect();
        found.sort_by_key(|node| node.accesskit_node().role() == Role::Label);
        found.into_iter().next()
    }

    fn get(&self, name: &str) -> Node<'_> {
        self.find(name).unwrap_or_else(|| {
            panic!(
                "nothing is called \"{name}\". On the screen:\n{}",
                self.names().join("\n")
            )
        })
    }

    /// Brings the control into sight.
    fn reach(&mut self, name: &str) {
        let is_there = |desk: &Self| desk.find(name).is_some();
        self.step_until(&format!("\"{name}\" is there"), PATIENCE, is_there);
        self.steps(2);
        let window = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::Vec2::from(SIZE));
        // Screens end above the strip at the foot, and a click below their end hits nothing.
        if !window.shrink(64.0).contains(self.get(name).rect().center()) {
            self.get(name).scroll_to_me();
            self.steps(3);
        }
        self.wheel_to(name);
    }

    /// Turns the wheel over the screen until the control is above its end: heads of tables do not scroll themselves
    /// into sight.
    fn wheel_to(&mut self, name: &str) {
        let end = SIZE.1 - 64.0;
        for _ in 0..40 {
            let Some(control) = self.find(name) else {
                return;
            };
            let middle = control.rect().center();
            if middle.y <= end || middle.y > 10.0 * SIZE.1 || middle.x < SIZE.0 / 3.0 {
                return;
            }
            self.harness
                .hover_at(egui::pos2(middle.x.min(SIZE.0 - 64.0), end - 64.0));
            self.harness.event(egui::Event::MouseWheel {
                unit: egui::MouseWheelUnit::Point,
                delta: egui::vec2(0.0, -120.0),
                phase: egui::TouchPhase::Move,
                source: egui::MouseWheelSource::Unknown,
                modifiers: egui::Modifiers::NONE,
            });
            self.steps(6);
        }
    }

    /// A click of the mouse.
    fn click(&mut self, name: &str) {
        self.reach(name);
        self.get(name).click();
        self.steps(2);
    }

    /// A click with the right button.
    fn right_click(&mut self, name: &str) {
        self.reach(name);
        let at = self.get(name).rect().center();
        self.right_click_at(at);
    }

    /// The same at a place.
    fn right_click_at(&mut self, at: Pos2) {
        self.harness.hover_at(at);
        self.steps(2);
        for pressed in [true, false] {
            self.harness.event(Event::PointerButton {
                pos: at,
                button: PointerButton::Secondary,
                pressed,
                modifiers: Modifiers::NONE,
            });
        }
        self.steps(3);
    }

    /// A click with Ctrl held.
    fn click_with_ctrl(&mut self, name: &str) {
        self.reach(name);
        let ctrl = Modifiers::CTRL | Modifiers::COMMAND;
        self.get(name).click_modifiers(ctrl);
        self.steps(2);
    }

    /// Keys as people write them.
    fn press(&mut self, keys: &str) {
        let keys: Shortcut = keys.parse().expect("keys");
        let key = match keys.key.as_str() {
            "Plus" => Key::Plus,
            "Minus" => Key::Minus,
            "Period" => Key::Period,
            "Comma" => Key::Comma,
            name => Key::from_name(name).expect("a key"),
        };
        let modifiers = held(&keys);
        self.harness.event(Event::ModifiersChanged(modifiers));
        for pressed in [true, false] {
            self.harness.event(Event::Key {
                key,
                physical_key: None,
                pressed,
                repeat: false,
                modifiers,
            });
        }
        self.harness.event(Event::ModifiersChanged(Modifiers::NONE));
        self.step();
        self.step();
    }

    /// Types into a field, in place of what it has.
    fn fill(&mut self, name: &str, text: &str) {
        self.click(name);
        self.press("Ctrl+A");
        if text.is_empty() {
            self.press("Delete");
        }
        self.type_text(text);
    }

    /// Types where the cursor is.
    fn type_text(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            self.harness.event(Event::Text(line.trim_end().to_owned()));
            if line.ends_with('\n') {
                self.press("Enter");
            }
        }
        self.steps(3);
    }

    /// What a field has.
    fn value(&self, name: &str) -> String {
        self.get(name).value().unwrap_or_default()
    }

    /// What a column of a table says, row by row.
    fn column(&self, table: &str, key: &str) -> Vec<String> {
        let cells = self.cells(table, key).into_iter();
        cells.map(|cell| cell.shown_text().to_owned()).collect()
    }

    /// The cells of a column of a table, shown or not.
    fn cells(&self, table: &str, key: &str) -> Vec<Cell> {
        let view = self.app().shared.tables.view(table).expect("a table");
        (0..view.len()).map(|row| view.value(row, key)).collect()
    }

    /// The cross at the window's corner.
    fn close_window(&mut self) {
        let viewports = &mut self.harness.input_mut().viewports;
        if let Some(root) = viewports.get_mut(&ViewportId::ROOT) {
            root.events.push(ViewportEvent::Close);
        }
        self.step();
        self.step();
    }

    fn has_asked(&self, command: &ViewportCommand) -> bool {
        self.asked.contains(command)
    }

    /// A path in the home.
    fn path(&self, name: &str) -> PathBuf {
        self.home.path(name)
    }

    /// Session files of the library.
    fn session_files(&self) -> Vec<PathBuf> {
        let mut files = crate::support::files(&self.path("home/sessions"));
        files.retain(|path| path.extension().is_some_and(|extension| extension == "ron"));
        files
    }

    /// Words that egui paints over widgets of the same number.
    fn clashes(&self) -> Vec<String> {
        let mut found = Vec::new();
        for clipped in &self.harness.output().shapes {
            clashes_in(&clipped.shape, &mut found);
        }
        found
    }
}

fn clashes_in(shape: &Shape, found: &mut Vec<String>) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| clashes_in(shape, found)),
        // `First use of widget ID …`, as egui paints it.
        Shape::Text(text) if text.galley.text().contains("irst use of ") => {
            found.push(text.galley.text().to_owned());
        }
        Shape::Text(text) if text.galley.text().contains("econd use of ") => {
            found.push(text.galley.text().to_owned());
        }
        _ => {}
    }
}

fn held(keys: &Shortcut) -> Modifiers {
    Modifiers {
        ctrl: keys.ctrl,
        shift: keys.shift,
        alt: keys.alt,
        command: keys.ctrl,
        ..Modifiers::NONE
    }
}

/// A label says what it says as its value, everything else as its name.
fn name_of(node: &AccessKitNode<'_>) -> Option<String> {
    let name = if node.role() == Role::Label {
        node.label().or_else(|| node.value())
    } else {
        node.label()
    };
    name.filter(|name| !name.is_empty())
}

/// Puts a session's file into the library of a home.
fn shelve(home: &Home, name: &str, session: &powerband_core::domain::session::Session) -> PathBuf {
    let folder = home.path("home/sessions");
    std::fs::create_dir_all(&folder).expect("the library's folder");
    let path = folder.join(format!("{name}.ron"));
    write(&path, session);
    path
}

fn write(path: &Path, session: &powerband_core::domain::session::Session) {
    powerband_store::session_file::write(path, session).expect("a session's file");
}
