//! The models of what is drawn: which series are of which, and charts for each of them.

use super::LegendEntry;
use crate::sessions::{self, OpenSessions};
use powerband_findings::analysis::models::{SetupModel, distinct_models};
use powerband_findings::chart::spec::{ChartSpec, SeriesId};

/// A model, and the series that are of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelGroup {
    /// What the model is called.
    pub name: String,
    /// Its series, shown or not.
    pub series: Vec<SeriesId>,
    /// Whether any of them is drawn.
    pub is_shown: bool,
}

/// The charts of one model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCharts {
    /// What the model is called.
    pub name: String,
    /// Latency against batch size.
    pub latency: ChartSpec,
    /// Throughput against batch size.
    pub throughput: ChartSpec,
    /// Efficiency against batch size.
    pub efficiency: ChartSpec,
}

/// Puts the series of a model beside each other, and says which they are.
pub(super) fn group(open: &OpenSessions, legend: &mut [LegendEntry]) -> Vec<ModelGroup> {
    let model = |entry: &LegendEntry| {
        let (session, setup) = sessions::of_series(entry.id);
        let open = open.get(session)?;
        Some(SetupModel::of_setup(&open.session, setup))
    };
    let (models, places) = distinct_models(legend.iter().filter_map(model));
    for (entry, place) in legend.iter_mut().zip(places) {
        entry.model = place;
    }
    legend.sort_by_key(|entry| entry.model);
    let models = models.into_iter().enumerate();
    let group = |(place, model): (usize, SetupModel)| {
        let own = legend.iter().filter(|entry| entry.model == place);
        ModelGroup {
            name: model.name,
            series: own.clone().map(|entry| entry.id).collect(),
            is_shown: own.clone().any(|entry| entry.shown),
        }
    };
    models.map(group).collect()
}

/// Whether the series of one model are drawn and of no other.
pub fn is_alone(models: &[ModelGroup], place: usize) -> bool {
    let mut models = models.iter().enumerate();
    models.all(|(other, model)| model.is_shown == (other == place))
}
