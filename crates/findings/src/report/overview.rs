//! The overview of a report: what was measured and the main results, in a paragraph.

use super::document::{Block, NoteLevel, ReportText};
use super::material::ReportedSession;
use super::numbers;
use crate::analysis::case_rows::CaseRow;
use crate::analysis::comparison;
use crate::analysis::flags::FlagSeverity as Seriousness;
use crate::analysis::machine_lines::machine_lines;
use crate::analysis::provenance;
use powerband_core::base::humanize;
use powerband_core::domain::model::ModelRef;
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_core::domain::sweep;
use powerband_core::stats::joint::Statement;

/// Most machines whose names are given.
const MOST_MACHINES: usize = 8;
/// Longer names are cut, in characters.
const LONGEST_NAME: usize = 100;

/// Warnings, then the paragraph.
pub fn blocks(source: &ReportedSession<'_>) -> Vec<Block> {
    let cautions = source.session_warnings().into_iter();
    let mut blocks: Vec<Block> = cautions
        .map(|told| Block::Note(NoteLevel::Warning, told.into()))
        .collect();
    blocks.push(Block::Paragraph(summary(source)));
    blocks
}

/// What the report is about, on a line: model, machine, day.
pub(crate) fn subtitle(source: &ReportedSession<'_>) -> String {
    provenance::provenance_text(&[&source.session])
}

/// Batch sizes in words: `batch sizes 1, 2 and 4`, `batch 1`.
pub fn sweep_words(all: &[Point]) -> String {
    if !sweep::is_of_batches(all) {
        let points = sweep::point_count_text(all);
        return format!("{points} ({})", sweep::show(all).join(", "));
    }
    let sizes: Vec<usize> = all.iter().copied().map(Point::batch).collect();
    match &*sizes {
        [] => "no batch size".to_owned(),
        [one] => format!("batch {one}"),
        [some @ .., last] if some.len() < 8 => {
            let some: Vec<String> = some.iter().map(ToString::to_string).collect();
            format!("batch sizes {} and {last}", some.join(", "))
        }
        [first, .., last] => format!("{} batch sizes from {first} to {last}", sizes.len()),
    }
}

fn summary(source: &ReportedSession<'_>) -> ReportText {
    let text = measured_text(source);
    let finished = source.measured().count();
    if finished == 0 {
        return text.text(nothing(source));
    }
    let text = best(source, text);
    reservations(source, text)
}

/// The names of the networks that were measured: `resnet18 and resnet34`.
pub fn networks(session: &Session) -> String {
    let networks = session.networks();
    let names: Vec<&str> = networks.iter().map(|one| one.model.name.as_str()).collect();
    humanize::list(&names)
}

/// Parameters and work of a network, in brackets; empty where neither is known.
fn size(model: &ModelRef) -> String {
    let mut size = Vec::new();
    if model.parameters > 0 {
        size.push(format!("{} parameters", humanize::count(model.parameters)));
    }
    if let Some(macs) = model.macs {
        size.push(format!("{} an item", humanize::macs(macs)));
    }
    if size.is_empty() {
        return String::new();
    }
    format!(" ({})", size.join(", "))
}

fn measured_text(source: &ReportedSession<'_>) -> ReportText {
    let session = &source.session;
    let networks = session.networks();
    let mut text = ReportText::default();
    for (place, network) in networks.iter().enumerate() {
        if place > 0 {
            let is_last = place + 1 == networks.len();
            text = text.text(if is_last { " and " } else { ", " });
        }
        let name = humanize::shorten(&network.model.name, LONGEST_NAME);
        text = text.strong(name).text(size(network.model));
    }
    let was = if networks.len() > 1 { "were" } else { "was" };
    if source.is_published_alone() {
        return text.text(format!(" {was} measured elsewhere and published. "));
    }
    if let Some(tool) = &session.imported {
        return text.text(format!(" comes from files of {}. ", tool.name));
    }
    text.text(format!(
        " {was} measured in {} at {}{}. ",
        humanize::pluralised(session.plan.setups.len() as u64, "setup"),
        match &session.plan.experiments {
            Some(asked) => sweep_words(&[asked.point]),
            None => sweep_words(&session.plan.points),
        },
        place(session),
    ))
}

/// Where it was measured: ` on AMD EPYC 9654 with 8 threads`, ` on 2 machines (n0, n1)`.
fn place(session: &Session) -> String {
    let machines = machine_lines(session);
    if machines.len() > 1 {
        let names: Vec<&str> = machines
            .iter()
            .take(MOST_MACHINES)
            .map(|line| line.name.as_str())
            .collect();
        let more = if machines.len() > MOST_MACHINES {
            ", …"
        } else {
            ""
        };
        let many = humanize::pluralised(machines.len() as u64, "machine");
        return format!(" on {many} ({}{more})", names.join(", "));
    }
    let cpu = &session.environment_of(0).cpu;
    if cpu.model.is_empty() {
        return String::new();
    }
    let threads = humanize::pluralised(cpu.threads as u64, "thread");
    format!(" on {} with {threads}", cpu.model)
}

/// Why there are no numbers.
fn nothing(source: &ReportedSession<'_>) -> String {
    let cases = source.rows.len();
    if source.is_published_alone() {
        return "Nothing in this report was measured by Powerband.".to_owned();
    }
    if cases == 0 {
        return match source.session.profiles.len() {
            0 => "It has no case, so there are no numbers.".to_owned(),
            some => format!(
                "It has no case that was timed, but {}.",
                humanize::pluralised(some as u64, "profile")
            ),
        };
    }
    let waiting = |row: &&CaseRow| row.outcome == Outcome::Pending;
    if source.rows.iter().filter(waiting).count() == cases {
        return "Nothing was measured yet.".to_owned();
    }
    format!(
        "None of its {} was measured to its end, so there are no numbers; the outcome of each is below.",
        humanize::pluralised(cases as u64, "case")
    )
}

fn best(source: &ReportedSession<'_>, text: ReportText) -> ReportText {
    let fastest = source.fastest();
    let busiest = source.busiest();
    if fastest.is_none() && busiest.is_none() {
        return text;
    }
    let begins = if fastest.is_none() {
        ["The", "Which"]
    } else {
        ["; the", "; which"]
    };
    let mut text = match fastest {
        Some(Statement::Settled(row)) => text
            .text("The shortest median time is ")
            .strong(numbers::median_with_uncertainty(row).unwrap_or_default())
            .text(format!(" for {} of ", row.point))
            .code(&row.setup_label),
        Some(Statement::NotSettled(rows)) => text.text(format!(
            "Which case has the shortest median time is not settled: {}",
            numbers::candidates(&rows, numbers::median_with_uncertainty)
        )),
        None => text,
    };
    let rate = |row: &CaseRow| Some(format!("{} items/s", numbers::rate(row)?));
    text = match busiest {
        Some(Statement::Settled(row)) => text
            .text(format!("{} highest throughput is ", begins[0]))
            .strong(rate(row).unwrap_or_default())
            .text(format!(" with {} of ", row.point))
            .code(&row.setup_label)
            .text(over_first(source, row)),
        Some(Statement::NotSettled(rows)) => text.text(format!(
            "{} has the highest throughput is not settled: {}",
            begins[1],
            numbers::candidates(&rows, rate)
        )),
        None => text,
    };
    text.text(". ")
}

/// The gain of the best case over the first setup, always at the same point.
fn over_first(source: &ReportedSession<'_>, best: &CaseRow) -> String {
    if best.setup == 0 {
        return String::new();
    }
    let point = Some(best.point);
    let found = comparison::compare_setups(&source.side(0, point), &source.side(best.setup, point));
    let gain = found.pairs.first().and_then(numbers::gain);
    gain.map_or_else(String::new, |gain| {
        format!(", {gain} vs. {}", source.session.setup_label(0))
    })
}

fn reservations(source: &ReportedSession<'_>, text: ReportText) -> ReportText {
    let all = source.rows.len();
    let measured = source.measured().count();
    let mut text = text;
    if measured < all {
        text = text.text(format!("{measured} of {all} cases were measured. "));
    }
    let red = |row: &&CaseRow| row.flags.iter().any(|flag| flag.weight == Seriousness::Red);
    match source.measured().filter(red).count() {
        0 => text,
        1 if measured == 1 => text.text("The case has a flag that puts its number in doubt."),
        some => text.text(format!(
            "{some} of the {measured} measured cases have a flag that puts their numbers in doubt."
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{end_case, failed, measure_near, session};
    use powerband_core::domain::machine::RemoteMachine;

    fn summary_text(session: &powerband_core::domain::session::Session) -> String {
        summary(&ReportedSession::new(session, None, None)).plain_text()
    }

    #[test]
    fn the_best_is_compared_at_its_own_batch_size() {
        let mut session = session(&["a", "b"], &[1, 8]);
        for (setup, batch, micros) in [(0, 1, 1000), (0, 8, 6000), (1, 1, 500), (1, 8, 2000)] {
            measure_near(&mut session, setup, batch, micros);
        }
        let told = summary_text(&session);
        assert!(
            told.contains("was measured in 2 setups at batch sizes 1 and 8"),
            "{told}"
        );
        assert!(told.contains("batch 1 of b:cpu"), "{told}");
        assert!(told.contains("3.00 × at batch 8 (95 % interval"), "{told}");
        assert!(told.contains("vs. a:cpu"), "{told}");
    }

    #[test]
    fn the_machines_are_named_where_there_are_several() {
        let mut session = session(&["a,where=n0", "a,where=n1"], &[1]);
        session.environment.cpu.model = "Example here".to_owned();
        for (setup, name) in ["n0", "n1"].into_iter().enumerate() {
            let mut machine = RemoteMachine {
                name: name.to_owned(),
                setups: vec![setup],
                ..RemoteMachine::default()
            };
            machine.environment.cpu.model = format!("Example {setup}");
            session.machines.push(machine);
            measure_near(&mut session, setup, 1, 500);
        }
        let told = summary_text(&session);
        assert!(
            told.contains("at batch 1 on 2 machines (n0, n1)."),
            "{told}"
        );
        assert!(!told.contains("Example here"), "{told}");
        let source = ReportedSession::new(&session, None, None);
        let subtitle = subtitle(&source);
        assert!(subtitle.contains("Example 0 · Example 1"), "{subtitle}");
    }

    #[test]
    fn without_a_number_there_is_a_sentence() {
        let mut session = session(&["a"], &[1]);
        assert!(summary_text(&session).ends_with("Nothing was measured yet."));
        end_case(&mut session, 0, 1, failed());
        assert!(summary_text(&session).contains("None of its 1 case was measured to its end"));
        session.cases.clear();
        assert!(summary_text(&session).contains("so there are no numbers"));
    }
}
