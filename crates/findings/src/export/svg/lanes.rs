//! Device telemetry: lanes of time below the legend of their cases.

use super::canvas::Canvas;
use super::legend::{self, Item};
use super::sketch;
use crate::chart::area::Area;
use crate::chart::lanes::Lanes;
use crate::chart::layout::lanes::{self, Look};

/// The height that suits it.
pub(super) fn height(canvas: &Canvas, shown: &Lanes, room: f64) -> f64 {
    lanes::height(shown) * canvas.measures.caption + legend::height(canvas, &entries(shown), room)
}

/// The setups, for the legend.
fn entries(shown: &Lanes) -> Vec<Item<'_>> {
    let items = shown.setups.iter();
    items
        .map(|(colour, name)| Item::shade(Some(*colour), name))
        .collect()
}

/// Draws it.
pub(super) fn draw(canvas: &mut Canvas, shown: &Lanes, area: Area) {
    let area = legend::draw(canvas, &entries(shown), area);
    let look = Look {
        value: |lane| &lane.range,
        time: None,
    };
    let placed = sketch::with_letters(canvas, |letters| lanes::lay_out(shown, area, look, letters));
    sketch::draw(canvas, &placed.items);
}
