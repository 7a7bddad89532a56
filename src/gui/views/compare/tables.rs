//! The tables of a comparison: the cases with their verdicts, and every number on both sides.

use eframe::egui::Ui;

use crate::gui::theme::space;
use crate::gui::views::rows_card;
use crate::gui::widgets::table::{self, ColumnSpec, Table};
use crate::gui::widgets::{flags, label, verdict};
use powerband_app::App;
use powerband_core::base::humanize::NOT_KNOWN;
use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_findings::analysis::case_rows::CaseRow;
use powerband_findings::analysis::comparison::{Better, Comparison, Metric, Ratio};

/// Both tables have a ratio of latencies, and they may differ.
const WHICH_IS_WHICH: &str = "Improvement is the ratio of the two numbers in its row: for latency, of the medians over all samples. The speed-up above is the mean over the rounds, and the verdict follows that.";

const METRICS: [ColumnSpec; 5] = [
    ColumnSpec::words("Metric", 150.0).growing(),
    ColumnSpec::numbers("Before", 92.0),
    ColumnSpec::numbers("After", 92.0),
    ColumnSpec::numbers("Improvement", 100.0)
        .with_help("Before and after as a ratio that is above 1 where after is better: for latency the ratio of the medians over all samples, which is not the speed-up above"),
    ColumnSpec::words("Better is", 76.0),
];

const PAIRS: [ColumnSpec; 6] = [
    ColumnSpec::words("Batch", 54.0).growing(),
    ColumnSpec::numbers("Before", 88.0).with_help("Median latency before"),
    ColumnSpec::numbers("After", 88.0).with_help("Median latency after"),
    ColumnSpec::numbers("Speed-up", 84.0).with_help("Latency before divided by latency after, above 1 is faster: the geometric mean over the rounds, which are paired where the two took turns, so that it may differ from the quotient of the two medians"),
    ColumnSpec::numbers("95 % interval", 138.0).with_help("Measured again, the ratio would most likely lie within: Student's interval of the logarithms of the rounds' ratios, Welch's where the two took no turns"),
    ColumnSpec::words("Verdict", 108.0).with_help("Faster or slower where the whole interval lies beyond the noise floor, same where it lies within, else inconclusive"),
];

/// The cases side by side, with their verdicts.
pub(super) fn pairs(ui: &mut Ui, app: &App, comparison: &Comparison) {
    let is_whole = app.compare.before.is_some_and(|pick| pick.whole);
    let table = Table {
        id: "pairs",
        columns: &PAIRS,
        sort: None,
        sorts: false,
        rows: comparison.pairs.len(),
        selected: None,
        height: 420.0,
    };
    let cell = |ui: &mut Ui, index: usize, place: usize| {
        let Some(pair) = comparison.pairs.get(index) else {
            return;
        };
        let median = |row: &CaseRow| row.median_words().unwrap_or_else(|| UNKNOWN.to_owned());
        let ratio = pair.ratio.as_ref();
        let batch = |size: usize| {
            let size = humanize::count(size as u64);
            if is_whole {
                format!("{}, batch {size}", pair.before.setup_label)
            } else {
                size
            }
        };
        let words = match place {
            0 if pair.before_batch == pair.after_batch => batch(pair.before_batch),
            0 => format!("{} → {}", pair.before_batch, pair.after_batch),
            1 => median(&pair.before),
            2 => median(&pair.after),
            3 => ratio.map_or_else(|| UNKNOWN.to_owned(), |ratio| ratio.words()),
            _ => ratio
                .and_then(Ratio::interval_words)
                .unwrap_or_else(|| UNKNOWN.to_owned()),
        };
        if place == 5 {
            verdict::pill(ui, &pair.verdict);
            return;
        }
        let response = if place == 0 {
            table::words(ui, &words)
        } else {
            table::number(ui, &words)
        };
        match place {
            1 => flags::mark(ui, &pair.before.flags),
            2 => flags::mark(ui, &pair.after.flags),
            _ => {}
        }
        if words == NOT_KNOWN {
            response.on_hover_text("The interval reaches beyond 10 × either way");
        } else if words == UNKNOWN {
            response.on_hover_text(match place {
                1 | 2 => "It was not measured",
                3 => "Numbers that must not be compared have no ratio; why is at the verdict",
                _ => "An interval needs two rounds on either side",
            });
        }
    };
    rows_card(ui, |ui| table.show(ui, cell));
}

/// Every number on both sides.
pub(super) fn metrics(ui: &mut Ui, comparison: &Comparison) {
    let table = Table {
        id: "metrics",
        columns: &METRICS,
        sort: None,
        sorts: false,
        rows: comparison.metrics.len(),
        selected: None,
        height: 420.0,
    };
    let cell = |ui: &mut Ui, index: usize, place: usize| {
        if let Some(metric) = comparison.metrics.get(index) {
            metric_cell(ui, metric, place);
        }
    };
    rows_card(ui, |ui| {
        ui.add_space(space::TINY);
        ui.horizontal(|ui| {
            ui.add_space(space::SMALL);
            label::quiet(ui, WHICH_IS_WHICH);
        });
        table.show(ui, cell)
    });
}

fn metric_cell(ui: &mut Ui, metric: &Metric, place: usize) {
    match place {
        0 => {
            table::words(ui, &metric.title());
        }
        4 => {
            let word = match metric.better {
                Better::Lower => "lower",
                Better::Higher => "higher",
                Better::Neither => UNKNOWN,
            };
            label::faint(ui, word);
        }
        _ => {
            let value = match place {
                1 => metric.before.clone(),
                2 => metric.after.clone(),
                _ => metric.change.clone(),
            };
            let note = metric.note.as_deref();
            let why_not = note.unwrap_or_else(|| match place {
                1 => "Before has no such number",
                2 => "After has no such number",
                _ if metric.before.is_none() || metric.after.is_none() => {
                    "A change takes numbers on both sides"
                }
                _ => "What is neither better nor worse, or must not be compared, has no change",
            });
            let is_known = value.is_some();
            let response = table::known(ui, value, why_not);
            if let Some(note) = note.filter(|_| is_known) {
                response.on_hover_text(note);
            }
        }
    }
}
