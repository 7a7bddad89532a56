//! The title of a chart of *Curves*: a double click shows the chart alone.

use eframe::egui::{Response, Sense, Ui};

use crate::widgets::label;
use powerband_app::App;
use powerband_app::action::Curves;
use powerband_app::curves::CHARTS;

/// How a chart is enlarged, and made small again.
const ENLARGING: &str = "Double-click to see this chart alone, and again or Escape for all";

/// Shows it, with a sentence about the chart on hover.
pub(super) fn show(
    ui: &mut Ui,
    id: &str,
    words: &str,
    help: &str,
    app: &App,
    changes: &mut Vec<Curves>,
) {
    let shown = label::card_title(ui, words);
    enlarges(ui, &shown, id, help, app, changes);
}

/// Has a double click on words show a chart alone, or all again.
pub(super) fn enlarges(
    ui: &Ui,
    words: &Response,
    id: &str,
    help: &str,
    app: &App,
    changes: &mut Vec<Curves>,
) {
    let turned = if app.curves.enlarged.is_some() {
        Some(Curves::Enlarge(None))
    } else {
        let known = CHARTS.iter().find(|(known, _)| *known == id);
        known.map(|(id, _)| Curves::Enlarge(Some(id)))
    };
    let help = format!("{help}\n{ENLARGING}");
    let double = ui.interact(words.rect, words.id.with("double"), Sense::CLICK);
    if double.on_hover_text(help.trim()).double_clicked() {
        changes.extend(turned);
    }
}
