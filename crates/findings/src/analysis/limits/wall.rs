//! The wall time of a profiled run in parts that add up: computing, copies, communication, gaps.

use powerband_core::base::humanize;
use powerband_core::domain::profile::Profile;
use powerband_core::domain::trace::SliceKind;

use crate::analysis::breakdown::{self, Level};
use crate::analysis::category::Rules;

/// Parts that differ from the wall time by more than this share do not explain it.
pub const ADDS_UP_WITHIN: f64 = 0.1;

/// What a part of the wall time went to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WallKind {
    /// Kernels or nodes ran.
    Computing,
    /// Memory was copied or set while nothing computed.
    Copies,
    /// Devices exchanged data while nothing computed.
    Communication,
    /// Nothing ran: the next kernel was launched too late.
    LaunchedLate,
    /// Nothing ran although the next kernel was launched: it waited for the one before.
    WaitedForKernel,
    /// Nothing ran, for another reason.
    OtherGap,
}

impl WallKind {
    /// Every one, in the order of the bar.
    pub const ALL: [Self; 6] = [
        Self::Computing,
        Self::Copies,
        Self::Communication,
        Self::LaunchedLate,
        Self::WaitedForKernel,
        Self::OtherGap,
    ];

    /// What it is called.
    pub fn title(self) -> &'static str {
        match self {
            Self::Computing => "computing",
            Self::Copies => "exposed copies",
            Self::Communication => "exposed communication",
            Self::LaunchedLate => "gap: launched late",
            Self::WaitedForKernel => "gap: waited for the kernel before",
            Self::OtherGap => "gap: other",
        }
    }

    /// What documents call it.
    pub fn id(self) -> &'static str {
        match self {
            Self::Computing => "computing",
            Self::Copies => "exposed-copies",
            Self::Communication => "exposed-communication",
            Self::LaunchedLate => "launched-late",
            Self::WaitedForKernel => "waited-for-kernel",
            Self::OtherGap => "other-gap",
        }
    }
}

/// A part of the wall time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WallPart {
    /// What it went to.
    pub kind: WallKind,
    /// How long, in nanoseconds.
    pub ns: f64,
    /// Its share of the whole, from 0 to 1.
    pub share: f64,
}

/// The wall time of a run, or of the whole profile where its runs are not known.
#[derive(Clone, Debug, PartialEq)]
pub struct WallTime {
    /// All of it, in nanoseconds.
    pub wall_ns: f64,
    /// Its parts, in the order of the bar; they add up to it.
    pub parts: Vec<WallPart>,
}

impl WallTime {
    /// The wall time of a profile, divided by its runs; or why it cannot be taken apart.
    pub fn of(profile: &Profile, runs: f64) -> Result<Self, String> {
        if profile.devices.is_empty() {
            Self::of_nodes(profile, runs)
        } else {
            Self::of_devices(profile, runs)
        }
    }

    /// Nodes of a runtime on the processor, within whole runs.
    fn of_nodes(profile: &Profile, runs: f64) -> Result<Self, String> {
        let found = breakdown::add_up(profile, &Rules::default(), Level::Category);
        let computing = found.summed_ns.ok_or("the profile has no times")? as f64;
        let ranges: u64 = profile
            .of_kind(SliceKind::Range)
            .filter(|total| total.name == breakdown::RUN)
            .map(|total| total.total_ns)
            .sum();
        let whole = match (ranges, profile.span_ns) {
            (0, None) => {
                return Err("the profile does not record how long its runs took".to_owned());
            }
            (0, Some(span)) => span as f64,
            (ranges, _) => ranges as f64,
        };
        if computing > (1.0 + ADDS_UP_WITHIN) * whole {
            return Err(format!(
                "its nodes take {} together and its runs {}: nodes ran side by side",
                humanize::duration_ns(computing / runs),
                humanize::duration_ns(whole / runs)
            ));
        }
        let whole = whole.max(computing);
        Ok(Self::from_parts(
            &[
                (WallKind::Computing, computing),
                (WallKind::OtherGap, whole - computing),
            ],
            runs,
        ))
    }

    fn of_devices(profile: &Profile, runs: f64) -> Result<Self, String> {
        let [device] = profile.devices.as_slice() else {
            return Err(format!(
                "{} devices ran side by side; a bar is made of one",
                profile.devices.len()
            ));
        };
        let (span, busy) = (device.span_ns as f64, device.busy_ns as f64);
        let kernels = device.kernels_ns as f64;
        if span <= 0.0 || busy > span || kernels > busy {
            return Err("the times of the device do not fit into each other".to_owned());
        }
        Ok(Self::from_parts(
            &[
                (WallKind::Computing, kernels),
                (WallKind::Copies, busy - kernels),
                (WallKind::OtherGap, span - busy),
            ],
            runs,
        ))
    }

    fn from_parts(parts: &[(WallKind, f64)], runs: f64) -> Self {
        let wall_ns: f64 = parts.iter().map(|(_, ns)| ns).sum();
        let parts = parts.iter().filter(|(_, ns)| *ns > 0.0);
        Self {
            wall_ns: wall_ns / runs,
            parts: parts
                .map(|&(kind, ns)| WallPart {
                    kind,
                    ns: ns / runs,
                    share: ns / wall_ns,
                })
                .collect(),
        }
    }
}
