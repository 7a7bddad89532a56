//! Run phases, where the worker reports them: phases of a training step, the host's time beside a device's;
//! and training results.

use powerband_core::base::humanize;
use powerband_core::domain::case::{Case, Epoch, Round};
use powerband_core::stats::summary::median;

/// The host's time of a run whose samples are a device's: beside the whole, and no part of it.
const HOST: &str = "host";
/// The rest of a run, which is in no phase.
const REST: &str = "rest";

/// One phase over all rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseRow {
    /// What it is called.
    pub name: String,
    /// Its median, in nanoseconds.
    pub median_ns: f64,
    /// Its median over the sum of all parts' medians, the rest included; nothing for what is beside them.
    pub share: Option<f64>,
}

impl PhaseRow {
    /// Whether it is a phase that the worker names, and not the rest.
    pub fn is_named(&self) -> bool {
        self.share.is_some() && self.name != REST
    }
}

/// The parts of a case's runs, in the worker's order, and the rest of the runs where there is one.
pub fn phase_rows(case: &Case) -> Vec<PhaseRow> {
    let mut found: Vec<(&str, Vec<f64>)> = Vec::new();
    for part in case.rounds.iter().flat_map(|round| &round.parts) {
        let samples = part.samples_ns.iter().map(|&ns| ns as f64);
        match found.iter_mut().find(|(name, _)| *name == part.name) {
            Some((_, known)) => known.extend(samples),
            None => found.push((&part.name, samples.collect())),
        }
    }
    if found.iter().any(|(name, _)| *name != HOST) {
        found.push((REST, case.rounds.iter().flat_map(rests).collect()));
    }
    let medians: Vec<(&str, f64)> = found
        .iter()
        .filter_map(|(name, samples)| Some((*name, median(samples)?)))
        .filter(|(name, median)| *name != REST || *median > 0.0)
        .collect();
    let is_part = |name: &str| name != HOST;
    let parts = medians.iter().filter(|(name, _)| is_part(name));
    let all: f64 = parts.map(|(_, median)| median).sum();
    let rows = medians.iter().map(|(name, median)| PhaseRow {
        name: (*name).to_owned(),
        median_ns: *median,
        share: (is_part(name) && all > 0.0).then(|| median / all),
    });
    rows.collect()
}

/// What of each run of a round is in none of its parts; nothing where a part has other runs.
fn rests(round: &Round) -> Vec<f64> {
    let parts: Vec<&[u64]> = round
        .parts
        .iter()
        .filter(|part| part.name != HOST)
        .map(|part| part.samples_ns.as_slice())
        .collect();
    let is_of_same_runs = |part: &&[u64]| part.len() == round.samples_ns.len();
    if !parts.iter().all(is_of_same_runs) {
        return Vec::new();
    }
    let rest = |(run, &whole): (usize, &u64)| {
        let named: u64 = parts.iter().filter_map(|part| part.get(run)).sum();
        whole.saturating_sub(named) as f64
    };
    round.samples_ns.iter().enumerate().map(rest).collect()
}

/// The parts in a line: `forward 12.1 ms (31.2 %), backward 22.0 ms (57.1 %)`; nothing for a case without.
pub fn phases_text(case: &Case) -> Option<String> {
    let rows = phase_rows(case);
    let words = rows.iter().map(|row| {
        let time = humanize::duration_ns(row.median_ns);
        match row.share {
            Some(share) => format!("{} {time} ({})", row.name, humanize::percent(share)),
            None => format!("{} {time}", row.name),
        }
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Training results, from the first epoch to the last: `loss 2.31 → 0.42, accuracy 10.0 % → 88.0 %`.
pub fn training_text(case: &Case) -> Option<String> {
    let epochs: Vec<&Epoch> = case.rounds.iter().flat_map(|round| &round.epochs).collect();
    let (first, last) = (epochs.first()?, epochs.last()?);
    let loss = |epoch: &Epoch| {
        let known = epoch.loss.map(|loss| humanize::significant(loss, 3));
        known.unwrap_or_else(|| "not finite".to_owned())
    };
    let percent = |epoch: &Epoch| humanize::percent(epoch.accuracy);
    Some(format!(
        "{}: loss {} → {}, accuracy {} → {}",
        humanize::pluralised(epochs.len() as u64, "epoch"),
        loss(first),
        loss(last),
        percent(first),
        percent(last)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::session;
    use powerband_core::domain::case::PhaseSamples;

    fn trained() -> Case {
        let part = |name: &str, samples: &[u64]| PhaseSamples {
            name: name.to_owned(),
            samples_ns: samples.to_vec(),
        };
        let epoch = |loss, accuracy| Epoch {
            items: 512,
            loss: Some(loss),
            accuracy,
        };
        let mut case = session(&["torch:cpu,task=train"], &[8]).cases.remove(0);
        case.rounds = vec![
            Round {
                parts: vec![
                    part("forward", &[1_000_000]),
                    part("backward", &[3_000_000]),
                ],
                epochs: vec![epoch(2.31, 0.1)],
                ..Round::default()
            },
            Round {
                parts: vec![
                    part("forward", &[1_000_000]),
                    part("backward", &[3_000_000]),
                ],
                epochs: vec![epoch(0.42, 0.88)],
                ..Round::default()
            },
        ];
        case
    }

    #[test]
    fn parts_have_their_time_and_their_share() {
        let case = trained();
        assert_eq!(
            phases_text(&case).as_deref(),
            Some("forward 1.00 ms (25.0 %), backward 3.00 ms (75.0 %)")
        );
        assert_eq!(
            training_text(&case).as_deref(),
            Some("2 epochs: loss 2.31 → 0.420, accuracy 10.0 % → 88.0 %")
        );
    }

    #[test]
    fn shares_and_times_have_one_base_and_the_rest_is_named() {
        let mut case = trained();
        // One slow forward pass is an outlier: it changes no median, so it changes no share.
        let part = |name: &str, samples: &[u64]| PhaseSamples {
            name: name.to_owned(),
            samples_ns: samples.to_vec(),
        };
        case.rounds = vec![Round {
            samples_ns: vec![420_000_000, 421_000_000, 1_420_000_000],
            parts: vec![
                part("forward", &[136_000_000, 136_000_000, 1_136_000_000]),
                part("backward", &[281_000_000, 281_000_000, 281_000_000]),
            ],
            ..Round::default()
        }];
        assert_eq!(
            phases_text(&case).as_deref(),
            Some("forward 136 ms (32.4 %), backward 281 ms (66.9 %), rest 3.00 ms (0.714 %)")
        );
        let shares: f64 = phase_rows(&case).iter().filter_map(|row| row.share).sum();
        assert!((shares - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_time_of_the_host_is_beside_the_whole() {
        let mut case = trained();
        for round in &mut case.rounds {
            round.parts.truncate(1);
            round.parts[0].name = HOST.to_owned();
            round.epochs.clear();
        }
        assert_eq!(phases_text(&case).as_deref(), Some("host 1.00 ms"));
        assert_eq!(training_text(&case), None);
    }
}
