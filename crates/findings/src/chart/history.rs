//! One case over time: a point for each session, with its interval, its levels, and a label where it changed.

use super::axis::{self, TimeUnit};
use super::spec::{Axis, ChartPoint, ChartSpec, Mark, Series, SeriesId, Stroke};
use crate::analysis::history::History;
use crate::analysis::verdict::Call;
use powerband_core::base::humanize;
use powerband_core::stats::levels::FEWEST_IN_LEVEL;

/// So many days are written below the axis at most.
const MOST_TICKS: usize = 8;
/// The same of a small chart.
const MOST_SMALL_TICKS: usize = 3;
/// A day so far along the axis of a small chart would reach beyond it.
const LAST_SMALL_TICK: f64 = 0.85;
/// Of a session's notes so many characters stand beside its point.
const MOST_OF_NOTES: usize = 32;
/// A level reaches beyond its first and last session by so much.
const HALF_STEP: f64 = 0.4;

/// The median of each session, oldest first and evenly spaced, because sessions come in clusters.
pub fn medians(history: &History, colour: usize) -> ChartSpec {
    let high = |point: &crate::analysis::history::HistoryPoint| {
        let median = point
            .row
            .latency_ns
            .as_ref()
            .map_or(0.0, |times| times.median);
        point
            .row
            .ci95_ns
            .map_or(median, |interval| interval.high.max(median))
    };
    let highest = history.points.iter().map(high).fold(0.0, f64::max);
    let unit = TimeUnit::for_largest(highest);
    let mut points = Vec::new();
    let mut marks = Vec::new();
    for (place, point) in history.points.iter().enumerate() {
        let Some(times) = &point.row.latency_ns else {
            continue;
        };
        let at = (place as f64, times.median / unit.ns);
        points.push(
            ChartPoint::new(at.0, at.1, place as u64).with_band(
                point
                    .row
                    .ci95_ns
                    .map(|interval| (interval.low / unit.ns, interval.high / unit.ns)),
            ),
        );
        if let Some(text) = change_text(history, place) {
            marks.push(Mark::Drop {
                at,
                series: SeriesId::ONLY,
                text,
                name: None,
                legend: None,
            });
        }
        // What is written of every session marks none of them.
        let before = place
            .checked_sub(1)
            .and_then(|before| history.points.get(before));
        if !point.notes.is_empty() && before.is_some_and(|before| before.notes != point.notes) {
            marks.push(Mark::Name {
                at,
                series: SeriesId::ONLY,
                text: humanize::shorten(&point.notes, MOST_OF_NOTES),
            });
        }
    }
    marks.extend(history.levels.iter().filter_map(|level| {
        let y = level.latency_ns / unit.ns;
        let [first, last] = [level.places.first()?, level.places.last()?];
        let through = vec![
            (*first as f64 - HALF_STEP, y),
            (*last as f64 + HALF_STEP, y),
        ];
        Some(Mark::Edge { through })
    }));
    ChartSpec {
        title: "Median latency".to_owned(),
        x: sessions_axis(history, MOST_TICKS),
        y: axis::from_zero(&format!("{} per batch", unit.name), highest / unit.ns),
        series: vec![Series::new(
            SeriesId::ONLY,
            "median",
            colour,
            Stroke::Curve,
            points,
        )],
        marks,
        ..ChartSpec::default()
    }
}

/// Where the level changed: by how much; where no level is known yet: the verdict.
fn change_text(history: &History, place: usize) -> Option<String> {
    if let Some(change) = history.changes.iter().find(|change| change.place == place) {
        return Some(format!("{} {}", change.ratio.speed_up_text(), change.call));
    }
    // The first sessions of a level are held against the one before, and the word at its beginning says it for them.
    let against = history.points.get(place)?.vs_earlier.as_ref()?;
    let call = against.verdict.call;
    let is_said = history.levels.iter().any(|level| {
        let is_among_first = level
            .places
            .iter()
            .take(FEWEST_IN_LEVEL)
            .any(|one| *one == place);
        let change = history
            .changes
            .iter()
            .find(|change| Some(&change.place) == level.places.first());
        is_among_first && change.is_some_and(|change| change.call == call)
    });
    let has_changed = matches!(call, Call::Faster | Call::Slower);
    (has_changed && !is_said).then(|| call.name().to_owned())
}

/// The same for a small chart of many: fewer days below the axis, none of them at its end.
pub fn small_medians(history: &History, colour: usize) -> ChartSpec {
    let mut spec = medians(history, colour);
    let mut axis = sessions_axis(history, MOST_SMALL_TICKS);
    let last = axis.low + (axis.high - axis.low) * LAST_SMALL_TICK;
    axis.ticks.retain(|tick| tick.at <= last);
    spec.x = axis;
    spec
}

fn sessions_axis(history: &History, most_ticks: usize) -> Axis {
    let has_commits = history.points.iter().all(|point| point.commit.is_some());
    let of_what = if has_commits { "commits" } else { "sessions" };
    let names = history.points.iter().map(|point| match &point.commit {
        Some(commit) if has_commits => commit.clone(),
        _ => humanize::short_moment(&point.created),
    });
    axis::places(&format!("{of_what}, oldest first"), 0, names, most_ticks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows::{self, CaseRow};
    use crate::analysis::history::{self, FollowedCase};
    use crate::analysis::testing::{measure_near, session};
    use powerband_core::domain::session::Session;

    #[test]
    fn a_point_for_each_session_and_a_word_where_it_changed() {
        let on = |day: u32, micros: u64| {
            let mut session = session(&["ort:cpu"], &[1]);
            session.created = format!("2030-01-{day:02}T00:00:00Z");
            measure_near(&mut session, 0, 1, micros);
            session
        };
        let sessions = [on(1, 2_000), on(2, 2_000), on(3, 4_000)];
        let rows: Vec<Vec<CaseRow>> = sessions.iter().map(case_rows::case_rows).collect();
        let pairs: Vec<(&Session, &[CaseRow])> = sessions
            .iter()
            .zip(rows.iter().map(Vec::as_slice))
            .collect();
        let history = history::case_history(
            &FollowedCase::new(
                &sessions[0],
                0,
                powerband_core::domain::point::Point::of_batch(1),
            ),
            &pairs,
        );
        let spec = medians(&history, 2);
        let ys: Vec<f64> = spec.series[0]
            .points
            .iter()
            .map(|point| point.y.round())
            .collect();
        assert_eq!(ys, [2.0, 2.0, 4.0]);
        assert_eq!(spec.marks.len(), 1);
        assert!(
            matches!(&spec.marks[0], Mark::Drop { at, text, .. } if at.0 == 2.0 && text == "slower")
        );
        assert_eq!(spec.x.ticks.len(), 3);
        assert_eq!(spec.x.title, "sessions, oldest first");
        let mut of_commits = history.clone();
        let mut points = of_commits.points.to_vec();
        for (point, commit) in points
            .iter_mut()
            .zip(["1a2b3c4d5", "2b3c4d5e6", "3c4d5e6f7"])
        {
            point.commit = Some(commit.to_owned());
        }
        of_commits.points = points.into();
        let axis = medians(&of_commits, 2).x;
        assert_eq!(axis.title, "commits, oldest first");
        assert_eq!(axis.ticks[2].text, "3c4d5e6f7");
        assert!(medians(&History::default(), 0).is_empty());
    }
}
