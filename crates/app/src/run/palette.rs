//! In the command palette: cases of the run that can be left out or taken back, and which of them are listed.

use crate::App;
use crate::action::{Action, RunAction};
use crate::palette_entries::entry::{Offered, anywhere, seen_on};
use crate::run::states::CaseFilter;
use crate::screen::Screen;
use powerband_core::domain::case::Case;

pub(crate) fn entries(app: &App) -> Vec<Offered> {
    let mut all = programs(app);
    all.extend(of_run(app));
    all
}

/// The answers to the question for the programs of a plan.
fn programs(app: &App) -> Vec<Offered> {
    let answer = |title: &str, are_allowed| {
        let act = Action::Run(RunAction::AllowPrograms(are_allowed));
        anywhere(title, act)
    };
    let answers = || {
        vec![
            answer("Run: do not run the programs of the plan", false),
            answer("Run: run the programs of the plan", true),
        ]
    };
    app.bench
        .programs
        .as_ref()
        .map(|_| answers())
        .unwrap_or_default()
}

fn of_run(app: &App) -> Vec<Offered> {
    let Some(run) = app.bench.run.as_ref().filter(|run| run.stage.is_going_on()) else {
        return Vec::new();
    };
    let Some(session) = &run.session else {
        return Vec::new();
    };
    let named = |case: &Case| {
        let setup = session.setup_label(case.setup);
        format!("{} of {setup}", case.point)
    };
    let cases = session.cases.iter().filter_map(|case| {
        if run.can_skip(case) {
            let skip = RunAction::Skip(case.key());
            Some((format!("skip {}", named(case)), skip))
        } else if run.can_take_back(case) {
            let unskip = RunAction::Unskip(case.key());
            Some((format!("take {} back", named(case)), unskip))
        } else {
            None
        }
    });
    let follow = if run.follows {
        ("stop following the active case", RunAction::Follow(false))
    } else {
        ("follow the active case", RunAction::Follow(true))
    };
    let lists = CaseFilter::ALL.into_iter().filter(|one| *one != run.filter);
    let lists = lists.map(|one| (format!("list {one} cases"), RunAction::List(one)));
    let follow = std::iter::once((follow.0.to_owned(), follow.1));
    cases
        .chain(follow)
        .chain(lists)
        .map(|(title, act)| seen_on(Screen::Run, format!("Run: {title}"), Action::Run(act)))
        .collect()
}
