//! What options of the command line say of a plan, put into its fields.

use super::arrival_mode::ArrivalMode;
use super::draft::{Draft, DraftSetup, PlanError, number};
use super::fields::PlanField;
use powerband_core::base::humanize;
use powerband_core::domain::plan::WorkerLifetime;
use powerband_core::domain::point::BATCH;
use powerband_core::domain::sweep::SweepError;

/// Options with their values, in the order of the list of fields; a switch has an empty one.
pub type GivenOptions = Vec<(PlanField, String)>;

/// Whether the value of an option can be read, or why not.
pub fn check_option(field: PlanField, text: &str) -> Result<(), String> {
    let mut draft = Draft {
        setups: vec![DraftSetup::default()],
        ..Draft::default()
    };
    set(&mut draft, field, text)?;
    let errors = draft.request().err().into_iter().flatten();
    let own = errors.into_iter().find(|error| error.field == field);
    own.map_or(Ok(()), |error| Err(error.text))
}

impl Draft {
    /// The plan with what options say in place of what it has.
    pub fn with_options(mut self, given: &[(PlanField, String)]) -> Result<Self, PlanError> {
        let is_given = |field| given.iter().any(|(given, _)| *given == field);
        if is_given(PlanField::Batches) || is_given(PlanField::Sweeps) {
            self.batches.clear();
            self.sweeps.clear();
        }
        for (field, text) in given {
            set(&mut self, *field, text).map_err(|text| PlanError::new(*field, text))?;
        }
        if is_given(PlanField::Batches) && self.sweeps_bind_batch() {
            let text = SweepError::Twice(BATCH.to_owned()).to_string();
            return Err(PlanError::new(PlanField::Sweeps, text));
        }
        Ok(self)
    }
}

/// Puts the value of an option into its field, or says why it cannot be read.
fn set(draft: &mut Draft, field: PlanField, text: &str) -> Result<(), String> {
    match field {
        PlanField::Steps => draft.journey = true,
        PlanField::Preset => draft.preset = text.parse()?,
        PlanField::Spacing => draft.spacing = Some(text.parse()?),
        PlanField::Blocks => draft.blocks = true,
        PlanField::Arrivals => draft.requests = ArrivalMode::of_option(text)?,
        PlanField::Energy => draft.energy = true,
        PlanField::Accuracy if text == "0" => {
            return Err(
                "--accuracy=0 compares nothing; give a number of inputs, for example --accuracy=64"
                    .to_owned(),
            );
        }
        PlanField::Accuracy => {
            draft.accuracy = true;
            draft.inputs = Some(number(text, "number of inputs", 1..=u64::MAX)?);
        }
        PlanField::Profile => draft.profile = Some(text.parse()?),
        PlanField::ProfileStarts => {
            draft.profile_starts = Some(number(text, "number of starts", 1..=100)?);
        }
        PlanField::OneAtATime => draft.keeping = WorkerLifetime::OneAtATime,
        PlanField::MachinesAtOnce => {
            let machines = number(text, "number of machines", 2..=1000)?;
            draft.keeping = WorkerLifetime::MachinesAtOnce(machines);
        }
        PlanField::Seed => draft.seed = Some(number(text, "seed", 0..=u64::MAX)?),
        PlanField::Timeout => {
            draft.timeout_s = Some(number(text, "number of seconds", 1..=86_400)?);
        }
        PlanField::Label(place) if place >= draft.setups.len() => {
            return Err(format!(
                "there are {} for {}; leave --label {text} out",
                humanize::pluralised(place as u64 + 1, "label"),
                humanize::pluralised(draft.setups.len() as u64, "setup"),
            ));
        }
        _ => type_text(draft, field, text)?,
    }
    Ok(())
}

/// Puts a text into its field; of several, one a line.
fn type_text(draft: &mut Draft, field: PlanField, text: &str) -> Result<(), String> {
    let may_be_empty = matches!(field, PlanField::Name | PlanField::Label(_));
    if text.trim().is_empty() && !may_be_empty {
        return Err("nothing is written".to_owned());
    }
    match field {
        PlanField::Setup(place) if place >= draft.setups.len() => {
            draft.setups.resize(place + 1, DraftSetup::default());
        }
        PlanField::Rate if draft.requests == ArrivalMode::OneByOne => {
            draft.requests = ArrivalMode::AtRandom;
        }
        PlanField::Samples => draft.accuracy = true,
        _ => {}
    }
    let is_list = matches!(
        field,
        PlanField::Sweeps
            | PlanField::Dims
            | PlanField::Shapes
            | PlanField::Fills
            | PlanField::BatchAxis
    );
    if let Some(own) = draft.text_mut(field) {
        if is_list && !own.is_empty() {
            own.push('\n');
        } else {
            own.clear();
        }
        own.push_str(text);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_cannot_be_read_is_refused_with_its_reason() {
        for (field, wrong, right, says) in [
            (PlanField::Setup(0), "caffe", "rten", "no engine"),
            (PlanField::Batches, "0", "1..8", "no batch size"),
            (PlanField::Batches, "", "1", "nothing"),
            (PlanField::Sweeps, "seq", "seq=1", "sweep"),
            (PlanField::Dims, "n", "n=seq", "n=batch"),
            (PlanField::Shapes, "x", "x=Nx3", "x"),
            (PlanField::Fills, "x", "x=ones", "x"),
            (PlanField::BatchAxis, "=1", "x=1", "batch axis"),
            (PlanField::Preset, "slow", "quick", "no preset"),
            (PlanField::Rounds, "0", "1000", "1 to 1000"),
            (PlanField::Spacing, "soon", "5s", "500ms"),
            (PlanField::Rate, "nan", "12.5", "requests a second"),
            (PlanField::Arrivals, "bursts", "constant", "poisson"),
            (PlanField::Accuracy, "0", "64", "compares nothing"),
            (PlanField::Profile, "perf", "nsys", "no profiler"),
            (PlanField::ProfileStarts, "101", "5", "1 to 100"),
            (PlanField::MachinesAtOnce, "1", "2", "2 to 1000"),
            (PlanField::Seed, "-1", "0", "seed"),
            (PlanField::Timeout, "0", "86400", "1 to 86400"),
        ] {
            let said = check_option(field, wrong).unwrap_err();
            assert!(said.contains(says), "{said}");
            assert_eq!(check_option(field, right), Ok(()), "{right}");
        }
    }

    #[test]
    fn options_stand_in_place_of_what_a_plan_has() {
        let ladder = Draft {
            batches: "1, 4".to_owned(),
            sweeps: "past=0".to_owned(),
            name: "Ready-made".to_owned(),
            ..Draft::default()
        };
        let with = |given: &[(PlanField, &str)]| {
            let given = given.iter();
            let given = given.map(|(field, text)| (*field, (*text).to_owned()));
            ladder.clone().with_options(&given.collect::<Vec<_>>())
        };
        let plan = with(&[(PlanField::Sweeps, "seq=1"), (PlanField::Sweeps, "new=2")]).unwrap();
        assert_eq!(
            (plan.batches.as_str(), plan.sweeps.as_str()),
            ("", "seq=1\nnew=2")
        );
        let plan = with(&[(PlanField::Samples, "pictures"), (PlanField::Rate, "5")]).unwrap();
        assert_eq!(
            (plan.batches, plan.name),
            (ladder.batches.clone(), ladder.name.clone())
        );
        assert!(plan.accuracy && plan.requests == ArrivalMode::AtRandom);
        for (given, says) in [
            (
                [(PlanField::Batches, "1"), (PlanField::Sweeps, "batch=2")],
                "two lists of sizes",
            ),
            (
                [(PlanField::Setup(0), "rten"), (PlanField::Label(1), "b")],
                "2 labels for 1 setup",
            ),
        ] {
            let said = with(&given).unwrap_err().to_string();
            assert!(said.contains(says), "{said}");
        }
    }
}
