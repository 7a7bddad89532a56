//! Student's t: how much wider an interval from few rounds must be.

use statrs::distribution::{Continuous as _, ContinuousCDF as _, StudentsT};

use super::summary::{mean, standard_deviation};

/// The value that Student's t with so many degrees of freedom exceeds in 2.5 % of all cases, so that
/// ± it holds 95 %. Infinite for less than half a degree of freedom, where nothing can be said.
pub(crate) fn t975(freedom: f64) -> f64 {
    quantile(0.975, freedom)
}

/// The same for 0.5 %: ± it holds 99 %.
pub(crate) fn t995(freedom: f64) -> f64 {
    quantile(0.995, freedom)
}

/// The value below which so much of Student's t lies.
pub(crate) fn quantile(p: f64, freedom: f64) -> f64 {
    if !freedom.is_finite() || freedom < 0.5 {
        return f64::INFINITY;
    }
    let Ok(student) = StudentsT::new(0.0, 1.0, freedom) else {
        return f64::INFINITY;
    };
    let mut t = student.inverse_cdf(p);
    // The library's inverse is good to a few digits; Newton's method makes it exact.
    for _ in 0..4 {
        let step = (student.cdf(t) - p) / student.pdf(t);
        if !step.is_finite() {
            break;
        }
        t -= step;
    }
    t
}

/// Welch's degrees of freedom of a difference of means, of the squared error of each and how many values it has; all of
/// them where nothing scatters.
pub(crate) fn welch_freedom((a, n): (f64, f64), (b, m): (f64, f64)) -> f64 {
    if a + b > 0.0 {
        (a + b).powi(2) / (a.powi(2) / (n - 1.0) + b.powi(2) / (m - 1.0))
    } else {
        n + m - 2.0
    }
}

/// The mean of the second values less that of the first, and half its interval, by Welch, outside of which it is with
/// this chance; nothing where a side has fewer than two.
pub fn difference(first: &[f64], second: &[f64], outside: f64) -> Option<(f64, f64)> {
    let moments = |values: &[f64]| {
        let centre = mean(values)?;
        let n = values.len() as f64;
        let error = standard_deviation(values, centre)?.powi(2) / n;
        Some((centre, error, n))
    };
    let ((from, a, n), (to, b, m)) = (moments(first)?, moments(second)?);
    let freedom = welch_freedom((a, n), (b, m));
    let t = quantile(1.0 - outside / 2.0, freedom);
    Some((to - from, t * (a + b).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_equal_scipys() {
        // scipy.stats.t.ppf(0.975, freedom)
        for (freedom, expected) in [
            (1.0, 12.706_204_736_174_694),
            (2.0, 4.302_652_729_749_462),
            (4.0, 2.776_445_105_197_793),
            (5.3, 2.527_427_788_268_117),
            (9.0, 2.262_157_162_798_205),
            (30.0, 2.042_272_456_301_238),
            (1000.0, 1.962_339_080_826_408),
        ] {
            let t = t975(freedom);
            assert!((t / expected - 1.0).abs() < 1e-9, "{freedom}: {t}");
        }
        // scipy.stats.t.ppf(0.995, freedom)
        for (freedom, expected) in [
            (4.0, 4.604_094_871_349_992),
            (7.0, 3.499_483_297_350_492_4),
            (1e6, 2.575_834_220_105_334_4),
        ] {
            let t = t995(freedom);
            assert!((t / expected - 1.0).abs() < 1e-9, "{freedom}: {t}");
        }
        assert!(t975(0.0).is_infinite() && t975(f64::NAN).is_infinite());
    }
}
