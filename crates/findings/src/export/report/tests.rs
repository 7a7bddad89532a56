//! Reports of sessions of every kind, as they are written.

use pulldown_cmark::{Event, Options, Parser};

use crate::analysis::category::Rules;
use crate::analysis::earlier_sessions::EarlierSessions;
use crate::analysis::testing::{end_case, failed, measure, measure_near, session};
use crate::export::{html, markdown};
use crate::report::document::{Block, Document};
use crate::report::material::{ReportInputs, ReportedSession};
use crate::report::{ALL, Layout};
use powerband_core::domain::machine::RemoteMachine;
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::plan::SetupStyle;
use powerband_core::domain::profile::{Profile, Total};
use powerband_core::domain::session::{Completion, Session};
use powerband_core::domain::trace::SliceKind;

/// One HTML file is no larger.
const LARGEST: usize = 3 << 20;

fn report(layout: &str, first: &Session, second: Option<&Session>) -> Document {
    let rules = Rules::with_user_rules(&[]);
    let source =
        |session| ReportedSession::new(session, Some("x.ron".to_owned()), Some("(…)".to_owned()));
    let layout = Layout::choose(Some(layout), second.is_some()).unwrap();
    layout.write(&ReportInputs {
        first: source(first),
        second: second.map(source),
        earlier: EarlierSessions::default(),
        rules: &rules,
        title: None,
    })
}

/// Every layout of it, as Markdown, which is the easiest to read.
fn texts(session: &Session) -> Vec<(&'static str, String)> {
    let texts = ALL.iter().map(|layout| {
        let second = layout.is_of_two.then_some(session);
        let document = report(layout.name, session, second);
        assert!(html::write(&document).len() < LARGEST, "{}", layout.name);
        (layout.name, markdown::write(&document, "x.files"))
    });
    texts.collect()
}

fn text(layout: &str, session: &Session) -> String {
    markdown::write(&report(layout, session, None), "x.files")
}

fn headings(document: &Document) -> Vec<&str> {
    let headings = document.blocks.iter().filter_map(|block| match block {
        Block::Heading(2, text) => Some(text.as_str()),
        _ => None,
    });
    headings.collect()
}

fn measured() -> Session {
    let mut session = session(&["slow", "fast"], &[1, 2, 4, 8]);
    session.completion = Completion::Complete;
    for (batch, time) in [(1, 1000), (2, 1800), (4, 3500), (8, 7000)] {
        measure_near(&mut session, 0, batch, time);
        measure_near(&mut session, 1, batch, time / 4);
    }
    session
}

fn profiled() -> Session {
    let mut session = measured();
    let total = |name: &str, op: &str, total_ns| Total {
        work: None,
        kind: SliceKind::Kernel,
        name: name.to_owned(),
        op: op.to_owned(),
        place: String::new(),
        calls: 10,
        total_ns,
        min_ns: None,
        max_ns: None,
    };
    session.profiles.push(Profile {
        name: "profile".to_owned(),
        runs: Some(10),
        totals: vec![
            total("conv_kernel", "aten::conv2d", 7_000_000),
            total("bn_kernel", "aten::batch_norm", 2_000_000),
            total("relu_kernel", "aten::relu", 1_000_000),
        ],
        ..Profile::default()
    });
    session
}

#[test]
fn the_full_report_has_every_section() {
    let mut session = profiled();
    session.notes = "First line.\nSecond <b>line</b>.".to_owned();
    let document = report("full", &session, None);
    assert_eq!(
        headings(&document),
        [
            "Summary",
            "Key findings",
            "Notes",
            "Setup by setup",
            "Batch sizes",
            "Curves",
            "The first setup vs. all others",
            "Where the time goes",
            "Flags and what they mean",
            "Setups",
            "Environment",
            "Method",
            "How to repeat it",
        ]
    );
    let text = markdown::write(&document, "x.files");
    assert!(text.contains("4.00"), "{text}");
    assert!(text.contains("(x.files/throughput.svg)"));
    assert!(text.contains("powerband bench tiny --setup slow:cpu --setup fast:cpu"));
    assert!(text.contains("> First line.\\\n> Second &lt;b&gt;line&lt;/b&gt;."));
}

#[test]
fn a_report_links_to_the_page_beside_it() {
    let mut document = report("full", &measured(), None);
    assert!(!html::write(&document).contains("Interactive page"));
    document.page = Some("pages/result%20%281%29.html".to_owned());
    let page = html::write(&document);
    assert!(page.contains("<a href=\"pages/result%20%281%29.html\">Interactive page</a>"));
    let text = markdown::write(&document, "x.files");
    assert!(text.contains("\n\n[Interactive page](pages/result%20%281%29.html)\n\n"));
}

#[test]
fn two_sessions_are_compared_case_by_case() {
    let (before, mut after) = (measured(), measured());
    after.created = "2030-02-02T03:04:05Z".to_owned();
    "after".clone_into(&mut after.name);
    for case in &mut after.cases {
        for round in &mut case.rounds {
            round.samples_ns.iter_mut().for_each(|ns| *ns *= 2);
            round.spent_ns *= 2;
        }
    }
    let text = markdown::write(&report("comparison", &before, Some(&after)), "x.files");
    assert!(
        text.contains("Of 8 cases that both have: 8 slower."),
        "{text}"
    );
    assert!(text.contains("| **slower** |"));
    assert!(text.contains("| Measured |"));
}

#[test]
fn a_page_of_results_is_filled_in_and_says_why_where_it_is_not() {
    let filled = text("summary", &profiled());
    assert!(filled.contains("1. `aten::conv2d`: 70.0 %"), "{filled}");
    assert!(filled.contains("- [x] **Operator fusion potential**"));
    assert!(filled.contains("takes 70.0 % of the time"));
    assert!(filled.contains("the network was run, not trained"));
    let bare = text("summary", &measured());
    assert!(bare.contains("Not profiled"), "{bare}");
    assert!(bare.contains("- – **Operator fusion potential**: no profile was taken"));
}

#[test]
fn a_case_study_compares_like_with_like() {
    let study = text("case-study", &profiled());
    assert!(study.contains("Baseline latency:** 1.0"), "{study}");
    assert!(study.contains("### fast:cpu"));
    for batch in [1, 2, 4, 8] {
        assert!(study.contains(&format!("| Latency, batch {batch} |")));
        assert!(study.contains(&format!("| Throughput, batch {batch} |")));
    }
}

#[test]
fn a_session_without_a_number_has_a_report_all_the_same() {
    let mut nothing = session(&["a"], &[1]);
    nothing.cases.clear();
    nothing.plan.setups.clear();
    let waiting = session(&["a", "b"], &[1, 2]);
    let mut broken = session(&["a", "b"], &[1, 2]);
    for (setup, batch) in [(0, 1), (0, 2), (1, 1), (1, 2)] {
        end_case(&mut broken, setup, batch, failed());
    }
    for (session, wanted) in [
        (&nothing, "so there are no numbers"),
        (&waiting, "Nothing was measured yet"),
        (&broken, "None of its 4 cases was measured to its end"),
    ] {
        for (layout, text) in texts(session) {
            assert!(
                !text.contains("NaN") && !text.contains("inf "),
                "{layout}: {text}"
            );
        }
        assert!(text("full", session).contains(wanted));
    }
}

#[test]
fn one_point_alone_is_not_told_with_confidence() {
    let mut session = session(&["a"], &[4]);
    measure(&mut session, 0, 4, &[&[6_751_234]]);
    let text = text("full", &session);
    assert!(text.contains("**6.75 ms**"), "{text}");
    assert!(!text.contains("6.75 ms ±"), "{text}");
    assert!(text.contains("one round does not show how rounds differ"));
}

#[test]
fn a_thousand_setups_are_cut_and_say_so() {
    let specs: Vec<String> = (0..1000).map(|n| format!("e{n}")).collect();
    let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
    let mut session = session(&specs, &[1, 2]);
    for setup in 0..1000 {
        for batch in [1, 2] {
            let time = 1_000_000 + setup as u64 * 7;
            measure(&mut session, setup, batch, &[&[time, time], &[time, time]]);
        }
    }
    for (layout, text) in texts(&session) {
        assert!(text.contains("left out here"), "{layout}");
        assert!(text.len() < 400_000, "{layout} has {}", text.len());
    }
    let full = text("full", &session);
    assert!(full.contains("Of 1000 setups the 10 with the highest throughput are drawn"));
}

#[test]
fn names_of_every_kind_stay_names() {
    let odd = "<img src=x onerror=alert(1)> | \"a\" 'b' `c` \u{202e}dlrow\nnext שלום";
    let mut session = profiled();
    for name in [
        &mut session.name,
        &mut session.model.name,
        &mut session.notes,
    ] {
        odd.clone_into(name);
    }
    session.tags = vec![odd.to_owned()];
    session.warnings = vec![odd.to_owned()];
    session.environment.cpu.model = odd.to_owned();
    session.plan.looks = vec![SetupStyle {
        label: Some(odd.repeat(40)),
        colour: None,
    }];
    session.profiles[0].totals[0].name = odd.to_owned();
    session.cases[7].outcome = Outcome::Unsupported {
        reason: odd.to_owned(),
    };
    for layout in ALL {
        let second = layout.is_of_two.then_some(&session);
        let document = report(layout.name, &session, second);
        let page = html::write(&document);
        let text = markdown::write(&document, "x.files");
        assert!(!page.contains("<img"), "{}", layout.name);
        assert!(!format!("{page}{text}").contains('\u{202e}'));
        for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
            if let Event::Html(html) | Event::InlineHtml(html) = event {
                assert!(html.contains("details>"), "{}: {html}", layout.name);
            }
        }
    }
}

#[test]
fn a_layout_is_of_one_session_or_of_two() {
    assert_eq!(Layout::choose(None, false).unwrap().name, "full");
    assert_eq!(Layout::choose(None, true).unwrap().name, "comparison");
    let error = |name, is_of_two| Layout::choose(Some(name), is_of_two).unwrap_err();
    assert!(error("nonsense", false).contains("full, comparison, summary, case-study"));
    assert!(error("comparison", false).contains("give the second one too"));
    assert!(error("full", true).contains("--layout comparison"));
}

#[test]
fn every_machine_of_a_session_has_a_row_with_its_warnings() {
    let mut session = session(&["a", "a,where=rack"], &[1]);
    session.environment.cpu.model = "Example 7313P".to_owned();
    let mut rack = RemoteMachine {
        name: "rack".to_owned(),
        host: "gpu1".to_owned(),
        user: "me".to_owned(),
        setups: vec![1],
        ..RemoteMachine::default()
    };
    rack.environment.cpu.model = "Example 9654".to_owned();
    rack.environment.cpu.governor = Some("powersave".to_owned());
    session.machines.push(rack);
    session.warnings = vec!["No device of rack reports its power.".to_owned()];
    for setup in 0..2 {
        measure_near(&mut session, setup, 1, 1_000);
    }
    let text = text("full", &session);
    let (_, environment) = text.split_once("## Environment").unwrap();
    let (environment, _) = environment.split_once("## Method").unwrap();
    let row = |name: &str| {
        let mut lines = environment.lines();
        lines.find(|line| line.starts_with(&format!("| {name} |")))
    };
    assert!(row("this machine").unwrap().contains("Example 7313P"));
    let there = row("rack").unwrap();
    for told in ["gpu1 as me", "Example 9654", "powersave", "1 warning"] {
        assert!(there.contains(told), "{told}: {there}");
    }
    assert!(
        environment.contains("**rack (gpu1 as me)**: No device of rack reports its power"),
        "{environment}"
    );
    session.plan.setups.truncate(1);
    session.machines.clear();
    let text = self::text("full", &session);
    assert!(text.contains("Example 7313P") && !text.contains("| this machine |"));
}

#[test]
fn machines_that_ran_one_setup_are_compared() {
    let mut session = session(
        &["a,where=n0", "a,where=n1", "a,where=n2", "a,where=n3"],
        &[1],
    );
    for (setup, micros) in [1_000, 1_001, 1_002, 1_800].into_iter().enumerate() {
        let mut machine = RemoteMachine {
            name: format!("n{setup}"),
            setups: vec![setup],
            ..RemoteMachine::default()
        };
        let governor = if setup == 3 {
            "powersave"
        } else {
            "performance"
        };
        machine.environment.cpu.governor = Some(governor.to_owned());
        session.machines.push(machine);
        measure_near(&mut session, setup, 1, micros);
    }
    let full = report("full", &session, None);
    let has_figure = full
        .blocks
        .iter()
        .any(|block| matches!(block, Block::Figure(figure) if figure.stem == "fleet"));
    assert!(has_figure && headings(&full).contains(&"Machines compared"));
    let text = markdown::write(&full, "x.files");
    for told in [
        "### a:cpu, batch 1",
        "n3 is the odd one out",
        "**n3**: Governor: powersave (others: performance)",
        "are not interleaved",
    ] {
        assert!(text.contains(told), "{told}");
    }
}

#[test]
fn two_sessions_of_one_machine_are_no_two_machines() {
    let (mut before, mut after) = (measured(), measured());
    before.created = "2030-01-01T00:00:00Z".to_owned();
    let is_section = |document: &Document| headings(document).contains(&"Machines compared");
    assert!(!is_section(&report("comparison", &before, Some(&after))));
    after.environment.cpu.model = "Example 9654".to_owned();
    assert!(is_section(&report("comparison", &before, Some(&after))));
}
