//! The work of each step of a trace: operators in the order in which they were launched, each with its kernels.
//!
//! Where a trace does not say which operator launched a kernel, the kernel stands for itself; where nothing was launched,
//! operators have their time on the host.

use std::collections::HashMap;
use std::ops::Range;

use rustc_hash::FxBuildHasher;

use crate::analysis::category::{Category, Rules};
use crate::analysis::kernel_comparison::plain_operator;
use crate::analysis::kernel_name::KernelName;
use powerband_core::domain::names::Names;
use powerband_core::domain::trace::{SliceKind, Trace};
use powerband_core::domain::trace_operators::{LAUNCHED_IN, TraceOperators};
use powerband_core::domain::trace_steps::{TraceStep, median_step, trace_steps};

/// What names of operators begin with that autograd runs on the way back.
const BACKWARD: &str = "autograd::engine::evaluate_function: ";
/// A call that launches more is a graph, whose kernels stand for themselves.
const MOST_OF_A_CALL: u32 = 8;

/// What is compared of work, as numbers of names; 0 for what is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct WorkKey {
    /// What it computes, however a framework spells it.
    pub op: u32,
    pub category: Category,
    /// The kernel that takes most of its time: its whole name, and that without sizes and types.
    pub kernel: u32,
    pub family: u32,
    /// Shapes of what goes in.
    pub shapes: u32,
    /// The modules around it.
    pub modules: u32,
}

impl WorkKey {
    /// Whether it is the same work of another step. Which kernel of an operator takes longest may change from step to
    /// step, so where the operator is known the kernels are not asked.
    pub(super) fn recurs_as(&self, other: &Self) -> bool {
        let operator = |key: &Self| (key.op, key.shapes, key.modules);
        let kernel = |key: &Self| if key.op == 0 { key.kernel } else { 0 };
        operator(self) == operator(other) && kernel(self) == kernel(other)
    }
}

/// An operator with its kernels, or a kernel that stands for itself.
#[derive(Clone, Debug, PartialEq)]
pub struct StepWork {
    /// The slice of the trace that it is called after.
    pub slice: u32,
    /// Its kernels and copies, among those of the trace's side.
    pub kernels: Range<usize>,
    /// From when to when its kernels ran.
    pub start_ns: i64,
    pub end_ns: i64,
    /// What its kernels took together.
    pub time_ns: u64,
    pub(super) key: WorkKey,
}

/// A trace divided into steps.
#[derive(Debug)]
pub(super) struct SteppedTrace<'a> {
    pub trace: &'a Trace,
    pub steps: Vec<TraceStep>,
    /// The work of each step; of all of the trace where nothing divides it.
    pub work: Vec<Vec<StepWork>>,
    /// Slices of all work.
    pub kernels: Vec<u32>,
    /// The step that is drawn: that of median length among those in which something ran.
    pub drawn: usize,
    /// Whether times are those of operators on the host.
    pub is_of_host: bool,
}

impl<'a> SteppedTrace<'a> {
    pub(super) fn read(trace: &'a Trace, rules: &Rules, terms: &mut Names) -> Self {
        let steps = trace_steps(trace);
        let operators = TraceOperators::read(trace, None);
        let launched = launched(trace, &steps, &operators);
        let n_steps = steps.len().max(1);
        let mut keys = WorkKeys::new(trace, rules, terms);
        let mut found = Self {
            trace,
            drawn: 0,
            is_of_host: !trace.kinds().iter().any(|kind| kind.is_work()),
            kernels: launched.iter().map(|one| one.slice).collect(),
            work: vec![Vec::new(); n_steps],
            steps,
        };
        let mut from = 0;
        for group in launched.chunk_by(LaunchedSlice::belongs_with) {
            let kernels = from..from + group.len();
            from = kernels.end;
            let work = keys.work(group, kernels, &operators);
            found.work[group[0].step as usize].push(work);
        }
        let with_work = found.steps.iter().zip(&found.work);
        let with_work = with_work.filter(|(_, work)| !work.is_empty());
        let with_work: Vec<TraceStep> = with_work.map(|(step, _)| *step).collect();
        let median = median_step(&with_work);
        let place = median.and_then(|step| found.steps.iter().position(|one| *one == step));
        found.drawn = place.unwrap_or_default();
        found
    }

    /// The work of the step that is drawn.
    pub(super) fn drawn_work(&self) -> &[StepWork] {
        &self.work[self.drawn]
    }

    /// From when to when the step that is drawn and its work run.
    pub(super) fn drawn_extent(&self) -> (i64, i64) {
        let work = self.drawn_work();
        let step = self.steps.get(self.drawn);
        let starts = work.iter().map(|work| work.start_ns);
        let ends = work.iter().map(|work| work.end_ns);
        let start = starts.chain(step.map(|step| step.start_ns)).min();
        let end = ends.chain(step.map(|step| step.end_ns)).max();
        (start.unwrap_or_default(), end.unwrap_or_default())
    }
}

/// A kernel, a copy or an operator of the host, on its way into work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LaunchedSlice {
    step: u32,
    /// When the operator or the call began.
    launched_ns: i64,
    operator: Option<u32>,
    start_ns: i64,
    slice: u32,
}

impl LaunchedSlice {
    /// Whether one operator of one step launched both.
    fn belongs_with(&self, other: &Self) -> bool {
        self.operator.is_some() && (self.step, self.operator) == (other.step, other.operator)
    }
}

/// Everything that ran in a step, in the order in which it was launched.
fn launched(trace: &Trace, steps: &[TraceStep], operators: &TraceOperators) -> Vec<LaunchedSlice> {
    let step_at = |time_ns: i64| {
        if steps.is_empty() {
            return Some(0);
        }
        let after = steps.partition_point(|step| step.start_ns <= time_ns);
        let step = after.checked_sub(1)?;
        steps[step].contains(time_ns).then_some(step as u32)
    };
    let operator_start = |operator: u32| {
        let slice = operators.operators[operator as usize].slice;
        trace.slice(slice as usize).start_ns
    };
    let is_work = trace.kinds().iter().any(|kind| kind.is_work());
    if !is_work {
        let alone = operators.operators.iter().enumerate();
        let alone = alone.filter_map(|(place, operator)| {
            let start_ns = operator_start(place as u32);
            Some(LaunchedSlice {
                step: step_at(start_ns)?,
                launched_ns: start_ns,
                operator: Some(place as u32),
                start_ns,
                slice: operator.slice,
            })
        });
        return in_launch_order(alone.collect());
    }
    let counts = counts_of_links(trace);
    let slices = trace.slices().enumerate();
    let slices = slices.filter(|(_, slice)| slice.kind.is_work());
    let slices = slices.filter_map(|(index, slice)| {
        let call = operators.launch_call(slice.link);
        let is_of_graph = counts.get(&slice.link).is_some_and(|n| *n > MOST_OF_A_CALL);
        let operator = call.and_then(|call| call.operator).filter(|_| !is_of_graph);
        let launched_ns = match (operator, call) {
            (Some(operator), _) => operator_start(operator),
            (None, Some(call)) => call.start_ns,
            (None, None) => slice.start_ns,
        };
        Some(LaunchedSlice {
            step: step_at(launched_ns)?,
            launched_ns,
            operator,
            start_ns: slice.start_ns,
            slice: index as u32,
        })
    });
    in_launch_order(slices.collect())
}

/// What one call launched runs in the order of the device, not in that of the file.
fn in_launch_order(mut slices: Vec<LaunchedSlice>) -> Vec<LaunchedSlice> {
    slices.sort_by_key(|one| (one.step, one.launched_ns, one.operator, one.start_ns));
    slices
}

/// How often each link occurs among what was launched.
fn counts_of_links(trace: &Trace) -> HashMap<u64, u32, FxBuildHasher> {
    let mut counts: HashMap<u64, u32, FxBuildHasher> = HashMap::default();
    let linked = trace
        .slices()
        .filter(|slice| slice.kind.is_work() && slice.link != 0);
    for slice in linked {
        *counts.entry(slice.link).or_default() += 1;
    }
    counts
}

/// Makes keys of work, with what was found for each name.
struct WorkKeys<'a> {
    trace: &'a Trace,
    rules: &'a Rules,
    terms: &'a mut Names,
    operators: HashMap<u32, u32, FxBuildHasher>,
    /// The whole name and the family of each kernel.
    kernels: HashMap<u32, (u32, u32), FxBuildHasher>,
    categories: HashMap<(u32, u32), Category, FxBuildHasher>,
}

impl<'a> WorkKeys<'a> {
    fn new(trace: &'a Trace, rules: &'a Rules, terms: &'a mut Names) -> Self {
        Self {
            trace,
            rules,
            terms,
            operators: HashMap::default(),
            kernels: HashMap::default(),
            categories: HashMap::default(),
        }
    }

    /// What some slices are, of which at least one is there.
    fn work(
        &mut self,
        group: &[LaunchedSlice],
        kernels: Range<usize>,
        operators: &TraceOperators,
    ) -> StepWork {
        let trace = self.trace;
        let slices = || group.iter().map(|one| trace.slice(one.slice as usize));
        let longest = group
            .iter()
            .max_by_key(|one| trace.slice(one.slice as usize).duration_ns)
            .map_or(0, |one| one.slice);
        let kernel = trace.slice(longest as usize);
        let operator = group[0]
            .operator
            .map(|place| operators.operators[place as usize]);
        let is_of_host = kernel.kind == SliceKind::Operator;
        let own = operator.map(|operator| trace.slice(operator.slice as usize));
        let (op, shapes) = own.map_or((kernel.op, kernel.shapes), |own| (own.name, own.shapes));
        let kernel_name = if is_of_host { 0 } else { kernel.name };
        let category = match kernel.kind {
            SliceKind::Copy | SliceKind::Set => Category::Copies,
            _ => self.category(op, kernel_name),
        };
        let (kernel_term, family) = self.kernel(kernel_name);
        let modules = operator.map_or("", |operator| operators.modules(&operator));
        let time_ns = match operator.filter(|_| is_of_host) {
            Some(operator) => operator.host_ns,
            None => slices().map(|slice| slice.duration_ns).sum(),
        };
        StepWork {
            slice: operator.map_or(longest, |operator| operator.slice),
            kernels,
            start_ns: slices()
                .map(|slice| slice.start_ns)
                .min()
                .unwrap_or_default(),
            end_ns: slices()
                .map(|slice| slice.end_ns())
                .max()
                .unwrap_or_default(),
            time_ns,
            key: WorkKey {
                op: self.operator(op),
                category,
                kernel: kernel_term,
                family,
                shapes: self.terms.number(trace.shapes(shapes)),
                modules: self.terms.number(modules),
            },
        }
    }

    fn operator(&mut self, name: u32) -> u32 {
        let (trace, terms) = (self.trace, &mut self.terms);
        *self.operators.entry(name).or_insert_with(|| {
            let name = trace.names.get(name);
            if name.starts_with(LAUNCHED_IN) {
                return 0;
            }
            terms.number(&plain_operator(name.strip_prefix(BACKWARD).unwrap_or(name)))
        })
    }

    fn kernel(&mut self, name: u32) -> (u32, u32) {
        let (trace, terms) = (self.trace, &mut self.terms);
        *self.kernels.entry(name).or_insert_with(|| {
            let name = trace.names.get(name);
            let family = KernelName::parse(name).family();
            (terms.number(name), terms.number(&family))
        })
    }

    fn category(&mut self, op: u32, kernel: u32) -> Category {
        let (trace, rules) = (self.trace, self.rules);
        *self.categories.entry((op, kernel)).or_insert_with(|| {
            rules.category_of_names(trace.names.get(op), trace.names.get(kernel))
        })
    }
}
