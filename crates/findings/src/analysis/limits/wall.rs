//! The wall time of a profiled run in parts that add up: computing, copies, communication, gaps.

use powerband_core::base::humanize;
use powerband_core::domain::profile::Profile;
use powerband_core::domain::trace::SliceKind;
use serde::Serialize;

use crate::analysis::breakdown::{self, BreakdownLevel};
use crate::analysis::category::Rules;

/// Parts that differ from the wall time by more than this share do not explain it.
pub const ADDS_UP_WITHIN: f64 = 0.1;

/// What a part of the wall time went to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WallKind {
    /// Kernels or nodes ran.
    Computing,
    /// Memory was copied or set while nothing computed.
    #[serde(rename = "exposed-copies")]
    Copies,
    /// Devices exchanged data while nothing computed.
    #[serde(rename = "exposed-communication")]
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

    /// Whether nothing ran.
    pub fn is_pause(self) -> bool {
        matches!(
            self,
            Self::LaunchedLate | Self::WaitedForKernel | Self::OtherGap
        )
    }
}

/// A part of the wall time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WallPart {
    /// What it went to.
    pub kind: WallKind,
    pub ns: f64,
    /// Its share of the whole, from 0 to 1.
    pub share: f64,
}

/// The wall time of a run, or of the whole profile where its runs are not known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WallTime {
    /// Wall time, in nanoseconds.
    pub wall_ns: f64,
    /// Its parts, in the order of the bar; they add up to it.
    pub parts: Vec<WallPart>,
}

/// The time of whole runs, where a runtime recorded it around its nodes.
fn whole_runs_ns(profile: &Profile) -> Option<u64> {
    let ranges = profile.of_kind(SliceKind::Range);
    let runs = ranges.filter(|total| total.name == breakdown::MODEL_RUN);
    Some(runs.map(|total| total.total_ns).sum()).filter(|ns| *ns > 0)
}

/// Whether the pauses of a profile are those between the nodes of a runtime on the processor.
pub(super) fn has_runtime_nodes(profile: &Profile) -> bool {
    profile.devices.is_empty() || whole_runs_ns(profile).is_some()
}

impl WallTime {
    /// The wall time of a profile, divided by its runs; or why it cannot be taken apart.
    pub fn from_profile(profile: &Profile, runs: f64) -> Result<Self, String> {
        if has_runtime_nodes(profile) {
            if profile.job.is_some() {
                return Err(
                    "times of several ranks add up to more than one of them took".to_owned(),
                );
            }
            Self::of_nodes(profile, runs)
        } else {
            Self::of_devices(profile, runs)
        }
    }

    /// Time in which nothing ran, in nanoseconds.
    pub fn pauses_ns(&self) -> f64 {
        let pauses = self.parts.iter().filter(|part| part.kind.is_pause());
        pauses.map(|part| part.ns).sum()
    }

    /// The same without the pauses that a profiler adds: a card computes as long with it as without, and waits longer
    /// for the host, which the profiler keeps busy. All pauses are shortened alike, until the whole takes as long as a
    /// run without the profiler, or none is left.
    pub(super) fn without_profiler(self, median_ns: f64) -> Self {
        let pauses_ns = self.pauses_ns();
        let added_ns = (self.wall_ns - median_ns).clamp(0.0, pauses_ns);
        if added_ns <= 0.0 {
            return self;
        }
        let kept = 1.0 - added_ns / pauses_ns;
        let parts: Vec<(WallKind, f64)> = self
            .parts
            .iter()
            .map(|part| {
                let stays = if part.kind.is_pause() { kept } else { 1.0 };
                (part.kind, part.ns * stays)
            })
            .collect();
        Self::from_parts(&parts, 1.0).unwrap_or(self)
    }

    /// Nodes of a runtime on the processor, within whole runs.
    fn of_nodes(profile: &Profile, runs: f64) -> Result<Self, String> {
        let found =
            breakdown::profile_breakdown(profile, &Rules::default(), BreakdownLevel::Category);
        let computing = found.summed_ns.ok_or("the profile has no times")? as f64;
        let Some(whole) = whole_runs_ns(profile).or(profile.span_ns) else {
            return Err("the profile does not record how long its runs took".to_owned());
        };
        let whole = whole as f64;
        if computing > (1.0 + ADDS_UP_WITHIN) * whole {
            return Err(format!(
                "its nodes take {} together and its run {}: nodes ran side by side, or their times are wrong",
                humanize::duration_ns(computing / runs),
                humanize::duration_ns(whole / runs)
            ));
        }
        Self::from_parts(
            &[
                (WallKind::Computing, computing),
                (WallKind::OtherGap, whole.max(computing) - computing),
            ],
            runs,
        )
    }

    /// Kernels on devices, from the first to the last; the mean of all devices.
    fn of_devices(profile: &Profile, runs: f64) -> Result<Self, String> {
        let mut parts = WallKind::ALL.map(|kind| (kind, 0.0));
        for device in &profile.devices {
            let (span, busy) = (device.span_ns, device.busy_ns);
            // Sessions of earlier versions do not have the time of the kernels alone.
            let kernels = match device.kernels_ns {
                0 => busy,
                kernels => kernels,
            };
            let idle = device.not_computing.unwrap_or_default();
            let late_or_waited = idle.launched_late_ns.saturating_add(idle.waited_ns);
            let known_pauses = late_or_waited.saturating_add(idle.other_ns);
            if span == 0
                || busy > span
                || kernels > busy
                || idle.communication_ns > kernels
                || known_pauses > span - busy
            {
                return Err("the times of the device do not fit into each other".to_owned());
            }
            let of_device = [
                kernels - idle.communication_ns,
                busy - kernels,
                idle.communication_ns,
                idle.launched_late_ns,
                idle.waited_ns,
                span - busy - late_or_waited,
            ];
            for ((_, sum), ns) in parts.iter_mut().zip(of_device) {
                *sum += ns as f64;
            }
        }
        Self::from_parts(&parts, runs * profile.devices.len() as f64)
    }

    fn from_parts(parts: &[(WallKind, f64)], divisor: f64) -> Result<Self, String> {
        let wall_ns: f64 = parts.iter().map(|(_, ns)| ns).sum();
        if wall_ns <= 0.0 {
            return Err("the profile has no times".to_owned());
        }
        let parts = parts.iter().filter(|(_, ns)| *ns > 0.0);
        Ok(Self {
            wall_ns: wall_ns / divisor,
            parts: parts
                .map(|&(kind, ns)| WallPart {
                    kind,
                    ns: ns / divisor,
                    share: ns / wall_ns,
                })
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::profile::{DeviceTime, IdleCauses};

    fn device(busy_ns: u64, kernels_ns: u64, not_computing: Option<IdleCauses>) -> DeviceTime {
        DeviceTime {
            device: "GPU 0".to_owned(),
            busy_ns,
            kernels_ns,
            span_ns: 1000,
            gaps: Vec::new(),
            not_computing,
        }
    }

    fn parts(devices: Vec<DeviceTime>) -> Result<Vec<(WallKind, f64)>, String> {
        let profile = Profile {
            devices,
            ..Profile::default()
        };
        let wall = WallTime::from_profile(&profile, 2.0)?;
        let sum: f64 = wall.parts.iter().map(|part| part.ns).sum();
        assert!((sum - wall.wall_ns).abs() < 1e-9, "{wall:?}");
        let pauses = wall.parts.iter().filter(|part| part.kind.is_pause());
        assert!((pauses.map(|part| part.ns).sum::<f64>() - wall.pauses_ns()).abs() < 1e-9);
        Ok(wall.parts.iter().map(|part| (part.kind, part.ns)).collect())
    }

    #[test]
    fn a_device_has_every_part_and_they_add_up() {
        let idle = IdleCauses {
            communication_ns: 100,
            launched_late_ns: 150,
            waited_ns: 40,
            other_ns: 10,
        };
        let all = parts(vec![device(800, 600, Some(idle))]).unwrap();
        let expected = [250.0, 100.0, 50.0, 75.0, 20.0, 5.0];
        assert_eq!(
            all,
            WallKind::ALL.into_iter().zip(expected).collect::<Vec<_>>()
        );
        let mean = parts(vec![
            device(800, 600, Some(idle)),
            device(800, 600, Some(idle)),
        ]);
        assert_eq!(mean.unwrap(), all);
    }

    #[test]
    fn pauses_that_the_profiler_added_are_taken_off() {
        let idle = IdleCauses {
            launched_late_ns: 300,
            waited_ns: 100,
            ..IdleCauses::default()
        };
        let profile = Profile {
            devices: vec![device(600, 600, Some(idle))],
            ..Profile::default()
        };
        let wall = || WallTime::from_profile(&profile, 1.0).unwrap();
        let parts = |median| -> Vec<(WallKind, f64)> {
            let wall = wall().without_profiler(median);
            wall.parts.iter().map(|part| (part.kind, part.ns)).collect()
        };
        let quarter = [
            (WallKind::Computing, 600.0),
            (WallKind::LaunchedLate, 75.0),
            (WallKind::WaitedForKernel, 25.0),
        ];
        assert_eq!(parts(700.0), quarter);
        assert_eq!(parts(500.0), [(WallKind::Computing, 600.0)]);
        assert_eq!(wall().without_profiler(1100.0), wall());
    }

    #[test]
    fn an_earlier_session_tells_fewer_parts_and_nonsense_none() {
        let old = parts(vec![device(800, 0, None)]).unwrap();
        assert_eq!(
            old,
            [(WallKind::Computing, 400.0), (WallKind::OtherGap, 100.0)]
        );
        assert!(parts(vec![device(1200, 0, None)]).is_err());
        assert!(parts(vec![device(800, 900, None)]).is_err());
        let idle = IdleCauses {
            waited_ns: 300,
            ..IdleCauses::default()
        };
        assert!(parts(vec![device(800, 700, Some(idle))]).is_err());
        assert!(parts(vec![DeviceTime::default()]).is_err());
    }
}
