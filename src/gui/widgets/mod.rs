//! The window's own building blocks, each with a name for screen readers.

pub mod button;
pub mod chart;
mod chart_canvas;
pub mod field;
pub mod figure;
pub mod flags;
pub mod focus;
pub mod label;
pub mod lanes;
pub mod legend;
pub mod marker;
mod marks;
mod names;
pub mod segmented;
pub mod sheet;
pub mod table;
pub mod timeline_canvas;
pub mod tip;
pub mod verdict;
pub mod waiting;
