//! A plan as the user types it, and the request it makes once it is valid.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::arrival_mode::ArrivalMode;
use super::fields::PlanField;
use super::slips::{self, Fix};
use crate::engine_options;
use powerband_core::domain::case::CaseKey;
use powerband_core::domain::fill::parse_input;
use powerband_core::domain::input_sizes::InputSizes;
use powerband_core::domain::input_sizes::{NamedDim, parse_batch_axes};
use powerband_core::domain::plan::{
    AccuracyCheck, Load, PresetName, Profiler, SetupStyle, WorkerLifetime,
};
use powerband_core::domain::point::DEFAULT_BATCHES;
use powerband_core::domain::point::{BATCH, Point};
use powerband_core::domain::request::{ProgramTrust, Rules, RunRequest};
use powerband_core::domain::session::Session;
use powerband_core::domain::session_name;
use powerband_core::domain::setup::{Setup, SetupError};
use powerband_core::domain::sizes;
use powerband_core::domain::spacing::Spacing;
use powerband_core::domain::sweep::{self, SweepError};
use powerband_onnx::shapes;

/// One row of the plan's setups, as the user types it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DraftSetup {
    /// Its spelling: `ort:cpu,threads=2`.
    pub spec: String,
    /// The user's name for it; empty for none.
    pub label: String,
    /// The colour that the user chose.
    pub colour: Option<usize>,
}

/// A plan as the user types it. It may be invalid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Draft {
    /// Name of the session; empty for the model's.
    pub name: String,
    /// Whether the name came with a plan for its model, and goes when the model is changed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub name_goes_with_model: bool,
    /// A built-in network or a file.
    pub model: String,
    /// Ways to run it; none for every engine that is here.
    pub setups: Vec<DraftSetup>,
    /// Batch sizes as `1,2,4` or `1..64`; empty for the usual ones, or the one that the model fixes.
    pub batches: String,
    /// Sizes of other dimensions, one `seq=128..2048` a line.
    pub sweeps: String,
    /// What the sweep calls dimensions that the model calls otherwise, one `n=seq` a line.
    pub dims: String,
    /// Whether the setups are optimisation steps.
    pub journey: bool,
    /// The preset.
    pub preset: PresetName,
    /// Rounds, where the preset's are not wanted; empty for the preset's.
    pub rounds: String,
    /// How far rounds of a case lie apart; nothing for the preset's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spacing: Option<Spacing>,
    /// Whether each case is measured longer before the next has its turn.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub blocks: bool,
    /// How requests arrive.
    pub requests: ArrivalMode,
    /// Requests per second, in an open loop.
    pub rate: String,
    /// Whether every case is measured long enough for its energy.
    pub energy: bool,
    /// Whether the setups' outputs are compared with the float network.
    pub accuracy: bool,
    /// Inputs of the user's own for that; empty for made-up ones.
    pub samples: String,
    /// How many inputs; nothing for the usual number.
    pub inputs: Option<u64>,
    /// The profiler of each case after all measurements; `None` for no profile.
    pub profile: Option<Profiler>,
    /// Starts in which each case is profiled; nothing for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile_starts: Option<u32>,
    /// Shapes for inputs that the model leaves open, one `name=1x3x224x224` a line.
    pub shapes: String,
    /// Which dimensions are the batch, with commas between; empty for those that are called so, or the
    /// first.
    pub batch_axis: String,
    /// What inputs are filled with, one `name=ones` a line; empty where their use says it.
    pub fills: String,
    /// Rules of a session that is run again, for as long as the preset is not touched.
    pub rules: Option<Rules>,
    /// Whether workers of a repeated session stay alive together.
    pub keeping: WorkerLifetime,
    /// Its seed; nothing for a new one.
    pub seed: Option<u64>,
    /// How long a worker may be silent in any phase, in seconds; nothing for the preset's limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<u64>,
}

impl Default for Draft {
    fn default() -> Self {
        Self::of_request(&RunRequest {
            points: Some(DEFAULT_BATCHES.map(Point::of_batch).to_vec()),
            ..RunRequest::new("resnet50")
        })
    }
}

/// Batch sizes of a plan that shows what a larger one brings.
const LARGER_BATCHES: u32 = 4;
/// Choices of how many starts are profiled.
pub const PROFILE_STARTS: [u32; 4] = [1, 3, 5, 10];
/// What is wrong with a plan that names no model.
const NO_MODEL: &str = "choose a built-in network or an ONNX file";

impl Draft {
    /// The plan of a session, to be run again; or why there is none.
    pub fn from_session(session: &Session) -> Result<Self, String> {
        if !session.plan.can_run() {
            return Err(format!(
                "{} was not measured by Powerband: there is no plan to run again",
                session.name
            ));
        }
        let made = session_name::of_plan(&session.model.name, &session.plan);
        Ok(Self::of_request(&RunRequest {
            // A name that was made is made anew, by what the plan is then.
            name: Some(session.name.clone()).filter(|name| *name != made),
            ..RunRequest::from_plan(&session.plan)
        }))
    }

    /// A plan of the setup of a case over its batch size and larger ones, with a profile of each; or why there is none.
    pub fn of_larger_batches(session: &Session, case: CaseKey) -> Result<Self, String> {
        let setup = session.plan.setups.get(case.setup);
        let setup = setup.filter(|_| session.plan.can_run());
        let setup = setup.ok_or("the session was not measured by Powerband")?;
        let points = (0..LARGER_BATCHES).map(|step| {
            let batch = case.point.batch() << step;
            let others = case.point.others();
            Point::new(std::iter::once((BATCH, batch)).chain(others))
        });
        Ok(Self::of_request(&RunRequest {
            name: None,
            setups: vec![setup.clone()],
            looks: Vec::new(),
            points: Some(points.collect()),
            journey: false,
            experiments: None,
            rules: None,
            rounds: None,
            preset: PresetName::Quick,
            ..RunRequest::from_plan(&session.plan)
        }))
    }

    /// The request as a draft, to change or run.
    pub fn of_request(request: &RunRequest) -> Self {
        let looks = request
            .looks
            .iter()
            .cloned()
            .chain(std::iter::repeat(SetupStyle::default()));
        let points = request.points.as_deref();
        let (batches, sweeps) = points.map_or_else(Default::default, sweep_fields);
        let options = request.sizes.options();
        let sizes = |field: PlanField, separator: &str| {
            let own = options.iter();
            let own =
                own.filter(|(option, _)| option.trim_start_matches('-') == field.info().option);
            let values: Vec<&str> = own.map(|(_, value)| value.as_str()).collect();
            values.join(separator)
        };
        let judging = request.judging.as_ref();
        Self {
            name: request.name.clone().unwrap_or_default(),
            name_goes_with_model: request.name.is_some(),
            model: request.model.clone(),
            setups: request
                .setups
                .iter()
                .zip(looks)
                .map(|(setup, look)| DraftSetup {
                    spec: setup.to_string(),
                    label: look.label.unwrap_or_default(),
                    colour: look.colour,
                })
                .collect(),
            batches,
            sweeps,
            dims: sizes(PlanField::Dims, "\n"),
            journey: request.journey,
            preset: request.preset,
            rounds: request.rounds.map_or_else(String::new, |n| n.to_string()),
            spacing: request.spacing,
            blocks: request.blocks,
            requests: match request.load {
                Load::Closed => ArrivalMode::OneByOne,
                Load::Constant { .. } => ArrivalMode::Evenly,
                Load::Poisson { .. } => ArrivalMode::AtRandom,
            },
            rate: request
                .load
                .offered_per_s()
                .map_or_else(String::new, |per_s| per_s.to_string()),
            energy: request.energy,
            accuracy: judging.is_some(),
            inputs: judging.map(|judging| judging.inputs),
            samples: judging
                .and_then(|judging| judging.samples.clone())
                .unwrap_or_default(),
            profile: request.profiling,
            profile_starts: request.profile_starts,
            shapes: sizes(PlanField::Shapes, "\n"),
            batch_axis: sizes(PlanField::BatchAxis, ", "),
            fills: sizes(PlanField::Fills, "\n"),
            rules: request.rules.clone(),
            keeping: request.keeping,
            seed: request.seed,
            timeout_s: request.timeout_s,
        }
    }

    /// The text of a field, to be changed; nothing where there is no such setup.
    pub fn text_mut(&mut self, field: PlanField) -> Option<&mut String> {
        Some(match field {
            PlanField::Name => &mut self.name,
            PlanField::Model => &mut self.model,
            PlanField::Setup(place) => &mut self.setups.get_mut(place)?.spec,
            PlanField::Label(place) => &mut self.setups.get_mut(place)?.label,
            PlanField::Batches => &mut self.batches,
            PlanField::Sweeps => &mut self.sweeps,
            PlanField::Dims => &mut self.dims,
            PlanField::Rounds => &mut self.rounds,
            PlanField::Rate => &mut self.rate,
            PlanField::Samples => &mut self.samples,
            PlanField::Shapes => &mut self.shapes,
            PlanField::BatchAxis => &mut self.batch_axis,
            PlanField::Fills => &mut self.fills,
            _ => return None,
        })
    }

    /// The request to prepare, or every error with its field. Whose programs it trusts, and which experiments its
    /// setups are, no field says.
    pub fn request(&self) -> Result<RunRequest, Vec<PlanError>> {
        let mut faults = Vec::new();
        let setups = self.setups.iter().enumerate();
        let setups = setups.filter_map(|(place, draft)| {
            let setup = check_setup(&draft.spec).map(Some);
            field_value(&mut faults, PlanField::Setup(place), setup)
        });
        let setups = setups.collect();
        let points = self.points().unwrap_or_else(|(field, error)| {
            faults.push((field, error.to_string()));
            None
        });
        let dims = lines(&self.dims).map(str::parse::<NamedDim>).collect();
        let dims = field_value(&mut faults, PlanField::Dims, dims);
        let rounds = field_value(&mut faults, PlanField::Rounds, parse_rounds(&self.rounds));
        let load = field_value(&mut faults, PlanField::Rate, self.load());
        let shapes = lines(&self.shapes).map(shapes::parse_override).collect();
        let shapes = field_value(&mut faults, PlanField::Shapes, shapes);
        let batch_axis = parse_batch_axes(&self.batch_axis);
        let batch_axis = field_value(&mut faults, PlanField::BatchAxis, batch_axis);
        let fills = lines(&self.fills).map(parse_input).collect();
        let fills = field_value(&mut faults, PlanField::Fills, fills);
        if self.model.trim().is_empty() {
            faults.push((PlanField::Model, NO_MODEL.to_owned()));
        }
        if !faults.is_empty() {
            let errors = faults.into_iter().map(|(field, text)| PlanError {
                fix: match field {
                    PlanField::Setup(place) => slips::fix(&self.setups[place].spec),
                    _ => None,
                },
                ..PlanError::new(field, text)
            });
            return Err(errors.collect());
        }
        // Each field by its name, so that none is forgotten.
        Ok(RunRequest {
            model: self.model.trim().to_owned(),
            setups,
            looks: self.looks(),
            points,
            journey: self.journey,
            sizes: InputSizes {
                shapes,
                batch_axis,
                dims,
                fills,
            },
            preset: self.preset,
            rules: self.rules.clone(),
            rounds,
            spacing: self.spacing,
            blocks: self.blocks,
            timeout_s: self.timeout_s,
            seed: self.seed,
            load,
            keeping: self.keeping,
            energy: self.energy,
            judging: self.judging(),
            profiling: self.profile,
            profile_starts: self.profile_starts.filter(|_| self.profile.is_some()),
            programs: ProgramTrust::default(),
            experiments: None,
            name: Some(self.name.trim().to_owned()).filter(|name| !name.is_empty()),
        })
    }

    /// The number of machines that its setups ask for.
    pub fn machine_count(&self) -> usize {
        let setups = self.setups.iter();
        let setups: Vec<Setup> = setups.filter_map(|setup| setup.spec.parse().ok()).collect();
        let machines: BTreeSet<_> = setups.iter().map(Setup::machine_options).collect();
        machines.len()
    }

    /// Whether its machines are measured at the same time.
    pub fn measures_machines_at_once(&self) -> bool {
        matches!(self.keeping, WorkerLifetime::MachinesAtOnce(_))
    }

    /// The points of the sweep, if it has any; or what cannot be read and where.
    fn points(&self) -> Result<Option<Vec<Point>>, (PlanField, SweepError)> {
        let has_batches = !self.batches.trim().is_empty();
        let has_sweeps = lines(&self.sweeps).next().is_some();
        let batches = has_batches.then(|| format!("{BATCH}={}", self.batches));
        let of_batches = sweep::parse(batches.as_deref());
        let of_batches = of_batches.map_err(|error| (PlanField::Batches, error))?;
        let others =
            sweep::parse(lines(&self.sweeps)).map_err(|error| (PlanField::Sweeps, error))?;
        // A line that binds the batch stands in place of the batch sizes.
        if !has_batches || self.sweeps_bind_batch() {
            return Ok(has_sweeps.then_some(others));
        }
        let with_others = |point: &Point| {
            let batch = point.batch();
            others.iter().map(move |other| other.with_batch(batch))
        };
        Ok(Some(of_batches.iter().flat_map(with_others).collect()))
    }

    /// Whether a line of the sweep has sizes of the batch.
    pub(super) fn sweeps_bind_batch(&self) -> bool {
        let mut parts = lines(&self.sweeps).flat_map(|line| line.split('+'));
        parts.any(|part| part.trim().starts_with("batch="))
    }

    fn load(&self) -> Result<Load, String> {
        if self.requests == ArrivalMode::OneByOne {
            return Ok(Load::Closed);
        }
        if self.rate.trim().is_empty() {
            return Err("enter the rate in requests per second".to_owned());
        }
        let per_s = self.rate.trim().parse().unwrap_or(f64::NAN);
        Load::arriving(per_s, self.requests == ArrivalMode::AtRandom)
            .map_err(|problem| format!("a rate {problem}"))
    }

    fn judging(&self) -> Option<AccuracyCheck> {
        let samples = Some(self.samples.trim().to_owned()).filter(|path| !path.is_empty());
        self.accuracy.then_some(AccuracyCheck {
            inputs: self.inputs.unwrap_or(AccuracyCheck::USUAL),
            samples,
        })
    }

    /// How setups are shown, up to the last one of which something is said.
    fn looks(&self) -> Vec<SetupStyle> {
        let setups = self.setups.iter();
        let mut looks: Vec<SetupStyle> = setups
            .map(|draft| SetupStyle {
                label: Some(draft.label.trim().to_owned()).filter(|label| !label.is_empty()),
                colour: draft.colour,
            })
            .collect();
        let is_said = |look: &SetupStyle| *look != SetupStyle::default();
        looks.truncate(looks.iter().rposition(is_said).map_or(0, |last| last + 1));
        looks
    }
}

/// The value of a field; its default where it cannot be read, with the error among the faults.
fn field_value<T: Default>(
    faults: &mut Vec<(PlanField, String)>,
    field: PlanField,
    read: Result<T, impl ToString>,
) -> T {
    read.unwrap_or_else(|error| {
        faults.push((field, error.to_string()));
        T::default()
    })
}

/// Lines that say something.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// The points as batch sizes, and as lines for the other dimensions.
fn sweep_fields(points: &[Point]) -> (String, String) {
    let mut batches: Vec<usize> = points.iter().copied().map(Point::batch).collect();
    batches.sort_unstable();
    batches.dedup();
    let sweeps = sweep::show(points);
    let is_of_batch = |sweep: &&String| !sweep.contains('+') && sweep.starts_with("batch=");
    let others: Vec<&str> = sweeps
        .iter()
        .filter(|sweep| !is_of_batch(sweep))
        .map(String::as_str)
        .collect();
    (sizes::show(&batches), others.join("\n"))
}

/// An error of the plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct PlanError {
    /// Where.
    pub field: PlanField,
    /// The problem and the fix.
    pub text: String,
    /// What a slip in a setup means.
    pub fix: Option<Fix>,
}

impl PlanError {
    pub(super) fn new(field: PlanField, text: String) -> Self {
        Self {
            field,
            text,
            fix: None,
        }
    }
}

/// A setup that its engine accepts, or why not.
fn check_setup(spec: &str) -> Result<Setup, String> {
    let setup: Setup = spec
        .trim()
        .parse()
        .map_err(|error: SetupError| error.to_string())?;
    engine_options::setup_fault(&setup).map_or(Ok(setup), Err)
}

fn parse_rounds(text: &str) -> Result<Option<u32>, String> {
    match text.trim() {
        "" => Ok(None),
        text => number(text, "number of rounds", 1..=1000).map(Some),
    }
}

/// A number from such to such, or what is wrong with it.
pub(super) fn number<T: FromStr + PartialOrd + Display>(
    text: &str,
    what: &str,
    allowed: RangeInclusive<T>,
) -> Result<T, String> {
    let number = text.trim().parse().ok();
    number
        .filter(|number| allowed.contains(number))
        .ok_or_else(|| {
            let (least, most) = (allowed.start(), allowed.end());
            format!("\"{text}\" is no {what}; give {least} to {most}")
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::fill::Fill;

    #[test]
    fn every_fault_names_its_field() {
        let draft = Draft {
            model: " ".to_owned(),
            setups: vec![DraftSetup {
                spec: "nonsense".to_owned(),
                ..DraftSetup::default()
            }],
            batches: "0".to_owned(),
            rounds: "x".to_owned(),
            requests: ArrivalMode::AtRandom,
            ..Draft::default()
        };
        let fields: Vec<PlanField> = draft
            .request()
            .unwrap_err()
            .iter()
            .map(|fault| fault.field)
            .collect();
        assert_eq!(
            fields,
            [
                PlanField::Setup(0),
                PlanField::Batches,
                PlanField::Rounds,
                PlanField::Rate,
                PlanField::Model
            ]
        );
    }

    #[test]
    fn what_a_session_was_measured_by_is_in_the_plan_to_run_it_again() {
        let request = RunRequest {
            setups: vec!["rten:cpu,threads=1".parse().unwrap()],
            looks: vec![SetupStyle {
                label: Some("alone".to_owned()),
                colour: Some(3),
            }],
            points: Some([1, 4].map(Point::of_batch).to_vec()),
            journey: true,
            sizes: InputSizes {
                shapes: [("input".to_owned(), vec![1, 8])].into(),
                fills: [("input".to_owned(), Fill::Range { from: 3 })].into(),
                ..InputSizes::default()
            },
            preset: PresetName::Quick,
            rounds: Some(7),
            spacing: Some("250ms".parse().unwrap()),
            blocks: true,
            timeout_s: Some(30),
            seed: Some(11),
            load: Load::Constant { per_s: 12.5 },
            keeping: WorkerLifetime::OneAtATime,
            energy: true,
            judging: Some(AccuracyCheck {
                inputs: 512,
                samples: Some("pictures".to_owned()),
            }),
            profiling: Some(Profiler::Engine),
            profile_starts: Some(3),
            name: Some("again".to_owned()),
            ..RunRequest::new("resnet18")
        };
        assert_eq!(Draft::of_request(&request).request(), Ok(request.clone()));
        let poisson = RunRequest {
            load: Load::Poisson { per_s: 0.5 },
            ..request
        };
        assert_eq!(Draft::of_request(&poisson).request(), Ok(poisson));
        let bare = RunRequest {
            keeping: WorkerLifetime::MachinesAtOnce(8),
            ..RunRequest::new("resnet18")
        };
        assert_eq!(Draft::of_request(&bare).request(), Ok(bare));
    }
}
