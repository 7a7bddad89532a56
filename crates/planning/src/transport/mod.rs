//! Ways to a machine: what stands in front of a command so that it runs over there, with its two streams carried
//! here.
//!
//! A file beside this one is one transport, and [`ALL`] lists them. `remote` opens connections with them and runs
//! workers over these; the protocol of the workers is the same everywhere.

pub mod containers;
pub mod here;
pub mod script;
pub mod slurm;
pub mod ssh;
pub mod via;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use powerband_core::base::humanize;
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::domain::machine::NamedMachine;
use powerband_core::domain::setup::{HERE, NEIGHBOUR_KEY, Setup};
pub use powerband_core::domain::setup::{PROGRAM_KEY, SLURM_KEYS, VIA_KEY, WHERE_KEY};

/// Every transport.
pub const ALL: &[&dyn Transport] = &[
    &here::LocalTransport,
    &ssh::Ssh,
    &slurm::Slurm,
    &containers::DOCKER,
    &containers::PODMAN,
    &containers::APPTAINER,
    &containers::POD,
    &via::Via,
];

/// A scheduler's own options.
pub type SchedulerOptions = BTreeMap<String, String>;

/// How a command takes part in a connection that several share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share<'a> {
    /// No shared connection.
    None,
    /// It opens the connection, with a socket at this path.
    Begin(&'a Path),
    /// It uses the one whose socket is at this path.
    Join(&'a Path),
}

/// One way to a machine.
pub trait Transport: Sync + fmt::Debug {
    /// What `where=` begins with.
    fn id(&self) -> &'static str;

    /// How a setup writes it, for messages.
    fn form(&self) -> &'static str;

    /// Refuses a target that makes no sense, before anything is started.
    fn check(&self, target: &str) -> Result<(), String>;

    /// The command that runs a shell line on the target.
    fn shell_command(&self, target: &str, share: Share<'_>, line: &str) -> ProcessSpec;

    /// What tells whether commands share a connection already; nothing where they cannot share one.
    fn share_query(&self, _target: &str) -> Option<ProcessSpec> {
        None
    }

    /// Whether a connection of our own is opened, by the answer to `share_query`.
    fn wants_own_share(&self, _answer: &str) -> bool {
        false
    }

    /// The command that asks a scheduler for a machine under a name, runs a line of shell here once it has it, and gives
    /// it back when that ends; nothing where no scheduler is asked. The line's first words are what others join by.
    fn allocation(
        &self,
        _target: &str,
        _options: &SchedulerOptions,
        _name: &str,
        _line: &str,
    ) -> Option<ProcessSpec> {
        None
    }

    /// Whether a scheduler is asked for the machine.
    fn is_scheduled(&self) -> bool {
        false
    }

    /// Why there is no connection, and what helps, from what its program wrote to standard error.
    fn trouble(&self, target: &str, stderr: &str) -> String;
}

/// A machine that a setup runs on, and the way to it.
#[derive(Clone, Debug)]
pub struct SetupMachine {
    /// What the user calls it: a name of the settings, or `ssh:HOST`.
    pub name: String,
    /// The way to it.
    pub transport: &'static dyn Transport,
    /// What the way leads to: a host, or words in front of a command.
    pub target: String,
    /// A line for the shell over there before the program starts.
    pub before: String,
    /// This program over there, where it is not to be sent.
    pub remote_program: Option<String>,
    /// What a scheduler is asked for.
    pub options: SchedulerOptions,
}

impl SetupMachine {
    /// Whether an argument like `--on` can name it; words in front of a command cannot.
    pub fn can_be_named(&self) -> bool {
        self.name != via_name(&self.target)
    }

    /// The machine that a text means: a name of the settings, or `ssh:HOST`. Nothing for this machine.
    pub fn find(text: &str, known: &[NamedMachine]) -> Result<Option<Self>, String> {
        let named = known.iter().find(|machine| machine.name == text);
        let Some(named) = named else {
            return Self::spelled(text, known);
        };
        let found = match (named.place.as_str(), named.via.as_str()) {
            ("", "") => {
                Err("the settings do not say how it is reached: give it where or via".to_owned())
            }
            ("", via) => via_machine(via).map(Some),
            (place, "") => Self::spelled(place, &[]),
            _ => Err("the settings give it where and via; one of them is enough".to_owned()),
        };
        let found = found.map_err(|reason| format!("the machine {text}: {reason}"))?;
        Ok(found.map(|machine| Self {
            name: text.to_owned(),
            before: named.before.clone(),
            remote_program: Some(named.remote_program.clone()).filter(|path| !path.is_empty()),
            ..machine
        }))
    }

    fn spelled(text: &str, known: &[NamedMachine]) -> Result<Option<Self>, String> {
        let (transport, target) = parse(text)?;
        let Some(transport) = transport else {
            let names: Vec<&str> = known.iter().map(|machine| machine.name.as_str()).collect();
            let known = if names.is_empty() {
                "the settings name no machines".to_owned()
            } else {
                format!("the settings name {}", humanize::list(&names))
            };
            return Err(format!(
                "where={text} is no machine that is known: {known}; write where=ssh:HOST for a host of ssh"
            ));
        };
        if transport.id() == here::LocalTransport.id() {
            return Ok(None);
        }
        Ok(Some(Self {
            name: text.to_owned(),
            transport,
            target: target.to_owned(),
            before: String::new(),
            remote_program: None,
            options: SchedulerOptions::new(),
        }))
    }

    /// The machine of a setup; nothing for this one.
    pub fn of_setup(setup: &Setup, known: &[NamedMachine]) -> Result<Option<Self>, String> {
        let option = |key: &str| setup.options.get(key).map(String::as_str);
        let found = match (option(WHERE_KEY), option(VIA_KEY)) {
            (None, None) => None,
            (Some(place), None) => Self::find(place, known)?,
            (None, Some(words)) => Some(via_machine(words)?),
            (Some(_), Some(_)) => return Err(both()),
        };
        let own = setup.options.iter();
        let own = own.filter_map(|(key, value)| {
            let key = key.strip_prefix(SLURM_KEYS)?;
            Some((key.to_owned(), value.clone()))
        });
        Ok(found.map(|machine| Self {
            options: own.collect(),
            remote_program: option(PROGRAM_KEY)
                .map(ToOwned::to_owned)
                .or(machine.remote_program),
            ..machine
        }))
    }
}

fn both() -> String {
    "where= and via= exclude each other; give one of them".to_owned()
}

/// What a machine behind words in front of a command is called.
fn via_name(words: &str) -> String {
    format!("via {words}")
}

fn via_machine(words: &str) -> Result<SetupMachine, String> {
    let transport: &'static dyn Transport = &via::Via;
    transport.check(words)?;
    Ok(SetupMachine {
        name: via_name(words),
        transport,
        target: words.to_owned(),
        before: String::new(),
        remote_program: None,
        options: SchedulerOptions::new(),
    })
}

/// The transport and the target of a text; no transport for what may be a name of the settings.
fn parse(text: &str) -> Result<(Option<&'static dyn Transport>, &str), String> {
    let (id, target) = text.split_once(':').unwrap_or((text, ""));
    let is_whole = text.contains(':');
    let mut ways = ALL.iter().copied().filter(|way| way.id() != via::Via.id());
    let way = ways.find(|way| way.id() == id);
    // A name of the settings may be that of a way which needs a target.
    let is_name =
        |way: &&dyn Transport| !is_whole && way.id() != ssh::Ssh.id() && way.check("").is_err();
    match way.filter(|way| !is_name(way)) {
        Some(way) => {
            way.check(target)?;
            Ok((Some(way), target))
        }
        None if is_whole => {
            let forms: Vec<&str> = ALL.iter().map(|way| way.form()).collect();
            Err(format!(
                "where={text} names no way to a machine; there are {}",
                humanize::list(&forms)
            ))
        }
        None => Ok((None, target)),
    }
}

/// Refuses what a setup says of its machine where that makes no sense. Names of the settings are looked up later.
pub(crate) fn check(setup: &Setup) -> Result<(), String> {
    if setup.is_elsewhere() && setup.options.contains_key(NEIGHBOUR_KEY) {
        return Err(format!(
            "{NEIGHBOUR_KEY}= works on this machine alone; leave it out, or leave {WHERE_KEY}= and {VIA_KEY}= out"
        ));
    }
    let option = |key: &str| setup.options.get(key).map(String::as_str);
    let asks_scheduler = setup.options.keys().any(|key| key.starts_with(SLURM_KEYS));
    match (option(WHERE_KEY), option(VIA_KEY)) {
        (None | Some(HERE), _) if asks_scheduler => Err(format!(
            "{SLURM_KEYS}… are options of the scheduler; add where=slurm"
        )),
        (Some(place), _) if asks_scheduler && asks_no_scheduler(place) => Err(format!(
            "{SLURM_KEYS}… are options of the scheduler, and where={place} asks none"
        )),
        (Some(_), Some(_)) => Err(both()),
        (Some(""), None) => Err("where= names no machine".to_owned()),
        (Some(place), None) => parse(place).map(drop),
        (None, Some(words)) => via::Via.check(words),
        (None, None) if setup.options.contains_key(PROGRAM_KEY) => Err(format!(
            "{PROGRAM_KEY}= is for setups on another machine; add where= or via="
        )),
        (None, None) => Ok(()),
    }
}

/// Whether a place is one that no scheduler gives; names of the settings may be.
fn asks_no_scheduler(place: &str) -> bool {
    let id = place.split_once(':').map(|(id, _)| id);
    let way = id.and_then(|id| ALL.iter().find(|way| way.id() == id));
    way.is_some_and(|way| !way.is_scheduled())
}

/// The setup as its worker over there is to see it: without the way there.
pub fn over_there(setup: &Setup) -> Setup {
    setup.clone().without_machine()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine_of_spec(spec: &str, known: &[NamedMachine]) -> Result<Option<SetupMachine>, String> {
        SetupMachine::of_setup(&spec.parse().unwrap(), known)
    }

    #[test]
    fn setups_find_their_machines() {
        let known = [NamedMachine {
            name: "rack".to_owned(),
            place: "ssh:me@gpu1".to_owned(),
            before: "module load rocm".to_owned(),
            ..NamedMachine::default()
        }];
        assert!(machine_of_spec("ort", &known).unwrap().is_none());
        assert!(machine_of_spec("ort,where=here", &known).unwrap().is_none());
        let rack = machine_of_spec("ort,where=rack,remote_program=/opt/pb", &known);
        let rack = rack.unwrap().unwrap();
        assert_eq!(
            (rack.name.as_str(), rack.target.as_str()),
            ("rack", "me@gpu1")
        );
        assert_eq!(rack.before, "module load rocm");
        assert_eq!(rack.remote_program.as_deref(), Some("/opt/pb"));
        let pod = machine_of_spec("ort,via=\"kubectl exec -i pod --\"", &known)
            .unwrap()
            .unwrap();
        assert_eq!(pod.transport.id(), "via");
        assert!(
            machine_of_spec("ort,where=rock", &known)
                .unwrap_err()
                .contains("rack")
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused_before_anything_starts() {
        let refused = |spec: &str| check(&spec.parse().unwrap()).unwrap_err();
        assert!(refused("ort,where=ssh:").contains("ssh:HOST"));
        assert!(refused("ort,where=ssh:-oProxyCommand=x").contains("host"));
        assert!(refused("ort,slurm.gres=gpu:1").contains("where=slurm"));
        assert!(refused("ort,where=ssh:a,slurm.time=5").contains("asks none"));
        assert!(refused("ort,where=docker:-it").contains("docker:CONTAINER"));
        assert!(
            check(&"ort,where=pod".parse().unwrap()).is_ok(),
            "a name of the settings"
        );
        assert!(refused("ort,where=telnet:x").contains("ssh:HOST"));
        assert!(refused("ort,where=ssh:a,via=env").contains("exclude"));
        assert!(refused("ort,via=").contains("via"));
        assert!(refused("ort,where=rack,cores=0,neighbour=stream").contains("this machine alone"));
        assert!(refused("ort,remote_program=/pb").contains("where="));
        assert_eq!(check(&"ort,where=rack".parse().unwrap()), Ok(()));
    }

    #[test]
    fn a_worker_over_there_is_not_sent_further() {
        let setup = "ort:cpu,threads=2,where=ssh:a,remote_program=/x"
            .parse()
            .unwrap();
        assert_eq!(over_there(&setup).to_string(), "ort:cpu,threads=2");
        assert!(setup.is_elsewhere() && !over_there(&setup).is_elsewhere());
    }
}
