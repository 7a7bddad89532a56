//! What inputs are filled with, in *Plan*: said below the model, and chosen in a field.

use powerband_app::plan::ModelFacts;
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
        |app| matches!(&app.planner.facts, ModelFacts::Known(facts) if !facts.fills.is_empty()),
    );
    desk.steps(2);
    desk.see("input_ids: 0…499: indexes wte.weight (500 rows)");
    desk.see("position_ids: counts up from past: positions; indexes wpe.weight (40 rows)");
    desk.fill("Input values", "input_ids=random:0..9");
    let request = desk.app().planner.draft.request().expect("a request");
    let expect = Fill::Random {
        low: 0.0,
        high: 9.0,
    };
    assert_eq!(request.inputs["input_ids"], expect);
    desk.fill("Input values", "input_ids=nines");
    desk.steps(2);
    assert!(desk.app().planner.draft.request().is_err());
    desk.see(
        "cannot read the input \"input_ids=nines\": \"nines\" is no way to fill an input. Write it as \
         NAME=zeros, ones, a number, range, random:LOW..HIGH or FILE.npy",
    );
}
