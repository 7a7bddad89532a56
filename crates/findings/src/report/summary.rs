//! A page for each setup: throughput and times, memory, accuracy, the top operations, and optimisation
//! opportunities.

use super::document::{
    Block, ChecklistItem, Document, NoteLevel, ReportCell, ReportTable, ReportText,
};
use super::material::{ReportInputs, ReportedSession};
use super::{conclusions, numbers, overview, profiles};
use crate::analysis::best_case;
use crate::analysis::breakdown::{self, Breakdown, BreakdownLevel};
use crate::analysis::case_rows::CaseRow;
use crate::analysis::category::{Category, Rules};
use crate::analysis::profiled;
use crate::analysis::run_phases::{self, PhaseRow};
use crate::tables::cases::why_not;
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point;
use powerband_core::domain::profile::Profile;
use powerband_core::stats::joint::Statement;

/// So many setups have a page.
const MOST_SETUPS: usize = 12;
/// So many operations are named.
const MOST_OPERATIONS: usize = 3;
const TOP_OPERATIONS: &str = "Top operations";
/// From this share of the time on, an opportunity is one.
const WORTH_IT: f64 = 0.10;
/// From this share on, a single kernel is worth optimising.
const ONE_KERNEL: f64 = 0.30;
/// From this share on, memory is short.
const SHORT_OF_MEMORY: f64 = 0.80;

/// Without setups and profiles there is no page.
pub fn refusal(material: &ReportInputs<'_>) -> Option<String> {
    let session = &material.first.session;
    let is_bare = session.plan.setups.is_empty() && session.profiles.is_empty();
    is_bare.then(|| {
        format!(
            "the layout summary has a page for each setup or profile, and {} has neither; use --layout full",
            session.name
        )
    })
}

/// Makes the report.
pub fn write(material: &ReportInputs<'_>) -> Document {
    let source = &material.first;
    let session = &source.session;
    let mut document = Document {
        title: format!("{}: performance summary", overview::networks(session)),
        subtitle: overview::subtitle(source),
        ..Document::default()
    };
    document.blocks.extend(
        source
            .session_warnings()
            .into_iter()
            .map(|told| Block::Note(NoteLevel::Warning, told.into())),
    );
    let setups = session.plan.setups.len();
    for setup in 0..setups.min(MOST_SETUPS) {
        document.heading(format!(
            "{} with {}",
            session.model_of(setup).name,
            session.setup_label(setup)
        ));
        document.blocks.extend(page(source, setup, material.rules));
    }
    let profiles = &session.profiles;
    let (pages, word) = if setups == 0 {
        for profile in profiles.iter().take(MOST_SETUPS) {
            document.heading(profile.name.clone());
            document
                .blocks
                .extend(profile_page(source, profile, material.rules));
        }
        (profiles.len(), "profile")
    } else {
        (setups, "setup")
    };
    if pages > MOST_SETUPS {
        let more = humanize::pluralised((pages - MOST_SETUPS) as u64, word);
        document.blocks.push(Block::paragraph(format!(
            "{more} left out here; {}.",
            source.full_table_hint()
        )));
    }
    document.section("Notes", conclusions::notes(source));
    document.section("How to repeat it", conclusions::repeat(source));
    document
}

fn page(source: &ReportedSession<'_>, setup: usize, rules: &Rules) -> Vec<Block> {
    let row = best(source, setup);
    let mut blocks = vec![facts(source, setup, row), metrics(source, setup, row)];
    let key = row.map(|row| CaseKey {
        setup,
        point: row.point,
    });
    let profile = profiles::of_case(source, key).or_else(|| {
        let mut all = source.session.profiles.iter().enumerate();
        all.find(|(_, profile)| profile.case.is_none_or(|case| case.setup == setup))
    });
    let Some((_, profile)) = profile else {
        blocks.push(Block::Heading(3, TOP_OPERATIONS.to_owned()));
        blocks.push(Block::paragraph(
            "– Not profiled: run powerband bench --profile, or import the profile of another tool.",
        ));
        blocks.extend(opportunities(None, row));
        return blocks;
    };
    blocks.extend(operations(source, profile, rules, row));
    blocks
}

/// The page of a profile without a setup: another program measured it.
fn profile_page(source: &ReportedSession<'_>, profile: &Profile, rules: &Rules) -> Vec<Block> {
    let sentence = humanize::capitalised(&profiled::profile_text(profile));
    let mut blocks = vec![Block::paragraph(format!("{sentence}."))];
    blocks.extend(operations(source, profile, rules, None));
    blocks
}

/// The top operations of a profile, and the optimisation opportunities that it shows.
fn operations(
    source: &ReportedSession<'_>,
    profile: &Profile,
    rules: &Rules,
    row: Option<&CaseRow>,
) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(3, TOP_OPERATIONS.to_owned())];
    let operations = breakdown::profile_breakdown(profile, rules, BreakdownLevel::Operator);
    let operations = if operations.has_operators {
        operations
    } else {
        breakdown::profile_breakdown(profile, rules, BreakdownLevel::Kernel)
    };
    if operations.rows.is_empty() {
        let whose = profiles::profiled_case_text(source, profile);
        let words = format!("– The profile of {whose} has no times.");
        blocks.push(Block::paragraph(words));
        blocks.extend(opportunities(None, row));
        return blocks;
    }
    let named = operations.rows.iter().take(MOST_OPERATIONS).map(|top| {
        ReportText::default()
            .code(humanize::shorten(&top.short, 70))
            .text(format!(": {}", numbers::share(top.share)))
    });
    blocks.push(Block::Numbered(named.collect()));
    let whose = profiles::profiled_case_text(source, profile);
    blocks.push(Block::Paragraph(
        ReportText::default().emphasis(format!("From the profile of {whose}.")),
    ));
    let kernels = breakdown::profile_breakdown(profile, rules, BreakdownLevel::Kernel);
    blocks.extend(opportunities(Some(&kernels), row));
    blocks
}

/// The case that stands for a setup: the one with the highest throughput.
fn best<'a>(source: &'a ReportedSession<'_>, setup: usize) -> Option<&'a CaseRow> {
    let rate = |row: &CaseRow| row.throughput_per_s.unwrap_or_default();
    source
        .measured()
        .filter(|row| row.setup == setup)
        .max_by(|a, b| rate(a).total_cmp(&rate(b)))
}

fn facts(source: &ReportedSession<'_>, setup: usize, row: Option<&CaseRow>) -> Block {
    let session = &source.session;
    let inputs = session
        .accuracies
        .get(&setup)
        .map(|found| found.inputs.clone());
    let samples = session
        .plan
        .judging
        .as_ref()
        .and_then(|judging| judging.samples.clone());
    let fed = session
        .cases
        .iter()
        .find_map(|case| Some(case.opening.as_ref()?.feeding.clone()));
    let data = samples.or(inputs).or(fed).filter(|text| !text.is_empty());
    let batch = row.map(|row| {
        let sweep = overview::sweep_words(&session.plan.points);
        let own = source.measured().filter(|row| row.setup == setup);
        match best_case::busiest(&own.collect::<Vec<_>>()) {
            Some(Statement::NotSettled(rows)) => format!(
                "{}; which of {sweep} is the best is not settled: {}",
                row.point,
                point::list(rows.iter().map(|row| row.point))
            ),
            _ => format!("{}, the best of {sweep}", row.point),
        }
    });
    let or_dash = |text: Option<String>, why: &str| -> ReportText {
        text.map_or_else(|| format!("– ({why})").into(), ReportText::from)
    };
    Block::Facts(vec![
        (
            "Model".to_owned(),
            session.model_of(setup).name.as_str().into(),
        ),
        (
            "Setup".to_owned(),
            ReportText::default().code(session.setup_spec(setup)),
        ),
        ("Data".to_owned(), or_dash(data, "nothing was fed")),
        (
            "Batch size".to_owned(),
            or_dash(batch, "no case of it was measured"),
        ),
    ])
}

fn metrics(source: &ReportedSession<'_>, setup: usize, row: Option<&CaseRow>) -> Block {
    let case = row.and_then(|row| {
        source.session.case(CaseKey {
            setup,
            point: row.point,
        })
    });
    let phases: Vec<PhaseRow> = case.map(run_phases::phase_rows).unwrap_or_default();
    let phase = |name: &str| phase(source, setup, &phases, name);
    let why = source
        .rows
        .iter()
        .find(|row| row.setup == setup)
        .map_or_else(|| "it is not in the plan".to_owned(), why_not);
    let learned = case.and_then(|case| {
        let mut epochs = case.rounds.iter().flat_map(|round| &round.epochs);
        Some(epochs.next_back()?.accuracy)
    });
    let top1 = source
        .session
        .accuracies
        .get(&setup)
        .and_then(|found| found.top1?.share());
    let accuracy = learned.or(top1).map(numbers::share);
    let without_accuracy = if phases.is_empty() {
        "nothing was trained, and no labels were given"
    } else {
        "no epoch was finished while it was measured"
    };
    let line = |name: &str, cell: ReportCell| vec![ReportCell::new(name), cell];
    let lines = vec![
        line(
            "Throughput",
            ReportCell::known(
                row.and_then(numbers::rate)
                    .map(|rate| format!("{rate} items/s")),
                &why,
            ),
        ),
        line(
            "Batch time",
            ReportCell::known(row.and_then(numbers::median_with_uncertainty), &why),
        ),
        line("Forward time", phase("forward")),
        line("Backward time", phase("backward")),
        line(
            "Peak memory",
            ReportCell::known(
                row.and_then(|row| Some(humanize::bytes(row.memory?.bytes as u64))),
                "no device or worker reported its memory",
            ),
        ),
        line(
            "Device utilisation",
            ReportCell::known(
                row.and_then(super::devices::busy),
                "no device that it ran on reports it",
            ),
        ),
        line(
            "Final accuracy",
            ReportCell::known(accuracy, without_accuracy),
        ),
    ];
    let table = ReportTable::new(&["Performance"], &[("Value", "")]);
    Block::Table(table.filled(lines.into_iter(), usize::MAX, "line", ""))
}

/// The time of a phase of a training step, or why there is none.
fn phase(
    source: &ReportedSession<'_>,
    setup: usize,
    phases: &[PhaseRow],
    name: &str,
) -> ReportCell {
    let spec = source.session.plan.setups.get(setup);
    let trains = spec.is_some_and(|spec| {
        let task = spec.options.get("task");
        task.is_some_and(|task| task == "train")
    });
    let why = if trains {
        "the worker does not report its phases"
    } else {
        "the network was run, not trained"
    };
    let found = phases
        .iter()
        .find(|part| part.name.eq_ignore_ascii_case(name));
    let text = found.map(|part| {
        let share = part
            .share
            .map_or_else(String::new, |share| format!(", {}", numbers::share(share)));
        format!("{}{share}", humanize::duration_ns(part.median_ns))
    });
    ReportCell::known(text, why)
}

/// Optimisation opportunities, each with its evidence.
fn opportunities(kernels: Option<&Breakdown>, row: Option<&CaseRow>) -> Vec<Block> {
    let share = |categories: &[Category]| kernels.map(|found| found.share_of(categories));
    let fusable = share(&[Category::BatchNorm, Category::Norm, Category::Elementwise]);
    let moved = share(&[Category::Copies, Category::Layout]);
    let filled = row
        .and_then(|row| row.memory)
        .and_then(|need| Some(need.bytes / need.capacity?));
    let largest = kernels
        .and_then(|found| found.rows.first())
        .map(|row| (row.share, row.short.clone()));
    let no_profile = "no profile was taken".to_owned();
    let percent = numbers::share;
    let check = |is_ticked: Option<bool>, name: &str, grounds: String| ChecklistItem {
        is_ticked,
        text: ReportText::default()
            .strong(name)
            .text(format!(": {grounds}")),
    };
    let memory = match (moved, filled) {
        (None, None) => no_profile.clone(),
        (moved, filled) => {
            let moved = moved.map(|share| {
                format!(
                    "copies and layout changes take {} of the time",
                    percent(share)
                )
            });
            let filled = filled.map(|share| format!("{} of the memory was needed", percent(share)));
            moved
                .into_iter()
                .chain(filled)
                .collect::<Vec<_>>()
                .join("; ")
        }
    };
    let is_short = |share: Option<f64>, limit: f64| share.map(|share| share >= limit);
    let is_memory = match (is_short(moved, WORTH_IT), is_short(filled, SHORT_OF_MEMORY)) {
        (None, None) => None,
        (moved, filled) => Some(moved == Some(true) || filled == Some(true)),
    };
    let checks = vec![
        check(
            is_short(fusable, WORTH_IT),
            "Operator fusion potential",
            fusable.map_or_else(
                || no_profile.clone(),
                |share| format!("separate normalisation, activation and elementwise kernels take {} of the time", percent(share)),
            ),
        ),
        check(is_memory, "Memory optimisation needed", memory),
        check(
            is_short(largest.as_ref().map(|(share, _)| *share), ONE_KERNEL),
            "Custom kernel opportunities",
            largest.map_or(no_profile, |(share, name)| {
                format!("the largest single kernel, {}, takes {} of the time", humanize::shorten(&name, 70), percent(share))
            }),
        ),
    ];
    let rule = format!(
        "Ticked from {} of the time on for the first two ({} of the memory), and from {} on for a single kernel.",
        percent(WORTH_IT),
        percent(SHORT_OF_MEMORY),
        percent(ONE_KERNEL)
    );
    vec![
        Block::Heading(3, "Optimisation opportunities".to_owned()),
        Block::Checks(checks),
        Block::Paragraph(ReportText::default().emphasis(rule)),
    ]
}
