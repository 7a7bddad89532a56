//! The window itself: from start to close, frame by frame.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use eframe::egui::{
    self, CentralPanel, Context, Frame, Margin, Panel, Stroke, Ui, ViewportCommand,
};

use super::dialogs::Dialogs;
use super::repaint_throttle::{Pace, RepaintThrottle};
use super::theme::{self, size, space};
use super::widgets::handle::{self, Grows};
use super::widgets::{field, figure, focus, zoom};
use super::{desktop, keyboard, shell, system_theme, views};
use crate::widgets::long_tip;
use powerband_app::action::{Action, Closing, Curves, Sessions, Shell};
use powerband_app::backend::Backend;
use powerband_app::jobs::{Urgency, Waker};
use powerband_app::notices::NoticeLevel;
use powerband_app::screen::Screen;
use powerband_app::shell::layout::{self, Pane};
use powerband_app::shell::settings::{Placement, Theme};
use powerband_app::{App, Installation, WindowRequest};
use powerband_core::base::clock;
use powerband_core::base::ending::Ending;
use powerband_core::domain::session::Session;

/// Most time a frame may spend on reports of background work.
const DRAIN: Duration = Duration::from_millis(10);
/// Most actions recorded for tests.
const ACTIONS_KEPT: usize = 16;
/// The least width of one of two screens.
const LEAST_SCREEN: f32 = 560.0;
/// The least height of one of two screens.
const LEAST_HEIGHT: f32 = 240.0;

/// How the window is started.
#[derive(Clone)]
pub struct Started {
    /// What measures, reads devices and starts programs.
    pub backend: Arc<dyn Backend>,
    /// Folders and programs.
    pub place: Installation,
    /// Sessions to open.
    pub files: Vec<PathBuf>,
    /// What the user should know from the start, such as settings that cannot be read.
    pub warnings: Vec<String>,
}

impl Started {
    /// With nothing to warn of.
    pub fn new(backend: Arc<dyn Backend>, place: Installation, files: Vec<PathBuf>) -> Self {
        Self {
            backend,
            place,
            files,
            warnings: Vec::new(),
        }
    }
}

/// The application in its window.
pub struct Window {
    app: App,
    dialogs: Dialogs,
    /// Sessions to open once the first frame has been seen.
    waking: Option<Vec<PathBuf>>,
    shown: Option<(Theme, f32)>,
    /// Whether the desktop is asked for its theme. Tests and benches look the same on every desktop.
    follows_system: bool,
    is_closing: bool,
    /// Set by a signal to end the program.
    ending: Ending,
    /// Whether the application knows that it should end.
    is_ending: bool,
    calm: RepaintThrottle,
    /// When the program was started, on the monotonic clock, until the first frame was reported; nothing where it is
    /// not to be.
    since_ns: Option<u64>,
    /// Whether the cursor was in a text field when the last frame ended.
    was_typing: bool,
    /// The newest actions, for tests.
    recent_actions: Vec<Action>,
}

impl Window {
    /// The window before its first frame. Nothing is looked up yet.
    pub fn new(ctx: &Context, started: Started) -> Self {
        theme::install(ctx);
        let pace = Pace::default();
        let mut window = Self {
            app: App::new(started.place, started.backend, waker(ctx, pace.clone())),
            calm: RepaintThrottle::new(pace),
            dialogs: Dialogs::default(),
            waking: Some(started.files),
            shown: None,
            follows_system: false,
            is_closing: false,
            ending: Ending::default(),
            is_ending: false,
            was_typing: false,
            recent_actions: Vec::new(),
            since_ns: None,
        };
        for warning in started.warnings {
            let now = clock::monotonic_ns();
            window
                .app
                .shared
                .notices
                .add(NoticeLevel::Trouble, warning, None, now);
        }
        system_theme::begin_with(ctx, window.app.shared.remembered.light_desktop);
        window.apply_looks(ctx);
        window
    }

    /// The window of a program that was started at a time on the monotonic clock, where its first frame is to be
    /// reported, and that ends where it is asked to. It follows the desktop's settings.
    #[cfg(unix)]
    pub(crate) fn of_program(mut self, since_ns: Option<u64>, ending: Ending) -> Self {
        self.since_ns = since_ns;
        self.follows_system = true;
        self.ending = ending;
        self
    }

    /// Shows sessions that are in no file, on a screen or the one where most of them is seen.
    pub fn showing(mut self, sessions: Vec<Session>, screen: Option<Screen>) -> Self {
        self.waking = None;
        self.app.show_sessions(sessions);
        if let Some(screen) = screen {
            self.app.act(Action::Go(screen));
        }
        self
    }

    /// The application, for tests.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// The application, for tests that need a state which no input leads to.
    #[doc(hidden)]
    pub fn app_mut(&mut self) -> &mut App {
        &mut self.app
    }

    /// The newest actions since the last time they were taken, for tests.
    #[doc(hidden)]
    pub fn take_actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.recent_actions)
    }

    /// Asks for paths in a field of its own, whatever the desktop offers.
    #[doc(hidden)]
    pub fn without_desktop(mut self) -> Self {
        self.dialogs = Dialogs::without_desktop();
        self
    }

    /// Applies an action.
    pub fn act(&mut self, action: Action) {
        self.app.act(action);
    }

    /// Whether the field for a path is on the screen.
    pub fn is_path_field_up(&self) -> bool {
        self.dialogs.is_field_up()
    }

    /// Theme and size, where they changed.
    fn apply_looks(&mut self, ctx: &Context) {
        let wanted = (
            self.app.shared.remembered.theme,
            self.app.shared.remembered.zoom(),
        );
        let is_resized = self.shown.is_some_and(|(_, zoom)| zoom != wanted.1);
        let waits = is_resized && views::holds_size(ctx, &self.app);
        if self.shown == Some(wanted) || waits {
            return;
        }
        ctx.set_theme(match wanted.0 {
            Theme::System => egui::ThemePreference::System,
            Theme::Light => egui::ThemePreference::Light,
            Theme::Dark => egui::ThemePreference::Dark,
        });
        ctx.options_mut(|options| options.zoom_with_keyboard = false);
        ctx.set_zoom_factor(wanted.1);
        self.shown = Some(wanted);
    }

    fn handle_requests(&mut self, ctx: &Context) {
        for output in std::mem::take(&mut self.app.shared.outputs) {
            match output {
                WindowRequest::Copy(text) => ctx.copy_text(text),
                WindowRequest::CopyPicture(picture) => {
                    let size = [picture.width, picture.height];
                    let image = egui::ColorImage::from_rgba_unmultiplied(size, &picture.rgba);
                    ctx.copy_image(image);
                }
                WindowRequest::Cursor(field) => field::request_focus(ctx, field),
                WindowRequest::Figure(request) => figure::want(ctx, request),
                WindowRequest::Zoom(step) => zoom::want(ctx, step),
                WindowRequest::Ask(ask) => self.dialogs.ask(ask, ctx),
                WindowRequest::Hide => ctx.send_viewport_cmd(ViewportCommand::Visible(false)),
                WindowRequest::Show => ctx.send_viewport_cmd(ViewportCommand::Visible(true)),
                WindowRequest::Close => {
                    self.is_closing = true;
                    ctx.send_viewport_cmd(ViewportCommand::Close);
                }
            }
        }
    }

    /// Saves the window's state. A failure must not keep the window open.
    #[expect(clippy::print_stderr, reason = "the window is closed already")]
    fn remember(&self) {
        if let Err(reason) = self.app.remember() {
            eprintln!("powerband: the window's state is not saved: {reason}");
        }
    }

    /// The part of a frame without painting.
    pub fn before_frame(&mut self, ctx: &Context) {
        self.calm
            .frame(clock::monotonic_ns(), clock::used_by_process_ns());
        // The search starts processes and reads large files, so it follows the first frame.
        #[cfg(unix)]
        if ctx.cumulative_frame_nr() > 0
            && let Some(files) = self.waking.take()
        {
            self.app.wake_up(files);
            if self.follows_system {
                system_theme::follow(ctx);
            }
        }
        if self.app.receive(DRAIN) {
            ctx.request_repaint();
        }
        if ctx.input(|input| input.viewport().close_requested()) && !self.is_closing {
            if self.app.bench.is_running() {
                ctx.send_viewport_cmd(ViewportCommand::CancelClose);
                self.app.act(Action::Shell(Shell::AskClose));
            } else {
                self.is_closing = true;
            }
        }
        self.end_where_asked();
        let whole = ctx.content_rect().size();
        self.app.shared.fit(whole.x < size::NARROW);
        let room = [whole.x - beside_screens(ctx, &self.app), whole.y];
        self.app.fit_panes(room);
        self.note_placement(ctx);
        self.app.shared.remembered.light_desktop = system_theme::is_light(ctx);
        self.apply_looks(ctx);
        self.handle_requests(ctx);
        if let Some(next) = self.app.next_change_ns() {
            ctx.request_repaint_after(Duration::from_nanos(next));
        }
    }

    /// Stops a run and closes, like *Stop and close* in the window.
    fn end_where_asked(&mut self) {
        desktop::note_running(self.app.bench.is_running());
        if self.ending.is_asked() && !self.is_ending {
            self.is_ending = true;
            self.act(Action::Shell(Shell::Close(Closing::Stop)));
        }
    }

    /// Prints when the first frame was on the screen, which is known once the second one begins.
    #[expect(clippy::print_stderr, reason = "the environment variable requests it")]
    fn print_start_time(&mut self, ctx: &Context) {
        if ctx.cumulative_frame_nr() == 0 {
            return ctx.request_repaint();
        }
        if let Some(since) = self.since_ns.take() {
            let ms = (clock::monotonic_ns() - since) as f64 / 1e6;
            eprintln!("first frame {ms:.1} ms after start");
        }
    }

    fn note_placement(&mut self, ctx: &Context) {
        let zoom = ctx.zoom_factor();
        let placement = ctx.input(|input| {
            let viewport = input.viewport();
            let inner = viewport.inner_rect?;
            Some(Placement {
                position: viewport
                    .outer_rect
                    .map(|outer| (outer.left() * zoom, outer.top() * zoom)),
                size: (inner.width() * zoom, inner.height() * zoom),
                maximized: viewport.maximized.unwrap_or(false),
            })
        });
        // A maximised window comes back to the size that it had before.
        let before = self.app.shared.remembered.placement;
        self.app.shared.remembered.placement = match (placement, before) {
            (Some(now), Some(before)) if now.maximized => Some(Placement {
                maximized: true,
                ..before
            }),
            (Some(now), _) => Some(now),
            (None, before) => before,
        };
    }

    /// One frame: shell, screen and overlays. Actions take effect after it.
    pub fn frame(&mut self, ui: &mut Ui) {
        let ctx = ui.ctx().clone();
        let mut actions = Vec::new();
        if !self.dialogs.is_field_up() {
            keyboard::read(&ctx, &self.app, self.was_typing, &mut actions);
        }
        dropped(&ctx, &mut actions);
        zoom::lay_out(&ctx, self.app.shared.charts.views(self.app.shared.screen));
        focus::begin(&ctx);
        self.panels(ui, &mut actions);
        shell::closing::show(ui, &self.app, &mut actions);
        #[cfg(unix)]
        shell::page_offer::show(ui, &self.app, &mut actions);
        shell::programs::show(ui, &self.app, &mut actions);
        #[cfg(unix)]
        shell::guide::show(ui, &self.app, &mut actions);
        long_tip::show_whole_text(ui.ctx());
        shell::palette::show(ui, &self.app, &mut actions);
        let (figures, has_figure) = figure::take(&ctx);
        actions.extend(figures.into_iter().map(Action::Figures));
        self.app.shared.window.has_figure = has_figure;
        let (zoomed, has_chart) = zoom::take(&ctx);
        actions.extend(zoomed.into_iter().map(Action::Charts));
        self.app.shared.window.has_zoomable_chart = has_chart;
        self.dialogs.show(ui, &mut actions);
        focus::show(ui);
        let has_actions = actions
            .iter()
            .any(|request| !matches!(request, Action::Curves(Curves::Highlight(_))));
        self.recent_actions.extend(actions.iter().cloned());
        let old = self.recent_actions.len().saturating_sub(ACTIONS_KEPT);
        self.recent_actions.drain(..old);
        for request in actions {
            self.app.act(request);
        }
        self.handle_requests(&ctx);
        self.apply_looks(&ctx);
        if has_actions {
            ctx.request_repaint();
        }
        self.was_typing = ctx.text_edit_focused();
        if self.waking.is_some() {
            ctx.request_repaint();
        }
    }

    /// Everything but overlays.
    fn panels(&self, ui: &mut Ui, actions: &mut Vec<Action>) {
        let (app, ctx) = (&self.app, ui.ctx().clone());
        let roles = theme::roles(ui);
        let edge = |fill| Frame::new().fill(fill).stroke(Stroke::NONE);
        Panel::bottom("strip")
            .exact_size(size::STRIP)
            .resizable(false)
            .frame(edge(roles.panel).inner_margin(Margin::symmetric(14, 0)))
            .show(ui, |ui| shell::strip::show(ui, app, actions));
        Panel::left("rail")
            .exact_size(shell::rail::width(&ctx, app))
            .resizable(false)
            .frame(edge(roles.rail))
            .show(ui, |ui| shell::rail::show(ui, app, actions));
        #[cfg(unix)]
        if stands_beside(app) {
            let shown = Panel::left("library")
                .exact_size(app.shared.size_of(&layout::LIBRARY))
                .resizable(false)
                .frame(edge(roles.panel).inner_margin(Margin::symmetric(12, 14)))
                .show(ui, |ui| shell::library::show(ui, app, actions));
            let at = shown.response.rect;
            handle::of_part(ui, app, &layout::LIBRARY, Grows::Right, at, actions);
        }
        if app.shared.window.log_open {
            let shown = Panel::bottom("log")
                .exact_size(app.shared.size_of(&layout::LOG))
                .resizable(false)
                .frame(edge(roles.panel).inner_margin(Margin::symmetric(14, 8)))
                .show(ui, |ui| shell::log::show(ui, app, actions));
            let at = shown.response.rect;
            handle::of_part(ui, app, &layout::LOG, Grows::Up, at, actions);
        }
        shell::notices::show(ui, app, actions);
        let margin = Margin::symmetric(space::LARGE as i8, 18);
        let frame = edge(roles.ground).inner_margin(margin);
        for pane in [Pane::Below, Pane::Right] {
            if let Some(screen) = app.shared.screen_in(pane) {
                beside_main(ui, app, (pane, screen), frame, actions);
            }
        }
        let main = CentralPanel::no_frame().frame(frame).show(ui, |ui| {
            focus::content_begins(ui);
            views::show(ui, app, app.shared.screen, actions);
        });
        views::take_dropped(ui, app, Pane::Main, main.response.rect, actions);
    }
}

impl eframe::App for Window {
    fn logic(&mut self, ctx: &Context, _frame: &mut eframe::Frame) {
        if self.since_ns.is_some() {
            self.print_start_time(ctx);
        }
        self.before_frame(ctx);
    }

    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        self.frame(ui);
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }

    fn on_exit(&mut self, _gl: Option<&eframe::glow::Context>) {
        self.remember();
    }
}

/// What stands beside the screens.
fn beside_screens(ctx: &Context, app: &App) -> f32 {
    let library = if stands_beside(app) {
        app.shared.size_of(&layout::LIBRARY)
    } else {
        0.0
    };
    shell::rail::width(ctx, app) + library
}

/// Whether the library stands beside the screen.
fn stands_beside(app: &App) -> bool {
    app.shared.shows_library() && app.shared.screen != Screen::Library
}

/// A screen in a pane beside the main one, with the edge between them, which keeps their shares when the window is
/// resized.
fn beside_main(
    ui: &mut Ui,
    app: &App,
    (pane, screen): (Pane, Screen),
    frame: Frame,
    actions: &mut Vec<Action>,
) {
    let (part, grows, room, least) = if pane == Pane::Below {
        (
            &layout::BELOW,
            Grows::Up,
            ui.available_height(),
            LEAST_HEIGHT,
        )
    } else {
        (
            &layout::RIGHT,
            Grows::Left,
            ui.available_width(),
            LEAST_SCREEN,
        )
    };
    let share = app.shared.size_of(part) / 1_000.0;
    let size = (room * share).clamp(least, (room - least).max(least));
    let panel = if pane == Pane::Below {
        Panel::bottom(part.id)
    } else {
        Panel::right(part.id)
    };
    let panel = panel.exact_size(size).resizable(false).frame(frame);
    let shown = panel.show(ui, |ui| views::show(ui, app, screen, actions));
    let at = shown.response.rect;
    let stroke = Stroke::new(1.0, theme::roles(ui).line);
    if pane == Pane::Below {
        ui.painter().hline(at.x_range(), at.top(), stroke);
    } else {
        ui.painter().vline(at.left(), at.y_range(), stroke);
    }
    let name = format!("Size of {}", part.title);
    if let Some(sized) = handle::show(ui, part.id, &name, grows, at, size) {
        let share = sized.chosen().map(|size| size / room * 1_000.0);
        actions.push(Action::Shell(Shell::Resize(part.id.to_owned(), share)));
    }
    views::take_dropped(ui, app, pane, at, actions);
}

fn waker(ctx: &Context, pace: Pace) -> Waker {
    let ctx = ctx.clone();
    Arc::new(move |urgency| match urgency {
        Urgency::Now => ctx.request_repaint(),
        Urgency::Soon => ctx.request_repaint_after(pace.get()),
        Urgency::Whenever => {}
    })
}

/// Files that were dropped on the window, wherever on it.
fn dropped(ctx: &Context, actions: &mut Vec<Action>) {
    let files: Vec<PathBuf> = ctx.input(|input| {
        let dropped = input.raw.dropped_files.iter();
        dropped.map(|file| file.path().to_path_buf()).collect()
    });
    if !files.is_empty() {
        actions.push(Action::Sessions(Sessions::Open(files)));
    }
}
