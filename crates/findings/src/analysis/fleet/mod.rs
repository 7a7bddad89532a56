//! One setup on several machines: each machine against the fleet's median, the odd one out, and what differs there.

mod effects;
mod names;
mod peculiarities;
mod runs;

use super::case_rows::CaseRow;
use super::conditions;
use super::earlier_sessions::{self, SessionMean};
use super::machine_lines::THIS_MACHINE;
use super::side;
use super::verdict::{self, Call, Verdict};
use peculiarities::peculiarities;
use powerband_core::base::humanize;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_core::stats::ratio;
use powerband_core::stats::summary::median;
use runs::{FleetRun, MachineKey, fleet_runs, machines, newest_runs, session_runs, shown_name};

pub use effects::{EffectRow, Effects, effects, effects_between};
pub use names::{names_by_hardware, names_by_session};
pub use peculiarities::Peculiarity;
pub use runs::NamedSession;

/// The fewest machines among which one can be the odd one out.
const FEWEST: usize = 3;
/// What makes the median absolute deviation an estimate of the standard deviation, where that is normal.
const TO_SIGMA: f64 = 1.4826;
/// The odd one out is further from the fleet's median than this number of standard deviations.
const SIGMAS: f64 = 3.0;
/// A machine that is closer to the fleet's median than this share is never the odd one out.
const LEAST: f64 = 0.01;
/// Said wherever machines are compared.
const NOT_INTERLEAVED: &str = "Rounds on different machines are not interleaved: what a machine did besides at the time is part of its number.";

/// Several machines compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Fleet {
    /// Cases that ran on at least two of the machines.
    pub cases: Vec<FleetCase>,
    /// What holds for all of it, or why there is nothing to compare.
    pub remarks: Vec<String>,
}

/// One case on several machines.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetCase {
    /// The setup, without what says where it runs.
    pub setup: String,
    /// The name of the network.
    pub model: String,
    /// The point of the sweep.
    pub point: Point,
    /// The machines, in the order of the sessions and their setups.
    pub machines: Vec<FleetMachine>,
    /// The median of the machines' medians, in nanoseconds.
    pub median_ns: Option<f64>,
    /// The finding in sentences.
    pub sentence: String,
}

impl FleetCase {
    /// What it is called beside others: `ort:cuda, batch 8`, with the network where these have several.
    pub fn name(&self, has_several_models: bool) -> String {
        let Self { setup, point, .. } = self;
        if has_several_models {
            format!("{} with {setup}, {point}", self.model)
        } else {
            format!("{setup}, {point}")
        }
    }
}

impl Fleet {
    /// Whether its cases run several networks.
    pub fn has_several_models(&self) -> bool {
        let mut pairs = self.cases.windows(2);
        pairs.any(|pair| pair[0].model != pair[1].model)
    }

    /// What each machine of these cases has that no other one has, a line each, every line once.
    pub fn differences<'a>(
        cases: impl IntoIterator<Item = &'a FleetCase>,
    ) -> Vec<(String, String)> {
        let mut lines: Vec<(String, String)> = Vec::new();
        for machine in cases.into_iter().flat_map(|case| &case.machines) {
            for one in &machine.differs {
                let line = (machine.name.clone(), one.full_text());
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        }
        lines
    }
}

/// One machine of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetMachine {
    pub name: String,
    /// The place of the case's session among those that are compared.
    pub session: usize,
    /// The case there.
    pub row: CaseRow,
    /// Its median over the fleet's: above 1 is slower.
    pub ratio: Option<f64>,
    /// Whether it is the odd one out.
    pub is_odd: bool,
    /// What no other machine of the case has.
    pub differs: Vec<Peculiarity>,
}

/// The machines that ran the setups of these sessions.
pub fn compare_machines(sessions: &[NamedSession<'_>]) -> Fleet {
    compare_runs(fleet_runs(sessions))
}

/// The machines of a run in progress, whose cases in numbers are these.
pub fn compare_machines_of_run(session: &Session, rows: &[CaseRow]) -> Fleet {
    compare_runs(session_runs(0, (THIS_MACHINE, session), rows.to_vec()))
}

fn compare_runs(runs: Vec<FleetRun<'_>>) -> Fleet {
    let mut remarks = Vec::new();
    let all = newest_runs(runs, &mut remarks);
    let machines = machines(&all);
    let mut groups: Vec<Vec<&FleetRun<'_>>> = Vec::new();
    for run in &all {
        let known = groups.iter_mut().find(|group| group[0].is_alike(run));
        match known {
            None => groups.push(vec![run]),
            Some(group) => match why_not_comparable(group[0], run) {
                None => group.push(run),
                Some(why) => remarks.push(why),
            },
        }
    }
    let is_shared = |group: &&Vec<&FleetRun<'_>>| group.len() > 1;
    let cases: Vec<FleetCase> = groups
        .iter()
        .filter(is_shared)
        .map(|group| fleet_case(group, &machines))
        .collect();
    let alone = groups.len() - cases.len();
    if cases.is_empty() {
        remarks.insert(0, nothing_in_common(&machines));
    } else {
        remarks.insert(0, NOT_INTERLEAVED.to_owned());
        if alone > 0 {
            let left_out = humanize::pluralised(alone as u64, "case");
            remarks.push(format!("Left out: {left_out} of one machine only."));
        }
    }
    Fleet { cases, remarks }
}

/// Why two runs of one setup must not be compared.
fn why_not_comparable(first: &FleetRun<'_>, other: &FleetRun<'_>) -> Option<String> {
    let why = conditions::why_not_comparable(
        (first.session, first.row.setup),
        (other.session, other.row.setup),
    )?;
    let (setup, point) = (&first.setup, first.row.point);
    let [one, two] = [first, other].map(|run| run.machine.name.as_str());
    Some(format!(
        "{setup} {point} on {two} is left out beside {one}: {why}."
    ))
}

fn fleet_case(group: &[&FleetRun<'_>], machines: &[&MachineKey]) -> FleetCase {
    let medians: Vec<Option<f64>> = group
        .iter()
        .map(|run| {
            let latency = run.row.latency_ns.as_ref();
            let is_time = |median: &f64| *median > 0.0 && run.is_measured();
            latency.map(|latency| latency.median).filter(is_time)
        })
        .collect();
    let known: Vec<f64> = medians.iter().flatten().copied().collect();
    let median_ns = median(&known).filter(|_| known.len() > 1);
    let limit = odd_threshold(&known, median_ns);
    let verdicts = verdicts(group);
    let members = group.iter().zip(&medians).enumerate();
    let members: Vec<FleetMachine> = members
        .map(|(place, (run, own))| {
            let ratio = own.zip(median_ns).map(|(own, fleet)| own / fleet);
            let is_outside = run.row.ci95_ns.zip(median_ns).is_some_and(|(ci95, fleet)| {
                ci95.tells_of(fleet) && !(ci95.low..=ci95.high).contains(&fleet)
            });
            let is_far = ratio
                .zip(limit)
                .is_some_and(|(ratio, limit)| ratio.ln().abs() > limit);
            let is_settled = verdicts[place]
                .as_ref()
                .is_some_and(|one| matches!(one.call, Call::Faster | Call::Slower));
            FleetMachine {
                name: shown_name(&run.machine, machines),
                session: run.place,
                ratio,
                is_odd: is_outside && is_far && is_settled,
                differs: peculiarities(group, place),
                row: run.row.clone(),
            }
        })
        .collect();
    FleetCase {
        setup: group[0].setup.clone(),
        model: group[0].session.model_of(group[0].row.setup).name.clone(),
        point: group[0].row.point,
        sentence: sentence(&members, &verdicts, median_ns),
        machines: members,
        median_ns,
    }
}

/// Each machine against the mean of the others: a machine's session is a draw, and what it is off by has to exceed what
/// sessions differ by.
fn verdicts(group: &[&FleetRun<'_>]) -> Vec<Option<Verdict>> {
    let means: Vec<Option<SessionMean>> = group
        .iter()
        .map(|run| SessionMean::of_case(run.session, run.key()).filter(|_| run.is_measured()))
        .collect();
    let one = |place: usize, run: &FleetRun<'_>| {
        let this = means[place].as_ref()?;
        let others = means
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != place);
        let others: Vec<&SessionMean> = others.filter_map(|(_, one)| one.as_ref()).collect();
        let (means, spread) = earlier_sessions::spread_of_earlier(&others, this);
        let visits = side::case_visits(run.session, run.session.case(run.key())?);
        let estimate = ratio::against_sessions(&means, &visits, spread)?;
        Some(verdict::verdict_of_estimate(&estimate))
    };
    let runs = group.iter().enumerate();
    runs.map(|(place, run)| one(place, run)).collect()
}

/// How far from the fleet's median a machine has to be to be the odd one out, as a logarithm; nothing where there are
/// too few machines.
fn odd_threshold(medians: &[f64], fleet: Option<f64>) -> Option<f64> {
    let fleet = fleet.filter(|_| medians.len() >= FEWEST)?;
    let distances: Vec<f64> = medians
        .iter()
        .map(|median| (median / fleet).ln().abs())
        .collect();
    let deviation = median(&distances)? * TO_SIGMA;
    Some((deviation * SIGMAS).max(LEAST.ln_1p()))
}

fn sentence(
    machines: &[FleetMachine],
    verdicts: &[Option<Verdict>],
    median_ns: Option<f64>,
) -> String {
    let measured: Vec<&FleetMachine> = machines.iter().filter(|one| one.ratio.is_some()).collect();
    let Some(fleet) = median_ns.map(humanize::duration_ns) else {
        return match measured.as_slice() {
            [] if machines.iter().all(|one| one.row.latency_ns.is_none()) => {
                "It was measured on none of these machines.".to_owned()
            }
            _ => "It was measured on fewer than two of these machines, so there is nothing to compare.".to_owned(),
        };
    };
    if let [one, two] = measured.as_slice() {
        let by = |machine: &FleetMachine| machine.ratio.unwrap_or(1.0);
        let (slow, fast) = if by(one) >= by(two) {
            (one, two)
        } else {
            (two, one)
        };
        let times = humanize::ratio(by(slow) / by(fast));
        let open = verdicts
            .iter()
            .flatten()
            .find(|one| one.call == Call::Inconclusive);
        let open = open.and_then(|one| one.reason.as_ref());
        let open = open.map_or_else(String::new, |reason| {
            format!(", which is not settled: {reason}")
        });
        return format!(
            "{} takes {times} the time of {}{open}. With two machines no odd one out can be named: it takes three.",
            slow.name, fast.name
        );
    }
    let odd: Vec<&&FleetMachine> = measured.iter().filter(|one| one.is_odd).collect();
    if odd.is_empty() {
        let ratios = || measured.iter().filter_map(|one| one.ratio);
        let [low, high] = [ratios().reduce(f64::min), ratios().reduce(f64::max)]
            .map(|end| humanize::ratio(end.unwrap_or(1.0)));
        let mut text =
            format!("No machine stands out: {low} to {high} the fleet's median of {fleet}.");
        if measured.iter().any(|one| one.row.ci95_ns.is_none()) {
            text.push_str(" A machine with one round has no interval, and is never named.");
        }
        return text;
    }
    let said = odd.iter().map(|one| {
        let times = humanize::ratio(one.ratio.unwrap_or(1.0));
        let differs: Vec<String> = one.differs.iter().map(Peculiarity::full_text).collect();
        let differs = if differs.is_empty() {
            "Nothing that was recorded differs there.".to_owned()
        } else {
            format!("What differs there: {}.", differs.join(", "))
        };
        format!(
            "{} is the odd one out, at {times} the fleet's median of {fleet}. {differs}",
            one.name
        )
    });
    said.collect::<Vec<_>>().join(" ")
}

/// Why there is nothing to compare.
fn nothing_in_common(machines: &[&MachineKey]) -> String {
    match machines {
        [] => "There is no case to compare.".to_owned(),
        [one] => format!(
            "Everything ran on {}: add setups with where= to the plan, or give sessions of other machines as well.",
            one.name
        ),
        many => format!(
            "The {} machines have no case in common: no setup was to be measured on two of them with the same model at the same point.",
            many.len()
        ),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::analysis::testing::{
        add_telemetry, end_case, failed, measure, session, spread_over_starts,
    };
    use powerband_core::domain::environment::Environment;
    use powerband_core::domain::machine::RemoteMachine;
    use powerband_core::domain::session::Session;
    use powerband_core::domain::telemetry::{DeviceKind, Quantity};

    /// A setup on machines n0, n1, …, a median in microseconds each.
    pub(crate) fn fleet(micros: &[u64]) -> Session {
        let specs: Vec<String> = (0..micros.len())
            .map(|n| format!("ort:cpu,where=n{n}"))
            .collect();
        let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
        let mut session = session(&specs, &[1]);
        for (setup, &micros) in micros.iter().enumerate() {
            session
                .machines
                .push(machine(&format!("n{setup}"), "performance", setup));
            measure_about(&mut session, setup, micros);
        }
        session
    }

    /// Five rounds within 0.2 % of a time.
    pub(super) fn measure_about(session: &mut Session, setup: usize, micros: u64) {
        let round =
            |shift: u64| -> Vec<u64> { (0..10).map(|i| micros * (1_000 + shift) + i).collect() };
        measure(
            session,
            setup,
            1,
            &[&round(0), &round(1), &round(2), &round(1), &round(0)],
        );
    }

    pub(super) fn machine(name: &str, governor: &str, setup: usize) -> RemoteMachine {
        let mut environment = Environment::default();
        environment.cpu.model = "Example 9654".to_owned();
        environment.cpu.governor = Some(governor.to_owned());
        RemoteMachine {
            name: name.to_owned(),
            host: format!("{name}.example"),
            setups: vec![setup],
            environment,
            ..RemoteMachine::default()
        }
    }

    fn odd(fleet: &Fleet) -> Vec<&str> {
        let machines = fleet.cases.iter().flat_map(|case| &case.machines);
        machines
            .filter(|one| one.is_odd)
            .map(|one| one.name.as_str())
            .collect()
    }

    #[test]
    fn the_odd_one_out_is_named_with_what_differs() {
        let mut session = fleet(&[1_000, 1_010, 990, 1_400]);
        spread_over_starts(&mut session);
        session.machines[3].environment.cpu.governor = Some("powersave".to_owned());
        let found = compare_machines(&[("a", &session)]);
        assert_eq!(odd(&found), ["n3"]);
        let case = &found.cases[0];
        assert_eq!((case.setup.as_str(), case.machines.len()), ("ort:cpu", 4));
        let ratio = case.machines[3].ratio.unwrap();
        assert!((ratio - 1_400.0 / 1_005.0).abs() < 0.001, "{ratio}");
        assert!(
            case.sentence.contains("n3 is the odd one out, at 1.39 ×"),
            "{}",
            case.sentence
        );
        assert!(
            case.sentence
                .contains("Governor: powersave (others: performance)"),
            "{}",
            case.sentence
        );
        assert!(
            case.machines[0].differs.is_empty(),
            "{:?}",
            case.machines[0].differs
        );
        assert!(found.remarks[0].contains("not interleaved"));
    }

    #[test]
    fn what_sessions_differ_by_makes_no_odd_one() {
        // Each machine measured in one stretch, which says nothing of its next one.
        let found = compare_machines(&[("a", &fleet(&[1_000, 1_010, 990, 1_400]))]);
        assert!(odd(&found).is_empty());
        assert!(found.cases[0].sentence.starts_with("No machine stands out"));
        let far = fleet(&[1_000, 1_010, 990, 1_800]);
        assert_eq!(odd(&compare_machines(&[("a", &far)])), ["n3"]);
        // Five others that differ by a tenth leave room for as much and more.
        let mut wide = fleet(&[1_000, 1_010, 990, 1_001, 1_250, 1_400]);
        spread_over_starts(&mut wide);
        assert!(odd(&compare_machines(&[("a", &wide)])).is_empty());
        let two = compare_machines(&[("a", &fleet(&[1_000, 1_400]))]);
        let sentence = &two.cases[0].sentence;
        assert!(
            sentence.contains("1.40 × the time of n0, which is not settled: not interleaved"),
            "{sentence}"
        );
    }

    #[test]
    fn machines_that_scatter_have_no_odd_one() {
        let session = fleet(&[1_000, 1_150, 1_300, 1_450]);
        let found = compare_machines(&[("a", &session)]);
        assert!(odd(&found).is_empty());
        assert!(found.cases[0].sentence.starts_with("No machine stands out"));
        // Two of one kind and two of another: neither is the odd one.
        let halves = fleet(&[1_000, 1_001, 2_000, 2_001]);
        assert!(odd(&compare_machines(&[("a", &halves)])).is_empty());
    }

    #[test]
    fn a_small_or_an_uncertain_distance_is_not_enough() {
        let close = fleet(&[1_000, 1_000, 1_000, 1_006]);
        assert!(odd(&compare_machines(&[("a", &close)])).is_empty());
        let mut wide = fleet(&[1_000, 1_001, 1_002, 1_400]);
        let case = wide.cases.iter_mut().find(|case| case.setup == 3).unwrap();
        case.rounds[0].samples_ns.fill(900_000);
        let found = compare_machines(&[("a", &wide)]);
        assert!(
            odd(&found).is_empty(),
            "its interval has the fleet's median"
        );
        let mut once = fleet(&[1_000, 1_001, 1_002, 1_400]);
        once.cases[3].rounds.truncate(1);
        let found = compare_machines(&[("a", &once)]);
        assert!(odd(&found).is_empty() && found.cases[0].sentence.contains("one round"));
    }

    #[test]
    fn two_machines_are_compared_and_one_is_not() {
        let found = compare_machines(&[("a", &fleet(&[1_000, 2_000]))]);
        let sentence = &found.cases[0].sentence;
        assert!(
            sentence.starts_with("n1 takes 2.00 × the time of n0."),
            "{sentence}"
        );
        assert!(sentence.contains("no odd one out"), "{sentence}");
        let alone = compare_machines(&[("a", &fleet(&[1_000]))]);
        assert!(alone.cases.is_empty() && alone.remarks[0].contains("ran on n0: add"));
    }

    #[test]
    fn sessions_of_several_machines_are_one_fleet() {
        let sessions: Vec<Session> = [1_000, 1_002, 1_800]
            .map(|micros| {
                let mut one = session(&["ort:cpu", "rten:cpu"], &[1]);
                one.plan.seed = micros;
                measure_about(&mut one, 0, micros);
                end_case(&mut one, 1, 1, failed());
                one
            })
            .into();
        let named: Vec<NamedSession<'_>> = ["a", "b", "c"].into_iter().zip(&sessions).collect();
        let found = compare_machines(&named);
        assert_eq!(odd(&found), ["c"]);
        assert!(
            found.cases[1].sentence.contains("on none of these"),
            "{}",
            found.cases[1].sentence
        );
        let mut other = sessions[0].clone();
        other.plan.seed = 1;
        other.model.sha256 = "ff".to_owned();
        let apart = compare_machines(&[("a", &sessions[0]), ("b", &other)]);
        assert!(apart.cases.is_empty());
        assert!(
            apart.remarks[0].contains("2 machines have no case in common"),
            "{:?}",
            apart.remarks
        );
    }

    #[test]
    fn a_machine_counts_once() {
        let older = fleet(&[1_000, 1_001, 1_400]);
        let mut newer = fleet(&[1_000, 1_001, 1_002]);
        newer.created = "2031-01-01T00:00:00Z".to_owned();
        let found = compare_machines(&[("new", &newer), ("old", &older)]);
        assert_eq!(found.cases[0].machines.len(), 3);
        assert!(odd(&found).is_empty());
        assert!(
            found
                .remarks
                .iter()
                .any(|remark| remark.contains("n0 measured some"))
        );
    }

    #[test]
    fn a_copy_of_a_session_is_no_other_machine() {
        let mut one = session(&["ort:cpu"], &[1]);
        measure_about(&mut one, 0, 1_000);
        let found = compare_machines(&[("a", &one), ("copy", &one.clone())]);
        assert!(found.cases.is_empty(), "{found:?}");
        assert!(
            found.remarks[0].contains("ran on a: add"),
            "{:?}",
            found.remarks
        );
    }

    #[test]
    fn readings_of_the_machine_itself_explain_it() {
        let mut session = fleet(&[1_000, 1_001, 1_500]);
        for (n, mhz) in [3_000.0, 3_010.0, 2_000.0].into_iter().enumerate() {
            add_telemetry(&mut session, DeviceKind::Host, 10.0, 5.0, |_| {
                vec![(Quantity::Clock, mhz)]
            });
            session.telemetry.tracks[n].device.machine = Some(format!("n{n}"));
        }
        for case in &mut session.cases {
            case.rounds
                .iter_mut()
                .for_each(|round| round.spent_ns = 500_000_000);
        }
        let found = compare_machines(&[("a", &session)]);
        let differs = &found.cases[0].machines[2].differs;
        let clock = differs.iter().find(|one| one.what == "Mean clock");
        assert!(
            clock.is_some_and(|one| one.here.contains("2,000") || one.here.contains("2.00")),
            "{differs:?}"
        );
        assert!(
            found.cases[0].machines[0]
                .differs
                .iter()
                .all(|one| one.what != "Mean clock")
        );
    }
}
