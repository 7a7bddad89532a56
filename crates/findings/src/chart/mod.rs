//! Findings in, a description of a figure out. Pure: no I/O, no clock, no window.

pub mod area;
pub mod axis;
pub mod breakdown;
pub mod claims;
pub mod colours;
pub mod curves;
pub mod distributions;
pub mod energy;
pub mod figure;
pub mod heat_map;
pub mod history;
pub mod journey;
pub mod lanes;
pub mod layout;
pub mod limit;
pub mod mark;
pub mod memory;
pub mod palette;
pub mod ratios;
pub mod samples;
mod series_id;
pub mod spec;
pub mod timeline;
pub mod timeline_figure;
pub mod trade_off;
pub mod treemap;
pub mod view;
