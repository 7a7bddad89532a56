//! Two sessions once more, in turns: one plan with the setups of both, at the points that both have.
//!
//! What was measured at different times differs by the times as well. `bench --again` and the window's *Measure both
//! again, in turns* come this way. Each setup runs the file that its session measured, or nothing is measured.

use super::prepare::prepare;
use super::run::PreparedRun;
use crate::prepare_error::PrepareError;
use powerband_core::domain::again::{NotAgain, SessionPart, setup_pairs};
use powerband_core::domain::request::RunRequest;
use powerband_store::installation::Installation;

/// Makes that request into a run, where each setup can run here on the file that its session measured.
pub fn prepare_again(
    place: &Installation,
    request: &RunRequest,
    before: SessionPart<'_>,
    after: SessionPart<'_>,
) -> Result<PreparedRun, PrepareError> {
    let prepared = prepare(place, request).map_err(|error| match error {
        PrepareError::Model(error) => NotAgain(error.to_string()).into(),
        other => other,
    })?;
    let pairs = setup_pairs(before, after).into_iter();
    let sources = pairs.flat_map(|(b, a)| [(before.session, b), (after.session, a)]);
    for (number, (session, setup)) in sources.enumerate() {
        if let Some(Err(reason)) = prepared.runtimes.get(number) {
            let label = session.setup_label(setup);
            return Err(NotAgain(format!("{label}: {reason}")).into());
        }
        let then = session.model_of(setup);
        let beginning = &prepared.beginning;
        let now = beginning.variants.get(&number);
        if now.unwrap_or(&beginning.model).is_same_file(then) == Some(false) {
            return Err(NotAgain(format!(
                "{} is not the file any more that {} measured",
                then.file, session.name
            ))
            .into());
        }
    }
    Ok(prepared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::session;
    use powerband_core::domain::again::request_for;
    use powerband_core::domain::plan::PresetName;
    use powerband_core::domain::point::Point;
    use powerband_core::domain::profile::Tool;
    use powerband_core::domain::session::Session;

    fn both(before: &Session, after: &Session) -> Result<RunRequest, String> {
        let parts = [before, after].map(SessionPart::all);
        request_for(parts[0], parts[1]).map_err(|error| error.to_string())
    }

    fn specs(request: &RunRequest) -> Vec<String> {
        request.setups.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_one_setup_of_each_takes_turns_on_its_own_model() {
        let before = session("old", "v1.onnx", &["ort"], &[1, 8]);
        let after = session("new", "v2.onnx", &["rten"], &[8, 16]);
        let request = both(&before, &after).unwrap();
        assert_eq!(request.model, "v1.onnx");
        assert_eq!(specs(&request), ["ort:cpu", "rten:cpu,model=v2.onnx"]);
        assert_eq!(request.points, Some(vec![Point::of_batch(8)]));
        assert_eq!(request.name.as_deref(), Some("old and new, in turns"));
        assert_eq!(request.preset, PresetName::Quick);
    }

    #[test]
    fn setups_in_common_are_pairs_and_are_told_apart() {
        let before = session("old", "net", &["ort", "rten", "tract"], &[1]);
        let after = session("new", "net", &["tract", "ort"], &[1]);
        let request = both(&before, &after).unwrap();
        let expected = ["ort:cpu", "ort:cpu", "tract:cpu", "tract:cpu"];
        assert_eq!(specs(&request), expected);
        let labels = request.looks.iter().filter_map(|look| look.label.clone());
        let labels: Vec<String> = labels.collect();
        assert_eq!(labels[..2], ["ort:cpu, old", "ort:cpu, new"]);
        let picked = |setup| SessionPart {
            setup: Some(setup),
            ..SessionPart::all(&before)
        };
        let other = SessionPart {
            setup: Some(1),
            ..SessionPart::all(&after)
        };
        let request = request_for(picked(1), other).unwrap();
        assert_eq!(specs(&request), ["rten:cpu", "ort:cpu"]);
    }

    #[test]
    fn rounds_of_a_plan_are_kept_where_they_are_more() {
        let before = session("old", "net", &["ort"], &[1]);
        let mut after = session("new", "net", &["ort"], &[1]);
        assert_eq!(both(&before, &after).unwrap().rounds, None);
        after.plan.measure.rounds = 40;
        assert_eq!(both(&before, &after).unwrap().rounds, Some(40));
        after.plan.preset = PresetName::Standard;
        let request = both(&before, &after).unwrap();
        assert_eq!(request.preset, PresetName::Standard);
    }

    #[test]
    fn what_cannot_take_turns_is_refused_with_the_reason() {
        let before = session("old", "net", &["ort", "rten"], &[1]);
        let refused = |after: &Session| both(&before, after).unwrap_err();
        let other = session("new", "net", &["tract"], &[1]);
        assert!(refused(&other).contains("no setup in common"));
        let points = session("new", "net", &["ort"], &[4]);
        assert!(refused(&points).contains("no point in common: batch 1 and batch 4"));
        assert!(refused(&before).contains("took turns already"));
        let mut fed = session("new", "net", &["ort"], &[1]);
        fed.plan.shapes.insert("x".to_owned(), vec![1, 3]);
        assert!(refused(&fed).contains("other inputs"));
        let mut imported = session("new", "net", &["ort"], &[1]);
        imported.imported = Some(Tool::default());
        assert!(refused(&imported).contains("another program"));
    }
}
