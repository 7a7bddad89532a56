//! A text while the user waits, once it takes noticeably long.

use std::time::Duration;

use eframe::egui::{Id, Ui};

use super::label;

/// Shorter waits need no text; a flashing spinner would distract.
const SOON: f64 = 0.2;

/// Shows the words where they are still needed after a moment.
pub(crate) fn show(ui: &mut Ui, words: &str) {
    let id = Id::unique(("waiting", words));
    let pass = ui.ctx().cumulative_pass_nr();
    let now = ui.input(|input| input.time);
    let known: Option<(u64, f64)> = ui.data(|data| data.get_temp(id));
    // It is a new wait if the text was not shown in the previous pass.
    let since = known
        .filter(|(last, _)| last + 1 >= pass)
        .map_or(now, |(_, since)| since);
    ui.data_mut(|data| data.insert_temp(id, (pass, since)));
    let left = SOON - (now - since);
    if left > 0.0 {
        ui.ctx()
            .request_repaint_after(Duration::try_from_secs_f64(left).unwrap_or_default());
        return;
    }
    ui.horizontal(|ui| {
        ui.spinner();
        label::quiet(ui, words);
    });
}
