//! Two traces side by side: a step of each, whose operators are aligned, and what each gained or lost.
//!
//! Steps are found first. Within the step of median length of each trace, the sequences of operators are aligned by the
//! modules around them, what they compute, their shapes and their kernels. What is not matched stays so; every kernel of
//! either step is in exactly one row, so differences add up to that of the two steps: of kernel time, or of the time of
//! operators on the host where nothing was launched.
//!
//! A difference counts as *settled over the recorded steps* where the interval of the mean of the steps excludes the
//! floor. That is a statement about two recordings: the next start of either program may differ by more.

mod matching;
mod merged;
mod repeated;
mod step_work;
pub mod time_map;

use std::collections::BTreeSet;
use std::ops::Range;

pub use matching::WorkMatchedBy;
use matching::{WorkMatches, match_work};
pub use merged::MergedTraces;
use repeated::RepeatedWork;
pub use step_work::StepWork;
use step_work::SteppedTrace;
use time_map::TimeMap;

use super::category::{Category, Rules};
use super::kernel_name::KernelName;
use super::sampled_difference::{SampleOrder, SampledDifference};
use powerband_core::base::humanize;
use powerband_core::domain::names::Names;
use powerband_core::domain::trace::{SliceKind, Trace};
use powerband_core::domain::trace_steps::TraceStep;

/// Operators of a step that are aligned; what is behind them is one row of each side.
const MOST_WORK: usize = 20_000;

/// An operator of the two steps, or one that only one of them has.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkPair {
    /// What people read of it.
    pub title: String,
    pub category: Category,
    /// The modules around it; empty where they are not known.
    pub modules: String,
    pub before: Option<StepWork>,
    pub after: Option<StepWork>,
    /// Nothing for what only one side has.
    pub matched_by: Option<WorkMatchedBy>,
    /// How the steps after differ from those before, where both traces have several.
    pub steps: Option<StepDifference>,
    /// Whether it stands for all operators behind the last one that is aligned.
    pub is_beyond_aligned: bool,
}

/// How the steps of two recordings differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepDifference {
    /// By the interval over the steps of both recordings.
    pub recorded: SampledDifference,
    /// Whether it is more than two starts of one program usually differ by.
    pub is_beyond_starts: bool,
}

impl StepDifference {
    fn new(before: &[f64], after: &[f64], n_compared: usize) -> Option<Self> {
        let among = |order| SampledDifference::new(before, after, order, n_compared);
        Some(Self {
            recorded: among(SampleOrder::InTurns)?,
            is_beyond_starts: among(SampleOrder::Apart)?.is_change(),
        })
    }
}

impl WorkPair {
    pub fn before_ns(&self) -> u64 {
        self.before.as_ref().map_or(0, |work| work.time_ns)
    }

    pub fn after_ns(&self) -> u64 {
        self.after.as_ref().map_or(0, |work| work.time_ns)
    }

    /// The time after without the time before.
    pub fn difference_ns(&self) -> i64 {
        self.after_ns() as i64 - self.before_ns() as i64
    }

    /// `added`, `removed`, or by what it was matched.
    pub fn match_title(&self) -> &'static str {
        match (self.matched_by, &self.before) {
            (Some(by), _) => by.title(),
            _ if self.is_beyond_aligned => "not aligned",
            (None, Some(_)) => "removed",
            (None, None) => "added",
        }
    }

    /// Whether only one side has it.
    pub fn is_one_sided(&self) -> bool {
        self.matched_by.is_none() && !self.is_beyond_aligned
    }
}

/// The step of one side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparedStep {
    /// What the trace calls it; nothing where nothing divides the trace.
    pub title: Option<String>,
    /// How many steps the trace has.
    pub n_steps: usize,
    /// From when to when it and its work run.
    pub start_ns: i64,
    pub end_ns: i64,
    /// What all of its work takes together.
    pub work_ns: u64,
    /// Slices of the work of all steps, which [`StepWork::kernels`] is a part of.
    pub kernels: Vec<u32>,
}

impl ComparedStep {
    /// `ProfilerStep#7, of 12 steps`, or that it is all of the trace.
    pub fn summary_text(&self) -> String {
        match &self.title {
            Some(title) => format!(
                "{title}, of {}",
                humanize::pluralised(self.n_steps as u64, "step")
            ),
            None => "the whole trace, which nothing divides into steps".to_owned(),
        }
    }
}

/// Two traces side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimelineComparison {
    /// In the order of the step after; what was removed stands where it ran.
    pub rows: Vec<WorkPair>,
    pub before: ComparedStep,
    pub after: ComparedStep,
    /// The moments after at which what ran before stands where it is aligned.
    pub aligned: TimeMap,
    /// The same where both steps only begin together.
    pub linear: TimeMap,
    pub notes: Vec<String>,
}

impl TimelineComparison {
    /// Compares two traces.
    pub fn new(before: &Trace, after: &Trace, rules: &Rules) -> Self {
        let mut terms = Names::default();
        let sides = [before, after].map(|trace| SteppedTrace::read(trace, rules, &mut terms));
        let drawn = sides.each_ref().map(|side| {
            let work = side.drawn_work();
            &work[..work.len().min(MOST_WORK)]
        });
        let matches = match_work(drawn[0], drawn[1]);
        let steps = sides.each_ref().map(ComparedStep::from_stepped);
        let times = sides.each_ref().map(RepeatedWork::read);
        let points = matches.in_order.iter().flat_map(|((one, two), _)| {
            let (one, two) = (&drawn[0][*one], &drawn[1][*two]);
            [(one.start_ns, two.start_ns), (one.end_ns, two.end_ns)]
        });
        let [first, second] = steps.each_ref().map(|step| step.start_ns);
        let linear = TimeMap::moved(first, second);
        // Where nothing matches, nothing can stand above anything.
        let aligned = match matches.in_order.as_slice() {
            [] => linear.clone(),
            _ => TimeMap::through(&points.collect::<Vec<(i64, i64)>>()),
        };
        let mut comparison = Self {
            rows: rows(&sides, &drawn, &matches, &times, &terms),
            notes: Vec::new(),
            linear,
            aligned,
            before: ComparedStep::default(),
            after: ComparedStep::default(),
        };
        [comparison.before, comparison.after] = steps;
        let shares = comparison.matched_shares();
        let steps = [&comparison.before, &comparison.after].map(Clone::clone);
        comparison.notes = notes(&sides, &steps, shares);
        comparison
    }

    /// What all work gained or lost.
    pub fn difference_ns(&self) -> i64 {
        self.after.work_ns as i64 - self.before.work_ns as i64
    }

    /// The share of the time of each side that is matched.
    pub fn matched_shares(&self) -> [f64; 2] {
        let matched = self.rows.iter().filter(|row| row.matched_by.is_some());
        let sums = matched.fold([0, 0], |[before, after], row| {
            [before + row.before_ns(), after + row.after_ns()]
        });
        let wholes = [self.before.work_ns, self.after.work_ns];
        [0, 1].map(|side| sums[side] as f64 / wholes[side].max(1) as f64)
    }

    /// Whether steps tell anything of differences.
    pub fn has_steps(&self) -> bool {
        self.rows.iter().any(|row| row.steps.is_some())
    }

    /// The moments after at which what ran before stands.
    pub fn time_map(&self, is_aligned: bool) -> &TimeMap {
        if is_aligned {
            &self.aligned
        } else {
            &self.linear
        }
    }
}

impl ComparedStep {
    fn from_stepped(side: &SteppedTrace<'_>) -> Self {
        let (start_ns, end_ns) = side.drawn_extent();
        let step: Option<&TraceStep> = side.steps.get(side.drawn);
        Self {
            title: step.map(|step| step.title(side.trace).to_owned()),
            n_steps: side.steps.len(),
            start_ns,
            end_ns,
            work_ns: side.drawn_work().iter().map(|work| work.time_ns).sum(),
            kernels: side.kernels.clone(),
        }
    }
}

/// Rows of all work of both steps.
fn rows(
    sides: &[SteppedTrace<'_>; 2],
    drawn: &[&[StepWork]; 2],
    matches: &WorkMatches,
    times: &[RepeatedWork; 2],
    terms: &Names,
) -> Vec<WorkPair> {
    let mut rows = Vec::with_capacity(drawn[0].len() + drawn[1].len() - matches.len());
    let row = |before: Option<&StepWork>, after: Option<&StepWork>| {
        let (side, work) = match (before, after) {
            (_, Some(work)) => (1, work),
            (Some(work), None) => (0, work),
            (None, None) => return None,
        };
        Some(WorkPair {
            title: title(sides[side].trace, work),
            category: work.key.category,
            modules: terms.get(work.key.modules).trim_end_matches('/').to_owned(),
            before: before.cloned(),
            after: after.cloned(),
            matched_by: None,
            steps: None,
            is_beyond_aligned: false,
        })
    };
    let both = |one: usize, two: usize, by: WorkMatchedBy| {
        let found = row(Some(&drawn[0][one]), Some(&drawn[1][two]))?;
        let [before, after] = [&times[0].times[one], &times[1].times[two]];
        Some(WorkPair {
            matched_by: Some(by),
            steps: StepDifference::new(before, after, matches.len()),
            ..found
        })
    };
    let moved_away: BTreeSet<usize> = matches.moved.values().map(|(one, _)| *one).collect();
    let between = |rows: &mut Vec<WorkPair>, before: Range<usize>, after: Range<usize>| {
        let gone = before.filter(|place| !moved_away.contains(place));
        rows.extend(gone.filter_map(|place| row(Some(&drawn[0][place]), None)));
        rows.extend(after.filter_map(|place| match matches.moved.get(&place) {
            Some((one, by)) => both(*one, place, *by),
            None => row(None, Some(&drawn[1][place])),
        }));
    };
    let mut next = (0, 0);
    for ((one, two), by) in &matches.in_order {
        between(&mut rows, next.0..*one, next.1..*two);
        next = (one + 1, two + 1);
        rows.extend(both(*one, *two, *by));
    }
    between(&mut rows, next.0..drawn[0].len(), next.1..drawn[1].len());
    rows.extend(rest(sides, drawn, 0));
    rows.extend(rest(sides, drawn, 1));
    rows
}

/// What is behind the last operator that is aligned, as one row.
fn rest(sides: &[SteppedTrace<'_>; 2], drawn: &[&[StepWork]; 2], side: usize) -> Option<WorkPair> {
    let further = &sides[side].drawn_work()[drawn[side].len()..];
    let (first, last) = (further.first()?, further.last()?);
    let work = StepWork {
        kernels: first.kernels.start..last.kernels.end,
        end_ns: further
            .iter()
            .map(|work| work.end_ns)
            .max()
            .unwrap_or_default(),
        time_ns: further.iter().map(|work| work.time_ns).sum(),
        ..first.clone()
    };
    let [before, after] = if side == 0 {
        [Some(work), None]
    } else {
        [None, Some(work)]
    };
    Some(WorkPair {
        title: humanize::pluralised(further.len() as u64, "further operator"),
        category: Category::Other,
        modules: String::new(),
        before,
        after,
        matched_by: None,
        steps: None,
        is_beyond_aligned: true,
    })
}

/// The operator, or the kernel in short.
fn title(trace: &Trace, work: &StepWork) -> String {
    let slice = trace.slice(work.slice as usize);
    let name = trace.names.get(slice.name);
    if slice.kind == SliceKind::Kernel {
        KernelName::parse(name).short()
    } else {
        name.to_owned()
    }
}

fn notes(
    sides: &[SteppedTrace<'_>; 2],
    steps: &[ComparedStep; 2],
    shares: [f64; 2],
) -> Vec<String> {
    let mut notes = vec![
        format!(
            "Compared are {} before and {} after",
            steps[0].summary_text(),
            steps[1].summary_text()
        ),
        format!(
            "{} of the time before and {} of the time after is matched",
            humanize::percent(shares[0]),
            humanize::percent(shares[1])
        ),
    ];
    for (word, side) in ["before", "after"].into_iter().zip(sides) {
        let n_work = side.drawn_work().len();
        if n_work == 0 {
            notes.push(format!(
                "Nothing ran in the step {word}, so there is nothing to compare"
            ));
        }
        if n_work > MOST_WORK {
            notes.push(format!(
                "The first {} operators of the step {word} are aligned, and {} are one bar",
                humanize::count(MOST_WORK as u64),
                humanize::count((n_work - MOST_WORK) as u64)
            ));
        }
        if side.steps.len() == 1 {
            notes.push(format!(
                "The trace {word} has one step, so nothing says how much a step differs from the next one"
            ));
        }
    }
    let [before, after] = sides.each_ref().map(|side| side.is_of_host);
    let times = match (before, after) {
        (true, true) => "Times are those of operators on the host",
        (false, false) => "Times are those of kernels and copies, summed",
        _ => {
            "One trace has times of kernels and the other those of operators on the host: their difference says little"
        }
    };
    notes.push(times.to_owned());
    notes
}

#[cfg(test)]
mod tests;
