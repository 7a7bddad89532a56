//! Actions on the curves, and the charts of the pinned case.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::CurvesState;
use super::Pinned;
use crate::action::Curves;
use crate::parts::layer::Layer;
use crate::screen::Screen;
use crate::sessions::{self, Pin, SessionId};
use crate::shared::{FollowUp, Shared};
use powerband_core::domain::case::Case;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::{
    case_outliers, energy, generation, modes, reported_stats, run_phases,
};
use powerband_findings::chart::limit::within_reach;
use powerband_findings::chart::spec::SeriesId;
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

impl CurvesState {
    pub(crate) fn act(&mut self, change: Curves, shared: &mut Shared) {
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
        let state = &mut *self;
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
                let limit = limit.map(|limit| within_reach(&state.drawn.latency, limit));
                state.set_limit(limit, shared);
            }
            Curves::DragLimit(limit) => {
                let limit = Some(within_reach(&state.drawn.latency, limit));
                let limit = limit.filter(|limit| *limit > 0.0);
                state.set_limit(limit.or(state.options.limit_ns), shared);
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
            Curves::Pin(pin) => self.pin(pin, shared),
            Curves::PinStep(by) => {
                let pin = self.next_pin(self.pin, by, shared);
                self.pin(pin, shared);
            }
            Curves::PinSecond(pin) => self.pin_second(pin, shared),
            Curves::PinSecondNext => {
                let from = self.second.or(self.pin);
                let pin = self.next_pin(from, 1, shared);
                self.pin_second(pin, shared);
            }
            chosen => state.choose(chosen),
        }
        self.redraw_curves(&part, shared);
    }

    /// Draws the series of these sessions alone; those of the others stay in the legend. Sessions without series
    /// hide nothing.
    pub(crate) fn draw_sessions(&mut self, shown: &BTreeSet<SessionId>, shared: &mut Shared) {
        let legend = self.drawn.legend.iter().map(|entry| entry.id);
        let (drawn, hidden): (Vec<SeriesId>, Vec<SeriesId>) =
            legend.partition(|id| shown.contains(&sessions::of_series(*id).0));
        if !drawn.is_empty() {
            self.hidden = hidden.into_iter().collect();
            self.redraw_all_curves(shared);
        }
    }

    /// Forgets sessions that are no longer open.
    pub(crate) fn forget_sessions(&mut self, ids: &[SessionId], shared: &mut Shared) {
        let was_pinned = self.pins().any(|pin| ids.contains(&pin.session));
        for id in ids {
            self.forget(*id);
        }
        if was_pinned {
            self.act(Curves::Pin(self.pin), shared);
        }
    }

    /// After sessions were closed: where none that is drawn is left, all others are drawn again.
    pub(crate) fn draw_what_is_left(&mut self, shared: &mut Shared) {
        if self.drawn_sessions().is_empty() && !self.hidden.is_empty() {
            self.hidden.clear();
            self.redraw_all_curves(shared);
        }
    }

    /// Draws the series of a session beside the others.
    pub(crate) fn draw_session_too(&mut self, id: SessionId, shared: &mut Shared) {
        self.hidden
            .retain(|series| sessions::of_series(*series).0 != id);
        self.redraw_all_curves(shared);
    }

    fn redraw_curves(&mut self, part: &CurvesPart, shared: &mut Shared) {
        // The overlaid curves of a comparison look as the curves do.
        shared.is_comparison_stale = true;
        match part {
            CurvesPart::Charts => return self.redraw_charts(&shared.sessions),
            CurvesPart::HeldCharts => {
                // If the axis grew with the limit, the pointer would drag it ever further.
                let held = Arc::clone(&self.drawn);
                self.redraw_charts(&shared.sessions);
                let drawn = Arc::make_mut(&mut self.drawn);
                drawn.latency.y = held.latency.y.clone();
                for (charts, held) in drawn.by_model.iter_mut().zip(&held.by_model) {
                    charts.latency.y = held.latency.y.clone();
                }
                return;
            }
            CurvesPart::AllCharts => {
                self.redraw_charts(&shared.sessions);
                self.redraw_resources(&shared.sessions);
                self.redraw_cards(&shared.sessions);
            }
            CurvesPart::Cards => self.redraw_cards(&shared.sessions),
            CurvesPart::All => return self.redraw_all_curves(shared),
        }
        self.card_tables(shared);
    }

    /// The same while a run goes on: its tables are made once the screen is shown, so that they take no time
    /// from what is measured.
    pub(crate) fn redraw_curves_of_run(&mut self, shared: &mut Shared) {
        if shared.shows(Screen::Curves) {
            return self.redraw_all_curves(shared);
        }
        self.redraw(&shared.sessions);
        self.is_stale = true;
    }

    /// Makes the tables that are stale and shown.
    pub(crate) fn refresh_curves(&mut self, shared: &mut Shared) {
        if self.is_stale && shared.shows(Screen::Curves) {
            self.redraw_all_curves(shared);
        }
    }

    /// Makes anew everything that the screen draws.
    pub(crate) fn redraw_all_curves(&mut self, shared: &mut Shared) {
        self.follow_model(shared);
        self.redraw(&shared.sessions);
        self.is_stale = false;
        self.cases_table(shared);
        self.card_tables(shared);
    }

    /// The limit is that of the model of the first open session.
    fn follow_model(&mut self, shared: &Shared) {
        let first = shared.sessions.iter().next();
        let model = first.map(|open| open.session.model.name.as_str());
        if let Some(model) = model.filter(|model| *model != self.limited_model) {
            self.options.limit_ns = shared.remembered.limits_ns.get(model).copied();
            model.clone_into(&mut self.limited_model);
        }
    }

    fn set_limit(&mut self, limit_ns: Option<f64>, shared: &mut Shared) {
        self.options.limit_ns = limit_ns;
        let limits = &mut shared.remembered.limits_ns;
        match limit_ns {
            Some(limit) => limits.insert(self.limited_model.clone(), limit),
            None => limits.remove(&self.limited_model),
        };
    }

    /// Closes the enlarged chart, else the pin that was set last.
    pub(crate) fn clear_pins(&mut self, layer: Layer, shared: &mut Shared) -> bool {
        if layer != Layer::Selection || shared.screen != Screen::Curves {
            return false;
        }
        let change = if self.enlarged.is_some() {
            Curves::Enlarge(None)
        } else if self.second.is_some() {
            Curves::PinSecond(None)
        } else if self.pin.is_some() {
            Curves::Pin(None)
        } else {
            return false;
        };
        self.act(change, shared);
        true
    }

    pub(super) fn pin(&mut self, pin: Option<Pin>, shared: &mut Shared) {
        // Without the first, the second is the first.
        let pin = pin.or_else(|| self.second.take());
        self.second = self.second.filter(|second| Some(*second) != pin);
        self.pin = pin;
        self.show_two(shared);
        self.pinned = None;
        // What was zoomed belonged to the samples of another case.
        for chart in OF_SAMPLES {
            shared
                .charts
                .set_view(Screen::Curves, chart.to_owned(), None);
        }
        if let Some(pin) = pin {
            shared.follow_ups.push_back(FollowUp::CasePinned(pin));
        }
        let Some((pin, open)) = pin.and_then(|pin| Some((pin, shared.sessions.get(pin.session)?)))
        else {
            return;
        };
        let session = Arc::clone(&open.session);
        let colour = shared.sessions.colour(pin.session, pin.case.setup);
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
        shared.jobs.spawn_for("pin", work, Self::take_pinned);
    }

    /// The samples of a case were made into charts.
    fn take_pinned(&mut self, pinned: Option<Pinned>, _shared: &mut Shared) {
        if let Some(pinned) = pinned.filter(|pinned| self.pin == Some(pinned.pin)) {
            self.pinned = Some(Arc::new(pinned));
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
        modes::modes_text(case),
        run_phases::phases_text(case),
        run_phases::training_text(case),
    ];
    facts
        .chain(counted)
        .chain(phases.into_iter().flatten())
        .collect()
}
