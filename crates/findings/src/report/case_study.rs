//! A case study: the initial performance, each optimisation step with its gain, and the final results.

use super::document::{Block, Document, ReportCell, ReportTable, ReportText};
use super::material::{ReportInputs, ReportedSession};
use super::{batches, conclusions, figures, journey, numbers, overview, profiles};
use crate::analysis::breakdown::{self, BreakdownLevel};
use crate::analysis::case_rows::CaseRow;
use crate::analysis::comparison::{self, CasePair, ComparedMetric, Ratio};
use crate::analysis::journey::Journey;
use crate::analysis::repeat;
use crate::tables::cell::tone_of;
use powerband_core::base::humanize;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::point::{BATCH, Point};

/// Most categories of the baseline's profile.
const MOST_CATEGORIES: usize = 6;
/// How the numbers of the last table come about.
const OVER_ROUNDS_OR_QUOTIENT: &str = "Times as good: of a latency, the geometric mean of the rounds' ratios, paired where the two were interleaved, which may differ from the quotient of the two medians; of anything else, the quotient of the two numbers.";
/// Shown for a missing number.
const NOT_MEASURED: &str = "not measured";
/// Smaller shares would round to nothing.
const LEAST_SHARE: f64 = 0.005;

/// Without two measured steps there is nothing to study.
pub fn refusal(material: &ReportInputs<'_>) -> Option<String> {
    let source = &material.first;
    let way = journey::journey_of_report(source);
    if journey::has_steps(&way) {
        return None;
    }
    let steps = way.steps.iter().filter(|step| step.row.is_some()).count();
    let what = match (steps, source.session.profiles.len()) {
        (0, 0) => "no case that was measured".to_owned(),
        (0, some) => format!(
            "{} and no case that was measured",
            humanize::pluralised(some as u64, "profile")
        ),
        _ => "one measured setup".to_owned(),
    };
    Some(format!(
        "the layout case-study is of optimisation steps, from one measured setup to another, and {} has {what}; \
         use --layout summary or --layout full",
        source.session.name
    ))
}

/// Makes the report.
pub fn write(material: &ReportInputs<'_>) -> Document {
    let source = &material.first;
    let session = &source.session;
    let mut document = Document {
        title: format!("Case study: {}", session.name),
        subtitle: overview::subtitle(source),
        ..Document::default()
    };
    let way = journey::journey_of_report(source);
    let figures = figures::ReportFigures::new(material);
    document.section("Overview", overview::blocks(source));
    document.section("Initial performance", initial(source, &way));
    let profiled = first_profile(material, &way);
    let number = if profiled.is_empty() { 1 } else { 2 };
    let mut steps = profiled;
    steps.extend(journey::step_blocks(source, &way, number));
    steps.extend(figures.blocks(journey::figures(&way)));
    document.section(journey::title(&way), steps);
    if let Some(setup) = last_setup(&way) {
        let mut table = vec![Block::Paragraph(
            ReportText::from("All batch sizes of ")
                .code(session.setup_label(setup))
                .text(":"),
        )];
        table.extend(batches::of_setup(source, setup));
        table.extend(figures.blocks(&["throughput"]));
        document.section("Batch size", table);
    }
    let results_title = if way.is_ladder {
        "Final results"
    } else {
        "The last setup vs. the first"
    };
    document.section(results_title, results(source, &way));
    document.section(
        "Key takeaways",
        conclusions::findings(source, material.rules, &way),
    );
    document.section("Notes", conclusions::notes(source));
    document.section("Commands used", commands(source));
    document
}

/// The first and the last step that were measured, as setups.
fn ends(way: &Journey) -> Option<(CaseKey, CaseKey)> {
    let mut measured = way.steps.iter().filter(|step| step.row.is_some());
    let first = measured.next()?.case;
    Some((first, measured.next_back()?.case))
}

fn last_setup(way: &Journey) -> Option<usize> {
    let measured = way.steps.iter().rfind(|step| step.row.is_some());
    Some(measured?.case.setup)
}

/// The performance of the first step.
fn initial(source: &ReportedSession<'_>, way: &Journey) -> Vec<Block> {
    let Some(first) = way.steps.iter().find(|step| step.row.is_some()) else {
        return vec![Block::paragraph("The first step was not measured.")];
    };
    let setup = first.case.setup;
    let Some(row) = &first.row else {
        return Vec::new();
    };
    let of_setup = source.measured().filter(|row| row.setup == setup);
    let rate = |row: &&CaseRow| row.throughput_per_s.unwrap_or_default();
    let busiest = of_setup
        .max_by(|a, b| rate(a).total_cmp(&rate(b)))
        .unwrap_or(row);
    let dash = |why: &str| format!("– ({why})");
    let at = |value: Option<String>, unit: &str, point: Point| match value {
        Some(value) => {
            let point = point.to_string().replacen(BATCH, "batch size", 1);
            format!("{value}{unit} at {point}")
        }
        None => dash("not measured"),
    };
    let items = [
        ("Setup", source.session.setup_spec(setup)),
        (
            "Baseline latency",
            at(numbers::median_with_uncertainty(row), "", row.point),
        ),
        (
            "Baseline throughput",
            at(numbers::rate(busiest), " items/s", busiest.point),
        ),
        (
            "Device utilisation",
            super::devices::busy(row)
                .unwrap_or_else(|| dash("no device that it ran on reports it")),
        ),
    ];
    let items = items.map(|(name, value)| {
        ReportText::default()
            .strong(format!("{name}:"))
            .text(format!(" {value}"))
    });
    vec![Block::List(items.to_vec())]
}

/// The profile of the first step.
fn first_profile(material: &ReportInputs<'_>, way: &Journey) -> Vec<Block> {
    let source = &material.first;
    let first = way.steps.iter().find(|step| step.row.is_some());
    let found = profiles::of_case(source, first.map(|step| step.case));
    let Some((place, profile)) = found else {
        return Vec::new();
    };
    let found = breakdown::profile_breakdown(profile, material.rules, BreakdownLevel::Category);
    let mut items: Vec<ReportText> = found
        .rows
        .iter()
        .take_while(|row| row.share >= LEAST_SHARE)
        .take(MOST_CATEGORIES)
        .map(|row| format!("{}: {} of the time", row.name, numbers::share(row.share)).into())
        .collect();
    let others = found.rows.get(items.len()..).unwrap_or_default();
    let share: f64 = others.iter().map(|row| row.share).sum();
    if share >= LEAST_SHARE {
        items.push(format!("everything else: {} of the time", numbers::share(share)).into());
    }
    if items.is_empty() {
        return Vec::new();
    }
    let heading = if way.is_ladder {
        "Step 1: Profile the baseline"
    } else {
        "Profile of the baseline"
    };
    let command = format!(
        "powerband kernels {} --profile {}",
        source.command_path(),
        place + 1
    );
    vec![
        Block::Heading(3, heading.to_owned()),
        Block::Code("sh", command),
        Block::List(items),
    ]
}

/// The last step against the first, at each batch size that both have.
fn results(source: &ReportedSession<'_>, way: &Journey) -> Vec<Block> {
    let Some((first, last)) = ends(way).filter(|(first, last)| first.setup != last.setup) else {
        return vec![Block::paragraph(
            "No second setup was measured, so there is nothing to compare.",
        )];
    };
    let found = comparison::compare_setups(
        &source.side(first.setup, None),
        &source.side(last.setup, None),
    );
    let mut lines: Vec<Vec<ReportCell>> = Vec::new();
    for pair in &found.pairs {
        lines.push(latency(pair));
        lines.push(throughput(pair));
    }
    lines.extend(found.metrics.iter().filter_map(other));
    let heads = [
        ("Before", ""),
        ("After", ""),
        ("Times as good", ""),
        ("Interval", ""),
    ];
    let table = ReportTable::new(&["Metric"], &heads)
        .and_words("Verdict")
        .filled(lines.into_iter(), 80, "metric", &source.full_table_hint());
    let session = &source.session;
    let told = ReportText::from("From ")
        .code(session.setup_label(first.setup))
        .text(" to ")
        .code(session.setup_label(last.setup))
        .text(". Each number is compared at its own batch size only.");
    let mut blocks = vec![
        Block::Paragraph(told),
        Block::Table(table),
        Block::Paragraph(ReportText::default().emphasis(OVER_ROUNDS_OR_QUOTIENT)),
    ];
    if let Some(nothing) = &found.nothing {
        blocks.push(Block::paragraph(nothing.as_str()));
    }
    blocks
}

fn latency(pair: &CasePair) -> Vec<ReportCell> {
    let ratio = pair.ratio.as_ref();
    let why = pair.verdict.reason.as_deref().unwrap_or_default();
    let call = pair.verdict.call;
    vec![
        ReportCell::new(format!("Latency, {}", pair.before_point)),
        ReportCell::known(pair.before.median_text(), NOT_MEASURED),
        ReportCell::known(pair.after.median_text(), NOT_MEASURED),
        ReportCell::known(ratio.map(Ratio::speed_up_text), why),
        ReportCell::known(ratio.and_then(Ratio::interval_text), why),
        ReportCell::new(call.name()).toned(tone_of(call)),
    ]
}

fn throughput(pair: &CasePair) -> Vec<ReportCell> {
    let (before, after) = (&pair.before, &pair.after);
    let why = pair.verdict.reason.as_deref().unwrap_or_default();
    let rate = |row: &CaseRow| ReportCell::known(row.rate_text(), NOT_MEASURED);
    let rates = before.throughput_per_s.zip(after.throughput_per_s);
    let gain = rates
        .filter(|(before, _)| *before > 0.0 && pair.ratio.is_some())
        .map(|(before, after)| humanize::ratio(after / before));
    vec![
        ReportCell::new(format!("Throughput, {}", pair.before_point)),
        rate(before),
        rate(after),
        ReportCell::known(gain, why),
        ReportCell::default(),
        ReportCell::default(),
    ]
}

/// Any other number that at least one side knows.
fn other(metric: &ComparedMetric) -> Option<Vec<ReportCell>> {
    let is_known = metric.before.is_some() || metric.after.is_some();
    if !is_known || ["Latency", "Throughput"].contains(&metric.name.as_str()) {
        return None;
    }
    let why = metric.note.as_deref();
    let side =
        |value: &Option<String>| ReportCell::known(value.clone(), why.unwrap_or(NOT_MEASURED));
    Some(vec![
        ReportCell::new(metric.title()),
        side(&metric.before),
        side(&metric.after),
        ReportCell::known(metric.change.clone(), why.unwrap_or_default()),
        ReportCell::default(),
        ReportCell::default(),
    ])
}

/// The command that measured, and commands that show more.
fn commands(source: &ReportedSession<'_>) -> Vec<Block> {
    let file = source.command_path();
    let measured = repeat::repeat_command(source.original)
        .map(|command| format!("# Measure it\n{}\n\n", command.line()));
    let mut text = measured.unwrap_or_default();
    text.push_str(&format!(
        "# The steps, and each case\npowerband journey {file}\npowerband show {file}\n"
    ));
    if !source.session.profiles.is_empty() {
        text.push_str(&format!(
            "\n# Where the time goes\npowerband kernels {file}\n"
        ));
    }
    vec![Block::Code("sh", text)]
}
