//! Which share of a colour scale a value has, and how values are written on it and in cells.

use powerband_core::base::humanize;

/// Values that are further apart than this have a logarithmic scale: on a linear one the small ones would all
/// look alike.
const FAR_APART: f64 = 8.0;
/// A scale of ratios reaches at least so far to both sides, so that noise does not look like a change.
const LEAST_RATIO: f64 = 1.25;
/// Labels of a scale.
const TICKS: usize = 5;

/// How a value becomes a colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScaleKind {
    /// Equal steps for equal differences.
    #[default]
    Linear,
    /// Equal steps for equal ratios.
    Logarithmic,
    /// A ratio around 1, which is in the middle.
    Ratio,
    /// A share of the limit: one colour up to 1, another one beyond.
    Limit,
}

/// What the colours mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColourScale {
    /// What it measures, with its unit: `ms per batch`.
    pub title: String,
    /// How a value becomes a colour.
    pub kind: ScaleKind,
    /// The smallest value.
    pub low: f64,
    /// The largest value.
    pub high: f64,
}

impl ColourScale {
    /// The scale of some values.
    pub fn from_values(title: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let values = values.into_iter().filter(|value| value.is_finite());
        let (low, high) = values.fold(ends, |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 0.0) };
        let is_far_apart = low > 0.0 && high / low > FAR_APART;
        Self {
            title: title.to_owned(),
            kind: if is_far_apart {
                ScaleKind::Logarithmic
            } else {
                ScaleKind::Linear
            },
            low,
            high,
        }
    }

    /// The scale of ratios, as wide to both sides.
    pub fn of_ratios(title: &str, ratios: impl IntoIterator<Item = f64>) -> Self {
        let ratios = ratios.into_iter();
        let reach = ratios
            .filter(|ratio| ratio.is_finite() && *ratio > 0.0)
            .map(|ratio| ratio.max(1.0 / ratio))
            .fold(LEAST_RATIO, f64::max);
        Self {
            title: title.to_owned(),
            kind: ScaleKind::Ratio,
            low: 1.0 / reach,
            high: reach,
        }
    }

    /// The scale of shares of the limit.
    pub fn of_limit(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            kind: ScaleKind::Limit,
            low: 0.0,
            high: 2.0,
        }
    }

    /// Where a value is from the lowest to the highest, from 0 to 1; the middle where there is but one value.
    pub fn share(&self, value: f64) -> f64 {
        let share = match self.kind {
            ScaleKind::Linear => (value - self.low) / (self.high - self.low),
            ScaleKind::Logarithmic | ScaleKind::Ratio => {
                (value / self.low).ln() / (self.high / self.low).ln()
            }
            ScaleKind::Limit => f64::from(u8::from(value > 1.0)),
        };
        if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            0.5
        }
    }

    /// The value of a share.
    fn value(&self, share: f64) -> f64 {
        match self.kind {
            ScaleKind::Linear | ScaleKind::Limit => self.low + (self.high - self.low) * share,
            ScaleKind::Logarithmic | ScaleKind::Ratio => {
                self.low * (self.high / self.low).powf(share)
            }
        }
    }

    /// Labels of the scale by their shares, ascending; one where there is but one value.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        if self.kind == ScaleKind::Limit {
            return Vec::new();
        }
        // The title says that they are ratios.
        if self.low >= self.high {
            return vec![(0.5, humanize::value(self.low))];
        }
        let last = (TICKS - 1) as f64;
        let shares = (0..TICKS).map(|place| place as f64 / last);
        shares
            .map(|share| (share, humanize::value(self.value(share))))
            .collect()
    }

    /// A value as it stands in a cell, with three significant digits: its unit is in the title of the scale.
    pub fn text(&self, value: f64) -> String {
        match self.kind {
            ScaleKind::Linear | ScaleKind::Logarithmic => humanize::value(value),
            ScaleKind::Ratio => humanize::ratio(value),
            ScaleKind::Limit => humanize::percent(value),
        }
    }

    /// A value with its unit.
    pub fn text_with_unit(&self, value: f64) -> String {
        let text = self.text(value);
        match self.kind {
            ScaleKind::Linear | ScaleKind::Logarithmic => format!("{text} {}", self.title),
            ScaleKind::Ratio => format!("{text} as fast"),
            ScaleKind::Limit => format!("{text} of the limit"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_far_apart_are_on_a_logarithmic_scale() {
        let near = ColourScale::from_values("ms", [1.0, 3.0, 5.0]);
        assert_eq!((near.kind, near.share(3.0)), (ScaleKind::Linear, 0.5));
        let far = ColourScale::from_values("ms", [1.0, 100.0]);
        assert_eq!(far.kind, ScaleKind::Logarithmic);
        assert!((far.share(10.0) - 0.5).abs() < 1e-12);
        let texts: Vec<String> = far.ticks().into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["1.00", "3.16", "10.0", "31.6", "100"]);
    }

    #[test]
    fn one_value_and_none_have_a_colour() {
        let one = ColourScale::from_values("ms", [7.0, 7.0]);
        assert_eq!(one.share(7.0), 0.5);
        assert_eq!(one.ticks(), [(0.5, "7.00".to_owned())]);
        let none = ColourScale::from_values("ms", [f64::NAN]);
        assert_eq!(none.share(3.0), 0.5);
    }

    #[test]
    fn ratios_are_as_wide_to_both_sides() {
        let scale = ColourScale::of_ratios("times as fast", [0.5, 1.4]);
        assert_eq!((scale.low, scale.high), (0.5, 2.0));
        assert!((scale.share(1.0) - 0.5).abs() < 1e-12);
        let small = ColourScale::of_ratios("times as fast", [1.001]);
        assert!((small.high - LEAST_RATIO).abs() < 1e-12);
        assert_eq!(small.text(1.001), "1.00 ×");
        let middle = &scale.ticks()[2];
        assert_eq!(middle.1, "1.00");
    }

    #[test]
    fn within_the_limit_is_one_colour_and_beyond_it_another() {
        let scale = ColourScale::of_limit("of the limit");
        assert_eq!((scale.share(0.2), scale.share(1.0)), (0.0, 0.0));
        assert_eq!(scale.share(1.01), 1.0);
        assert_eq!(scale.text_with_unit(0.82), "82.0 % of the limit");
    }
}
