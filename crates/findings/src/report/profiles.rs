//! Where the time went.

use super::document::{Block, Text};
use super::material::{Material, Source};
use super::numbers;
use crate::analysis::breakdown::{self, Breakdown, Filter, Level};
use crate::analysis::category::Rules;
use crate::analysis::kernel_comparison;
use crate::analysis::limits::{self, Limits};
use crate::tables::{self, view::View};
use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::profile::Profile;

/// So many rows of each table are shown.
const MOST_ROWS: usize = 12;
/// Longest name of a kernel, in characters.
const LONGEST_NAME: usize = 70;

/// The profile that a report is about: that of the case with the highest throughput, or most likely so; else the first.
pub fn chosen<'a>(source: &'a Source<'_>) -> Option<(usize, &'a Profile)> {
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
pub fn of_case<'a>(source: &'a Source<'_>, case: Option<CaseKey>) -> Option<(usize, &'a Profile)> {
    let mut all = source.session.profiles.iter().enumerate();
    all.find(|(_, profile)| case.is_some() && profile.case == case)
}

/// Which case a profile is of, in words.
pub fn whose(source: &Source<'_>, profile: &Profile) -> String {
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
pub fn blocks(source: &Source<'_>, rules: &Rules) -> Vec<Block> {
    let Some((place, profile)) = chosen(source) else {
        return Vec::new();
    };
    let limits = limits::of_profile(&source.session, place, &source.session.roofs);
    let add_up = |level| {
        let mut found = breakdown::add_up(profile, rules, level);
        limits::rows::add_to(&mut found, profile, rules, &limits);
        found
    };
    let by_category = add_up(Level::Category);
    let mut blocks = vec![Block::Paragraph(head(source, profile, &by_category))];
    if by_category.summed_ns.unwrap_or(0) == 0 {
        blocks.extend(counters_table(source, profile));
        return blocks;
    }
    blocks.push(table(source, &by_category));
    let level = if by_category.has_operators {
        Level::Operator
    } else {
        Level::Kernel
    };
    blocks.push(table(source, &add_up(level)));
    blocks.extend(findings(source, &limits));
    blocks.extend(counters_table(source, profile));
    let notes: Vec<Text> = profile
        .notes
        .iter()
        .take(MOST_ROWS)
        .map(|note| note.as_str().into())
        .collect();
    if !notes.is_empty() {
        blocks.push(Block::List(notes));
    }
    let others = source.session.profiles.len() - 1;
    if others > 0 {
        blocks.push(Block::Paragraph(
            format!(
                "The session has {}; powerband kernels {} --profile 2, and so on, shows each.",
                humanize::of_many(others as u64, "more profile"),
                source.named()
            )
            .into(),
        ));
    }
    blocks
}

fn head(source: &Source<'_>, profile: &Profile, found: &Breakdown) -> Text {
    let tool = format!(
        "{} {}",
        profile.tool.name,
        profile.tool.version.as_deref().unwrap_or_default()
    );
    let text = Text::from("Profile of ")
        .code(whose(source, profile))
        .plain(format!(", by {}", tool.trim()));
    let (Some(summed_ns), Some(calls)) = (found.summed_ns, found.calls) else {
        return text.plain("; it has no times.");
    };
    if summed_ns == 0 {
        return text.plain("; it has no kernels, operators or other timed work.");
    }
    let per_run = found
        .per_run(summed_ns as f64)
        .zip(found.runs)
        .map(|(ns, runs)| {
            let runs = humanize::of_many(runs.count, runs.word());
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
    text.plain(format!(
        ": {} in {}{}{}{}. Profiling slows a run, so read the shares, not the times.",
        humanize::duration_ns(summed_ns as f64),
        humanize::of_many(calls, "call"),
        per_run.unwrap_or_default(),
        idle.unwrap_or_default(),
        between.unwrap_or_default()
    ))
}

fn table(source: &Source<'_>, found: &Breakdown) -> Block {
    let number = chosen(source).map_or(1, |(place, _)| place + 1);
    let by = match found.level {
        Level::Kernel => " --by kernel",
        Level::Operator => " --by operator",
        Level::Category => "",
    };
    let elsewhere = format!(
        "powerband kernels {} --profile {number}{by} has them all",
        source.named()
    );
    let places: Vec<usize> = (0..found.rows.len()).collect();
    let view = View::new(tables::kernels::of_breakdown(found, &places))
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
fn findings(source: &Source<'_>, limits: &Limits) -> Vec<Block> {
    if limits.nodes.iter().all(|node| node.work.is_none()) {
        return Vec::new();
    }
    let table = |table, what| {
        Block::Table(View::new(table).to_document(MOST_ROWS, what, &source.elsewhere()))
    };
    let mut blocks = Vec::new();
    if let Ok(wall) = &limits.wall {
        let head = format!(
            "The wall time, {}, in parts that add up:",
            humanize::duration_ns(wall.wall_ns)
        );
        blocks.push(Block::Paragraph(head.into()));
        blocks.push(table(tables::wall::of_wall(wall), "part"));
    }
    if !limits.findings.is_empty() {
        blocks.push(table(
            tables::findings::of_findings(&limits.findings),
            "finding",
        ));
    }
    let unsaid = limits.abstained.iter().take(MOST_ROWS);
    let unsaid: Vec<Text> = unsaid.map(|reason| reason.as_str().into()).collect();
    if !unsaid.is_empty() {
        blocks.push(Block::List(unsaid));
    }
    blocks
}

/// The hardware counters, where there are any.
fn counters_table(source: &Source<'_>, profile: &Profile) -> Option<Block> {
    if profile.counters.is_empty() {
        return None;
    }
    let number = chosen(source).map_or(1, |(place, _)| place + 1);
    let elsewhere = format!(
        "powerband kernels {} --profile {number} has them all",
        source.named()
    );
    let view = View::new(tables::counters::of_counters(&profile.counters)).shortened(LONGEST_NAME);
    Some(Block::Table(
        view.to_document(MOST_ROWS, "counter", &elsewhere),
    ))
}

/// The changes between the profiles of two sessions, where both have one of a matching case.
pub fn changes(material: &Material<'_>) -> Vec<Block> {
    let Some(after) = &material.second else {
        return Vec::new();
    };
    let Some(((_, before), (_, after_profile))) = chosen(&material.first).zip(chosen(after)) else {
        return Vec::new();
    };
    let found = kernel_comparison::compare_profiles(before, after_profile, material.rules);
    let per = found
        .per()
        .map_or_else(String::new, |per| format!(" {per}"));
    let time = |ns: Option<f64>| ns.map_or_else(|| UNKNOWN.to_owned(), humanize::duration_ns);
    let mut blocks = vec![Block::Paragraph(
        Text::from("From ")
            .code(whose(&material.first, before))
            .plain(" to ")
            .code(whose(after, after_profile))
            .plain(format!(
                ": {} became {}{per}.",
                time(found.before_ns),
                time(found.after_ns)
            )),
    )];
    let elsewhere = format!(
        "powerband kernels {} --against {} has them all",
        after.named(),
        material.first.named()
    );
    let places = found.shown(&Filter::NONE);
    let view = View::new(tables::kernel_changes::of_comparison(&found, &places))
        .columns(&tables::kernel_changes::IN_REPORT)
        .shortened(LONGEST_NAME);
    blocks.push(Block::Table(view.to_document(MOST_ROWS, "row", &elsewhere)));
    let notes: Vec<Text> = found
        .notes
        .iter()
        .map(|note| note.as_str().into())
        .collect();
    if !notes.is_empty() {
        blocks.push(Block::List(notes));
    }
    blocks
}
