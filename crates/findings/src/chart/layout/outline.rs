//! The outlines of markers around the point of origin.

use crate::chart::area::Position;
use crate::chart::spec::Marker;

/// The outline of a marker.
#[derive(Clone, Debug, PartialEq)]
pub enum Outline {
    /// A circle with its radius.
    Circle(f64),
    /// A convex polygon through its corners.
    Polygon(Vec<Position>),
    /// Two bars across each other: half their length, half their width.
    Cross(f64, f64),
}

impl Outline {
    /// The outline of a marker with a radius.
    pub fn from_marker(marker: Marker, r: f64) -> Self {
        match marker {
            Marker::Circle => Self::Circle(r),
            Marker::Square => {
                let half = r * 0.9;
                Self::Polygon(vec![
                    (-half, -half),
                    (half, -half),
                    (half, half),
                    (-half, half),
                ])
            }
            Marker::Triangle => Self::Polygon(vec![
                (0.0, -r * 1.15),
                (r * 1.1, r * 0.85),
                (-r * 1.1, r * 0.85),
            ]),
            Marker::Diamond => {
                let r = r * 1.25;
                Self::Polygon(vec![(0.0, -r), (r, 0.0), (0.0, r), (-r, 0.0)])
            }
            Marker::Cross => Self::Cross(r * 1.15, r * 0.4),
        }
    }
}
