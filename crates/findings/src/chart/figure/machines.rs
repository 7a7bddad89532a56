//! The figure of one case on several machines.

use super::super::fleet as drawn;
use super::FigureInputs;
use super::make::{DrawingResult, chart};
use crate::analysis::fleet::{self, FleetCase, NamedSession};
use powerband_core::domain::session::Session;

/// One case on several machines: the first that was measured on two of them where none is chosen.
pub(super) fn fleet(material: &FigureInputs<'_>) -> DrawingResult {
    let parts = material.before.iter().chain([&material.after]);
    let sessions: Vec<&Session> = parts
        .chain(&material.others)
        .map(|part| part.session)
        .collect();
    let named: Vec<NamedSession<'_>> = sessions
        .iter()
        .map(|session| (session.name.as_str(), *session))
        .collect();
    // Sessions that are given one by one are machines; before and after are usually of one machine.
    let names = if material.before.is_none() {
        fleet::names_by_session(&named)
    } else {
        fleet::names_by_hardware(&named)
    };
    let named: Vec<NamedSession<'_>> = names
        .iter()
        .map(String::as_str)
        .zip(sessions.iter().copied())
        .collect();
    let found = fleet::compare_machines(&named);
    let own = usize::from(material.before.is_some());
    let is_chosen = |case: &&FleetCase| {
        let has_setup = |setup: usize| {
            let mut machines = case.machines.iter();
            machines.any(|one| one.session == own && one.row.setup == setup)
        };
        material.point.is_none_or(|point| point == case.point)
            && material.setup.is_none_or(has_setup)
    };
    let chosen = || found.cases.iter().filter(is_chosen);
    let measured = chosen().find(|case| case.median_ns.is_some());
    let case = measured.or_else(|| chosen().next()).ok_or_else(|| {
        let remark = found.remarks.first().map_or("", String::as_str);
        if found.cases.is_empty() {
            remark.trim_end_matches('.').to_owned()
        } else {
            "no case of this setup and point ran on two machines".to_owned()
        }
    })?;
    let mut spec = drawn::medians(case);
    let name = case.name(found.has_several_models());
    spec.title = format!("Medians of machines, {name}");
    chart(spec, || case.sentence.clone())
}
