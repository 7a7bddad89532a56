//! Nothing moves under the pointer: controls keep their places while something appears, opens or goes.

use eframe::egui::Pos2;
use powerband_app::action::{Action, Kernels};
use powerband_app::kernels::SelectedRow;
use powerband_app::notices::NoticeLevel;
use powerband_app::plan::PlanEdit;
use powerband_app::screen::{Door, Screen};
use powerband_app::shell::settings::Theme;
use powerband_findings::analysis::breakdown::BreakdownLevel;

use super::Desk;
use super::narrow::resize;
use super::pictures::{PictureState, desk, go};
use super::typing::drag;

/// Controls of a screen, and what may not move them.
type Unmoved<'a> = (Screen, &'a [&'a str], fn(&mut Desk));

#[test]
fn controls_keep_their_places_while_things_appear() {
    let kernel = |desk: &mut Desk| {
        let kernels = &desk.app().profile.kernels;
        let found = kernels.found.result.as_ref().expect("a result");
        let name = found.breakdown(BreakdownLevel::Kernel).rows[0].name.clone();
        let row = SelectedRow::Kernel(name);
        desk.act(Action::Kernels(Kernels::Select(Some(row))));
        desk.see("Instances");
    };
    let notice = |desk: &mut Desk| {
        let notices = &mut desk.app_mut().shared.notices;
        notices.add(NoticeLevel::Info, "Something happened.", None, 0);
    };
    let limit = |desk: &mut Desk| desk.press("Ctrl+T");
    let remove = |desk: &mut Desk| desk.act(Action::Plan(PlanEdit::Remove(0)));
    let of_kernels = [
        "Rows: Category",
        "Drawn as: Treemap",
        "Filter",
        "Open convolution",
    ];
    let of_curves = ["Latency axis: log", "Throughput axis: linear"];
    let of_plan = ["Add a setup", "Matrix…", "Start the run", "Undo"];
    let all: [Unmoved<'_>; 7] = [
        (Screen::Kernels, &of_kernels, kernel),
        (Screen::Kernels, &of_kernels, notice),
        (Screen::Curves, &of_curves, notice),
        (Screen::Curves, &of_curves, limit),
        (Screen::Plan, &of_plan, notice),
        (Screen::Plan, &of_plan, remove),
        (
            Screen::Compare,
            &["Swap", "Before: setup", "After: point"],
            notice,
        ),
    ];
    for size in [(1_280.0, 800.0), (1_920.0, 1_000.0)] {
        for (screen, controls, action) in &all {
            let mut desk = desk(PictureState::Full, 1.0);
            resize(&mut desk, size);
            go(&mut desk, PictureState::Full, *screen, Theme::Dark);
            desk.steps(4);
            let places = |desk: &Desk| -> Vec<(String, Pos2)> {
                let tabs = desk.names().into_iter();
                let tabs = tabs.filter(|name| {
                    Door::ALL
                        .iter()
                        .any(|door| name.starts_with(&format!("{}: ", door.title())))
                });
                let doors = Door::ALL.into_iter().map(|door| door.title().to_owned());
                let own = controls.iter().map(|name| (*name).to_owned());
                let all = tabs.chain(doors).chain(own);
                all.map(|name| (name.clone(), desk.get(&name).rect().min))
                    .collect()
            };
            let before = places(&desk);
            action(&mut desk);
            desk.steps(4);
            assert_eq!(places(&desk), before, "{screen:?} at {size:?}");
        }
    }
}

#[test]
fn larger_stays_below_the_pointer_until_it_leaves() {
    let mut desk = desk(PictureState::Small, 1.0);
    desk.act(Action::Go(Screen::Settings));
    desk.steps(2);
    let zoom = |desk: &Desk| desk.harness.ctx.zoom_factor();
    let place = desk.get("Larger").rect().center();
    for _ in 0..2 {
        desk.harness.hover_at(place);
        desk.steps(2);
        drag(&mut desk, place, place);
        desk.steps(3);
        assert!((zoom(&desk) - 1.0).abs() < 1e-3, "the pointer rests on it");
    }
    desk.see("120 %");
    desk.harness.hover_at(Pos2::new(5.0, 5.0));
    desk.steps(3);
    assert!((zoom(&desk) - 1.2).abs() < 1e-3, "{}", zoom(&desk));
}
