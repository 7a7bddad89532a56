//! Where a chart is painted, and what its parts share.

use std::sync::Arc;

use eframe::egui::{Color32, FontId, Galley, Painter, Pos2, Rect, Stroke, pos2};
use egui_plot::{PlotPoint, PlotTransform};

use super::marker;
use crate::theme::{self, Roles, text};
use powerband_findings::chart::area::{Area, Position};
use powerband_findings::chart::layout::{Font, PlotSurface, Size};
use powerband_findings::chart::spec::{ChartSpec, SeriesId};

/// Most distance of the pointer from a point or the limit.
pub(super) const REACH: f32 = 24.0;

/// How much of their colour series keep while another one is under the pointer.
pub(super) const FADED: f32 = 0.25;

/// Where a chart is painted, and how.
pub(super) struct ChartCanvas<'a> {
    pub(super) spec: &'a ChartSpec,
    pub(super) painter: Painter,
    pub(super) transform: PlotTransform,
    pub(super) inner: Rect,
    pub(super) roles: &'a Roles,
    pub(super) highlighted: Option<SeriesId>,
}

impl PlotSurface for ChartCanvas<'_> {
    fn spec(&self) -> &ChartSpec {
        self.spec
    }

    fn inner(&self) -> Area {
        area(self.inner)
    }

    fn marker(&self) -> f64 {
        marker::RADIUS.into()
    }

    fn place(&self, x: f64, y: f64) -> Position {
        let at = self.pos(x, y);
        (at.x.into(), at.y.into())
    }

    fn size(&self, text: &str, font: Font) -> Size {
        let size = self.galley(text, font).size();
        (size.x.into(), size.y.into())
    }

    fn limit_text(&self, text: &str) -> String {
        format!("{text}, drag")
    }
}

impl ChartCanvas<'_> {
    pub(super) fn pos(&self, x: f64, y: f64) -> Pos2 {
        self.transform.position_from_point(&PlotPoint::new(x, y))
    }

    /// Words on one line, which get their colour when they are painted.
    pub(super) fn galley(&self, text: &str, font: Font) -> Arc<Galley> {
        let text = text.to_owned();
        self.painter
            .layout_no_wrap(text, font_id(font), Color32::PLACEHOLDER)
    }

    pub(super) fn line(&self, (from, to): (Position, Position), stroke: Stroke) {
        self.painter.line_segment([pos(from), pos(to)], stroke);
    }

    /// The colour of a series, which fades while another one is under the pointer.
    pub(super) fn faded(&self, color: Color32, id: SeriesId) -> Color32 {
        faded(color, id, self.highlighted)
    }
}

fn font_id(font: Font) -> FontId {
    match font {
        Font::Words => theme::text_font(text::CAPTION),
        Font::Numbers => theme::numbers(text::CAPTION),
    }
}

/// A series fades while another one is under the pointer.
pub(super) fn faded(color: Color32, id: SeriesId, highlighted: Option<SeriesId>) -> Color32 {
    match highlighted {
        Some(other) if other != id => color.gamma_multiply(FADED),
        _ => color,
    }
}

/// A place as egui has it.
pub(super) fn pos((x, y): Position) -> Pos2 {
    pos2(x as f32, y as f32)
}

/// An area as egui has it.
pub(crate) fn rect(area: Area) -> Rect {
    Rect::from_min_max(pos((area.left, area.top)), pos((area.right, area.bottom)))
}

/// The area of a rectangle.
pub(crate) fn area(rect: Rect) -> Area {
    let [left, top, right, bottom] =
        [rect.left(), rect.top(), rect.right(), rect.bottom()].map(f64::from);
    Area::new(left, top, right, bottom)
}
