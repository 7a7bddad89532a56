//! Limits: what a case's time is spent on at least, what limits each of its nodes, and how much is left.
//!
//! Three witnesses: the model (the work of each node against roofs measured on the machine), the curve
//! (latency against batch size) and experiments (what changes cost). Each says how it knows, and abstains
//! with the reason where it does not.

pub mod bound;
mod case_limits;
pub mod experiments;
pub mod finding;
pub mod findings;
pub mod lines;
pub mod node;
pub mod rows;
mod rules;
pub mod wall;

use powerband_core::base::humanize;
use powerband_core::domain::profile::{Profile, Total};
use powerband_core::domain::quantity::Quantity;
use powerband_core::domain::roofs::{PROCESSOR, Roofs};
use powerband_core::domain::session::Session;
use powerband_core::domain::work::{Numbers, Work};

use super::breakdown::Scope;
use super::device_readings;
use super::kernel_name;
use super::profile_runs::Runs;
pub use case_limits::Limits;

use bound::Bound;
use lines::References;
use node::{Floor, NodeLimit, NodeLines};
use wall::WallTime;

/// The clocks of a roof and of a run that differ by more than this share are not compared.
const CLOCKS_WITHIN: f64 = 0.03;

/// What limits the case of a profile, by its place in the session; against these roofs.
pub fn of_profile(session: &Session, profile: usize, roofs: &[Roofs]) -> Limits {
    let Some(profile) = session.profiles.get(profile) else {
        return Limits::nothing("there is no such profile");
    };
    let runs = Runs::of(profile).map_or(1.0, |runs| runs.count as f64);
    let setup = profile.case.map(|case| case.setup);
    let against = references(session, setup, roofs);
    let mut limits = Limits {
        case: profile.case,
        title: profile.name.clone(),
        lines: Vec::new(),
        nodes: Vec::new(),
        wall: WallTime::of(profile, runs),
        findings: Vec::new(),
        abstained: Vec::new(),
    };
    limits.nodes = node_limits(profile, runs, &against, &limits.wall);
    if let Ok(references) = &against {
        let mut numbers: Vec<Numbers> = limits
            .nodes
            .iter()
            .filter_map(|node| node.work.filter(|work| work.operations > 0))
            .map(|work| work.numbers)
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        limits.lines = references.all(&numbers);
    }
    limits.abstained = abstained(&limits, &against);
    // What experiments say counts for more than the model.
    let tried = limits
        .case
        .and_then(|case| experiments::finding(session, case));
    limits.findings = tried
        .into_iter()
        .chain(findings::of_limits(&limits))
        .collect();
    limits
}

/// What a profile's nodes are measured against, or why they are against nothing.
fn references<'a>(
    session: &'a Session,
    setup: Option<usize>,
    roofs: &'a [Roofs],
) -> Result<References<'a>, String> {
    let spec = setup.and_then(|setup| session.plan.setups.get(setup));
    let (Some(setup), Some(spec)) = (setup, spec) else {
        return Err(
            "another program measured it, on a device whose roofs are not known".to_owned(),
        );
    };
    let found = roofs.iter().find(|roofs| roofs.device == spec.device);
    let found = found.ok_or_else(|| {
        format!(
            "no roofs of {} were measured; powerband roofs measures them",
            spec.device
        )
    })?;
    let is_cpu = spec.device == PROCESSOR;
    if is_cpu && found.name != session.environment.cpu.model {
        return Err(format!(
            "the roofs are those of {}, and the run was on {}",
            found.name, session.environment.cpu.model
        ));
    }
    if let Some(reason) = clocks_differ(session, setup, found) {
        return Err(reason);
    }
    let threads = if is_cpu {
        threads_of(session, setup)
    } else {
        0
    };
    Ok(References::new(found, &spec.engine, threads))
}

/// The threads that a setup computed with: those that its engine reports, else those that it was given.
fn threads_of(session: &Session, setup: usize) -> usize {
    let report = session.reports.get(setup).and_then(Option::as_ref);
    let given = session.plan.setups.get(setup);
    let given = given.and_then(|spec| spec.options.get("threads")?.parse().ok());
    let reported = report.and_then(|report| report.threads);
    reported
        .or(given)
        .unwrap_or(session.environment.cpu.threads)
}

/// Why roofs at one clock say nothing of a run at another.
fn clocks_differ(session: &Session, setup: usize, roofs: &Roofs) -> Option<String> {
    let at_roof = roofs.clock_mhz?;
    let cases = session.cases.iter().filter(|case| case.setup == setup);
    let readings = cases.flat_map(|case| device_readings::case_readings(&session.telemetry, case));
    let clocks: Vec<f64> = readings
        .filter_map(|watched| Some(watched.extent(Quantity::Clock)?.mean))
        .collect();
    let at_run = clocks.iter().copied().reduce(f64::max)?;
    ((at_run / at_roof - 1.0).abs() > CLOCKS_WITHIN).then(|| {
        format!(
            "the roofs were measured at {} MHz and the run was at {} MHz; measure the roofs again",
            humanize::value(at_roof),
            humanize::value(at_run)
        )
    })
}

/// Each node of a profile, most time first.
fn node_limits(
    profile: &Profile,
    runs: f64,
    against: &Result<References<'_>, String>,
    wall: &Result<WallTime, String>,
) -> Vec<NodeLimit> {
    let scope = Scope::of(profile);
    let totals = profile.totals.iter().enumerate();
    let mut totals: Vec<(usize, &Total)> = totals
        .filter(|(_, total)| scope.holds(total.kind))
        .collect();
    totals.sort_by_key(|(_, total)| std::cmp::Reverse(total.total_ns));
    let summed: u64 = totals.iter().map(|(_, total)| total.total_ns).sum();
    let wall_ns = wall.as_ref().ok().map(|wall| wall.wall_ns);
    let names: Vec<&str> = totals
        .iter()
        .map(|(_, total)| total.name.as_str())
        .collect();
    let shorts = kernel_name::short_names(&names);
    let rows = totals.into_iter().zip(shorts);
    rows.map(|((place, total), short)| {
        let share = total.total_ns as f64 / (summed as f64).max(1.0);
        NodeLimit {
            total: place,
            ..node_limit(total, short, share, runs, against, wall_ns)
        }
    })
    .collect()
}

fn node_limit(
    total: &Total,
    short: String,
    share: f64,
    runs: f64,
    against: &Result<References<'_>, String>,
    wall_ns: Option<f64>,
) -> NodeLimit {
    let time_ns = total.total_ns as f64 / runs;
    let work = total.work.map(|work| per_run(work, runs));
    let mut node = NodeLimit {
        total: 0,
        name: total.name.clone(),
        short,
        op: total.op.clone(),
        place: total.place.clone(),
        calls: (total.calls as f64 / runs).round() as u64,
        time_ns,
        share,
        work,
        floor: None,
        bound: Err(String::new()),
        share_of_floor: None,
        intensity: work.and_then(intensity),
        achieved_per_s: work
            .filter(|work| work.operations > 0 && time_ns > 0.0)
            .map(|work| 1e9 * work.operations as f64 / time_ns),
        at_most_here: None,
        at_most_overall: None,
        line: String::new(),
        formula: String::new(),
    };
    node.bound = judge(&mut node, total.calls as f64 / runs, against);
    let gain = node
        .floor
        .filter(|floor| node.bound.is_ok() && (0.0..=time_ns).contains(&floor.ns()));
    if let Some(floor) = gain {
        node.at_most_here = Some(time_ns / floor.ns().max(f64::MIN_POSITIVE));
        node.at_most_overall = wall_ns.map(|wall| wall / (wall - time_ns + floor.ns()));
    }
    node
}

/// What limits a node; its floor, its line and its formula are filled in on the way.
fn judge(
    node: &mut NodeLimit,
    calls: f64,
    against: &Result<References<'_>, String>,
) -> Result<Bound, String> {
    if node.time_ns <= 0.0 {
        return Err("the profile has no time for it".to_owned());
    }
    let work = node
        .work
        .ok_or("its shapes or its arithmetic are not known")?;
    let against = against.as_ref().map_err(Clone::clone)?;
    let calls = calls.max(1.0);
    let footprint = (work.low_bytes as f64 / calls) as u64;
    let lines = NodeLines {
        compute: against.compute(work.numbers),
        memory: against.memory(footprint),
        launch_ns: against.launch_ns().unwrap_or(0.0),
    };
    let floor = node::floor_of(work, calls, &lines)?;
    node.floor = Some(floor);
    node.share_of_floor = Some(floor.ns() / node.time_ns);
    node.formula = node::formula(work, calls, floor, &lines);
    node.line = line_of(floor, &lines);
    let memory = lines.memory.as_ref();
    let most_memory_ns = memory.map_or(0.0, |line| 1e9 * work.high_bytes as f64 / line.per_s);
    Ok(node::classify(floor, most_memory_ns, node.time_ns))
}

/// The line of the greatest floor.
fn line_of(floor: Floor, lines: &NodeLines) -> String {
    if floor.launch_ns >= floor.compute_ns.max(floor.memory_ns) {
        let cost = humanize::duration_ns(lines.launch_ns);
        return format!("{cost} for a node that does nothing");
    }
    let line = if floor.compute_ns >= floor.memory_ns {
        &lines.compute
    } else {
        &lines.memory
    };
    let line = line.as_ref();
    line.map_or_else(String::new, |line| {
        format!("{} ({})", line.title, line.height())
    })
}

fn per_run(work: Work, runs: f64) -> Work {
    let share = |amount: u64| (amount as f64 / runs).round() as u64;
    Work {
        operations: share(work.operations),
        low_bytes: share(work.low_bytes),
        high_bytes: share(work.high_bytes),
        ..work
    }
}

/// Operations per byte, at the most and at the fewest bytes.
fn intensity(work: Work) -> Option<(f64, f64)> {
    let at = |bytes: u64| (bytes > 0).then(|| work.operations as f64 / bytes as f64);
    Some((at(work.high_bytes)?, at(work.low_bytes)?)).filter(|_| work.operations > 0)
}

/// Everything that is not said, each reason once, with how much of the time it is about.
fn abstained(limits: &Limits, against: &Result<References<'_>, String>) -> Vec<String> {
    if let Err(reason) = against {
        return vec![format!("No node is judged: {reason}.")];
    }
    let mut reasons: Vec<(&str, f64, u64)> = Vec::new();
    for node in &limits.nodes {
        let Err(reason) = &node.bound else { continue };
        match reasons.iter_mut().find(|(known, ..)| known == reason) {
            Some((_, share, nodes)) => {
                *share += node.share;
                *nodes += 1;
            }
            None => reasons.push((reason, node.share, 1)),
        }
    }
    reasons.sort_by(|a, b| b.1.total_cmp(&a.1));
    let nodes = reasons.into_iter().map(|(reason, share, nodes)| {
        format!(
            "{} with {} of the time: {reason}.",
            humanize::of_many(nodes, "node"),
            humanize::percent(share)
        )
    });
    let wall = limits.wall.as_ref().err();
    let wall = wall.map(|reason| format!("The wall time is not taken apart: {reason}."));
    nodes.chain(wall).collect()
}

#[cfg(test)]
mod tests;
