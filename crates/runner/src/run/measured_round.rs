//! One round of a case, measured anew while other programs disturb it and there is time for that.

use std::time::Duration;

use super::{ActiveRun, beside};
use crate::roofs::neighbour::BackgroundLoad;
use powerband_core::domain::case::{CaseKey, CpuContention, Round};
use powerband_core::domain::event::RunEvent;
use powerband_worker::protocol::{MeasuredRound, Reply, Request, RoundRule};
use powerband_worker::supervisor::WorkerError;

/// A round that is to be measured.
#[derive(Clone, Debug)]
pub(super) struct AskedRound {
    pub case: CaseKey,
    /// The case whose worker measures it: the same, or that without a load beside it.
    pub by: CaseKey,
    pub round: u32,
    pub rule: RoundRule,
    /// For so long it is measured anew while other programs work, in nanoseconds.
    pub patience_ns: u64,
}

impl ActiveRun<'_, '_> {
    /// Measures a round. One beside a load that ended before it is none.
    pub(super) fn measure_round(
        &mut self,
        asked: &AskedRound,
        mut beside: Option<&mut BackgroundLoad>,
    ) -> Result<(), WorkerError> {
        let &AskedRound {
            case, by, round, ..
        } = asked;
        self.tell(RunEvent::RoundStarted { case, round });
        let began_ns = self.now_ns();
        let mut waited_ns = 0;
        let measured = loop {
            let measured = self.ask_for_round(asked, beside.as_deref_mut())?;
            let is_disturbed = measured.company.is_some_and(|all| all.is_disturbed());
            let spent_ns = self.now_ns() - began_ns;
            if !is_disturbed || spent_ns > asked.patience_ns || self.stop.is_cancelled() {
                break measured;
            }
            waited_ns = spent_ns;
        };
        let starts = self.starts.get(&by.setup);
        let (warm_up, case_start) = if by == case {
            let warm_up = self.later_warm_ups.remove(&case);
            (warm_up, self.later_starts.remove(&case).map(Box::new))
        } else {
            (None, None)
        };
        let round = Round {
            round,
            start: starts.and_then(|starts| starts.checked_sub(1)),
            started_ns: measured.started_monotonic_ns.saturating_sub(self.began_ns),
            spent_ns: measured.spent_ns,
            samples_ns: measured.samples_ns,
            company: measured.company,
            parts: measured.parts,
            epochs: measured.epochs,
            generation: measured.generation,
            device_peak_bytes: measured.device_peak_bytes,
            starts_within_ns: measured.starts_within_ns,
            waited_ns,
            warm_up,
            case_start,
        };
        self.pass_on_all_events();
        self.tell(RunEvent::RoundFinished { case, round });
        Ok(())
    }

    fn ask_for_round(
        &mut self,
        asked: &AskedRound,
        beside: Option<&mut BackgroundLoad>,
    ) -> Result<MeasuredRound, WorkerError> {
        let most_ms = self.request.beginning.plan.limits.measure_ms;
        let limit = Duration::from_nanos(asked.rule.max_ns) + Duration::from_millis(most_ms);
        let request = Request::Measure {
            case: asked.by.into(),
            rule: asked.rule.clone(),
        };
        let began_ns = self.now_ns();
        let used_ns = |load: &BackgroundLoad| load.used_ns().unwrap_or_default();
        let used_before_ns = beside.as_deref().map(used_ns);
        let reply = self.ask_undisturbed(asked.by, asked.round, &request, limit)?;
        let Reply::Measured(mut measured) = reply else {
            return Err(self.confused(asked.by.setup, &reply));
        };
        if let Some(load) = beside {
            beside::check_working(load)?;
            let used_ns = used_ns(load).saturating_sub(used_before_ns.unwrap_or_default());
            let cores = used_ns as f64 / (self.now_ns() - began_ns).max(1) as f64;
            measured.company = measured.company.map(|all| without_load(all, cores));
        }
        Ok(measured)
    }
}

/// The load that a setup asks for is none of the other programs. It used so many cores.
fn without_load(all: CpuContention, cores: f64) -> CpuContention {
    let of_load_ns = (cores * all.counted_ns as f64) as u64;
    CpuContention {
        others_ns: all.others_ns.saturating_sub(of_load_ns),
        ..all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_none_of_the_other_programs() {
        let all = CpuContention {
            counted_ns: 100,
            own_ns: 90,
            others_ns: 98,
            ..CpuContention::default()
        };
        let quiet = without_load(all, 0.95);
        assert_eq!((quiet.own_ns, quiet.others_ns), (90, 3));
        assert!(all.is_disturbed() && !quiet.is_disturbed());
        assert_eq!(without_load(all, 1.5).others_ns, 0);
    }
}
