//! The curves of both sides in one chart, and their ratios.

use eframe::egui::Ui;

use crate::theme;
use crate::widgets::chart::{self, ChartOptions};
use crate::widgets::{label, marker, menu, tip};
use powerband_app::App;
use powerband_app::action::{Action, Curves};
use powerband_app::items::MenuTarget;
use powerband_app::sessions::{self, Pin};
use powerband_core::domain::case::CaseKey;
use powerband_findings::chart::spec::{ChartSpec, SeriesId};

pub(super) fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let drawn = &app.compare.sides.drawn;
    if let Some(map) = &drawn.map {
        return super::map::show(ui, app, map, actions);
    }
    crate::views::answer::two_columns(ui, |ui, width| {
        for (id, title, spec) in [
            ("compare-latency", "Latency", &drawn.latency),
            ("compare-ratios", "Speed-up", &drawn.speed_ups),
        ] {
            theme::card(ui).show(ui, |ui| {
                ui.set_width(width - 34.0);
                ui.vertical(|ui| {
                    label::card_title(ui, title);
                    overlay(ui, app, id, spec, actions);
                });
            });
        }
    });
}

fn overlay(ui: &mut Ui, app: &App, id: &str, spec: &ChartSpec, actions: &mut Vec<Action>) {
    if spec.is_empty() {
        label::quiet(ui, "No case was measured on both sides.");
        return;
    }
    if super::is_whole(app) {
        let series = spec.series.iter();
        marker::named_few(ui, series.map(|one| (one.colour, one.name.clone())));
    }
    let look = ChartOptions {
        height: 230.0,
        highlighted: None,
        zooms: true,
        crosshair: true,
    };
    let touched = chart::show(ui, id, spec, look);
    let case = |point| case_at(app, id, point);
    let hovered = touched.hovered.map(case).map(MenuTarget::Case);
    let pinned = app.curves.pin.map(MenuTarget::Case);
    menu::of_hovered(&touched.response, app, hovered, pinned, actions);
    if let Some(pin) = touched.clicked.map(case) {
        let pin = (app.curves.pin != Some(pin)).then_some(pin);
        actions.push(Action::Curves(Curves::Pin(pin)));
    }
    if !menu::is_open(&touched.response) {
        tip::of_point(&touched, spec);
    }
}

/// The case of a point; a speed-up is that of the case after.
fn case_at(app: &App, chart: &str, (series, tag): (SeriesId, u64)) -> Pin {
    let (mut session, setup) = sessions::of_series(series);
    if chart == "compare-ratios"
        && let Some(after) = app.compare.sides.after
    {
        session = after.session;
    }
    Pin {
        session,
        case: CaseKey {
            setup,
            point: app
                .compare
                .sides
                .point_at(&app.shared.sessions, session, setup, tag),
        },
    }
}
