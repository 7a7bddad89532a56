//! The machines of a session as text on a terminal: a block for each.

use powerband_core::base::humanize;
use powerband_core::domain::environment::Environment;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::machine_lines::{MachineLine, THIS_MACHINE, machine_lines};

/// A block for each machine that setups of the session ran on.
pub(super) fn machines(session: &Session) -> String {
    let lines = machine_lines(session);
    match lines.as_slice() {
        [] => this_machine(&session.environment),
        [line] if line.name == THIS_MACHINE => this_machine(&session.environment),
        lines => lines.iter().map(block).collect(),
    }
}

fn this_machine(environment: &Environment) -> String {
    let cpu = &environment.cpu;
    format!(
        "Machine  {}, {} threads, {}\nSystem   {}\n",
        cpu.model,
        cpu.threads,
        humanize::bytes(environment.memory.total_bytes),
        system(environment),
    )
}

fn system(environment: &Environment) -> String {
    format!(
        "{}, kernel {}; Powerband {}",
        environment.os, environment.kernel, environment.program
    )
}

/// Its name, processor, cards, system, setups and warnings, a line each.
fn block(line: &MachineLine) -> String {
    let mut text = format!("Machine  {}\n", line.full_name());
    let mut add = |what: &str| text.push_str(&format!("         {what}\n"));
    match &line.environment {
        None => add("not reached, so nothing of it is known"),
        Some(environment) => {
            let memory = humanize::bytes(environment.memory.total_bytes);
            let governor = environment.cpu.governor.as_ref();
            let governor = governor.map(|governor| format!(", governor {governor}"));
            let processor = line
                .processor()
                .unwrap_or_else(|| "unknown processor".to_owned());
            add(&format!(
                "{processor}, {memory}{}",
                governor.unwrap_or_default()
            ));
            if let Some(cards) = line.cards() {
                let driver = line.drivers().map(|driver| format!(", driver {driver}"));
                let settings = Some(&line.card_settings).filter(|settings| !settings.is_empty());
                let settings = settings.map(|settings| format!("; {settings}"));
                add(&format!(
                    "{cards}{}{}",
                    driver.unwrap_or_default(),
                    settings.unwrap_or_default()
                ));
            }
            add(&system(environment));
        }
    }
    add(&format!("setups: {}", line.setups.join("; ")));
    for warning in &line.warnings {
        add(&format!("warning: {warning}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::device::Gpu;
    use powerband_core::domain::machine::RemoteMachine;
    use powerband_store::examples;

    /// An example session with several setups, all of this machine.
    fn session() -> Session {
        let mut all = examples::ALL
            .iter()
            .map(|example| example.open().unwrap().session);
        let is_measured = |session: &Session| {
            session.imported.is_none() && session.plan.setups.len() > 1 && !session.cases.is_empty()
        };
        all.find(is_measured).unwrap()
    }

    #[test]
    fn every_machine_has_a_block() {
        let mut session = session();
        session.environment.cpu.model = "Example 7313P".to_owned();
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
        let text = machines(&session);
        let (here, there) = text.split_once("Machine  rack (gpu1 as me)\n").unwrap();
        assert!(here.starts_with("Machine  this machine\n") && here.contains("Example 7313P"));
        assert!(there.contains("Example 9654"), "{there}");
        assert!(there.contains("NVIDIA H100, driver 570.86"), "{there}");
        assert!(there.contains(warning) && !here.contains(warning), "{text}");
    }

    #[test]
    fn a_session_of_this_machine_has_two_lines() {
        let text = machines(&session());
        assert!(
            text.starts_with("Machine  ") && text.lines().count() == 2,
            "{text}"
        );
    }
}
