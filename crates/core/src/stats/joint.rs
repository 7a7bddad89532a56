//! What several cases say together: draws of all of them at once, so that a best, a knee or a front is stated
//! only where it would come out the same.
//!
//! A case is known by its starts, each with the mean of the logarithms of its rounds; without starts each round is
//! one. A draw of its value is
//!
//! m + Σᵤ gᵤ (xᵤ − m) ÷ √(n (n − 1)) · √(ν ÷ χ²)
//!
//! with m the mean of the n values xᵤ, ν = n − 1, gᵤ a standard normal and χ² a chi-squared value of ν degrees of
//! freedom: by itself that is Student's t around m. All cases of a draw have the same g for the same round and the
//! same χ², so that the difference of two cases is Student's t of their paired difference: what slowed a whole
//! round down drops out of every comparison of the cases, however many there are. Assumes units that could be
//! exchanged.
//!
//! Draws are seeded: the same rounds always give the same statement.

use std::collections::BTreeMap;

use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;

use super::summary::mean;

/// How many draws there are.
pub const DRAWS: usize = 500;
/// The share of draws that have to agree on what is stated.
pub const AGREEMENT: f64 = 0.95;
/// What fewer draws than this share say is no candidate.
pub const LEAST_CANDIDATE: f64 = 0.05;
/// Keeps the seeds of rounds and of χ² apart.
const OF_SCALES: u64 = 1 << 40;

/// One round of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundValue {
    /// Number of the round, by which cases share it.
    pub round: u32,
    /// The start of the process that it is of; nothing where rounds are units of their own.
    pub start: Option<u32>,
    /// The logarithm of its value.
    pub ln: f64,
}

/// The random numbers that cases measured in turns share.
#[derive(Clone, Debug)]
pub struct SharedNoise {
    seed: u64,
    /// A standard normal for each draw, by the number of the round.
    rounds: BTreeMap<u32, Vec<f64>>,
    /// The sum of so many squared standard normals for each draw.
    squares: Vec<Vec<f64>>,
}

impl SharedNoise {
    /// Those of a seed. Cases that were not measured in turns need seeds of their own.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            rounds: BTreeMap::new(),
            squares: Vec::new(),
        }
    }

    /// Draws of a case's logarithm; nothing for fewer than two units, or where a value is not a number.
    pub fn draws(&mut self, rounds: &[RoundValue]) -> Option<Vec<f64>> {
        let units = units(rounds);
        let values: Vec<f64> = units.iter().map(|unit| unit.ln).collect();
        let centre = mean(&values).filter(|centre| centre.is_finite())?;
        let n = units.len();
        let freedom = n.checked_sub(1).filter(|freedom| *freedom > 0)?;
        let mut draws = vec![0.0; DRAWS];
        for unit in &units {
            // A start of several rounds has one standard normal too: the sum of theirs over the root of their number.
            let weight = (unit.ln - centre) / (unit.rounds.len() as f64).sqrt();
            for round in &unit.rounds {
                for (draw, normal) in draws.iter_mut().zip(self.normals(*round)) {
                    *draw += weight * normal;
                }
            }
        }
        let root = ((n * freedom) as f64).sqrt();
        for (draw, square) in draws.iter_mut().zip(self.squares(freedom)) {
            *draw = centre + *draw / root * (freedom as f64 / square).sqrt();
        }
        Some(draws)
    }

    fn normals(&mut self, round: u32) -> &[f64] {
        let seed = self.seed.wrapping_add(u64::from(round));
        self.rounds.entry(round).or_insert_with(|| normals(seed))
    }

    fn squares(&mut self, freedom: usize) -> &[f64] {
        while self.squares.len() < freedom {
            let own = self.squares.len() as u64;
            let normals = normals(self.seed.wrapping_add(OF_SCALES).wrapping_add(own));
            let before = self.squares.last();
            let sum = normals.iter().enumerate().map(|(draw, normal)| {
                let before = before.map_or(0.0, |before| before[draw]);
                before + normal * normal
            });
            let sum: Vec<f64> = sum.collect();
            self.squares.push(sum);
        }
        &self.squares[freedom - 1]
    }
}

/// A standard normal for each draw.
pub fn normals(seed: u64) -> Vec<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let normal = |_| StandardNormal.sample(&mut rng);
    (0..DRAWS).map(normal).collect()
}

/// Unit of resampling: the rounds of a start, or one round.
struct ResampledUnit {
    rounds: Vec<u32>,
    ln: f64,
}

fn units(rounds: &[RoundValue]) -> Vec<ResampledUnit> {
    let mut starts: BTreeMap<u32, Vec<&RoundValue>> = BTreeMap::new();
    let mut groups: Vec<Vec<&RoundValue>> = Vec::new();
    for round in rounds {
        match round.start {
            Some(start) => starts.entry(start).or_default().push(round),
            None => groups.push(vec![round]),
        }
    }
    groups.extend(starts.into_values());
    let unit = |group: Vec<&RoundValue>| ResampledUnit {
        ln: group.iter().map(|round| round.ln).sum::<f64>() / group.len() as f64,
        rounds: group.iter().map(|round| round.round).collect(),
    };
    groups.into_iter().map(unit).collect()
}

/// Something that is stated where draws agree on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement<T> {
    /// At least 95 % of the draws say so.
    Settled(T),
    /// What at least 5 % of the draws say each, the most frequent first; what the numbers by themselves say where
    /// nothing is known of their uncertainty.
    NotSettled(Vec<T>),
}

impl<T: PartialEq> Statement<T> {
    /// What the draws say, a vote each. `shown` is what the numbers on the screen say: nothing else is stated.
    pub fn of_votes(votes: impl IntoIterator<Item = T>, shown: T) -> Self {
        let mut counts: Vec<(T, usize)> = Vec::new();
        let mut all = 0;
        for vote in votes {
            all += 1;
            match counts.iter_mut().find(|(known, _)| *known == vote) {
                Some((_, count)) => *count += 1,
                None => counts.push((vote, 1)),
            }
        }
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let share = |count: usize| count as f64 / f64::from(all.max(1));
        let is_stated = |(vote, count): &(T, usize)| share(*count) >= AGREEMENT && *vote == shown;
        if counts.first().is_some_and(is_stated) {
            return Self::Settled(shown);
        }
        counts.retain(|(_, count)| share(*count) >= LEAST_CANDIDATE);
        let mut candidates: Vec<T> = counts.into_iter().map(|(vote, _)| vote).collect();
        if !candidates.contains(&shown) {
            candidates.push(shown);
        }
        Self::NotSettled(candidates)
    }

    /// What is stated, where something is.
    pub fn settled(&self) -> Option<&T> {
        match self {
            Self::Settled(value) => Some(value),
            Self::NotSettled(_) => None,
        }
    }

    /// What is stated, or each candidate.
    pub fn candidates(&self) -> &[T] {
        match self {
            Self::Settled(value) => std::slice::from_ref(value),
            Self::NotSettled(values) => values,
        }
    }

    /// Maps the value of the statement.
    pub fn map<U>(self, other: impl Fn(T) -> U) -> Statement<U> {
        match self {
            Self::Settled(value) => Statement::Settled(other(value)),
            Self::NotSettled(values) => {
                Statement::NotSettled(values.into_iter().map(other).collect())
            }
        }
    }
}

/// A value that is compared with others.
#[derive(Clone, Debug)]
pub struct RankedValue {
    /// The value that is shown.
    pub shown: f64,
    /// Draws of its logarithm; nothing where its uncertainty is not known.
    pub draws: Option<Vec<f64>>,
}

/// Which value is the highest, by its place; nothing for none. Where the uncertainty of one is not known, nothing is
/// stated.
pub fn highest(contenders: &[RankedValue]) -> Option<Statement<usize>> {
    let places = 0..contenders.len();
    let shown = places.max_by(|a, b| contenders[*a].shown.total_cmp(&contenders[*b].shown))?;
    let known: Option<Vec<&[f64]>> = contenders.iter().map(|one| one.draws.as_deref()).collect();
    if contenders.len() == 1 {
        return Some(Statement::Settled(shown));
    }
    let Some(draws) = known else {
        return Some(Statement::NotSettled(vec![shown]));
    };
    let votes = (0..DRAWS).map(|draw| {
        let highest = (0..draws.len()).max_by(|a, b| {
            let by_draw = draws[*a][draw].total_cmp(&draws[*b][draw]);
            // Equal ones are what the numbers that are shown make of them.
            by_draw.then_with(|| contenders[*a].shown.total_cmp(&contenders[*b].shown))
        });
        highest.unwrap_or(shown)
    });
    Some(Statement::of_votes(votes, shown))
}

/// The rank of each value among all, 1 for the highest. Where the uncertainty of one is not known, none is stated.
pub fn ranks(contenders: &[RankedValue]) -> Vec<Statement<usize>> {
    let draws: Option<Vec<&[f64]>> = contenders.iter().map(|one| one.draws.as_deref()).collect();
    // Equal ones are ranked as the numbers that are shown.
    let is_above = |a: usize, b: usize, value: &dyn Fn(usize) -> f64| {
        let order = value(a).total_cmp(&value(b));
        let shown = contenders[a].shown.total_cmp(&contenders[b].shown);
        order.then(shown).then(b.cmp(&a)).is_gt()
    };
    let places = 0..contenders.len();
    let rank = |place: usize, value: &dyn Fn(usize) -> f64| {
        let above = places
            .clone()
            .filter(|other| is_above(*other, place, value));
        1 + above.count()
    };
    let statement = |place: usize| {
        let shown = rank(place, &|one| contenders[one].shown);
        match &draws {
            _ if contenders.len() == 1 => Statement::Settled(shown),
            None => Statement::NotSettled((1..=contenders.len()).collect()),
            Some(draws) => {
                let votes = (0..DRAWS).map(|draw| rank(place, &|one| draws[one][draw]));
                Statement::of_votes(votes, shown)
            }
        }
    };
    places.clone().map(statement).collect()
}

/// The value that so large a share of the draws does not exceed.
pub fn quantile(draws: &[f64], share: f64) -> Option<f64> {
    let mut sorted = draws.to_vec();
    sorted.sort_by(f64::total_cmp);
    super::percentiles::quantile_sorted(&sorted, share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::student;

    fn rounds(values: &[f64]) -> Vec<RoundValue> {
        let round = |(round, ln): (u32, &f64)| RoundValue {
            round,
            start: None,
            ln: *ln,
        };
        (0..).zip(values).map(round).collect()
    }

    fn normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
        StandardNormal.sample(rng)
    }

    #[test]
    fn draws_of_one_case_are_students_t_around_its_mean() {
        let values = [0.02, -0.01, 0.05, 0.01, -0.03];
        let draws = SharedNoise::new(3).draws(&rounds(&values)).unwrap();
        let centre = mean(&values).unwrap();
        let error =
            crate::stats::summary::standard_deviation(&values, centre).unwrap() / 5_f64.sqrt();
        let half = student::t975(4.0) * error;
        let inside = draws.iter().filter(|draw| (**draw - centre).abs() <= half);
        let share = inside.count() as f64 / DRAWS as f64;
        assert!((share - 0.95).abs() < 0.02, "{share}");
        assert!((mean(&draws).unwrap() - centre).abs() < 0.1 * half);
    }

    #[test]
    fn what_rounds_share_drops_out_of_differences() {
        let shared = [0.5, -0.2, 0.9, 0.0, -0.7];
        let own = [0.01, -0.01, 0.0, 0.005, -0.005];
        let slower: Vec<f64> = shared.iter().zip(own).map(|(a, b)| a + b + 0.1).collect();
        let mut noise = SharedNoise::new(1);
        let [first, second] = [&shared[..], &slower].map(|one| noise.draws(&rounds(one)).unwrap());
        let differences: Vec<f64> = second.iter().zip(&first).map(|(a, b)| a - b).collect();
        let low = quantile(&differences, 0.025).unwrap();
        let high = quantile(&differences, 0.975).unwrap();
        assert!(low > 0.08 && high < 0.12, "{low} {high}");
        let apart = SharedNoise::new(99).draws(&rounds(&slower)).unwrap();
        let apart = apart.iter().zip(&first).filter(|(a, b)| a < b).count();
        assert!(apart > DRAWS / 10, "not measured in turns: {apart}");
    }

    #[test]
    fn rounds_of_one_start_are_one_unit() {
        let value = |round: u32, ln: f64| RoundValue {
            round,
            start: Some(round / 2),
            ln,
        };
        // Two starts of two rounds each, that differ between starts only.
        let two = [value(0, 0.1), value(1, 0.1), value(2, -0.1), value(3, -0.1)];
        let mut noise = SharedNoise::new(5);
        let starts = noise.draws(&two).unwrap();
        let as_rounds = noise.draws(&two.map(|one| RoundValue { start: None, ..one }));
        let width = |draws: &[f64]| quantile(draws, 0.9).unwrap() - quantile(draws, 0.1).unwrap();
        assert!(width(&starts) > 1.5 * width(&as_rounds.unwrap()));
        assert_eq!(noise.draws(&two[..2]), None, "one start says nothing");
        assert_eq!(noise.draws(&[]), None);
    }

    /// How often the fastest of some cases is stated, and how often it is another one, with rounds that are
    /// restless together.
    fn stated(leads: &[f64], own: f64, is_joint: bool) -> (f64, f64) {
        const RUNS: u64 = 600;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let (mut right, mut wrong) = (0, 0);
        for run in 0..RUNS {
            let common: Vec<f64> = (0..5).map(|_| 0.2 * normal(&mut rng)).collect();
            let mut noise = SharedNoise::new(run * 1_000);
            let contenders: Vec<RankedValue> = leads
                .iter()
                .zip(0..)
                .map(|(lead, place)| {
                    let values: Vec<f64> = common
                        .iter()
                        .map(|common| common + lead + own * normal(&mut rng))
                        .collect();
                    let mut alone = SharedNoise::new(run * 1_000 + 100 * (place + 1));
                    let noise = if is_joint { &mut noise } else { &mut alone };
                    RankedValue {
                        shown: mean(&values).unwrap(),
                        draws: noise.draws(&rounds(&values)),
                    }
                })
                .collect();
            match highest(&contenders).unwrap() {
                Statement::Settled(0) => right += 1,
                Statement::Settled(_) => wrong += 1,
                Statement::NotSettled(candidates) => assert!(!candidates.is_empty()),
            }
        }
        let share = |count: i32| f64::from(count) / RUNS as f64;
        (share(right), share(wrong))
    }

    #[test]
    fn a_lead_of_ten_percent_is_seen_through_what_rounds_share() {
        let cases = [0.1, 0.0, 0.0, -0.05];
        let (right, wrong) = stated(&cases, 0.01, true);
        assert!(right > 0.99 && wrong == 0.0, "{right} {wrong}");
        let (right, _) = stated(&cases, 0.01, false);
        assert!(right < 0.2, "separate intervals: {right}");
    }

    #[test]
    fn near_ties_are_rarely_stated_wrongly() {
        for own in [0.01, 0.05] {
            let (right, wrong) = stated(&[0.001, 0.0], own, true);
            assert!(wrong <= 0.06 && right < 0.5, "{right} {wrong}");
            let (_, wrong) = stated(&[0.002, 0.0, 0.0, 0.0, 0.0], own, true);
            assert!(wrong <= 0.06, "{wrong}");
        }
    }

    #[test]
    fn ranks_are_stated_as_far_as_draws_agree() {
        let mut noise = SharedNoise::new(11);
        let mut contender = |centre: f64, spread: f64| {
            let values = [1.0, -1.0, 0.5, -0.5, 0.0].map(|share| centre + spread * share);
            RankedValue {
                shown: centre,
                draws: noise.draws(&rounds(&values)),
            }
        };
        let three = [
            contender(0.2, 0.01),
            contender(0.9, 0.01),
            contender(0.5, 0.01),
        ];
        let settled = [3, 1, 2].map(Statement::Settled);
        assert_eq!(ranks(&three), settled);
        // One that may be anywhere, beside two that are apart.
        let wide = [
            contender(0.9, 0.01),
            contender(0.51, 2.0),
            contender(0.5, 0.01),
        ];
        let found = ranks(&wide);
        assert!(
            found.iter().all(|rank| rank.settled().is_none()),
            "{found:?}"
        );
        assert!(!found[0].candidates().contains(&3), "{found:?}");
        let unknown = RankedValue {
            shown: 0.1,
            draws: None,
        };
        let both = ranks(&[three[0].clone(), unknown.clone()]);
        assert_eq!(both, [(); 2].map(|()| Statement::NotSettled(vec![1, 2])));
        assert_eq!(ranks(&[unknown]), [Statement::Settled(1)]);
        let [first, ..] = three;
        assert_eq!(
            ranks(&[first.clone(), first]),
            [1, 2].map(Statement::Settled)
        );
    }

    #[test]
    fn votes_are_stated_from_ninety_five_percent_on() {
        let votes = |first: usize| (0..100).map(move |vote| usize::from(vote >= first));
        assert_eq!(Statement::of_votes(votes(95), 0), Statement::Settled(0));
        let open = Statement::of_votes(votes(90), 0);
        assert_eq!(open, Statement::NotSettled(vec![0, 1]));
        // What most draws say and the screen does not is not stated.
        assert_eq!(
            Statement::of_votes(votes(99), 1),
            Statement::NotSettled(vec![0, 1])
        );
        let none = Statement::of_votes(std::iter::empty(), 4);
        assert_eq!(none, Statement::NotSettled(vec![4]));
    }

    #[test]
    fn nothing_is_stated_beside_a_value_of_unknown_uncertainty() {
        let contender = |shown, draws| RankedValue { shown, draws };
        let known = contender(1.0, Some(vec![0.0; DRAWS]));
        let unknown = contender(2.0, None);
        let both = [known.clone(), unknown.clone()];
        assert_eq!(highest(&both), Some(Statement::NotSettled(vec![1])));
        assert_eq!(highest(&[unknown]), Some(Statement::Settled(0)));
        assert_eq!(highest(&[]), None);
        // Times that never differed are known exactly, and equal ones keep the order of what is shown.
        let equal = [known.clone(), contender(1.5, known.draws)];
        assert_eq!(highest(&equal), Some(Statement::Settled(1)));
    }
}
