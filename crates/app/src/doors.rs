//! The doors of the application: what lies behind each of them.

use std::collections::VecDeque;

use crate::App;
use crate::compare::CompareState;
use crate::curves::CurvesState;
use crate::detached::DetachedState;
use crate::fleet::FleetState;
use crate::history::HistoryState;
use crate::journey::JourneyState;
use crate::kernels::KernelsState;
use crate::library::LibraryState;
use crate::network::NetworkState;
use crate::parts::layer::Layer;
use crate::plan::{Draft, PastDurationCache, Planner};
use crate::roofs::RoofsState;
use crate::run::{LiveRun, ProgramsQuestion, QueuedRun};
use crate::shared::Shared;
use crate::timeline::TimelineState;
use crate::why::WhyState;
use powerband_store::journal::JournalledRun;

/// What lies behind a door. It gets what is shared, never the application.
pub(crate) trait DoorState {
    /// The door and what is shared.
    fn in_app(app: &mut App) -> (&mut Self, &mut Shared)
    where
        Self: Sized;

    /// After the open sessions or what is found in them changed.
    fn sessions_changed(&mut self, _shared: &mut Shared) {}

    /// After another screen came into sight: some things are found only for a screen that is shown.
    fn screen_shown(&mut self, _shared: &mut Shared) {}

    /// Closes what it has open in a layer; returns whether there was something.
    fn back(&mut self, _layer: Layer, _shared: &mut Shared) -> bool {
        false
    }
}

/// The plan and the run.
pub struct BenchDoor {
    /// The plan.
    pub planner: Planner,
    /// The run in progress, or the last one.
    pub run: Option<LiveRun>,
    /// Plans that wait for it.
    pub queue: VecDeque<QueuedRun>,
    /// How many runs were begun in this window.
    pub n_runs: u32,
    /// The programs that the window asks for before a run.
    pub programs: Option<ProgramsQuestion>,
    /// Runs that other programs measure now.
    pub(crate) elsewhere: Vec<JournalledRun>,
    /// How long earlier sessions took.
    pub(crate) past_durations: PastDurationCache,
}

impl BenchDoor {
    /// A plan, and no run yet.
    pub(crate) fn new(draft: Draft) -> Self {
        Self {
            planner: Planner::new(draft),
            run: None,
            queue: VecDeque::new(),
            n_runs: 0,
            programs: None,
            elsewhere: Vec::new(),
            past_durations: PastDurationCache::default(),
        }
    }

    /// Whether workers may be measuring.
    pub fn is_running(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.stage.is_going_on())
    }

    /// Whether a run can be started, or why not.
    pub fn can_start(&self) -> Result<(), &'static str> {
        let is_idle = !self.is_running();
        is_idle.then_some(()).ok_or("a run is in progress")
    }

    /// The run whose workers may still be measuring.
    pub(crate) fn run_in_progress(&mut self) -> Option<&mut LiveRun> {
        self.run.as_mut().filter(|run| run.stage.is_going_on())
    }
}

/// The four ways to compare.
#[derive(Default)]
pub struct CompareDoor {
    /// Two sides.
    pub sides: CompareState,
    /// The machines of the open sessions.
    pub fleet: Box<FleetState>,
    /// A case over time.
    pub history: Box<HistoryState>,
    /// The steps of a session.
    pub journey: JourneyState,
}

/// The panes of a profile.
#[derive(Default)]
pub struct ProfileDoor {
    /// Its time by category, operator and kernel.
    pub kernels: KernelsState,
    /// Its network as a picture.
    pub network: NetworkState,
    /// Why a case is slow.
    pub why: WhyState,
    /// The timeline of a trace.
    pub timeline: TimelineState,
}

/// What was measured of this machine, and runs on others.
#[derive(Default)]
pub struct SettingsDoor {
    /// What this machine reaches at most.
    pub roofs: RoofsState,
    /// Runs in jobs of Slurm.
    pub detached: DetachedState,
}

impl DoorState for BenchDoor {
    fn in_app(app: &mut App) -> (&mut Self, &mut Shared) {
        (&mut app.bench, &mut app.shared)
    }

    /// A question that is closed is answered with no.
    fn back(&mut self, layer: Layer, _shared: &mut Shared) -> bool {
        layer == Layer::Question && self.programs.take().is_some()
    }
}

impl DoorState for CurvesState {
    fn in_app(app: &mut App) -> (&mut Self, &mut Shared) {
        (&mut app.curves, &mut app.shared)
    }

    fn sessions_changed(&mut self, shared: &mut Shared) {
        self.redraw_all_curves(shared);
    }

    fn back(&mut self, layer: Layer, shared: &mut Shared) -> bool {
        self.clear_pins(layer, shared)
    }
}

impl DoorState for CompareDoor {
    fn in_app(app: &mut App) -> (&mut Self, &mut Shared) {
        (&mut app.compare, &mut app.shared)
    }

    fn sessions_changed(&mut self, shared: &mut Shared) {
        self.renew_comparison(shared);
        self.fleet.drop_closed(&shared.sessions);
        self.compare_machines_if_wanted(shared);
        self.renew_history(shared);
        self.compare_steps_if_wanted(shared);
    }

    fn screen_shown(&mut self, shared: &mut Shared) {
        self.compare_machines_if_wanted(shared);
        self.history_shown(shared);
        self.compare_steps_if_wanted(shared);
    }
}

impl DoorState for ProfileDoor {
    fn in_app(app: &mut App) -> (&mut Self, &mut Shared) {
        (&mut app.profile, &mut app.shared)
    }

    fn sessions_changed(&mut self, shared: &mut Shared) {
        self.add_up_if_wanted(shared);
        self.find_limits_if_wanted(shared);
    }

    fn screen_shown(&mut self, shared: &mut Shared) {
        self.sessions_changed(shared);
        self.open_timeline_if_none_is(shared);
    }

    fn back(&mut self, layer: Layer, shared: &mut Shared) -> bool {
        self.leaves_selection(layer, shared)
            || self.clear_node(layer, shared)
            || self.clear_item(layer, shared)
            || self.clear_kernel_choices(layer, shared)
    }
}

impl DoorState for LibraryState {
    fn in_app(app: &mut App) -> (&mut Self, &mut Shared) {
        (&mut app.library, &mut app.shared)
    }

    fn back(&mut self, layer: Layer, shared: &mut Shared) -> bool {
        self.clear_search(layer, shared)
    }
}

impl DoorState for SettingsDoor {
    fn in_app(app: &mut App) -> (&mut Self, &mut Shared) {
        (&mut app.settings, &mut app.shared)
    }
}
