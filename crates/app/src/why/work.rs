//! Finds what limits a case, on a background thread.

use super::{WhyResult, WhySubject, tally};
use powerband_core::base::paths::Paths;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::limits::answer::ExplainedCase;
use powerband_findings::analysis::limits::{curve, speed_of_light};
use powerband_findings::chart::figure;
use powerband_findings::chart::roofline::Roofline;
use powerband_store::roofs_file;

/// Finds it, against the roofs of the session, or those that are kept of this machine.
pub(crate) fn find(looking: WhySubject, session: &Session, paths: &Paths) -> WhyResult {
    let roofs = roofs_file::for_session(session, paths);
    let ExplainedCase {
        limits,
        mut tried,
        answer,
    } = ExplainedCase::new(session, looking.profile, &roofs);
    if let Some(tried) = &mut tried {
        tally::add_counts(paths, session, tried);
    }
    let roofline = limits
        .as_ref()
        .map_or_else(Roofline::default, figure::roofline_chart);
    let wall = match &limits {
        None => Err("the session has no profile".to_owned()),
        Some(limits) => match &limits.wall {
            Ok(wall) => Ok(figure::wall_bar(wall, &limits.title)),
            Err(reason) => Err(reason.clone()),
        },
    };
    let case = limits.as_ref().and_then(|limits| limits.case);
    let setup = case.or_else(|| tried.as_ref().map(|tried| tried.case));
    let setup = setup.or_else(|| session.cases.first().map(|case| case.key()));
    let curve = setup.filter(|_| session.plan.can_run());
    let curve = curve.map(|case| curve::curve_limits(session, case.setup, &roofs));
    let (mut findings, mut abstained) = limits.as_ref().map_or_else(Default::default, |limits| {
        (limits.findings.clone(), limits.abstained.clone())
    });
    match curve {
        Some(Ok(curve)) => {
            findings.extend(curve.findings);
            abstained.extend(curve.abstained);
        }
        Some(Err(reason)) if limits.is_none() => {
            abstained.push(format!("nothing by the curve: {reason}"));
        }
        _ => {}
    }
    let of_machine = setup.map_or(roofs.as_slice(), |case| {
        session.roofs_of(case.setup, &roofs)
    });
    let light = if session.plan.can_run() {
        speed_of_light::light_rows(session, &roofs)
    } else {
        Vec::new()
    };
    WhyResult {
        looking,
        answer,
        tried,
        findings,
        abstained,
        light,
        has_roofs: !of_machine.is_empty(),
        roofline,
        wall,
        limits,
    }
}
