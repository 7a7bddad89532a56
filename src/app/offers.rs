//! What the command palette offers beyond its commands: whatever depends on what is open, planned or kept.
//!
//! To add something: a line in one of these functions, or a function in [`of`].

use super::App;
use super::action::{Action, Compare, Curves, Sessions};
use super::compare::{Pick, is_comparable};
use super::plan::{self, PlanEdit, Requests};
use super::plans;
use super::screen::Screen;
use crate::domain::plan::Profiler;
use crate::store::examples;

/// Batch sizes that are put in or taken out.
const BATCHES: [usize; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/// Something that can be done now.
#[derive(Clone, Debug, PartialEq)]
pub struct Offered {
    /// What people read.
    pub title: String,
    /// What it takes, in this order.
    pub actions: Vec<Action>,
}

/// Everything that can be done now.
pub fn of(app: &App) -> Vec<Offered> {
    [
        setups(app),
        care(app),
        plans_at_hand(app),
        series(app),
        sides(app),
        files(app),
    ]
    .concat()
}

/// A change of the plan, and the screen on which it is seen.
fn planned(title: &str, edit: PlanEdit) -> Offered {
    Offered {
        title: format!("Plan: {title}"),
        actions: vec![Action::Go(Screen::Plan), Action::Plan(edit)],
    }
}

fn setups(app: &App) -> Vec<Offered> {
    let mut offered: Vec<Offered> = plan::engine_ids()
        .map(|id| planned(&format!("add {id}"), PlanEdit::Add(id.to_owned())))
        .collect();
    let setups = &app.planner.draft.setups;
    for (place, setup) in setups.iter().enumerate() {
        let name = match setup.label.trim() {
            "" => &setup.spec,
            label => label,
        };
        let number = place + 1;
        let mut offer = |doing: &str, edit| {
            offered.push(planned(&format!("{doing} setup {number}, {name}"), edit));
        };
        offer("duplicate", PlanEdit::Duplicate(place));
        offer("remove", PlanEdit::Remove(place));
        if place > 0 {
            offer("move up", PlanEdit::Move(place, place - 1));
        }
        if place + 1 < setups.len() {
            offer("move down", PlanEdit::Move(place, place + 1));
        }
    }
    offered
}

/// How carefully, and at which batch sizes: what is not so yet.
fn care(app: &App) -> Vec<Offered> {
    let draft = &app.planner.draft;
    let choose = |is_on: bool, on: &str, off: &str, edit: fn(bool) -> PlanEdit| {
        planned(if is_on { off } else { on }, edit(!is_on))
    };
    let mut offered = vec![
        choose(
            draft.journey,
            "each setup is a step on the one before",
            "setups stand by themselves",
            PlanEdit::Journey,
        ),
        choose(
            draft.energy,
            "measure long enough for energy",
            "energy only where it fits",
            PlanEdit::Energy,
        ),
        choose(
            draft.accuracy,
            "compare outputs",
            "do not compare outputs",
            PlanEdit::Accuracy,
        ),
    ];
    let requests = [
        (Requests::OneByOne, "requests in turn"),
        (Requests::AtRandom, "requests at random"),
        (Requests::Evenly, "requests at even distances"),
    ];
    for (value, title) in requests {
        if value != draft.requests {
            offered.push(planned(title, PlanEdit::Requests(value)));
        }
    }
    let profilers = Profiler::ALL.into_iter().map(Some);
    for choice in std::iter::once(None).chain(profilers) {
        let is_here = choice.is_none_or(|one| app.machine.missing_profiler(one).is_none());
        if choice != draft.profile && is_here {
            let by = choice.map_or_else(
                || "no profile".to_owned(),
                |profiler| format!("profile by {}", profiler.name()),
            );
            offered.push(planned(&by, PlanEdit::Profile(choice)));
        }
    }
    let chosen = plan::parse_batches(&draft.batches).unwrap_or_default();
    offered.extend(BATCHES.map(|batch| {
        let doing = if chosen.contains(&batch) {
            "without"
        } else {
            "with"
        };
        planned(
            &format!("{doing} batch {batch}"),
            PlanEdit::ToggleBatch(batch),
        )
    }));
    offered
}

/// Plans that are kept, and those that come ready.
fn plans_at_hand(app: &App) -> Vec<Offered> {
    let kept = app.planner.kept.iter().map(|(path, draft)| {
        let title = format!("use {}", plans::title(draft));
        planned(&title, PlanEdit::Use(path.clone()))
    });
    let ready = plan::ladders().map(|ladder| {
        planned(
            &format!("use {}", ladder.title),
            PlanEdit::Ladder(ladder.id),
        )
    });
    kept.chain(ready).collect()
}

fn series(app: &App) -> Vec<Offered> {
    let legend = app.curves.drawn.legend.iter();
    let offer = |title: String, curves| Offered {
        title: format!("Curves: {title}"),
        actions: vec![Action::Go(Screen::Curves), Action::Curves(curves)],
    };
    legend
        .flat_map(|entry| {
            let doing = if entry.shown { "hide" } else { "show" };
            [
                offer(
                    format!("{doing} {}", entry.name),
                    Curves::ToggleSeries(entry.id),
                ),
                offer(
                    format!("{} alone, or all again", entry.name),
                    Curves::OnlySeries(entry.id),
                ),
            ]
        })
        .collect()
}

/// Every setup of every open session, as either side of the comparison.
fn sides(app: &App) -> Vec<Offered> {
    let mut offered = Vec::new();
    for open in app.sessions.iter().filter(|open| is_comparable(open)) {
        for setup in 0..open.session.plan.setups.len() {
            let name = app.sessions.series_name(open.id, setup);
            let pick = Pick {
                session: open.id,
                setup,
                batch: None,
                whole: false,
            };
            for (side, choose) in [
                ("before", Compare::Before as fn(Pick) -> Compare),
                ("after", Compare::After),
            ] {
                offered.push(Offered {
                    title: format!("Compare: {side} is {name}"),
                    actions: vec![Action::Go(Screen::Compare), Action::Compare(choose(pick))],
                });
            }
        }
    }
    offered
}

/// Sessions to be planned again, and examples.
fn files(app: &App) -> Vec<Offered> {
    let again = app.library.found.iter().filter_map(|(path, scanned)| {
        let entry = scanned.entry.as_ref().ok()?;
        entry.can_run_again().is_ok().then(|| Offered {
            title: format!("Run {} again…", entry.name),
            actions: vec![Action::Sessions(Sessions::RunFileAgain(path.clone()))],
        })
    });
    let examples = examples::ALL.iter().enumerate().map(|(place, example)| {
        let action = Action::Sessions(Sessions::OpenExample(place));
        Offered {
            title: format!("Open the example {}", example.title),
            actions: vec![action],
        }
    });
    again.chain(examples).collect()
}
