//! A chart as a value: what to draw, in the chart's own coordinates, independent of the painter.
//!
//! The window paints it; export writes the same data, labels and colours. Coordinates of a
//! logarithmic axis are already logarithms, so that the painter only has to place and scale.

use std::fmt;

pub use super::mark::Mark;
pub use super::series_id::SeriesId;
use powerband_core::base::humanize;

/// Failures listed at one place; the rest are counted.
const MOST_FAILURES: usize = 8;
/// Dots of several series at one place are spread over this share of the way to the next place.
const SPREAD: f64 = 0.6;
/// And are never further apart than this share of the axis.
const MOST_ASIDE: f64 = 0.03;
/// Letters of why a case failed.
const REASON: usize = 160;

/// The scale of an axis: how a number becomes a coordinate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AxisScale {
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

impl AxisScale {
    /// Number to coordinate; not a number where there is no logarithm.
    pub fn to_coordinate(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Log2 if value > 0.0 => value.log2(),
            Self::Log10 if value > 0.0 => value.log10(),
            Self::FromOne if value < 1.0 => -(1.0 - value).log10(),
            Self::Log2 | Self::Log10 | Self::FromOne => f64::NAN,
        }
    }

    /// Coordinate back to number.
    pub fn to_number(self, place: f64) -> f64 {
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

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What it measures, in words, with its unit: `ms per batch`.
    pub title: String,
    /// How numbers become coordinates.
    pub scale: AxisScale,
    /// Lowest coordinate.
    pub low: f64,
    /// Highest coordinate.
    pub high: f64,
    /// Labelled places, ascending.
    pub ticks: Vec<Tick>,
}

impl Axis {
    /// How far a coordinate is from the lowest to the highest; 0 and 1 are these.
    pub fn share(&self, at: f64) -> f64 {
        (at - self.low) / (self.high - self.low).max(1e-9)
    }

    /// The number that a coordinate stands for. 1 itself is by no number of digits from 1, and stands
    /// where the axis is labelled so.
    pub fn value(&self, place: f64) -> f64 {
        let is_one = |tick: &Tick| tick.at == place && tick.text == "1";
        if self.scale == AxisScale::FromOne && self.ticks.iter().any(is_one) {
            return 1.0;
        }
        self.scale.to_number(place)
    }
}

/// The marker shape that identifies a series without colour.
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
pub struct ChartPoint {
    /// Coordinate along the x axis.
    pub x: f64,
    /// Coordinate along the y axis.
    pub y: f64,
    /// Coordinates of its interval, where there is one.
    pub band: Option<(f64, f64)>,
    /// The caller's number of the point: a batch size, an index.
    pub tag: u64,
}

impl ChartPoint {
    /// A point without an interval.
    pub fn new(x: f64, y: f64, tag: u64) -> Self {
        Self {
            x,
            y,
            band: None,
            tag,
        }
    }

    /// It with the coordinates of its interval.
    #[must_use]
    pub fn with_band(self, band: Option<(f64, f64)>) -> Self {
        Self { band, ..self }
    }
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

#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Which.
    pub id: SeriesId,
    /// Its name in the legend.
    pub name: String,
    /// Index into the palette; counted on beyond its end with dashes, see `palette`.
    pub colour: usize,
    /// Its points, ascending in x; a missing point is left out, and `gap_after` says where a line breaks.
    pub points: Vec<ChartPoint>,
    /// Indices of points after which the line is broken.
    pub gap_after: Vec<usize>,
    /// How it is drawn.
    pub stroke: Stroke,
}

impl Series {
    /// A series without gaps.
    pub fn new(
        id: SeriesId,
        name: impl Into<String>,
        colour: usize,
        stroke: Stroke,
        points: Vec<ChartPoint>,
    ) -> Self {
        Self {
            id,
            name: name.into(),
            colour,
            points,
            gap_after: Vec::new(),
            stroke,
        }
    }

    /// Its unbroken pieces.
    pub fn runs(&self) -> impl Iterator<Item = &[ChartPoint]> {
        runs(&self.points, &self.gap_after)
    }

    /// The interval of a point where it is drawn as a line of its own: that of dots, and that of a curve's
    /// point without a neighbour, which no band shows.
    pub fn whisker(&self, place: usize) -> Option<(f64, f64)> {
        let has_line = match self.stroke {
            Stroke::Dots => true,
            Stroke::Curve => self.is_alone(place),
            Stroke::Bars | Stroke::Thin | Stroke::Published => false,
        };
        self.points.get(place)?.band.filter(|_| has_line)
    }

    fn is_alone(&self, place: usize) -> bool {
        let breaks_after = |place: usize| self.gap_after.contains(&place);
        let begins = place.checked_sub(1).is_none_or(breaks_after);
        let ends = place + 1 == self.points.len() || breaks_after(place);
        begins && ends
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

/// The unbroken pieces of a line that is broken after some of its points.
pub(super) fn runs<'p, P>(
    points: &'p [P],
    gap_after: &[usize],
) -> impl Iterator<Item = &'p [P]> + use<'p, P> {
    let mut breaks: Vec<usize> = gap_after.iter().map(|index| index + 1).collect();
    breaks.push(points.len());
    let mut from = 0;
    breaks.into_iter().filter_map(move |to| {
        let run = points.get(from..to);
        from = to;
        run.filter(|run| !run.is_empty())
    })
}

/// A line that the user may drag up and down.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// Coordinate along y.
    pub y: f64,
    /// Words on it.
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChartSpec {
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
    /// Whether it has neither points nor marks.
    pub fn is_empty(&self) -> bool {
        self.series.iter().all(|series| series.points.is_empty()) && self.marks.is_empty()
    }

    /// Whether any series has a point; failures and levels are marks.
    pub fn has_points(&self) -> bool {
        self.series.iter().any(|series| !series.points.is_empty())
    }

    /// How far to the side a series of dots over batch sizes is painted, in coordinates, so that its
    /// intervals do not lie over those of others at the same batch. Its points stay what they are.
    pub fn aside(&self, series: &Series) -> f64 {
        if self.x.scale != AxisScale::Log2 || series.stroke != Stroke::Dots {
            return 0.0;
        }
        let dots = self.series.iter();
        let dots: Vec<&Series> = dots.filter(|one| one.stroke == Stroke::Dots).collect();
        let Some(place) = dots.iter().position(|one| one.id == series.id) else {
            return 0.0;
        };
        let points = dots.iter().flat_map(|one| &one.points);
        let mut places: Vec<f64> = points.map(|point| point.x).collect();
        places.sort_by(f64::total_cmp);
        let length = self.x.high - self.x.low;
        let steps = places.windows(2).map(|pair| pair[1] - pair[0]);
        let room = steps.filter(|step| *step > 0.0).fold(length, f64::min);
        let step = (room * SPREAD / dots.len() as f64).min(length * MOST_ASIDE);
        (place as f64 - (dots.len() - 1) as f64 / 2.0) * step
    }

    /// Where along x something failed, ascending, and how many did there.
    pub fn failures(&self) -> Vec<(f64, usize)> {
        let failed = |mark: &Mark| match mark {
            Mark::Failed { x, .. } => Some(*x),
            _ => None,
        };
        let mut places: Vec<f64> = self.marks.iter().filter_map(failed).collect();
        places.sort_by(f64::total_cmp);
        let mut counted: Vec<(f64, usize)> = Vec::new();
        for place in places {
            match counted.last_mut() {
                Some((last, count)) if *last == place => *count += 1,
                _ => counted.push((place, 1)),
            }
        }
        counted
    }

    /// What failed at a place along x and why, a line each, shortened where there are several; whose it was
    /// where several curves are shown.
    pub fn failures_at(&self, place: f64) -> String {
        let curves = self.series.iter();
        let curves = curves.filter(|series| series.stroke == Stroke::Curve);
        let is_one_of_several = curves.clone().count() > 1;
        let is_alone = self.failures().contains(&(place, 1));
        let mut lines: Vec<String> = Vec::new();
        for mark in &self.marks {
            let Mark::Failed {
                x, series, reason, ..
            } = mark
            else {
                continue;
            };
            if *x != place {
                continue;
            }
            let first = reason.lines().next().unwrap_or_default();
            let reason = if is_alone {
                reason.clone()
            } else {
                humanize::shorten(first, REASON)
            };
            let whose = curves.clone().find(|curve| curve.id == *series);
            lines.push(match whose {
                Some(curve) if is_one_of_several => format!("{}, {reason}", curve.name),
                _ => reason,
            });
        }
        let more = lines.len().saturating_sub(MOST_FAILURES);
        lines.truncate(MOST_FAILURES);
        if more > 0 {
            lines.push(format!("and {} more", humanize::count(more as u64)));
        }
        lines.join("\n")
    }

    /// A point over the batch size in words: whose it is, its batch and what it says, with its interval where
    /// it has one.
    pub fn point_text(&self, series: SeriesId, tag: u64) -> Option<String> {
        let series = self.series.iter().find(|one| one.id == series)?;
        let point = series.points.iter().find(|point| point.tag == tag)?;
        let at = |place: f64| humanize::significant(self.y.value(place), 3);
        let interval = point.band.map_or_else(String::new, |(low, high)| {
            format!("\ninterval {} to {}", at(low), at(high))
        });
        Some(format!(
            "{}\n{} {}\n{} {}{interval}",
            series.name,
            self.x.title,
            humanize::count(tag),
            at(point.y),
            self.y.title
        ))
    }

    /// The points of a tag, of every series that has one.
    pub fn points_at(&self, tag: u64) -> impl Iterator<Item = (&Series, &ChartPoint)> {
        let series = self.series.iter().filter(|one| one.stroke != Stroke::Thin);
        series.filter_map(move |one| {
            let mut points = one.points.iter();
            Some((one, points.find(|point| point.tag == tag)?))
        })
    }

    /// What each series says at a tag, with three digits.
    pub fn values_at(&self, tag: u64) -> Vec<(&Series, String)> {
        let points = self.points_at(tag);
        let values = points.map(|(series, point)| (series, humanize::value(self.y.value(point.y))));
        values.collect()
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

    fn curve(id: u64, name: &str) -> Series {
        Series {
            id: SeriesId(id),
            name: name.to_owned(),
            colour: id as usize,
            points: vec![ChartPoint {
                x: 3.0,
                y: 1_234.0,
                band: Some((1_200.0, 1_300.0)),
                tag: 8,
            }],
            gap_after: Vec::new(),
            stroke: Stroke::Curve,
        }
    }

    fn failed(x: f64, series: u64, reason: &str) -> Mark {
        Mark::Failed {
            x,
            series: SeriesId(series),
            colour: series as usize,
            reason: reason.to_owned(),
        }
    }

    #[test]
    fn a_point_without_neighbours_has_its_interval_as_a_line() {
        let mut series = curve(1, "one");
        let whisker = Some((1_200.0, 1_300.0));
        assert_eq!(series.whisker(0), whisker);
        let next = ChartPoint {
            x: 4.0,
            ..series.points[0]
        };
        series.points.push(next);
        assert_eq!(series.whisker(0), None, "the band shows it");
        assert_eq!(series.whisker(1), None);
        series.gap_after = vec![0];
        assert_eq!((series.whisker(0), series.whisker(1)), (whisker, whisker));
        series.stroke = Stroke::Thin;
        assert_eq!(series.whisker(0), None);
    }

    #[test]
    fn failures_at_one_place_are_all_told() {
        let mut chart = ChartSpec {
            series: vec![curve(1, "one"), curve(2, "two")],
            marks: vec![
                failed(4.0, 1, "batch 16: out of memory"),
                failed(2.0, 1, "batch 4: no answer"),
                failed(4.0, 2, "batch 16: crashed\nwith many words"),
            ],
            ..ChartSpec::default()
        };
        assert_eq!(chart.failures(), [(2.0, 1), (4.0, 2)]);
        assert_eq!(
            chart.failures_at(4.0),
            "one, batch 16: out of memory\ntwo, batch 16: crashed"
        );
        assert_eq!(chart.failures_at(3.0), "");
        // One curve alone needs no name.
        chart.series.pop();
        assert_eq!(chart.failures_at(2.0), "batch 4: no answer");
        chart.marks = vec![failed(4.0, 1, "out"); 11];
        assert!(chart.failures_at(4.0).ends_with("out\nand 3 more"));
    }

    #[test]
    fn a_point_is_told_in_words() {
        let chart = ChartSpec {
            x: Axis {
                title: "batch size".to_owned(),
                scale: AxisScale::Log2,
                ..Axis::default()
            },
            y: Axis {
                title: "items per second".to_owned(),
                ..Axis::default()
            },
            series: vec![curve(1, "one")],
            ..ChartSpec::default()
        };
        let words = chart.point_text(SeriesId(1), 8);
        let expected = "one\nbatch size 8\n1,234 items per second\ninterval 1,200 to 1,300";
        assert_eq!(words.as_deref(), Some(expected));
        assert_eq!(chart.point_text(SeriesId(1), 9), None);
    }

    #[test]
    fn a_moved_axis_leaves_what_is_seen_of_a_chart() {
        let point = |x: f64| ChartPoint {
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
        let runs: Vec<usize> = seen.series[0].runs().map(<[ChartPoint]>::len).collect();
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
