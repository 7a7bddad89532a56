//! The heat map: which quantity of which setups it shows, over which two dimensions of the sweep.

pub use super::action::SweepView;
use super::{CurvesState, LegendEntry};
use crate::sessions::{self, OpenSessions, Pin};
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point::Point;
use powerband_findings::analysis::case_rows::CaseRow;
use powerband_findings::chart::heat_map::HeatMap;
use powerband_findings::chart::heat_map::cases::{self, MapDimensions, MapQuantity, SetupCases};
use powerband_findings::chart::spec::SeriesId;

/// What the user chose of the heat map.
#[derive(Clone, Debug, Default)]
pub struct MapChoice {
    /// Whether it is shown beside the curves or in their place.
    pub shown: SweepView,
    /// What it shows of each case; nothing for the first that is known.
    pub quantity: Option<MapQuantity>,
    /// The dimension that stands upwards; nothing for the first that does not stand along x.
    pub upwards: Option<&'static str>,
    /// The one setup that is shown; nothing for all, each in a field of its own.
    pub setup: Option<SeriesId>,
}

/// The heat map as it is drawn.
#[derive(Clone, Debug, Default)]
pub struct DrawnMap {
    /// The map.
    pub map: HeatMap,
    /// What it shows.
    pub quantity: MapQuantity,
    /// What it could show.
    pub quantities: Vec<MapQuantity>,
    /// The setups that could be shown alone, with their names and palette indices.
    pub setups: Vec<(SeriesId, String, usize)>,
    /// The one that is.
    pub setup: Option<SeriesId>,
}

impl DrawnMap {
    /// The case of a cell.
    pub fn pin(&self, panel: usize, place: (usize, usize)) -> Option<Pin> {
        let series = SeriesId(self.map.panels.get(panel)?.tag);
        let (session, setup) = sessions::of_series(series);
        let point = self.map.point(place)?;
        let case = CaseKey { setup, point };
        Some(Pin { session, case })
    }
}

impl CurvesState {
    /// Whether curves are shown: not where the heat map stands in their place.
    pub fn shows_curves(&self) -> bool {
        self.drawn.map.is_none() || self.map.shown != SweepView::Map
    }

    /// The heat map of what the legend shows; nothing where fewer than two dimensions vary.
    pub(super) fn heat_map(&self, open: &OpenSessions, shown: &[&LegendEntry]) -> Option<DrawnMap> {
        let axes = &self.drawn.axes;
        let others = &axes.others;
        let chosen = |name: &str| others.iter().any(|other| other.dimension.name == name);
        let upwards = self.map.upwards.as_ref().filter(|name| chosen(name));
        let y = upwards.copied().or(Some(others.first()?.dimension.name))?;
        let mut setups = setups(open, shown);
        // A sweep without one of the two dimensions has no cells.
        setups.retain(|(id, ..)| {
            let (session, setup) = sessions::of_series(*id);
            let rows = open.get(session).into_iter();
            let mut rows = rows.flat_map(|open| open.findings.rows.iter());
            rows.any(|row| {
                let has = |name: &str| row.point.get(name).is_some();
                row.setup == setup && has(axes.x) && has(y)
            })
        });
        let chosen = self.map.setup;
        let setup = chosen.filter(|one| setups.iter().any(|(id, ..)| id == one));
        let mapped: Vec<SetupCases<'_>> = setups
            .iter()
            .filter(|(id, ..)| setup.is_none_or(|one| one == *id))
            .map(|(id, name, colour)| {
                let (session, index) = sessions::of_series(*id);
                let rows = open.get(session).into_iter();
                let rows = rows.flat_map(|open| open.findings.rows.iter());
                SetupCases {
                    tag: id.0,
                    name: name.clone(),
                    colour: *colour,
                    rows: rows.filter(|row| row.setup == index).collect(),
                }
            })
            .collect();
        let all: Vec<&CaseRow> = mapped.iter().flat_map(|one| one.rows.clone()).collect();
        let quantities: Vec<MapQuantity> = MapQuantity::ALL
            .into_iter()
            .filter(|quantity| cases::has_values(&all, *quantity, &self.options))
            .collect();
        let first = quantities.first().copied().unwrap_or_default();
        let wanted = self.map.quantity;
        let quantity = wanted
            .filter(|one| quantities.contains(one))
            .unwrap_or(first);
        let sides = MapDimensions {
            x: axes.x,
            y,
            at: self.fixed_point(&all, y)?,
        };
        let mut map = cases::map(&mapped, &sides, quantity, &self.options);
        for pin in self.pins() {
            let tag = sessions::series(pin.session, pin.case.setup);
            map.pin(tag.0, pin.case.point);
        }
        Some(DrawnMap {
            map,
            quantity,
            quantities,
            setups,
            setup,
        })
    }

    /// A point with the sizes of the dimensions that stand along neither side.
    fn fixed_point(&self, rows: &[&CaseRow], y: &str) -> Option<Point> {
        let axes = &self.drawn.axes;
        let points = rows.iter().map(|row| row.point);
        let mut points = points.filter(|point| [axes.x, y].iter().all(|n| point.get(n).is_some()));
        let mut at = points.next()?;
        for other in axes.others.iter().filter(|other| other.dimension.name != y) {
            let smallest = other.dimension.sizes.first().copied();
            if let Some(size) = other.size.or(smallest)
                && at.get(other.dimension.name).is_some()
            {
                at = at.with(other.dimension.name, size);
            }
        }
        Some(at)
    }
}

/// The measured setups of the legend that are shown, each once.
fn setups(open: &OpenSessions, shown: &[&LegendEntry]) -> Vec<(SeriesId, String, usize)> {
    let mut setups: Vec<(SeriesId, String, usize)> = Vec::new();
    for entry in shown
        .iter()
        .filter(|entry| !super::claims::is_published(entry.id))
    {
        let (session, setup) = sessions::of_series(entry.id);
        let id = sessions::series(session, setup);
        if setups.iter().all(|(known, ..)| *known != id) {
            let name = open.series_name(session, setup);
            setups.push((id, name, open.colour(session, setup)));
        }
    }
    setups
}
