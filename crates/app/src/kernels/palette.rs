//! In the command palette: profiles, and what is shown of the one that is looked at.

use super::commands;
use super::instances::{InstanceChoice, InstanceSearch};
use super::words::{AFTER, BEFORE, THRESHOLDS, least_share, name};
use super::{profile, profile_refs};
use crate::App;
use crate::action::{Action, Kernels};
use crate::palette_entries::entry::{Offered, seen_on, typed_on};
use crate::screen::Screen;
use powerband_core::base::humanize;
use powerband_findings::analysis::breakdown::BreakdownLevel;
use powerband_findings::analysis::profile_runs::ProfileRuns;

/// Rows that can be opened from the palette, from the first on.
const ROWS: usize = 24;

pub(crate) fn entries(app: &App) -> Vec<Offered> {
    if app.profile.kernels.looking.is_none() {
        return Vec::new();
    }
    [
        profiles(app),
        runs(app),
        rows(app),
        opened(app),
        pauses(app),
        rules(app),
    ]
    .concat()
}

fn offer(title: &str, kernels: Kernels) -> Offered {
    seen_on(
        Screen::Kernels,
        format!("Kernels: {title}"),
        Action::Kernels(kernels),
    )
}

fn profiles(app: &App) -> Vec<Offered> {
    let looking = app.profile.kernels.looking;
    let others = profile_refs(&app.shared.sessions)
        .into_iter()
        .filter(|pick| Some(*pick) != looking);
    others
        .flat_map(|pick| {
            let name = name(&app.shared.sessions, pick);
            [
                offer(&format!("look at {name}"), Kernels::Look(pick)),
                offer(&format!("against {name}"), Kernels::Before(Some(pick))),
            ]
        })
        .collect()
}

/// The fields for the runs of profiles that do not state them.
fn runs(app: &App) -> Vec<Offered> {
    let state = &app.profile.kernels;
    let sides = [(state.looking, AFTER), (state.before, BEFORE)];
    let asked = sides.into_iter().filter(|(pick, _)| {
        pick.and_then(|pick| profile(&app.shared.sessions, pick))
            .is_some_and(|profile| ProfileRuns::from_profile(profile).is_none())
    });
    asked
        .map(|(_, field)| {
            typed_on(
                Screen::Kernels,
                &format!("Kernels: {}", field.to_lowercase()),
                field,
            )
        })
        .collect()
}

/// Opens rows that are shown, and goes back from them.
fn opened(app: &App) -> Vec<Offered> {
    let state = &app.profile.kernels;
    let Some(found) = &state.found.result else {
        return Vec::new();
    };
    let back = state.filter().within.as_ref().map(|within| {
        let title = format!("all rows again, without {}", within.title());
        offer(&title, Kernels::Within(None))
    });
    let close = state
        .selected()
        .map(|_| offer("select nothing", Kernels::Select(None)));
    let instances = [
        ("first", InstanceChoice::First),
        ("longest", InstanceChoice::Longest),
    ];
    let looked = state.instances.looked.as_ref();
    let found_some =
        looked.is_some_and(|looked| matches!(looked.progress, InstanceSearch::Found(_)));
    let instances = instances.into_iter().filter(|_| found_some);
    let instances = instances.map(|(word, which)| {
        let title = format!("the {word} instance of the selected kernel on the timeline");
        offer(&title, Kernels::Instance(which))
    });
    let breakdown = found.breakdown(state.level);
    let alone = found.comparison.is_none();
    let rows = state.drawn.rows.iter().take(ROWS).filter(|_| alone);
    let rows = rows.filter_map(|place| {
        let row = breakdown.rows.get(*place)?;
        let title = match breakdown.level {
            BreakdownLevel::Kernel => format!("instances of {}", row.short),
            BreakdownLevel::Category | BreakdownLevel::Operator => {
                format!("the kernels of {}", row.short)
            }
        };
        Some(offer(&title, state.row_meaning(*place)?.opened()))
    });
    let graph = app.profile.graph_of_profile(&app.shared);
    let graph = graph.map(|_| offer("the selected kernel's nodes in the graph", Kernels::Graph));
    let opened = back.into_iter().chain(close).chain(graph);
    opened.chain(instances).chain(rows).collect()
}

/// Which rows are shown, in which order.
fn rows(app: &App) -> Vec<Offered> {
    let state = &app.profile.kernels;
    let filter = typed_on(Screen::Kernels, "Kernels: filter the rows", "Filter");
    let all = offer("show all rows", Kernels::AllRows);
    let shares = THRESHOLDS
        .iter()
        .map(|percent| percent / 100.0)
        .filter(|share| *share != state.filter().over)
        .map(|share| {
            let words = least_share(share).to_lowercase();
            offer(&format!("rows of {words}"), Kernels::Over(share))
        });
    [filter, all].into_iter().chain(shares).collect()
}

/// The longest pauses of the profile, on the timeline.
fn pauses(app: &App) -> Vec<Offered> {
    let Some(found) = &app.profile.kernels.found.result else {
        return Vec::new();
    };
    if found.comparison.is_some() || commands::timeline_of_profile(app).is_err() {
        return Vec::new();
    }
    let pauses = found.breakdown(app.profile.kernels.level).gaps.iter();
    pauses
        .map(|gap| {
            let length = humanize::duration_ns(gap.length_ns as f64);
            let start = humanize::duration_ns(gap.start_ns as f64);
            let title = format!("gap of {length} at {start} on the timeline");
            offer(&title, Kernels::Gap(gap.start_ns, gap.length_ns))
        })
        .collect()
}

/// The user's own patterns of categories.
fn rules(app: &App) -> Vec<Offered> {
    let own = app
        .profile
        .kernels
        .found
        .result
        .iter()
        .flat_map(|found| &found.own);
    let forget = own.enumerate().map(|(place, (pattern, _))| {
        let title = format!("remove rule {}, {pattern}", place + 1);
        offer(&title, Kernels::Forget(place))
    });
    let add = typed_on(
        Screen::Kernels,
        "Kernels: add a rule of category",
        "Pattern",
    );
    std::iter::once(add).chain(forget).collect()
}
