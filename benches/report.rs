//! How long a report takes and how large it gets: five setups at nine batch sizes, with a profile.
//!
//! `cargo bench --bench report`. Figures are printed beside their promises; nothing is asserted.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use powerband_core::domain::case::{CaseKey, Round};
use powerband_core::domain::outcome::Outcome;
use powerband_core::domain::plan::MeasureRule;
use powerband_core::domain::point::Point;
use powerband_core::domain::profile::{Profile, Total};
use powerband_core::domain::session::Session;
use powerband_core::domain::trace::SliceKind;
use powerband_findings::analysis::category::Rules;
use powerband_findings::analysis::earlier_sessions::EarlierSessions;
use powerband_findings::export::html;
use powerband_findings::report::Layout;
use powerband_findings::report::material::{ReportInputs, ReportedSession};
use powerband_store::{examples, session_file};

const SETUPS: usize = 5;
const BATCHES: usize = 9;
const ROUNDS: u32 = 5;
/// As many as the preset `standard` keeps of very short runs, round by round.
const SAMPLES: u64 = 4_000;
const KERNELS: u64 = 2_000;
const TIMES: usize = 5;
const MOST: Duration = Duration::from_secs(2);
const LARGEST: f64 = 3.0;

fn main() -> Result<()> {
    let session = session()?;
    let rules = Rules::with_user_rules(&[]);
    let layout = Layout::choose(None, false).map_err(anyhow::Error::msg)?;
    let mut spent = Vec::new();
    let mut size = 0;
    for _ in 0..TIMES {
        let begun = Instant::now();
        let plan = session_file::plan_text(&session.plan)?;
        let document = layout.write(&ReportInputs {
            first: ReportedSession::new(&session, Some("session.ron".to_owned()), Some(plan)),
            second: None,
            rules: &rules,
            title: None,
            earlier: EarlierSessions::default(),
        });
        size = html::write(&document).len();
        spent.push(begun.elapsed());
    }
    spent.sort();
    let median = spent.get(TIMES / 2).context("no report was made")?;
    say(&format!(
        "report of {SETUPS} setups × {BATCHES} batches with a profile: {:.0} ms (at most {} ms), {:.2} MB (at most {LARGEST} MB)",
        median.as_secs_f64() * 1e3,
        MOST.as_millis(),
        size as f64 / 1e6
    ));
    Ok(())
}

/// A session of an example's machine, with cases and a profile of the size that is promised.
fn session() -> Result<Session> {
    let example = examples::ALL.first().context("there is no example")?;
    let mut session = example.open()?.session;
    let setups = (0..SETUPS).map(|n| format!("ort:cpu,threads={}", n + 1).parse());
    session.plan.setups = setups.collect::<Result<_, _>>()?;
    session.plan.points = (0..BATCHES).map(|n| Point::of_batch(1 << n)).collect();
    session.plan.measure = MeasureRule::from_preset(session.plan.preset);
    session.plan.looks.clear();
    session.reports = vec![None; SETUPS];
    let pattern = session.cases.first().context("it has no case")?.clone();
    session.cases.clear();
    for CaseKey { setup, point } in session.plan.cases() {
        let mut case = pattern.clone();
        (case.setup, case.point, case.outcome) = (setup, point, Outcome::Finished);
        case.rounds = (0..ROUNDS)
            .map(|round| visit(setup, point.batch(), round))
            .collect();
        session.cases.push(case);
    }
    session.profiles = vec![Profile {
        name: "profile".to_owned(),
        runs: Some(10),
        totals: (0..KERNELS).map(kernel).collect(),
        ..Profile::default()
    }];
    Ok(session)
}

fn visit(setup: usize, batch: usize, round: u32) -> Round {
    let typical = (20_000 + 900 * batch as u64) * (setup as u64 + 2);
    // Spread without a generator: a walk through the remainders of a prime.
    let samples = (0..SAMPLES).map(|n| typical + (n * 7_919 + u64::from(round) * 31) % 1_009);
    let samples_ns: Vec<u64> = samples.collect();
    Round {
        round,
        started_ns: u64::from(round) * 1_000_000_000,
        spent_ns: samples_ns.iter().sum(),
        samples_ns,
        ..Round::default()
    }
}

fn kernel(number: u64) -> Total {
    Total {
        work: None,
        kind: SliceKind::Kernel,
        name: format!(
            "void cudnn::winograd_kernel_{number}<float, {}>(float*)",
            number % 64
        ),
        op: "aten::conv2d".to_owned(),
        place: String::new(),
        calls: 10,
        total_ns: 1_000_000 / (number + 1),
        min_ns: None,
        max_ns: None,
    }
}

#[expect(
    clippy::print_stdout,
    reason = "the figures are what this program is for"
)]
fn say(line: &str) {
    println!("{line}");
}
