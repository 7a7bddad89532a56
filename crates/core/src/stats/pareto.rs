//! Which of several points no other dominates: the Pareto front.
//!
//! A point is on the front where no other is at least as good in both respects and better in one
//! (Kung, Luccio & Preparata, *On Finding the Maxima of a Set of Vectors*, 1975, call these the
//! maxima). Speed and quality are both better where they are larger; the caller turns what is not.

/// The places of the points on the front, in the order of the points.
///
/// Points that are alike in both respects beat each other in none, so all of them are on it or none
/// is. A point with something that is not a number is never on it and dominates none.
pub fn front(points: &[(f64, f64)]) -> Vec<usize> {
    let is_known = |&(speed, quality): &(f64, f64)| !speed.is_nan() && !quality.is_nan();
    let mut order: Vec<usize> = (0..points.len())
        .filter(|&index| is_known(&points[index]))
        .collect();
    // The fastest first, and the best of those: a later one can only win by quality.
    order.sort_by(|&a, &b| {
        let by_speed = points[b].0.partial_cmp(&points[a].0);
        let by_quality = points[b].1.partial_cmp(&points[a].1);
        let equal = std::cmp::Ordering::Equal;
        by_speed.unwrap_or(equal).then(by_quality.unwrap_or(equal))
    });
    let mut front: Vec<usize> = Vec::new();
    for index in order {
        let beaten = front.last().is_some_and(|&last| {
            points[index].1 <= points[last].1 && points[index] != points[last]
        });
        if !beaten {
            front.push(index);
        }
    }
    front.sort_unstable();
    front
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_point_of_the_front_is_dominated() {
        for (points, expect) in [
            (&[][..], &[][..]),
            (&[(1.0, 1.0)], &[0]),
            (&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)], &[0, 1, 2]),
            (&[(1.0, 1.0), (2.0, 2.0), (3.0, 0.5)], &[1, 2]),
            // As fast and worse, as good and slower.
            (&[(2.0, 1.0), (2.0, 2.0), (1.0, 2.0)], &[1]),
            // Twins stay together, on the front and off it.
            (&[(2.0, 2.0), (1.0, 1.0), (2.0, 2.0), (1.0, 1.0)], &[0, 2]),
            (&[(f64::NAN, 9.0), (1.0, f64::NAN), (1.0, 1.0)], &[2]),
            (&[(f64::INFINITY, 0.0), (1.0, 1.0)], &[0, 1]),
            (&[(0.0, 1.0), (-0.0, 1.0)], &[0, 1]),
        ] {
            assert_eq!(front(points), expect, "{points:?}");
        }
    }

    #[test]
    fn it_is_what_comparing_all_pairs_gives() {
        let points: Vec<(f64, f64)> = (0..200_u32)
            .map(|i| (f64::from(i * 7919 % 23), f64::from(i * 104_729 % 19)))
            .collect();
        let beats = |a: &(f64, f64), b: &(f64, f64)| a.0 >= b.0 && a.1 >= b.1 && a != b;
        let slow: Vec<usize> = (0..points.len())
            .filter(|&i| points.iter().all(|other| !beats(other, &points[i])))
            .collect();
        assert_eq!(front(&points), slow);
        assert!(!slow.is_empty());
    }
}
