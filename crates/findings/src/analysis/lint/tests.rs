//! Tests of the checks on what was measured; those on documents are in `tests/it/`, because they read sessions.

use super::*;
use crate::analysis::testing::{measure_near, session};
use powerband_core::domain::accuracy::{Accuracy, HitCount};
use powerband_core::domain::case::PhaseSamples;

/// The only finding, as one text.
fn only(findings: &[LintFinding]) -> String {
    assert_eq!(findings.len(), 1, "{findings:#?}");
    let one = &findings[0];
    format!(
        "{} | {} | {} | {}",
        one.about, one.claimed, one.follows, one.sum
    )
}

#[test]
fn nothing_is_wrong_in_even_measurements() {
    let mut made = session(&["fake:cpu", "fake:cpu,noise=2"], &[1, 8, 32]);
    for batch in [1, 8, 32] {
        measure_near(&mut made, 0, batch, 900 + 100 * batch as u64);
    }
    assert_eq!(lint_findings(&made), []);
}

#[test]
fn what_was_measured_is_checked_too() {
    let mut measured = session(&["fake:cpu"], &[1]);
    measure_near(&mut measured, 0, 1, 1_000);
    let parts = |forward_us: u64| {
        [("forward", forward_us), ("backward", 600)].map(|(name, us)| PhaseSamples {
            name: name.to_owned(),
            samples_ns: vec![us * 1_000; 10],
        })
    };
    measured.cases[0].rounds[0].parts = parts(380).to_vec();
    assert_eq!(lint_findings(&measured), []);
    measured.cases[0].rounds[0].parts = parts(900).to_vec();
    let found = lint_findings(&measured);
    let said = only(&found);
    assert!(
        said.starts_with("fake:cpu batch 1") && said.contains("more than the whole"),
        "{said}"
    );
    assert_eq!(found[0].origin, LintOrigin::Measured);

    let hits = |hits| Some(HitCount { hits, of: 64 });
    let accuracy = Accuracy {
        items: 64,
        inputs: "64 pictures".to_owned(),
        reference: "itself".to_owned(),
        distance: None,
        same_choice: None,
        top1: hits(50),
        top5: hits(40),
        trouble: None,
        no_choice: None,
    };
    let mut judged = session(&["fake:cpu"], &[1]);
    judged.accuracies.insert(0, accuracy);
    let said = only(&lint_findings(&judged));
    assert!(said.contains("top-5 includes top-1"), "{said}");
}

#[test]
fn every_check_is_listed_once_and_says_what_it_does() {
    for (place, check) in ALL.iter().enumerate() {
        assert!(ALL[..place].iter().all(|other| other.id != check.id));
        assert!(check.sentence.ends_with('.') && !check.title.is_empty());
        assert!(super::check_by_id(check.id).is_some());
    }
}
