//! The gain of several replicas or devices over one, batch size by batch size.

use super::case_rows::CaseRow;
use super::comparison::{self, CasePair, ComparedSide};
use powerband_core::base::humanize;
use powerband_core::domain::point::{self, Point};
use powerband_core::domain::session::Session;
use powerband_core::domain::setup::Setup;

/// Keys that set the replicas of a setup.
const OF_COPIES: [&str; 3] = ["copies", "devices", "streams"];

/// A setup with several replicas beside the same one with a single worker.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    /// The setup with replicas, by its place in the plan.
    pub setup: usize,
    /// The one without.
    pub single: usize,
    /// How many replicas.
    pub replicas: usize,
    /// Each batch size that both were measured at.
    pub gains: Vec<Gain>,
}

/// The gain of the replicas at one batch size.
#[derive(Clone, Debug, PartialEq)]
pub struct Gain {
    /// The point whose batch they share.
    pub point: Point,
    /// One against several, with its verdict.
    pub pair: CasePair,
    /// Throughput of the replicas over that of one, divided by their number: 1 is perfect.
    pub efficiency: Option<f64>,
}

/// Every setup with replicas whose single one is in the same session.
pub fn scaling_rows(session: &Session, rows: &[CaseRow]) -> Vec<Scaling> {
    let setups = &session.plan.setups;
    let with_copies = setups.iter().enumerate().filter_map(|(setup, spec)| {
        let copies = copies(spec)?;
        let single = setups.iter().position(|other| is_single_of(other, spec))?;
        Some((setup, single, copies))
    });
    let scaling = with_copies.map(|(setup, single, copies)| {
        let side = |setup| ComparedSide {
            session,
            rows,
            setup,
            point: None,
        };
        let pairs = comparison::compare_setups(&side(single), &side(setup)).pairs;
        let gains = pairs.into_iter().map(|pair| Gain {
            point: pair.before_point,
            efficiency: efficiency(&pair, copies),
            pair,
        });
        Scaling {
            setup,
            single,
            replicas: copies,
            gains: gains.collect(),
        }
    });
    scaling.collect()
}

impl Scaling {
    /// A sentence where the replicas are slower than one; nothing where they never are significantly.
    pub fn warning(&self) -> Option<String> {
        let lost: Vec<Point> = self
            .gains
            .iter()
            .filter(|gain| gain.pair.verdict.call == super::verdict::Call::Slower)
            .map(|gain| gain.point)
            .collect();
        (!lost.is_empty()).then(|| {
            format!(
                "{} are slower than one at {}",
                humanize::pluralised(self.replicas as u64, "replica"),
                point::list(lost)
            )
        })
    }
}

fn efficiency(pair: &CasePair, copies: usize) -> Option<f64> {
    let (one, several) = (pair.before.throughput_per_s?, pair.after.throughput_per_s?);
    (one > 0.0).then(|| several / one / copies as f64)
}

/// How many replicas a setup has, where it has several.
fn copies(setup: &Setup) -> Option<usize> {
    let named = setup
        .options
        .get("copies")
        .and_then(|text| text.parse().ok());
    let devices = setup
        .options
        .get("devices")
        .map(|text| text.split([',', '+']).count());
    let streams = setup
        .options
        .get("streams")
        .and_then(|text| text.parse().ok());
    named.or(devices).or(streams).filter(|copies| *copies > 1)
}

fn is_single_of(single: &Setup, several: &Setup) -> bool {
    let kind = |setup: &Setup| setup.device.split(':').next().map(ToOwned::to_owned);
    let rest = |setup: &Setup| {
        let options = setup
            .options
            .iter()
            .filter(|(key, _)| !OF_COPIES.contains(&key.as_str()));
        options
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect::<Vec<_>>()
    };
    copies(single).is_none()
        && single.engine == several.engine
        && kind(single) == kind(several)
        && rest(single) == rest(several)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows;
    use crate::analysis::testing::{measure_near, session};

    #[test]
    fn copies_are_measured_against_one_and_may_lose() {
        let specs = ["ort:cuda:0", "ort:cuda,devices=0+1", "tract,copies=2"];
        let mut session = session(&specs, &[2, 64]);
        for (setup, batch, micros) in [
            (0, 2, 1_000),
            (1, 2, 1_200),
            (0, 64, 10_000),
            (1, 64, 5_500),
        ] {
            measure_near(&mut session, setup, batch, micros);
        }
        let found = scaling_rows(&session, &case_rows::case_rows(&session));
        assert_eq!(found.len(), 1, "tract has no counterpart");
        assert_eq!(
            (found[0].setup, found[0].single, found[0].replicas),
            (1, 0, 2)
        );
        let efficiency: Vec<f64> = found[0]
            .gains
            .iter()
            .filter_map(|gain| gain.efficiency)
            .collect();
        assert!((efficiency[0] - 0.4167).abs() < 1e-3, "{efficiency:?}");
        assert!((efficiency[1] - 0.9091).abs() < 1e-3, "{efficiency:?}");
        assert_eq!(
            found[0].warning().as_deref(),
            Some("2 replicas are slower than one at batch 2")
        );
    }
}
