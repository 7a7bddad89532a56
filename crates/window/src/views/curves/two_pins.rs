//! Two pinned cases: whose they are, their times side by side, and both distributions in one chart.

use eframe::egui::{Align, Layout, Ui, vec2};

use crate::icon;
use crate::theme::{self, space};
use crate::widgets::chart::{self, ChartOptions};
use crate::widgets::data_table::DataTable;
use crate::widgets::{button, label, marker};
use powerband_app::App;
use powerband_app::action::{Action, Curves};
use powerband_app::sessions::Pin;
use powerband_core::base::humanize;
use powerband_findings::chart::spec::ChartSpec;

/// Height of the charts.
const CHART: f32 = 190.0;
/// Height of the table: a head and seven times.
const TABLE: f32 = 250.0;

/// Shows them; the answer is whether there are two.
pub(super) fn show(
    ui: &mut Ui,
    app: &App,
    changes: &mut Vec<Curves>,
    actions: &mut Vec<Action>,
) -> bool {
    let Some((first, second)) = app.curves.pin.zip(app.curves.second) else {
        return false;
    };
    theme::card(ui).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.vertical(|ui| {
            if case(ui, app, first, "Unpin the first case") {
                changes.push(Curves::Pin(None));
            }
            if case(ui, app, second, "Unpin the second case") {
                changes.push(Curves::PinSecond(None));
            }
            ui.add_space(space::TINY);
            let table = DataTable {
                id: "two-cases",
                height: TABLE,
                ..DataTable::default()
            };
            table.show(ui, app, actions);
            ui.add_space(space::SMALL);
            charts(ui, app, [first, second]);
        });
    });
    ui.add_space(space::MEDIUM);
    true
}

/// Whose a case is; returns whether it is to be taken away.
fn case(ui: &mut Ui, app: &App, pin: Pin, closing: &str) -> bool {
    let line = ui.horizontal(|ui| {
        marker::inline(ui, app.shared.sessions.colour(pin.session, pin.case.setup));
        label::card_title(ui, &humanize::capitalised(&pin.case.point.to_string()));
        label::quiet_line(
            ui,
            &app.shared.sessions.series_name(pin.session, pin.case.setup),
        );
        let right = Layout::right_to_left(Align::Center);
        let close = ui.with_layout(right, |ui| {
            button::small_icon(ui, icon::CLOSE, closing).clicked()
        });
        close.inner
    });
    line.inner
}

fn charts(ui: &mut Ui, app: &App, pins: [Pin; 2]) {
    let two = app.curves.two.as_ref();
    let Some(two) = two.filter(|two| two.pins == pins) else {
        ui.allocate_space(vec2(1.0, CHART));
        return;
    };
    if two.densities.series.iter().any(|one| one.points.is_empty()) {
        label::quiet(ui, "One of the two cases has no samples.");
    }
    let width = (ui.available_width() - space::MEDIUM) / 2.0;
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::MEDIUM;
        captioned_chart(ui, width, "densities", &two.densities);
        captioned_chart(ui, width, "cumulative", &two.cumulative);
    });
}

fn captioned_chart(ui: &mut Ui, width: f32, id: &str, spec: &ChartSpec) {
    ui.allocate_ui(vec2(width, CHART + 20.0), |ui| {
        ui.vertical(|ui| {
            ui.set_width(width);
            label::caption(ui, &spec.title);
            let look = ChartOptions {
                height: CHART,
                highlighted: None,
                zooms: true,
                crosshair: false,
            };
            chart::show(ui, id, spec, look);
        });
    });
}
