//! What a session measured, in the form of what is published, so that the same checks apply.
//!
//! Left out is whatever a flag says already: throughput against the median, and the gain of replicas. Figures
//! that other programs report are left out too, because many of them serve several requests at a time, and
//! then time and rate do not multiply.

use crate::analysis::run_phases;
use powerband_core::base::humanize;
use powerband_core::domain::accuracy::{Accuracy, HitCount};
use powerband_core::domain::case::Case;
use powerband_core::domain::claim::{
    ClaimMetric, ClaimedFigure, ClaimedPart, ClaimedPhases, Published,
};
use powerband_core::domain::session::Session;
use powerband_core::domain::written::Written;
use powerband_core::stats::summary::median;

/// What can be checked of it.
pub(super) fn measured_as_published(session: &Session) -> Published {
    Published {
        phases: session
            .cases
            .iter()
            .filter_map(|case| phases(session, case))
            .collect(),
        figures: session
            .accuracies
            .iter()
            .flat_map(|(&setup, accuracy)| accuracies(&session.setup_label(setup), accuracy))
            .collect(),
        ..Published::default()
    }
}

/// Medians add up about, and not to the last digit.
fn about_ms(ns: f64) -> Option<Written> {
    let text = humanize::significant(ns / 1e6, 4);
    format!("~{text}").parse().ok()
}

fn phases(session: &Session, case: &Case) -> Option<ClaimedPhases> {
    let samples: Vec<f64> = case.samples_ns().map(|ns| ns as f64).collect();
    let rows = run_phases::phase_rows(case);
    let whole = rows.iter().filter(|row| row.is_named());
    let portions: Option<Vec<ClaimedPart>> = whole
        .map(|row| {
            Some(ClaimedPart {
                name: row.name.clone(),
                value: about_ms(row.median_ns)?,
            })
        })
        .collect();
    // In a measured run a rest is normal; only too much is not.
    let parts = portions.filter(|parts| !parts.is_empty())?;
    let total = about_ms(median(&samples)?)?;
    let sum: f64 = parts.iter().map(|part| part.value.value()).sum();
    (sum > total.value()).then(|| ClaimedPhases {
        of: format!("{} {}", session.setup_label(case.setup), case.point),
        batch: Some(case.point.batch()),
        unit: "ms".to_owned(),
        total,
        parts,
    })
}

fn accuracies(setup: &str, accuracy: &Accuracy) -> Vec<ClaimedFigure> {
    // With few inputs all may be right.
    let figure = |hits: Option<HitCount>, note: &str| {
        let share = hits?.share().filter(|share| *share < 1.0)?;
        Some(ClaimedFigure {
            metric: ClaimMetric::Accuracy,
            subject: setup.to_owned(),
            value: format!("{:.3}", share * 100.0).parse().ok()?,
            unit: "%".to_owned(),
            batch: None,
            extreme: None,
            note: note.to_owned(),
        })
    };
    [
        figure(accuracy.top1, "top-1"),
        figure(accuracy.top5, "top-5"),
    ]
    .into_iter()
    .flatten()
    .collect()
}
