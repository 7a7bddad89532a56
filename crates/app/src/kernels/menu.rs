//! What can be done with a row of the kernels screen: a category, an operator or a kernel.

use super::commands::{has_timeline, timeline_of_profile};
use super::instances::InstanceChoice;
use super::{ProfileRef, SelectedRow};
use crate::App;
use crate::action::{Action, Kernels, Shell};
use crate::palette_entries::entry::{Groups, Offered, all_of, anywhere, seen_on};
use crate::screen::Screen;

/// What can be done with a row, by what it stands for.
pub(crate) fn of_row(app: &App, row: &SelectedRow) -> Groups {
    let kernels = |title: &str, change| seen_on(Screen::Kernels, title, Action::Kernels(change));
    let name = name(row);
    let opens = match row {
        SelectedRow::Kernel(_) => "Show its instances",
        SelectedRow::Category(_) | SelectedRow::Operator(_) => "List its kernels",
    };
    let mut first = vec![kernels(opens, row.clone().opened())];
    if let SelectedRow::Kernel(kernel) = row {
        first.extend(on_timeline(app, row, kernel));
    }
    let filter = Kernels::Filter(name.clone());
    let copy = Action::Shell(Shell::Copy(name));
    vec![
        first,
        vec![
            kernels("Filter by this name", filter),
            anywhere("Copy the whole name", copy),
        ],
    ]
}

/// The screens that show a profile: *Kernels*, and the timeline where it has one.
pub(crate) fn of_profile(
    app: &App,
    pick: ProfileRef,
    [kernels, timeline]: [&str; 2],
) -> [Offered; 2] {
    let look = Action::Kernels(Kernels::Look(pick));
    let shown = seen_on(Screen::Kernels, kernels, look.clone());
    let mut on_timeline = seen_on(Screen::Kernels, timeline, look);
    on_timeline.actions.push(Action::Kernels(Kernels::Timeline));
    [shown, on_timeline.only_if(has_timeline(app, pick))]
}

/// The name of a row.
pub(crate) fn name(row: &SelectedRow) -> String {
    match row {
        SelectedRow::Category(category) => category.title().to_owned(),
        SelectedRow::Operator(name) | SelectedRow::Kernel(name) => name.clone(),
    }
}

fn on_timeline(app: &App, row: &SelectedRow, kernel: &str) -> [Offered; 3] {
    let allowed = || timeline_of_profile(app).map(|_| ());
    let select = Action::Kernels(Kernels::Select(Some(row.clone())));
    let instance = |title: &str, which| {
        let show = Action::Kernels(Kernels::Instance(which));
        all_of(title, vec![select.clone(), show]).only_if(allowed())
    };
    let find = Action::Kernels(Kernels::Find(kernel.to_owned()));
    [
        instance("First on the timeline", InstanceChoice::First),
        instance("Longest on the timeline", InstanceChoice::Longest),
        anywhere("Find all on the timeline", find).only_if(allowed()),
    ]
}

/// The search for slices of exactly this name.
pub(crate) fn exact_search(name: &str) -> String {
    format!("\"{name}\"")
}
