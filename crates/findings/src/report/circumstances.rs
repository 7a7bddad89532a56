//! The measurement conditions: the machine, the setups, the method.

use super::document::{Block, ReportCell, ReportTable, ReportText};
use super::material::ReportedSession;
use crate::analysis::machine_lines::{MachineLine, THIS_MACHINE, machine_lines};
use crate::analysis::{conditions, examined};
use crate::tables::{self, view::TableView};
use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_core::domain::environment::Environment;
use powerband_core::domain::machine::RemoteMachine;
use powerband_core::domain::plan::{Load, Plan, WorkerLifetime};
use powerband_core::domain::session::Session;
use powerband_core::domain::setup_report::SetupReport;

/// So many setups are shown.
const MOST_SETUPS: usize = 40;
/// Most warnings that are shown of a machine.
const MOST_MACHINE_WARNINGS: usize = 10;
/// Longer spellings are cut, in characters.
const LONGEST_SPELLING: usize = 120;
/// Most engines whose graphs are described.
const MOST_GRAPHS: usize = 8;
/// Most rewrites of a network's nodes.
const PATTERNS: usize = 4;

/// The machine and the software, line by line.
pub fn environment(source: &ReportedSession<'_>) -> Vec<Block> {
    if source.session.imported.is_some() {
        return imported(source);
    }
    let measured = (&*source.session, 0);
    let build = conditions::measuring_conditions(measured).into_iter();
    let build = build.filter(|(what, _)| ["Powerband", "Build", "Measured"].contains(what));
    let fact = |(what, how): (&str, Option<String>)| {
        let how = how.unwrap_or_else(|| UNKNOWN.to_owned());
        (what.to_owned(), ReportText::from(how))
    };
    let machines = machine_lines(&source.session);
    if machines.len() > 1 {
        let mut blocks = machine_table(source, machines);
        blocks.push(Block::Facts(build.map(fact).collect()));
        return blocks;
    }
    let machine = conditions::machine_conditions(measured).into_iter();
    let mut facts: Vec<(String, ReportText)> = machine.chain(build).map(fact).collect();
    if let Some(line) = machines.iter().find(|line| line.name != THIS_MACHINE) {
        facts.insert(0, ("Measured on".to_owned(), line.full_name().into()));
    }
    let features = &source.session.environment_of(0).cpu.features;
    let behind = facts.iter().position(|(what, _)| what == "Machine");
    if !features.is_empty() {
        facts.insert(
            behind.map_or(0, |place| place + 1),
            ("Instruction sets".to_owned(), features.join(", ").into()),
        );
    }
    vec![Block::Facts(facts)]
}

/// The machines that setups of a session ran on, in a few lines each.
pub(super) fn machine_facts(session: &Session) -> Vec<(String, ReportText)> {
    let lines = machine_lines(session);
    match lines.as_slice() {
        [] => facts_of_this_machine(&session.environment),
        [line] if line.name == THIS_MACHINE => facts_of_this_machine(&session.environment),
        lines => lines.iter().flat_map(facts_of_machine).collect(),
    }
}

fn facts_of_this_machine(environment: &Environment) -> Vec<(String, ReportText)> {
    let (cpu, memory) = (&environment.cpu, environment.memory.total_bytes);
    let memory = humanize::bytes(memory);
    let machine = format!("{}, {} threads, {memory}", cpu.model, cpu.threads);
    [("Machine", machine), ("System", system(environment))]
        .map(|(what, text)| (what.to_owned(), text.into()))
        .to_vec()
}

fn system(environment: &Environment) -> String {
    format!(
        "{}, kernel {}; Powerband {}",
        environment.os, environment.kernel, environment.program
    )
}

/// Its name, and below it processor, cards, system, setups and warnings.
fn facts_of_machine(line: &MachineLine) -> Vec<(String, ReportText)> {
    let mut facts = vec![("Machine".to_owned(), line.full_name().into())];
    let mut add = |text: String| facts.push((String::new(), text.into()));
    match &line.environment {
        None => add("not reached, so nothing of it is known".to_owned()),
        Some(environment) => {
            let unknown = || "unknown processor".to_owned();
            let processor = line.processor().unwrap_or_else(unknown);
            let memory = humanize::bytes(environment.memory.total_bytes);
            let governor = environment.cpu.governor.as_ref();
            let governor = governor.map(|governor| format!(", governor {governor}"));
            add(format!(
                "{processor}, {memory}{}",
                governor.unwrap_or_default()
            ));
            if let Some(mut cards) = line.cards() {
                if let Some(driver) = line.drivers() {
                    cards += &format!(", driver {driver}");
                }
                if !line.card_settings.is_empty() {
                    cards += &format!("; {}", line.card_settings);
                }
                add(cards);
            }
            add(system(environment));
        }
    }
    add(format!("setups: {}", line.setups.join("; ")));
    for warning in &line.warnings {
        add(format!("warning: {warning}"));
    }
    facts
}

/// A row for each machine, then what was warned about it.
fn machine_table(source: &ReportedSession<'_>, machines: Vec<MachineLine>) -> Vec<Block> {
    let warnings = machines.iter().flat_map(|line| {
        let warnings = line.warnings.iter().take(MOST_MACHINE_WARNINGS);
        warnings.map(|warning| {
            ReportText::default()
                .strong(line.full_name())
                .text(format!(": {warning}"))
        })
    });
    let warnings = Block::list(warnings);
    let table = TableView::new(tables::machines::of_machines(machines))
        .to_document(MOST_SETUPS, "machine", &source.full_table_hint())
        .without_empty_columns();
    let mut blocks = vec![Block::Table(table)];
    if let Some(warnings) = warnings {
        blocks.push(Block::paragraph("Warnings about single machines:"));
        blocks.push(warnings);
    }
    blocks
}

/// The tool and the command that an imported file names.
fn imported(source: &ReportedSession<'_>) -> Vec<Block> {
    let mut facts: Vec<(String, ReportText)> = Vec::new();
    if let Some(tool) = &source.session.imported {
        let version = tool.version.clone().unwrap_or_default();
        let name = format!("{} {version}", tool.name);
        facts.push(("Tool".to_owned(), name.trim().into()));
        if let Some(command) = &tool.command {
            facts.push(("Command".to_owned(), ReportText::default().code(command)));
        }
    }
    for (name, value) in source.session.profiles.iter().flat_map(|p| &p.facts) {
        let fact = (name.clone(), ReportText::from(value.as_str()));
        if !facts.contains(&fact) && facts.len() < MOST_SETUPS {
            facts.push(fact);
        }
    }
    vec![Block::Facts(facts)]
}

/// The setups as their engines describe themselves, and what they made of the network.
pub fn setups(source: &ReportedSession<'_>) -> Vec<Block> {
    let session = &source.session;
    if session.plan.setups.is_empty() {
        return Vec::new();
    }
    let heads = [("Threads", ""), ("Start", ""), ("Load", "")];
    let lines = (0..session.plan.setups.len()).map(|setup| setup_line(session, setup));
    let table = ReportTable::new(&["Setup", "Spelled", "Machine", "Engine", "Model"], &heads)
        .filled(lines, MOST_SETUPS, "setup", &source.full_table_hint())
        .without_empty_columns();
    let mut blocks = vec![Block::Table(table)];
    let graphs = graphs(source);
    if !graphs.is_empty() {
        blocks.push(Block::paragraph("What the engines made of the network:"));
        blocks.push(Block::List(graphs));
    }
    blocks
}

fn setup_line(session: &Session, setup: usize) -> Vec<ReportCell> {
    let why = "its worker stopped before that";
    let report = session.reports.get(setup).and_then(Option::as_ref);
    let label = session.setup_label(setup);
    let spec = session.setup_spec(setup);
    let time = |ns: Option<u64>| {
        let text = ns.map(|ns| humanize::duration_ns(ns as f64));
        ReportCell::known(text, why)
    };
    let threads = |report: &SetupReport| match report.threads {
        Some(threads) => threads.to_string(),
        None => "its choice".to_owned(),
    };
    let spelled = if spec == label {
        ReportCell::default()
    } else {
        ReportCell::new(ReportText::default().code(humanize::shorten(&spec, LONGEST_SPELLING)))
    };
    vec![
        ReportCell::new(label),
        spelled,
        session
            .machine_of(setup)
            .map_or_else(ReportCell::default, machine),
        ReportCell::known(report.map(|report| report.engine.clone()), why),
        ReportCell::new(session.model_of(setup).name.as_str()),
        ReportCell::known(report.map(threads), why),
        time(report.map(|report| report.start_ns)),
        time(report.map(|report| report.load_ns)),
    ]
}

/// A machine other than this one, with its processor.
fn machine(machine: &RemoteMachine) -> ReportCell {
    let cpu = &machine.environment.cpu.model;
    ReportCell::new(format!("{} ({}), {cpu}", machine.name, machine.host))
}

fn graphs(source: &ReportedSession<'_>) -> Vec<ReportText> {
    let session = &source.session;
    let found = session.examinations.keys().take(MOST_GRAPHS);
    let lines = found.filter_map(|&setup| {
        let examination = examined::timed_examination(session, setup)?.examination;
        let patterns = examined::frequent_rewrites(&examination, PATTERNS);
        let patterns = if patterns.is_empty() {
            String::new()
        } else {
            format!("; {}", patterns.join("; "))
        };
        let text = ReportText::default().code(session.setup_label(setup));
        Some(text.text(format!(
            ": {}{patterns}",
            examined::examination_text(&examination)
        )))
    });
    lines.collect()
}

/// How it was measured, and what the numbers are.
pub fn method(source: &ReportedSession<'_>) -> Vec<Block> {
    if let Some(tool) = &source.session.imported {
        let told = format!(
            "The numbers are those of {}; see its files for how they were measured.",
            tool.name
        );
        return vec![Block::paragraph(told)];
    }
    let session = &source.session;
    let plan = &session.plan;
    let mut items: Vec<ReportText> = vec![
        turns(plan).into(),
        rules(plan).into(),
        warm_up(plan).into(),
        load(plan).into(),
        "Every sample is kept, outliers too. The median stands for a case; its 95 % interval comes from resampling whole starts of the worker, or rounds where there was one start, with Student's t for their small number, and “±” is half of it.".into(),
        "A ratio is the geometric mean of those of paired rounds, start by start, and its 95 % interval from Student's t over their logarithms; where the two did not alternate, it is a 99 % interval, as wide as sessions differ. It is called faster or slower where the whole interval lies beyond the noise (1 %, or the spread of a setup against itself; 5 % after one start), the same where it lies within, and inconclusive otherwise.".into(),
        "A number has three significant digits or more, however wide its interval is. An interval stands beside its number; it is not known where it reaches beyond ten times the number either way.".into(),
    ];
    if let Some(feeding) = feeding(source) {
        items.push(format!("Inputs: {feeding}.").into());
    }
    if plan.profiling.is_some() || !session.profiles.is_empty() {
        items.push("Profiles come from separate runs: profiling slows a run, so profiled runs are in no time above.".into());
    }
    if session.telemetry.rate_hz > 0.0 {
        let rate = humanize::significant(session.telemetry.rate_hz, 3);
        let machines = session.machines.iter();
        let clocks =
            machines.map(|machine| format!("{} ({})", machine.name, machine.clock.uncertainty()));
        let clocks: Vec<String> = clocks.collect();
        let clocks = if clocks.is_empty() {
            String::new()
        } else {
            format!(
                ", each on its own machine; moments on other machines are converted to this one's clock: {}",
                clocks.join(", ")
            )
        };
        items.push(
            format!("Devices were read {rate} times a second during the runs{clocks}.").into(),
        );
    }
    vec![Block::List(items)]
}

fn turns(plan: &Plan) -> String {
    let rounds = humanize::pluralised(u64::from(plan.measure.rounds), "round");
    let cases = plan.cases().len();
    let turns = if let Some(machines) = plan.machines_at_once() {
        &format!(
            ", on up to {machines} machines at the same time; cases of one machine alternated in an order shuffled anew each round"
        )
    } else if cases > 1 && plan.measure.rounds > 1 {
        ", alternating with all other cases in an order shuffled anew each round, so that temperature and other programs affect all of them alike"
    } else {
        ""
    };
    let workers = match plan.keeping {
        WorkerLifetime::MachinesAtOnce(_) if plan.machines_at_once().is_some() => {
            "Machines were measured at the same time; each setup had its own worker process, which slept while others of its machine were measured."
        }
        WorkerLifetime::Together | WorkerLifetime::MachinesAtOnce(_) => {
            "Each setup has its own worker process, which sleeps while others are measured."
        }
        WorkerLifetime::OneAtATime => {
            "One worker process was alive at a time: each was restarted for each of its rounds."
        }
    };
    let apart = plan.measure.gap_ns(plan.measure.rounds).map(|gap_ns| {
        format!(
            " Rounds of a case began at least {} apart, each in a newly started process where a start is not long beside what it measures.",
            humanize::duration_ns(gap_ns as f64)
        )
    });
    format!(
        "Each case was measured in {rounds}{turns}. {workers}{}",
        apart.unwrap_or_default()
    )
}

fn rules(plan: &Plan) -> String {
    let rule = &plan.measure;
    let ms = |ms: u64| humanize::duration_ns(ms as f64 * 1e6);
    let until = rule.target_ci95_rel.map_or_else(String::new, |share| {
        format!(
            " Rounds were added until the interval was within ±{} or {} were measured.",
            humanize::uncertainty(share),
            ms(rule.max_time_ms)
        )
    });
    format!(
        "The preset {} asks for at least {} and {} of each case.{until}",
        plan.preset,
        humanize::pluralised(rule.min_samples, "sample"),
        ms(rule.min_time_ms)
    )
}

fn warm_up(plan: &Plan) -> String {
    let rule = &plan.warm_up;
    format!(
        "Before the first round a case was run at least {} times and for {}, until {} in a row had medians within {} of each other.",
        rule.min_runs,
        humanize::duration_ns(rule.min_time_ms as f64 * 1e6),
        humanize::pluralised(u64::from(rule.windows), "window"),
        humanize::uncertainty(rule.agree_within)
    ) + if plan.measure.gap_ns(plan.measure.rounds).is_some() {
        " After a later start it was run until it settled again, for at most half as long as its round."
    } else {
        ""
    }
}

fn load(plan: &Plan) -> String {
    match plan.load {
        Load::Closed => {
            "Closed loop: runs follow each other without a pause, so a time is service time, and the throughput is that of one client.".to_owned()
        }
        load => format!(
            "Open loop: requests arrive independently of the runs ({load}), so a time is response time, measured from the arrival; it is not comparable with service time."
        ),
    }
}

/// The inputs: once for all setups, or by setup where they differ.
fn feeding(source: &ReportedSession<'_>) -> Option<String> {
    let mut ways: Vec<(String, usize)> = Vec::new();
    for case in &source.session.cases {
        let Some(opening) = &case.opening else {
            continue;
        };
        let way = opening.feeding.trim_end_matches('.').to_owned();
        if !way.is_empty() && !ways.iter().any(|(known, _)| *known == way) {
            ways.push((way, case.setup));
        }
    }
    if let [(way, _)] = &ways[..] {
        return Some(way.clone());
    }
    let of_setup =
        |(way, setup): &(String, usize)| format!("{}: {way}", source.session.setup_label(*setup));
    let all: Vec<String> = ways.iter().map(of_setup).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::session;
    use powerband_core::domain::device::Gpu;

    fn lines(session: &Session) -> Vec<String> {
        let facts = machine_facts(session).into_iter();
        facts
            .map(|(what, text)| format!("{what} {}", text.plain_text()))
            .collect()
    }

    #[test]
    fn every_machine_has_its_facts() {
        let mut session = session(&["a", "b"], &[1]);
        session.environment.cpu.model = "Example 7313P".to_owned();
        let here = lines(&session);
        assert_eq!(here.len(), 2, "{here:?}");
        assert!(here[0].starts_with("Machine Example 7313P, "), "{here:?}");
        let mut rack = RemoteMachine {
            name: "rack".to_owned(),
            host: "gpu1".to_owned(),
            user: "me".to_owned(),
            setups: vec![1],
            ..RemoteMachine::default()
        };
        rack.environment.cpu.model = "Example 9654".to_owned();
        rack.environment.gpus = vec![Gpu {
            name: "NVIDIA H100".to_owned(),
            memory_bytes: None,
            driver: Some("570.86".to_owned()),
        }];
        session.machines.push(rack);
        let warning = "GPU 0 on rack was busy before the first worker started: utilisation 9 %.";
        session.warnings = vec![warning.to_owned()];
        let all = lines(&session);
        let head = |name: &str| all.iter().position(|line| line == name);
        let rack = head("Machine rack (gpu1 as me)").unwrap();
        let (here, there) = all.split_at(rack);
        assert_eq!(here[0], "Machine this machine");
        assert!(here[1].contains("Example 7313P"), "{here:?}");
        assert!(there[1].contains("Example 9654"), "{there:?}");
        assert!(there[2].contains("NVIDIA H100, driver 570.86"), "{there:?}");
        assert_eq!(there.last(), Some(&format!(" warning: {warning}")));
    }
}
