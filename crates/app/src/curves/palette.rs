//! In the command palette: series, and what is drawn of them.

use super::heat::SweepView;
use super::models::is_alone;
use super::{CHARTS, menu};
use crate::App;
use crate::action::{Action, Curves};
use crate::palette_entries::entry::{Offered, seen_on};
use crate::screen::Screen;
use powerband_core::base::humanize;
use powerband_findings::analysis::trade_off::SpeedPoint;

pub(crate) fn entries(app: &App) -> Vec<Offered> {
    if app.shared.sessions.is_empty() {
        return Vec::new();
    }
    [
        series(app),
        models(app),
        dimensions(app),
        enlarged(app),
        cards(app),
    ]
    .concat()
}

fn offer(title: &str, curves: Curves) -> Offered {
    seen_on(
        Screen::Curves,
        format!("Curves: {title}"),
        Action::Curves(curves),
    )
}

fn series(app: &App) -> Vec<Offered> {
    let legend = app.curves.drawn.legend.iter();
    legend
        .flat_map(|entry| {
            let doing = if entry.shown { "hide" } else { "show" };
            [
                offer(
                    &format!("{doing} {}", entry.name),
                    Curves::ToggleSeries(entry.id),
                ),
                offer(
                    &format!("{} only, or all", entry.name),
                    Curves::OnlySeries(entry.id),
                ),
            ]
        })
        .collect()
}

/// Each model alone.
fn models(app: &App) -> Vec<Offered> {
    let models = &app.curves.drawn.models;
    let places = (0..models.len()).filter(|place| models.len() > 1 && !is_alone(models, *place));
    let only = |place: usize| {
        let title = format!("{} only", models[place].name);
        offer(&title, Curves::OnlyModel(place))
    };
    places.map(only).collect()
}

/// What of a sweep over several dimensions is drawn, and how.
fn dimensions(app: &App) -> Vec<Offered> {
    let drawn = &app.curves.drawn;
    let axes = &drawn.axes;
    let mut offered = Vec::new();
    for dimension in axes.varying.iter().filter(|one| one.name != axes.x) {
        let name = dimension.name;
        offered.push(offer(&format!("over {name}"), Curves::Over(name)));
    }
    for other in &axes.others {
        let name = other.dimension.name;
        if other.size.is_some() {
            let title = format!("a series for each {name}");
            offered.push(offer(&title, Curves::Fix(name, None)));
        }
        for size in other.dimension.sizes.iter().copied() {
            let at = humanize::count(size as u64);
            if other.size != Some(size) {
                let title = format!("at {name} {at}");
                offered.push(offer(&title, Curves::Fix(name, Some(size))));
            }
            let title = format!("over {} at {name} {at}", axes.x);
            offered.push(offer(&title, Curves::Along(axes.x, name, size)));
        }
    }
    let Some(map) = &drawn.map else {
        return offered;
    };
    for (shown, title) in SweepView::ALL {
        if shown != app.curves.map.shown {
            offered.push(offer(&format!("show {title}"), Curves::Show(shown)));
        }
    }
    let quantities = map.quantities.iter().filter(|one| **one != map.quantity);
    offered.extend(quantities.map(|quantity| {
        let title = format!("heat map of {quantity}");
        offer(&title, Curves::Mapped(*quantity))
    }));
    for other in &axes.others {
        let name = other.dimension.name;
        let title = format!("heat map over {} and {name}", axes.x);
        offered.push(offer(&title, Curves::Upwards(name)));
    }
    for (id, name, _) in map.setups.iter().filter(|one| Some(one.0) != map.setup) {
        let title = format!("heat map of {name} alone");
        offered.push(offer(&title, Curves::MapSetup(Some(*id))));
    }
    if map.setup.is_some() {
        offered.push(offer("heat map of every setup", Curves::MapSetup(None)));
    }
    offered
}

/// Each chart alone, or all again.
fn enlarged(app: &App) -> Vec<Offered> {
    let charts = CHARTS
        .iter()
        .filter(|(id, _)| app.curves.enlarged != Some(*id) && app.curves.has_chart(id));
    let alone = charts.map(|(id, title)| {
        let title = format!("{} chart alone", title.to_lowercase());
        offer(&title, Curves::Enlarge(Some(id)))
    });
    let all = app
        .curves
        .enlarged
        .map(|_| offer("all charts", Curves::Enlarge(None)));
    alone.chain(all).collect()
}

/// What else the cards below the charts can show.
fn cards(app: &App) -> Vec<Offered> {
    let drawn = &app.curves.drawn;
    let trade_off = &drawn.trade_off;
    let points = trade_off
        .points
        .iter()
        .map(|point| SpeedPoint::Point(*point));
    let places = std::iter::once(SpeedPoint::Best)
        .chain(points)
        .filter(|at| trade_off.is_known && *at != trade_off.at)
        .map(|at| offer(&format!("speed and accuracy, {at}"), Curves::At(at)));
    let qualities = trade_off
        .known
        .iter()
        .filter(|quality| **quality != trade_off.quality)
        .map(|quality| offer(&format!("accuracy by {quality}"), Curves::Quality(*quality)));
    let graphs =
        drawn.graph.choices.iter().map(|choice| {
            menu::graph_tables(format!("Network: tables of {}", choice.name), choice.id)
        });
    places.chain(qualities).chain(graphs).collect()
}
