//! What the parts of the application share: the open sessions, the window, background work, notices.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use crate::action::{Action, Shell};
use crate::backend::Backend;
use crate::charts::ChartsState;
use crate::jobs::{Jobs, Waker};
use crate::machine::MachineState;
use crate::notices::{NoticeLevel, Notices};
use crate::page::PageOffer;
use crate::screen::Screen;
use crate::sessions::{OpenSessions, Pin, SessionId};
use crate::shell::settings::{self, SavedState};
use crate::shell::trail::Trail;
use crate::tables::Tables;
use crate::{Installation, WindowRequest};
use powerband_core::base::clock;
use powerband_core::domain::request::RunRequest;
use powerband_core::domain::session::Session;
use powerband_core::domain::setup::Setup;
use powerband_store::library::ScannedFile;

/// What the parts of the application share.
pub struct Shared {
    /// Folders and programs.
    pub place: Installation,
    /// What measures, reads devices and starts programs.
    pub backend: Arc<dyn Backend>,
    /// The screen that is shown.
    pub screen: Screen,
    /// This machine: engines, devices, profilers.
    pub machine: MachineState,
    /// What the window remembers from one start to the next.
    pub remembered: SavedState,
    /// The window itself.
    pub window: WindowState,
    /// Where the user has been.
    pub trail: Trail,
    /// The open sessions.
    pub sessions: OpenSessions,
    /// The files that are being opened.
    pub(crate) opening: OpeningFiles,
    /// The tables of the screens, as they are arranged.
    pub tables: Tables,
    /// What the user should know.
    pub notices: Notices,
    /// What is seen of the charts.
    pub charts: ChartsState,
    /// Requests to the window, oldest first.
    pub outputs: Vec<WindowRequest>,
    /// Background work.
    pub(crate) jobs: Jobs,
    /// Whether workers may be measuring.
    pub is_running: bool,
    /// What was found in the library.
    pub(crate) library_files: Arc<BTreeMap<PathBuf, ScannedFile>>,
    /// Whether what the comparison draws is to be drawn anew.
    pub(crate) is_comparison_stale: bool,
    /// How often the user changed the rules for categories of kernels.
    pub category_rules: u32,
    /// What follows elsewhere from what is done now, oldest first.
    pub(crate) follow_ups: VecDeque<FollowUp>,
}

/// What follows behind another door.
#[derive(Debug)]
pub(crate) enum FollowUp {
    /// Another action.
    Action(Action),
    /// Files of other tools are opened.
    OpenTraces(Vec<PathBuf>),
    /// A file could not be opened.
    NotOpened,
    /// The series of a session are drawn beside the others.
    DrawAlso(SessionId),
    /// The series of these sessions are drawn, and no others.
    DrawOnly(BTreeSet<SessionId>),
    /// The plan of an open session becomes the plan.
    PlanAgain(SessionId),
    /// A session is saved with its timelines that are open.
    SaveSession(SessionId, PathBuf),
    /// Sessions were closed.
    SessionsClosed(Vec<SessionId>),
    /// A case was pinned, and is selected on other screens too.
    CasePinned(Pin),
    /// There are other saved plans.
    PlansChanged,
    /// How long earlier sessions took may be known better.
    PastDurationsWanted,
    /// Other roofs are known.
    RoofsChanged,
    /// The roofs that a setup needs are to be measured.
    RoofsWanted(Setup),
    /// A run begins, and the one before is no longer measured.
    RunBegan,
    /// The session of the run has more; after a round, this is it with its samples.
    RunGrew(Option<Arc<Session>>),
    /// The run became this open session; its first two setups are compared where that is what it is for.
    RunOver(SessionId, bool),
    /// A run with experiments is over: what limits its case is shown.
    RunExplained(SessionId),
    /// A plan is measured in jobs of Slurm.
    Detach(Box<RunRequest>),
    /// Another screen is shown.
    ScreenShown,
    /// The open sessions or what is found in them changed.
    SessionsChanged,
}

/// What is open and shown in the window beside its screens.
pub struct WindowState {
    /// Whether the command palette is open.
    pub palette_open: bool,
    /// Whether the guide's page of the screen is open.
    pub guide_open: bool,
    /// Whether the log is open.
    pub log_open: bool,
    /// Whether the window asks what happens to the run.
    pub closing: bool,
    /// The page of results that is offered.
    pub page_offer: Option<PageOffer>,
    /// Whether a figure is on the screen that could be copied.
    pub has_figure: bool,
    /// Whether a chart is shown that can be zoomed.
    pub has_zoomable_chart: bool,
    /// The time of all frames, where a picture is taken of one moment; nothing where time passes.
    pub stopped_at_ns: Option<u64>,
    /// Whether the library is shown beside the screen all the same where the window has no room for both;
    /// nothing where it has.
    pub(crate) library_in_narrow: Option<bool>,
    /// Width and height of the room for screens, in points.
    pub room: [f32; 2],
    /// Where its state is written.
    pub(crate) file: PathBuf,
    /// What was last written there, and when, on the monotonic clock.
    pub(crate) written: (SavedState, u64),
}

/// Sessions and examples that were asked for.
#[derive(Debug, Default)]
pub(crate) struct OpeningFiles {
    /// Which of the open sessions are built-in examples, each with its place among them.
    pub examples: BTreeMap<SessionId, usize>,
    /// Files that are being read; they are remembered as if they were open.
    pub files: BTreeMap<SessionId, PathBuf>,
    /// Whether the next session that opens is shown at once: the user asked for it.
    pub shows_opened: bool,
    /// The sessions that the user opened last, which are drawn alone; nothing where they come beside the others.
    pub alone: Option<BTreeSet<SessionId>>,
    /// Whether sessions were opened of which nothing is made yet.
    pub has_opened: bool,
}

impl Shared {
    /// What is remembered from the last start, and why it could not be read.
    pub(crate) fn new(
        place: Installation,
        backend: Arc<dyn Backend>,
        waker: Waker,
    ) -> (Self, Option<String>) {
        let file = settings::window_file(&place);
        let (remembered, said) = settings::read(&file);
        let shared = Self {
            screen: remembered.screen,
            window: WindowState {
                palette_open: false,
                guide_open: false,
                log_open: false,
                closing: false,
                page_offer: None,
                has_figure: false,
                has_zoomable_chart: false,
                stopped_at_ns: None,
                library_in_narrow: None,
                room: [0.0; 2],
                file,
                written: (remembered.clone(), clock::monotonic_ns()),
            },
            machine: MachineState::default(),
            trail: Trail::default(),
            sessions: OpenSessions::default(),
            opening: OpeningFiles::default(),
            tables: Tables::arranged(remembered.tables.clone()),
            notices: Notices::default(),
            charts: ChartsState::default(),
            outputs: Vec::new(),
            jobs: Jobs::new(waker, backend.has_machine()),
            is_running: false,
            library_files: Arc::default(),
            is_comparison_stale: false,
            category_rules: 0,
            follow_ups: VecDeque::new(),
            remembered,
            backend,
            place,
        };
        (shared, said)
    }

    /// Whether there is a machine with files, devices and programs; a page of a browser has none.
    pub fn has_machine(&self) -> bool {
        self.backend.has_machine()
    }

    pub(crate) fn notify(&mut self, weight: NoticeLevel, text: impl Into<String>) {
        self.notices.add(weight, text, None, clock::monotonic_ns());
    }

    pub(crate) fn notify_with_button(
        &mut self,
        weight: NoticeLevel,
        text: impl Into<String>,
        button: &str,
        action: Action,
    ) {
        let offer = Some((button.to_owned(), action));
        self.notices.add(weight, text, offer, clock::monotonic_ns());
    }

    /// A file was written in the background: the message, and the file; or why it was not.
    pub(crate) fn file_written(&mut self, written: Result<(String, PathBuf), String>) {
        match written {
            Ok((text, path)) => {
                let open = Action::Shell(Shell::OpenFile(path));
                self.notify_with_button(NoticeLevel::Done, text, "Open", open);
                self.jobs.rescan_library();
            }
            Err(reason) => self.notify(NoticeLevel::Trouble, reason),
        }
    }

    /// Another action is taken once this one is done: what it does elsewhere.
    pub(crate) fn then(&mut self, action: Action) {
        self.follow_ups.push_back(FollowUp::Action(action));
    }
}
