//! Energy of an item over the batch size.

use super::axis;
use super::curves::{self, Overlay};
use super::spec::ChartSpec;
use crate::analysis::energy::EnergyKind;

/// Joules of an item, or items for a joule.
pub fn per_item(overlays: &[Overlay<'_>], kind: EnergyKind) -> ChartSpec {
    let drawn = curves::curve_values(overlays, |point| {
        let value = match kind {
            EnergyKind::Gross => point.j_per_item,
            EnergyKind::Net => point.net_j_per_item,
            EnergyKind::PerJoule => point.j_per_item.map(|joules| 1.0 / joules),
        };
        Some((value?, None))
    });
    let most = curves::highest(&drawn);
    let is_small = kind != EnergyKind::PerJoule && most > 0.0 && most < 1.0;
    let factor = if is_small { 1e3 } else { 1.0 };
    let unit = match kind {
        EnergyKind::PerJoule => "items per joule",
        EnergyKind::Gross if is_small => "mJ per item, gross",
        EnergyKind::Gross => "J per item, gross",
        EnergyKind::Net if is_small => "mJ per item, net of idle",
        EnergyKind::Net => "J per item, net of idle",
    };
    let y = axis::from_zero(unit, most * factor);
    curves::curve_chart("Energy", &curves::scaled(drawn, factor), y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing;
    use crate::analysis::{batch_curve, case_rows};
    use crate::chart::spec::SeriesId;
    use powerband_core::domain::telemetry::{DeviceKind, Quantity, TimeSpan};

    #[test]
    fn a_card_of_constant_power_costs_less_an_item_in_larger_batches() {
        let mut session = testing::session(&["ort:rocm:0"], &[1, 2]);
        let second = 1_000_000_000;
        testing::measure(&mut session, 0, 1, &[&[second; 12]]);
        testing::measure(&mut session, 0, 2, &[&[second; 12]]);
        testing::add_telemetry(&mut session, DeviceKind::Amd, 10.0, 14.0, |_| {
            vec![(Quantity::Power, 0.5)]
        });
        session.telemetry.idle.push(TimeSpan {
            from_ns: 0,
            to_ns: second,
        });
        let curves = batch_curve::batch_curves(&case_rows::case_rows(&session));
        let overlays = [Overlay {
            id: SeriesId(0),
            name: "card".to_owned(),
            colour: 0,
            curve: &curves[0],
        }];
        let spec = per_item(&overlays, EnergyKind::Gross);
        let joules: Vec<f64> = spec.series[0].points.iter().map(|p| p.y.round()).collect();
        assert_eq!(
            (spec.y.title.as_str(), joules),
            ("mJ per item, gross", vec![500.0, 250.0])
        );
        let net = per_item(&overlays, EnergyKind::Net);
        assert!(net.is_empty(), "an idle machine draws as much");
        let rate = per_item(&overlays, EnergyKind::PerJoule);
        assert_eq!(rate.series[0].points[1].y.round(), 4.0);
    }
}
