//! How often a change of the level of a case over time is found, and where; and how often one is found that is not there.
//!
//! Histories of 60 sessions: with two steps, with three single sessions that are off, with both and with neither. The
//! series are written to `target/levels.json`, for `scripts/compare-levels`, which has Apache Otava judge the same ones.

use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde_json::json;

use crate::{promise, say};
use powerband_core::stats::levels;

const HISTORIES: u64 = 200;
const SESSIONS: usize = 60;
/// Sessions scatter by so much; in every second history one in ten by three times as much.
const SCATTER: f64 = 0.01;
const STEP: f64 = 0.05;
/// A change smaller than this is none.
const FLOOR: f64 = 0.01;
/// What the histories have.
const KINDS: [&str; 4] = ["steps", "nothing", "spikes", "steps and spikes"];
/// A step counts as found so many sessions from its place.
const NEAR: usize = 1;

/// A made-up history and the places of its steps.
struct KnownHistory {
    kind: &'static str,
    /// Logarithms of times.
    values: Vec<f64>,
    steps: Vec<usize>,
}

pub(crate) fn judge() {
    let known = histories();
    let found: Vec<Vec<usize>> = known
        .iter()
        .map(|one| {
            levels::steps(&one.values, FLOOR)
                .iter()
                .map(|step| step.at)
                .collect()
        })
        .collect();
    let is_near =
        |places: &[usize], place: usize| places.iter().any(|one| one.abs_diff(place) <= NEAR);
    let mut steps = KINDS.map(|kind| (kind, 0, 0));
    let mut wrong = KINDS.map(|kind| (kind, 0));
    for (one, found) in known.iter().zip(&found) {
        let of_kind = steps.iter_mut().find(|(kind, ..)| *kind == one.kind);
        let (_, right, all) = of_kind.expect("a kind");
        *right += one
            .steps
            .iter()
            .filter(|step| is_near(found, **step))
            .count();
        *all += one.steps.len();
        let is_wrong = found.iter().any(|place| !is_near(&one.steps, *place));
        let kind = wrong.iter_mut().find(|(kind, _)| *kind == one.kind);
        kind.expect("a kind").1 += usize::from(is_wrong);
    }
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    for (kind, right, all) in steps.into_iter().filter(|(_, _, all)| *all > 0) {
        let share = right as f64 / all as f64;
        let what = format!("levels: steps of 5 % found where they are, {kind}");
        figure(kind, &what, &percent(share), "≥ 95 %", share >= 0.95);
    }
    for (kind, wrong) in wrong {
        let share = wrong as f64 / HISTORIES as f64;
        let what = format!("levels: histories with a change that is not there, {kind}");
        figure(kind, &what, &percent(share), "≤ 5 %", share <= 0.05);
    }
    write(&known);
}

/// Where a session that is off stands beside a step, either place is as good: nothing is promised then.
fn figure(kind: &str, what: &str, figure: &str, promised: &str, kept: bool) {
    if kind == "steps and spikes" {
        say(&format!("{what:<70}{figure:>16}"));
    } else {
        promise(what, figure, promised, kept);
    }
}

fn histories() -> Vec<KnownHistory> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(20_261_128);
    let mut known = Vec::new();
    for number in 0..HISTORIES {
        for kind in KINDS {
            let mut values = noise(number % 2 == 1, &mut rng);
            let mut below = |limit: u64| (rng.next_u64() % limit) as usize;
            let mut steps = Vec::new();
            if kind.starts_with("steps") {
                // No level is shorter than five sessions.
                steps = vec![5 * (1 + below(5)), 5 * (6 + below(6))];
                for &step in &steps {
                    let size = if below(2) == 0 { STEP } else { -STEP };
                    values[step..].iter_mut().for_each(|value| *value += size);
                }
            }
            if kind.ends_with("spikes") {
                for third in 0..3 {
                    let size = [0.1, 0.3, 0.5][below(3)];
                    values[20 * third + below(20)] += size;
                }
            }
            known.push(KnownHistory {
                kind,
                values,
                steps,
            });
        }
    }
    known
}

fn noise(has_heavy_tails: bool, rng: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    let value = |_| {
        let normal: f64 = StandardNormal.sample(rng);
        let is_far = has_heavy_tails && rng.next_u64().is_multiple_of(10);
        normal * SCATTER * if is_far { 3.0 } else { 1.0 }
    };
    (0..SESSIONS).map(value).collect()
}

fn write(known: &[KnownHistory]) {
    let documents = known
        .iter()
        .map(|one| json!({ "kind": one.kind, "values": one.values, "steps": one.steps }));
    let document = json!(documents.collect::<Vec<_>>());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/target/levels.json");
    match std::fs::write(path, document.to_string()) {
        Ok(()) => say("    the same series are in target/levels.json, for scripts/compare-levels"),
        Err(error) => say(&format!("    {path}: {error}")),
    }
}
