//! The area under readings that came at uneven times.

/// The area under straight lines between readings `(x, y)`, ascending in x, from one place to another.
///
/// Nothing where two neighbours are further apart than `longest_step`: a gap is not filled with a guess.
/// Before the first and after the last reading its value is held, for `longest_hold` at most.
pub fn area(
    readings: &[(f64, f64)],
    from: f64,
    to: f64,
    (longest_step, longest_hold): (f64, f64),
) -> Option<f64> {
    let (first, last) = (readings.first()?, readings.last()?);
    if to < from || first.0 - from > longest_hold || to - last.0 > longest_hold {
        return None;
    }
    let mut sum = 0.0;
    // What lies before the first reading and after the last one.
    sum += (first.0.min(to) - from).max(0.0) * first.1;
    sum += (to - last.0.max(from)).max(0.0) * last.1;
    for pair in readings.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let (low, high) = (x0.max(from), x1.min(to));
        if high <= low {
            continue;
        }
        if x1 - x0 > longest_step {
            return None;
        }
        let at = |x: f64| y0 + (y1 - y0) * (x - x0) / (x1 - x0);
        sum += (high - low) * (at(low) + at(high)) / 2.0;
    }
    Some(sum)
}

/// How much a counter grew from one place to another, on straight lines between its readings.
///
/// Nothing where a reading is missing at an end or within, and nothing where the counter fell: it has then
/// begun anew.
pub fn growth(readings: &[(f64, f64)], from: f64, to: f64, longest_step: f64) -> Option<f64> {
    let is_bad = |pair: &[(f64, f64)]| {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        x1 > from && x0 < to && (y1 < y0 || x1 - x0 > longest_step)
    };
    if readings.windows(2).any(is_bad) {
        return None;
    }
    Some(between(readings, to)? - between(readings, from)?)
}

/// The value at a place between two readings.
fn between(readings: &[(f64, f64)], x: f64) -> Option<f64> {
    let after = readings.partition_point(|reading| reading.0 < x);
    let &(x1, y1) = readings.get(after)?;
    if x1 == x {
        return Some(y1);
    }
    let &(x0, y0) = readings.get(after.checked_sub(1)?)?;
    Some(y0 + (y1 - y0) * (x - x0) / (x1 - x0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn straight_lines_are_exact() {
        let line: Vec<(f64, f64)> = [0.0, 1.0, 1.5, 4.0].map(|x| (x, 2.0 * x)).to_vec();
        let exact = |from: f64, to: f64| to * to - from * from;
        for (from, to) in [(0.0, 4.0), (0.5, 1.2), (1.1, 3.9), (2.0, 2.0)] {
            let found = area(&line, from, to, (3.0, 3.0)).unwrap();
            assert!(
                (found - exact(from, to)).abs() < 1e-12,
                "{from}..{to}: {found}"
            );
        }
    }

    #[test]
    fn a_triangle_wave_is_near_its_area() {
        // 90 to 500 and back in 5 s, read ten times a second at no particular phase.
        let wave = |x: f64| {
            let phase = (x % 5.0) / 2.5;
            90.0 + 410.0 * if phase <= 1.0 { phase } else { 2.0 - phase }
        };
        let readings: Vec<(f64, f64)> = (0..330)
            .map(|i| 0.033 + f64::from(i) * 0.1)
            .map(|x| (x, wave(x)))
            .collect();
        let found = area(&readings, 1.0, 31.0, (0.5, 0.5)).unwrap();
        assert!((found / 8850.0 - 1.0).abs() < 1e-3, "{found}");
    }

    #[test]
    fn gaps_and_ends_are_not_guessed() {
        let readings = [(1.0, 10.0), (2.0, 10.0), (5.0, 10.0), (6.0, 10.0)];
        assert_eq!(area(&readings, 1.5, 5.5, (2.0, 2.0)), None, "a gap");
        let within = area(&readings, 5.2, 5.8, (2.0, 2.0)).unwrap();
        assert!((within - 6.0).abs() < 1e-9, "beside a gap: {within}");
        assert_eq!(
            area(&readings, 0.5, 1.5, (2.0, 2.0)),
            Some(10.0),
            "held before the first"
        );
        assert_eq!(
            area(&readings, 5.5, 7.0, (2.0, 2.0)),
            Some(15.0),
            "held after the last"
        );
        assert_eq!(area(&readings, 5.5, 9.0, (2.0, 2.0)), None);
        assert_eq!(area(&[], 0.0, 1.0, (2.0, 2.0)), None);
        assert_eq!(
            area(&readings, 0.2, 0.8, (2.0, 2.0)).map(|a| (a * 1e9).round()),
            Some(6e9)
        );
    }

    #[test]
    fn counters_grow_between_their_readings() {
        let readings = [(1.0, 10.0), (2.0, 20.0), (5.0, 50.0), (6.0, 60.0)];
        assert_eq!(growth(&readings, 1.5, 2.0, 2.0), Some(5.0));
        assert_eq!(growth(&readings, 5.0, 6.0, 2.0), Some(10.0));
        assert_eq!(growth(&readings, 1.5, 5.5, 2.0), None, "a gap within");
        assert_eq!(
            growth(&readings, 5.5, 6.5, 2.0),
            None,
            "nothing was read after the end"
        );
        assert_eq!(
            growth(&readings, 0.5, 1.5, 2.0),
            None,
            "nor before the beginning"
        );
        let anew = [(1.0, 10.0), (2.0, 20.0), (3.0, 0.0), (4.0, 10.0)];
        assert_eq!(growth(&anew, 1.0, 4.0, 2.0), None);
        assert_eq!(growth(&[], 1.0, 4.0, 2.0), None);
    }
}
