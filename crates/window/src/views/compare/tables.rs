//! The tables of a comparison: the cases with their verdicts, and every number on both sides.

use eframe::egui::Ui;

use crate::views::rows_card;
use crate::widgets::data_table::{self, DataTable};
use crate::widgets::label;
use powerband_app::App;
use powerband_app::action::{Action, Curves};
use powerband_app::items::{self, MenuTarget};
use powerband_findings::analysis::comparison::Comparison;

/// Both tables have a ratio of latencies, which may differ.
const WHICH_IS_WHICH: &str = "Improvement is the ratio of the two numbers in its row: for latency, of the medians over all samples. The speed-up above is the mean over the rounds, and the verdict follows that.";

/// The cases side by side, with their verdicts.
pub(super) fn pairs(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    table(ui, app, actions, "pairs", "Case by case", "");
}

/// The parts of setup and machine in the difference, with what follows.
pub(super) fn parts(ui: &mut Ui, app: &App, comparison: &Comparison, actions: &mut Vec<Action>) {
    if comparison.effects.is_empty() {
        return;
    }
    let sentences = comparison.effects.iter().map(|effects| {
        let sentence = effects.sentence();
        format!("{}: {sentence}", effects.point)
    });
    let sentences: Vec<String> = sentences.collect();
    table(
        ui,
        app,
        actions,
        "parts",
        "Setup and machine",
        &sentences.join(" "),
    );
}

/// The kernels of two profiles side by side.
pub(super) fn profiles(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    table(ui, app, actions, "profile-changes", "Kernel by kernel", "");
}

/// Every number on both sides.
pub(super) fn metrics(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    table(ui, app, actions, "metrics", "All metrics", WHICH_IS_WHICH);
}

fn table(
    ui: &mut Ui,
    app: &App,
    actions: &mut Vec<Action>,
    id: &'static str,
    title: &str,
    help: &str,
) {
    rows_card(ui, |ui| {
        let head = |ui: &mut Ui| {
            ui.add_space(10.0);
            label::card_title(ui, title);
        };
        let has_rows = data_table::tools(ui, app, id, actions, head);
        if !help.is_empty() {
            ui.horizontal(|ui| {
                ui.add_space(10.0);
                label::quiet(ui, help);
            });
        }
        if has_rows {
            let name = |row: usize| match items::pair(app, row).last() {
                Some(after) => format!("Pair of {}", items::name(app, &MenuTarget::Case(*after))),
                None => String::new(),
            };
            let is_of_pairs = id == "pairs";
            let table = DataTable {
                id,
                height: 420.0,
                selected: items::pinned_pair(app).filter(|_| is_of_pairs),
                name: is_of_pairs.then_some(&name),
                ..DataTable::default()
            };
            let clicked = table.show(ui, app, actions).clicked;
            if let Some(after) = clicked.and_then(|row| items::pair(app, row).pop()) {
                let pin = (app.curves.pin != Some(after)).then_some(after);
                actions.push(Action::Curves(Curves::Pin(pin)));
            }
        }
    });
}
