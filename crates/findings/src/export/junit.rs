//! A comparison as JUnit XML, which continuous integration shows as tests: a case that got slower is a
//! failure, one without a verdict is skipped.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::iter;

use super::text_metrics::escaped;
use crate::analysis::comparison::{CasePair, Comparison};
use crate::analysis::gate::{Gate, GateResult, signed_percent};
use crate::analysis::verdict::Call;
use powerband_core::base::humanize;
use powerband_core::domain::point::Point;

/// The result of a case.
enum CaseResult {
    Passed,
    Failed(String),
    Skipped(String),
    /// It could not be told at all.
    Error(String),
}

/// A case as a test.
struct TestCase {
    /// Its class; that of its suite where nothing is said.
    class: Option<String>,
    name: String,
    seconds: f64,
    result: CaseResult,
    output: Option<String>,
}

/// The whole document. A case fails that is called slower by more than so many per cent.
pub fn document(comparisons: &[Comparison], percent: f64) -> String {
    let suites = comparisons.iter();
    let suites = suites.map(|comparison| (setups(comparison), cases(comparison, percent)));
    suites_text("powerband compare", suites)
}

/// The document of a gate, whose sides are called so.
pub fn of_gate(gate: &Gate, sides: &str) -> String {
    let remarks = (!gate.remarks.is_empty()).then(|| gate.remarks.join("\n"));
    let cases = gate.rows.iter().enumerate().map(|(place, row)| {
        let point = row.point.as_ref();
        let reason = row.reason.clone().unwrap_or_default();
        let sides = row.base.as_deref().zip(row.new.as_deref());
        let sides = sides.map_or_else(String::new, |(base, new)| format!(": {base}, then {new}"));
        let change = row.loss_percent.map(signed_percent).unwrap_or_default();
        let limit = humanize::significant(row.limit_percent, 3);
        let change = format!("worse by {change}, the limit is {limit} %{sides}");
        TestCase {
            class: None,
            name: point.map_or_else(
                || row.metric.clone(),
                |point| format!("{}, {point}", row.metric),
            ),
            seconds: 0.0,
            result: match row.result {
                GateResult::Passed => CaseResult::Passed,
                GateResult::Failed => CaseResult::Failed(change),
                GateResult::Open if row.loss_percent.is_none() => CaseResult::Error(reason),
                GateResult::Open => CaseResult::Skipped(reason),
            },
            // They are of the gate, which has no room of its own for them.
            output: remarks.clone().filter(|_| place == 0),
        }
    });
    suites_text(
        "powerband gate",
        iter::once((sides.to_owned(), cases.collect())),
    )
}

/// The document of a gate that could not be measured, with why.
pub fn of_no_gate(reason: &str) -> String {
    let case = TestCase {
        class: None,
        name: "gate".to_owned(),
        seconds: 0.0,
        result: CaseResult::Error(reason.to_owned()),
        output: None,
    };
    suites_text(
        "powerband gate",
        iter::once(("gate".to_owned(), vec![case])),
    )
}

fn suites_text(name: &str, suites: impl Iterator<Item = (String, Vec<TestCase>)>) -> String {
    let mut text =
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{name}\">\n");
    for (name, cases) in suites {
        suite(&mut text, &name, &cases);
    }
    text.push_str("</testsuites>\n");
    text
}

fn cases(comparison: &Comparison, percent: f64) -> Vec<TestCase> {
    let of_pair = |pair: &CasePair| {
        let latency = pair.after.latency_ns.as_ref();
        TestCase {
            class: Some(sides(pair)),
            name: name(pair),
            seconds: latency.map_or(0.0, |latency| latency.median / 1e9),
            result: case_result(pair, percent),
            output: Some(sentence(pair)),
        }
    };
    let lone = |points: &[Point], side: &str| -> Vec<TestCase> {
        let one = |point: &Point| TestCase {
            class: None,
            name: point.to_string(),
            seconds: 0.0,
            result: CaseResult::Skipped(format!("measured {side} only")),
            output: None,
        };
        points.iter().map(one).collect()
    };
    let mut cases: Vec<TestCase> = comparison.pairs.iter().map(of_pair).collect();
    cases.extend(lone(&comparison.only_before, "before"));
    cases.extend(lone(&comparison.only_after, "after"));
    cases
}

fn suite(text: &mut String, name: &str, cases: &[TestCase]) {
    let count =
        |test: fn(&CaseResult) -> bool| cases.iter().filter(|case| test(&case.result)).count();
    let suite = escaped(name);
    // Writing into a string cannot fail.
    let _infallible = writeln!(
        text,
        "  <testsuite name=\"{suite}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" errors=\"{}\">",
        cases.len(),
        count(|fate| matches!(fate, CaseResult::Failed(_))),
        count(|fate| matches!(fate, CaseResult::Skipped(_))),
        count(|fate| matches!(fate, CaseResult::Error(_))),
    );
    for one in cases {
        case(text, &suite, one);
    }
    text.push_str("  </testsuite>\n");
}

/// What is compared: two setups, or so many pairs of them.
fn setups(comparison: &Comparison) -> String {
    let sides: BTreeSet<String> = comparison.pairs.iter().map(sides).collect();
    let mut named = sides.iter();
    match (named.next(), named.next()) {
        (None, _) => "nothing in common".to_owned(),
        (Some(only), None) => only.clone(),
        _ => format!("{} setups", sides.len()),
    }
}

fn sides(pair: &CasePair) -> String {
    let (before, after) = (&pair.before.setup_label, &pair.after.setup_label);
    format!("{after} against {before}")
}

fn case(text: &mut String, suite: &str, case: &TestCase) {
    let (word, reason) = match &case.result {
        CaseResult::Passed => ("", String::new()),
        CaseResult::Failed(reason) => ("failure", escaped(reason)),
        CaseResult::Skipped(reason) => ("skipped", escaped(reason)),
        CaseResult::Error(reason) => ("error", escaped(reason)),
    };
    let class = case.class.as_deref().map(escaped);
    let class = class.unwrap_or_else(|| suite.to_owned());
    let _infallible = write!(
        text,
        "    <testcase classname=\"{class}\" name=\"{}\" time=\"{}\">",
        escaped(&case.name),
        case.seconds
    );
    if !word.is_empty() {
        let _infallible = write!(text, "<{word} message=\"{reason}\"/>");
    }
    if let Some(output) = &case.output {
        let _infallible = write!(text, "<system-out>{}</system-out>", escaped(output));
    }
    text.push_str("</testcase>\n");
}

/// Which case, where setups of several names are in one comparison too.
fn name(pair: &CasePair) -> String {
    let (before, after) = (&pair.before, &pair.after);
    let batch = if pair.is_per_item() {
        format!("{} against {}", after.point, before.point)
    } else {
        after.point.to_string()
    };
    format!("{}, {batch}", after.setup_label)
}

fn case_result(pair: &CasePair, percent: f64) -> CaseResult {
    match (pair.verdict.call, pair.loss_percent()) {
        (Call::Slower, Some(loss)) if loss > percent => CaseResult::Failed(sentence(pair)),
        (Call::Inconclusive, _) => CaseResult::Skipped(sentence(pair)),
        _ => CaseResult::Passed,
    }
}

fn sentence(pair: &CasePair) -> String {
    let mut text = pair.verdict.call.to_string();
    if let Some(ratio) = pair.ratio {
        let _infallible = write!(text, ": {}", ratio.speed_up_text());
        if let Some(interval) = ratio.named_interval_text() {
            let _infallible = write!(text, ", {interval}");
        }
        let _infallible = write!(
            text,
            ", {}",
            humanize::pluralised(u64::from(ratio.rounds), "round")
        );
    }
    if let Some(reason) = &pair.verdict.reason {
        let _infallible = write!(text, "; {reason}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows;
    use crate::analysis::comparison::{self, ComparedSide};
    use crate::analysis::testing::{measure, measure_near, session};
    use powerband_core::domain::plan::SetupStyle;

    #[test]
    fn slower_fails_and_what_cannot_be_told_is_skipped() {
        let mut session = session(&["fake", "fake,threads=2"], &[1, 2, 4, 8]);
        let label = Some("<b> & \"two\"".to_owned());
        session.plan.looks = vec![
            SetupStyle::default(),
            SetupStyle {
                label,
                colour: None,
            },
        ];
        for (batch, before, after) in [(1, 1_000, 1_500), (2, 1_000, 500)] {
            measure_near(&mut session, 0, batch, before);
            measure_near(&mut session, 1, batch, after);
        }
        measure(&mut session, 0, 4, &[&[1_000_000; 10]]);
        measure(&mut session, 1, 4, &[&[2_000_000; 10]]);
        measure_near(&mut session, 0, 8, 1_000);
        let rows = case_rows::case_rows(&session);
        let side = |setup| ComparedSide {
            session: &session,
            rows: &rows,
            setup,
            point: None,
        };
        let found = [comparison::compare_setups(&side(0), &side(1))];
        let text = document(&found, 0.0);
        assert!(
            text.contains("tests=\"4\" failures=\"1\" skipped=\"2\""),
            "{text}"
        );
        assert!(text.contains("batch 1\" time=\"0.0015"), "{text}");
        assert!(
            text.contains("<failure message=\"slower: 0.667 ×"),
            "{text}"
        );
        assert!(text.contains("measured before only"), "{text}");
        assert!(text.contains("&lt;b&gt; &amp; &quot;two&quot;"), "{text}");
        assert!(!text.contains("<b>"), "{text}");
        // Half as much again is less than sixty per cent.
        let text = document(&found, 60.0);
        assert!(text.contains("failures=\"0\""), "{text}");
    }

    #[test]
    fn each_pair_of_setups_is_a_class() {
        let mut session = session(&["fake", "fake,threads=2"], &[1]);
        for setup in [0, 1] {
            measure_near(&mut session, setup, 1, 1_000);
        }
        let rows = case_rows::case_rows(&session);
        let side = ComparedSide {
            session: &session,
            rows: &rows,
            setup: 0,
            point: None,
        };
        let text = document(&[comparison::compare_sessions(&side, &side)], 0.0);
        for part in [
            "<testsuite name=\"2 setups\" tests=\"2\"",
            "classname=\"fake:cpu against fake:cpu\"",
            "classname=\"fake:cpu,threads=2 against fake:cpu,threads=2\"",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
