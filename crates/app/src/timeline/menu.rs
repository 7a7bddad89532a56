//! What can be done with a slice of the trace that is shown.

use crate::App;
use crate::action::{Action, Kernels, Shell, Timeline};
use crate::kernels::menu::exact_search;
use crate::kernels::{self, SelectedRow};
use crate::palette_entries::entry::{Groups, all_of, anywhere, seen_on};
use crate::screen::Screen;
use powerband_findings::analysis::breakdown::BreakdownLevel;

/// What can be done with a slice, by the trace's index. It is selected first, because most entries are about
/// the selection.
pub(crate) fn of_slice(app: &App, slice: usize) -> Groups {
    let Some((_, open, _)) = app.profile.timeline.current() else {
        return Vec::new();
    };
    if slice >= open.trace.len() {
        return Vec::new();
    }
    let name = open
        .trace
        .names
        .get(open.trace.slice(slice).name)
        .to_owned();
    let timeline = |title: &str, change| {
        let select = Action::Timeline(Timeline::Select(Some(slice)));
        all_of(title, vec![select, Action::Timeline(change)])
    };
    let mut ways = vec![
        timeline("Zoom to it", Timeline::ZoomTo(slice)),
        timeline("Next of its name", Timeline::Alike(true)),
        timeline("Previous of its name", Timeline::Alike(false)),
        timeline(
            "Find all of its name",
            Timeline::Search(exact_search(&name)),
        ),
    ];
    if app.profile.timeline.partner().is_some() {
        ways.push(timeline("Go to its launch or kernel", Timeline::Partner));
    }
    if let Some((session, profile)) = open.owner {
        let pick = kernels::ProfileRef { session, profile };
        let mut shown = seen_on(
            Screen::Kernels,
            "Open in Kernels",
            Action::Kernels(Kernels::Look(pick)),
        );
        let row = SelectedRow::Kernel(name.clone());
        shown.actions.extend([
            Action::Kernels(Kernels::Level(BreakdownLevel::Kernel)),
            Action::Kernels(Kernels::Select(Some(row))),
        ]);
        ways.push(shown);
    }
    let copy = Action::Shell(Shell::Copy(name));
    vec![
        ways,
        vec![
            timeline("Add a note", Timeline::AddNote),
            anywhere("Copy the name", copy),
            timeline("Copy the arguments", Timeline::CopyArguments),
        ],
    ]
}
