//! Where the time went.

use super::document::{Block, Cell, Table, Text};
use super::material::{Material, Source};
use super::numbers;
use crate::analysis::breakdown::{self, Breakdown, Level, Row};
use crate::analysis::category::Rules;
use crate::analysis::counters;
use crate::analysis::kernel_comparison;
use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::profile::Profile;

/// So many rows of each table are shown.
const MOST_ROWS: usize = 12;
/// Longest name of a kernel, in characters.
const LONGEST_NAME: usize = 70;

/// The profile that a report is about: that of the case with the highest throughput, else the first.
pub fn chosen<'a>(source: &'a Source<'_>) -> Option<(usize, &'a Profile)> {
    let wanted = source.busiest().map(|row| CaseKey {
        setup: row.setup,
        batch: row.batch,
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
            "{} at batch {}",
            source.session.setup_label(case.setup),
            case.batch
        ),
        None => profile.name.clone(),
    }
}

/// The breakdown of one profile.
pub fn blocks(source: &Source<'_>, rules: &Rules) -> Vec<Block> {
    let Some((_, profile)) = chosen(source) else {
        return Vec::new();
    };
    let by_category = breakdown::add_up(profile, rules, Level::Category);
    let mut blocks = vec![Block::Paragraph(head(source, profile, &by_category))];
    if by_category.summed_ns.unwrap_or(0) == 0 {
        blocks.extend(counters_table(source, profile));
        return blocks;
    }
    blocks.push(table(source, &by_category, "Category"));
    let level = if by_category.has_operators {
        Level::Operator
    } else {
        Level::Kernel
    };
    let title = if level == Level::Operator {
        "Operator"
    } else {
        "Kernel"
    };
    let found = breakdown::add_up(profile, rules, level);
    blocks.push(table(source, &found, title));
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
        return text.plain("; nothing that takes time was seen in it.");
    }
    let per_run = found
        .per_run(summed_ns as f64)
        .zip(found.runs)
        .map(|(ns, runs)| {
            let runs = humanize::of_many(runs, "run");
            format!(", {} in each of {runs}", humanize::duration_ns(ns))
        });
    let idle = found
        .busy
        .and_then(breakdown::Busy::idle_share)
        .filter(|share| *share >= 0.005)
        .map(|share| {
            format!(
                "; the device was idle for {} of the time",
                numbers::share(share)
            )
        });
    let between = found.between_nodes_ns.map(|ns| {
        format!(
            "; {} of the runs is between nodes, on the host",
            humanize::duration_ns(ns as f64)
        )
    });
    text.plain(format!(
        ": {} in {}{}{}{}. What is watched is slower, so the shares count, not the times.",
        humanize::duration_ns(summed_ns as f64),
        humanize::of_many(calls, "call"),
        per_run.unwrap_or_default(),
        idle.unwrap_or_default(),
        between.unwrap_or_default()
    ))
}

fn table(source: &Source<'_>, found: &Breakdown, title: &str) -> Block {
    let heads = [
        ("Share", ""),
        ("Total", ""),
        ("A run", ""),
        ("Calls", ""),
        ("Mean", ""),
    ];
    let line = |row: &Row| {
        let total = row.total_ns as f64;
        vec![
            Cell::of(humanize::shorten(&row.short, LONGEST_NAME)),
            Cell::of(format!("{:.1} %", row.share * 100.0)),
            Cell::of(humanize::duration_ns(total)),
            Cell::known(found.per_run(total).map(humanize::duration_ns), ""),
            Cell::of(humanize::count(row.calls)),
            Cell::known(row.mean_ns().map(humanize::duration_ns), ""),
        ]
    };
    let number = chosen(source).map_or(1, |(place, _)| place + 1);
    let by = match title {
        "Kernel" => " --by kernel",
        "Operator" => " --by operator",
        _ => "",
    };
    let elsewhere = format!(
        "powerband kernels {} --profile {number}{by} has them all",
        source.named()
    );
    let table = Table::new(&[title], &heads)
        .filled(found.rows.iter().map(line), MOST_ROWS, "row", &elsewhere)
        .without_empty_columns();
    Block::Table(table)
}

/// What the hardware counted, where anything was counted.
fn counters_table(source: &Source<'_>, profile: &Profile) -> Option<Block> {
    if profile.counters.is_empty() {
        return None;
    }
    let [kernel, counter, numbers @ ..] = counters::TITLES;
    let heads = numbers.map(|title| (title, ""));
    let lines = profile.counters.iter().map(|counted| {
        let [kernel, rest @ ..] = counters::cells(counted);
        let kernel = humanize::shorten(&kernel, LONGEST_NAME);
        std::iter::once(kernel).chain(rest).map(Cell::of).collect()
    });
    let number = chosen(source).map_or(1, |(place, _)| place + 1);
    let elsewhere = format!(
        "powerband kernels {} --profile {number} has them all",
        source.named()
    );
    Some(Block::Table(
        Table::new(&[kernel, counter], &heads).filled(lines, MOST_ROWS, "counter", &elsewhere),
    ))
}

/// What makes the difference between the profiles of two sessions, where both have one of a like case.
pub fn changes(material: &Material<'_>) -> Vec<Block> {
    let Some(after) = &material.second else {
        return Vec::new();
    };
    let Some(((_, before), (_, after_profile))) = chosen(&material.first).zip(chosen(after)) else {
        return Vec::new();
    };
    let found = kernel_comparison::compare_profiles(before, after_profile, material.rules);
    let per = if found.is_per_run { " a run" } else { "" };
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
    let heads = [("Before", ""), ("After", ""), ("Of the difference", "")];
    let lines = found.rows.iter().map(|row| {
        let side = |is_there: bool, ns: f64| {
            Cell::known(
                is_there.then(|| humanize::duration_ns(ns)),
                "it did not run there",
            )
        };
        vec![
            Cell::of(humanize::shorten(&row.title, LONGEST_NAME)),
            Cell::of(row.change().title()),
            side(!row.before.is_empty(), row.before_ns()),
            side(!row.after.is_empty(), row.after_ns()),
            Cell::known(found.contribution(row).map(numbers::share), ""),
        ]
    });
    let elsewhere = format!(
        "powerband kernels {} --against {} has them all",
        after.named(),
        material.first.named()
    );
    let table = Table::new(&["Name", "What"], &heads).filled(
        lines.collect::<Vec<_>>().into_iter(),
        MOST_ROWS,
        "row",
        &elsewhere,
    );
    blocks.push(Block::Table(table));
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
