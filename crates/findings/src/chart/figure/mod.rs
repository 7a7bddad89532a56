//! Every figure by its name, made from a session with the options that it begins with on the screen.
//!
//! The command line, reports and documentation read [`ALL`]; the window makes the same drawings with the
//! chosen options.

use std::sync::OnceLock;

use super::breakdown::{Bar, ChangeBar};
use super::curves::CurveOptions;
use super::heat_map::HeatMap;
use super::lanes::Lanes;
use super::network::NetworkFigure;
use super::roofline::Roofline;
use super::spec::ChartSpec;
use super::timeline_figure::TimelineFigure;
use super::treemap::Region;
use super::wall_time::WallBar;
use crate::analysis::batch_curve::{self, BatchCurve};
use crate::analysis::case_rows::{self, CaseRow};
use crate::analysis::category::Rules;
use crate::analysis::dimensions;
use crate::analysis::earlier_sessions::EarlierSessions;
use crate::analysis::timeline::Timeline;
use crate::analysis::timeline::stretch::TimeRange;
use crate::analysis::timeline_comparison::MergedTraces;
use powerband_core::domain::network::Network;
use powerband_core::domain::point::{BATCH, Point};
use powerband_core::domain::roofs::Roofs;
use powerband_core::domain::session::Session;
use powerband_core::domain::trace::Trace;

mod heat_maps;
mod limits;
mod machines;
mod make;
mod network;
mod overlays;
mod timelines;

pub use limits::{roofline_chart, wall_bar};
pub use make::profile;

/// A figure as a value, ready to be painted.
#[derive(Clone, Debug, PartialEq)]
pub enum Drawing {
    /// Axes with series.
    Chart(Box<ChartSpec>),
    /// Device telemetry.
    Lanes(Box<Lanes>),
    /// Where the time went, as bars.
    Bars(Box<Bars>),
    /// What makes a difference, as bars to both sides.
    Changes(Box<Changes>),
    /// Where the time went, as areas.
    Treemap(Box<Treemap>),
    /// A cell for each pair of sizes of two dimensions.
    HeatMap(Box<HeatMap>),
    /// What ran where and when.
    Timeline(Box<TimelineFigure>),
    /// The nodes of a network with their times.
    Network(Box<NetworkFigure>),
    /// Nodes below the lines that limit them.
    Roofline(Box<Roofline>),
    /// The wall time of a run as one bar.
    WallTime(Box<WallBar>),
}

/// Bars with names and shares.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    pub title: String,
    /// The bars, the longest first.
    pub bars: Vec<Bar>,
}

/// Bars to the left, which are gains, and to the right, which are losses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    pub title: String,
    /// The bars, the longest first.
    pub steps: Vec<ChangeBar>,
}

/// Categories with their rows, whose areas are shares.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Treemap {
    pub title: String,
    /// The regions, the largest first, without places: the painter gives them a field.
    pub regions: Vec<Region>,
}

impl Drawing {
    pub fn title(&self) -> &str {
        match self {
            Self::Chart(spec) => &spec.title,
            Self::Lanes(_) => "Device telemetry",
            Self::Bars(bars) => &bars.title,
            Self::Changes(changes) => &changes.title,
            Self::Treemap(map) => &map.title,
            Self::HeatMap(map) => &map.title,
            Self::Timeline(traced) => &traced.title,
            Self::Network(picture) => &picture.title,
            Self::Roofline(chart) => &chart.title,
            Self::WallTime(bar) => &bar.title,
        }
    }

    pub fn is_empty(&self) -> bool {
        match self {
            Self::Chart(spec) => spec.is_empty(),
            Self::Lanes(lanes) => lanes.is_empty(),
            Self::Bars(bars) => bars.bars.is_empty(),
            Self::Changes(changes) => changes.steps.is_empty(),
            Self::Treemap(map) => map.regions.is_empty(),
            Self::HeatMap(map) => map.is_empty(),
            Self::Timeline(traced) => traced.is_empty(),
            Self::Network(picture) => picture.is_empty(),
            Self::Roofline(chart) => chart.is_empty(),
            Self::WallTime(bar) => bar.is_empty(),
        }
    }
}

/// A session with its cases in numbers, which are counted when they are first needed.
#[derive(Debug)]
pub struct SessionNumbers<'a> {
    /// The session.
    pub session: &'a Session,
    rows: OnceLock<Vec<CaseRow>>,
    curves: OnceLock<Vec<BatchCurve>>,
}

impl<'a> SessionNumbers<'a> {
    /// A session.
    pub fn new(session: &'a Session) -> Self {
        Self {
            session,
            rows: OnceLock::new(),
            curves: OnceLock::new(),
        }
    }

    /// A session whose rows are known.
    pub(crate) fn with_rows(session: &'a Session, rows: Vec<CaseRow>) -> Self {
        let part = Self::new(session);
        part.rows.get_or_init(|| rows);
        part
    }

    /// Its cases in numbers.
    pub fn rows(&self) -> &[CaseRow] {
        self.rows.get_or_init(|| case_rows::case_rows(self.session))
    }

    /// The curves over the first dimension of the sweep that varies.
    pub fn curves(&self) -> &[BatchCurve] {
        self.curves.get_or_init(|| {
            let rows = self.rows();
            let points: Vec<Point> = rows.iter().map(|row| row.point).collect();
            let varying = dimensions::varying_dimensions(&points);
            batch_curve::curves_along(rows, varying.first().map_or(BATCH, |one| one.name))
        })
    }
}

/// The inputs of a figure: sessions, and what of them is chosen.
#[derive(Debug)]
pub struct FigureInputs<'a> {
    /// The session.
    pub after: SessionNumbers<'a>,
    /// The one that it is laid over or compared with.
    pub before: Option<SessionNumbers<'a>>,
    /// Other sessions in which a case is followed, or of other machines; the session itself is not among them.
    pub others: Vec<SessionNumbers<'a>>,
    /// The chosen setup; without one, a figure of one case takes the first measured.
    pub setup: Option<usize>,
    /// The chosen point; without one, a figure of one case takes the first measured.
    pub point: Option<Point>,
    /// Which profile, counted from 0.
    pub profile: usize,
    /// Which profile of the second session.
    pub profile_before: usize,
    /// The graph of the network of that profile.
    pub network: Option<&'a Network>,
    /// That of the profile before, where the two are compared.
    pub network_before: Option<&'a Network>,
    /// The loaded timeline of that profile.
    pub trace: Option<(&'a Trace, &'a Timeline)>,
    /// That timeline and the one of the profile before as one, where the two are compared; whether what matches stands
    /// above each other.
    pub merged: Option<(&'a MergedTraces, bool)>,
    /// The drawn range of the timeline; nothing for all of it, of two that are compared for their steps.
    pub stretch: Option<TimeRange>,
    /// Earlier sessions, which show by how much sessions differ where nothing was changed.
    pub earlier: EarlierSessions,
    /// How kernels are sorted into categories.
    pub rules: Option<&'a Rules>,
    /// Roofs of this machine, for a session that has none.
    pub roofs: &'a [Roofs],
    /// What of the curves is drawn.
    pub options: CurveOptions,
}

impl<'a> FigureInputs<'a> {
    /// Inputs of a session without a second one.
    pub fn new(session: &'a Session) -> Self {
        Self {
            after: SessionNumbers::new(session),
            before: None,
            others: Vec::new(),
            setup: None,
            point: None,
            profile: 0,
            profile_before: 0,
            network: None,
            network_before: None,
            trace: None,
            merged: None,
            stretch: None,
            earlier: EarlierSessions::default(),
            rules: None,
            roofs: &[],
            options: CurveOptions::default(),
        }
    }

    /// Adds the session to compare with.
    pub fn against(mut self, before: &'a Session) -> Self {
        self.before = Some(SessionNumbers::new(before));
        self
    }
}

/// What of a session can be chosen for a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureChoice {
    /// A setup.
    Setup,
    /// A point of the sweep.
    Point,
    /// A profile.
    Profile,
}

/// A figure of measured cases.
const CASES: &[FigureChoice] = &[FigureChoice::Setup, FigureChoice::Point];
/// A figure of all setups at one point.
const POINT: &[FigureChoice] = &[FigureChoice::Point];
/// A figure of a profile.
const PROFILE: &[FigureChoice] = &[FigureChoice::Profile];
/// A figure of the whole session.
const WHOLE: &[FigureChoice] = &[];

/// A kind of figure: its name, and how it is made.
#[derive(Clone, Copy, Debug)]
pub struct FigureKind {
    /// Its name on the command line.
    pub name: &'static str,
    pub title: &'static str,
    /// What it shows, in a sentence without its full stop.
    pub shows: &'static str,
    /// The choices that have an effect on it.
    pub takes: &'static [FigureChoice],
    make: fn(&FigureInputs<'_>) -> Result<Drawing, String>,
}

impl FigureKind {
    /// Whether it has all points of a sweep, and not one case.
    pub fn is_of_sweep(&self) -> bool {
        let curves = ["latency", "throughput", "efficiency", "energy", "memory"];
        curves.contains(&self.name) || self.name.starts_with("heat-map")
    }

    /// Makes it, or says in a sentence why it cannot be made.
    pub fn make(&self, material: &FigureInputs<'_>) -> Result<Drawing, String> {
        (self.make)(material)
    }
}

macro_rules! figures {
    ($($name:literal, $title:literal, $make:path, $takes:ident, $shows:literal;)*) => {
        &[$(FigureKind { name: $name, title: $title, shows: $shows, takes: $takes, make: $make }),*]
    };
}

/// Every figure.
pub const ALL: &[FigureKind] = figures! {
    "latency", "Latency", make::latency, CASES, "the time of a batch over the batch size";
    "throughput", "Throughput", make::throughput, CASES, "items a second over the batch size, with knees";
    "efficiency", "Efficiency", make::efficiency, CASES, "how well larger batches are used";
    "energy", "Energy", make::energy, CASES, "joules of an item over the batch size";
    "heat-map", "Latency over two dimensions", heat_maps::latency, CASES, "the time of a batch over two dimensions of the sweep";
    "heat-map-throughput", "Throughput over two dimensions", heat_maps::throughput, CASES, "items a second over two dimensions of the sweep";
    "heat-map-tokens", "Tokens per second over two dimensions", heat_maps::tokens, CASES, "tokens a second of a language model over two dimensions of the sweep";
    "heat-map-efficiency", "Efficiency over two dimensions", heat_maps::efficiency, CASES, "how well larger batches are used over two dimensions of the sweep";
    "heat-map-energy", "Energy over two dimensions", heat_maps::energy, CASES, "joules of an item over two dimensions of the sweep";
    "memory", "Peak memory", make::memory, CASES, "the most memory that each batch needed";
    "distribution", "Latency distribution", make::distribution, CASES, "the histogram of the samples of one case";
    "samples", "Latency over time", make::samples, CASES, "the samples of one case in the order of measurement";
    "telemetry", "Device telemetry", make::telemetry, CASES, "readings of the devices during the run";
    "breakdown", "Time by category", make::categories, PROFILE, "the time of a profile by category";
    "operators", "Time by operator", make::operators, PROFILE, "the time of a profile by operator";
    "kernels", "Time by kernel", make::kernels, PROFILE, "the time of a profile by kernel";
    "treemap", "Time as areas", make::treemap, PROFILE, "the time of kernels as areas";
    "changes", "What changed", make::changes, PROFILE, "the kernels that make the difference between two profiles";
    "memory-use", "Memory in use", make::memory_in_use, PROFILE, "memory in use while a profile was taken, device by device";
    "timeline", "Timeline", timelines::timeline, PROFILE, "what ran on each stream and thread over time, with device telemetry below";
    "roofline", "Roofline", limits::roofline, PROFILE, "nodes or kernels of a profile below the lines that limit them";
    "network", "Network", network::network, PROFILE, "the nodes of the network in modules, with the time of each";
    "wall-time", "Wall time", limits::wall_time, PROFILE, "the wall time of a profiled run in parts that add up";
    "journey", "vs. previous", make::steps_vs_previous, WHOLE, "the gain of each optimisation step over the previous one";
    "journey-start", "vs. baseline", make::steps_vs_baseline, POINT, "the gain of each optimisation step over the baseline";
    "trade-off", "Speed and accuracy", make::trade_off, POINT, "speed and accuracy of the setups";
    "comparison", "Speed-up", make::comparison, CASES, "the speed-up of each case against another session or setup";
    "heat-map-comparison", "Speed-up over two dimensions", heat_maps::comparison, CASES, "the speed-up and verdict of each case over two dimensions of the sweep";
    "history", "Median latency", make::history, CASES, "one case through other sessions";
    "fleet", "Medians of machines", machines::fleet, CASES, "one case on several machines with the fleet's median";
};

/// The kind of a name, or an error that lists the names.
pub fn find(name: &str) -> Result<&'static FigureKind, String> {
    let found = ALL.iter().find(|figure| figure.name == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|figure| figure.name).collect();
        format!(
            "there is no figure \"{name}\"; there are {}",
            names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests;
