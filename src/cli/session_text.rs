//! A session as text on a terminal: what `show` prints, and `bench` at its end.

use super::args::Detail;
use super::{journey, resources};
use powerband_core::base::humanize;
use powerband_core::domain::plan::Load;
use powerband_core::domain::session::{Completion, Session};
use powerband_findings::analysis::case_rows::{self, CaseRow};
use powerband_findings::analysis::claims::PUBLISHED_MARK;
use powerband_findings::analysis::comparison::{self, CasePair};
use powerband_findings::analysis::limits::experiments;
use powerband_findings::analysis::{
    accuracy, conditions, examined, lint, profiled, remarks, run_phases, scaling,
};
use powerband_findings::export::terminal;
use powerband_findings::report::circumstances::machine_facts;
use powerband_findings::report::document::Block;
use powerband_findings::report::experiments::conclusion_and_costs;
use powerband_findings::report::{in_short, pairs};
use powerband_findings::tables::{self, view::TableView};

/// Most rewrites of a network's nodes.
const PATTERNS: usize = 5;

/// A session: its tables, and a line for each kind of warning; in full with what each case and each engine has beside.
pub(super) fn full_text(session: &Session, detail: Detail) -> String {
    let findings = terminal::write(&in_short::contradictions(&lint::lint_findings(session)));
    let published = session.published.as_ref();
    let published = published.map_or_else(Vec::new, in_short::published);
    let published = terminal::sections(&published);
    if session.is_published_only() {
        let head = format!("{}: {PUBLISHED_MARK}\n", session.name);
        return [head, published, findings, notes(session)].join("\n");
    }
    let rows = case_rows::case_rows(session);
    let parts = [
        header_text(session),
        engines(session),
        graphs(session, detail),
        cases(session, &rows),
        requests(&rows),
        sentences(remarks::failure_sentences(&rows).into_iter()),
        resources::table(session, &rows),
        resources::peaks(session, &rows),
        accuracies(session),
        scalings(session, &rows),
        parts_of_runs(session),
        profiles(session),
        terminal::write(&in_short::session_limits(session, &rows)),
        comparisons(session, &rows),
        remarks::outlier_sentence(&rows).map_or_else(String::new, |text| text + "\n"),
        terminal::write(&in_short::flags(&rows, detail.verbose)),
        published,
        findings,
        notes(session),
    ];
    parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

/// What the setups are to each other: experiments, optimisation steps, or each against the first.
fn comparisons(session: &Session, rows: &[CaseRow]) -> String {
    if let Some(answer) = experiments::experiment_answer(session) {
        return terminal::sections(&conclusion_and_costs(&answer));
    }
    journey::of_ladder(session).unwrap_or_else(|| verdicts(session, rows))
}

/// A line for each profile.
fn profiles(session: &Session) -> String {
    let lines = session.profiles.iter().map(|profile| {
        let beside = profile
            .trace_file
            .as_ref()
            .map(|file| format!("; timeline in {file}"));
        format!(
            "{}: {}{}\n",
            profile.name,
            profiled::profile_text(profile),
            beside.unwrap_or_default()
        )
    });
    lines.collect::<Vec<_>>().concat()
}

/// The gain of replicas over one worker.
fn scalings(session: &Session, rows: &[CaseRow]) -> String {
    let found = scaling::scaling_rows(session, rows);
    let mut text = TableView::new(tables::scaling::of_session(session, &found)).to_text();
    for scaling in &found {
        if let Some(warning) = scaling.warning() {
            let label = session.setup_label(scaling.setup);
            text.push_str(&format!("· {label}: {warning}\n"));
        }
    }
    text
}

/// Run phases and training results.
fn parts_of_runs(session: &Session) -> String {
    let mut text = String::new();
    for case in &session.cases {
        let name = format!("{} {}", session.setup_label(case.setup), case.point);
        for words in [
            run_phases::phases_text(case),
            run_phases::training_text(case),
        ]
        .into_iter()
        .flatten()
        {
            text.push_str(&format!("{name}: {words}\n"));
        }
    }
    text
}

/// The accuracy of each setup.
fn accuracies(session: &Session) -> String {
    let Some(first) = session.accuracies.values().next() else {
        return String::new();
    };
    // Notes on the samples follow their number.
    let (inputs, notes) = match first.inputs.split_once("; ") {
        Some((inputs, notes)) => (inputs, format!("  {notes}\n")),
        None => (first.inputs.as_str(), String::new()),
    };
    let mut text = format!("Accuracy on {inputs}, against {}\n{notes}", first.reference);
    text.push_str(&TableView::new(tables::accuracies::of_session(session)).to_text());
    for (&setup, found) in &session.accuracies {
        if let Some(trouble) = &found.trouble {
            text.push_str(&format!("· {}: {trouble}\n", session.setup_label(setup)));
        }
    }
    for sentence in accuracy::not_told(session.accuracies.values()) {
        text.push_str(&format!("· {sentence}\n"));
    }
    text
}

/// What each engine made of the model.
fn graphs(session: &Session, detail: Detail) -> String {
    let mut text = String::new();
    let setups = session.examinations.keys();
    let found = setups.filter_map(|&setup| {
        examined::timed_examination(session, setup).map(|timed| (setup, timed))
    });
    for (setup, timed) in found {
        let examination = &*timed.examination;
        let label = session.setup_label(setup);
        text.push_str(&format!(
            "{label}: {}\n",
            examined::examination_text(examination)
        ));
        if !detail.verbose {
            continue;
        }
        for pattern in examined::frequent_rewrites(examination, PATTERNS) {
            text.push_str(&format!("    {pattern}\n"));
        }
        for note in &examination.notes {
            text.push_str(&format!("    {note}\n"));
        }
    }
    text
}

fn header_text(session: &Session) -> String {
    if let Some(tool) = &session.imported {
        let version = tool.version.as_ref().map(|version| format!(" {version}"));
        let command = tool
            .command
            .as_ref()
            .map(|command| format!("Command  {command}\n"));
        return format!(
            "{}, imported {} from files of {}{}; Powerband measured none of it\n{}",
            session.name,
            humanize::utc_moment(&session.created),
            tool.name,
            version.unwrap_or_default(),
            command.unwrap_or_default(),
        );
    }
    let state = match session.completion {
        Completion::Complete => String::new(),
        other => format!(", {}", other.title()),
    };
    let made_up = if session.made_up {
        "MADE UP: these timings were not measured\n"
    } else {
        ""
    };
    let load = match session.plan.load {
        Load::Closed => String::new(),
        load => format!("Load     {load}: times are response times, from each request's arrival\n"),
    };
    let sittings: Vec<String> = session
        .sittings
        .iter()
        .map(|sitting| {
            format!(
                "Rounds   from {} on were added at {}\n",
                sitting.first_round + 1,
                humanize::utc_moment(&sitting.created)
            )
        })
        .collect();
    let sittings = sittings.concat();
    format!(
        "{made_up}{}, {} UTC, {} preset, {}{state}\n{load}{sittings}{}{}",
        session.name,
        session.created.replace('T', " ").trim_end_matches('Z'),
        session.plan.preset,
        humanize::clock_time(session.elapsed_ns as f64 / 1e9),
        networks(session),
        terminal::write(&[Block::Facts(machine_facts(session))]),
    )
}

/// A line for each network; which setups run it is said where there are several.
fn networks(session: &Session) -> String {
    let networks = session.networks();
    let lines = networks.iter().enumerate().map(|(place, network)| {
        let model = network.model;
        let cost = model
            .macs
            .map(|macs| format!(", {} a batch of one", humanize::macs(macs)));
        let setups = network.setups.iter();
        let setups: Vec<String> = setups.map(|&setup| session.setup_label(setup)).collect();
        let whose = if networks.len() > 1 {
            format!(" ({})", setups.join("; "))
        } else {
            String::new()
        };
        format!(
            "{:<9}{}, {} parameters{}{whose}\n",
            if place == 0 { "Model" } else { "" },
            model.name,
            humanize::count(model.parameters),
            cost.unwrap_or_default(),
        )
    });
    lines.collect()
}

fn engines(session: &Session) -> String {
    TableView::new(tables::engines::of_session(session)).to_text()
}

fn cases(session: &Session, rows: &[CaseRow]) -> String {
    let table = tables::cases::of_session(session, rows, &[]);
    // The share of the best means nothing where each setup has one batch size.
    let has_best = rows.iter().any(|row| row.of_best.is_some());
    let keys = tables::cases::ON_TERMINAL.iter();
    let keys: Vec<&str> = keys
        .copied()
        .filter(|key| has_best || *key != "of_best")
        .collect();
    TableView::new(table).columns(&keys).to_text()
}

/// Requests to a language model, and how many of their tokens were real.
fn requests(rows: &[CaseRow]) -> String {
    let found = rows.iter().filter_map(|row| {
        let requests = row.requests.as_ref().filter(|found| found.count > 0)?;
        let sentence = requests.tokens_sentence();
        Some(format!("{}, {}: {sentence}", row.setup_label, row.point))
    });
    TableView::new(tables::requests::of_session(rows)).to_text() + &sentences(found)
}

/// The first setup against all others, with verdicts.
fn verdicts(session: &Session, rows: &[CaseRow]) -> String {
    let comparisons = comparison::comparisons_with_first(session, rows);
    let pairs: Vec<&CasePair> = comparisons.iter().flat_map(|one| &one.pairs).collect();
    let mut blocks = in_short::case_pairs(&pairs);
    blocks.push(Block::List(pairs::reasons(&pairs)));
    let others = 1..session.plan.setups.len();
    let apart = others.filter_map(|other| {
        let sentence = conditions::machines_apart((session, 0), (session, other))?;
        Some(format!("{}: {sentence}", session.setup_label(other)))
    });
    terminal::write(&blocks) + &sentences(apart)
}

fn notes(session: &Session) -> String {
    sentences(session.warnings.iter().cloned())
}

fn sentences(lines: impl Iterator<Item = String>) -> String {
    lines.fold(String::new(), |text, line| {
        text + "· "
            + &line
            + "
"
    })
}
