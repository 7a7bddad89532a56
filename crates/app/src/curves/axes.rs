//! Which dimension of the sweep stands along x, which sizes of the others are drawn, and the curves that follow.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::action::{Curves, SweepView};
use crate::sessions::{self, OpenSession, OpenSessions, Pin, SessionId};
use powerband_core::domain::point::{BATCH, Point};
use powerband_findings::analysis::batch_curve::{self, BatchCurve};
use powerband_findings::analysis::case_rows::CaseRow;
use powerband_findings::analysis::dimensions::{self, Dimension};
use powerband_findings::chart::spec::SeriesId;

/// With more series than these, all sizes of the other dimensions in one chart are too much to begin with.
const MOST_SERIES: usize = 8;

/// The user's choice of axis and fixed sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AxisChoice {
    /// The dimension along x; nothing for the batch, or the first that varies.
    pub x: Option<&'static str>,
    /// The size of another dimension; nothing for a series of its own for each size.
    pub fixed: BTreeMap<&'static str, Option<usize>>,
}

/// A dimension that varies and does not stand along x.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherDimension {
    /// The dimension.
    pub dimension: Dimension,
    /// The size that is drawn; nothing where each size is a series.
    pub size: Option<usize>,
}

/// The axes of what is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes {
    /// The dimension along x.
    pub x: &'static str,
    /// The dimensions that vary in the open sessions, the batch first.
    pub varying: Vec<Dimension>,
    /// Those that do not stand along x.
    pub others: Vec<OtherDimension>,
}

impl Default for Axes {
    fn default() -> Self {
        Self {
            x: BATCH,
            varying: Vec::new(),
            others: Vec::new(),
        }
    }
}

impl Axes {
    /// Axes for the given points and number of setups, from the choice where it fits.
    pub fn new(choice: &AxisChoice, points: &[Point], setups: usize) -> Self {
        let varying = dimensions::varying_dimensions(points);
        let has = |name: &str| varying.iter().any(|one| one.name == name);
        let first = varying.first().map_or(BATCH, |one| one.name);
        let x = choice.x.filter(|name| has(name)).unwrap_or(first);
        let others = || varying.iter().filter(|one| one.name != x);
        let series: usize = others().map(|one| one.sizes.len()).product();
        let is_crowded = series * setups.max(1) > MOST_SERIES;
        let other = |dimension: &Dimension| {
            let smallest = dimension.sizes.first().copied();
            let size = match choice.fixed.get(dimension.name) {
                Some(None) => None,
                Some(Some(size)) if dimension.sizes.contains(size) => Some(*size),
                _ => smallest.filter(|_| is_crowded),
            };
            OtherDimension {
                dimension: dimension.clone(),
                size,
            }
        };
        let others = others().map(other).collect();
        Self { x, varying, others }
    }

    /// Whether a curve is drawn: in no dimension it has another size than the fixed one.
    fn shows(&self, curve: &BatchCurve) -> bool {
        self.others.iter().all(|other| {
            let own = curve
                .others
                .iter()
                .find(|(name, _)| *name == other.dimension.name);
            match (own, other.size) {
                (Some((_, own)), Some(size)) => *own == size,
                _ => true,
            }
        })
    }

    /// The sizes by which a curve differs from others of its setup that are drawn, in words.
    pub(super) fn distinguishing_sizes(&self, curve: &BatchCurve) -> String {
        let is_series = |name: &str| {
            let mut others = self.others.iter();
            others.any(|other| other.dimension.name == name && other.size.is_none())
        };
        dimensions::sizes_text(Point::new(curve.others.iter().copied()), |name| {
            is_series(name) && curve.others.iter().any(|(own, _)| *own == name)
        })
    }
}

/// The curves of a session along another dimension than the batch.
#[derive(Debug)]
pub(super) struct BatchCurves {
    along: &'static str,
    rows: Arc<Vec<CaseRow>>,
    curves: Vec<BatchCurve>,
}

impl super::CurvesState {
    /// Settles the axes, and makes the curves along x that are not there yet.
    pub(super) fn renew_axes(&mut self, open: &OpenSessions) {
        let rows = open.iter().flat_map(|open| open.findings.rows.iter());
        let mut points: Vec<Point> = rows.map(|row| row.point).collect();
        points.sort_unstable();
        points.dedup();
        let setups = open.iter().map(|open| open.session.plan.setups.len()).sum();
        let axes = Axes::new(&self.axes, &points, setups);
        let along = axes.x;
        self.lines
            .retain(|id, _| along != BATCH && open.get(*id).is_some());
        if along != BATCH {
            for session in open.iter() {
                let rows = &session.findings.rows;
                let known = self.lines.get(&session.id);
                if known.is_some_and(|known| known.along == along && Arc::ptr_eq(&known.rows, rows))
                {
                    continue;
                }
                let lines = BatchCurves {
                    along,
                    rows: Arc::clone(rows),
                    curves: batch_curve::curves_along(rows, along),
                };
                self.lines.insert(session.id, lines);
            }
        }
        Arc::make_mut(&mut self.drawn).axes = axes;
    }

    /// The curves of a session along x, setup by setup.
    pub(crate) fn curves_of<'a>(&'a self, open: &'a OpenSession) -> &'a [BatchCurve] {
        match self.lines.get(&open.id) {
            Some(lines) => &lines.curves,
            None if self.drawn.axes.x == BATCH => &open.findings.curves,
            None => &[],
        }
    }

    /// The same with the series of each, without those that the chosen sizes leave out.
    pub(super) fn drawn_curves<'a>(
        &'a self,
        open: &'a OpenSession,
    ) -> impl Iterator<Item = (SeriesId, &'a BatchCurve)> {
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        let curves = self.curves_of(open).iter().map(move |curve| {
            let place = places.entry(curve.setup).or_default();
            let id = sessions::nth_series(open.id, curve.setup, *place);
            *place += 1;
            (id, curve)
        });
        curves.filter(|(_, curve)| self.drawn.axes.shows(curve))
    }

    /// The curve of a measured series.
    pub fn curve<'a>(&'a self, open: &'a OpenSessions, id: SeriesId) -> Option<&'a BatchCurve> {
        let (session, setup) = sessions::of_series(id);
        let curves = self.curves_of(open.get(session)?).iter();
        let mut own = curves.filter(|curve| curve.setup == setup);
        own.nth(sessions::place_of_series(id))
    }

    /// The point of the sweep that a size along x stands for on a series.
    pub fn point_at(&self, open: &OpenSessions, id: SeriesId, size: u64) -> Option<Point> {
        let curve = self.curve(open, id)?;
        let own = curve.others.iter().copied();
        Some(Point::new(own.chain([(curve.along, size as usize)])))
    }

    /// The series that a case is on, and its size along x.
    pub(super) fn place_of(&self, open: &OpenSessions, pin: Pin) -> Option<(SeriesId, u64)> {
        let (setup, point) = (pin.case.setup, pin.case.point);
        let curves = self.curves_of(open.get(pin.session)?).iter();
        let mut own = curves.filter(|curve| curve.setup == setup);
        let along = self.drawn.axes.x;
        let others = point.without(along);
        let place = own.position(|curve| curve.others == others)?;
        let id = sessions::nth_series(pin.session, setup, place);
        Some((id, point.get(along)? as u64))
    }

    /// Keeps a choice that nothing else follows from.
    pub(super) fn choose(&mut self, change: Curves) {
        let options = &mut self.options;
        match change {
            Curves::Statistic(statistic) => options.statistic = statistic,
            Curves::Efficiency(efficiency) => options.efficiency = efficiency,
            Curves::Energy(energy) => options.energy = energy,
            Curves::LogLatency(log) => options.log_y = log,
            Curves::LogThroughput(log) => options.log_throughput = Some(log),
            Curves::Show(shown) => self.map.shown = shown,
            Curves::Mapped(quantity) => self.map.quantity = Some(quantity),
            Curves::Upwards(dimension) => self.map.upwards = Some(dimension),
            Curves::MapSetup(setup) => self.map.setup = setup,
            Curves::Over(dimension) => self.axes.x = Some(dimension),
            Curves::Fix(dimension, size) => {
                self.axes.fixed.insert(dimension, size);
            }
            Curves::Along(dimension, other, size) => {
                self.axes.x = Some(dimension);
                self.axes.fixed.insert(other, Some(size));
                if self.map.shown == SweepView::Map {
                    self.map.shown = SweepView::Both;
                }
            }
            _ => {}
        }
    }

    /// Forgets the curves of a session that is no longer open.
    pub(super) fn forget_lines(&mut self, session: SessionId) {
        self.lines.remove(&session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points() -> Vec<Point> {
        let all = [1, 2, 4].into_iter().flat_map(|batch| {
            let lengths = [32, 128, 512].into_iter();
            lengths.map(move |length| Point::new([("batch", batch), ("sequence", length)]))
        });
        all.collect()
    }

    #[test]
    fn the_batch_stands_along_x_until_another_is_chosen() {
        let points = points();
        let mut choice = AxisChoice::default();
        let axes = Axes::new(&choice, &points, 1);
        assert_eq!((axes.x, axes.others[0].size), ("batch", None));
        assert_eq!(axes.others[0].dimension.name, "sequence");
        // Two setups of three lengths are more than a few series.
        let many = Axes::new(&choice, &points, 3);
        assert_eq!(many.others[0].size, Some(32));
        choice.x = Some("sequence");
        choice.fixed.insert("batch", Some(4));
        let axes = Axes::new(&choice, &points, 3);
        assert_eq!((axes.x, axes.others[0].size), ("sequence", Some(4)));
        choice.fixed.insert("batch", Some(3));
        choice.x = Some("past");
        let axes = Axes::new(&choice, &points[..1], 1);
        assert_eq!((axes.x, axes.others.len()), (BATCH, 0), "what is not there");
    }
}
