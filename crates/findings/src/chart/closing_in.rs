//! The ratio of two cases after each round, with its interval.

use super::axis;
use super::spec::{ChartPoint, ChartSpec, Mark, Series, SeriesId, Stroke};
use crate::analysis::closing_in::RoundRatio;
use crate::analysis::verdict::Call;

/// Rounds whose interval reaches further than so many times the last ratio are left out: they would flatten the others.
const FURTHEST: f64 = 2.0;
/// So many rounds are written below the axis at most.
const MOST_TICKS: usize = 12;

/// A point for each round, its interval as a band, and a word at the first round from which on the verdict stayed.
pub fn by_round(ratios: &[RoundRatio], colour: usize) -> ChartSpec {
    let Some(last) = ratios.last() else {
        return ChartSpec::default();
    };
    let reach = last.ratio.speed_up / FURTHEST..=last.ratio.speed_up * FURTHEST;
    let is_near = |one: &&RoundRatio| {
        let ends = one.ratio.ci95.map(|ci95| [ci95.low, ci95.high]);
        ends.is_some_and(|ends| ends.iter().all(|end| reach.contains(end)))
    };
    let ratios: Vec<&RoundRatio> = ratios.iter().filter(is_near).collect();
    let [first, _, ..] = ratios.as_slice() else {
        return ChartSpec::default();
    };
    // The word is that of the last round, or there is none.
    if !is_near(&last) {
        return ChartSpec::default();
    }
    let points: Vec<ChartPoint> = ratios
        .iter()
        .map(|one| {
            ChartPoint::new(
                f64::from(one.round + 1),
                one.ratio.speed_up,
                u64::from(one.round + 1),
            )
            .with_band(one.ratio.ci95.map(|ci95| (ci95.low, ci95.high)))
        })
        .collect();
    let ends = points.iter().filter_map(|point| point.band);
    let (lowest, highest) = ends.fold((1.0_f64, 1.0_f64), |(least, most), (low, high)| {
        (least.min(low), most.max(high))
    });
    let mut marks = vec![Mark::Level {
        y: 1.0,
        text: "no change".to_owned(),
    }];
    let stayed = ratios.iter().rev().take_while(|one| one.call == last.call);
    if last.call != Call::Inconclusive
        && let Some(settled) = stayed.last()
    {
        marks.push(Mark::Drop {
            at: (f64::from(settled.round + 1), settled.ratio.speed_up),
            series: SeriesId::ONLY,
            text: last.call.name().to_owned(),
            name: None,
            legend: None,
        });
    }
    ChartSpec {
        title: "Speed-up by round".to_owned(),
        x: axis::places(
            "rounds",
            first.round + 1,
            (first.round + 1..last.round + 2).map(|round| round.to_string()),
            MOST_TICKS,
        ),
        y: axis::between("times as fast", lowest, highest),
        series: vec![Series::new(
            SeriesId::ONLY,
            "speed-up",
            colour,
            Stroke::Curve,
            points,
        )],
        marks,
        ..ChartSpec::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_pair::Ratio;
    use powerband_core::stats::bootstrap::Interval;

    #[test]
    fn the_word_stands_where_the_verdict_stayed() {
        let after = |round: u32, half: f64, call| RoundRatio {
            round,
            ratio: Ratio {
                speed_up: 1.2,
                ci95: Some(Interval {
                    low: 1.2 / half,
                    high: 1.2 * half,
                }),
                rounds: round + 1,
                is_apart: false,
            },
            call,
        };
        let ratios = [
            after(1, 90.0, Call::Inconclusive),
            after(2, 1.1, Call::Faster),
            after(3, 1.3, Call::Inconclusive),
            after(4, 1.1, Call::Faster),
            after(5, 1.05, Call::Faster),
        ];
        let spec = by_round(&ratios, 3);
        assert!(
            matches!(&spec.marks[1], Mark::Drop { at, text, .. } if at.0 == 5.0 && text == "faster")
        );
        // A first interval beyond all bounds is left out, and the others stand as they are.
        let points = &spec.series[0].points;
        assert_eq!((points.len(), points[0].tag), (4, 3));
        assert_eq!(points[0].band, Some((1.2 / 1.1, 1.2 * 1.1)));
        assert!(by_round(&[], 0).is_empty());
        assert!(by_round(&ratios[..1], 0).is_empty());
        assert_eq!(by_round(&ratios[1..4], 0).marks.len(), 2);
        assert_eq!(by_round(&ratios[1..3], 0).marks.len(), 1);
    }
}
