//! The first run from Home, and a plan put together with the mouse.

use powerband_app::screen::Screen;
use powerband_core::domain::point::Point;

use super::{Desk, data};
use crate::support::Home;

#[test]
fn one_button_measures_a_resnet() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    assert!(desk.sees("Benchmark ResNet-50"));
    desk.click("Start");
    assert_eq!(desk.app().shared.screen, Screen::Run);
    desk.until("it began", |app| {
        let run = app.bench.run.as_ref();
        run.is_some_and(|run| run.session.is_some())
    });
    let session = desk
        .app()
        .bench
        .run
        .as_ref()
        .unwrap()
        .session
        .clone()
        .unwrap();
    assert_eq!(session.model.name, "resnet50");
    assert_eq!(session.plan.points, [1, 2, 4, 8, 16].map(Point::of_batch));
    let engines: Vec<&str> = session
        .plan
        .setups
        .iter()
        .map(|setup| setup.engine.as_str())
        .collect();
    let ready: Vec<&str> = desk
        .app()
        .shared
        .machine
        .ready()
        .map(|engine| engine.id)
        .collect();
    assert_eq!(engines, ready, "every engine that can run here");
    // Home leads to it while it goes on, and does not begin a second one.
    desk.press("Ctrl+1");
    assert!(desk.find("Start").is_none());
    desk.click("Watch the run");
    assert_eq!(desk.app().shared.screen, Screen::Run);
    desk.click("Stop");
    desk.until("it is over", |app| {
        !app.bench.run.as_ref().unwrap().stage.is_going_on()
    });
}

#[test]
fn setups_are_moved_coloured_and_taken_away() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.press("Ctrl+2");
    while !desk.app().bench.planner.draft.setups.is_empty() {
        desk.click("Remove setup 1");
    }
    for (place, spec) in ["fake,fixed=100", "fake,fixed=200", "fake,fixed=300"]
        .iter()
        .enumerate()
    {
        desk.click("Add a setup");
        desk.fill(&format!("Setup {}", place + 1), spec);
    }
    let specs = |desk: &Desk| -> Vec<String> {
        let setups = desk.app().bench.planner.draft.setups.iter();
        setups
            .map(|setup| setup.spec.rsplit('=').next().unwrap_or_default().to_owned())
            .collect()
    };
    desk.click("Move up setup 3");
    assert_eq!(specs(&desk), ["100", "300", "200"]);
    desk.click("Move down setup 1");
    assert_eq!(specs(&desk), ["300", "100", "200"]);
    // The ends lead nowhere.
    desk.click("Move up setup 1");
    desk.click("Move down setup 3");
    assert_eq!(specs(&desk), ["300", "100", "200"]);
    desk.click("Colour of setup 2");
    desk.click("Colour 4");
    assert_eq!(desk.app().bench.planner.draft.setups[1].colour, Some(3));
    assert!(desk.find("Colour 4").is_none(), "the choice is closed");
    desk.click("Remove setup 1");
    assert_eq!(specs(&desk), ["100", "200"]);
    assert_eq!(desk.app().bench.planner.draft.setups[0].colour, Some(3));
    desk.click("Colour of setup 1");
    desk.click("Automatic");
    assert_eq!(desk.app().bench.planner.draft.setups[0].colour, None);
    // Each of these was a step.
    for expected in [Some(3), Some(3)] {
        desk.press("Ctrl+Z");
        assert_eq!(
            desk.app()
                .bench
                .planner
                .draft
                .setups
                .iter()
                .find_map(|setup| setup.colour),
            expected
        );
    }
    assert_eq!(specs(&desk), ["300", "100", "200"]);
}

#[test]
fn batch_sizes_are_switched_by_their_buttons() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.press("Ctrl+2");
    desk.fill("Batch sizes", "1..4, 24");
    assert!(desk.sees("and 24"));
    desk.click("Batch 8, add");
    desk.click("Batch 2, take out");
    assert_eq!(desk.value("Batch sizes"), "1, 4, 8, 24");
    assert!(desk.sees("Batch 2, add") && desk.sees("Batch 8, take out"));
    desk.press("Ctrl+Z");
    desk.press("Ctrl+Z");
    assert_eq!(desk.value("Batch sizes"), "1..4, 24");
}

#[test]
fn a_network_is_chosen_from_the_list() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.app_mut().shared.machine.engines = Some(data::engines(true));
    desk.press("Ctrl+2");
    desk.click("Built-in network");
    desk.click("DenseNet-121, ImageNet");
    assert_eq!(desk.value("Model"), "densenet121");
    desk.see("7,978,856 parameters");
}

#[test]
fn a_name_goes_with_its_model_unless_it_was_typed() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.press("Ctrl+2");
    desk.click("Ready-made plan DenseNet-121 suite");
    assert_eq!(desk.value("Name"), "DenseNet-121 suite");
    desk.fill("Model", "resnet18@cifar");
    assert_eq!(desk.value("Name"), "");
    desk.fill("Name", "Mine");
    desk.fill("Model", "resnet50");
    assert_eq!(desk.value("Name"), "Mine");
}

#[test]
fn a_ready_made_plan_says_that_it_replaced_ones_own_and_gives_it_back() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.press("Ctrl+2");
    desk.click("Ready-made plan DenseNet-121 suite");
    let replaced = "replaced yours, which was not saved";
    assert!(!desk.sees(replaced), "there was none of one's own");
    desk.click("New plan");
    desk.fill("Batch sizes", "3, 5");
    let own = desk.app().bench.planner.draft.clone();
    desk.click("Ready-made plan ResNet-50 case study");
    desk.see("The plan ResNet-50 case study replaced yours, which was not saved");
    let undo = desk
        .app()
        .shared
        .notices
        .on_screen()
        .find(|notice| notice.text.contains(replaced));
    let (name, action) = undo
        .and_then(|notice| notice.offer.clone())
        .expect("an offer");
    assert_eq!(name, "Undo");
    desk.act(action);
    assert_eq!(desk.app().bench.planner.draft, own);
    assert!(!desk.sees(replaced));
    // After another step, Undo would undo that.
    desk.click("Ready-made plan ResNet-50 case study");
    desk.see(replaced);
    desk.click("Batch 2, add");
    assert!(!desk.sees(replaced));
}
