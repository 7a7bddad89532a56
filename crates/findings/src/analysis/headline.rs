//! What a comparison answers first, of two sides, of steps, over time or between machines: a ratio with its interval and
//! verdict, or why there is none, and what changed.

use super::best_case;
use super::comparison::{CasePair, Comparison, Ratio};
use super::conditions::{self, Difference};
use super::fleet::FleetCase;
use super::history::{self, History};
use super::journey::{Journey, StepResult};
use super::kernel_comparison::{KernelComparison, KernelEntry};
use super::verdict::Call;
use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_core::domain::session::Session;

/// The answer of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headline {
    /// What the ratio is of.
    pub title: String,
    /// How it is computed.
    pub help: &'static str,
    /// The ratio as text; nothing where there is none.
    pub ratio: Option<String>,
    /// Its interval with its name, where it has one: `95 % interval 1.200 to 1.300`.
    pub interval: Option<String>,
    /// Each verdict, with what it holds for.
    pub verdicts: Vec<(Call, String)>,
    /// What the ratio rests on, or why there is none.
    pub sentence: String,
    /// Why verdicts are open or need care, each reason once.
    pub reasons: Vec<String>,
    /// Where the difference of the times comes from, a sentence for each profiled pair.
    pub time_differences: Vec<String>,
    /// Between what the changes are.
    pub changes_title: &'static str,
    pub changes: Vec<Change>,
    /// Whether there is nothing before it that something could have changed from.
    pub is_first: bool,
    /// Conditions that are known on one side only: whether they changed is not known.
    pub one_sided: Vec<Change>,
    /// Conditions that are the same on both sides.
    pub unchanged: Vec<Change>,
}

/// A condition and its values: `Engine`, `onnxruntime 1.30.1 → rten 0.27.0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub what: String,
    pub text: String,
}

impl Change {
    fn from_difference(difference: &Difference) -> Self {
        let Difference {
            what,
            before,
            after,
        } = difference;
        Self {
            what: (*what).to_owned(),
            text: if difference.differs() {
                format!("{before} → {after}")
            } else {
                before.clone()
            },
        }
    }
}

impl Headline {
    /// Two sides: the mean of the speed-ups of all pairs.
    pub fn of_sides(found: &Comparison) -> Self {
        let calls = [Call::Faster, Call::Slower, Call::Same, Call::Inconclusive].into_iter();
        let calls = calls.map(|call| (call, found.count(call)));
        let calls = calls.filter(|(_, count)| *count > 0);
        let n_pairs = found.pairs.len() as u64;
        let sentence = match (found.overall, found.count(Call::Inconclusive)) {
            (None, _) => found
                .nothing
                .clone()
                .unwrap_or_else(|| "These cannot be compared.".to_owned()),
            (Some(_), 0) => format!(
                "Geometric mean of {}.",
                humanize::pluralised(n_pairs, "pair")
            ),
            (Some(_), open) => format!(
                "Geometric mean of {}, {open} of them inconclusive.",
                humanize::pluralised(n_pairs, "pair")
            ),
        };
        Self {
            title: "Speed-up over all pairs".to_owned(),
            help: "The geometric mean of the speed-ups of all matched batch sizes; its interval is as wide as those of the pairs are on average",
            verdicts: calls
                .map(|(call, count)| (call, humanize::pluralised(count as u64, "pair")))
                .collect(),
            sentence,
            reasons: found
                .reasons()
                .iter()
                .map(|reason| as_sentence(reason))
                .collect(),
            time_differences: found.time_texts(),
            changes_title: "What changed",
            ..Self::of_ratio(found.overall).with_differences(&found.differences)
        }
    }

    /// The kernels of two profiles: all their time. A profiled run is slower than one that is measured, so there is no
    /// verdict.
    pub fn of_profiles(
        found: &KernelComparison,
        names: [&str; 2],
        differences: &[Difference],
    ) -> Self {
        let times = found.before_ns.zip(found.after_ns);
        let times = times.filter(|(before, after)| *before > 0.0 && *after > 0.0);
        let shown = times.map(|(before, after)| [before, after].map(humanize::duration_ns));
        let sentence = match (shown, found.per()) {
            (None, _) => "A side has no times of kernels.".to_owned(),
            (Some([before, after]), Some(per)) => {
                format!("{before} before and {after} after, {per}.")
            }
            (Some([before, after]), None) => format!(
                "{before} before and {after} after, of the whole profiles: a side does not say how many runs or steps it covers, so there is no ratio. Show them in Kernels, where that number can be typed."
            ),
        };
        let times = times.filter(|_| found.is_per_run());
        let count = |entries: &[KernelEntry]| humanize::pluralised(entries.len() as u64, "kernel");
        let only_here = [("before", &found.removed), ("after", &found.added)];
        let only_here = only_here
            .into_iter()
            .filter(|(_, entries)| !entries.is_empty());
        let only_here =
            only_here.map(|(side, entries)| format!("{} ran {side} alone.", count(entries)));
        let no_verdict =
            "Times of profiles, which slow a run down: compare measured sessions for a verdict.";
        let reasons = found
            .notes
            .iter()
            .map(|note| as_sentence(note.trim_end_matches('.')));
        Self {
            title: "Kernel time before over after".to_owned(),
            help: "Above 1 the kernels take less time after. The sum of the times of kernels, copies and sets",
            ratio: times.map(|(before, after)| humanize::ratio(before / after)),
            sentence,
            reasons: [no_verdict.to_owned()]
                .into_iter()
                .chain(only_here)
                .chain(reasons)
                .collect(),
            changes_title: "What changed",
            ..Self::default()
        }
        .with_differences(differences)
        .with_names(names)
    }

    /// Says first what two profiles are called, where that differs.
    fn with_names(mut self, [before, after]: [&str; 2]) -> Self {
        if before != after {
            let profile = Change {
                what: "Profile".to_owned(),
                text: format!("{before} → {after}"),
            };
            self.changes.insert(0, profile);
        }
        self
    }

    /// Steps of a session: the last one against the baseline; of alternatives the fastest against the first.
    pub fn of_steps(session: &Session, steps: &Journey) -> Self {
        let help = "The geometric mean of the rounds' ratios; the table has each step";
        let Some((step, pair)) = answering_step(steps) else {
            return Self {
                title: "Speed-up".to_owned(),
                help,
                // Of several gains, the first remark has them by their effect.
                sentence: if steps.steps.iter().any(|step| step.vs_baseline.is_some()) {
                    steps.remarks.first().cloned().unwrap_or_default()
                } else {
                    "There is no step to compare with the baseline yet.".to_owned()
                },
                changes_title: "What changed",
                ..Self::default()
            };
        };
        let baseline = steps.steps.first();
        let first = baseline.map_or("the baseline", |first| &first.title);
        let differences = baseline.map_or_else(Vec::new, |first| {
            let (from, to) = (first.case.setup, step.case.setup);
            conditions::differences((session, from), (session, to))
        });
        let point = Difference {
            what: "Point",
            before: pair.before_point.to_string(),
            after: pair.after_point.to_string(),
        };
        let differences = differences.into_iter().chain([point]);
        let differences: Vec<Difference> = differences.collect();
        Self {
            title: format!("{} vs. {first}", step.title),
            help,
            verdicts: vec![(pair.verdict.call, String::new())],
            sentence: if steps.is_ladder {
                best_case::largest_step_sentence(steps)
            } else if steps.steps.len() > 2 {
                format!("The fastest of {} setups.", steps.steps.len())
            } else {
                String::new()
            },
            reasons: pair
                .verdict
                .reason
                .iter()
                .map(|reason| as_sentence(reason))
                .collect(),
            changes_title: "What changed from the first to this one",
            ..Self::of_ratio(pair.ratio).with_differences(&differences)
        }
    }

    /// A case over time: the last session against the mean of the earlier ones.
    pub fn over_time(found: &History) -> Self {
        let last = found.points.last();
        let against = last.and_then(|last| last.vs_earlier.as_ref());
        let title = match against {
            Some(one) => format!(
                "Last session vs. mean of {} earlier",
                humanize::count(one.sessions as u64)
            ),
            None => "Last session vs. earlier ones".to_owned(),
        };
        let reason = against.and_then(|one| one.verdict.reason.as_deref());
        Self {
            title,
            help: "Above 1 the last session is faster than the mean of those before it at its level, or at the level before for the first three of a level",
            verdicts: against
                .map(|one| (one.verdict.call, String::new()))
                .into_iter()
                .collect(),
            sentence: if against.is_some() {
                history::summary_sentences(found)
            } else {
                found.trend.clone()
            },
            reasons: reason.map(as_sentence).into_iter().collect(),
            changes_title: "What changed since the session before",
            is_first: found.points.len() < 2,
            changes: last
                .iter()
                .flat_map(|last| &last.changed)
                .map(Change::from_difference)
                .collect(),
            ..Self::of_ratio(against.map(|one| one.ratio))
        }
    }

    /// A case on several machines: the odd one out against the median of all.
    pub fn of_machines(case: &FleetCase) -> Self {
        let mut odd = case.machines.iter().filter(|machine| machine.is_odd);
        let found = odd.next().filter(|_| odd.next().is_none());
        let changes = case.machines.iter().flat_map(|machine| {
            let differing = machine.differs.iter();
            differing.map(|one| Change {
                what: machine.name.clone(),
                text: one.full_text(),
            })
        });
        Self {
            title: found.map_or_else(
                || "No machine stands out".to_owned(),
                |odd| format!("Median of {} over that of all", odd.name),
            ),
            help: "Above 1 the machine is slower than the median of all machines; an odd one out lies outside of what machines and sessions differ by",
            ratio: found.and_then(|odd| odd.ratio).map(humanize::ratio),
            sentence: found.zip(case.median_ns).map_or_else(
                || case.sentence.clone(),
                |(odd, median)| {
                    let median = humanize::duration_ns(median);
                    format!(
                        "{} is the odd one out; the median of all machines is {median}.",
                        odd.name
                    )
                },
            ),
            changes_title: "What differs",
            changes: changes.collect(),
            ..Self::default()
        }
    }

    fn with_differences(self, differences: &[Difference]) -> Self {
        let is_known = |one: &&Difference| one.before != UNKNOWN && one.after != UNKNOWN;
        let listed = |is_wanted: &dyn Fn(&&Difference) -> bool| {
            let wanted = differences.iter().filter(is_wanted);
            wanted.map(Change::from_difference).collect()
        };
        Self {
            changes: listed(&|one| one.differs() && is_known(one)),
            one_sided: listed(&|one| one.differs() && !is_known(one)),
            unchanged: listed(&|one| !one.differs()),
            ..self
        }
    }

    fn of_ratio(ratio: Option<Ratio>) -> Self {
        Self {
            ratio: ratio.map(|ratio| ratio.speed_up_text()),
            interval: ratio.and_then(|ratio| ratio.named_interval_text()),
            ..Self::default()
        }
    }
}

/// The step that answers: of a ladder the last measured one; of alternatives the second of two, or the fastest of
/// several where it is settled which that is.
fn answering_step(steps: &Journey) -> Option<(&StepResult, &CasePair)> {
    let compared = steps.steps.iter().filter(|step| step.row.is_some());
    let compared: Vec<(&StepResult, &CasePair)> = compared
        .filter_map(|step| Some((step, step.vs_baseline.as_ref()?)))
        .collect();
    if steps.is_ladder || compared.len() < 2 {
        return compared.last().copied();
    }
    let call = |pair: &CasePair| pair.verdict.call;
    let is_open = compared
        .iter()
        .any(|(_, pair)| call(pair) == Call::Inconclusive);
    let mut faster = compared.into_iter().filter(|(step, pair)| {
        call(pair) == Call::Faster && step.rank_text().as_deref() == Some("1")
    });
    faster.next().filter(|_| !is_open)
}

fn as_sentence(reason: &str) -> String {
    format!("{}.", humanize::capitalised(reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows::case_rows;
    use crate::analysis::comparison::{ComparedSide, compare_setups};
    use crate::analysis::journey::compare_steps;
    use crate::analysis::testing::{make_ladder, measure_near, session};
    use powerband_core::domain::point::Point;

    fn three_setups() -> Session {
        let mut session = session(&["torch:cpu", "torch:cpu,mode=compile", "ort:cpu"], &[1]);
        for (setup, micros) in [(0, 8_000), (1, 4_000), (2, 2_000)] {
            measure_near(&mut session, setup, 1, micros);
        }
        session
    }

    fn of_steps(session: &Session) -> Headline {
        let steps = compare_steps(session, &case_rows(session), Point::of_batch(1));
        Headline::of_steps(session, &steps)
    }

    #[test]
    fn two_sides_are_answered_by_the_ratio_of_all_pairs() {
        let session = three_setups();
        let rows = case_rows(&session);
        let side = |setup| ComparedSide {
            session: &session,
            rows: &rows,
            setup,
            point: None,
        };
        let found = Headline::of_sides(&compare_setups(&side(0), &side(2)));
        assert_eq!(found.ratio.as_deref(), Some("4.00 ×"));
        assert_eq!(found.verdicts, [(Call::Faster, "1 pair".to_owned())]);
        assert!(found.changes.iter().any(|one| one.text.contains(" → ")));
        assert!(found.unchanged.iter().all(|one| !one.text.contains(" → ")));
    }

    #[test]
    fn steps_are_answered_by_the_last_and_alternatives_by_the_fastest() {
        let mut session = three_setups();
        let found = of_steps(&session);
        assert_eq!(found.title, "ort:cpu vs. torch:cpu");
        assert_eq!(found.ratio.as_deref(), Some("4.00 ×"));
        assert_eq!(found.sentence, "The fastest of 3 setups.");
        make_ladder(&mut session);
        let found = of_steps(&session);
        assert_eq!(found.ratio.as_deref(), Some("4.00 ×"));
        assert!(found.sentence.contains("gained the most"), "{found:?}");
    }

    #[test]
    fn no_setup_is_the_fastest_where_none_is_faster() {
        let mut session = session(&["ort:cpu", "a:cpu", "b:cpu"], &[1]);
        for (setup, micros) in [(0, 1_000), (1, 4_000), (2, 2_000)] {
            measure_near(&mut session, setup, 1, micros);
        }
        let found = of_steps(&session);
        assert_eq!((found.ratio, found.verdicts.len()), (None, 0));
        assert!(
            found.sentence.starts_with("By effect: "),
            "{}",
            found.sentence
        );
    }
}
