//! The machines that the setups of a session ran on, each with its circumstances and what was warned about it.

use powerband_core::base::humanize;
use powerband_core::domain::environment::Environment;
use powerband_core::domain::machine::RemoteMachine;
use powerband_core::domain::session::Session;

/// What the machine is called that Powerband itself ran on.
pub const THIS_MACHINE: &str = "this machine";

/// A machine of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineLine {
    /// What the setups call it.
    pub name: String,
    /// What it calls itself, and as whom the workers ran: `gpu1 as me`. Empty for this machine.
    pub address: String,
    /// Its setups, by their labels.
    pub setups: Vec<String>,
    /// Its circumstances; nothing where it was not reached.
    pub environment: Option<Environment>,
    /// Settings of its cards: `power limit 300 W`. Empty where there are none.
    pub card_settings: String,
    /// How far its clock may be off; nothing for this machine.
    pub clock: Option<String>,
    /// Warnings of the run about it.
    pub warnings: Vec<String>,
}

impl MachineLine {
    /// Its name, and what it calls itself: `rack (gpu1 as me)`.
    pub fn full_name(&self) -> String {
        match self.address.as_str() {
            "" => self.name.clone(),
            address => format!("{} ({address})", self.name),
        }
    }

    /// Its processor with threads; nothing where it is unknown.
    pub fn processor(&self) -> Option<String> {
        let cpu = &self.environment.as_ref()?.cpu;
        let threads = humanize::pluralised(cpu.threads as u64, "thread");
        (!cpu.model.is_empty()).then(|| format!("{}, {threads}", cpu.model))
    }

    /// The names of its cards; nothing where it has none, or none is known.
    pub fn cards(&self) -> Option<String> {
        let gpus = self.environment.as_ref()?.gpus.iter();
        counted(gpus.map(|gpu| gpu.name.clone()))
    }

    /// The drivers of its cards.
    pub fn drivers(&self) -> Option<String> {
        let gpus = self.environment.as_ref()?.gpus.iter();
        let mut drivers: Vec<&str> = gpus.filter_map(|gpu| gpu.driver.as_deref()).collect();
        drivers.dedup();
        (!drivers.is_empty()).then(|| drivers.join(", "))
    }
}

/// The machines of a session, this one first; empty where they are unknown because another program measured.
pub fn machine_lines(session: &Session) -> Vec<MachineLine> {
    if session.imported.is_some() || session.is_published_only() {
        return Vec::new();
    }
    let mut lines: Vec<MachineLine> = Vec::new();
    for setup in 0..session.plan.setups.len() {
        let label = session.setup_label(setup);
        let reached = session.machine_of(setup);
        let asked_for = session.plan.setups[setup].machine_asked_for();
        let name = reached.map(|machine| machine.name.as_str()).or(asked_for);
        let name = name.unwrap_or(THIS_MACHINE);
        if let Some(known) = lines.iter_mut().find(|line| line.name == name) {
            known.setups.push(label);
            continue;
        }
        let is_known = reached.is_some() || asked_for.is_none();
        lines.push(MachineLine {
            name: name.to_owned(),
            address: reached.map_or_else(String::new, address),
            environment: is_known.then(|| session.environment_of(setup).clone()),
            card_settings: card_settings(session, setup, is_known),
            clock: reached.map(|machine| machine.clock.uncertainty()),
            setups: vec![label],
            warnings: Vec::new(),
        });
    }
    lines.sort_by_key(|line| line.name != THIS_MACHINE);
    assign_warnings(session, &mut lines);
    lines
}

/// The machines of several sessions, each machine once. A session's name stands for the machine that Powerband ran
/// on.
pub fn machines_of_sessions(sessions: &[(&str, &Session)]) -> Vec<MachineLine> {
    let mut all: Vec<MachineLine> = Vec::new();
    for (name, session) in sessions {
        for mut line in machine_lines(session) {
            if line.name == THIS_MACHINE {
                (*name).clone_into(&mut line.name);
            }
            let is_it = |known: &&mut MachineLine| {
                (&known.name, &known.address) == (&line.name, &line.address)
            };
            let Some(known) = all.iter_mut().find(is_it) else {
                all.push(line);
                continue;
            };
            known.environment = known.environment.take().or(line.environment);
            let new = |label: &String| !known.setups.contains(label);
            let new: Vec<String> = line.setups.into_iter().filter(new).collect();
            known.setups.extend(new);
            known.warnings.extend(line.warnings);
        }
    }
    all
}

/// What a machine calls itself, and as whom the workers ran.
fn address(machine: &RemoteMachine) -> String {
    match (machine.host.as_str(), machine.user.as_str()) {
        (host, "") => host.to_owned(),
        ("", user) => format!("as {user}"),
        (host, user) => format!("{host} as {user}"),
    }
}

fn card_settings(session: &Session, setup: usize, is_known: bool) -> String {
    let tracks = session.devices_beside(setup).filter(|_| is_known);
    let cards = tracks
        .map(|(_, track)| &track.device)
        .filter(|device| device.kind.is_gpu());
    let settings: Vec<String> = cards
        .flat_map(|device| &device.settings)
        .map(|setting| format!("{} {}", setting.name.to_lowercase(), setting.value))
        .collect();
    counted(settings.into_iter()).unwrap_or_default()
}

/// Each name once, with how often it comes: `2 × NVIDIA H100`.
fn counted(names: impl Iterator<Item = String>) -> Option<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for name in names {
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let words: Vec<String> = counts
        .into_iter()
        .map(|(name, count)| match count {
            1 => name,
            _ => format!("{count} × {name}"),
        })
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Gives each machine the warnings that name it. A warning about a device without a machine is about this machine.
fn assign_warnings(session: &Session, lines: &mut [MachineLine]) {
    let here: Vec<String> = session
        .telemetry
        .tracks
        .iter()
        .map(|track| &track.device)
        .filter(|device| device.machine.is_none())
        .map(|device| format!("{} ", device.short_name()))
        .collect();
    for warning in &session.warnings {
        let named = lines.iter_mut().filter(|line| names(warning, &line.name));
        // `slurm, n1` names that machine, and not `slurm`.
        let named = named.max_by_key(|line| line.name.len());
        let is_about_here = here.iter().any(|device| warning.starts_with(device));
        let line = match named {
            Some(line) => Some(line),
            None if is_about_here => lines.iter_mut().find(|line| line.name == THIS_MACHINE),
            None => None,
        };
        if let Some(line) = line {
            line.warnings.push(warning.clone());
        }
    }
}

/// Whether a text names a machine: its name with nothing around it that could belong to a longer one.
fn names(text: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || ['-', '_', '/', '='].contains(&letter);
    !name.is_empty()
        && text.match_indices(name).any(|(at, found)| {
            let before = text[..at].chars().next_back();
            let mut after = text[at + found.len()..].chars();
            let next = after.next();
            // `n1.example` is another name, and `on n1.` the end of a sentence.
            let goes_on = next == Some('.') && after.next().is_some_and(char::is_alphanumeric);
            !before.is_some_and(is_part) && !next.is_some_and(is_part) && !goes_on
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{add_telemetry, session};
    use powerband_core::domain::device::Gpu;
    use powerband_core::domain::telemetry::{DeviceKind, Setting};

    /// Setups here, on `rack`, and on `far`, which was not reached.
    fn three() -> Session {
        let specs = ["ort:cpu", "ort:cuda,where=rack", "ort:cuda,where=far"];
        let mut session = session(&specs, &[1]);
        session.environment.cpu.model = "Example 7313P".to_owned();
        session.environment.cpu.threads = 32;
        let mut rack = RemoteMachine {
            name: "rack".to_owned(),
            host: "gpu1".to_owned(),
            user: "me".to_owned(),
            setups: vec![1],
            environment: session.environment.clone(),
            ..RemoteMachine::default()
        };
        rack.environment.cpu.model = "Example 9654".to_owned();
        let card = Gpu {
            name: "NVIDIA H100".to_owned(),
            memory_bytes: None,
            driver: Some("570.86".to_owned()),
        };
        rack.environment.gpus = vec![card.clone(), card];
        session.machines.push(rack);
        session
    }

    #[test]
    fn every_machine_has_a_line() {
        let lines = machine_lines(&three());
        let names: Vec<String> = lines.iter().map(MachineLine::full_name).collect();
        assert_eq!(names, ["this machine", "rack (gpu1 as me)", "far"]);
        let processors: Vec<Option<String>> = lines.iter().map(MachineLine::processor).collect();
        assert_eq!(processors[0].as_deref(), Some("Example 7313P, 32 threads"));
        assert_eq!(processors[1].as_deref(), Some("Example 9654, 32 threads"));
        assert_eq!(
            processors[2], None,
            "nothing of this machine is said of one that was not reached"
        );
        assert_eq!(lines[1].cards().as_deref(), Some("2 × NVIDIA H100"));
        assert_eq!(lines[1].drivers().as_deref(), Some("570.86"));
        assert_eq!(lines[1].setups, ["ort:cuda,where=rack"]);
    }

    #[test]
    fn setups_of_one_machine_share_a_line() {
        let mut session = session(&["ort:cpu,where=rack", "rten:cpu,where=rack"], &[1]);
        assert_eq!(machine_lines(&session).len(), 1, "not reached");
        session.machines.push(RemoteMachine {
            name: "rack".to_owned(),
            setups: vec![0, 1],
            ..RemoteMachine::default()
        });
        let lines = machine_lines(&session);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].setups.len(), 2);
    }

    #[test]
    fn a_machine_of_several_sessions_has_one_line() {
        let (one, mut two) = (three(), three());
        two.plan.setups[1] = "rten:cuda,where=rack".parse().unwrap();
        let lines = machines_of_sessions(&[("a", &one), ("b", &two)]);
        let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["a", "rack", "far", "b"]);
        assert_eq!(
            lines[1].setups,
            ["ort:cuda,where=rack", "rten:cuda,where=rack"]
        );
        let same = machines_of_sessions(&[("this machine", &one), ("this machine", &two)]);
        assert_eq!(same.len(), 3);
    }

    #[test]
    fn a_warning_stands_with_its_machine() {
        let mut session = three();
        add_telemetry(&mut session, DeviceKind::Host, 1.0, 1.0, |_| Vec::new());
        let told = [
            "Host was busy before the first worker started: utilisation 40 %.",
            "GPU 0 on rack was busy before the first worker started: utilisation 9 %.",
            "rack-2: its devices are not read.",
            "No device of rack reports its power.",
            "The seed was changed.",
        ];
        session.warnings = told.map(str::to_owned).to_vec();
        let lines = machine_lines(&session);
        assert_eq!(lines[0].warnings, [told[0]]);
        assert_eq!(lines[1].warnings, [told[1], told[3]]);
        assert!(lines[2].warnings.is_empty());
    }

    #[test]
    fn the_longer_name_has_the_warning() {
        let mut session = three();
        session.machines[0].name = "slurm, n1".to_owned();
        session.machines.push(RemoteMachine {
            name: "slurm".to_owned(),
            setups: vec![2],
            ..RemoteMachine::default()
        });
        session.warnings = vec!["slurm, n1: its devices are not read.".to_owned()];
        let lines = machine_lines(&session);
        let warned: Vec<usize> = lines.iter().map(|line| line.warnings.len()).collect();
        assert_eq!(warned, [0, 1, 0]);
    }

    #[test]
    fn settings_are_those_of_the_machines_own_cards() {
        let mut session = three();
        for machine in [None, Some("rack".to_owned())] {
            add_telemetry(&mut session, DeviceKind::Nvidia, 1.0, 1.0, |_| Vec::new());
            let device = &mut session.telemetry.tracks.last_mut().unwrap().device;
            let watts = if machine.is_some() { 300 } else { 150 };
            device.settings = vec![Setting {
                name: "Power limit".to_owned(),
                value: format!("{watts} W"),
                command: None,
            }];
            device.machine = machine;
        }
        let lines = machine_lines(&session);
        let settings: Vec<&str> = lines.iter().map(|line| &*line.card_settings).collect();
        assert_eq!(settings, ["power limit 150 W", "power limit 300 W", ""]);
    }
}
