//! Conclusions: findings, flags and what they mean, notes, and how to repeat the measurement.

use super::document::{Block, ReportCell, ReportTable, ReportText, Tone};
use super::journey::{has_steps, with_full_stop};
use super::material::ReportedSession;
use super::{numbers, profiles};
use crate::analysis::breakdown::{self, BreakdownLevel};
use crate::analysis::case_rows::CaseRow;
use crate::analysis::category::Rules;
use crate::analysis::comparison::Comparison;
use crate::analysis::flags::FlagSeverity;
use crate::analysis::journey::{Journey, StepResult};
use crate::analysis::verdict::Call;
use crate::analysis::{accuracy, best_case, energy, remarks, repeat};
use powerband_core::base::humanize;
use powerband_core::domain::point::{self, Point};
use powerband_core::stats::joint::Statement;

/// Cases of so many setups are named beside a flag.
const MOST_SETUPS: usize = 6;
/// Most warnings of the run.
const MOST_WARNINGS: usize = 20;

/// The key findings, each in a sentence with its number.
pub fn findings(source: &ReportedSession<'_>, rules: &Rules, journey: &Journey) -> Vec<Block> {
    let found = [
        fastest(source),
        way(journey),
        step(journey),
        knee(source),
        bottleneck(source, rules),
        cheapest(source),
        closeness(source),
        doubts(source),
    ];
    let items: Vec<ReportText> = found.into_iter().flatten().collect();
    if items.is_empty() {
        return Vec::new();
    }
    vec![Block::Numbered(items)]
}

fn case(row: &CaseRow, text: ReportText) -> ReportText {
    text.code(&row.setup_label)
        .text(format!(" at {}", row.point))
}

fn fastest(source: &ReportedSession<'_>) -> Option<ReportText> {
    let text = ReportText::default().strong("Speed");
    let text = match source.fastest()? {
        Statement::Settled(row) => {
            let median = numbers::median_with_uncertainty(row)?;
            case(
                row,
                text.text(": least time is ").strong(median).text(" with "),
            )
        }
        Statement::NotSettled(rows) => text.text(format!(
            ": which case takes least time is not settled, {}",
            numbers::candidates(&rows, numbers::median_with_uncertainty)
        )),
    };
    let rate = |row: &CaseRow| Some(format!("{} /s", numbers::rate(row)?));
    let text = match source.busiest() {
        None => text,
        Some(Statement::Settled(row)) => {
            let text = text.text("; the highest throughput is ").strong(rate(row)?);
            case(row, text.text(" with "))
        }
        Some(Statement::NotSettled(rows)) => text.text(format!(
            "; which case has the highest throughput is not settled, {}",
            numbers::candidates(&rows, rate)
        )),
    };
    Some(text.text("."))
}

fn way(journey: &Journey) -> Option<ReportText> {
    if !journey.is_ladder || !has_steps(journey) {
        return None;
    }
    let mut steps = journey.steps.iter();
    let last = steps.rfind(|step| step.vs_baseline.is_some())?;
    let pair = last.vs_baseline.as_ref()?;
    Some(
        ReportText::default()
            .strong("All steps")
            .text(" to ")
            .code(&last.title)
            .text(format!(": {}.", numbers::gain(pair)?)),
    )
}

/// The step with the largest significant gain.
fn step(journey: &Journey) -> Option<ReportText> {
    if journey.steps.len() < 3 {
        return None;
    }
    let gain = |step: &StepResult| numbers::gain(step.vs_previous.as_ref()?);
    let text = ReportText::default().strong("The largest step");
    Some(match best_case::largest_step(journey)? {
        Statement::Settled(step) => text
            .text(" is ")
            .code(&step.title)
            .text(format!(": {}.", gain(step)?)),
        Statement::NotSettled(steps) => {
            let named = steps
                .into_iter()
                .filter_map(|step| Some(format!("{}, {}", step.title, gain(step)?)));
            let named: Vec<String> = named.collect();
            let named: Vec<&str> = named.iter().map(String::as_str).collect();
            text.text(format!(" is not settled: {}.", humanize::or_list(&named)))
        }
    })
}

/// The batch size with the best trade of latency for throughput, of the setup with the highest throughput; nothing
/// where which setup that is is not settled.
fn knee(source: &ReportedSession<'_>) -> Option<ReportText> {
    let busiest = source.busiest()?;
    let setup = busiest.candidates().first()?.setup;
    let is_it = |row: &&CaseRow| row.setup == setup;
    if !busiest.candidates().iter().all(is_it) {
        return None;
    }
    let curve = source.curves.iter().find(|curve| curve.setup == setup)?;
    (curve.points.len() > 2).then(|| {
        ReportText::default()
            .strong("Batch size")
            .text(" of ")
            .code(&curve.label)
            .text(format!(": {}.", curve.explain()))
    })
}

fn bottleneck(source: &ReportedSession<'_>, rules: &Rules) -> Option<ReportText> {
    let (_, profile) = profiles::report_profile(source)?;
    let found = breakdown::profile_breakdown(profile, rules, BreakdownLevel::Category);
    let first = found.rows.first().filter(|row| row.total_ns > 0)?;
    Some(
        ReportText::default()
            .strong("Where the time goes")
            .text(format!(
                ": {} takes {} in ",
                first.name,
                numbers::share(first.share)
            ))
            .code(profiles::profiled_case_text(source, profile))
            .text("."),
    )
}

fn cheapest(source: &ReportedSession<'_>) -> Option<ReportText> {
    let told = source
        .measured()
        .filter_map(|row| Some((row, row.energy.as_ref().ok()?.gross_j_per_item())));
    let (row, joules) = told.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let text = ReportText::default().strong("Energy").text(format!(
        ": the least that was read for an item is {}, with ",
        energy::joules_text(joules)
    ));
    Some(case(row, text).text("; how much such readings differ from round to round is not known."))
}

fn closeness(source: &ReportedSession<'_>) -> Option<ReportText> {
    let known = source
        .session
        .accuracies
        .iter()
        .filter_map(|(setup, found)| Some((*setup, found, found.distance?.worst_cosine)));
    let (setup, found, _) = known.min_by(|a, b| a.2.total_cmp(&b.2))?;
    Some(
        ReportText::default()
            .strong("Accuracy")
            .text(": furthest from the reference is ")
            .code(source.session.setup_label(setup))
            .text(format!(", {}.", accuracy::in_short(found))),
    )
}

fn doubts(source: &ReportedSession<'_>) -> Option<ReportText> {
    let raised = remarks::flagged_cases(source.measured());
    let red = raised
        .iter()
        .filter(|flag| flag.weight == FlagSeverity::Red);
    let is_red = |row: &CaseRow, name: &str| {
        let mut flags = row.flags.iter();
        flags.any(|flag| flag.weight == FlagSeverity::Red && flag.name == name)
    };
    let names: Vec<String> = red
        .map(|flag| {
            let severe = source.measured().filter(|row| is_red(row, flag.name));
            let (severe, all) = (severe.count(), flag.cases.len());
            let cases = humanize::pluralised(all as u64, "case");
            if severe == all {
                format!("{} ({cases})", flag.name)
            } else {
                format!("{} ({cases}, {severe} of them severe)", flag.name)
            }
        })
        .collect();
    (!names.is_empty()).then(|| {
        ReportText::default()
            .strong("In doubt")
            .text(format!(": {}; see the flags.", names.join(", ")))
    })
}

/// The findings of two sessions.
pub(crate) fn findings_of_two(found: &Comparison) -> Vec<Block> {
    let sure = |wanted: Call| {
        let mut pairs: Vec<_> = found
            .pairs
            .iter()
            .filter(|pair| pair.verdict.call == wanted)
            .collect();
        let size = |speed_up: Option<f64>| speed_up.map_or(0.0, |ratio| ratio.ln().abs());
        pairs.sort_by(|a, b| {
            let of =
                |pair: &crate::analysis::case_pair::CasePair| size(pair.ratio.map(|r| r.speed_up));
            of(b).total_cmp(&of(a))
        });
        pairs
    };
    let mut items: Vec<ReportText> = Vec::new();
    for (call, word) in [(Call::Faster, "Faster"), (Call::Slower, "Slower")] {
        let pairs = sure(call);
        let Some((pair, gain)) = pairs
            .first()
            .and_then(|pair| Some((pair, numbers::gain(pair)?)))
        else {
            continue;
        };
        let most = best_case::largest_change(&pairs, false);
        let is_settled = most.is_some_and(|most| most.settled() == Some(&0));
        let text = ReportText::default().strong(word).text(format!(
            ": {}, {}",
            humanize::pluralised(pairs.len() as u64, "case"),
            if is_settled {
                "most of all "
            } else {
                "among them "
            }
        ));
        items.push(
            text.code(&pair.after.setup_label)
                .text(format!(", {gain}.")),
        );
    }
    let open = found.count(Call::Inconclusive);
    if open > 0 {
        let more = found
            .more_rounds()
            .map_or_else(String::new, |more| format!("; of one, {}", more.text()));
        let cases = humanize::pluralised(open as u64, "case");
        items.push(
            ReportText::default()
                .strong("Open")
                .text(format!(": {cases}{more}.")),
        );
    }
    let same = found.count(Call::Same);
    if same > 0 {
        let cases = humanize::pluralised(same as u64, "case");
        items.push(
            ReportText::default()
                .strong("The same")
                .text(format!(": {cases}.")),
        );
    }
    if items.is_empty() {
        return Vec::new();
    }
    vec![Block::Numbered(items)]
}

/// Each flag: what it means, which cases have it, what to do.
pub fn flags<'a>(rows: impl IntoIterator<Item = &'a CaseRow>) -> Vec<Block> {
    let raised = remarks::flagged_cases(rows);
    if raised.is_empty() {
        return vec![Block::paragraph("No case has a flag.")];
    }
    let lines: Vec<Vec<ReportCell>> = raised
        .iter()
        .map(|flag| {
            let tone = if flag.weight == FlagSeverity::Red {
                Tone::Bad
            } else {
                Tone::Plain
            };
            let evidence = flag.cases.first().map_or("", |(_, evidence)| evidence);
            vec![
                ReportCell::new(flag.name).toned(tone),
                ReportCell::new(flag.meaning()),
                ReportCell::new(named(&flag.cases)),
                ReportCell::new(with_full_stop(&humanize::capitalised(evidence))),
                ReportCell::new(with_full_stop(&humanize::capitalised(flag.advice))),
            ]
        })
        .collect();
    let heads = [
        "Flag",
        "What it means",
        "Cases",
        "Evidence in the first",
        "What to do",
    ];
    let table = ReportTable::new(&heads, &[]).filled(lines.into_iter(), usize::MAX, "flag", "");
    vec![Block::Table(table)]
}

/// Cases by their setups: `a batch 1, 2; b batch 8`.
fn named(cases: &[(&CaseRow, &str)]) -> String {
    let mut setups: Vec<(&str, Vec<Point>)> = Vec::new();
    for (row, _) in cases {
        let has_room = setups.len() < MOST_SETUPS;
        let mut known = setups.iter_mut();
        match known.find(|(label, _)| *label == row.setup_label) {
            Some((_, points)) => points.push(row.point),
            None if has_room => setups.push((&row.setup_label, vec![row.point])),
            None => {}
        }
    }
    let told: usize = setups.iter().map(|(_, points)| points.len()).sum();
    let lines = setups
        .iter()
        .map(|(label, points)| format!("{label} {}", point::list(points.iter().copied())));
    let mut lines: Vec<String> = lines.collect();
    if cases.len() > told {
        lines.push(format!("and {} more", cases.len() - told));
    }
    lines.join("; ")
}

/// Warnings of the run.
pub fn warnings(source: &ReportedSession<'_>) -> Vec<Block> {
    let all = &source.session.warnings;
    let mut items: Vec<String> = all.iter().take(MOST_WARNINGS).cloned().collect();
    let more = all.len().saturating_sub(MOST_WARNINGS);
    if more > 0 {
        items.push(format!("and {more} more; {}.", source.full_table_hint()));
    }
    Vec::from_iter(Block::list(items))
}

/// The user's notes and tags.
pub fn notes(source: &ReportedSession<'_>) -> Vec<Block> {
    let session = &source.session;
    let mut blocks = Vec::new();
    if !session.notes.trim().is_empty() {
        blocks.push(Block::Quote(session.notes.clone()));
    }
    if !session.tags.is_empty() {
        blocks.push(Block::paragraph(format!(
            "Tags: {}.",
            session.tags.join(", ")
        )));
    }
    blocks
}

/// The command and the plan.
pub fn repeat(source: &ReportedSession<'_>) -> Vec<Block> {
    let Some(command) = repeat::repeat_command(source.original) else {
        return match &source.session.imported {
            Some(tool) => {
                let told = tool
                    .command
                    .as_ref()
                    .map(|command| Block::Code("sh", command.clone()));
                let none = || {
                    Block::paragraph(format!(
                        "The files of {} do not state the command that made them.",
                        tool.name
                    ))
                };
                vec![told.unwrap_or_else(none)]
            }
            None => Vec::new(),
        };
    };
    let mut blocks = vec![
        Block::paragraph("The same plan once more, in the same order and with the same inputs:"),
        Block::Code("sh", command.line()),
    ];
    if !command.without_option.is_empty() {
        let unsaid = command.without_option.join(", ");
        blocks.push(Block::paragraph(format!(
            "The command has no option for {unsaid}; “Measure again” in the window keeps that too."
        )));
    }
    for network in source.session.networks() {
        let model = network.model;
        if !model.sha256.is_empty() {
            blocks.push(Block::Paragraph(
                ReportText::from(format!("The file of {} has the SHA-256 ", model.name))
                    .code(&model.sha256)
                    .text("."),
            ));
        }
    }
    blocks.push(Block::paragraph("To show the session:"));
    blocks.push(Block::Code(
        "sh",
        format!("powerband show {}", source.command_path()),
    ));
    if let Some(plan) = &source.plan {
        blocks.push(Block::Folded(
            "The plan, as it is saved".to_owned(),
            "ron",
            plan.clone(),
        ));
    }
    blocks
}
