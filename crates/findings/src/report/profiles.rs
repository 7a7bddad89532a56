//! Where the time went.

use super::document::{Block, ReportText};
use super::material::{ReportInputs, ReportedSession};
use super::numbers;
use crate::analysis::breakdown::{self, Breakdown, BreakdownLevel, Filter};
use crate::analysis::category::Rules;
use crate::analysis::kernel_comparison;
use crate::analysis::limits::{self, Limits};
use crate::tables::{self, view::TableView};
use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::profile::Profile;

/// So many rows of each table are shown.
const MOST_ROWS: usize = 12;
/// Longest name of a kernel, in characters.
const LONGEST_NAME: usize = 70;

/// The profile that a report is about: that of the case with the highest throughput, or most likely so; else the first.
pub fn report_profile<'a>(source: &'a ReportedSession<'_>) -> Option<(usize, &'a Profile)> {
    let busiest = source.busiest();
    let wanted = busiest.and_then(|busiest| {
        let row = busiest.candidates().first()?;
        Some(CaseKey {
            setup: row.setup,
            point: row.point,
        })
    });
    of_case(source, wanted).or_else(|| {
        let mut all = source.session.profiles.iter().enumerate();
        all.next()
    })
}

/// The profile of a case.
pub fn of_case<'a>(
    source: &'a ReportedSession<'_>,
    case: Option<CaseKey>,
) -> Option<(usize, &'a Profile)> {
    let mut all = source.session.profiles.iter().enumerate();
    all.find(|(_, profile)| case.is_some() && profile.case == case)
}

/// Which case a profile is of, in words.
pub fn profiled_case_text(source: &ReportedSession<'_>, profile: &Profile) -> String {
    match profile.case {
        Some(case) => format!(
            "{} at {}",
            source.session.setup_label(case.setup),
            case.point
        ),
        None => profile.name.clone(),
    }
}

/// The breakdown of one profile.
pub fn blocks(source: &ReportedSession<'_>, rules: &Rules) -> Vec<Block> {
    let Some((place, profile)) = report_profile(source) else {
        return Vec::new();
    };
    let limits = limits::profile_limits(&source.session, place, &source.session.roofs);
    let add_up = |level| {
        let mut found = breakdown::profile_breakdown(profile, rules, level);
        limits::rows::add_row_limits(&mut found, profile, rules, &limits);
        found
    };
    let by_category = add_up(BreakdownLevel::Category);
    let mut blocks = vec![Block::Paragraph(profile_intro(
        source,
        profile,
        &by_category,
    ))];
    if by_category.summed_ns.unwrap_or(0) == 0 {
        blocks.extend(counters_table(source, profile));
        return blocks;
    }
    blocks.extend(super::job::blocks(profile));
    blocks.push(table(source, &by_category));
    let level = if by_category.has_operators {
        BreakdownLevel::Operator
    } else {
        BreakdownLevel::Kernel
    };
    blocks.push(table(source, &add_up(level)));
    blocks.extend(findings(source, &limits));
    blocks.extend(counters_table(source, profile));
    blocks.extend(Block::list(profile.notes.iter().take(MOST_ROWS)));
    let others = source.session.profiles.len() - 1;
    if others > 0 {
        blocks.push(Block::paragraph(format!(
            "The session has {}; powerband kernels {} --profile 2, and so on, shows each.",
            humanize::pluralised(others as u64, "more profile"),
            source.command_path()
        )));
    }
    blocks
}

fn profile_intro(source: &ReportedSession<'_>, profile: &Profile, found: &Breakdown) -> ReportText {
    let tool = format!(
        "{} {}",
        profile.tool.name,
        profile.tool.version.as_deref().unwrap_or_default()
    );
    let text = ReportText::from("Profile of ")
        .code(profiled_case_text(source, profile))
        .text(format!(", by {}", tool.trim()));
    let (Some(summed_ns), Some(calls)) = (found.summed_ns, found.calls) else {
        return text.text("; it has no times.");
    };
    if summed_ns == 0 {
        return text.text("; it has no kernels, operators or other timed work.");
    }
    let per_run = found
        .per_run(summed_ns as f64)
        .zip(found.runs)
        .map(|(ns, runs)| {
            let runs = humanize::pluralised(runs.count, runs.word());
            format!(", {} in each of {runs}", humanize::duration_ns(ns))
        });
    let idle = found
        .busy
        .and_then(breakdown::Busy::idle_share)
        .filter(|share| *share >= 0.005)
        .map(|share| format!("; {} {}", found.idle_title(), numbers::share(share)));
    let between = found.between_nodes_ns.map(|ns| {
        format!(
            "; {} of the runs is spent between nodes, on the host",
            humanize::duration_ns(ns as f64)
        )
    });
    text.text(format!(
        ": {} in {}{}{}{}. Profiling slows a run, so read the shares, not the times.",
        humanize::duration_ns(summed_ns as f64),
        humanize::pluralised(calls, "call"),
        per_run.unwrap_or_default(),
        idle.unwrap_or_default(),
        between.unwrap_or_default()
    ))
}

fn table(source: &ReportedSession<'_>, found: &Breakdown) -> Block {
    let number = report_profile(source).map_or(1, |(place, _)| place + 1);
    let by = match found.level {
        BreakdownLevel::Kernel => " --by kernel",
        BreakdownLevel::Operator => " --by operator",
        BreakdownLevel::Category => "",
    };
    let elsewhere = format!(
        "powerband kernels {} --profile {number}{by} has them all",
        source.command_path()
    );
    let places: Vec<usize> = (0..found.rows.len()).collect();
    let view = TableView::new(tables::kernels::of_breakdown(found, &places))
        .columns(&[
            "name",
            "share",
            "total_ms",
            "per_run_ms",
            "bound",
            "left",
            "calls",
            "mean_ms",
        ])
        .without_empty_columns()
        .shortened(LONGEST_NAME);
    Block::Table(view.to_document(MOST_ROWS, "row", &elsewhere))
}

/// What limits the case, where the work of its kernels is known: the wall time, the findings, and what is not said.
fn findings(source: &ReportedSession<'_>, limits: &Limits) -> Vec<Block> {
    if limits.nodes.iter().all(|node| node.work.is_none()) {
        return Vec::new();
    }
    let table = |table, what| {
        Block::Table(TableView::new(table).to_document(MOST_ROWS, what, &source.full_table_hint()))
    };
    let mut blocks = Vec::new();
    if let Ok(wall) = &limits.wall {
        let head = format!(
            "The wall time, {}, in parts that add up:",
            humanize::duration_ns(wall.wall_ns)
        );
        blocks.push(Block::paragraph(head));
        blocks.push(table(tables::wall::of_wall(wall), "part"));
    }
    if !limits.findings.is_empty() {
        blocks.push(table(
            tables::findings::of_findings(&limits.findings),
            "finding",
        ));
    }
    blocks.extend(Block::list(limits.abstained.iter().take(MOST_ROWS)));
    blocks
}

/// The hardware counters, where there are any.
fn counters_table(source: &ReportedSession<'_>, profile: &Profile) -> Option<Block> {
    if profile.counters.is_empty() {
        return None;
    }
    let number = report_profile(source).map_or(1, |(place, _)| place + 1);
    let elsewhere = format!(
        "powerband kernels {} --profile {number} has them all",
        source.command_path()
    );
    let view =
        TableView::new(tables::counters::of_counters(&profile.counters)).shortened(LONGEST_NAME);
    Some(Block::Table(
        view.to_document(MOST_ROWS, "counter", &elsewhere),
    ))
}

/// The changes between the profiles of two sessions, where both have one of a matching case.
pub fn changes(material: &ReportInputs<'_>) -> Vec<Block> {
    let Some(after) = &material.second else {
        return Vec::new();
    };
    let Some(((_, before), (_, after_profile))) =
        report_profile(&material.first).zip(report_profile(after))
    else {
        return Vec::new();
    };
    let found = kernel_comparison::compare_profiles(before, after_profile, material.rules);
    let per = found
        .per()
        .map_or_else(String::new, |per| format!(" {per}"));
    let time = |ns: Option<f64>| ns.map_or_else(|| UNKNOWN.to_owned(), humanize::duration_ns);
    let mut blocks = vec![Block::Paragraph(
        ReportText::from("From ")
            .code(profiled_case_text(&material.first, before))
            .text(" to ")
            .code(profiled_case_text(after, after_profile))
            .text(format!(
                ": {} became {}{per}.",
                time(found.before_ns),
                time(found.after_ns)
            )),
    )];
    let elsewhere = format!(
        "powerband kernels {} --against {} has them all",
        after.command_path(),
        material.first.command_path()
    );
    if !found.wall.is_empty() {
        let wall = TableView::new(tables::wall_changes::of_wall_changes(&found));
        blocks.push(wall.to_block());
    }
    let places = found.shown(&Filter::NONE);
    let view = TableView::new(tables::kernel_changes::of_comparison(&found, &places))
        .columns(&tables::kernel_changes::IN_REPORT)
        .shortened(LONGEST_NAME);
    blocks.push(Block::Table(view.to_document(MOST_ROWS, "row", &elsewhere)));
    blocks.extend(Block::list(&found.notes));
    blocks
}
