//! The operators of a framework in a trace: the outermost ones of each module, with the modules around them and what
//! they launched.

use super::names::Names;
use super::trace::{Slice, SliceKind, Trace};
use super::trace_nesting::each_within;
use super::trace_steps::{MODULE, TraceStep, is_module, is_of_host, is_step_mark, names_that};

/// What names of operators begin with that only hold others: they say nothing of what is computed.
const WRAPPERS: [&str; 4] = [
    "Torch-Compiled Region",
    "## Call CompiledFxGraph",
    "CompiledFunction",
    "DistributedDataParallel.",
];

/// What the operator of a kernel begins with where only the range or the operator is known that its launch lies in: what
/// stands behind it says nothing of what the kernel computes.
pub const LAUNCHED_IN: &str = "in ";

/// An operator that lies in no other of its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceOperator {
    /// Its index in the trace.
    pub slice: u32,
    /// The number of the modules around it.
    pub path: u32,
    /// Its time on the host, without that of the operators in modules within it.
    pub host_ns: u64,
}

/// A call that launched something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LaunchCall {
    /// When it began.
    pub start_ns: i64,
    /// The operator that made it, by its place; nothing for a call outside of operators.
    pub operator: Option<u32>,
}

/// What a slice is part of.
#[derive(Clone, Copy, Default)]
struct Surroundings {
    path: u32,
    operator: Option<u32>,
    /// The operator that the module around it lies in.
    outer_operator: Option<u32>,
}

/// Operators, thread by thread, and their launches.
#[derive(Clone, Debug, Default)]
pub struct TraceOperators {
    pub operators: Vec<TraceOperator>,
    /// Modules within modules, the outermost first: `Net_0/Block_1/`.
    pub paths: Names,
    /// By what calls have in common with what they launched, in order.
    launches: Vec<(u64, LaunchCall)>,
}

impl TraceOperators {
    /// Those that begin within a step; all where there is none.
    pub fn read(trace: &Trace, step: Option<&TraceStep>) -> Self {
        let is_mark = names_that(trace, is_step_mark);
        let is_wrapper = names_that(trace, |name| {
            WRAPPERS.iter().any(|start| name.starts_with(start))
        });
        let mut found = Self::default();
        let is_wanted = |slice: &Slice| {
            let is_part = match slice.kind {
                SliceKind::Operator => {
                    let name = slice.name as usize;
                    is_of_host(trace, slice) && !is_mark[name] && !is_wrapper[name]
                }
                SliceKind::Call => is_of_host(trace, slice),
                SliceKind::Script => is_module(trace, slice),
                _ => false,
            };
            is_part && step.is_none_or(|step| step.contains(slice.start_ns))
        };
        each_within(trace, is_wanted, |index, around: Option<&Surroundings>| {
            found.take(trace, index, around.copied().unwrap_or_default())
        });
        // Of two calls with one link the last one counts.
        found
            .launches
            .sort_by_key(|(link, call)| (*link, std::cmp::Reverse(*call)));
        found.launches.dedup_by_key(|(link, _)| *link);
        found
    }

    /// The call that launched what has a link.
    pub fn launch_call(&self, link: u64) -> Option<LaunchCall> {
        let place = self.launches.binary_search_by_key(&link, |(link, _)| *link);
        place.ok().map(|place| self.launches[place].1)
    }

    /// The modules around an operator.
    pub fn modules(&self, operator: &TraceOperator) -> &str {
        self.paths.get(operator.path)
    }

    /// Takes a slice in, and says what lies within it.
    fn take(&mut self, trace: &Trace, index: u32, around: Surroundings) -> Surroundings {
        let slice = trace.slice(index as usize);
        match slice.kind {
            SliceKind::Script => {
                let name = trace.names.get(slice.name);
                let name = name.strip_prefix(MODULE).unwrap_or(name);
                let path = format!("{}{name}/", self.paths.get(around.path));
                Surroundings {
                    path: self.paths.number(&path),
                    operator: None,
                    outer_operator: around.operator.or(around.outer_operator),
                }
            }
            SliceKind::Operator if around.operator.is_none() => {
                if let Some(outer) = around.outer_operator {
                    let outer = &mut self.operators[outer as usize].host_ns;
                    *outer = outer.saturating_sub(slice.duration_ns);
                }
                self.operators.push(TraceOperator {
                    slice: index,
                    path: around.path,
                    host_ns: slice.duration_ns,
                });
                Surroundings {
                    operator: Some(self.operators.len() as u32 - 1),
                    ..around
                }
            }
            SliceKind::Call if slice.link != 0 => {
                let call = LaunchCall {
                    start_ns: slice.start_ns,
                    operator: around.operator.or(around.outer_operator),
                };
                self.launches.push((slice.link, call));
                around
            }
            _ => around,
        }
    }
}
