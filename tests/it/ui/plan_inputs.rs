//! What inputs are filled with, in *Plan*: said below the model, and chosen in a field; sizes that they cannot have.

use std::collections::BTreeSet;

use egui_kittest::kittest::NodeT as _;
use powerband_app::plan::{ModelFacts, PlanCheck};
use powerband_core::domain::fill::Fill;

use super::Desk;
use crate::input_values;
use crate::support::Home;

#[test]
fn the_plan_says_what_inputs_are_filled_with_and_takes_another_choice() {
    let home = Home::new();
    let path = home.write("net.onnx", input_values::decoder());
    let mut desk = Desk::awake(home, Vec::new());
    desk.press("Ctrl+2");
    assert!(
        !desk.sees("Input values"),
        "a network for pictures has none"
    );
    desk.fill("Model", &path.display().to_string());
    desk.until(
        "the model is known",
        |app| matches!(&app.bench.planner.facts, ModelFacts::Known(facts) if !facts.fills.is_empty()),
    );
    desk.steps(2);
    let fills = match &desk.app().bench.planner.facts {
        ModelFacts::Known(facts) => facts.fills.len(),
        _ => 0,
    };
    assert!(!desk.sees("input_ids: 0…499"), "folded");
    desk.click(&format!("Values of {fills} inputs"));
    desk.see("input_ids: 0…499: indexes wte.weight (500 rows)");
    desk.see("position_ids: counts up from past: positions; indexes wpe.weight (40 rows)");
    desk.fill("Input values", "input_ids=random:0..9");
    let request = desk.app().bench.planner.draft.request().expect("a request");
    let expect = Fill::Random {
        low: 0.0,
        high: 9.0,
    };
    assert_eq!(request.sizes.fills["input_ids"], expect);
    desk.fill("Input values", "input_ids=nines");
    desk.steps(2);
    assert!(desk.app().bench.planner.draft.request().is_err());
    desk.see(
        "cannot read the input \"input_ids=nines\": \"nines\" is no way to fill an input. Write it as \
         NAME=zeros, ones, a number, range, random:LOW..HIGH or FILE.npy",
    );
}

/// Waits until it is known what a run of the plan as it stands would refuse.
fn checked(desk: &mut Desk, what: &str, is_it: fn(&PlanCheck) -> bool) {
    desk.until(what, |app| {
        let plan = app.bench.planned(&app.shared);
        let check = plan.as_ref().and_then(|plan| app.bench.plan_check(plan));
        check.is_some_and(is_it)
    });
    desk.steps(2);
}

#[test]
fn a_length_beyond_the_positions_of_a_network_is_refused_before_its_run() {
    let mut desk = Desk::awake(Home::new(), Vec::new());
    desk.press("Ctrl+2");
    desk.fill("Model", "minilm");
    checked(&mut desk, "sizes are refused", |check| {
        !check.sizes.is_empty()
    });
    let refusal = "which has 512: choose a smaller sequence";
    let can_be_added = |desk: &Desk, size: usize| {
        let chip = desk.get(&format!("sequence {size}, add"));
        !chip.accesskit_node().is_disabled()
    };
    assert!(can_be_added(&desk, 512));
    assert!(!can_be_added(&desk, 1_024) && !can_be_added(&desk, 2_048));

    desk.fill("Sweep", "sequence=128,2048");
    checked(&mut desk, "cases are refused", |check| {
        !check.cases.is_empty()
    });
    desk.see(refusal);
    let app = desk.app();
    let plan = app.bench.planned(&app.shared).expect("a plan");
    let none = BTreeSet::new();
    let estimate = desk.app().bench.estimate(&plan, &none);
    assert_eq!(2 * estimate.cases, plan.cases().len(), "128 alone is run");
    assert_eq!(desk.app().bench.plan_obstacle(&desk.app().shared), None);

    desk.fill("Sweep", "sequence=2048");
    checked(&mut desk, "the plan is refused", |check| {
        check.whole.is_some()
    });
    desk.see(refusal);
    let start = desk.get("Start the run");
    assert!(start.accesskit_node().is_disabled());
    desk.press("Ctrl+Enter");
    assert!(desk.app().bench.run.is_none(), "it does not begin");

    desk.fill("Sweep", "sequence=512");
    checked(&mut desk, "nothing is refused", |check| {
        check.whole.is_none() && check.cases.is_empty()
    });
    assert!(!desk.get("Start the run").accesskit_node().is_disabled());
}
