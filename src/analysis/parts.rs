//! What runs consist of, where the worker tells: the phases of a training step, the host's time beside a
//! device's; and what training came to.

use crate::base::humanize;
use crate::domain::case::{Case, Epoch};
use crate::stats::summary::median;

/// The host's time of a run whose samples are a device's: beside the whole, and no part of it.
const HOST: &str = "host";

/// One part over all rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct PartRow {
    /// What it is called.
    pub name: String,
    /// Its median, in nanoseconds.
    pub median_ns: f64,
    /// Its time over that of all parts; nothing for what is beside them.
    pub share: Option<f64>,
}

/// The parts of a case's runs, in the worker's order.
pub fn of(case: &Case) -> Vec<PartRow> {
    let mut found: Vec<(&str, Vec<f64>)> = Vec::new();
    for part in case.rounds.iter().flat_map(|round| &round.parts) {
        let samples = part.samples_ns.iter().map(|&ns| ns as f64);
        match found.iter_mut().find(|(name, _)| *name == part.name) {
            Some((_, known)) => known.extend(samples),
            None => found.push((&part.name, samples.collect())),
        }
    }
    let is_part = |name: &str| name != HOST;
    let all: f64 = found
        .iter()
        .filter(|(name, _)| is_part(name))
        .flat_map(|(_, samples)| samples)
        .sum();
    let rows = found.iter().filter_map(|(name, samples)| {
        Some(PartRow {
            name: (*name).to_owned(),
            median_ns: median(samples)?,
            share: (is_part(name) && all > 0.0).then(|| samples.iter().sum::<f64>() / all),
        })
    });
    rows.collect()
}

/// The parts in a line: `forward 12.1 ms (31 %), backward 22 ms (57 %)`; nothing for a case without.
pub fn in_short(case: &Case) -> Option<String> {
    let rows = of(case);
    let words = rows.iter().map(|row| {
        let time = humanize::duration_ns(row.median_ns);
        match row.share {
            Some(share) => format!("{} {time} ({:.0} %)", row.name, share * 100.0),
            None => format!("{} {time}", row.name),
        }
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// What training came to, from the first epoch to the last: `loss 2.31 → 0.42, accuracy 10 % → 88 %`.
pub fn learned(case: &Case) -> Option<String> {
    let epochs: Vec<&Epoch> = case.rounds.iter().flat_map(|round| &round.epochs).collect();
    let (first, last) = (epochs.first()?, epochs.last()?);
    let loss = |epoch: &Epoch| {
        let known = epoch.loss.map(|loss| humanize::significant(loss, 3));
        known.unwrap_or_else(|| "not finite".to_owned())
    };
    let percent = |epoch: &Epoch| format!("{:.0} %", epoch.accuracy * 100.0);
    Some(format!(
        "{}: loss {} → {}, accuracy {} → {}",
        humanize::of_many(epochs.len() as u64, "epoch"),
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
    use crate::domain::case::{Part, Round};

    fn trained() -> Case {
        let part = |name: &str, samples: &[u64]| Part {
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
            in_short(&case).as_deref(),
            Some("forward 1.00 ms (25 %), backward 3.00 ms (75 %)")
        );
        assert_eq!(
            learned(&case).as_deref(),
            Some("2 epochs: loss 2.31 → 0.420, accuracy 10 % → 88 %")
        );
    }

    #[test]
    fn the_time_of_the_host_is_beside_the_whole() {
        let mut case = trained();
        for round in &mut case.rounds {
            round.parts.truncate(1);
            round.parts[0].name = HOST.to_owned();
            round.epochs.clear();
        }
        assert_eq!(in_short(&case).as_deref(), Some("host 1.00 ms"));
        assert_eq!(learned(&case), None);
    }
}
