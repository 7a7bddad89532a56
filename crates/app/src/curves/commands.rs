//! Commands about the curves.

use crate::App;
use crate::action::{Action, Curves};
use crate::command::entry::{Command, command};
use crate::sessions::OpenSessions;
use crate::sessions::commands::NO_SESSION;
use powerband_findings::analysis::batch_curve::{Efficiency, Statistic};
use powerband_findings::analysis::energy::EnergyKind;
use powerband_findings::chart::spec::AxisScale;

pub(crate) const ALL: &[Command] = &[
    command("median", "Curves: median", "", |_| {
        Ok(Action::Curves(Curves::Statistic(Statistic::Median)))
    }),
    command("mean", "Curves: mean", "", |_| {
        Ok(Action::Curves(Curves::Statistic(Statistic::Mean)))
    }),
    command("p90", "Curves: p90", "", |_| {
        Ok(Action::Curves(Curves::Statistic(Statistic::P90)))
    }),
    command("p99", "Curves: p99", "", |_| {
        Ok(Action::Curves(Curves::Statistic(Statistic::P99)))
    }),
    command(
        "log-latency",
        "Curves: logarithmic or linear latency",
        "Ctrl+Shift+L",
        |app| {
            let log = !app.curves.options.log_y;
            Ok(Action::Curves(Curves::LogLatency(log)))
        },
    ),
    command(
        "log-throughput",
        "Curves: logarithmic or linear throughput",
        "",
        |app| {
            let log = app.curves.drawn.throughput.y.scale != AxisScale::Log10;
            Ok(Action::Curves(Curves::LogThroughput(log)))
        },
    ),
    command("efficiency-best", "Curves: efficiency of best", "", |_| {
        Ok(Action::Curves(Curves::Efficiency(Efficiency::OfBest)))
    }),
    command(
        "efficiency-scaling",
        "Curves: scaling efficiency",
        "",
        |_| Ok(Action::Curves(Curves::Efficiency(Efficiency::Scaling))),
    ),
    command("efficiency-busy", "Curves: device utilisation", "", |_| {
        Ok(Action::Curves(Curves::Efficiency(Efficiency::Busy)))
    }),
    command("efficiency-peak", "Curves: efficiency of peak", "", |_| {
        Ok(Action::Curves(Curves::Efficiency(Efficiency::OfPeak)))
    }),
    command("energy-gross", "Curves: energy per item", "", |_| {
        Ok(Action::Curves(Curves::Energy(EnergyKind::Gross)))
    }),
    command(
        "energy-net",
        "Curves: energy per item, net of idle",
        "",
        |_| Ok(Action::Curves(Curves::Energy(EnergyKind::Net))),
    ),
    command("energy-per-joule", "Curves: items per joule", "", |_| {
        Ok(Action::Curves(Curves::Energy(EnergyKind::PerJoule)))
    }),
    command("accuracy-next", "Curves: next accuracy metric", "", |app| {
        let next = app.curves.drawn.trade_off.next();
        let next = next.ok_or("no open session has compared outputs")?;
        Ok(Action::Curves(Curves::Quality(next)))
    }),
    command(
        "graph-next",
        "Network: tables of the next setup",
        "",
        |app| {
            let next = app.curves.drawn.graph.next();
            let next = next.ok_or("no open session has an engine's graph")?;
            Ok(Action::Curves(Curves::Examined(next)))
        },
    ),
    command(
        "limit",
        "Curves: set or remove the latency limit",
        "Ctrl+T",
        |app| {
            let limit = match app.curves.options.limit_ns {
                Some(_) => None,
                None => Some(app.shared.sessions.suggested_limit_ns().ok_or(NO_SESSION)?),
            };
            Ok(Action::Curves(Curves::Limit(limit)))
        },
    ),
    command(
        "limit-up",
        "Curves: latency limit up",
        "Ctrl+ArrowUp",
        |app| move_limit(app, 1.1),
    ),
    command(
        "limit-down",
        "Curves: latency limit down",
        "Ctrl+ArrowDown",
        |app| move_limit(app, 1.0 / 1.1),
    ),
    command(
        "stack-charts",
        "Curves: charts stacked or side by side",
        "",
        |app| Ok(Action::Curves(Curves::Stack(!app.curves.stacked))),
    ),
    command("group-by-model", "Curves: group by model", "", |app| {
        let is_grouped = app.curves.groups_by_model;
        Ok(Action::Curves(Curves::GroupByModel(!is_grouped)))
    }),
    command("show-all", "Curves: show every series", "", |_| {
        Ok(Action::Curves(Curves::ShowAll))
    }),
    command(
        "pin-next",
        "Curves: pin the next case",
        "Ctrl+ArrowRight",
        |_| Ok(Action::Curves(Curves::PinStep(1))),
    ),
    command(
        "pin-previous",
        "Curves: pin the previous case",
        "Ctrl+ArrowLeft",
        |_| Ok(Action::Curves(Curves::PinStep(-1))),
    ),
    command(
        "pin-second",
        "Curves: pin a second case, the next one",
        "Ctrl+Shift+D",
        |_| Ok(Action::Curves(Curves::PinSecondNext)),
    ),
    command(
        "unpin-second",
        "Curves: unpin the second case",
        "",
        |app| match app.curves.second {
            Some(_) => Ok(Action::Curves(Curves::PinSecond(None))),
            None => Err("no second case is pinned"),
        },
    ),
    command("unpin", "Curves: unpin", "", |app| match app.curves.pin {
        Some(_) => Ok(Action::Curves(Curves::Pin(None))),
        None => Err("no case is pinned"),
    }),
];

impl OpenSessions {
    /// A latency limit to begin with: the middle of what is drawn, to two digits.
    pub fn suggested_limit_ns(&self) -> Option<f64> {
        let mut medians: Vec<f64> = self
            .iter()
            .flat_map(|open| open.findings.curves.iter())
            .flat_map(|curve| curve.points.iter().map(|point| point.median_ns))
            .collect();
        medians.sort_by(f64::total_cmp);
        let middle = *medians.get(medians.len() / 2)?;
        let step = 10_f64.powf(middle.log10().floor() - 1.0);
        Some((middle / step).round() * step)
    }
}

fn move_limit(app: &App, by: f64) -> Result<Action, &'static str> {
    let limit = app
        .curves
        .options
        .limit_ns
        .or_else(|| app.shared.sessions.suggested_limit_ns())
        .ok_or(NO_SESSION)?;
    Ok(Action::Curves(Curves::Limit(Some(limit * by))))
}
