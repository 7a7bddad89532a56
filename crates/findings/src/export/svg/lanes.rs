//! Device telemetry: lanes of time below the legend of their cases.

use super::canvas::SvgCanvas;
use super::legend::{self, LegendItem};
use super::sketch;
use crate::chart::area::Area;
use crate::chart::lanes::Lanes;
use crate::chart::layout::Letters;
use crate::chart::layout::lanes::{self, LanesStyle};

/// The height that suits it.
pub(super) fn height(canvas: &SvgCanvas, shown: &Lanes, room: f64) -> f64 {
    lanes::height(shown) * canvas.measures.caption + legend::height(canvas, &entries(shown), room)
}

/// The setups, for the legend.
fn entries(shown: &Lanes) -> Vec<LegendItem<'_>> {
    let items = shown.setups.iter();
    items
        .map(|(colour, name)| LegendItem::shade(Some(*colour), name))
        .collect()
}

/// Draws it.
pub(super) fn draw(canvas: &mut SvgCanvas, letters: &Letters<'_>, shown: &Lanes, area: Area) {
    let area = legend::draw(canvas, &entries(shown), area);
    let look = LanesStyle {
        value: |lane| &lane.range,
        time: None,
    };
    sketch::draw(canvas, &lanes::lay_out(shown, area, look, letters).items);
}
