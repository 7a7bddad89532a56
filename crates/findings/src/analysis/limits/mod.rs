//! Limits: what a case's time is spent on at least, what limits each of its nodes, and how much is left.
//!
//! Three witnesses: the model (the work of each node against roofs measured on the machine), the curve
//! (latency against batch size) and experiments (what changes cost). Each says how it knows, and abstains
//! with the reason where it does not; `answer` adds them up.

mod against;
pub mod answer;
mod answer_text;
pub mod bound;
mod case_limits;
pub mod curve;
pub mod difference;
mod evidence;
pub mod evidence_line;
pub mod experiments;
pub mod finding;
pub mod findings;
pub mod hypotheses;
pub mod lines;
pub mod node;
mod other_path;
pub mod part_answer;
mod raised;
pub mod rows;
pub mod run_parts;
pub mod session_limits;
pub mod settled;
mod slowed;
pub mod speed_of_light;
pub mod throughput;
pub mod wall;

use powerband_core::base::humanize;
use powerband_core::domain::profile::{Profile, Total};
use powerband_core::domain::roofs::Roofs;
use powerband_core::domain::session::Session;
use powerband_core::domain::work::{NumberFormat, Work};

use super::breakdown::Scope;
use super::kernel_name;
use super::profile_runs::ProfileRuns;
pub use case_limits::Limits;

use bound::Bound;
use lines::References;
use node::{Floor, NodeDuration, NodeLimit, NodeLines};
use raised::RaisedLines;
use slowed::SlowedProfile;
use wall::WallTime;

/// Why nothing is said of a profile that knows when nodes were started, and not when the card computed them.
const STARTS_ONLY: &str = "this profile has the host's times for starting nodes on the card, and none of the card itself; a profile with nsys (NVIDIA) or rocprofv3 (AMD) has those of its kernels";

/// What limits the case of a profile, by its place in the session; against these roofs.
pub fn profile_limits(session: &Session, profile: usize, roofs: &[Roofs]) -> Limits {
    let Some(profile) = session.profiles.get(profile) else {
        return Limits::nothing("there is no such profile");
    };
    if Scope::from_profile(profile) == Scope::NodeLaunches {
        return Limits {
            case: profile.case,
            title: profile.name.clone(),
            ..Limits::nothing(STARTS_ONLY)
        };
    }
    let runs = ProfileRuns::from_profile(profile).map_or(1.0, |runs| runs.count as f64);
    let against = against::references_for_profile(session, profile, roofs);
    let mut limits = Limits {
        case: profile.case,
        title: profile.name.clone(),
        lines: Vec::new(),
        nodes: Vec::new(),
        wall: WallTime::from_profile(profile, runs),
        launch: against.as_ref().ok().and_then(References::launch),
        is_of_processor: wall::has_runtime_nodes(profile),
        is_slowed: false,
        findings: Vec::new(),
        abstained: Vec::new(),
    };
    let between_nodes = wall::has_runtime_nodes(profile);
    let profiled_ns = limits.wall.as_ref().map_or(0.0, |wall| wall.wall_ns);
    let median_ns = profile
        .case
        .and_then(|case| slowed::median_ns(session, case));
    if let (false, Some(median_ns)) = (between_nodes, median_ns) {
        limits.wall = limits.wall.map(|wall| wall.without_profiler(median_ns));
    }
    let wall = limits.wall.as_ref().ok();
    let slowed = wall.and_then(|wall| SlowedProfile::detect(session, profile.case, wall));
    let launch = limits.launch;
    limits.is_slowed = slowed.is_some();
    let against = match slowed {
        Some(slowed) => Err(slowed.reason()),
        None => against,
    };
    let raised = against.as_ref().map_or_else(
        |_| RaisedLines::default(),
        |references| raised_by_nodes(profile, references),
    );
    limits.nodes = node_limits(profile, runs, &against, &raised, &limits.wall);
    if let Ok(references) = &against {
        let mut numbers: Vec<NumberFormat> = limits
            .nodes
            .iter()
            .filter_map(|node| node.work.filter(|work| work.operations > 0))
            .map(|work| work.numbers)
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        limits.lines = references.all(&numbers);
        limits.lines.extend(raised.lines().cloned());
    }
    limits.abstained = abstained(&limits, &against);
    limits.abstained.extend(raised.note());
    limits.abstained.extend(notes(profile, &limits));
    if let (Some(median_ns), Ok(wall)) = (median_ns, &limits.wall) {
        let changed = profiling_changed_it(wall, profiled_ns, median_ns);
        limits.abstained.extend(changed);
    }
    limits.findings = match slowed {
        Some(slowed) => {
            let started = limits.starts();
            let starts = launch.and_then(|launch| slowed.launch_finding(started, launch));
            starts.into_iter().collect()
        }
        None => findings::model_findings(&limits, between_nodes),
    };
    limits
}

/// The roofs that a session's cases are measured against: its own, else those of this machine, of which those of
/// another processor or card are refused.
pub fn roofs_for<'a>(session: &'a Session, of_machine: &'a [Roofs]) -> &'a [Roofs] {
    if session.roofs.is_empty() {
        of_machine
    } else {
        &session.roofs
    }
}

/// The lines that nodes of a profile lie above.
fn raised_by_nodes(profile: &Profile, references: &References<'_>) -> RaisedLines {
    let scope = Scope::from_profile(profile);
    let totals = profile.totals.iter();
    let totals: Vec<&Total> = totals.filter(|total| scope.includes(total.kind)).collect();
    let names: Vec<&str> = totals.iter().map(|total| total.name.as_str()).collect();
    let shorts = kernel_name::short_names(&names);
    let named = totals.into_iter().zip(shorts.iter().map(String::as_str));
    RaisedLines::from_nodes(named, references)
}

/// Each node of a profile, most time first.
fn node_limits(
    profile: &Profile,
    runs: f64,
    against: &Result<References<'_>, String>,
    raised: &RaisedLines,
    wall: &Result<WallTime, String>,
) -> Vec<NodeLimit> {
    let scope = Scope::from_profile(profile);
    let totals = profile.totals.iter().enumerate();
    let mut totals: Vec<(usize, &Total)> = totals
        .filter(|(_, total)| scope.includes(total.kind))
        .collect();
    totals.sort_by_key(|(_, total)| std::cmp::Reverse(total.total_ns));
    let summed: u64 = totals.iter().map(|(_, total)| total.total_ns).sum();
    let calls: u64 = totals.iter().map(|(_, total)| total.calls).sum();
    let known_wall = wall.as_ref().ok();
    let run = ProfiledRun {
        runs,
        summed_ns: summed as f64 / runs,
        pause_ns: known_wall.map(|wall| runs * wall.pauses_ns() / calls.max(1) as f64),
        wall: known_wall,
        trouble: wall
            .as_ref()
            .err()
            .filter(|_| wall::has_runtime_nodes(profile) && !profile.totals.is_empty()),
    };
    let names: Vec<&str> = totals
        .iter()
        .map(|(_, total)| total.name.as_str())
        .collect();
    let shorts = kernel_name::short_names(&names);
    let rows = totals.into_iter().zip(shorts);
    rows.map(|((place, total), short)| NodeLimit {
        total: place,
        ..node_limit(total, short, &run, (against, raised))
    })
    .collect()
}

/// What nodes are measured against, or why against nothing; and the lines that some of them raised.
type RaisedReferences<'a> = (&'a Result<References<'a>, String>, &'a RaisedLines);

/// The run that nodes are part of.
struct ProfiledRun<'a> {
    /// How many runs the profile covers.
    runs: f64,
    /// The times of all nodes together.
    summed_ns: f64,
    /// The pause before each node, in the mean.
    pause_ns: Option<f64>,
    wall: Option<&'a WallTime>,
    /// Why times of nodes are not to be believed.
    trouble: Option<&'a String>,
}

fn node_limit(
    total: &Total,
    short: String,
    run: &ProfiledRun<'_>,
    against: RaisedReferences<'_>,
) -> NodeLimit {
    let time_ns = total.total_ns as f64 / run.runs;
    let calls = total.calls as f64 / run.runs;
    let work = total.work.map(|work| per_run(work, run.runs));
    let mut node = NodeLimit {
        total: 0,
        name: total.name.clone(),
        short,
        op: total.op.clone(),
        place: total.place.clone(),
        calls: calls.round() as u64,
        time_ns,
        call_range_ns: total.min_ns.zip(total.max_ns),
        share: time_ns / run.summed_ns.max(f64::MIN_POSITIVE),
        work,
        floor: None,
        bound: Err(String::new()),
        is_cached: false,
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
    let took = NodeDuration {
        own_ns: time_ns,
        with_pause_ns: run.pause_ns.map(|pause| time_ns + pause * calls),
    };
    node.bound = match run.trouble {
        Some(reason) => Err(reason.clone()),
        None => judge(&mut node, calls, took, against),
    };
    let is_judged = node
        .bound
        .as_ref()
        .is_ok_and(|bound| *bound != Bound::ModelWrong);
    if let Some(floor) = node.floor.filter(|_| is_judged) {
        // A floor within the error of the roofs above the time leaves nothing.
        let whole_ns = took.comparable_ns(floor).unwrap_or(time_ns);
        let floor_ns = floor.ns().min(whole_ns);
        node.at_most_here = (floor_ns > 0.0).then(|| whole_ns / floor_ns);
        let overall = |wall| findings::overall_speed_up(wall, run.summed_ns, whole_ns - floor_ns);
        node.at_most_overall = run.wall.and_then(overall);
    }
    node
}

/// What limits a node; its floor, its line and its formula are filled in on the way.
fn judge(
    node: &mut NodeLimit,
    calls: f64,
    took: NodeDuration,
    (against, raised): RaisedReferences<'_>,
) -> Result<Bound, String> {
    if node.time_ns <= 0.0 {
        return Err("the profile has no time for it".to_owned());
    }
    let against = against.as_ref().map_err(Clone::clone)?;
    let work = node
        .work
        .ok_or("its shapes or its arithmetic are not known")?;
    let calls = calls.max(1.0);
    let footprint = (work.low_bytes as f64 / calls) as u64;
    let lines = NodeLines::for_work(against, work, footprint);
    let lines = NodeLines {
        compute: raised.raised_or_same(lines.compute),
        memory: raised.raised_or_same(lines.memory),
        ..lines
    };
    let floor = node::floor_of(work, calls, &lines)?;
    node.floor = Some(floor);
    node.share_of_floor = took.comparable_ns(floor).map(|whole| floor.ns() / whole);
    node.formula = node::formula(work, calls, floor, &lines);
    node.line = line_of(floor, &lines);
    let memory = lines.memory.as_ref();
    let most_memory_ns = memory.map_or(0.0, |line| 1e9 * work.high_bytes as f64 / line.per_s);
    node.is_cached = against.is_cached(footprint);
    node::classify_within_spread(floor, most_memory_ns, took, &lines)
}

/// The line of the greatest floor.
fn line_of(floor: Floor, lines: &NodeLines) -> String {
    if let Some(launch) = lines.launch.filter(|_| floor.is_of_launch()) {
        let cost = humanize::duration_ns(launch.ns);
        return format!("cost of a node that does nothing ({cost})");
    }
    let line = if floor.compute_ns >= floor.memory_ns {
        &lines.compute
    } else {
        &lines.memory
    };
    let line = line.as_ref();
    line.map_or_else(String::new, |line| line.name())
}

/// What to know beside the sentences: a bar of several devices, nodes side by side, nodes whose model is wrong.
fn notes(profile: &Profile, limits: &Limits) -> Vec<String> {
    let mut notes = Vec::new();
    if let (false, Ok(wall)) = (wall::has_runtime_nodes(profile), &limits.wall) {
        if profile.devices.len() > 1 {
            let devices = humanize::pluralised(profile.devices.len() as u64, "device");
            notes.push(format!(
                "The parts of the wall time are the mean of {devices}."
            ));
        }
        let summed: f64 = limits.nodes.iter().map(|node| node.time_ns).sum();
        let summed = summed / profile.devices.len().max(1) as f64;
        if summed > (1.0 + wall::ADDS_UP_WITHIN) * wall.wall_ns {
            notes.push(format!(
                "Kernels ran side by side: their times are {} together in a wall time of {}, so what one of them leaves over all is not known.",
                humanize::duration_ns(summed),
                humanize::duration_ns(wall.wall_ns)
            ));
        }
    }
    let wrong = limits
        .nodes
        .iter()
        .filter(|node| node.bound == Ok(Bound::ModelWrong));
    let (count, share) = wrong.fold((0, 0.0), |(count, share), node| {
        (count + 1, share + node.share)
    });
    if count > 0 {
        notes.push(format!(
            "{} with {} of the time took less than their floors: the model is wrong there, and they count in no sum.",
            humanize::pluralised(count, "node"),
            humanize::percent(share)
        ));
    }
    notes
}

/// That the profiled run took another time than the runs that were measured without a profiler, and what its wall
/// time is then.
fn profiling_changed_it(wall: &WallTime, profiled_ns: f64, median_ns: f64) -> Option<String> {
    ((profiled_ns / median_ns - 1.0).abs() > wall::ADDS_UP_WITHIN).then(|| {
        let is_shortened = wall.wall_ns < profiled_ns;
        let shares = match (
            is_shortened,
            wall.wall_ns > (1.0 + wall::ADDS_UP_WITHIN) * median_ns,
        ) {
            (true, false) => "pauses are shortened to those of a run without it",
            (true, true) => {
                "no pauses are counted, and computing alone takes longer than a run without it"
            }
            (false, _) => "shares are those of the profiled run",
        };
        format!(
            "The profiled run took {}, and the median without a profiler is {}: {shares}.",
            humanize::duration_ns(profiled_ns),
            humanize::duration_ns(median_ns)
        )
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
            humanize::pluralised(nodes, "node"),
            humanize::percent(share)
        )
    });
    let wall = limits.wall.as_ref().err();
    let wall = wall.map(|reason| format!("The wall time is not taken apart: {reason}."));
    nodes.chain(wall).collect()
}

#[cfg(test)]
mod tests;
