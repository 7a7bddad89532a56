//! What the hardware counted.

use eframe::egui::Ui;

use crate::gui::widgets::label;
use crate::gui::widgets::table::{self, ColumnSpec, Table};
use powerband_app::action::Kernels;
use powerband_app::kernels::KernelsState;
use powerband_core::base::humanize;
use powerband_core::domain::profile::Counter;
use powerband_findings::analysis::counters::{self, TITLES};

const COLUMNS: [ColumnSpec; 5] = [
    ColumnSpec::words(TITLES[0], 220.0).growing(),
    ColumnSpec::words(TITLES[1], 200.0),
    ColumnSpec::numbers(TITLES[2], 80.0),
    ColumnSpec::numbers(TITLES[3], 130.0),
    ColumnSpec::numbers(TITLES[4], 130.0),
];

/// A row for each kernel and counter that the filter leaves.
pub(super) fn show(
    ui: &mut Ui,
    state: &KernelsState,
    counters: &[Counter],
    changes: &mut Vec<Kernels>,
) {
    let places = &state.drawn.counters;
    super::super::card(ui, |ui| {
        label::card_title(ui, "Counters");
        label::quiet_line(
            ui,
            "What the hardware counted, added up over the launches of each kernel",
        );
        if places.is_empty() {
            let all = humanize::of_many(counters.len() as u64, "counter");
            label::quiet(
                ui,
                &format!("None of {all} has the words of the filter above."),
            );
            return;
        }
        let table = Table {
            id: "counters",
            columns: &COLUMNS,
            sort: state.counter_sort,
            sorts: true,
            rows: places.len(),
            selected: None,
            height: 320.0,
        };
        let touched = table.show(ui, |ui, row, column| {
            if let Some(counter) = places.get(row).and_then(|place| counters.get(*place)) {
                cell(ui, counter, column);
            }
        });
        changes.extend(touched.sorted.map(Kernels::SortCounters));
        if places.len() < counters.len() {
            let hidden = humanize::count((counters.len() - places.len()) as u64);
            label::quiet(ui, &format!("{hidden} more do not fit the filter above"));
        }
    });
}

fn cell(ui: &mut Ui, counter: &Counter, column: usize) {
    let cells = counters::cells(counter);
    let Some(text) = cells.get(column) else {
        return;
    };
    match column {
        0 => {
            table::words(ui, text).on_hover_text(&counter.kernel);
        }
        1 => {
            table::words(ui, text);
        }
        _ => {
            table::number(ui, text);
        }
    }
}
