//! A chart as a value: what to draw, in the chart's own coordinates, with no word of who draws it.
//!
//! The window paints it; export writes the same data, labels and colours. Coordinates of a
//! logarithmic axis are already logarithms, so that whoever paints only has to place and scale.

use std::fmt;

/// Which series: an opaque number that the maker of the chart chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesId(pub u64);

/// How a number becomes a coordinate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// As it is.
    #[default]
    Linear,
    /// Its logarithm to the base of two: batch sizes.
    Log2,
    /// Its logarithm to the base of ten: times over several orders of magnitude.
    Log10,
    /// By how many digits it is from 1: cosines.
    FromOne,
}

impl Scale {
    /// Number to coordinate; not a number where there is no logarithm.
    pub fn place(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Log2 if value > 0.0 => value.log2(),
            Self::Log10 if value > 0.0 => value.log10(),
            Self::FromOne if value < 1.0 => -(1.0 - value).log10(),
            Self::Log2 | Self::Log10 | Self::FromOne => f64::NAN,
        }
    }

    /// Coordinate back to number.
    pub fn value(self, place: f64) -> f64 {
        match self {
            Self::Linear => place,
            Self::Log2 => place.exp2(),
            Self::Log10 => 10_f64.powf(place),
            Self::FromOne => 1.0 - 10_f64.powf(-place),
        }
    }
}

/// A labelled place on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Coordinate.
    pub at: f64,
    /// What is written there.
    pub text: String,
}

/// One axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What it measures, in words, with its unit: `ms per batch`.
    pub title: String,
    /// How numbers become coordinates.
    pub scale: Scale,
    /// Lowest coordinate.
    pub low: f64,
    /// Highest coordinate.
    pub high: f64,
    /// Labelled places, ascending.
    pub ticks: Vec<Tick>,
}

impl Axis {
    /// The number that a coordinate stands for. 1 itself is by no number of digits from 1, and stands
    /// where the axis is labelled so.
    pub fn value(&self, place: f64) -> f64 {
        let is_one = |tick: &Tick| tick.at == place && tick.text == "1";
        if self.scale == Scale::FromOne && self.ticks.iter().any(is_one) {
            return 1.0;
        }
        self.scale.value(place)
    }
}

/// The shape that tells a series apart without colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// Filled circle.
    Circle,
    /// Filled square.
    Square,
    /// Filled triangle.
    Triangle,
    /// Filled diamond.
    Diamond,
    /// Upright cross.
    Cross,
}

/// One point of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Coordinate along the x axis.
    pub x: f64,
    /// Coordinate along the y axis.
    pub y: f64,
    /// Coordinates of its interval, where there is one.
    pub band: Option<(f64, f64)>,
    /// A number by which the maker finds the point again: a batch size, an index.
    pub tag: u64,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// A line with a marker at each point and a band behind.
    Curve,
    /// A thin line without markers.
    Thin,
    /// A filled column from zero at each point, as wide as `bar_width`, with its interval on it.
    Bars,
    /// A mark at each point and no line.
    Dots,
    /// A thin dashed line with a hollow mark at each point: what was published, not measured.
    Published,
}

/// One series.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Which.
    pub id: SeriesId,
    /// Its name in the legend.
    pub name: String,
    /// Index into the palette; counted on beyond its end with dashes, see `palette`.
    pub colour: usize,
    /// Its points, ascending in x; a missing point is left out, and `gap_after` says where a line breaks.
    pub points: Vec<Point>,
    /// Indices of points after which the line is broken.
    pub gap_after: Vec<usize>,
    /// How it is drawn.
    pub stroke: Stroke,
}

impl Series {
    /// Its unbroken pieces.
    pub fn runs(&self) -> impl Iterator<Item = &[Point]> {
        let mut breaks: Vec<usize> = self.gap_after.iter().map(|index| index + 1).collect();
        breaks.push(self.points.len());
        let mut from = 0;
        breaks.into_iter().filter_map(move |to| {
            let run = self.points.get(from..to);
            from = to;
            run.filter(|run| !run.is_empty())
        })
    }

    /// The points between two coordinates, and one more at either side, so that lines go on to the edge.
    /// They must ascend in x.
    fn between(&self, low: f64, high: f64) -> Self {
        let from = self.points.partition_point(|point| point.x < low);
        let to = self.points.partition_point(|point| point.x <= high);
        let (from, to) = (from.saturating_sub(1), (to + 1).min(self.points.len()));
        let gaps = self
            .gap_after
            .iter()
            .filter(|&&gap| (from..to).contains(&gap));
        Self {
            name: self.name.clone(),
            points: self.points[from..to].to_vec(),
            gap_after: gaps.map(|gap| gap - from).collect(),
            ..*self
        }
    }
}

/// Something on the chart that is not a series.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A hollow mark on the x axis: a case that failed, with its reason.
    Failed {
        /// Coordinate along x.
        x: f64,
        /// Whose case.
        series: SeriesId,
        /// Its palette index.
        colour: usize,
        /// Which batch and why.
        reason: String,
    },
    /// A dashed vertical from a point down to the axis, with words at its foot: a knee.
    Drop {
        /// Coordinates of the point.
        at: (f64, f64),
        /// Whose.
        series: SeriesId,
        /// Words.
        text: String,
    },
    /// A ring in the accent colour around a point: the best one within a limit, or a pinned one.
    Ring {
        /// Coordinates of the point.
        at: (f64, f64),
        /// Whose.
        series: SeriesId,
    },
    /// A thin vertical across the chart: where a round begins.
    Divider {
        /// Coordinate along x.
        x: f64,
    },
    /// A thin line in no series' colour, behind all points: a front.
    Edge {
        /// Coordinates of its corners.
        through: Vec<(f64, f64)>,
    },
    /// Words beside a point, where there is room for them: its name.
    Name {
        /// Coordinates of the point.
        at: (f64, f64),
        /// Whose.
        series: SeriesId,
        /// Words.
        text: String,
    },
    /// A thin dashed horizontal with words: a median.
    Level {
        /// Coordinate along y.
        y: f64,
        /// Words.
        text: String,
    },
    /// A number above a point, where there is room.
    Value {
        /// Coordinates of the point.
        at: (f64, f64),
        /// The number.
        text: String,
    },
}

impl Mark {
    /// Where along x it stands; nothing where it goes all the way.
    fn x(&self) -> Option<f64> {
        match self {
            Self::Failed { x, .. } | Self::Divider { x } => Some(*x),
            Self::Drop { at, .. }
            | Self::Ring { at, .. }
            | Self::Name { at, .. }
            | Self::Value { at, .. } => Some(at.0),
            Self::Edge { .. } | Self::Level { .. } => None,
        }
    }
}

/// A line that the user may drag up and down.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// Coordinate along y.
    pub y: f64,
    /// Words on it.
    pub text: String,
}

/// A whole chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChartSpec {
    /// What it is called.
    pub title: String,
    /// Left to right.
    pub x: Axis,
    /// Bottom to top.
    pub y: Axis,
    /// What is drawn, first at the back.
    pub series: Vec<Series>,
    /// What is drawn on top.
    pub marks: Vec<Mark>,
    /// The line to drag, where the chart has one.
    pub limit: Option<Limit>,
    /// Width of a column, in coordinates, for series of bars.
    pub bar_width: f64,
}

impl ChartSpec {
    /// Whether there is anything to see.
    pub fn is_empty(&self) -> bool {
        self.series.iter().all(|series| series.points.is_empty()) && self.marks.is_empty()
    }

    /// What is seen of it once its x axis has been moved to this one.
    pub fn seen(&self, x: Axis) -> Self {
        let is_seen = |mark: &&Mark| mark.x().is_none_or(|at| (x.low..=x.high).contains(&at));
        let series = self.series.iter();
        Self {
            title: self.title.clone(),
            y: self.y.clone(),
            series: series.map(|one| one.between(x.low, x.high)).collect(),
            marks: self.marks.iter().filter(is_seen).cloned().collect(),
            limit: self.limit.clone(),
            bar_width: self.bar_width,
            x,
        }
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Circle => "●",
            Self::Square => "■",
            Self::Triangle => "▲",
            Self::Diamond => "◆",
            Self::Cross => "✚",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_axis_leaves_what_is_seen_of_a_chart() {
        let point = |x: f64| Point {
            x,
            y: x,
            band: None,
            tag: x as u64,
        };
        let whole = ChartSpec {
            series: vec![Series {
                id: SeriesId(1),
                name: "times".to_owned(),
                colour: 0,
                points: (0..10).map(|x| point(f64::from(x))).collect(),
                gap_after: vec![1, 4, 8],
                stroke: Stroke::Thin,
            }],
            marks: vec![
                Mark::Divider { x: 1.0 },
                Mark::Divider { x: 4.5 },
                Mark::Level {
                    y: 3.0,
                    text: "median".to_owned(),
                },
            ],
            ..ChartSpec::default()
        };
        let x = Axis {
            low: 3.5,
            high: 6.5,
            ..Axis::default()
        };
        let seen = whole.seen(x.clone());
        let tags: Vec<u64> = seen.series[0]
            .points
            .iter()
            .map(|point| point.tag)
            .collect();
        assert_eq!(tags, [3, 4, 5, 6, 7]);
        // The line breaks after the same point as before.
        let runs: Vec<usize> = seen.series[0].runs().map(<[Point]>::len).collect();
        assert_eq!(runs, [2, 3]);
        assert_eq!(seen.marks, whole.marks[1..]);
        assert_eq!(seen.x, x);
        // A view between two points has both, so that the line between them is seen.
        let narrow = whole.seen(Axis {
            low: 2.2,
            high: 2.4,
            ..Axis::default()
        });
        assert_eq!(narrow.series[0].points.len(), 2);
    }
}
