//! Numbers of one row agree, however much the samples scatter: on the terminal, in reports, in the window.

use powerband_core::base::humanize::UNKNOWN;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::case_pair::OVER_ROUNDS;
use powerband_findings::analysis::category::Rules;
use powerband_findings::analysis::comparison::{self, ComparedMetric};
use powerband_findings::analysis::earlier_sessions::EarlierSessions;
use powerband_findings::report;
use powerband_findings::report::document::{Block, Document, ReportTable};
use powerband_findings::report::material::{ReportInputs, ReportedSession};

use super::data::{DataRng, SessionSpec, speed};
use super::{Desk, write};
use crate::support::Home;

/// Spreads of the samples and of the rounds, as shares, from a quiet machine to one that is of no use.
const SPREADS: [f64; 5] = [0.002, 0.02, 0.2, 0.8, 2.5];
/// Rounding to three digits moves a number by so much of itself at most.
const OF_ROUNDING: f64 = 0.005;

/// A session of two setups whose samples scatter by chance.
fn random(seed: u64) -> Session {
    let mut dice = DataRng(seed * 7_919 + 3);
    let spread = SPREADS[seed as usize % SPREADS.len()];
    let mut session = SessionSpec {
        name: "by chance",
        created: "2030-01-02T03:04:05Z",
        model: "resnet50",
        speeds: &[
            speed("ort:cpu", "", 1e3, 2e3),
            speed("tract:cpu", "", 1e3, 3e3),
        ],
        batches: &[1, 4],
        rounds: 2 + (seed % 5) as u32,
        samples: 5 + (seed % 3) as usize * 35,
    }
    .session();
    for case in &mut session.cases {
        let centre = 10_f64.powf(3.0 + 6.0 * dice.unit());
        for round in &mut case.rounds {
            let shift = (spread * dice.normal()).exp();
            for sample in &mut round.samples_ns {
                *sample = (centre * shift * (spread * dice.normal()).exp()) as u64 + 100;
            }
            round.spent_ns = round.samples_ns.iter().sum::<u64>() * 101 / 100;
        }
    }
    session
}

/// A number as it is shown: its value, in the base unit of its unit, and how many digits it has.
fn shown(cell: &str) -> Option<(f64, usize)> {
    let (digits, rest) = match cell.split_once(' ') {
        Some((digits, rest)) => (digits.replace(',', ""), rest),
        None => (cell.replace(',', ""), ""),
    };
    let value: f64 = digits.parse().ok()?;
    let scale = match rest.split(' ').next().unwrap_or_default() {
        "ns" => 1e-9,
        "µs" => 1e-6,
        "ms" => 1e-3,
        _ => 1.0,
    };
    let mantissa = digits.split('e').next().unwrap_or_default();
    let figures = mantissa.trim_start_matches(['0', '.']).replace('.', "");
    Some((value * scale, figures.len()))
}

/// That a number has three digits or more.
fn is_whole(cell: &str, place: &str) {
    if cell == UNKNOWN {
        return;
    }
    let (_, digits) = shown(cell).unwrap_or_else(|| panic!("no number: {cell:?} in {place}"));
    assert!(digits >= 3, "{cell:?} in {place}");
}

/// That the cells of a row rise.
fn rise(cells: &[&str], place: &str) {
    let values: Vec<f64> = cells
        .iter()
        .filter_map(|cell| Some(shown(cell)?.0))
        .collect();
    assert!(
        values
            .windows(2)
            .all(|pair| pair[0] <= pair[1] * (1.0 + 1e-9)),
        "{cells:?} in {place}"
    );
}

/// That a ratio is the quotient of the two numbers in its row, as far as they are rounded.
fn is_quotient(change: &str, above: &str, below: &str, place: &str) {
    let [change, above, below] =
        [change, above, below].map(|cell| shown(cell).expect("a number").0);
    let apart = (change / (above / below) - 1.0).abs();
    assert!(
        apart <= 3.0 * OF_ROUNDING,
        "{change} is not {above} ÷ {below} in {place}"
    );
}

/// Rows of the tables on a terminal whose head begins with a word, as cells by the names of their columns.
fn terminal_rows<'a>(text: &'a str, first: &str) -> Vec<Vec<(&'a str, &'a str)>> {
    let cells = |line: &'a str| -> Vec<&'a str> {
        let parts = line.split("  ").map(str::trim);
        parts.filter(|part| !part.is_empty()).collect()
    };
    let mut lines = text.lines();
    let head = lines.find(|line| line.starts_with(first) && line.contains("Median"));
    let head = cells(head.unwrap_or_else(|| panic!("no {first}: {text}")));
    lines
        .take_while(|line| !line.is_empty() && !line.starts_with('·'))
        .map(|line| {
            let cells = cells(line);
            assert!(cells.len() >= head.len() - 1, "{line}");
            head.iter().copied().zip(cells).collect()
        })
        .collect()
}

fn cell<'a>(row: &[(&str, &'a str)], name: &str) -> &'a str {
    let found = row.iter().find(|(column, _)| *column == name);
    found.unwrap_or_else(|| panic!("no {name}: {row:?}")).1
}

fn terminal_agrees(home: &Home, session: &Session, seed: u64) {
    let file = format!("{seed}.ron");
    write(&home.path(&file), session);
    let run = home.run(&["show", &file]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    for row in terminal_rows(&run.out, "Setup") {
        for name in ["Median", "Min", "p90", "Throughput"] {
            is_whole(cell(&row, name), &run.out);
        }
        rise(
            &["Min", "Median", "p90"].map(|name| cell(&row, name)),
            &run.out,
        );
    }
    for row in terminal_rows(&run.out, "Before") {
        for name in ["Median before", "Median after", "Speed-up"] {
            is_whole(cell(&row, name), &run.out);
        }
    }
    assert!(run.out.contains(OVER_ROUNDS), "{}", run.out);
}

fn tables(document: &Document) -> impl Iterator<Item = &ReportTable> {
    document.blocks.iter().filter_map(|block| match block {
        Block::Table(table) => Some(table),
        _ => None,
    })
}

/// Whether a paragraph of a report says that ratios are over the rounds.
fn says_how(document: &Document) -> bool {
    let paragraphs = document.blocks.iter().filter_map(|block| match block {
        Block::Paragraph(text) => Some(text.plain_text()),
        _ => None,
    });
    paragraphs
        .into_iter()
        .any(|words| words.contains("the geometric mean of the rounds' ratios"))
}

fn reports_agree(session: &Session, seed: u64) {
    let rules = Rules::default();
    for layout in report::ALL {
        let source = || ReportedSession::new(session, None, None);
        let document = layout.write(&ReportInputs {
            first: source(),
            second: layout.is_of_two.then(source),
            earlier: EarlierSessions::default(),
            rules: &rules,
            title: None,
        });
        let mut has_ratio = false;
        for table in tables(&document) {
            let place = format!("{} of {seed}", layout.name);
            let titles: Vec<&str> = table.columns.iter().map(|c| c.title.as_str()).collect();
            for row in &table.rows {
                let words: Vec<String> = row.iter().map(|cell| cell.text.plain_text()).collect();
                let of = |name: &str| {
                    let at = titles.iter().position(|title| *title == name)?;
                    words.get(at).map(String::as_str)
                };
                let numbers = ["Median", "Median before", "Median after", "p90", "Speed-up"];
                for name in numbers {
                    if let Some(cell) = of(name) {
                        is_whole(cell, &place);
                    }
                }
                has_ratio |= of("Speed-up").is_some() || of("Times as good").is_some();
                if let (Some(median), Some(p90)) = (of("Median"), of("p90")) {
                    rise(&[median, p90], &place);
                }
            }
        }
        assert!(
            !has_ratio || says_how(&document),
            "{} of {seed}",
            layout.name
        );
    }
}

/// The table that the window has below *Compare*, and the case study.
fn metrics_agree(session: &Session, seed: u64) {
    let source = ReportedSession::new(session, None, None);
    let found = comparison::compare_setups(&source.side(0, None), &source.side(1, None));
    let is_measured = |metric: &&ComparedMetric| {
        ["Latency", "Latency p99", "Throughput"].contains(&metric.name.as_str())
    };
    for metric in found.metrics.iter().filter(is_measured) {
        let (Some(before), Some(after), Some(change)) =
            (&metric.before, &metric.after, &metric.change)
        else {
            continue;
        };
        let place = format!("{} of {seed}", metric.title());
        for cell in [before, after, change] {
            is_whole(cell, &place);
        }
        if metric.name == "Throughput" {
            is_quotient(change, after, before, &place);
        } else {
            is_quotient(change, before, after, &place);
        }
    }
}

#[test]
fn a_row_never_contradicts_itself() {
    let home = Home::new();
    for seed in 0..60 {
        let session = random(seed);
        reports_agree(&session, seed);
        metrics_agree(&session, seed);
        // The program itself is started for some: each kind of spread, and each number of rounds.
        if seed < 10 {
            terminal_agrees(&home, &session, seed);
        }
    }
}

#[test]
fn the_table_of_curves_never_contradicts_itself() {
    let home = Home::new();
    let files: Vec<_> = (0..SPREADS.len() as u64)
        .map(|seed| {
            let path = home.path(&format!("{seed}.ron"));
            write(&path, &random(seed));
            path
        })
        .collect();
    let mut desk = Desk::with(home, files);
    desk.until("the sessions are open", |app| {
        app.shared.sessions.len() == SPREADS.len() && !app.curves.drawn.cases.is_empty()
    });
    let view = desk.app().shared.tables.view("cases").expect("a table");
    assert!(view.len() >= 4, "{view:#?}");
    for row in 0..view.len() {
        let of = |key: &str| view.value(row, key).shown_text().to_owned();
        let whole = view.row(row).into_iter();
        let whole: Vec<String> = whole
            .map(|(_, cell)| cell.shown_text().to_owned())
            .collect();
        let whole = whole.join(", ");
        for key in ["latency_ms", "min_ms", "throughput_per_s"] {
            is_whole(&of(key), &whole);
        }
        rise(&[&of("min_ms"), &of("latency_ms"), &of("p99_ms")], &whole);
    }
}

/// The numbers of a wide interval that were shown as `10 ms` beside a minimum of 11.0.
#[test]
fn a_wide_interval_takes_no_digits() {
    let home = Home::new();
    let mut session = random(4);
    let rounds: [[u64; 3]; 2] = [
        [11_000_000, 14_570_000, 14_600_000],
        [13_000_000, 14_570_000, 48_000_000],
    ];
    let case = &mut session.cases[0];
    case.rounds.truncate(rounds.len());
    for (round, samples) in case.rounds.iter_mut().zip(rounds) {
        round.samples_ns = samples.to_vec();
    }
    write(&home.path("wide.ron"), &session);
    let text = home.run(&["show", "wide.ron"]).out;
    let rows = terminal_rows(&text, "Setup");
    assert_eq!(cell(&rows[0], "Median"), "14.6 ms", "{text}");
    assert_eq!(cell(&rows[0], "Min"), "11.0 ms", "{text}");
}
