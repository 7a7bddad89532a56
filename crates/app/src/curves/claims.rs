//! Published numbers on the curves screen: their curves under the measured ones, their tables, and what
//! does not add up in any open session.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::LegendEntry;
use crate::sessions::{self, Claims, OpenSession, OpenSessions, Pin};
use powerband_core::base::humanize;
use powerband_findings::analysis::claims::{PUBLISHED_MARK, PublishedCurve};
use powerband_findings::analysis::lint::LintFinding;
use powerband_findings::chart::claims::PublishedOverlay;
use powerband_findings::chart::spec::SeriesId;

/// Published curves are numbered from here on, beyond all setups of a plan.
const FIRST: usize = 1 << 19;

/// What does not add up, in words to be copied: as `powerband check` prints it.
pub fn text(session: &OpenSession, findings: &[LintFinding]) -> String {
    powerband_findings::export::claims::text(&session.session, findings)
}

/// Whether a series was published, not measured.
pub fn is_published(id: SeriesId) -> bool {
    sessions::of_series(id).1 >= FIRST
}

/// One entry for each published curve of all that is open. Each session's are counted on from its measured
/// ones, so that no two look alike and the session's own mark is that of its first.
pub fn legend(
    open: &OpenSessions,
    hidden: &BTreeSet<SeriesId>,
    is_open_load: bool,
) -> Vec<LegendEntry> {
    let curves = open.iter().flat_map(|session| {
        let curves = session.findings.claims.curves.iter().enumerate();
        curves.map(move |(place, curve)| (session, place, curve))
    });
    let entries = curves.map(|(session, place, curve)| {
        let id = sessions::series(session.id, FIRST + place);
        LegendEntry {
            id,
            name: format!("{}, published", curve.label),
            colour: open.colour_of_published(session, place),
            model: 0,
            shown: !is_open_load && !hidden.contains(&id),
            is_apart: is_open_load,
            explained: source_text(session, curve),
        }
    });
    entries.collect()
}

fn source_text(session: &OpenSession, curve: &PublishedCurve) -> String {
    let points = humanize::pluralised(curve.points.len() as u64, "batch size");
    format!("{PUBLISHED_MARK}: {points} of {}", session.session.name)
}

/// The published curves that are shown, as they are laid under the charts.
pub(crate) fn published_underlays<'a>(
    entries: &[&LegendEntry],
    open: &'a OpenSessions,
) -> Vec<PublishedOverlay<'a>> {
    let under = entries.iter().filter_map(|entry| {
        Some(PublishedOverlay {
            id: entry.id,
            name: entry.name.clone(),
            colour: entry.colour,
            curve: curve(open, entry.id)?.1,
        })
    });
    under.collect()
}

fn curve(open: &OpenSessions, id: SeriesId) -> Option<(&OpenSession, &PublishedCurve)> {
    let (session, place) = sessions::of_series(id);
    let session = open.get(session)?;
    let place = place.checked_sub(FIRST)?;
    Some((session, session.findings.claims.curves.get(place)?))
}

/// Facts of a published point as names and values; one without a name is a sentence. `None` for a measured
/// point.
pub fn pin_details(open: &OpenSessions, pin: Pin) -> Option<Vec<(String, String)>> {
    let id = sessions::series(pin.session, pin.case.setup);
    let (session, curve) = curve(open, id)?;
    let point = curve
        .points
        .iter()
        .find(|point| point.batch == pin.case.point.batch())?;
    let unknown = || humanize::UNKNOWN.to_owned();
    let latency = point.latency_ns.map_or_else(unknown, humanize::duration_ns);
    let rate = point.throughput_per_s.map_or_else(unknown, |rate| {
        format!("{} /s", humanize::significant(rate, 4))
    });
    let named = [
        ("Setup", curve.label.clone()),
        ("Batch", humanize::count(point.batch as u64)),
        ("Latency", latency),
        ("Throughput", rate),
        ("", format!("{PUBLISHED_MARK}: {}", session.session.name)),
    ];
    Some(
        named
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
}

/// Every open session that has something to show here.
pub fn shown(open: &OpenSessions) -> impl Iterator<Item = (&OpenSession, Arc<Claims>)> {
    open.iter()
        .filter(|session| !session.findings.claims.is_empty())
        .map(|session| (session, Arc::clone(&session.findings.claims)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curves::CurvesState;
    use crate::sessions::SessionId;
    use powerband_core::domain::case::CaseKey;
    use powerband_core::domain::point::Point;
    use powerband_findings::chart::spec::Stroke;
    use powerband_store::examples;

    fn opened(files: &[&str]) -> OpenSessions {
        let mut open = OpenSessions::default();
        for file in files {
            let example = examples::ALL.iter().find(|example| example.file == *file);
            let session = example.unwrap().open().unwrap().session;
            let id = open.new_id();
            open.put(OpenSession::from_session(id, session));
        }
        open
    }

    #[test]
    fn published_curves_lie_under_ones_own_and_nowhere_else() {
        let open = opened(&[
            "resnet50-two-engines.ron",
            "published-aitemplate-resnet50.ron",
        ]);
        let mut state = CurvesState::default();
        state.redraw(&open);
        let drawn = &state.drawn;
        assert_eq!(drawn.legend.len(), 2 + 6);
        assert!(drawn.legend[7].name.ends_with(", published"));
        let colours: BTreeSet<usize> = drawn.legend.iter().map(|entry| entry.colour).collect();
        assert_eq!(colours.len(), 8, "no two look alike");
        let published = open.iter().last().unwrap();
        assert!(published.is_hollow());
        assert_eq!(open.colour(published.id, 0), drawn.legend[2].colour);
        for chart in [&drawn.latency, &drawn.throughput] {
            let published = |stroke| chart.series.iter().filter(|s| s.stroke == stroke).count();
            assert_eq!(
                (published(Stroke::Published), published(Stroke::Curve)),
                (6, 2)
            );
        }
        assert_eq!(drawn.efficiency.series.len(), 2);
        let rows = open.iter().map(|open| (open.id, open.findings.rows.len()));
        let rows: Vec<_> = rows.filter(|(_, rows)| *rows > 0).collect();
        assert_eq!(rows, [(SessionId(1), 8)], "what was published is no case");
    }

    #[test]
    fn a_published_point_tells_its_numbers() {
        let open = opened(&["published-resnet50-case-study.ron"]);
        let mut state = CurvesState::default();
        state.redraw(&open);
        assert_eq!(state.drawn.latency.y.title, "ms per batch");
        let pin = Pin {
            session: SessionId(1),
            case: CaseKey {
                setup: FIRST,
                point: Point::of_batch(32),
            },
        };
        let said = pin_details(&open, pin).unwrap();
        assert_eq!(said[2].1, "18.5 ms");
        assert_eq!(said[3].1, "1,730 /s");
        assert!(said[4].1.contains(PUBLISHED_MARK));
        let measured = Pin {
            case: CaseKey {
                setup: 0,
                point: Point::of_batch(1),
            },
            ..pin
        };
        assert_eq!(pin_details(&open, measured), None);
        let (session, found) = shown(&open).next().unwrap();
        assert_eq!((session.id, found.findings.len()), (SessionId(1), 2));
    }
}
