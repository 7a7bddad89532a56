//! A session in sections: what `show` prints, and `bench` at its end.

use super::document::{Block, ReportText};
use super::{circumstances, devices, experiments, in_short, pairs, requests};
use crate::analysis::case_rows::{self, CaseRow};
use crate::analysis::claims::PUBLISHED_MARK;
use crate::analysis::comparison::{self, CasePair};
use crate::analysis::limits::answer::ExplainedCase;
use crate::analysis::limits::speed_of_light::light_rows_of_cases;
use crate::analysis::{
    accuracy, conditions, examined, journey, lint, profiled, remarks, run_phases, scaling,
};
use crate::tables::{self, Table, view::TableView};
use powerband_core::base::humanize;
use powerband_core::domain::plan::Load;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::{Completion, Session};

/// Most rewrites of a network's nodes.
const PATTERNS: usize = 5;

/// A session: its tables, and a line for each kind of warning; in full with what each case and each engine has beside.
pub fn sections(session: &Session, is_in_full: bool) -> Vec<Vec<Block>> {
    let mut sections = if session.is_published_only() {
        vec![lines([format!("{}: {PUBLISHED_MARK}", session.name)])]
    } else {
        measured(session, is_in_full)
    };
    let published = session.published.as_ref();
    sections.extend(published.map(in_short::published).unwrap_or_default());
    sections.push(in_short::contradictions(&lint::lint_findings(session)));
    sections.push(Vec::from_iter(Block::list(&session.warnings)));
    sections
}

fn measured(session: &Session, is_in_full: bool) -> Vec<Vec<Block>> {
    let rows = case_rows::case_rows(session);
    let mut sections = vec![
        header(session),
        vec![TableView::new(tables::engines::of_session(session)).to_block()],
        graphs(session, is_in_full),
        cases(session, &rows),
        table_and_list(
            tables::requests::of_session(&rows),
            requests::token_counts(&rows),
        ),
        Vec::from_iter(Block::list(remarks::failure_sentences(&rows))),
        devices::in_short(session, &rows),
        lines(devices::shares_of_peak(session, &rows)),
        accuracies(session),
        scalings(session, &rows),
        phases(session),
        profiles(session),
        in_short::session_limits(session, &rows),
    ];
    sections.extend(comparisons(session, &rows));
    sections.push(lines(remarks::outlier_sentence(&rows)));
    sections.push(in_short::flags(&rows, is_in_full));
    sections
}

/// What the setups are to each other: experiments, optimisation steps, or each against the first.
fn comparisons(session: &Session, rows: &[CaseRow]) -> Vec<Vec<Block>> {
    if let Some(asked) = ExplainedCase::of_experiments(session, &session.roofs) {
        experiments::answer_and_costs(&asked)
    } else if session.plan.ladder.is_empty() {
        vec![verdicts(session, rows)]
    } else {
        let journey = journey::compare_steps(session, rows, Point::of_batch(1));
        let light = light_rows_of_cases(session, rows, &journey, &session.roofs);
        in_short::journey(&journey, &light)
    }
}

/// The first setup against all others, with verdicts.
fn verdicts(session: &Session, rows: &[CaseRow]) -> Vec<Block> {
    let comparisons = comparison::comparisons_with_first(session, rows);
    let pairs: Vec<&CasePair> = comparisons.iter().flat_map(|one| &one.pairs).collect();
    let others = 1..session.plan.setups.len();
    let apart = others.filter_map(|other| {
        let sentence = conditions::machines_apart((session, 0), (session, other))?;
        Some(format!("{}: {sentence}", session.setup_label(other)))
    });
    let mut blocks = in_short::case_pairs(&pairs);
    blocks.extend(Block::list(pairs::reasons(&pairs)));
    blocks.extend(Block::list(apart));
    blocks
}

/// A line for each profile.
fn profiles(session: &Session) -> Vec<Block> {
    lines(session.profiles.iter().map(|profile| {
        let trace = profile.trace_file.as_ref();
        let trace = trace.map(|file| format!("; timeline in {file}"));
        let (name, text) = (&profile.name, profiled::profile_text(profile));
        format!("{name}: {text}{}", trace.unwrap_or_default())
    }))
}

/// The gain of replicas over one worker.
fn scalings(session: &Session, rows: &[CaseRow]) -> Vec<Block> {
    let found = scaling::scaling_rows(session, rows);
    let warnings = found.iter().filter_map(|scaling| {
        let warning = scaling.warning()?;
        Some(format!("{}: {warning}", session.setup_label(scaling.setup)))
    });
    table_and_list(tables::scaling::of_session(session, &found), warnings)
}

/// Run phases and training results.
fn phases(session: &Session) -> Vec<Block> {
    lines(session.cases.iter().flat_map(|case| {
        let name = format!("{} {}", session.setup_label(case.setup), case.point);
        let texts = [
            run_phases::phases_text(case),
            run_phases::training_text(case),
        ];
        let texts = texts.into_iter().flatten();
        texts.map(move |text| format!("{name}: {text}"))
    }))
}

/// The accuracy of each setup.
fn accuracies(session: &Session) -> Vec<Block> {
    let Some(first) = session.accuracies.values().next() else {
        return Vec::new();
    };
    // Notes on the samples follow their number.
    let (inputs, notes) = match first.inputs.split_once("; ") {
        Some((inputs, notes)) => (inputs, Some(format!("  {notes}"))),
        None => (first.inputs.as_str(), None),
    };
    let head = format!("Accuracy on {inputs}, against {}", first.reference);
    let troubles = session.accuracies.iter().filter_map(|(&setup, found)| {
        let trouble = found.trouble.as_ref()?;
        Some(format!("{}: {trouble}", session.setup_label(setup)))
    });
    let unknown = accuracy::not_told(session.accuracies.values());
    let mut blocks = lines([head].into_iter().chain(notes));
    let table = tables::accuracies::of_session(session);
    blocks.extend(table_and_list(table, troubles.chain(unknown)));
    blocks
}

/// What each engine made of the model; in full with its rewrites and notes.
fn graphs(session: &Session, is_in_full: bool) -> Vec<Block> {
    let setups = session.examinations.keys();
    let found = setups.filter_map(|&setup| {
        let timed = examined::timed_examination(session, setup)?;
        let examination = &*timed.examination;
        let text = examined::examination_text(examination);
        let mut blocks = lines([format!("{}: {text}", session.setup_label(setup))]);
        if is_in_full {
            let mut beside = examined::frequent_rewrites(examination, PATTERNS);
            beside.extend(examination.notes.iter().cloned());
            blocks.push(Block::Code("", beside.join("\n")));
        }
        Some(blocks)
    });
    found.flatten().collect()
}

fn header(session: &Session) -> Vec<Block> {
    if let Some(tool) = &session.imported {
        let version = tool.version.as_ref().map(|version| format!(" {version}"));
        let head = format!(
            "{}, imported {} from files of {}{}; Powerband measured none of it",
            session.name,
            humanize::utc_moment(&session.created),
            tool.name,
            version.unwrap_or_default(),
        );
        let command = tool.command.as_ref();
        let command = command.map(|command| ("Command".to_owned(), command.as_str().into()));
        let mut blocks = lines([head]);
        blocks.push(Block::Facts(command.into_iter().collect()));
        return blocks;
    }
    let state = match session.completion {
        Completion::Complete => String::new(),
        other => format!(", {}", other.title()),
    };
    let made_up = "MADE UP: these timings were not measured".to_owned();
    let head = format!(
        "{}, {} UTC, {} preset, {}{state}",
        session.name,
        session.created.replace('T', " ").trim_end_matches('Z'),
        session.plan.preset,
        humanize::clock_time(session.elapsed_ns as f64 / 1e9),
    );
    let mut facts: Vec<(String, ReportText)> = Vec::new();
    let mut add = |name: &str, text: String| facts.push((name.to_owned(), text.into()));
    if session.plan.load != Load::Closed {
        let load = session.plan.load;
        let what = "times are response times, from each request's arrival";
        add("Load", format!("{load}: {what}"));
    }
    for sitting in &session.sittings {
        let (first, when) = (
            sitting.first_round + 1,
            humanize::utc_moment(&sitting.created),
        );
        add("Rounds", format!("from {first} on were added at {when}"));
    }
    for (place, text) in networks(session).into_iter().enumerate() {
        add(if place == 0 { "Model" } else { "" }, text);
    }
    facts.extend(circumstances::machine_facts(session));
    let made_up = session.made_up.then_some(made_up);
    let mut blocks = lines(made_up.into_iter().chain([head]));
    blocks.push(Block::Facts(facts));
    blocks
}

/// A line for each network; which setups run it is said where there are several.
fn networks(session: &Session) -> Vec<String> {
    let networks = session.networks();
    let lines = networks.iter().map(|network| {
        let model = network.model;
        let cost = model.macs;
        let cost = cost.map(|macs| format!(", {} a batch of one", humanize::macs(macs)));
        let setups = network.setups.iter();
        let setups: Vec<String> = setups.map(|&setup| session.setup_label(setup)).collect();
        let whose = (networks.len() > 1).then(|| format!(" ({})", setups.join("; ")));
        format!(
            "{}, {} parameters{}{}",
            model.name,
            humanize::count(model.parameters),
            cost.unwrap_or_default(),
            whose.unwrap_or_default(),
        )
    });
    lines.collect()
}

fn cases(session: &Session, rows: &[CaseRow]) -> Vec<Block> {
    let table = tables::cases::of_session(session, rows, &[]);
    // The share of the best means nothing where each setup has one batch size.
    let has_best = rows.iter().any(|row| row.of_best.is_some());
    let keys = tables::cases::ON_TERMINAL.iter().copied();
    let keys: Vec<&str> = keys.filter(|key| has_best || *key != "of_best").collect();
    vec![TableView::new(table).columns(&keys).to_block()]
}

fn lines(texts: impl IntoIterator<Item = String>) -> Vec<Block> {
    texts.into_iter().map(Block::paragraph).collect()
}

fn table_and_list<T: Into<ReportText>>(
    table: Table,
    items: impl IntoIterator<Item = T>,
) -> Vec<Block> {
    let table = TableView::new(table).to_block();
    [table].into_iter().chain(Block::list(items)).collect()
}
