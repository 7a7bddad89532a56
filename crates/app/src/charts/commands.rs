//! Commands about what is seen of charts. With the focus on a chart, +, -, 0 and the arrows do the same.

use crate::App;
use crate::action::{Action, Charts};
use crate::command::entry::{Command, command};
use powerband_findings::chart::view::Zoom;

/// Why there is nothing to zoom.
const NO_CHART: &str = "no chart is shown";

pub(crate) const ALL: &[Command] = &[
    command("chart-closer", "Chart: zoom in", "", |app| {
        step(app, Zoom::In)
    }),
    command("chart-farther", "Chart: zoom out", "", |app| {
        step(app, Zoom::Out)
    }),
    command("chart-whole", "Chart: reset zoom", "", |app| {
        step(app, Zoom::Whole)
    }),
    command("chart-left", "Chart: move left", "", |app| {
        step(app, Zoom::Left)
    }),
    command("chart-right", "Chart: move right", "", |app| {
        step(app, Zoom::Right)
    }),
    command("chart-up", "Chart: move up", "", |app| step(app, Zoom::Up)),
    command("chart-down", "Chart: move down", "", |app| {
        step(app, Zoom::Down)
    }),
    command("charts-whole", "Charts: reset every zoom", "", |_| {
        Ok(Action::Charts(Charts::LookAtAll))
    }),
];

fn step(app: &App, zoom: Zoom) -> Result<Action, &'static str> {
    if app.shared.window.has_zoomable_chart {
        Ok(Action::Charts(Charts::Step(zoom)))
    } else {
        Err(NO_CHART)
    }
}
