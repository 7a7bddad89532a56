//! How often like is called a change, and a change is found, on machines that do not exist.

pub(super) mod levels;

use super::{promise, say};
use powerband_findings::analysis::simulated_verdicts::{
    Design, NoiseShape, NoisyMachine, VerdictCounts, interleaved, separate, until_settled,
};

/// Comparisons of each kind on each machine.
const COMPARISONS: u32 = 4_000;
/// A comparison of like with like is to be called a change in no more than this share.
const MOST_WRONG: f64 = 0.025;
/// Starts at the planned look, and at the last one.
const LOOKS: (u32, u32) = (5, 60);
/// The same where it is looked at after each start, until it is settled.
const MOST_WRONG_IN_ALL: f64 = 0.05;

/// How often like is called a change, on a grid of machines, and how often a change is found.
pub(super) fn judge() {
    let design = |starts, rounds| Design {
        starts,
        rounds,
        is_blind: false,
    };
    for (what, design) in [
        ("3 starts", design(3, 1)),
        ("5 starts", design(5, 1)),
        ("9 starts", design(9, 1)),
        ("3 starts of 3 rounds", design(3, 3)),
        ("1 start of 5 rounds", design(1, 5)),
    ] {
        let wrong = grid(&[0.0], |machine, seed| {
            interleaved(machine, design, 1.0, COMPARISONS, seed).changed()
        });
        say_wrong(&format!("interleaved, {what}"), &wrong, MOST_WRONG);
    }
    for (what, design, sessions, n_earlier) in [
        (
            "5 starts, none earlier",
            design(5, 1),
            [0.0, 0.015, 0.03],
            0,
        ),
        ("5 starts, 5 earlier", design(5, 1), [0.0, 0.04, 0.12], 5),
        ("5 starts, 12 earlier", design(5, 1), [0.0, 0.04, 0.12], 12),
        ("1 start, none earlier", design(1, 5), [0.0, 0.04, 0.12], 0),
        ("1 start, 5 earlier", design(1, 5), [0.0, 0.04, 0.12], 5),
    ] {
        let wrong = grid(&sessions, |machine, seed| {
            separate(machine, design, (1.0, n_earlier), COMPARISONS, seed).changed()
        });
        say_wrong(&format!("separate sessions, {what}"), &wrong, MOST_WRONG);
    }
    let wrong = grid(&[0.0], |machine, seed| {
        let (counts, _) = until_settled(machine, LOOKS, 1.0, COMPARISONS / 4, seed);
        counts.changed()
    });
    say_wrong("interleaved, looked at 56 times", &wrong, MOST_WRONG_IN_ALL);
    let shared = NoisyMachine {
        rounds: 0.07,
        processes: 0.01,
        sessions: 0.03,
        shape: NoiseShape::Normal,
    };
    for times in [1.03, 1.1] {
        for starts in [3, 5, 9, 20] {
            let found = interleaved(&shared, design(starts, 1), times, COMPARISONS, 1);
            say_found(&format!("interleaved, {starts} starts"), times, found);
        }
        let (found, taken) = until_settled(&shared, LOOKS, times, COMPARISONS / 4, 1);
        let middle = taken.get(taken.len() / 2).copied().unwrap_or_default();
        let what = format!("interleaved, up to 60 starts, half of them in {middle}");
        say_found(&what, times, found);
    }
    for times in [1.3, 1.7] {
        for n_earlier in [0, 5, 12] {
            let found = separate(&shared, design(5, 1), (times, n_earlier), COMPARISONS, 1);
            let what = format!("separate sessions, 5 starts, {n_earlier} earlier");
            say_found(&what, times, found);
        }
    }
}

/// A figure of each machine: spread of rounds by that of processes by that of sessions by how rounds deviate.
fn grid(sessions: &[f64], figure: impl Fn(&NoisyMachine, u64) -> f64) -> Vec<(f64, NoisyMachine)> {
    let mut figures = Vec::new();
    for rounds in [0.01, 0.03, 0.09] {
        for processes in [0.0, 0.01, 0.02] {
            for &sessions in sessions {
                for shape in NoiseShape::ALL {
                    let machine = NoisyMachine {
                        rounds,
                        processes,
                        sessions,
                        shape,
                    };
                    figures.push((figure(&machine, figures.len() as u64), machine));
                }
            }
        }
    }
    figures
}

fn say_wrong(what: &str, wrong: &[(f64, NoisyMachine)], limit: f64) {
    let worst = wrong.iter().max_by(|one, other| one.0.total_cmp(&other.0));
    let Some((most, machine)) = worst else {
        return;
    };
    let mean = wrong.iter().map(|one| one.0).sum::<f64>() / wrong.len() as f64;
    promise(
        &format!(
            "{what}: like called a change, most of {} machines",
            wrong.len()
        ),
        &format!("{:.2} %", most * 100.0),
        &format!("≤ {:.1} %", limit * 100.0),
        *most <= limit,
    );
    say(&format!(
        "    {:.2} % on average; most: {machine:?}",
        mean * 100.0
    ));
}

fn say_found(what: &str, times: f64, found: VerdictCounts) {
    let percent = (times - 1.0) * 100.0;
    say(&format!(
        "{what}: {percent:.0} % found{:>44.1} %, {} wrong way",
        f64::from(found.faster) / f64::from(found.all) * 100.0,
        found.slower
    ));
}
