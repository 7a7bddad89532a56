//! Memory over the batch size.

use super::axis::{self, TimeUnit};
use super::curves::{self, Overlay};
use super::spec::{ChartPoint, ChartSpec, Mark, Series, SeriesId, Stroke};
use powerband_core::base::humanize;
use powerband_core::domain::profile::MemoryUse;

const GIB: f64 = (1_u64 << 30) as f64;
const MIB: f64 = (1_u64 << 20) as f64;
/// The end of the memory is drawn where this share of it was needed; further down it would only press
/// the curves together.
const NEAR: f64 = 0.4;

/// The most memory that each batch needed, with the end of the memory where it is near.
pub fn peak(overlays: &[Overlay<'_>]) -> ChartSpec {
    let drawn = curves::curve_values(overlays, |point| Some((point.memory?.bytes, None)));
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
    let mut spec = curves::curve_chart("Peak memory", &curves::scaled(drawn, 1.0 / bytes), y);
    if is_near {
        spec.marks.push(Mark::Level {
            y: capacity / bytes,
            text: format!("all there is, {}", humanize::bytes(capacity as u64)),
        });
    }
    spec
}

/// Memory in use while a profile was taken, device by device: what it is until it changes.
pub fn over_time(memory: &[MemoryUse]) -> ChartSpec {
    let of_all = || memory.iter().flat_map(|device| &device.over_time);
    let last_ns = of_all().map(|(at, _)| *at).max().unwrap_or(0) as f64;
    let most = of_all().map(|(_, bytes)| *bytes).max().unwrap_or(0) as f64;
    let (unit, bytes) = if most >= GIB {
        ("GiB", GIB)
    } else {
        ("MiB", MIB)
    };
    let time = TimeUnit::for_largest(last_ns);
    let point = |at: u64, used: u64| ChartPoint::new(at as f64 / time.ns, used as f64 / bytes, at);
    let series = memory.iter().enumerate().map(|(place, device)| {
        let mut points: Vec<ChartPoint> = Vec::new();
        let mut before = None;
        for (at, used) in &device.over_time {
            points.extend(before.map(|before| point(*at, before)));
            points.push(point(*at, *used));
            before = Some(*used);
        }
        Series::new(
            SeriesId(place as u64),
            device.device.clone(),
            place,
            Stroke::Thin,
            points,
        )
    });
    ChartSpec {
        title: "Memory in use".to_owned(),
        series: series.filter(|series| series.points.len() > 1).collect(),
        x: axis::from_zero(time.name, last_ns / time.ns),
        y: axis::from_zero(unit, most / bytes),
        ..ChartSpec::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing;
    use crate::analysis::{batch_curve, case_rows};
    use powerband_core::domain::case::CaseOpening;

    fn spec(total_bytes: u64) -> ChartSpec {
        let mut session = testing::session(&["ort:cpu"], &[1, 2, 4]);
        session.environment.memory.total_bytes = total_bytes;
        for (place, batch) in [1, 2, 4].into_iter().enumerate() {
            testing::measure_near(&mut session, 0, batch, 1_000);
            session.cases[place].opening = Some(CaseOpening {
                peak_bytes: Some((100 + 50 * batch as u64) << 20),
                ..CaseOpening::default()
            });
        }
        let curves = batch_curve::batch_curves(&case_rows::case_rows(&session));
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

    #[test]
    fn memory_in_use_is_what_it_is_until_it_changes() {
        let memory = MemoryUse {
            device: "GPU 0".to_owned(),
            peak_bytes: 3 << 20,
            over_time: vec![(0, 1 << 20), (2_000_000, 3 << 20)],
            ..MemoryUse::default()
        };
        let spec = over_time(&[memory, MemoryUse::default()]);
        let points = spec.series[0].points.iter().map(|point| (point.x, point.y));
        assert_eq!(
            points.collect::<Vec<_>>(),
            [(0.0, 1.0), (2.0, 1.0), (2.0, 3.0)]
        );
        assert_eq!((spec.series.len(), spec.y.title.as_str()), (1, "MiB"));
        assert_eq!(spec.x.title, "ms");
        assert!(over_time(&[]).is_empty());
    }
}
