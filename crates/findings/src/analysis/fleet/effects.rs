//! Two setups on two machines: which part of a difference is the setup's, which the machine's, and whether the one
//! depends on the other.

use serde::Serialize;

use super::names::names_by_hardware;
use super::runs::{
    FleetRun, MachineKey, NamedSession, fleet_runs, machines, newest_runs, shown_name,
};
use crate::analysis::case_pair::{Ratio, compare_cases};
use crate::analysis::earlier_sessions::EarlierSessions;
use crate::analysis::side::ComparedSide;
use crate::analysis::verdict::LEAST_FLOOR;
use powerband_core::base::humanize;
use powerband_core::domain::point::Point;
use powerband_core::stats::bootstrap::Interval;

/// Two setups that both ran on two machines.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Effects {
    /// The model that all four ran.
    #[serde(skip)]
    pub model: String,
    /// The two setups, without what says where they run.
    pub setups: [String; 2],
    /// The two machines.
    pub machines: [String; 2],
    /// The point of the sweep.
    pub point: Point,
    /// What the second setup brings, on each machine.
    pub of_setup: [Ratio; 2],
    /// What the second machine brings, with each setup.
    pub of_machine: [Ratio; 2],
    /// What the second setup brings on the second machine over what it brings on the first.
    pub together: Ratio,
}

/// The effect of one change with everything else fixed.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectRow {
    /// What is changed: `ort:cpu to rten:cpu`.
    pub change: String,
    /// What stays: `on rack`, `with ort:cpu`.
    pub with: String,
    /// The point of the sweep.
    pub point: Point,
    /// The time without the change over the time with it.
    pub ratio: Ratio,
}

impl Effects {
    /// One row for each effect.
    pub fn rows(&self) -> Vec<EffectRow> {
        let effect = |change: String, with: String, ratio| EffectRow {
            change,
            with,
            point: self.point,
            ratio,
        };
        let ([first, second], [one, two]) = (&self.setups, &self.machines);
        let (setup, machine) = (format!("{first} to {second}"), format!("{one} to {two}"));
        vec![
            effect(setup.clone(), format!("on {one}"), self.of_setup[0]),
            effect(setup.clone(), format!("on {two}"), self.of_setup[1]),
            effect(machine.clone(), format!("with {first}"), self.of_machine[0]),
            effect(machine, format!("with {second}"), self.of_machine[1]),
            effect(setup, format!("on {two} over {one}"), self.together),
        ]
    }

    /// Title: `ort:cpu and rten:cpu on n0 and n1, batch 8`.
    pub fn title(&self) -> String {
        let ([first, second], [one, two]) = (&self.setups, &self.machines);
        format!(
            "{first} and {second} on {one} and {two}, {}, {}",
            self.model, self.point
        )
    }

    /// The conclusion in a sentence.
    pub fn sentence(&self) -> String {
        let [one, two] = &self.machines;
        let Some(interval) = self.together.ci95 else {
            return "Whether what the setup brings depends on the machine needs two rounds of each."
                .to_owned();
        };
        let floor = LEAST_FLOOR.ln_1p();
        let (low, high) = (interval.low.ln(), interval.high.ln());
        if low > floor || high < -floor {
            return format!(
                "What the setup brings depends on the machine: on {two} it is {} what it is on {one}.",
                humanize::ratio(self.together.speed_up)
            );
        }
        if low >= -floor && high <= floor {
            return format!(
                "What the setup brings is the same on {one} and {two}, within {}.",
                humanize::percent(LEAST_FLOOR)
            );
        }
        format!(
            "Whether what the setup brings depends on the machine is inconclusive: {one} and {two} differ by less than the intervals, or than {}.",
            humanize::percent(LEAST_FLOOR)
        )
    }
}

/// The first setup beside each other one, on the first machine that ran both beside each other machine that did.
pub fn effects(sessions: &[NamedSession<'_>]) -> Vec<Effects> {
    let all = newest_runs(fleet_runs(sessions), &mut Vec::new());
    let machines = machines(&all);
    let mut found = Vec::new();
    let mut led: Vec<(Point, &str)> = Vec::new();
    for first in &all {
        let case = (first.row.point, first.model.as_str());
        if led.contains(&case) {
            continue;
        }
        let squares = squares(first, &all);
        let squares = squares
            .into_iter()
            .filter_map(|runs| square_effects(runs, &machines));
        let squares: Vec<Effects> = squares.collect();
        if !squares.is_empty() {
            led.push(case);
        }
        found.extend(squares);
    }
    found
}

/// The parts of setup and machine in the difference of two sides that differ in both, at each point where both setups
/// ran on both machines.
pub fn effects_between(before: &ComparedSide<'_>, after: &ComparedSide<'_>) -> Vec<Effects> {
    let is_one = before.session.is_of_one_run_with(after.session);
    let mut named: Vec<NamedSession<'_>> = vec![(before.session.name.as_str(), before.session)];
    if !is_one {
        named.push((after.session.name.as_str(), after.session));
    }
    if named.iter().all(|(_, session)| session.machines.is_empty()) {
        return Vec::new();
    }
    let names = names_by_hardware(&named);
    let sessions = named.iter().map(|(_, session)| *session);
    let named: Vec<NamedSession<'_>> = names.iter().map(String::as_str).zip(sessions).collect();
    let all = newest_runs(fleet_runs(&named), &mut Vec::new());
    let machines = machines(&all);
    let is_at = |side: &ComparedSide<'_>, place: usize, run: &FleetRun<'_>| {
        run.place == place
            && run.row.setup == side.setup
            && side.point.is_none_or(|point| point == run.row.point)
    };
    let firsts = all.iter().filter(|run| is_at(before, 0, run));
    firsts
        .flat_map(|first| squares(first, &all))
        .filter(|[.., fourth]| is_at(after, usize::from(!is_one), fourth))
        .filter_map(|runs| square_effects(runs, &machines))
        .collect()
}

/// A run beside each other setup on its machine, and both of them on each other machine.
fn squares<'r, 's>(first: &'r FleetRun<'s>, all: &'r [FleetRun<'s>]) -> Vec<[&'r FleetRun<'s>; 4]> {
    let is_another_setup = |run: &&FleetRun<'_>| {
        run.machine == first.machine
            && run.model == first.model
            && run.row.point == first.row.point
            && run.setup != first.setup
    };
    let elsewhere = |run: &&FleetRun<'_>| run.machine != first.machine && run.is_alike(first);
    let mut found = Vec::new();
    for second in all.iter().filter(is_another_setup) {
        for other in all.iter().filter(elsewhere) {
            let is_fourth =
                |run: &&FleetRun<'_>| run.machine == other.machine && run.is_alike(second);
            let fourth = all.iter().find(is_fourth);
            found.extend(fourth.map(|fourth| [first, second, other, fourth]));
        }
    }
    found
}

/// Both setups on one machine, then both on the other; nothing where two of them cannot be compared.
fn square_effects(runs: [&FleetRun<'_>; 4], machines: &[&MachineKey]) -> Option<Effects> {
    let [first, second, other, fourth] = runs;
    let of_setup = [ratio(first, second)?, ratio(other, fourth)?];
    Some(Effects {
        model: first.session.model_of(first.row.setup).name.clone(),
        setups: [first.setup.clone(), second.setup.clone()],
        machines: [first, other].map(|run| shown_name(&run.machine, machines)),
        point: first.row.point,
        of_machine: [ratio(first, other)?, ratio(second, fourth)?],
        together: over(of_setup[1], of_setup[0]),
        of_setup,
    })
}

fn ratio(before: &FleetRun<'_>, after: &FleetRun<'_>) -> Option<Ratio> {
    if !before.is_measured() || !after.is_measured() {
        return None;
    }
    let [mine, theirs] = [before, after].map(|run| ComparedSide {
        session: run.session,
        rows: std::slice::from_ref(&run.row),
        setup: run.row.setup,
        point: Some(run.row.point),
    });
    let earlier = EarlierSessions::default();
    compare_cases(&mine, &theirs, &before.row, &after.row, &earlier).ratio
}

/// One ratio over another that was measured on another machine: what disturbs the one does not disturb the other, so
/// the squares of their intervals add up.
fn over(ratio: Ratio, base: Ratio) -> Ratio {
    let ln = ratio.speed_up.ln() - base.speed_up.ln();
    let half = |one: Ratio| one.ci95.map(|ci95| (ci95.high / ci95.low).ln() / 2.0);
    let half = half(ratio).zip(half(base)).map(|(one, two)| one.hypot(two));
    Ratio {
        speed_up: ln.exp(),
        ci95: half.map(|half| Interval {
            low: (ln - half).exp(),
            high: (ln + half).exp(),
        }),
        rounds: ratio.rounds.min(base.rounds),
        is_apart: ratio.is_apart || base.is_apart,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{machine, measure_about};
    use super::*;
    use crate::analysis::testing::session;
    use powerband_core::domain::session::Session;

    /// Two setups on two machines, a median in microseconds each.
    fn square(micros: [u64; 4]) -> Session {
        let specs = [
            "ort:cpu,where=n0",
            "rten:cpu,where=n0",
            "ort:cpu,where=n1",
            "rten:cpu,where=n1",
        ];
        let mut session = session(&specs, &[1]);
        for (setup, micros) in micros.into_iter().enumerate() {
            measure_about(&mut session, setup, micros);
        }
        for (name, setups) in [("n0", vec![0, 1]), ("n1", vec![2, 3])] {
            let mut machine = machine(name, "performance", 0);
            machine.setups = setups;
            session.machines.push(machine);
        }
        session
    }

    #[test]
    fn the_parts_of_setup_and_machine_are_told_apart() {
        let found = effects(&[("a", &square([1_000, 500, 2_000, 1_000]))]);
        let [one] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!(one.setups, ["ort:cpu", "rten:cpu"]);
        assert_eq!(one.machines, ["n0", "n1"]);
        for (part, expected) in one.rows().iter().zip([2.0, 2.0, 0.5, 0.5, 1.0]) {
            let ratio = part.ratio.speed_up;
            assert!((ratio / expected - 1.0).abs() < 0.01, "{part:?}");
        }
        assert!(one.sentence().contains("is the same on n0 and n1"));
    }

    #[test]
    fn a_change_that_helps_on_one_machine_only_is_said() {
        let found = effects(&[("a", &square([1_000, 500, 2_000, 2_000]))]);
        assert_eq!(found.len(), 1);
        let sentence = found[0].sentence();
        assert!(
            sentence.contains("depends on the machine: on n1 it is 0.500 × what it is on n0"),
            "{sentence}"
        );
    }

    #[test]
    fn a_restless_machine_decides_nothing() {
        let mut session = square([1_000, 500, 2_000, 1_010]);
        let case = session
            .cases
            .iter_mut()
            .find(|case| case.setup == 3)
            .unwrap();
        case.rounds[0].samples_ns.fill(800_000);
        let sentence = effects(&[("a", &session)])[0].sentence();
        assert!(sentence.contains("inconclusive"), "{sentence}");
    }

    #[test]
    fn two_sides_that_differ_in_both_have_their_parts() {
        let session = square([1_000, 500, 2_000, 1_500]);
        let rows = crate::analysis::case_rows::case_rows(&session);
        let side = |setup: usize| ComparedSide {
            session: &session,
            rows: &rows,
            setup,
            point: None,
        };
        let found = effects_between(&side(0), &side(3));
        assert_eq!(found.len(), 1);
        let speed_ups = found[0].of_setup.map(|ratio| ratio.speed_up);
        assert!((speed_ups[0] / 2.0 - 1.0).abs() < 0.01, "{speed_ups:?}");
        assert!(
            (speed_ups[1] * 3.0 / 4.0 - 1.0).abs() < 0.01,
            "{speed_ups:?}"
        );
        for (one, other) in [(0, 1), (0, 2), (0, 0)] {
            assert!(effects_between(&side(one), &side(other)).is_empty());
        }
        // Turned round, the other corner is the first.
        assert_eq!(
            effects_between(&side(3), &side(0))[0].machines,
            ["n1", "n0"]
        );
    }

    #[test]
    fn three_of_four_are_no_square() {
        let mut session = square([1_000, 500, 2_000, 1_000]);
        session.cases.retain(|case| case.setup != 3);
        assert!(effects(&[("a", &session)]).is_empty());
    }

    #[test]
    fn one_round_has_no_interval() {
        let mut session = square([1_000, 500, 2_000, 1_000]);
        for case in &mut session.cases {
            case.rounds.truncate(1);
        }
        let found = effects(&[("a", &session)]);
        assert!(
            found[0].sentence().contains("needs two rounds"),
            "{found:?}"
        );
    }

    #[test]
    fn sessions_of_two_machines_are_a_square_too() {
        let on = |micros: [u64; 2]| {
            let mut one = session(&["ort:cpu", "rten:cpu"], &[1]);
            one.plan.seed = micros[0];
            measure_about(&mut one, 0, micros[0]);
            measure_about(&mut one, 1, micros[1]);
            one
        };
        let (a, b) = (on([1_000, 900]), on([3_000, 1_500]));
        let found = effects(&[("a", &a), ("b", &b)]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].machines, ["a", "b"]);
        let together = found[0].together.speed_up;
        assert!((together - 2.0 / (10.0 / 9.0)).abs() < 0.01, "{together}");
    }
}
