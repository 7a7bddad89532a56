//! The window's own building blocks, each with a name for screen readers.

pub(super) mod button;
pub(super) mod chart;
pub(super) mod chart_canvas;
pub(super) mod choice;
pub(super) mod completing;
pub(super) mod data_table;
pub(super) mod field;
pub(super) mod figure;
pub(super) mod flags;
pub(super) mod focus;
pub(super) mod handle;
pub(super) mod heat_map;
pub(super) mod label;
pub(super) mod lanes;
pub(super) mod legend;
pub(super) mod marker;
pub(super) mod menu;
pub(super) mod segmented;
pub(super) mod sheet;
pub(super) mod sketch;
pub(super) mod table;
pub(super) mod timeline_canvas;
pub(super) mod tip;
pub(super) mod verdict;
pub(super) mod waiting;
pub(crate) mod zoom;
