//! Session in, findings out. Pure: no I/O, no clock.

pub mod accuracy;
pub mod batch_curve;
mod break_even;
pub mod breakdown;
pub mod case_outliers;
pub mod case_pair;
pub mod case_rows;
pub mod category;
pub mod claims;
pub mod comparison;
mod comparison_warnings;
pub mod conditions;
mod countdown;
pub mod counters;
pub mod device_flags;
pub mod device_readings;
pub mod energy;
pub mod examined;
mod flag;
pub mod flags;
pub mod graph;
pub mod history;
pub mod journey;
pub mod kernel_comparison;
#[cfg(test)]
pub mod kernel_fixtures;
pub mod kernel_name;
pub mod lint;
pub mod memory;
pub mod metrics;
pub mod past_durations;
pub mod peak;
pub mod plan_estimate;
pub mod profiled;
pub mod progress;
pub mod provenance;
pub mod remarks;
pub mod repeat;
pub mod reported_stats;
pub mod run_phases;
pub mod scaling;
mod side;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod timeline;
pub mod trade_off;
pub mod verdict;
