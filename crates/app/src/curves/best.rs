//! The best batch of each series within the latency limit, or why there is none.

use crate::sessions::{self, Pin};
use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_core::domain::case::CaseKey;
use powerband_findings::analysis::batch_curve::{BatchCurve, CurvePoint, Statistic};
use powerband_findings::chart::curves::Overlay;

/// The best batch of one series under the limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// Whose.
    pub name: String,
    /// Its palette index.
    pub colour: usize,
    /// The case and its text; `None` where no batch is within the limit.
    pub case: Option<(Pin, String, String)>,
    /// Why there is none, in a sentence.
    pub why_not: String,
}

/// That of each series.
pub fn best_batches(overlays: &[Overlay<'_>], limit_ns: f64, statistic: Statistic) -> Vec<Best> {
    let best = |overlay: &Overlay<'_>| {
        let point = overlay.curve.best_within(limit_ns, statistic);
        let (session, setup) = sessions::of_series(overlay.id);
        Best {
            name: overlay.name.clone(),
            colour: overlay.colour,
            case: point.map(|point| {
                let case = CaseKey {
                    setup,
                    point: point.point,
                };
                (
                    Pin { session, case },
                    humanize::capital(&point.point.to_string()),
                    words(point, statistic),
                )
            }),
            why_not: why_not(overlay.curve, statistic),
        }
    };
    overlays.iter().map(best).collect()
}

fn words(point: &CurvePoint, statistic: Statistic) -> String {
    let latency = point.latency_ns(statistic);
    let latency = latency.map(humanize::duration_ns);
    let rate = point.throughput_per_s.map(humanize::value);
    let unknown = || UNKNOWN.to_owned();
    format!(
        "{}, {} items/s",
        latency.unwrap_or_else(unknown),
        rate.unwrap_or_else(unknown)
    )
}

fn why_not(curve: &BatchCurve, statistic: Statistic) -> String {
    let points = &curve.points;
    if points.is_empty() {
        "Nothing was measured.".to_owned()
    } else if points
        .iter()
        .all(|point| point.latency_ns(statistic).is_none())
    {
        format!("No batch has a {}.", statistic.to_string().to_lowercase())
    } else {
        "No batch is within the limit.".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_findings::analysis::testing::{end, measure_near, out_of_memory, session};
    use powerband_findings::analysis::{batch_curve, case_rows};
    use powerband_findings::chart::spec::SeriesId;

    #[test]
    fn where_there_is_none_it_says_why() {
        let mut session = session(&["ort:cpu", "tract:cpu"], &[1, 2]);
        for batch in [1, 2] {
            measure_near(&mut session, 0, batch, 5_000 * batch as u64);
            end(&mut session, 1, batch, out_of_memory());
        }
        let curves = batch_curve::batch_curves(&case_rows::case_rows(&session));
        let overlays: Vec<Overlay<'_>> = curves
            .iter()
            .map(|curve| Overlay {
                id: SeriesId(curve.setup as u64),
                name: curve.label.clone(),
                colour: curve.setup,
                curve,
            })
            .collect();
        let said = |limit_ns: f64, statistic: Statistic| -> Vec<String> {
            let found = best_batches(&overlays, limit_ns, statistic).into_iter();
            found
                .map(|best| best.case.map_or(best.why_not, |(_, point, _)| point))
                .collect()
        };
        assert_eq!(
            said(6e6, Statistic::Median),
            ["Batch 1", "Nothing was measured."]
        );
        assert_eq!(
            said(1e6, Statistic::Median)[0],
            "No batch is within the limit."
        );
        assert_eq!(said(6e6, Statistic::P99)[0], "No batch has a p99.");
    }
}
