//! Fewer points that look the same when drawn: of every stretch, its lowest and its highest.

/// At most two points of each of `buckets` stretches of equally many points, the lowest and the
/// highest in the order in which they came, so that no peak is lost. What is small comes back whole.
pub fn min_max(values: &[(f64, f64)], buckets: usize) -> Vec<(f64, f64)> {
    if buckets == 0 || values.len() <= buckets.saturating_mul(2) {
        return values.to_vec();
    }
    let mut kept = Vec::with_capacity(2 * buckets);
    for bucket in 0..buckets {
        let from = bucket * values.len() / buckets;
        let to = (bucket + 1) * values.len() / buckets;
        let stretch = values.get(from..to).unwrap_or_default();
        let by_height = |a: &usize, b: &usize| stretch[*a].1.total_cmp(&stretch[*b].1);
        let lowest = (0..stretch.len()).min_by(by_height);
        let highest = (0..stretch.len()).max_by(by_height);
        if let (Some(lowest), Some(highest)) = (lowest, highest) {
            kept.push(stretch[lowest.min(highest)]);
            if lowest != highest {
                kept.push(stretch[lowest.max(highest)]);
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_survive_in_order() {
        let mut values: Vec<(f64, f64)> = (0..10_000).map(|i| (f64::from(i), 5.0)).collect();
        values[4_321].1 = 90.0;
        values[7_777].1 = 0.1;
        let kept = min_max(&values, 50);
        assert!(kept.len() <= 100, "{}", kept.len());
        assert!(kept.contains(&(4_321.0, 90.0)) && kept.contains(&(7_777.0, 0.1)));
        assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn what_is_small_comes_back_whole() {
        let values = [(0.0, 1.0), (1.0, 1.0), (2.0, 1.0)];
        assert_eq!(min_max(&values, 2), values);
        assert_eq!(min_max(&values, 0), values);
        assert!(min_max(&[], 4).is_empty());
    }
}
