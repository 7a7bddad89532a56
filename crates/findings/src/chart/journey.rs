//! Gains of optimisation steps: a bar with its interval for each, and a level at no change.

use std::collections::BTreeMap;

use super::axis;
use super::spec::{Axis, ChartPoint, ChartSpec, Mark, Series, SeriesId, Stroke};
use crate::analysis::comparison::CasePair;
use crate::analysis::journey::{Journey, StepResult};
use powerband_core::base::humanize;

/// Room above the highest bar for its number, as a share.
const FOR_WORDS: f64 = 0.1;
/// So many characters stand below all steps of a chart as wide as its page.
const CHARACTERS: usize = 80;
/// A name that is cut to fewer says nothing.
const FEWEST_CHARACTERS: usize = 9;
/// Width of a bar, in steps.
const BAR: f64 = 0.6;

/// The speed-up of each step over the last measured one before it.
pub fn vs_previous(journey: &Journey, colour: impl Fn(usize) -> usize) -> ChartSpec {
    let gain = |step: &StepResult| step.vs_previous.as_ref().and_then(Gain::from_pair);
    gains("vs. previous", journey, gain, colour)
}

/// The speed-up of each step over the first one.
pub fn vs_baseline(journey: &Journey, colour: impl Fn(usize) -> usize) -> ChartSpec {
    let gain = |step: &StepResult| step.vs_baseline.as_ref().and_then(Gain::from_pair);
    gains("vs. baseline", journey, gain, colour)
}

/// A ratio that can be drawn.
struct Gain {
    times: f64,
    band: Option<(f64, f64)>,
    words: String,
}

impl Gain {
    fn from_pair(pair: &CasePair) -> Option<Self> {
        let ratio = pair.ratio.filter(|ratio| ratio.speed_up.is_finite())?;
        let band = ratio.ci95.map(|interval| (interval.low, interval.high));
        Some(Self {
            times: ratio.speed_up,
            band: band.filter(|(low, high)| low.is_finite() && high.is_finite()),
            words: ratio.speed_up_text(),
        })
    }
}

/// A bar for each step that has a gain, in the colour of its setup. The axis begins at zero and always
/// holds the level; an interval of a step that was badly measured ends at the top of the axis, so that
/// the bars of the others stay readable.
fn gains(
    title: &str,
    journey: &Journey,
    gain: impl Fn(&StepResult) -> Option<Gain>,
    colour: impl Fn(usize) -> usize,
) -> ChartSpec {
    let mut of_setups: BTreeMap<usize, Vec<ChartPoint>> = BTreeMap::new();
    let (mut marks, mut values) = (Vec::new(), Vec::new());
    let (mut highest, mut highest_band) = (1.0_f64, 1.0_f64);
    for (place, step) in journey.steps.iter().enumerate() {
        let (x, setup) = ((place + 1) as f64, step.case.setup);
        if let Some(gain) = gain(step) {
            highest = highest.max(gain.times);
            highest_band = highest_band.max(gain.band.map_or(gain.times, |(_, high)| high));
            let top = gain
                .band
                .map_or(gain.times, |(_, high)| high.max(gain.times));
            values.push(Mark::Value {
                at: (x, top),
                text: gain.words,
            });
            of_setups
                .entry(setup)
                .or_default()
                .push(ChartPoint::new(x, gain.times, place as u64).with_band(gain.band));
        }
        if let Some(trouble) = step
            .why_not_measured
            .as_ref()
            .filter(|_| !step.is_waiting())
        {
            marks.push(Mark::Failed {
                x,
                series: SeriesId(setup as u64),
                colour: colour(setup),
                reason: format!("{} was not measured: {trouble}", step.title),
            });
        }
    }
    let reach = axis::upper_end(highest, highest_band);
    let y = axis::from_zero("times as fast", reach * (1.0 + FOR_WORDS));
    if !of_setups.is_empty() {
        let text = "no change".to_owned();
        marks.push(Mark::Level { y: 1.0, text });
    }
    marks.extend(values);
    ChartSpec {
        title: title.to_owned(),
        x: steps(journey),
        y,
        series: of_setups
            .into_iter()
            .map(|(setup, points)| {
                Series::new(
                    SeriesId(setup as u64),
                    name(journey, setup),
                    colour(setup),
                    Stroke::Bars,
                    points,
                )
            })
            .collect(),
        marks,
        limit: None,
        bar_width: BAR,
    }
}

/// A setup is called as its first step.
fn name(journey: &Journey, setup: usize) -> String {
    let mut steps = journey.steps.iter();
    let first = steps.find(|step| step.case.setup == setup);
    first.map_or_else(String::new, |step| step.title.clone())
}

/// The steps by number and name; by number alone where they are too many for names.
fn steps(journey: &Journey) -> Axis {
    let number = journey.steps.len();
    let titles: Vec<&str> = journey
        .steps
        .iter()
        .map(|step| step.title.as_str())
        .collect();
    // A ladder has two charts side by side.
    let all = if journey.is_ladder {
        CHARACTERS / 2
    } else {
        CHARACTERS
    };
    let width = all / number.max(1);
    let names = if width < FEWEST_CHARACTERS {
        vec![String::new(); number]
    } else {
        humanize::shorten_apart(&titles, width)
    };
    let names = (1..).zip(names);
    let names = names.map(|(step, name)| format!("{step} {name}").trim_end().to_owned());
    axis::places("step", 1, names.collect::<Vec<_>>().into_iter(), number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows;
    use crate::analysis::journey;
    use crate::analysis::testing::{make_ladder, measure_near, session};
    use powerband_core::domain::outcome::Outcome;

    fn compared_steps() -> Journey {
        let mut session = session(&["torch:cpu", "torch:cpu,mode=compile", "ort:cpu"], &[1]);
        make_ladder(&mut session);
        for (setup, micros) in [(0, 8_000), (2, 2_000)] {
            measure_near(&mut session, setup, 1, micros);
        }
        session.cases[1].outcome = Outcome::Unsupported {
            reason: "no C++ compiler".to_owned(),
        };
        journey::compare_steps(
            &session,
            &case_rows::case_rows(&session),
            powerband_core::domain::point::Point::of_batch(1),
        )
    }

    fn bars(spec: &ChartSpec) -> Vec<ChartPoint> {
        let points = spec.series.iter().flat_map(|series| &series.points);
        points.copied().collect()
    }

    #[test]
    fn a_bar_for_each_gain_and_a_mark_where_a_step_failed() {
        let spec = vs_previous(&compared_steps(), |setup| setup + 4);
        let bars = bars(&spec);
        assert_eq!(bars.len(), 1, "the start has none");
        assert_eq!((bars[0].x, bars[0].tag), (3.0, 2));
        assert!((bars[0].y - 4.0).abs() < 1e-3 && bars[0].band.is_some());
        assert_eq!(spec.series[0].colour, 6, "the setup's");
        assert!(spec.y.low == 0.0 && spec.y.high > bars[0].band.unwrap().1);
        let failed = spec.marks.iter().find_map(|mark| match mark {
            Mark::Failed { x, reason, .. } => Some((*x, reason.clone())),
            _ => None,
        });
        let (x, reason) = failed.unwrap();
        assert!(x == 2.0 && reason.ends_with("no C++ compiler"), "{reason}");
        let level = |mark: &Mark| matches!(mark, Mark::Level { y: 1.0, .. });
        assert!(spec.marks.iter().any(level));
        let ticks: Vec<&str> = spec.x.ticks.iter().map(|tick| tick.text.as_str()).collect();
        assert_eq!(ticks, ["1 torch:cpu", "2 torch:…ompile", "3 ort:cpu"]);
    }

    #[test]
    fn a_step_that_is_still_to_come_has_no_mark() {
        let session = session(&["torch:cpu", "ort:cpu"], &[1]);
        let journey = journey::compare_steps(
            &session,
            &case_rows::case_rows(&session),
            powerband_core::domain::point::Point::of_batch(1),
        );
        assert!(vs_baseline(&journey, |setup| setup).is_empty());
        assert!(vs_previous(&Journey::default(), |setup| setup).is_empty());
    }

    #[test]
    fn an_absurd_interval_leaves_the_bars_readable() {
        let mut journey = compared_steps();
        let pair = journey.steps[2].vs_baseline.as_mut().unwrap();
        let interval = pair.ratio.as_mut().unwrap().ci95.as_mut().unwrap();
        (interval.low, interval.high) = (1e-6, 1e9);
        let spec = vs_baseline(&journey, |setup| setup);
        assert!((4.0..10.0).contains(&spec.y.high), "{}", spec.y.high);
        interval_is_whole(&spec);
        let ratio = journey.steps[2]
            .vs_baseline
            .as_mut()
            .unwrap()
            .ratio
            .as_mut();
        ratio.unwrap().speed_up = f64::INFINITY;
        assert!(bars(&vs_baseline(&journey, |setup| setup)).is_empty());
    }

    /// The axis is clipped, the interval itself is unchanged.
    fn interval_is_whole(spec: &ChartSpec) {
        assert_eq!(bars(spec)[0].band, Some((1e-6, 1e9)));
    }
}
