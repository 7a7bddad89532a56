//! The application without a window: its state, its actions and its background work.
//!
//! A view reads [`App`] and returns [`action::Action`]s; [`App::act`] is the only way to change it. What
//! background threads report is taken in by [`App::receive`]. Nothing here knows what draws it.

#![cfg_attr(
    not(unix),
    expect(
        dead_code,
        unused_imports,
        reason = "what measures is left out of pages and on Windows"
    )
)]

pub mod action;
pub mod backend;
pub mod charts;
pub mod command;
pub mod compare;
pub mod curves;
pub mod derived;
pub mod detached;
mod door_jobs;
pub mod doors;
pub mod empty_backend;
pub mod figures;
pub mod find;
pub mod fleet;
pub mod history;
pub mod items;
pub mod jobs;
pub mod journey;
pub mod kernels;
pub mod keys;
pub mod library;
pub mod machine;
pub mod network;
pub mod notices;
mod on_machine;
mod option_names;
pub mod page;
pub mod palette_entries;
mod parts;
pub mod plan;
pub mod reports;
pub mod roofs;
pub mod run;
pub mod screen;
pub mod sessions;
pub mod shared;
pub mod shell;
pub mod tables;
pub mod timeline;
pub mod why;
mod without_machine;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use action::{Action, Sessions, Shell};
use backend::Backend;
use curves::CurvesState;
use doors::{BenchDoor, CompareDoor, ProfileDoor, SettingsDoor};
use figures::Picture;
use jobs::Waker;
use library::LibraryState;
use notices::NoticeLevel;
use powerband_core::base::clock;
use powerband_core::domain::session::Session;
use powerband_findings::chart::view::Zoom;
pub use powerband_store::installation::Installation;
use powerband_store::library::journals;
use sessions::{LIVE, SessionId};
use shared::{FollowUp, Shared};

/// A request of the application to the window.
#[derive(Clone, Debug, PartialEq)]
pub enum WindowRequest {
    /// Put this text on the clipboard.
    Copy(String),
    /// Put this picture on the clipboard.
    CopyPicture(Arc<Picture>),
    /// Put the cursor into the field of this name.
    Cursor(String),
    /// Return the figure that the user means.
    Figure(FigureWish),
    /// Zoom the chart that the user means.
    Zoom(Zoom),
    /// Ask the user for files.
    Ask(Ask),
    /// Hide the window.
    Hide,
    /// Show the window: there is a question.
    Show,
    /// Close the window.
    Close,
}

/// What is wanted of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureWish {
    /// Its picture, on the clipboard.
    Copy,
    /// A file of it.
    Save,
}

/// A question whose answer is a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// Which files to open.
    Open,
    /// Which ONNX file to measure.
    Model,
    /// Which file a key of a setup of the plan names.
    KeyFile(usize, String),
    /// Which folder a key of a setup of the plan names.
    KeyFolder(usize, String),
    /// Which files of other tools to open.
    Trace,
    /// Where something is that engines need.
    Point(machine::PathSetting),
    /// Where to save a session, with a whole path to begin with.
    SaveSession(SessionId, PathBuf),
    /// Where to save a figure, with a whole path to begin with.
    SaveFigure(Arc<figures::ShownFigure>, PathBuf),
    /// Where to write a table, with a whole path to begin with.
    SaveTable(&'static str, PathBuf),
    /// Where to write a report, with a whole path to begin with.
    SaveReport(reports::ReportSubject, PathBuf),
    /// Where to write a page of results, with a whole path to begin with.
    SavePage(page::PageOffer, PathBuf),
}

/// The whole application: what is shared, and the state of what lies behind each door.
pub struct App {
    /// What every part uses.
    pub shared: Shared,
    /// The plan and the run.
    pub bench: BenchDoor,
    /// The curves.
    pub curves: CurvesState,
    /// The four ways to compare.
    pub compare: CompareDoor,
    /// The panes of a profile.
    pub profile: ProfileDoor,
    /// The library.
    pub library: LibraryState,
    /// What was measured of this machine, and runs on others.
    pub settings: SettingsDoor,
}

impl App {
    /// An application that has read its own settings only.
    pub fn new(place: Installation, backend: Arc<dyn Backend>, waker: Waker) -> Self {
        let (mut shared, said) = Shared::new(place, backend, waker);
        if let Some(said) = said {
            shared.notify(NoticeLevel::Trouble, said);
        }
        let mut app = Self {
            bench: BenchDoor::new(shared.remembered.draft.clone()),
            curves: CurvesState::default(),
            compare: CompareDoor::default(),
            profile: ProfileDoor::default(),
            library: LibraryState::default(),
            settings: SettingsDoor::default(),
            shared,
        };
        app.curves.options.log_y = !app.shared.remembered.linear_latency;
        app.curves.options.log_throughput = app.shared.remembered.throughput_axis();
        app.curves.stacked = app.shared.remembered.stacked_charts;
        app.curves.groups_by_model = app.shared.remembered.charts_by_model;
        app.curves.options.statistic = app.shared.remembered.statistic;
        app.curves.options.efficiency = app.shared.remembered.efficiency;
        app
    }

    /// Begins to look around on this machine: the library, the engines, what was open last time or is asked for now.
    #[cfg(unix)]
    pub fn wake_up(&mut self, files: Vec<PathBuf>) {
        let again = std::mem::take(&mut self.shared.remembered.open);
        let files_again = std::mem::take(&mut self.shared.remembered.files);
        let examples_again = std::mem::take(&mut self.shared.remembered.examples);
        let paths = &self.shared.place.paths;
        self.shared
            .jobs
            .watch_library(paths.library.clone(), journals(paths));
        if files.is_empty() {
            self.shared.open_sessions(again);
            self.shared.open_examples_again(&examples_again);
            self.profile
                .open_traces_again(files_again, &mut self.shared);
        } else {
            self.act(Action::Sessions(Sessions::Open(files)));
        }
        self.shared.look_for_engines();
        SettingsDoor::read_roofs(&self.shared);
        self.settings.detached(action::Detached::Look, &self.shared);
        BenchDoor::look_for_journals(&self.shared);
        BenchDoor::list_plans(&self.shared);
        self.bench.inspect_model(&self.shared);
    }

    /// Shows sessions that are in no file.
    pub fn show_sessions(&mut self, sessions: Vec<Session>) {
        self.shared.screen = Shared::first_screen(sessions.iter());
        self.shared.open_unsaved(sessions);
    }

    /// Applies an action; one that needs a machine is dropped where there is none.
    pub fn act(&mut self, action: Action) {
        match action {
            _ if !self.shared.offers(&action) => {}
            Action::Shell(Shell::Earlier) => self.go_back(),
            Action::Shell(Shell::Later) => self.go_forward(),
            _ => self.with_trail(|app| app.apply(action)),
        }
    }

    /// Applies an action, then what follows from it elsewhere.
    fn apply(&mut self, action: Action) {
        self.apply_one(action);
        self.follow_up();
    }

    fn follow_up(&mut self) {
        self.shared.is_running = self.bench.is_running();
        while let Some(next) = self.shared.follow_ups.pop_front() {
            match next {
                FollowUp::Action(action) => self.apply_one(action),
                FollowUp::NotOpened => self.library.next = None,
                FollowUp::DrawAlso(id) => self.curves.draw_session_too(id, &mut self.shared),
                FollowUp::DrawOnly(ids) => self.curves.draw_sessions(&ids, &mut self.shared),
                FollowUp::SessionsClosed(ids) => {
                    self.curves.forget_sessions(&ids, &mut self.shared);
                    for id in ids {
                        self.profile.close_traces_of(id, &mut self.shared);
                    }
                    self.sessions_changed();
                    self.curves.draw_what_is_left(&mut self.shared);
                }
                FollowUp::CasePinned(pin) => {
                    self.compare.case_pinned(pin, &mut self.shared);
                    self.profile.case_pinned(pin, &mut self.shared);
                }
                FollowUp::RoofsChanged => self.profile.forget_limits(&mut self.shared),
                FollowUp::RunGrew(measured) => {
                    self.curves.redraw_curves_of_run(&mut self.shared);
                    self.compare.run_grew(measured, &mut self.shared);
                }
                FollowUp::RunOver(id, is_compared) => {
                    self.curves.forget(LIVE);
                    self.compare.run_is_over(id, is_compared);
                    self.sessions_changed();
                }
                FollowUp::RunExplained(id) => self.profile.explain_run(id, &mut self.shared),
                FollowUp::ScreenShown => self.refresh_shown(),
                FollowUp::SessionsChanged => self.sessions_changed(),
                other => self.follow_up_on_machine(other),
            }
            self.shared.is_running = self.bench.is_running();
        }
        if std::mem::take(&mut self.shared.is_comparison_stale) {
            self.compare
                .sides
                .redraw(&self.shared.sessions, &self.curves.options, self.curves.pin);
        }
    }

    fn apply_one(&mut self, action: Action) {
        match action {
            Action::Go(screen) => {
                self.shared.screen = screen;
                self.refresh_shown();
            }
            Action::Back => self.back(),
            Action::Shell(Shell::Earlier) => self.go_back(),
            Action::Shell(Shell::Later) => self.go_forward(),
            Action::Shell(shell) if !matches!(shell, Shell::Close(_)) => self.shared.shell(shell),
            Action::Sessions(Sessions::Close(id)) => self.shared.close_sessions(vec![id]),
            Action::Sessions(Sessions::CloseAll) => self.shared.close_all_sessions(),
            Action::Curves(curves) => self.curves.act(curves, &mut self.shared),
            Action::Charts(change) => self.shared.charts(change),
            Action::Compare(compare) => self.compare.compare(&compare, &mut self.shared),
            Action::Fleet(fleet) => self.compare.fleet(fleet, &mut self.shared),
            Action::History(history) => self.compare.history(&history, &mut self.shared),
            Action::Journey(journey) => self.compare.journey(&journey, &mut self.shared),
            Action::Kernels(kernels) => self.profile.kernels(kernels, &mut self.shared),
            Action::Network(change) => self.profile.network(change, &mut self.shared),
            Action::Why(change) => self.profile.why(&change, &mut self.shared),
            Action::Timeline(change) => self.profile.timeline(change, &mut self.shared),
            Action::Table(id, change) => self.shared.table(id, change),
            other => self.apply_on_machine(other),
        }
    }

    /// Takes in what background work reports, for at most `budget`; returns whether something is left.
    pub fn receive(&mut self, budget: Duration) -> bool {
        let end = clock::monotonic_ns().saturating_add(budget.as_nanos() as u64);
        let mut is_more_left = false;
        while let Some(report) = self.shared.jobs.next() {
            self.with_trail(|app| {
                report(app);
                app.follow_up();
            });
            if clock::monotonic_ns() >= end {
                is_more_left = true;
                break;
            }
        }
        self.with_trail(|app| {
            app.all_opened();
            app.follow_up();
        });
        if is_more_left {
            return true;
        }
        let now = self
            .shared
            .window
            .stopped_at_ns
            .unwrap_or_else(clock::monotonic_ns);
        self.shared.notices.age(now);
        self.remember_now_and_then(now);
        if let Some(run) = &mut self.bench.run {
            run.update_progress(now);
        }
        self.refresh_bench();
        self.curves.refresh_curves(&mut self.shared);
        false
    }

    /// After reports were taken in: what is made of the open sessions is made anew once, however many were opened.
    fn all_opened(&mut self) {
        if std::mem::take(&mut self.shared.opening.has_opened) {
            self.compare.sides.found.forget();
            self.sessions_changed();
            self.shared.draw_opened_alone();
            // What a run or another window adds later comes beside what is drawn then.
            if self.shared.opening.files.is_empty() {
                self.shared.opening.alone = None;
            }
            self.shared.go_to_opened();
            self.refresh_shown();
            self.library.go_on_once_open(&mut self.shared);
        }
    }

    /// Nanoseconds until something changes by itself.
    pub fn next_change_ns(&self) -> Option<u64> {
        let now = clock::monotonic_ns();
        let tick = self.bench.is_running().then_some(1_000_000_000);
        [tick, self.shared.notices.next_change_ns(now)]
            .into_iter()
            .flatten()
            .min()
    }
}
