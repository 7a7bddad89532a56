//! How each figure is made, and the error where it cannot be.

use super::super::breakdown as drawn;
use super::super::claims::{self as under, PublishedOverlay};
use super::super::curves;
use super::super::spec::{ChartSpec, SeriesId, Stroke};
use super::super::throughput_roofs;
use super::super::treemap::regions;
use super::super::{energy as energies, history as through_time, journey as steps, lanes};
use super::super::{memory as memories, ratios, samples as of_case, trade_off as scatter};
use super::overlays::{SETUP_BITS, colour, overlays};
use super::{Bars, Changes, Drawing, FigureInputs, SessionNumbers, Treemap};
use crate::analysis::breakdown::{self, Breakdown, BreakdownLevel, Filter};
use crate::analysis::category::Rules;
use crate::analysis::claims::{self, PublishedCurve};
use crate::analysis::comparison::{self, ComparedSide, Comparison};
use crate::analysis::history::{self, FollowedCase};
use crate::analysis::journey::{self as journeys, Journey};
use crate::analysis::limits::throughput as roofs;
use crate::analysis::profile_runs::Times;
use crate::analysis::trade_off::{self, JudgedSetup, SpeedPoint};
use crate::analysis::{kernel_comparison, reported_stats};
use powerband_core::domain::case::{Case, CaseKey};
use powerband_core::domain::point::Point;
use powerband_core::domain::profile::Profile;
use powerband_core::domain::session::Session;
use powerband_core::domain::telemetry::TimeSpan;

/// Stretches into which a strip of samples is divided.
const BUCKETS: usize = 600;

pub(super) type DrawingResult = Result<Drawing, String>;

/// The chart, or the sentence that says why it has no points.
pub(super) fn chart(spec: ChartSpec, why_not: impl FnOnce() -> String) -> DrawingResult {
    let has_points = spec.series.iter().any(|series| !series.points.is_empty());
    if has_points {
        Ok(Drawing::Chart(Box::new(spec)))
    } else {
        Err(why_not())
    }
}

/// Why a session has no times: the outcome of its first case.
pub(super) fn not_measured(session: &Session) -> String {
    let name = &session.name;
    if session.cases.is_empty() {
        return format!("{name} has no cases, so there is nothing to draw");
    }
    let first = session.cases.iter().find_map(|case| {
        let reason = case.outcome.sentence()?;
        let setup = session.setup_label(case.setup);
        Some(format!(": {setup} at {}: {reason}", case.point))
    });
    format!(
        "no case of {name} was measured, so there is nothing to draw{}",
        first.unwrap_or_default()
    )
}

/// Why there are no curves.
fn no_curves(material: &FigureInputs<'_>) -> String {
    let session = material.after.session;
    match material.setup {
        Some(setup) if !session.cases.is_empty() => format!(
            "no case of {} in {} was measured, so there is nothing to draw",
            session.setup_label(setup),
            session.name
        ),
        _ => not_measured(session),
    }
}

/// The curves that the sessions published; none where one setup is asked for.
fn published_curves(material: &FigureInputs<'_>) -> Vec<PublishedCurve> {
    if material.setup.is_some() || material.after.session.plan.load.is_open() {
        return Vec::new();
    }
    let parts = material.before.iter().chain([&material.after]);
    let published = parts.filter_map(|part| part.session.published.as_ref());
    published.flat_map(claims::published_curves).collect()
}

/// The same as they are laid under what is measured.
fn published_overlays<'a>(
    material: &FigureInputs<'_>,
    curves: &'a [PublishedCurve],
) -> Vec<PublishedOverlay<'a>> {
    let parts = material.before.iter().chain([&material.after]);
    let setups: usize = parts.map(|part| part.session.plan.setups.len()).sum();
    let under = (0_u64..)
        .zip(curves)
        .map(|(place, curve)| PublishedOverlay {
            id: SeriesId((2 << SETUP_BITS) | place),
            name: format!("{}, published", curve.label),
            colour: setups + place as usize,
            curve,
        });
    under.collect()
}

/// The time of a batch.
pub(super) fn latency(material: &FigureInputs<'_>) -> DrawingResult {
    let mut spec = curves::latency(&overlays(material), &material.options);
    let published = published_curves(material);
    under::latency(&mut spec, &published_overlays(material, &published));
    let load = material.after.session.plan.load;
    if load.is_open() {
        spec.title = format!("Response time, {load}");
    }
    chart(spec, || no_curves(material))
}

/// Items a second.
pub(super) fn throughput(material: &FigureInputs<'_>) -> DrawingResult {
    let (overlays, published) = (overlays(material), published_curves(material));
    let under = published_overlays(material, &published);
    let options = under::options_for(&material.options, &overlays, &under);
    let mut spec = curves::throughput(&overlays, &options);
    under::throughput(&mut spec, &under);
    let session = &material.after.session;
    let setups = 0..session.plan.setups.len();
    throughput_roofs::lay(
        &mut spec,
        &roofs::throughput_roofs(session, setups, &session.roofs),
    );
    chart(spec, || no_curves(material))
}

/// How well batches are used.
pub(super) fn efficiency(material: &FigureInputs<'_>) -> DrawingResult {
    let spec = curves::efficiency(&overlays(material), &material.options);
    chart(spec, || no_curves(material))
}

/// Joules of an item.
pub(super) fn energy(material: &FigureInputs<'_>) -> DrawingResult {
    let spec = energies::per_item(&overlays(material), material.options.energy);
    chart(spec, || {
        let mut rows = material.after.rows().iter();
        let why = rows.find_map(|row| {
            row.latency_ns
                .as_ref()
                .and_then(|_| row.energy.as_ref().err())
        });
        why.map_or_else(
            || no_curves(material),
            |why| format!("no energy is known: {why}"),
        )
    })
}

/// The most memory of each batch.
pub(super) fn memory(material: &FigureInputs<'_>) -> DrawingResult {
    let spec = memories::peak(&overlays(material));
    chart(spec, || {
        let name = &material.after.session.name;
        format!("it is not known how much memory any case of {name} needed")
    })
}

/// Memory in use while a profile was taken.
pub(crate) fn memory_in_use(material: &FigureInputs<'_>) -> DrawingResult {
    let profile = profile(&material.after, material.profile)?;
    let mut spec = memories::over_time(&profile.memory);
    spec.title = format!("{}, {}", spec.title, profile.name);
    chart(spec, || {
        format!(
            "the profile {} does not record memory over time",
            profile.name
        )
    })
}

/// The chosen case, or the first one that was measured.
fn case<'a>(material: &FigureInputs<'a>) -> Result<&'a Case, String> {
    let session = material.after.session;
    let is_meant = |case: &&Case| {
        material.setup.is_none_or(|setup| setup == case.setup)
            && material.point.is_none_or(|point| point == case.point)
    };
    let mut meant = session.cases.iter().filter(is_meant).peekable();
    if meant.peek().is_none() && !session.cases.is_empty() {
        let setup = material.setup.map_or_else(String::new, |setup| {
            format!(" of {}", session.setup_label(setup))
        });
        let at = material
            .point
            .map_or_else(String::new, |point| format!(" at {point}"));
        let name = &session.name;
        return Err(format!("{name} has no case{setup}{at}"));
    }
    let mut measured = session
        .cases
        .iter()
        .filter(is_meant)
        .filter(|case| case.n_samples() > 0);
    measured
        .next()
        .ok_or_else(|| no_samples(material, meant.next()))
}

/// Why a case has no samples.
fn no_samples(material: &FigureInputs<'_>, case: Option<&Case>) -> String {
    let session = material.after.session;
    let reason = case.and_then(|case| Some((case, case.outcome.sentence()?)));
    match reason {
        Some((case, reason)) => format!(
            "{} at {} has no samples: {reason}",
            session.setup_label(case.setup),
            case.point
        ),
        None => case
            .and_then(|case| reported_stats::stated_text(session, case))
            .unwrap_or_else(|| not_measured(session)),
    }
}

fn titled(title: &str, session: &Session, case: &Case) -> String {
    let setup = session.setup_label(case.setup);
    format!("{title}, {setup}, {}", case.point)
}

/// The latency distribution.
pub(super) fn distribution(material: &FigureInputs<'_>) -> DrawingResult {
    let (case, session) = (case(material)?, material.after.session);
    let times: Vec<f64> = case.samples_ns().map(|ns| ns as f64).collect();
    let mut spec = of_case::histogram(&times, colour(session, case.setup));
    spec.title = titled("Latency distribution", session, case);
    chart(spec, || no_samples(material, Some(case)))
}

/// Latency over time.
pub(super) fn samples(material: &FigureInputs<'_>) -> DrawingResult {
    let (case, session) = (case(material)?, material.after.session);
    let mut spec = of_case::strip(case, colour(session, case.setup), BUCKETS);
    spec.title = titled("Latency over time", session, case);
    chart(spec, || no_samples(material, Some(case)))
}

/// Device telemetry: over the whole run, or of one case.
pub(super) fn telemetry(material: &FigureInputs<'_>) -> DrawingResult {
    let session = material.after.session;
    let is_of_one = material.setup.is_some() || material.point.is_some();
    let lanes = if is_of_one {
        lanes::of_case(session, case(material)?)
    } else {
        let whole = TimeSpan {
            from_ns: 0,
            to_ns: session.elapsed_ns,
        };
        lanes::of_run(session, whole, |setup| colour(session, setup))
    };
    if !lanes.is_empty() {
        return Ok(Drawing::Lanes(Box::new(lanes)));
    }
    let missing = session.telemetry.missing.first();
    let why = missing.map_or_else(String::new, |missing| {
        format!(": {} is not available: {}", missing.source, missing.why)
    });
    Err(format!("{} has no readings of devices{why}", session.name))
}

/// A profile of a session by its place, or why there is none.
pub fn profile<'a>(part: &SessionNumbers<'a>, place: usize) -> Result<&'a Profile, String> {
    let (name, profiles) = (&part.session.name, &part.session.profiles);
    match profiles.get(place) {
        Some(profile) => Ok(profile),
        None if profiles.is_empty() => Err(format!(
            "{name} has no profile. Measure it with profiles, or import the file of another profiler"
        )),
        None => Err(format!(
            "{name} has no profile {}; it has {}",
            place + 1,
            profiles.len()
        )),
    }
}

fn with_rules<T>(material: &FigureInputs<'_>, then: impl FnOnce(&Rules) -> T) -> T {
    match material.rules {
        Some(rules) => then(rules),
        None => then(&Rules::with_user_rules(&[])),
    }
}

fn found(
    material: &FigureInputs<'_>,
    level: BreakdownLevel,
) -> Result<(Breakdown, String), String> {
    let profile = profile(&material.after, material.profile)?;
    let found = with_rules(material, |rules| {
        breakdown::profile_breakdown(profile, rules, level)
    });
    if found.summed_ns.unwrap_or(0) == 0 {
        let name = &profile.name;
        return Err(format!("the profile {name} has no times to add up"));
    }
    let title = format!("Time by {}, {}", level.title(), profile.name);
    Ok((found, title))
}

fn bars(material: &FigureInputs<'_>, level: BreakdownLevel) -> DrawingResult {
    let (found, title) = found(material, level)?;
    let bars = drawn::bars(
        &found,
        &found.filtered_rows(&Filter::default()),
        Times::Total,
    );
    Ok(Drawing::Bars(Box::new(Bars { title, bars })))
}

/// Bars of categories.
pub(super) fn categories(material: &FigureInputs<'_>) -> DrawingResult {
    bars(material, BreakdownLevel::Category)
}

/// Bars of operators.
pub(super) fn operators(material: &FigureInputs<'_>) -> DrawingResult {
    bars(material, BreakdownLevel::Operator)
}

/// Bars of kernels.
pub(super) fn kernels(material: &FigureInputs<'_>) -> DrawingResult {
    bars(material, BreakdownLevel::Kernel)
}

/// Kernels as areas.
pub(super) fn treemap(material: &FigureInputs<'_>) -> DrawingResult {
    let (found, title) = found(material, BreakdownLevel::Kernel)?;
    let regions = regions(&found, &found.filtered_rows(&Filter::default()));
    Ok(Drawing::Treemap(Box::new(Treemap { title, regions })))
}

/// The changes between two profiles: of two sessions, or the first two of one.
pub(super) fn changes(material: &FigureInputs<'_>) -> DrawingResult {
    let (before, after) = if let Some(before) = &material.before {
        (
            profile(before, material.profile_before)?,
            profile(&material.after, material.profile)?,
        )
    } else {
        profile(&material.after, 0)?;
        let last = material.profile.max(1);
        let after = profile(&material.after, last).map_err(|_one| {
            format!(
                "{} has one profile; a comparison needs a second one, or another session",
                material.after.session.name
            )
        })?;
        (profile(&material.after, material.profile_before)?, after)
    };
    let comparison = with_rules(material, |rules| {
        kernel_comparison::compare_profiles(before, after, rules)
    });
    let rows: Vec<usize> = (0..comparison.rows.len()).collect();
    let steps = drawn::changes(&comparison, &rows);
    if steps.is_empty() {
        return Err("the two profiles do not differ".to_owned());
    }
    let per_run = comparison.per();
    let per_run = per_run.map_or_else(String::new, |per| format!(", {per}"));
    Ok(Drawing::Changes(Box::new(Changes {
        title: format!("{} → {}{per_run}", before.name, after.name),
        steps,
    })))
}

fn compared_steps(material: &FigureInputs<'_>) -> Result<Journey, String> {
    let session = material.after.session;
    if session.plan.ladder.is_empty() && session.plan.setups.len() < 2 {
        let name = &session.name;
        return Err(format!("{name} has one setup only; steps need two"));
    }
    if material.point.is_some() && !session.plan.ladder.is_empty() {
        let name = &session.name;
        return Err(format!(
            "{name} has a ladder, whose steps have points of their own"
        ));
    }
    let point = material.point.unwrap_or_else(|| session.plan.first_point());
    let rows = material.after.rows();
    Ok(journeys::compare_steps(session, rows, point))
}

/// The names of the steps stand below the bars, because no table stands beside them.
fn named(mut spec: ChartSpec, journey: &Journey) -> ChartSpec {
    for (tick, step) in spec.x.ticks.iter_mut().zip(&journey.steps) {
        tick.text.clone_from(&step.title);
    }
    spec
}

fn no_gains(material: &FigureInputs<'_>) -> String {
    let name = &material.after.session.name;
    format!("no two steps of {name} were measured, so there is nothing to compare")
}

/// The gain of each step over the previous one.
pub(super) fn steps_vs_previous(material: &FigureInputs<'_>) -> DrawingResult {
    let journey = compared_steps(material)?;
    let session = material.after.session;
    if !journey.is_ladder {
        let name = &session.name;
        return Err(format!(
            "the setups of {name} are alternatives, not optimisation steps; journey-start has each vs. the first"
        ));
    }
    let spec = steps::vs_previous(&journey, |setup| colour(session, setup));
    chart(named(spec, &journey), || no_gains(material))
}

/// The gain of each step over the baseline.
pub(crate) fn steps_vs_baseline(material: &FigureInputs<'_>) -> DrawingResult {
    let journey = compared_steps(material)?;
    let session = material.after.session;
    let spec = steps::vs_baseline(&journey, |setup| colour(session, setup));
    chart(named(spec, &journey), || no_gains(material))
}

/// Speed and accuracy.
pub(super) fn trade_off(material: &FigureInputs<'_>) -> DrawingResult {
    let part = &material.after;
    let session = part.session;
    let accuracies: Vec<_> = session.accuracies.iter().collect();
    if accuracies.is_empty() {
        return Err(format!(
            "{} has no accuracies; measure it with outputs compared",
            session.name
        ));
    }
    let judged: Vec<JudgedSetup<'_>> = accuracies
        .iter()
        .map(|(setup, accuracy)| JudgedSetup {
            accuracy,
            curve: part.curves().iter().find(|curve| curve.setup == **setup),
            session: 0,
        })
        .collect();
    let quality = trade_off::known_qualities(&judged)
        .first()
        .copied()
        .unwrap_or_default();
    let at = material.point.map_or(SpeedPoint::Best, SpeedPoint::Point);
    let standings = trade_off::judged_standings(&judged, quality, at);
    let spots = accuracies
        .iter()
        .zip(&standings)
        .filter_map(|((setup, _), standing)| {
            let (speed, level) = (standing.speed?, standing.level?);
            Some(scatter::TradeOffPoint {
                id: SeriesId(**setup as u64),
                name: session.setup_label(**setup),
                colour: colour(session, **setup),
                at: speed.point,
                per_s: speed.per_s,
                level,
                is_front: standing.rank == trade_off::ParetoRank::Front,
            })
        });
    let spots: Vec<scatter::TradeOffPoint> = spots.collect();
    chart(scatter::scatter(&spots, quality), || {
        format!(
            "no setup of {} has both a speed and an accuracy",
            session.name
        )
    })
}

/// The two sides of a comparison: two sessions, or the first setup of one and another of it.
pub(super) fn compared(material: &FigureInputs<'_>) -> Result<(Comparison, usize), String> {
    let after = &material.after;
    let side = |part: &'_ SessionNumbers<'_>, setup: usize| -> (usize, Option<Point>) {
        (
            setup.min(part.session.plan.setups.len().saturating_sub(1)),
            material.point,
        )
    };
    let last = after.session.plan.setups.len().saturating_sub(1);
    match &material.before {
        Some(before) => {
            let (first, second) = (material.setup, material.setup.unwrap_or(0));
            let spec = after.session.setup_spec(second);
            let same = before.session.find_setup(&spec);
            let mine = side(before, same.unwrap_or(0));
            let theirs = side(after, second);
            let (mine, theirs) = (of_part(before, mine), of_part(after, theirs));
            // All setups of both, unless one is meant or there is only one.
            let is_whole = first.is_none() && (last > 0 || before.session.plan.setups.len() > 1);
            let found = if is_whole {
                comparison::compare_sessions_with_earlier(&mine, &theirs, &material.earlier)
            } else {
                comparison::compare_setups_with_earlier(&mine, &theirs, &material.earlier)
            };
            Ok((found, second))
        }
        None if last == 0 => Err(format!(
            "{} has one setup only; name another session to compare it with",
            after.session.name
        )),
        None if material.setup == Some(0) => Err(format!(
            "{} is the setup that others are compared with; name another one",
            after.session.setup_label(0)
        )),
        None => {
            let second = material.setup.unwrap_or(last);
            let mine = of_part(after, side(after, 0));
            let theirs = of_part(after, side(after, second));
            Ok((comparison::compare_setups(&mine, &theirs), second))
        }
    }
}

fn of_part<'a>(
    part: &'a SessionNumbers<'_>,
    (setup, point): (usize, Option<Point>),
) -> ComparedSide<'a> {
    ComparedSide {
        session: part.session,
        rows: part.rows(),
        setup,
        point,
    }
}

/// The speed-up of each case.
pub(super) fn comparison(material: &FigureInputs<'_>) -> DrawingResult {
    let (found, setup) = compared(material)?;
    let session = material.after.session;
    let mut spec = ratios::speed_ups(&found.pairs, |setup| colour(session, setup));
    if material.before.is_none() {
        let (first, second) = (session.setup_label(0), session.setup_label(setup));
        spec.title = format!("Speed-up, {first} → {second}");
    }
    chart(spec, || {
        let nothing = found.nothing.clone();
        nothing.unwrap_or_else(|| "no case was measured on both sides".to_owned())
    })
}

/// One case through other sessions.
pub(super) fn history(material: &FigureInputs<'_>) -> DrawingResult {
    let session = material.after.session;
    let key = case(material)?.key();
    let CaseKey { setup, point } = key;
    let followed = FollowedCase::new(session, setup, point);
    let parts = std::iter::once(&material.after)
        .chain(&material.before)
        .chain(&material.others);
    let pairs: Vec<_> = parts.map(|part| (part.session, part.rows())).collect();
    let found = history::case_history(&followed, &pairs);
    let mut spec = through_time::medians(&found, colour(session, setup));
    spec.title = format!("Median latency, {}, {point}", session.setup_label(setup));
    // A line has no bars, and a single point shows no change.
    debug_assert!(
        spec.series
            .iter()
            .all(|series| series.stroke == Stroke::Curve)
    );
    chart(spec, || not_measured(session))
}
