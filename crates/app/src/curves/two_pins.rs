//! A second pinned case beside the first: both distributions in one chart, and their times side by side.

use std::sync::Arc;

use super::CurvesState;
use super::drawing::TwoPinned;
use crate::screen::Screen;
use crate::sessions::{self, Pin};
use crate::shared::Shared;
use powerband_findings::analysis::case_rows::CaseRow;
use powerband_findings::chart::distributions::{Samples, cumulative, densities};
use powerband_findings::tables::two_cases;

/// The table of their times.
pub(super) const TABLE: &str = "two-cases";
/// Their charts.
const CHARTS: [&str; 2] = ["densities", "cumulative"];

impl CurvesState {
    /// Pins a second case beside the first, or takes it away.
    pub(super) fn pin_second(&mut self, second: Option<Pin>, shared: &mut Shared) {
        let Some(first) = self.pin else {
            return self.pin(second, shared);
        };
        let is_other = second != Some(first) && second != self.second;
        self.second = second.filter(|_| is_other);
        self.show_two(shared);
    }

    /// Makes the table and the charts of both cases, or takes them away.
    pub(super) fn show_two(&mut self, shared: &mut Shared) {
        self.two = None;
        for chart in CHARTS {
            shared
                .charts
                .set_view(Screen::Curves, chart.to_owned(), None);
        }
        let pins = self.pin.zip(self.second);
        let rows = pins
            .and_then(|(first, second)| Some((shared.case_row(first)?, shared.case_row(second)?)));
        let Some((first, second)) = rows else {
            shared.tables.remove(TABLE);
            return;
        };
        let table = two_cases::of_cases(first, second);
        shared.tables.set_table(TABLE, table);
        let Some((first, second)) = pins else {
            return;
        };
        let pins = [first, second];
        let cases = pins.map(|pin| shared.named_session(pin));
        let work = move || {
            let samples = cases.into_iter().flatten();
            let samples = samples.map(|(pin, name, colour, session)| {
                let case = session.case(pin.case).into_iter();
                Samples {
                    id: sessions::series(pin.session, pin.case.setup),
                    name,
                    colour,
                    ns: case
                        .flat_map(|case| case.samples_ns().map(|ns| ns as f64))
                        .collect(),
                }
            });
            let samples: Vec<Samples> = samples.collect();
            TwoPinned {
                pins,
                densities: densities(&samples),
                cumulative: cumulative(&samples),
            }
        };
        shared.jobs.spawn_for("pins", work, Self::two_pinned);
    }

    /// The samples of both cases were made into charts.
    fn two_pinned(&mut self, two: TwoPinned, _shared: &mut Shared) {
        let [first, second] = two.pins;
        if self.pin == Some(first) && self.second == Some(second) {
            self.two = Some(Arc::new(two));
        }
    }
}

impl Shared {
    fn case_row(&self, pin: Pin) -> Option<&CaseRow> {
        let rows = &self.sessions.get(pin.session)?.findings.rows;
        let is_it = |row: &&CaseRow| row.setup == pin.case.setup && row.point == pin.case.point;
        rows.iter().find(is_it)
    }

    fn named_session(
        &self,
        pin: Pin,
    ) -> Option<(
        Pin,
        String,
        usize,
        Arc<powerband_core::domain::session::Session>,
    )> {
        let session = Arc::clone(&self.sessions.get(pin.session)?.session);
        let colour = self.sessions.colour(pin.session, pin.case.setup);
        Some((pin, self.case_name(pin), colour, session))
    }

    /// What a case is called: its series and its batch size.
    fn case_name(&self, pin: Pin) -> String {
        let name = self.sessions.series_name(pin.session, pin.case.setup);
        format!("{name}, {}", pin.case.point)
    }
}
