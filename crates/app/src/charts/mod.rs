//! What is seen of the charts after zooming: the same for every chart of every screen.
//!
//! A chart that can be zoomed is known by its name on its screen. What it shows is in its own coordinates, so it
//! stays what it is while a running measurement redraws the chart.

pub(crate) mod action;
pub(crate) mod commands;
mod update;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::screen::Screen;
use powerband_findings::chart::view::ChartView;

/// What is seen of each chart of a screen that is zoomed, by the chart's name.
pub type Views = BTreeMap<String, ChartView>;

/// The zoomed charts.
#[derive(Debug, Default)]
pub struct ChartsState {
    views: BTreeMap<Screen, Arc<Views>>,
}

impl ChartsState {
    /// Those of a screen.
    pub fn views(&self, screen: Screen) -> Arc<Views> {
        self.views.get(&screen).cloned().unwrap_or_default()
    }

    /// Whether any chart of a screen is zoomed.
    pub(crate) fn is_zoomed(&self, screen: Screen) -> bool {
        self.views
            .get(&screen)
            .is_some_and(|views| !views.is_empty())
    }

    /// Shows part of a chart, or all of it.
    pub(crate) fn set_view(&mut self, screen: Screen, chart: String, view: Option<ChartView>) {
        let views = Arc::make_mut(self.views.entry(screen).or_default());
        match view {
            Some(view) => views.insert(chart, view),
            None => views.remove(&chart),
        };
    }

    /// Shows all of every chart of a screen.
    pub(crate) fn look_at_all(&mut self, screen: Screen) {
        self.views.remove(&screen);
    }
}
