//! Where a chart is painted, and what its parts share.

use eframe::egui::{Color32, Painter, Pos2, Rect};
use egui_plot::{PlotPoint, PlotTransform};

use crate::gui::theme::Roles;
use powerband_findings::chart::spec::SeriesId;

/// How near the hand must be to a point, or to the limit.
pub(super) const REACH: f32 = 16.0;

/// Where a chart is painted, and how.
pub(super) struct Canvas<'a> {
    pub(super) painter: Painter,
    pub(super) transform: PlotTransform,
    pub(super) inner: Rect,
    pub(super) roles: &'a Roles,
    pub(super) highlighted: Option<SeriesId>,
}

impl Canvas<'_> {
    pub(super) fn place(&self, x: f64, y: f64) -> Pos2 {
        self.transform.position_from_point(&PlotPoint::new(x, y))
    }
}

/// A series steps back while another one is under the hand.
pub(super) fn faded(color: Color32, id: SeriesId, highlighted: Option<SeriesId>) -> Color32 {
    match highlighted {
        Some(other) if other != id => color.gamma_multiply(0.25),
        _ => color,
    }
}
