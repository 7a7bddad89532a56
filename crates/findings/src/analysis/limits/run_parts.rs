//! Parts of a run that are limited by something of their own: prefill and decode of a request to a language model, the
//! phases of a training step. The turns of the experiments are theirs, too.

use powerband_core::domain::case::{Case, CaseKey, Round};
use powerband_core::domain::experiment::{Experiment, ExperimentChange};
use powerband_core::domain::session::Session;
use powerband_core::stats::ratio::{self, RoundSamples};
use powerband_core::stats::summary::median;

use super::hypotheses::Effect;
use crate::analysis::run_phases;
use crate::analysis::side::case_visits;

/// What part of a run it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunPart {
    /// From the start of a request to its first token.
    Prefill,
    /// Each token after it.
    Decode,
    /// A phase that the worker names: the forward pass, the optimiser.
    Phase(String),
}

impl RunPart {
    pub fn name(&self) -> &str {
        match self {
            Self::Prefill => "prefill",
            Self::Decode => "decode",
            Self::Phase(name) => name,
        }
    }

    /// The parts of a case's runs.
    fn all_of(case: &Case) -> Vec<Self> {
        let requests = case
            .rounds
            .iter()
            .filter_map(|round| round.generation.as_ref());
        if requests
            .clone()
            .any(|requests| !requests.later_token_ns.is_empty())
        {
            return vec![Self::Prefill, Self::Decode];
        }
        let phases = run_phases::phase_rows(case).into_iter();
        let phases = phases.filter(run_phases::PhaseRow::is_named);
        phases.map(|phase| Self::Phase(phase.name)).collect()
    }

    /// Its times in a round, in nanoseconds.
    fn samples(&self, round: &Round) -> Vec<f64> {
        let requests = round.generation.as_ref();
        let samples = match self {
            Self::Prefill => requests.map(|requests| &requests.first_token_ns),
            Self::Decode => requests.map(|requests| &requests.later_token_ns),
            Self::Phase(name) => {
                let mut phases = round.parts.iter();
                let phase = phases.find(|phase| phase.name == *name);
                phase.map(|phase| &phase.samples_ns)
            }
        };
        samples.into_iter().flatten().map(|&ns| ns as f64).collect()
    }

    fn visits(&self, session: &Session, case: &Case) -> Vec<RoundSamples> {
        let visits = case_visits(session, case).into_iter();
        let visits = visits.zip(&case.rounds).map(|(visit, round)| RoundSamples {
            samples: self.samples(round),
            ..visit
        });
        visits.filter(|visit| !visit.samples.is_empty()).collect()
    }
}

/// A part of the runs of a case, and what changes to the case cost it.
#[derive(Clone, Debug, PartialEq)]
pub struct TriedPart {
    pub part: RunPart,
    /// Its share of the time of a run.
    pub share: f64,
    /// Its median, in nanoseconds: of decode that of a token.
    pub median_ns: f64,
    /// Time with a change over time without it.
    pub effects: Vec<(ExperimentChange, Effect)>,
    /// Beside a load that streams memory against beside one that computes.
    pub beyond_computing: Option<Effect>,
}

impl TriedPart {
    pub fn effect(&self, change: ExperimentChange) -> Option<Effect> {
        let mut effects = self.effects.iter();
        let found = effects.find(|(tried, _)| *tried == change);
        found.map(|(_, effect)| *effect)
    }
}

/// The parts of a case, with the experiments on it that have an effect.
pub fn tried_parts(session: &Session, case: CaseKey, tried: &[Experiment]) -> Vec<TriedPart> {
    let of_setup = |setup| session.case(CaseKey { setup, ..case });
    let Some(own) = of_setup(case.setup) else {
        return Vec::new();
    };
    let whole: f64 = own.samples_ns().map(|ns| ns as f64).sum();
    let parts = RunPart::all_of(own).into_iter().filter_map(|part| {
        let effect = |before: usize, after: usize| {
            let visits = |setup| Some(part.visits(session, of_setup(setup)?));
            let estimate = ratio::paired(&visits(before)?, &visits(after)?)?;
            Some(Effect::from_estimate(&estimate))
        };
        let with = |change| tried.iter().find(|tried| tried.change == change);
        let samples: Vec<f64> = own
            .rounds
            .iter()
            .flat_map(|round| part.samples(round))
            .collect();
        // A part of another batch is not the same work.
        let of_same_work = tried.iter().filter(|tried| tried.point.is_none());
        let effects = of_same_work
            .filter_map(|tried| Some((tried.change, effect(tried.control, tried.setup)?)));
        let streams = with(ExperimentChange::StreamingNeighbour);
        let computes = with(ExperimentChange::ComputingNeighbour);
        let loads = computes.zip(streams);
        Some(TriedPart {
            share: samples.iter().sum::<f64>() / whole,
            median_ns: median(&samples)?,
            effects: effects.collect(),
            beyond_computing: loads.and_then(|(before, after)| effect(before.setup, after.setup)),
            part,
        })
    });
    parts.collect()
}
