//! The conditions of two setups side by side, and warnings about comparing them.

use std::collections::BTreeSet;

use powerband_core::base::humanize::{self, UNKNOWN};
use powerband_core::domain::device::{Cpu, Gpu};
use powerband_core::domain::model::ModelRef;
use powerband_core::domain::plan::Plan;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::{Completion, Session};
use powerband_core::domain::sweep;
use serde::Serialize;

/// Digits of a model's checksum that are shown: enough to see that two differ.
const CHECKSUM_DIGITS: usize = 8;
/// Networks whose sizes differ by more than this share are not two versions of one.
const MOST_BETWEEN_VERSIONS: f64 = 0.05;
/// Options that have a line of their own.
const OWN_LINE: [&str; 2] = ["precision", "threads"];

/// One condition on both sides, whether it differs or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Which condition: `Machine`, `Threads`.
    pub what: &'static str,
    /// As it was before; a dash where it is not known.
    pub before: String,
    /// As it is after.
    pub after: String,
}

impl Difference {
    /// Whether the two sides differ. Something unknown differs from everything but the unknown.
    pub fn differs(&self) -> bool {
        self.before != self.after
    }
}

/// A session and one of its setups.
pub type SessionSetup<'a> = (&'a Session, usize);

/// Conditions of one side: name and value, where that is known.
pub(crate) type Conditions = Vec<(&'static str, Option<String>)>;

/// Every condition on both sides, important ones first.
pub fn differences(before: SessionSetup<'_>, after: SessionSetup<'_>) -> Vec<Difference> {
    let mut differences = side_by_side(before, after, setup_conditions);
    differences.extend(differences_of_sessions(
        before.0,
        after.0,
        (before.1, after.1),
    ));
    differences
}

/// The conditions of two sessions whatever was run in them: machine and measuring, of the machines of these setups.
pub fn differences_of_sessions(
    before: &Session,
    after: &Session,
    setups: (usize, usize),
) -> Vec<Difference> {
    let sides = |list| side_by_side((before, setups.0), (after, setups.1), list);
    [sides(machine_conditions), sides(measuring_conditions)].concat()
}

fn side_by_side(
    before: SessionSetup<'_>,
    after: SessionSetup<'_>,
    list: fn(SessionSetup<'_>) -> Conditions,
) -> Vec<Difference> {
    list(before)
        .into_iter()
        .zip(list(after))
        .map(|((what, before), (_, after))| Difference {
            what,
            before: or_unknown(before),
            after: or_unknown(after),
        })
        .collect()
}

/// Warnings about conditions that differ between the two sides.
pub fn condition_warnings(before: SessionSetup<'_>, after: SessionSetup<'_>) -> Vec<String> {
    let (first, second) = (before.0, after.0);
    let networks = different_networks(before, after);
    let is_told = networks.is_some();
    let mut remarks: Vec<String> = networks.into_iter().collect();
    if !first.is_of_one_run_with(second) {
        remarks.push(if first.imported.is_some() || second.imported.is_some() {
            "The two are not interleaved: another program measured at least one of them.".to_owned()
        } else {
            "The two were measured at different times, not interleaved.".to_owned()
        });
    }
    remarks.extend(machines_apart(before, after));
    let models = (first.model_of(before.1), second.model_of(after.1));
    if !is_told || models.0.name == models.1.name {
        remarks.extend(about_models(models.0, models.1));
    }
    remarks.extend(about_machines(
        &first.environment_of(before.1).cpu,
        &second.environment_of(after.1).cpu,
    ));
    remarks.extend(about_session(first));
    if !first.is_of_one_run_with(second) || first.name != second.name {
        remarks.extend(about_session(second));
    }
    remarks
}

/// Whether the two took turns on one machine, so that what slowed it down for a round slowed down both.
pub(super) fn is_interleaved(before: SessionSetup<'_>, after: SessionSetup<'_>) -> bool {
    // Two allocations of one scheduler may be two nodes.
    let machine = |(session, setup): SessionSetup<'_>| {
        let machine = session.machine_of(setup)?;
        Some((machine.name.clone(), machine.host.clone()))
    };
    before.0.is_of_one_run_with(after.0) && machine(before) == machine(after)
}

/// The warning that two setups of one run ran on different machines; nothing where they did not.
pub fn machines_apart(before: SessionSetup<'_>, after: SessionSetup<'_>) -> Option<String> {
    if !before.0.is_of_one_run_with(after.0) || is_interleaved(before, after) {
        return None;
    }
    let [one, two] = [before, after].map(|(session, setup)| {
        let machine = session.machine_of(setup);
        machine.map_or("this machine", |machine| machine.name.as_str())
    });
    Some(format!(
        "The two ran on different machines ({one} and {two}) and did not take turns on one, so they are not interleaved: the ratio includes the difference of the machines."
    ))
}

/// Why two sides must not be judged against each other at all; nothing where they may.
pub fn why_not_comparable(before: SessionSetup<'_>, after: SessionSetup<'_>) -> Option<String> {
    let (first, second) = (before.0, after.0);
    if first.profiler != second.profiler {
        let name = first.profiler.as_ref().or(second.profiler.as_ref())?;
        return Some(format!(
            "one side was measured with the profiler {name} attached, whose cost is in its times"
        ));
    }
    let task = |(session, setup): SessionSetup<'_>| {
        let spec = session.plan.setups.get(setup);
        let task = spec.and_then(|spec| spec.options.get("task").cloned());
        task.unwrap_or_else(|| "infer".to_owned())
    };
    if task(before) != task(after) {
        return Some("one side trains the network and one only runs it".to_owned());
    }
    if first.plan.load != second.plan.load {
        return Some(
            "one side is service time in a closed loop and one is response time in an open loop, or the loads differ"
                .to_owned(),
        );
    }
    if first.is_of_one_run_with(second) {
        return None;
    }
    let (mine, theirs) = (first.model_of(before.1), second.model_of(after.1));
    // Two versions under two names are compared on purpose; two files under one name are not.
    if mine.name == theirs.name && mine.is_same_file(theirs) == Some(false) {
        return Some(format!("{} is not the same file on both sides", mine.name));
    }
    None
}

/// Whether two models are one network or versions of one, as far as file, size and name show; nothing
/// where they do not.
pub fn is_one_network(one: &ModelRef, other: &ModelRef) -> Option<bool> {
    if one.is_same_file(other) == Some(true) {
        return Some(true);
    }
    let is_apart = |one: u64, other: u64| {
        let (least, most) = (one.min(other) as f64, one.max(other) as f64);
        least > 0.0 && most > least * (1.0 + MOST_BETWEEN_VERSIONS)
    };
    let work = one.macs.zip(other.macs);
    if is_apart(one.parameters, other.parameters)
        || work.is_some_and(|(one, other)| is_apart(one, other))
    {
        return Some(false);
    }
    let is_sized = one.parameters > 0 && other.parameters > 0;
    (is_sized || one.name == other.name).then_some(true)
}

/// The warning that the sides ran different networks, so that their ratio is not the gain of a change;
/// nothing where they did not, or where that is not known. The setups of one run share its network.
pub(crate) fn different_networks(
    before: SessionSetup<'_>,
    after: SessionSetup<'_>,
) -> Option<String> {
    let (first, second) = (before.0.model_of(before.1), after.0.model_of(after.1));
    if before.0.is_of_one_run_with(after.0) || is_one_network(first, second) != Some(false) {
        return None;
    }
    let size = |model: &ModelRef| {
        let macs = model
            .macs
            .map_or_else(String::new, |macs| format!(" and {}", humanize::macs(macs)));
        let parameters = humanize::decimal(model.parameters);
        format!("{} has {parameters} parameters{macs}", model.name)
    };
    Some(format!(
        "Different networks: {}, {}. The ratio compares networks, not the effect of a change.",
        size(first),
        size(second)
    ))
}

fn about_models(before: &ModelRef, after: &ModelRef) -> Option<String> {
    let (first, second) = (&before.name, &after.name);
    let is_unknown = |model: &ModelRef| model.sha256.is_empty();
    match (first == second, before.is_same_file(after)) {
        (true, Some(true)) => None,
        (true, Some(false)) => Some(format!(
            "The models differ: {first} is not the same file on both sides."
        )),
        (false, Some(true)) => Some(format!("{first} and {second} are the same file.")),
        (false, Some(false)) => Some(format!("The models differ: {first} and {second}.")),
        // The name is all that there is, and it is the same.
        (true, None) if is_unknown(before) && is_unknown(after) => None,
        (true, None) => Some(format!(
            "The file of {first} is known on one side only, so it may not be the same."
        )),
        (false, None) => Some(format!(
            "Whether {first} and {second} are one network is not known: no model file was recorded."
        )),
    }
}

fn about_machines(before: &Cpu, after: &Cpu) -> Option<String> {
    match (machine(before), machine(after)) {
        (before, after) if before == after => None,
        (Some(_), Some(_)) => Some("The machines differ.".to_owned()),
        _ => Some("The machine of one side is not known.".to_owned()),
    }
}

fn about_session(session: &Session) -> Vec<String> {
    let name = &session.name;
    let ended = match session.completion {
        Completion::Complete => None,
        Completion::Cancelled => Some(format!("{name} was stopped before it was complete.")),
        Completion::Interrupted => Some(format!("{name} is not complete.")),
    };
    let made_up = session
        .made_up
        .then(|| format!("Numbers of {name} are made up."));
    made_up.into_iter().chain(ended).collect()
}

/// Conditions of the setup: model, engine, options.
fn setup_conditions((session, setup): SessionSetup<'_>) -> Conditions {
    let spec = session.plan.setups.get(setup);
    let report = session.reports.get(setup).and_then(Option::as_ref);
    let option = |key: &str| spec.and_then(|spec| spec.options.get(key)).cloned();
    let threads = report
        .and_then(|report| report.threads)
        .map(|threads| threads.to_string());
    let engine = report
        .map(|report| report.engine.clone())
        .filter(|engine| !engine.is_empty());
    let others = spec.map(|spec| {
        let mut kept = spec
            .options
            .iter()
            .filter(|(key, _)| !OWN_LINE.contains(&key.as_str()))
            .peekable();
        if kept.peek().is_none() {
            // An option may itself be called "none".
            return "the defaults".to_owned();
        }
        listed(kept.map(|(key, value)| format!("{key}={value}")))
    });
    let feeding = session
        .cases
        .iter()
        .filter(|case| case.setup == setup)
        .find_map(|case| case.opening.as_ref())
        .map(|opening| opening.feeding.clone());
    // What was imported or published is known by its name alone.
    let is_elsewhere = spec.is_some_and(|spec| spec.device == Plan::ELSEWHERE);
    let own_precision = spec
        .filter(|_| !is_elsewhere)
        .map(|_| "as in the file".to_owned());
    vec![
        ("Model", Some(model(session.model_of(setup)))),
        ("Setup", is_elsewhere.then(|| session.setup_label(setup))),
        (
            "Engine",
            engine.or_else(|| spec.map(|spec| spec.engine.clone())),
        ),
        ("Device", spec.map(|spec| spec.device.clone())),
        ("Precision", option("precision").or(own_precision)),
        ("Threads", threads.or_else(|| option("threads"))),
        ("Options", others),
        ("Library", report.and_then(|report| report.library.clone())),
        ("Inputs", feeding),
    ]
}

/// Conditions of the machine.
pub(crate) fn machine_conditions((session, setup): SessionSetup<'_>) -> Conditions {
    let environment = session.environment_of(setup);
    let cpu = &environment.cpu;
    let memory = environment.memory.total_bytes;
    let boost = cpu.boost.map(|on| if on { "on" } else { "off" });
    let cards = if environment.gpus.is_empty() && session.imported.is_some() {
        stated_devices(session, is_card)
    } else {
        Some(listed(environment.gpus.iter().map(graphics)))
    };
    let processor = || stated_devices(session, |name| name.starts_with("CPU "));
    vec![
        ("Machine", machine(cpu).or_else(processor)),
        ("Graphics", cards),
        ("Card settings", card_settings(session, setup)),
        ("Memory", (memory > 0).then(|| humanize::bytes(memory))),
        ("System", Some(environment.os.clone())),
        ("Kernel of the system", Some(environment.kernel.clone())),
        ("Governor", cpu.governor.clone()),
        ("Boost", boost.map(str::to_owned)),
        (
            "Load average at the start",
            environment.load_before.map(|load| format!("{load:.2}")),
        ),
    ]
}

/// The devices that imported files name, each once; nothing where they name none, which does not mean that there were
/// none.
fn stated_devices(session: &Session, is_wanted: fn(&str) -> bool) -> Option<String> {
    let facts = session.profiles.iter().flat_map(|profile| &profile.facts);
    let mut devices: Vec<&str> = Vec::new();
    for (name, device) in facts {
        if is_wanted(name) && !devices.contains(&device.as_str()) {
            devices.push(device);
        }
    }
    (!devices.is_empty()).then(|| devices.join(", "))
}

/// Whether a fact of a file is the name of a card: `GPU 0`, `device`, `Selected Device`.
fn is_card(fact: &str) -> bool {
    fact.starts_with("GPU ") || ["device", "Selected Device"].contains(&fact)
}

/// Power limits, locked clocks and the like of the cards that were read; nothing where there are none.
fn card_settings(session: &Session, setup: usize) -> Option<String> {
    let cards = session
        .devices_beside(setup)
        .map(|(_, track)| &track.device);
    let settings: Vec<String> = cards
        .filter(|device| device.kind.is_gpu())
        .flat_map(|device| &device.settings)
        .map(|setting| format!("{} {}", setting.name.to_lowercase(), setting.value))
        .collect();
    (!settings.is_empty()).then(|| settings.join(", "))
}

/// Conditions of the measurement.
pub(crate) fn measuring_conditions((session, _): SessionSetup<'_>) -> Conditions {
    let plan = &session.plan;
    let environment = &session.environment;
    // The plan of an import was not measured by, and its time is that of the import.
    let here = session.imported.is_none();
    let build = if environment.optimised_build {
        "optimised"
    } else {
        "not optimised"
    };
    let commit = environment.commit.as_ref();
    let build = commit.map_or_else(|| build.to_owned(), |commit| format!("{build}, {commit}"));
    let shapes = plan.shapes.iter().map(|(input, dims)| {
        let dims: Vec<String> = dims.iter().map(ToString::to_string).collect();
        format!("{input} {}", dims.join("×"))
    });
    let batches: BTreeSet<usize> = plan.points.iter().copied().map(Point::batch).collect();
    let sweeps = sweep::show(&plan.points).join(", ");
    let others = (!sweep::is_of_batches(&plan.points)).then_some(sweeps);
    vec![
        (
            "Batch sizes",
            Some(listed(batches.iter().map(ToString::to_string))),
        ),
        ("Sweep", others),
        ("Shapes given", Some(listed(shapes))),
        ("Preset", here.then(|| plan.preset.to_string())),
        ("Rounds", here.then(|| plan.measure.rounds.to_string())),
        (
            "Commit",
            environment.short_project_commit().map(ToOwned::to_owned),
        ),
        ("Powerband", Some(environment.program.clone())),
        ("Build", here.then_some(build)),
        ("Measured", here.then(|| moment(&session.created))),
    ]
}

fn model(model: &ModelRef) -> String {
    let checksum: String = model.sha256.chars().take(CHECKSUM_DIGITS).collect();
    if checksum.is_empty() {
        return model.name.clone();
    }
    format!("{} ({checksum})", model.name)
}

fn machine(cpu: &Cpu) -> Option<String> {
    let threads = humanize::pluralised(cpu.threads as u64, "thread");
    (!cpu.model.is_empty()).then(|| format!("{}, {threads}", cpu.model))
}

fn graphics(gpu: &Gpu) -> String {
    match &gpu.driver {
        Some(driver) => format!("{}, driver {driver}", gpu.name),
        None => gpu.name.clone(),
    }
}

/// A time stamp as the rest of the program shows it.
fn moment(created: &str) -> String {
    if created.is_empty() {
        return String::new();
    }
    format!("{} UTC", created.replace('T', " ").trim_end_matches('Z'))
}

fn listed(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() {
        return "none".to_owned();
    }
    items.join(", ")
}

fn or_unknown(text: Option<String>) -> String {
    text.filter(|text| !text.is_empty())
        .unwrap_or_else(|| UNKNOWN.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::session;
    use powerband_core::domain::machine::RemoteMachine;
    use powerband_core::domain::profile::Tool;
    use powerband_core::domain::setup_report::SetupReport;

    fn find<'a>(differences: &'a [Difference], what: &str) -> &'a Difference {
        let found = differences
            .iter()
            .find(|difference| difference.what == what);
        found.unwrap()
    }

    #[test]
    fn setups_of_one_session_differ_in_what_was_run() {
        let mut session = session(&["ort:cpu,threads=2,opt=all", "tract:cpu"], &[1, 4]);
        session.reports[1] = Some(SetupReport {
            engine: "Tract 0.23".to_owned(),
            threads: Some(2),
            ..SetupReport::default()
        });
        let differences = differences((&session, 0), (&session, 1));
        let differing: Vec<&str> = differences
            .iter()
            .filter(|difference| difference.differs())
            .map(|difference| difference.what)
            .collect();
        assert_eq!(differing, ["Engine", "Options"]);
        assert_eq!(find(&differences, "Engine").after, "Tract 0.23");
        let options = find(&differences, "Options");
        assert_eq!(
            (options.before.as_str(), options.after.as_str()),
            ("opt=all", "the defaults")
        );
        assert_eq!(find(&differences, "Threads").before, "2");
        assert_eq!(find(&differences, "Governor").before, UNKNOWN);
        assert_eq!(find(&differences, "Batch sizes").before, "1, 4");
        let remarks = condition_warnings((&session, 0), (&session, 1));
        assert_eq!(remarks, ["test is not complete."]);
    }

    #[test]
    fn setups_of_different_machines_are_not_interleaved() {
        let mut session = session(
            &["ort:cpu", "ort:cpu,where=rack", "rten:cpu,where=rack"],
            &[1],
        );
        session.completion = Completion::Complete;
        session.machines.push(RemoteMachine {
            name: "rack".to_owned(),
            setups: vec![1, 2],
            ..RemoteMachine::default()
        });
        session.machines[0].environment.cpu.governor = Some("powersave".to_owned());
        let told = condition_warnings((&session, 0), (&session, 1));
        assert!(told[0].contains("(this machine and rack)"), "{told:?}");
        assert!(!is_interleaved((&session, 0), (&session, 1)));
        assert!(is_interleaved((&session, 1), (&session, 2)));
        assert!(condition_warnings((&session, 1), (&session, 2)).is_empty());
        let differences = differences((&session, 0), (&session, 1));
        assert_eq!(find(&differences, "Governor").after, "powersave");
    }

    #[test]
    fn sessions_of_different_times_are_remarked_on() {
        let mut before = session(&["ort:cpu"], &[1]);
        before.completion = Completion::Complete;
        let mut after = before.clone();
        after.created = "2030-02-02T00:00:00Z".to_owned();
        after.model.sha256 = "ff".to_owned();
        after.made_up = true;
        after.name = "later".to_owned();
        let remarks = condition_warnings((&before, 0), (&after, 0));
        assert_eq!(remarks.len(), 3, "{remarks:?}");
        assert!(remarks[0].contains("not interleaved"));
        assert!(remarks[1].contains("not the same file"));
        assert!(remarks[2].contains("later are made up"));
        let measured = differences((&before, 0), (&after, 0));
        assert_eq!(find(&measured, "Measured").after, "2030-02-02 00:00:00 UTC");
    }

    /// What another program measured, imported in the same second as others.
    fn imported(name: &str) -> Session {
        let mut session = session(&["trtexec:imported"], &[1]);
        session.completion = Completion::Complete;
        session.imported = Some(Tool {
            name: "trtexec".to_owned(),
            ..Tool::default()
        });
        session.model.name = name.to_owned();
        session.model.sha256 = String::new();
        session.model.parameters = 0;
        session.model.macs = None;
        session
    }

    #[test]
    fn files_that_nobody_knows_are_neither_the_same_nor_in_the_way() {
        let (before, after) = (imported("one.json"), imported("two.json"));
        let told = condition_warnings((&before, 0), (&after, 0));
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains("another program"), "{told:?}");
        assert!(
            told[1].contains("one.json and two.json are one network is not known"),
            "{told:?}"
        );
        assert_eq!(why_not_comparable((&before, 0), (&after, 0)), None);
        let differences = differences((&before, 0), (&after, 0));
        for what in ["Preset", "Rounds", "Build", "Measured", "Graphics"] {
            assert_eq!(find(&differences, what).before, UNKNOWN, "{what}");
        }
        // A file that is known on one side only is not another one.
        let mut known = imported("one.json");
        known.model.sha256 = "ff".to_owned();
        assert_eq!(why_not_comparable((&before, 0), (&known, 0)), None);
        let told = condition_warnings((&before, 0), (&known, 0)).join(" ");
        assert!(told.contains("known on one side only"), "{told}");
    }

    #[test]
    fn networks_of_other_sizes_are_told_first() {
        let mut before = session(&["ort:cpu"], &[1]);
        before.model.parameters = 25_560_000;
        before.model.macs = Some(4_090_000_000);
        let mut after = before.clone();
        after.created = "2030-02-02T00:00:00Z".to_owned();
        after.model.name = "other".to_owned();
        after.model.sha256 = "ff".to_owned();
        // Folded away: two versions of one network.
        after.model.parameters = 25_510_000;
        assert_eq!(different_networks((&before, 0), (&after, 0)), None);
        assert_eq!(is_one_network(&before.model, &after.model), Some(true));
        after.model.parameters = 7_980_000;
        after.model.macs = Some(2_830_000_000);
        assert_eq!(is_one_network(&before.model, &after.model), Some(false));
        let told = condition_warnings((&before, 0), (&after, 0));
        assert!(
            told[0].contains("other has 7.98 M parameters and 2.83 GMACs"),
            "{told:?}"
        );
        assert!(!told.join(" ").contains("The models differ"), "{told:?}");
        // The ratio is kept.
        assert_eq!(why_not_comparable((&before, 0), (&after, 0)), None);
    }

    #[test]
    fn a_setup_that_is_not_there_is_unknown() {
        let session = session(&["ort:cpu"], &[1]);
        let differences = differences((&session, 0), (&session, 9));
        assert_eq!(find(&differences, "Engine").after, UNKNOWN);
    }
}
