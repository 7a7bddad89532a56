//! The flags of a case, each with its evidence and what to do about it.
//!
//! A flag never changes a number. The rules are those of the measuring method; those that follow from
//! device readings are in [`super::device_flags`].

pub use super::flag::{Flag, FlagSeverity, RuleExcess};
use super::{device_flags, examined, narrow_numbers};
use powerband_core::base::humanize;
use powerband_core::domain::case::{Case, CpuContention, WarmUp};
use powerband_core::domain::session::Session;
use powerband_core::domain::setup::Setup;
use powerband_core::stats::percentiles::ELIGIBLE;
use powerband_core::stats::summary::{Summary, median};

/// Beyond this share of the median, an interquartile range gets a flag.
const NOISY: f64 = 0.025;
/// Beyond this, the median itself is in doubt.
const VERY_NOISY: f64 = 0.10;
/// Beyond this change from the first to the last third, the case drifted.
const DRIFT: f64 = 0.02;
/// A first run this many times the median gets a flag.
const SLOW_FIRST_RUN: f64 = 3.0;
/// Other programs may use so much of the processors before it is flagged, as a share of all of them.
const CONTENDED: f64 = 0.05;
/// Another machine may take so much of the time that the worker had before it is flagged.
const STOLEN: f64 = 0.01;
/// A worker that was preempted so often in a second was not alone, ...
const SWITCHES_PER_S: f64 = 100.0;
/// ... if others used this share of all processors: its own threads preempt each other as well.
const MADE_WAY_FOR: f64 = 0.01;
/// The kernel counts in ticks of up to 10 ms: over less time than this a single one would look like a busy machine.
const COUNTED_NS: f64 = 200e6;
/// Throughput and batch over median may differ by so much.
const UNEVEN: f64 = 0.02;
/// A server that does less than this share of the requests that arrive does not keep up.
const KEEPS_UP: f64 = 0.98;

/// Flags that judge what a plan measured of a case, and so wait until it is measured.
const OF_RESULT: [&str; 5] = [
    "noisy",
    "drift",
    "uneven",
    "too-few-samples",
    "not-interleaved",
];

/// The command that fixes the clocks of this processor.
const LOCK_CLOCKS: &str = "sudo cpupower frequency-set --governor performance";

/// Every flag of the case.
pub fn case_flags(session: &Session, case: &Case, summary: &Summary) -> Vec<Flag> {
    // How another program measured is not known, and cannot be improved here.
    if session.imported.is_some() {
        return not_accepted(case).into_iter().collect();
    }
    // Until a case is measured, rounds and samples of it are still to come.
    let is_measured = case.outcome.is_final();
    [
        unsettled(session, case),
        noisy(session, case, summary),
        drift(session, case),
        contended(session, case),
        overloaded(session, case),
        uneven(session, case, summary),
        slow_first_run(case, summary),
        too_few_samples(summary),
        not_interleaved(session, case),
        examined::fallback_flag(session, case),
        narrow_numbers::conversion_flag(session, case, summary),
    ]
    .into_iter()
    .flatten()
    .filter(|flag| is_measured || !OF_RESULT.contains(&flag.name))
    .chain(device_flags::case_device_flags(session, case))
    .collect()
}

fn flag(name: &'static str, weight: FlagSeverity, evidence: String, advice: &str) -> Flag {
    Flag {
        name,
        weight,
        evidence,
        advice: advice.to_owned(),
        excess: None,
    }
}

/// The program that measured it rejects the result.
fn not_accepted(case: &Case) -> Option<Flag> {
    let objections = case.stated.iter().flat_map(|one| &one.objections);
    let told: Vec<&str> = objections.map(|told| told.trim_end_matches('.')).collect();
    (!told.is_empty()).then(|| {
        flag(
            "not-accepted",
            FlagSeverity::Red,
            format!("the program that measured it reports: {}", told.join("; ")),
            "measure it again with that program until it accepts the result",
        )
    })
}

/// Most of its warm-ups, one in each start, came to their limit. Later ones that were over before there were enough
/// windows to compare say nothing.
fn unsettled(session: &Session, case: &Case) -> Option<Flag> {
    let windows = u64::from(session.plan.warm_up.windows);
    let later = case
        .rounds
        .iter()
        .filter_map(|round| round.warm_up.as_ref());
    let later = later.filter(|warm_up| warm_up.runs >= windows);
    let warm_ups: Vec<&WarmUp> = case.warm_up.iter().chain(later).collect();
    let mut unsettled = warm_ups.iter().filter(|warm_up| !warm_up.settled);
    let n_unsettled = unsettled.clone().count();
    let last = unsettled.next_back();
    let last = last.filter(|_| 2 * n_unsettled > warm_ups.len())?;
    let of_starts = if warm_ups.len() == 1 {
        String::new()
    } else {
        format!(
            " in {n_unsettled} of {} starts, the last time",
            warm_ups.len()
        )
    };
    Some(flag(
        "unsettled",
        FlagSeverity::Red,
        format!(
            "the run times had not settled{of_starts} after {} runs and {}",
            humanize::count(last.runs),
            humanize::duration_ns(last.spent_ns as f64)
        ),
        "close other programs, and compare this case with care",
    ))
}

/// Whether varying times are expected: requests that arrive at random find queues of any length.
fn varies_by_design(session: &Session) -> bool {
    session.plan.load.is_random()
}

fn noisy(session: &Session, case: &Case, summary: &Summary) -> Option<Flag> {
    if varies_by_design(session) {
        return None;
    }
    let spread = summary.relative_iqr().filter(|spread| *spread > NOISY)?;
    let weight = if spread > VERY_NOISY {
        FlagSeverity::Red
    } else {
        FlagSeverity::Amber
    };
    let cpu = &session.environment_of(case.setup).cpu;
    let governor = cpu.governor.as_deref();
    let advice = match governor {
        Some(governor) if governor != "performance" => format!(
            "close other programs; lock the clocks (governor is {governor}): {LOCK_CLOCKS}; or give more rounds"
        ),
        _ => "close other programs, or give more rounds".to_owned(),
    };
    let noisy = flag(
        "noisy",
        weight,
        format!(
            "the middle half of the samples spreads over {:.1} % of the median",
            spread * 100.0
        ),
        &advice,
    );
    Some(noisy.with_excess(RuleExcess::share(spread)))
}

fn drift(session: &Session, case: &Case) -> Option<Flag> {
    if varies_by_design(session) {
        return None;
    }
    let samples: Vec<f64> = case.samples_ns().map(|ns| ns as f64).collect();
    let third = samples.len() / 3;
    if third < 5 {
        return None;
    }
    let first = median(&samples[..third]).filter(|first| *first > 0.0)?;
    let last = median(&samples[samples.len() - third..])?;
    let change = last / first - 1.0;
    (change.abs() > DRIFT).then(|| {
        flag(
            "drift",
            FlagSeverity::Amber,
            format!(
                "the last third of the samples took {:.1} % {} than the first third",
                change.abs() * 100.0,
                if change > 0.0 { "longer" } else { "less time" }
            ),
            "let the machine cool down or settle, then measure again with more rounds",
        )
        .with_excess(RuleExcess::share(change.abs()))
    })
}

/// Other programs used the processors while this was measured.
fn contended(session: &Session, case: &Case) -> Option<Flag> {
    // A neighbour that the setup asks for is the experiment, and no flaw of it.
    let spec = session.plan.setups.get(case.setup);
    if spec.is_some_and(Setup::has_neighbour) {
        return None;
    }
    let company: Vec<CpuContention> = case.rounds.iter().filter_map(|r| r.company).collect();
    let sum = |pick: fn(&CpuContention) -> u64| company.iter().map(pick).sum::<u64>() as f64;
    let counted = sum(|c| c.counted_ns);
    let (own, stolen, others) = (
        sum(|c| c.own_ns),
        sum(|c| c.stolen_ns),
        sum(|c| c.others_ns),
    );
    if counted < COUNTED_NS {
        return None;
    }
    let threads = session.environment_of(case.setup).cpu.threads;
    let processors = threads.max(1) as f64;
    let busy = others / counted / processors;
    let switches = sum(|c| c.switches) * 1e9 / counted;
    let (evidence, extent) = if own > 0.0 && stolen / own > STOLEN {
        let extent = RuleExcess::share(stolen / own);
        let evidence = format!(
            "the hypervisor gave other machines {} of the processor time that the worker used",
            extent.text
        );
        (evidence, extent)
    } else if busy > CONTENDED {
        let extent = RuleExcess::share(busy);
        let evidence = format!(
            "other programs kept {} of the {} threads busy while it was measured, {} of all",
            humanize::value(others / counted),
            threads,
            extent.text
        );
        (evidence, extent)
    } else if switches > SWITCHES_PER_S && busy > MADE_WAY_FOR {
        let evidence = format!(
            "the worker was preempted {} times a second",
            humanize::count(switches as u64)
        );
        (evidence, RuleExcess::share(busy))
    } else {
        return None;
    };
    let contended = flag(
        "contended",
        FlagSeverity::Amber,
        evidence,
        "close all other programs, or measure when the machine is quiet; top lists them",
    );
    Some(contended.with_excess(extent))
}

/// More requests arrived than were done.
fn overloaded(session: &Session, case: &Case) -> Option<Flag> {
    let offered = session.plan.load.offered_per_s()?;
    let done = case.n_samples() as f64 * 1e9 / case.spent_ns() as f64;
    // Few requests are done at an uneven rate by chance alone.
    let by_chance = 2.0 / (case.n_samples() as f64).sqrt();
    let is_short = done
        < offered
            * (KEEPS_UP
                - if session.plan.load.is_random() {
                    by_chance
                } else {
                    0.0
                });
    is_short.then(|| {
        flag(
            "overloaded",
            FlagSeverity::Red,
            format!(
                "{}/s arrived and {}/s were done, so the queue grew and the times with it",
                humanize::significant(offered, 3),
                humanize::significant(done, 3)
            ),
            "offer less than it can serve: below the throughput of the closed loop",
        )
        .with_excess(RuleExcess::share(1.0 - done / offered))
    })
}

/// Pauses or outliers took so much time that two ways to count throughput disagree.
fn uneven(session: &Session, case: &Case, summary: &Summary) -> Option<Flag> {
    if session.plan.load.is_open() || case.spent_ns() == 0 || summary.median <= 0.0 {
        return None;
    }
    let counted = case.n_samples() as f64 / case.spent_ns() as f64;
    let by_median = 1.0 / summary.median;
    let off = counted / by_median - 1.0;
    (off.abs() > UNEVEN).then(|| {
        flag(
            "uneven",
            FlagSeverity::Amber,
            format!(
                "the throughput counted is {:.1} % {}",
                off.abs() * 100.0,
                if off < 0.0 {
                    "below batch over median, so a few runs took much of the time"
                } else {
                    "above batch over median, so many runs were shorter than the median, and the distribution has two modes"
                }
            ),
            "look at the outliers in the time strip; the median is for one run, the throughput for many",
        )
        .with_excess(RuleExcess::share(off.abs()))
    })
}

fn slow_first_run(case: &Case, summary: &Summary) -> Option<Flag> {
    let first = case.opening.as_ref()?.first_run_ns as f64;
    (summary.median > 0.0 && first > SLOW_FIRST_RUN * summary.median).then(|| {
        flag(
            "slow-first-run",
            FlagSeverity::Amber,
            format!(
                "the first run took {}, {:.1} times the median; it is not among the samples",
                humanize::duration_ns(first),
                first / summary.median
            ),
            "nothing, unless the latency of the first run matters",
        )
        .with_excess(RuleExcess {
            size: first / summary.median,
            text: humanize::ratio(first / summary.median),
        })
    })
}

fn too_few_samples(summary: &Summary) -> Option<Flag> {
    let (_, needed) = ELIGIBLE[0];
    (summary.n < needed).then(|| {
        flag(
            "too-few-samples",
            FlagSeverity::Amber,
            format!("{} samples; percentiles need {needed} and more", summary.n),
            "measure longer: a more careful preset, or more rounds",
        )
        .with_excess(RuleExcess {
            size: -(summary.n as f64),
            text: humanize::pluralised(summary.n, "sample"),
        })
    })
}

/// One round alone: any disturbance at that time is in the number.
fn not_interleaved(session: &Session, case: &Case) -> Option<Flag> {
    (case.rounds.len() == 1 && session.cases.len() > 1).then(|| {
        flag(
            "not-interleaved",
            FlagSeverity::Amber,
            "it was measured in one round, not interleaved with all other cases".to_owned(),
            "give it more rounds, five or more",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing;
    use powerband_core::domain::case::{CaseKey, CaseOpening, Round};
    use powerband_core::domain::outcome::Outcome;
    use powerband_core::domain::plan::Load;
    use powerband_core::domain::point::Point;

    fn flags(samples_ns: &[u64], change: impl FnOnce(&mut Case)) -> Vec<&'static str> {
        let mut session = testing::session(&["ort:cpu"], &[1]);
        session.environment.cpu.threads = 4;
        names(&session, samples_ns, change)
    }

    fn names(
        session: &Session,
        samples_ns: &[u64],
        change: impl FnOnce(&mut Case),
    ) -> Vec<&'static str> {
        let mut case = Case::pending(CaseKey {
            setup: 0,
            point: Point::of_batch(1),
        });
        case.rounds.push(Round {
            round: 0,
            spent_ns: samples_ns.iter().sum(),
            samples_ns: samples_ns.to_vec(),
            ..Round::default()
        });
        case.outcome = Outcome::Finished;
        change(&mut case);
        let summary = Summary::from_values(samples_ns.iter().map(|&ns| ns as f64)).unwrap();
        let flags = case_flags(session, &case, &summary);
        assert!(flags.iter().all(|flag| !flag.advice.is_empty()));
        flags.iter().map(|flag| flag.name).collect()
    }

    #[test]
    fn a_good_case_has_none() {
        assert!(flags(&[1_000; 100], |_| ()).is_empty());
    }

    #[test]
    fn each_fault_has_its_flag() {
        let rising: Vec<u64> = (0..100).map(|i| 10_000 + i * 4).collect();
        let spread: Vec<u64> = (0..100).map(|i| 10_000 + (i % 10) * 100).collect();
        assert_eq!(flags(&rising, |_| ()), ["drift"]);
        assert_eq!(flags(&spread, |_| ()), ["noisy"]);
        assert_eq!(flags(&[1_000; 63], |_| ()), ["too-few-samples"]);
        let warm_up = WarmUp {
            runs: 9,
            spent_ns: 9,
            settled: false,
        };
        assert_eq!(
            flags(&[1_000; 100], |case| case.warm_up = Some(warm_up.clone())),
            ["unsettled"]
        );
        let settled = WarmUp {
            settled: true,
            ..warm_up.clone()
        };
        let in_starts = |first: &WarmUp, later: [&WarmUp; 2]| {
            flags(&[1_000; 100], |case| {
                case.warm_up = Some(first.clone());
                for warm_up in later {
                    case.rounds.push(Round {
                        warm_up: Some(warm_up.clone()),
                        ..case.rounds[0].clone()
                    });
                }
            })
        };
        assert_eq!(in_starts(&warm_up, [&settled; 2]), [""; 0], "one of three");
        assert_eq!(in_starts(&settled, [&warm_up; 2]), ["unsettled"]);
        let opening = CaseOpening {
            first_run_ns: 4_000,
            ..CaseOpening::default()
        };
        assert_eq!(
            flags(&[1_000; 100], |case| case.opening = Some(opening)),
            ["slow-first-run"]
        );
    }

    #[test]
    fn company_is_told_where_it_took_something() {
        let with = |company: CpuContention| {
            flags(&[1_000; 100], |case| case.rounds[0].company = Some(company))
        };
        let quiet = CpuContention {
            counted_ns: 1_000_000_000,
            switches: 9,
            own_ns: 2_000_000_000,
            others_ns: 100_000_000,
            stolen_ns: 10_000_000,
        };
        assert!(with(quiet).is_empty());
        let busy = CpuContention {
            others_ns: 400_000_000,
            ..quiet
        };
        assert_eq!(with(busy), ["contended"]);
        let robbed = CpuContention {
            stolen_ns: 100_000_000,
            ..quiet
        };
        assert_eq!(with(robbed), ["contended"]);
        let crowded = CpuContention {
            switches: 900,
            ..quiet
        };
        assert_eq!(with(crowded), ["contended"]);
        let among_its_own_threads = CpuContention {
            others_ns: 0,
            ..crowded
        };
        assert!(with(among_its_own_threads).is_empty());
        let one_tick = CpuContention {
            counted_ns: 1_000_000,
            others_ns: 10_000_000,
            ..quiet
        };
        assert!(with(one_tick).is_empty());
    }

    #[test]
    fn a_queue_that_grows_is_told() {
        let mut session = testing::session(&["ort:cpu"], &[1]);
        let took = |ns: u64| move |case: &mut Case| case.rounds[0].spent_ns = ns;
        session.plan.load = Load::Constant { per_s: 100.0 };
        assert!(names(&session, &[1_000; 100], took(1_000_000_000)).is_empty());
        let slow = names(&session, &[1_000; 100], took(1_500_000_000));
        assert_eq!(slow, ["overloaded"]);
    }

    #[test]
    fn queues_of_random_arrivals_are_no_fault_of_the_machine() {
        let rising: Vec<u64> = (0..100).map(|i| 10_000 + i * 40).collect();
        let mut session = testing::session(&["ort:cpu"], &[1]);
        session.plan.load = Load::Constant { per_s: 1e4 };
        assert_eq!(names(&session, &rising, |_| ()), ["noisy", "drift"]);
        session.plan.load = Load::Poisson { per_s: 1e4 };
        assert!(names(&session, &rising, |_| ()).is_empty());
    }

    #[test]
    fn throughput_that_disagrees_with_the_median_is_told() {
        let took_longer = flags(&[1_000; 100], |case| case.rounds[0].spent_ns = 110_000);
        assert_eq!(took_longer, ["uneven"]);
    }

    #[test]
    fn one_visit_among_many_cases_is_told() {
        let session = testing::session(&["ort:cpu"], &[1, 2]);
        assert_eq!(names(&session, &[1_000; 100], |_| ()), ["not-interleaved"]);
    }

    #[test]
    fn what_a_plan_measures_is_judged_once_it_is_measured() {
        let session = testing::session(&["ort:cpu"], &[1, 2]);
        let wandering: Vec<u64> = (0..30).map(|i| 10_000 + i * 400).collect();
        let crowded = |case: &mut Case| {
            case.rounds[0].company = Some(CpuContention {
                counted_ns: 1_000_000_000,
                own_ns: 1_000_000_000,
                stolen_ns: 100_000_000,
                ..CpuContention::default()
            });
        };
        let under_way = |case: &mut Case| {
            crowded(case);
            case.outcome = Outcome::Pending;
        };
        assert_eq!(names(&session, &wandering, under_way), ["contended"]);
        let measured = names(&session, &wandering, crowded);
        let expected = [
            "noisy",
            "drift",
            "contended",
            "too-few-samples",
            "not-interleaved",
        ];
        assert_eq!(measured, expected);
    }

    #[test]
    fn clocks_that_wander_come_with_the_command_that_holds_them() {
        let mut session = testing::session(&["ort:cpu"], &[1]);
        session.environment.cpu.governor = Some("powersave".to_owned());
        let wide: Vec<f64> = (0..100)
            .map(|i| 10_000.0 + f64::from(i % 10) * 200.0)
            .collect();
        let summary = Summary::from_values(wide).unwrap();
        let flag = noisy(&session, &session.cases[0], &summary).unwrap();
        assert_eq!(flag.weight, FlagSeverity::Amber);
        assert!(flag.advice.contains("cpupower"), "{}", flag.advice);
    }
}
