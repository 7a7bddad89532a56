//! Durations of earlier sessions on this machine, for the estimate of a new plan.

use std::collections::BTreeMap;

use powerband_core::domain::case::Case;
use powerband_core::domain::device::Cpu;
use powerband_core::domain::plan::Plan;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_core::stats::summary::median;

/// The newest durations of each setup and case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PastDurations {
    setups: BTreeMap<ModelAndShapes, BTreeMap<String, PastSetupTimes>>,
}

/// A model as plans name it, and the shapes that it was given.
type ModelAndShapes = (String, BTreeMap<String, Vec<usize>>);

/// The durations of a setup.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PastSetupTimes {
    /// Starting its worker and loading its model, in nanoseconds.
    pub start_ns: f64,
    cases: BTreeMap<Point, PastCaseTimes>,
}

/// What a case took, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PastCaseTimes {
    /// Opening it and its first run.
    pub opening_ns: f64,
    /// Its warm-up.
    pub warm_up_ns: f64,
    /// A run: half of them took less.
    pub run_ns: f64,
}

impl PastDurations {
    /// What sessions took that were measured on a processor, the first ones before the others.
    pub fn on_processor<'a>(cpu: &Cpu, sessions: impl IntoIterator<Item = &'a Session>) -> Self {
        let mut known = Self::default();
        for session in sessions {
            let own = &session.environment.cpu;
            if own.model == cpu.model && own.threads == cpu.threads {
                known.add_session(session);
            }
        }
        known
    }

    /// Adds what a session took, where nothing is known yet.
    pub(crate) fn add_session(&mut self, session: &Session) {
        let network = (session.plan.model.clone(), session.plan.shapes.clone());
        let setups = self.setups.entry(network).or_default();
        for case in &session.cases {
            let Some((took, setup)) = measured_times(case).zip(session.plan.setups.get(case.setup))
            else {
                continue;
            };
            let seen = setups
                .entry(setup.to_string())
                .or_insert_with(|| PastSetupTimes {
                    start_ns: start_ns(session, case.setup),
                    cases: BTreeMap::new(),
                });
            seen.cases.entry(case.point).or_insert(took);
        }
    }

    /// The durations of each setup of a plan.
    pub(crate) fn of_plan(&self, plan: &Plan) -> Vec<Option<&PastSetupTimes>> {
        let network = (plan.model.clone(), plan.shapes.clone());
        let known = self.setups.get(&network);
        let setups = plan.setups.iter();
        setups.map(|setup| known?.get(&setup.to_string())).collect()
    }
}

impl PastSetupTimes {
    /// Times of a case: those measured at this point, else those of the nearest point, scaled by size.
    pub fn case_times(&self, point: Point) -> Option<PastCaseTimes> {
        let times = |other: Point| point.volume() as f64 / other.volume() as f64;
        let apart = |other: Point| times(other).ln().abs();
        let nearest = |a: &&Point, b: &&Point| apart(**a).total_cmp(&apart(**b));
        let other = *self.cases.keys().min_by(nearest)?;
        let took = self.cases.get(&other)?;
        let times = times(other);
        Some(PastCaseTimes {
            // Preparing a case takes its time however small it is.
            opening_ns: took.opening_ns * times.max(1.0),
            // A warm-up is over after some runs or some time, whichever comes last.
            warm_up_ns: took.warm_up_ns * times.max(1.0),
            run_ns: took.run_ns * times,
        })
    }
}

fn measured_times(case: &Case) -> Option<PastCaseTimes> {
    let samples: Vec<f64> = case.samples_ns().map(|sample| sample as f64).collect();
    let (opening, warm_up) = case.opening.as_ref().zip(case.warm_up.as_ref())?;
    Some(PastCaseTimes {
        opening_ns: (opening.open_ns + opening.first_run_ns) as f64,
        warm_up_ns: warm_up.spent_ns as f64,
        run_ns: median(&samples)?,
    })
}

fn start_ns(session: &Session, setup: usize) -> f64 {
    let report = session.reports.get(setup).and_then(Option::as_ref);
    report.map_or(0.0, |report| (report.start_ns + report.load_ns) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{measure, session};
    use powerband_core::domain::case::{CaseOpening, WarmUp};

    fn measured(run_ns: u64) -> Session {
        let mut session = session(&["ort:cpu", "tract:cpu"], &[1, 4]);
        for batch in [1, 4] {
            measure(&mut session, 0, batch, &[&[run_ns * batch as u64; 5]]);
        }
        for case in session.cases.iter_mut().filter(|case| case.setup == 0) {
            case.opening = Some(CaseOpening {
                first_run_ns: 1_000,
                ..CaseOpening::default()
            });
            case.warm_up = Some(WarmUp {
                spent_ns: 9_000,
                ..WarmUp::default()
            });
        }
        session
    }

    #[test]
    fn the_newest_session_counts_and_other_batches_go_by_the_item() {
        let mut known = PastDurations::default();
        let newest = measured(100);
        known.add_session(&newest);
        known.add_session(&measured(500));
        let seen = known.of_plan(&newest.plan);
        let took = |batch| {
            seen[0]
                .and_then(|seen| seen.case_times(Point::of_batch(batch)))
                .unwrap()
        };
        let steps = |batch| {
            let took = took(batch);
            (took.opening_ns, took.warm_up_ns, took.run_ns)
        };
        assert_eq!(steps(1), (1_000.0, 9_000.0, 100.0));
        assert_eq!(steps(8), (2_000.0, 18_000.0, 800.0));
        assert_eq!(seen[1], None, "never measured");
        let mut other = newest.plan.clone();
        other.shapes.insert("input".to_owned(), vec![1, 3, 32, 32]);
        assert_eq!(known.of_plan(&other), [None, None], "another shape");
    }
}
