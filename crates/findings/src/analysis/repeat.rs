//! The command that measures a session's plan once more.

use powerband_core::domain::plan::{
    AccuracyCheck, Load, MeasureRule, Plan, Profiler, TimeLimits, WorkerLifetime,
};
use powerband_core::domain::session::Session;
use powerband_core::domain::sweep;
use powerband_core::domain::telemetry_paths::USUAL_HZ;

/// A command, and what it has no option for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepeatCommand {
    /// The words of it, `powerband` first, without quotes.
    pub words: Vec<String>,
    /// What of the plan has no flag.
    pub without_option: Vec<String>,
}

impl RepeatCommand {
    /// As it is typed into a shell.
    pub fn line(&self) -> String {
        let words: Vec<String> = self.words.iter().map(|word| shell_quoted(word)).collect();
        words.join(" ")
    }

    fn add<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        self.words.extend(words.into_iter().map(str::to_owned));
    }
}

/// The command for a session's plan; nothing for a session that was not measured here.
pub fn repeat_command(session: &Session) -> Option<RepeatCommand> {
    let plan = &session.plan;
    if session.imported.is_some() || plan.setups.is_empty() || plan.points.is_empty() {
        return None;
    }
    let mut command = RepeatCommand::default();
    command.add(["powerband", "bench", &plan.model]);
    for setup in &plan.setups {
        command.add(["--setup", &setup.to_string()]);
    }
    if sweep::is_of_batches(&plan.points) {
        let batches = plan.points.iter().map(|point| point.batch().to_string());
        command.add(["--batch", &batches.collect::<Vec<_>>().join(",")]);
    } else {
        for sweep in sweep::show(&plan.points) {
            command.add(["--sweep", &sweep]);
        }
    }
    command.add(["--preset", &plan.preset.to_string()]);
    if !plan.ladder.is_empty() {
        command.add(["--journey"]);
    }
    let rate_hz = Some(session.telemetry.rate_hz).filter(|rate| *rate > 0.0);
    add_rules(&mut command, plan, rate_hz.unwrap_or(USUAL_HZ));
    match rate_hz {
        None => command.add(["--telemetry", "0"]),
        Some(rate_hz) if (rate_hz - USUAL_HZ).abs() > 1e-9 => {
            command.add(["--telemetry", &rate_hz.to_string()]);
        }
        Some(_) => {}
    }
    add_extras(&mut command, plan);
    command.add(["--seed", &plan.seed.to_string()]);
    if plan.looks.iter().any(|look| look.label.is_some()) {
        command
            .without_option
            .push("the names of the setups".to_owned());
    }
    Some(command)
}

/// What differs from the preset.
fn add_rules(command: &mut RepeatCommand, plan: &Plan, rate_hz: f64) {
    let preset = MeasureRule::from_preset(plan.preset);
    let usual = MeasureRule {
        spacing: plan.measure.spacing,
        ..preset.clone()
    };
    let mut energetic = usual.clone();
    energetic.allow_for_energy(rate_hz);
    let with_rounds = |rule: &MeasureRule| MeasureRule {
        rounds: plan.measure.rounds,
        target_ci95_rel: None,
        ..rule.clone()
    };
    let rounds = plan.measure.rounds.to_string();
    if plan.measure == usual {
    } else if plan.measure == energetic {
        command.add(["--energy"]);
    } else if plan.measure == with_rounds(&usual) {
        command.add(["--rounds", &rounds]);
    } else if plan.measure == with_rounds(&energetic) {
        command.add(["--rounds", &rounds, "--energy"]);
    } else {
        command
            .without_option
            .push("measuring rules that differ from the preset".to_owned());
    }
    // Plans of earlier builds do not say it.
    if let Some(spacing) = plan.measure.spacing
        && plan.measure.spacing != preset.spacing
    {
        command.add(["--spacing", &spacing.to_string()]);
    }
    let limits = &plan.limits;
    let same = [limits.load_ms, limits.warm_up_ms, limits.measure_ms];
    if *limits == TimeLimits::default() {
    } else if same.iter().all(|limit| *limit == limits.start_ms) && limits.start_ms >= 1000 {
        command.add(["--timeout", &(limits.start_ms / 1000).to_string()]);
    } else {
        command
            .without_option
            .push("time limits of the workers".to_owned());
    }
}

fn add_extras(command: &mut RepeatCommand, plan: &Plan) {
    for (option, value) in plan.input_sizes().options() {
        command.add([option, &value]);
    }
    match plan.load {
        Load::Closed => {}
        Load::Constant { per_s } => {
            command.add(["--rate", &per_s.to_string(), "--arrivals", "constant"]);
        }
        Load::Poisson { per_s } => command.add(["--rate", &per_s.to_string()]),
    }
    match plan.keeping {
        WorkerLifetime::Together => {}
        WorkerLifetime::OneAtATime => command.add(["--one-at-a-time"]),
        WorkerLifetime::MachinesAtOnce(machines) => {
            command.add(["--at-once", &machines.to_string()]);
        }
    }
    if let Some(judging) = &plan.judging {
        if judging.inputs == AccuracyCheck::USUAL && judging.samples.is_none() {
            command.add(["--accuracy"]);
        } else {
            command.add([format!("--accuracy={}", judging.inputs).as_str()]);
        }
        if let Some(samples) = &judging.samples {
            command.add(["--samples", samples]);
        }
    }
    match plan.profiling {
        None => {}
        Some(Profiler::Engine) => command.add(["--profile"]),
        Some(profiler) => command.add([format!("--profile={}", profiler.name()).as_str()]),
    }
    if let Some(starts) = plan.profile_starts {
        command.add(["--profile-starts", starts.to_string().as_str()]);
    }
}

/// A word as a shell takes it.
pub fn shell_quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=+,./:@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::session;

    #[test]
    fn a_plain_plan_is_a_plain_command() {
        let mut session = session(&["tract", "ort:cpu,precision=int8"], &[1, 8]);
        session.plan.measure = MeasureRule::from_preset(session.plan.preset);
        assert_eq!(
            repeat_command(&session).unwrap().line(),
            "powerband bench tiny --setup tract:cpu --setup ort:cpu,precision=int8 --batch 1,8 --preset quick --telemetry 0 --seed 1"
        );
    }

    #[test]
    fn a_spacing_of_the_users_is_part_of_the_command_and_one_of_an_earlier_build_is_not() {
        let line = |rounds, spacing| {
            let mut session = session(&["tract"], &[1]);
            session.plan.measure = MeasureRule {
                rounds,
                spacing,
                ..MeasureRule::from_preset(session.plan.preset)
            };
            let command = repeat_command(&session).unwrap();
            assert!(command.without_option.is_empty(), "{command:?}");
            command.line()
        };
        let follow = "0s".parse().unwrap();
        assert!(line(3, Some(follow)).contains("--rounds 3 --spacing 0s"));
        assert!(!line(3, None).contains("spacing"));
    }

    #[test]
    fn how_workers_are_kept_and_who_profiles_are_part_of_the_command() {
        let mut session = session(&["ort,where=ssh:a", "ort,where=ssh:b"], &[1]);
        session.plan.keeping = WorkerLifetime::MachinesAtOnce(2);
        session.plan.profiling = Some(Profiler::Nsys);
        let line = repeat_command(&session).unwrap().line();
        assert!(line.contains("--at-once 2 --profile=nsys"), "{line}");
    }

    #[test]
    fn what_has_no_flag_is_told() {
        let mut session = session(&["tract"], &[1]);
        session.plan.measure.max_samples = 7;
        session.plan.model = "it's here/a b.onnx".to_owned();
        let command = repeat_command(&session).unwrap();
        assert_eq!(command.without_option.len(), 1);
        assert!(command.line().contains(r"'it'\''s here/a b.onnx'"));
        session.imported = Some(powerband_core::domain::profile::Tool::default());
        assert_eq!(repeat_command(&session), None);
    }
}
