//! The best batch of each series within the latency limit, or why there is none.

use crate::sessions::{self, Pin};
use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point;
use powerband_findings::analysis::batch_curve::{BatchCurve, CurvePoint, Statistic};
use powerband_findings::analysis::case_rounds::JointDraws;
use powerband_findings::chart::curves::Overlay;

/// The best batch of one series under the limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// The name of its series.
    pub name: String,
    /// Its palette index.
    pub colour: usize,
    /// The case and its text; `None` where no batch is within the limit. Where several may be the best, all are in
    /// the text, and the case is the most likely one.
    pub case: Option<(Pin, String, String)>,
    /// Why there is none, or what may be better, in a sentence; empty where there is nothing to say.
    pub note: String,
}

/// The best batch of each series within the limit.
pub fn best_batches(overlays: &[Overlay<'_>], limit_ns: f64, statistic: Statistic) -> Vec<Best> {
    let mut joint = JointDraws::default();
    let best = |overlay: &Overlay<'_>| {
        let found = overlay.curve.best_within(limit_ns, statistic, &mut joint);
        let (session, setup) = sessions::of_series(overlay.id);
        let text = found.best.and_then(|best| {
            let points = best.candidates();
            let point = points.first()?.point;
            let name = humanize::capitalised(&point::list(points.iter().map(|one| one.point)));
            let text = match best.settled() {
                Some(point) => point_text(point, statistic),
                None => "which is the best is not settled".to_owned(),
            };
            let case = CaseKey { setup, point };
            Some((Pin { session, case }, name, text))
        });
        let perhaps = found.perhaps.first();
        Best {
            name: overlay.name.clone(),
            colour: overlay.colour,
            note: match (perhaps, &text) {
                (Some((point, end)), _) => uncertain_text(point, *end, statistic),
                (None, Some(_)) => String::new(),
                (None, None) => why_not(overlay.curve, statistic),
            },
            case: text,
        }
    };
    overlays.iter().map(best).collect()
}

fn point_text(point: &CurvePoint, statistic: Statistic) -> String {
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

/// A batch that may be within the limit: its latency is, and the end of its interval is not.
fn uncertain_text(point: &CurvePoint, end_ns: Option<f64>, statistic: Statistic) -> String {
    let statistic = statistic.noun();
    let point = humanize::capitalised(&point.point.to_string());
    match end_ns {
        Some(end) => format!(
            "{point} may be within the limit: its {statistic} is up to {}.",
            humanize::duration_ns(end)
        ),
        None => {
            format!("{point} may be within the limit: one round does not show how rounds differ.")
        }
    }
}

fn why_not(curve: &BatchCurve, statistic: Statistic) -> String {
    let points = &curve.points;
    if points.is_empty() {
        "Nothing was measured.".to_owned()
    } else if points
        .iter()
        .all(|point| point.latency_ns(statistic).is_none())
    {
        format!("No batch has a {}.", statistic.noun())
    } else {
        "No batch is within the limit.".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_findings::analysis::testing::{
        end_case, measure, measure_near, out_of_memory, session,
    };
    use powerband_findings::analysis::{batch_curve, case_rows};
    use powerband_findings::chart::spec::SeriesId;

    #[test]
    fn where_there_is_none_it_says_why() {
        let mut session = session(&["ort:cpu", "tract:cpu"], &[1, 2]);
        for batch in [1, 2] {
            measure_near(&mut session, 0, batch, 5_000 * batch as u64);
            end_case(&mut session, 1, batch, out_of_memory());
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
                .map(|best| best.case.map_or(best.note, |(_, point, _)| point))
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

    #[test]
    fn a_median_within_the_limit_by_its_interval_alone_is_not_called_within() {
        let mut session = session(&["ort:cpu"], &[1, 2]);
        measure_near(&mut session, 0, 1, 50_000);
        let rounds =
            [96_000, 60_000, 96_000, 150_000, 40_000].map(|micros: u64| vec![micros * 1_000; 9]);
        let rounds: Vec<&[u64]> = rounds.iter().map(Vec::as_slice).collect();
        measure(&mut session, 0, 2, &rounds);
        let curves = batch_curve::batch_curves(&case_rows::case_rows(&session));
        let overlay = Overlay {
            id: SeriesId(0),
            name: String::new(),
            colour: 0,
            curve: &curves[0],
        };
        // 96.0 ms within 96.2 ms, give or take a factor of two.
        let best = best_batches(&[overlay], 96.2e6, Statistic::Median).remove(0);
        let (_, point, text) = best.case.unwrap();
        assert_eq!(
            (point.as_str(), text.as_str()),
            ("Batch 1", "50.0 ms, 20.0 items/s")
        );
        let expected = "Batch 2 may be within the limit: its median is up to ";
        assert!(best.note.starts_with(expected), "{}", best.note);
    }
}
