//! Actions on the curves, and the charts of the pinned case.

use std::sync::Arc;

use super::Pinned;
use crate::App;
use crate::action::Curves;
use crate::parts::part::Layer;
use crate::screen::Screen;
use crate::sessions::Pin;
use powerband_core::domain::case::Case;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::{case_outliers, energy, generation, reported_stats, run_phases};
use powerband_findings::chart::limit::within_reach;
use powerband_findings::chart::{lanes, samples};

/// Buckets of a strip: more than any screen has columns for it.
const STRIP_BUCKETS: usize = 1_000;

/// The charts of the pinned case.
const OF_SAMPLES: [&str; 2] = ["histogram", "strip"];

/// Parts of the curves screen to update.
enum CurvesPart {
    /// The charts that know the latency limit.
    Charts,
    /// The same, on the latency axis as it is.
    HeldCharts,
    AllCharts,
    Cards,
    All,
}

impl App {
    pub(crate) fn curves(&mut self, change: Curves) {
        let part = match change {
            Curves::Limit(_) => CurvesPart::Charts,
            Curves::DragLimit(_) => CurvesPart::HeldCharts,
            Curves::Pin(_) | Curves::PinStep(_) | Curves::PinSecond(_) | Curves::PinSecondNext => {
                CurvesPart::AllCharts
            }
            Curves::Mapped(_) | Curves::Upwards(_) | Curves::MapSetup(_) | Curves::Show(_) => {
                CurvesPart::Charts
            }
            Curves::Quality(_) | Curves::At(_) | Curves::Examined(_) => CurvesPart::Cards,
            _ => CurvesPart::All,
        };
        let state = &mut self.curves;
        match change {
            Curves::Highlight(series) => {
                state.highlighted = series;
                return;
            }
            Curves::Enlarge(chart) => {
                state.enlarged = chart;
                return;
            }
            Curves::Stack(stacked) => {
                state.stacked = stacked;
                return;
            }
            Curves::Quality(quality) => state.quality = Some(quality),
            Curves::At(at) => state.at = at,
            Curves::Examined(series) => state.examined = Some(series),
            Curves::Limit(limit) => {
                let limit = limit.filter(|limit| limit.is_finite() && *limit > 0.0);
                state.options.limit_ns =
                    limit.map(|limit| within_reach(&state.drawn.latency, limit));
            }
            Curves::DragLimit(limit) => {
                let limit = Some(within_reach(&state.drawn.latency, limit));
                let limit = limit.filter(|limit| *limit > 0.0);
                state.options.limit_ns = limit.or(state.options.limit_ns);
            }
            Curves::ToggleSeries(series) => {
                if !state.hidden.remove(&series) {
                    state.hidden.insert(series);
                }
            }
            Curves::OnlySeries(series) => {
                let others = state
                    .drawn
                    .legend
                    .iter()
                    .map(|entry| entry.id)
                    .filter(|id| *id != series);
                let others = others.collect();
                state.hidden = if state.hidden == others {
                    Default::default()
                } else {
                    others
                };
            }
            Curves::OnlyModel(place) => {
                let legend = state.drawn.legend.iter();
                let others = legend.filter(|entry| entry.model != place);
                state.hidden = others.map(|entry| entry.id).collect();
            }
            Curves::GroupByModel(is_grouped) => state.groups_by_model = is_grouped,
            Curves::ShowAll => state.hidden.clear(),
            Curves::Pin(pin) => self.pin(pin),
            Curves::PinStep(by) => {
                let pin = self.next_pin(self.curves.pin, by);
                self.pin(pin);
            }
            Curves::PinSecond(pin) => self.pin_second(pin),
            Curves::PinSecondNext => {
                let from = self.curves.second.or(self.curves.pin);
                let pin = self.next_pin(from, 1);
                self.pin_second(pin);
            }
            chosen => state.choose(chosen),
        }
        self.redraw_curves(&part);
    }

    fn redraw_curves(&mut self, part: &CurvesPart) {
        // The overlaid curves of a comparison look as the curves do.
        self.compare
            .sides
            .redraw(&self.shared.sessions, &self.curves.options, self.curves.pin);
        match part {
            CurvesPart::Charts => return self.curves.redraw_charts(&self.shared.sessions),
            CurvesPart::HeldCharts => {
                // If the axis grew with the limit, the pointer would drag it ever further.
                let held = Arc::clone(&self.curves.drawn);
                self.curves.redraw_charts(&self.shared.sessions);
                let drawn = Arc::make_mut(&mut self.curves.drawn);
                drawn.latency.y = held.latency.y.clone();
                for (charts, held) in drawn.by_model.iter_mut().zip(&held.by_model) {
                    charts.latency.y = held.latency.y.clone();
                }
                return;
            }
            CurvesPart::AllCharts => {
                self.curves.redraw_charts(&self.shared.sessions);
                self.curves.redraw_resources(&self.shared.sessions);
                self.curves.redraw_cards(&self.shared.sessions);
            }
            CurvesPart::Cards => self.curves.redraw_cards(&self.shared.sessions),
            CurvesPart::All => return self.redraw_all_curves(),
        }
        self.card_tables();
    }

    /// The same while a run goes on: its tables are made once the screen is shown, so that they take no time
    /// from what is measured.
    pub(crate) fn redraw_curves_of_run(&mut self) {
        if self.shows(Screen::Curves) {
            return self.redraw_all_curves();
        }
        self.curves.redraw(&self.shared.sessions);
        self.curves.is_stale = true;
    }

    /// Makes the tables that are stale and shown.
    pub(crate) fn refresh_curves(&mut self) {
        if self.curves.is_stale && self.shows(Screen::Curves) {
            self.redraw_all_curves();
        }
    }

    /// Makes anew everything that the screen draws.
    pub(crate) fn redraw_all_curves(&mut self) {
        self.curves.redraw(&self.shared.sessions);
        self.curves.is_stale = false;
        self.cases_table();
        self.card_tables();
    }

    /// Closes the enlarged chart, else the pin that was set last.
    pub(crate) fn clear_pins(&mut self, layer: Layer) -> bool {
        if layer != Layer::Selection || self.shared.screen != Screen::Curves {
            return false;
        }
        let change = if self.curves.enlarged.is_some() {
            Curves::Enlarge(None)
        } else if self.curves.second.is_some() {
            Curves::PinSecond(None)
        } else if self.curves.pin.is_some() {
            Curves::Pin(None)
        } else {
            return false;
        };
        self.curves(change);
        true
    }

    pub(super) fn pin(&mut self, pin: Option<Pin>) {
        // Without the first, the second is the first.
        let pin = pin.or_else(|| self.curves.second.take());
        self.curves.second = self.curves.second.filter(|second| Some(*second) != pin);
        self.curves.pin = pin;
        self.show_two();
        self.curves.pinned = None;
        // What was zoomed belonged to the samples of another case.
        for chart in OF_SAMPLES {
            self.charts.set_view(Screen::Curves, chart.to_owned(), None);
        }
        if let Some(pin) = pin {
            self.case_selected(pin);
        }
        let Some((pin, open)) =
            pin.and_then(|pin| Some((pin, self.shared.sessions.get(pin.session)?)))
        else {
            return;
        };
        let session = Arc::clone(&open.session);
        let colour = self.shared.sessions.colour(pin.session, pin.case.setup);
        let work = move || {
            let case = session.case(pin.case)?;
            let values: Vec<f64> = case.samples_ns().map(|ns| ns as f64).collect();
            Some(Pinned {
                pin,
                histogram: samples::histogram(&values, colour),
                strip: samples::strip(case, colour, STRIP_BUCKETS),
                told: reported_stats::stated_text(&session, case),
                outliers: case_outliers::sentence(case),
                parts: run_facts(&session, case),
                lanes: lanes::of_case(&session, case),
            })
        };
        self.shared.jobs.spawn_then("pin", work, Self::pinned);
    }

    /// The samples of a case were made into charts.
    fn pinned(&mut self, pinned: Option<Pinned>) {
        if let Some(pinned) = pinned.filter(|pinned| self.curves.pin == Some(pinned.pin)) {
            self.curves.pinned = Some(Arc::new(pinned));
        }
    }
}

/// Facts about a case's runs beside their times, a line each.
fn run_facts(session: &Session, case: &Case) -> Vec<String> {
    let energy = energy::case_energy(session, case).ok();
    let requests = generation::case_requests(session, case);
    let facts = requests
        .iter()
        .flat_map(|found| found.facts(energy.as_ref()));
    let facts = facts.map(|(name, text)| format!("{name}: {text}"));
    let timed = requests.as_ref().filter(|found| found.count > 0);
    let counted = timed.map(|found| found.tokens_sentence());
    let phases = [
        run_phases::phases_text(case),
        run_phases::training_text(case),
    ];
    facts
        .chain(counted)
        .chain(phases.into_iter().flatten())
        .collect()
}
