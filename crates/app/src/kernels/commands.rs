//! Commands about the kernels of a profile.

use super::trace_path::trace_path;
use super::{BreakdownChart, ProfileRef};
use crate::App;
use crate::action::{Action, Kernels};
use crate::command::entry::{Command, command};
use powerband_findings::analysis::breakdown::BreakdownLevel;
use powerband_findings::analysis::profile_runs::Times;

pub(crate) const ALL: &[Command] = &[
    command("kernels-category", "Kernels: by category", "", |_| {
        Ok(Action::Kernels(Kernels::Level(BreakdownLevel::Category)))
    }),
    command("kernels-operator", "Kernels: by operator", "", |_| {
        Ok(Action::Kernels(Kernels::Level(BreakdownLevel::Operator)))
    }),
    command("kernels-kernel", "Kernels: by kernel", "", |_| {
        Ok(Action::Kernels(Kernels::Level(BreakdownLevel::Kernel)))
    }),
    command("kernels-shape", "Kernels: bars or treemap", "", |app| {
        let next = match app.profile.kernels.shape {
            BreakdownChart::Bars => BreakdownChart::Treemap,
            BreakdownChart::Treemap => BreakdownChart::Bars,
        };
        Ok(Action::Kernels(Kernels::Shape(next)))
    }),
    command(
        "kernels-times",
        "Kernels: times per run or in total",
        "",
        |app| {
            let next = match app.profile.kernels.times {
                Times::PerRun => Times::Total,
                Times::Total => Times::PerRun,
            };
            Ok(Action::Kernels(Kernels::Times(next)))
        },
    ),
    command("kernels-alone", "Kernels: end the comparison", "", |_| {
        Ok(Action::Kernels(Kernels::Before(None)))
    }),
    command(
        "kernels-timeline",
        "Kernels: the timeline of this profile",
        "",
        timeline_of_profile,
    ),
];

/// The timeline of the profile that the kernels screen shows.
pub fn timeline_of_profile(app: &App) -> Result<Action, &'static str> {
    let pick = app.profile.kernels.looking.ok_or("no profile is open")?;
    has_timeline(app, pick)?;
    Ok(Action::Kernels(Kernels::Timeline))
}

/// Whether a profile has a timeline: one that is open, or a file beside the session.
pub(crate) fn has_timeline(app: &App, pick: ProfileRef) -> Result<(), &'static str> {
    let owner = Some((pick.session, pick.profile));
    let is_open = app
        .profile
        .timeline
        .traces
        .iter()
        .any(|(_, open)| open.owner == owner);
    if !is_open {
        trace_path(&app.shared, pick)?;
    }
    Ok(())
}
