//! Memory over the batch size.

use super::axis;
use super::curves::{self, Overlay};
use super::spec::{ChartSpec, Mark};
use crate::base::humanize;

const GIB: f64 = (1_u64 << 30) as f64;
const MIB: f64 = (1_u64 << 20) as f64;
/// The end of the memory is drawn where this share of it was needed; further down it would only press
/// the curves together.
const NEAR: f64 = 0.4;

/// The most memory that each batch needed, with the end of the memory where it is near.
pub fn peak(overlays: &[Overlay<'_>]) -> ChartSpec {
    let drawn = curves::draw(overlays, |point| Some((point.memory?.bytes, None)));
    let most = curves::highest(&drawn);
    let capacity = overlays
        .iter()
        .flat_map(|overlay| &overlay.curve.points)
        .filter_map(|point| point.memory?.capacity)
        .fold(f64::INFINITY, f64::min);
    let (unit, bytes) = if most >= GIB {
        ("GiB", GIB)
    } else {
        ("MiB", MIB)
    };
    let is_near = capacity.is_finite() && most >= NEAR * capacity;
    let top = if is_near { most.max(capacity) } else { most };
    let y = axis::from_zero(unit, top / bytes);
    let mut spec = curves::chart("Peak memory", &curves::scaled(drawn, 1.0 / bytes), y);
    if is_near {
        spec.marks.push(Mark::Level {
            y: capacity / bytes,
            text: format!("all there is, {}", humanize::bytes(capacity as u64)),
        });
    }
    spec
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing;
    use crate::analysis::{batch_curve, case_rows};
    use crate::chart::spec::SeriesId;
    use crate::domain::case::Opening;

    fn spec(total_bytes: u64) -> ChartSpec {
        let mut session = testing::session(&["ort:cpu"], &[1, 2, 4]);
        session.environment.memory.total_bytes = total_bytes;
        for (place, batch) in [1, 2, 4].into_iter().enumerate() {
            testing::measure_near(&mut session, 0, batch, 1_000);
            session.cases[place].opening = Some(Opening {
                peak_bytes: Some((100 + 50 * batch as u64) << 20),
                ..Opening::default()
            });
        }
        let curves = batch_curve::of(&case_rows::of(&session));
        peak(&[Overlay {
            id: SeriesId(0),
            name: "curve".to_owned(),
            colour: 0,
            curve: &curves[0],
        }])
    }

    #[test]
    fn the_end_of_the_memory_is_drawn_where_it_is_near() {
        let far = spec(64 << 30);
        let needs: Vec<f64> = far.series[0].points.iter().map(|point| point.y).collect();
        assert_eq!(
            (needs, far.y.title.as_str()),
            (vec![150.0, 200.0, 300.0], "MiB")
        );
        assert!(far.marks.is_empty());
        let near = spec(400 << 20);
        assert!(matches!(&near.marks[..], [Mark::Level { y, .. }] if *y == 400.0));
        assert!(near.y.high >= 400.0);
    }
}
