//! The shapes that tell series apart without colour.

use eframe::egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, Ui, Vec2, pos2, vec2};

use crate::chart::palette;
use crate::chart::spec::Marker;
use crate::gui::theme;

/// Half the width of a marker on a chart.
pub const RADIUS: f32 = 3.6;

/// Paints the marker of a palette index.
pub fn paint(painter: &Painter, at: Pos2, colour_index: usize, radius: f32, color: Color32) {
    painter.add(shape(at, palette::marker(colour_index), radius, color));
}

fn shape(at: Pos2, marker: Marker, r: f32, color: Color32) -> Shape {
    let polygon = |points: Vec<Pos2>| Shape::convex_polygon(points, color, Stroke::NONE);
    match marker {
        Marker::Circle => Shape::circle_filled(at, r, color),
        Marker::Square => {
            Shape::rect_filled(Rect::from_center_size(at, Vec2::splat(r * 1.8)), 0.0, color)
        }
        Marker::Triangle => polygon(vec![
            at + vec2(0.0, -r * 1.15),
            at + vec2(r * 1.1, r * 0.85),
            at + vec2(-r * 1.1, r * 0.85),
        ]),
        Marker::Diamond => polygon(vec![
            at + vec2(0.0, -r * 1.25),
            at + vec2(r * 1.25, 0.0),
            at + vec2(0.0, r * 1.25),
            at + vec2(-r * 1.25, 0.0),
        ]),
        Marker::Cross => {
            let arm = |size: Vec2| Shape::rect_filled(Rect::from_center_size(at, size), 0.0, color);
            Shape::Vec(vec![
                arm(vec2(r * 2.3, r * 0.8)),
                arm(vec2(r * 0.8, r * 2.3)),
            ])
        }
    }
}

/// A marker in a line of text.
pub fn inline(ui: &mut Ui, colour_index: usize) {
    let color = theme::roles(ui).series(colour_index);
    let (rect, _) = ui.allocate_exact_size(vec2(12.0, 16.0), eframe::egui::Sense::hover());
    let at = pos2(rect.center().x, rect.center().y);
    paint(ui.painter(), at, colour_index, 4.0, color);
}
