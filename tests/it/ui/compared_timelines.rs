//! Two recordings of one network as one timeline: in their own time and aligned.

use powerband_app::action::{Action, Shell, Timeline};
use powerband_app::screen::Screen;
use powerband_findings::chart::ribbon::RibbonStanding;

use super::Desk;
use super::instances::real;
use super::pictures::{Album, THEMES};
use crate::support::Home;

/// The same network before and after a change of its layout in memory.
const BEFORE: &str = "kineto/resnet18-contiguous.pt.trace.json.gz";
const AFTER: &str = "kineto/resnet18-channels-last.pt.trace.json.gz";

fn change(desk: &mut Desk, change: Timeline) {
    desk.act(Action::Timeline(change));
    desk.step();
}

/// Both compared, with the operator selected that gained most of those whose difference is settled.
fn desk() -> Desk {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    let mut ids = Vec::new();
    for file in [BEFORE, AFTER] {
        desk.act(Action::OpenTrace(real(file)));
        desk.until("it is read", |app| {
            let timeline = &app.profile.timeline;
            timeline.traces.len() > ids.len() && timeline.reading.is_empty()
        });
        ids.push(desk.app().profile.timeline.shown.expect("a trace"));
    }
    desk.act(Action::Go(Screen::Timeline));
    change(&mut desk, Timeline::CompareWith(ids[0]));
    desk.until("a comparison", |app| {
        app.profile.timeline.comparison().is_some()
    });
    let timeline = &desk.app().profile.timeline;
    let compared = timeline.comparison().expect("a comparison");
    let bars = compared.ribbon().bars.iter();
    let bars = bars.filter(|bar| bar.standing != RibbonStanding::Open);
    let fastest = bars.min_by(|one, other| one.difference_ns.total_cmp(&other.difference_ns));
    let slice = fastest.and_then(|bar| compared.merged.slice_of_row(bar.row));
    change(&mut desk, Timeline::GoTo(slice.expect("a slice")));
    desk
}

#[test]
fn the_operator_that_gained_most_is_named_and_coloured() {
    let mut desk = desk();
    desk.see("aten::max_pool2d");
    desk.see("Matched by");
    desk.see("Settled, and more than two starts usually differ by");
}

#[test]
fn compared_timelines_are_painted() {
    let Some(mut album) = Album::open() else {
        return;
    };
    let mut desk = desk();
    for (is_aligned, time) in [(false, "own-time"), (true, "aligned")] {
        change(&mut desk, Timeline::Align(is_aligned));
        for (theme, word) in THEMES {
            desk.act(Action::Shell(Shell::Theme(theme)));
            desk.steps(2);
            album.take(&mut desk, &format!("timeline-compared-{time}-{word}"));
        }
    }
    album.close();
}
