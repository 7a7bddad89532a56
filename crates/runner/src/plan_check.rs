//! What a run of a plan would refuse, found without its weights, its engines or a worker.
//!
//! The window asks after each change of the plan; `prepare` asks the same functions before a run, so that both say
//! the same. Blocks while networks are read.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::case_inputs::{self, CaseInputs, NetworkInputs};
use crate::input_specs;
use crate::prepare_error::PrepareError;
use powerband_core::domain::input_sizes::InputAxis;
use powerband_core::domain::model::Port;
use powerband_core::domain::plan::Plan;
use powerband_core::domain::setup::Setup;
use powerband_onnx::batch_axis::BatchAxes;
use powerband_onnx::input_values::ValuesError;
use powerband_onnx::inspect;
use powerband_onnx::outline::Outline;
use powerband_planning::plan_check::{NamedSize, PlanCheck};
use powerband_planning::transport::SetupMachine;
use powerband_store::installation::Installation;
use powerband_worker::engines;

/// Outlines of networks that were read, by what the plan calls them.
#[derive(Debug, Default)]
pub struct OutlineCache {
    known: BTreeMap<String, Arc<Outline>>,
}

impl OutlineCache {
    /// The outline of a network, read where it is not known or its file changed.
    fn get(&mut self, name: &str) -> Result<Arc<Outline>, PrepareError> {
        if let Some(outline) = self.known.get(name).filter(|known| known.is_current()) {
            return Ok(Arc::clone(outline));
        }
        let outline = Arc::new(Outline::read(name)?);
        self.known.insert(name.to_owned(), Arc::clone(&outline));
        Ok(outline)
    }

    /// Forgets the networks that a plan does not name.
    fn keep_those_of(&mut self, plan: &Plan) {
        let own: Vec<&str> = plan.setups.iter().filter_map(Setup::own_model).collect();
        self.known
            .retain(|name, _| *name == plan.model || own.contains(&name.as_str()));
    }
}

/// What a run of the plan on this installation would refuse; `offered` are sizes that the user may add to it.
pub fn check(
    place: &Installation,
    plan: &Plan,
    offered: &[NamedSize],
    outlines: &mut OutlineCache,
) -> PlanCheck {
    outlines.keep_those_of(plan);
    let plan = &Plan {
        inputs: input_specs::with_whole_paths(&plan.inputs),
        ..plan.clone()
    };
    let refused = |error: PrepareError| PlanCheck {
        whole: Some(error.to_string()),
        ..PlanCheck::default()
    };
    let networks = match Networks::read(plan, outlines) {
        Ok(networks) => networks,
        Err(error) => return refused(error),
    };
    let checked = machines(place, plan)
        .and_then(|()| case_inputs::check_profiler(plan.profiling, &plan.setups))
        .and_then(|()| networks.inputs(plan));
    let sizes = refused_sizes(plan, offered, &networks);
    match checked {
        Err(error) => PlanCheck {
            sizes,
            ..refused(error)
        },
        Ok(found) => PlanCheck {
            whole: None,
            cases: found
                .inputs
                .into_iter()
                .filter_map(|(case, inputs)| Some((case, inputs.err()?)))
                .collect(),
            sizes,
        },
    }
}

/// Whether every machine of the plan is known.
fn machines(place: &Installation, plan: &Plan) -> Result<(), PrepareError> {
    plan.setups.iter().try_for_each(|setup| {
        let found = SetupMachine::of_setup(setup, &place.machines);
        found.map(drop).map_err(PrepareError::Machine)
    })
}

/// The sizes that are beyond a table of the network, beside the smallest other sizes of the plan, and why.
fn refused_sizes(
    plan: &Plan,
    offered: &[NamedSize],
    networks: &Networks,
) -> BTreeMap<NamedSize, String> {
    let refusal = |(name, size): &NamedSize| {
        let alone = Plan {
            points: vec![plan.first_point().with(name, *size)],
            ladder: Vec::new(),
            judging: None,
            ..plan.clone()
        };
        // Anything else is refused whatever the size.
        match networks.inputs(&alone).err()? {
            why @ PrepareError::Values(ValuesError::Excess(_)) => {
                Some(((name.clone(), *size), why.to_string()))
            }
            _ => None,
        }
    };
    offered.iter().filter_map(refusal).collect()
}

/// The networks of a plan with their inputs.
struct Networks {
    model: OpenOutline,
    /// Those of setups that name one of their own.
    own: BTreeMap<usize, OpenOutline>,
}

struct OpenOutline {
    outline: Arc<Outline>,
    ports: Vec<Port>,
    batch_axis: Vec<InputAxis>,
}

impl OpenOutline {
    fn read(
        name: &str,
        batch_axis: &[InputAxis],
        outlines: &mut OutlineCache,
    ) -> Result<Self, PrepareError> {
        let outline = outlines.get(name)?;
        Ok(Self {
            ports: inspect::inputs(&outline.proto)?,
            outline,
            batch_axis: batch_axis.to_vec(),
        })
    }

    fn network(&self) -> NetworkInputs<'_> {
        NetworkInputs {
            proto: &self.outline.proto,
            ports: &self.ports,
            batch_axis: &self.batch_axis,
        }
    }
}

impl Networks {
    fn read(plan: &Plan, outlines: &mut OutlineCache) -> Result<Self, PrepareError> {
        let model = OpenOutline::read(&plan.model, &plan.batch_axis, outlines)?;
        BatchAxes::find(&model.ports, &plan.batch_axis)?;
        let mut own = BTreeMap::new();
        for (place, setup) in plan.setups.iter().enumerate() {
            engines::check(setup)?;
            if let Some(name) = setup.own_model() {
                let read = OpenOutline::read(name, &plan.batch_axis, outlines)?;
                own.insert(place, read);
            }
        }
        Ok(Self { model, own })
    }

    fn inputs(&self, plan: &Plan) -> Result<CaseInputs, PrepareError> {
        let own = self.own.iter();
        let own = own.map(|(setup, read)| (*setup, read.network()));
        CaseInputs::find(plan, &self.model.network(), &own.collect())
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::prepare::prepare;
    use powerband_core::base::paths::Paths;
    use powerband_core::domain::case::CaseKey;
    use powerband_core::domain::fill::Fill;
    use powerband_core::domain::input_sizes::InputSizes;
    use powerband_core::domain::plan::AccuracyCheck;
    use powerband_core::domain::point::Point;
    use powerband_core::domain::request::ProgramTrust;
    use powerband_core::domain::request::RunRequest;
    use powerband_onnx::{file, zoo};
    use powerband_planning::plans;
    use powerband_store::settings::Settings;

    fn place(home: &std::path::Path) -> Installation {
        Installation::new(
            Paths::under(home),
            &Settings::default(),
            PathBuf::from("powerband"),
        )
    }

    /// A BERT of 512 positions as a file; the values of its weights are in no one's way here.
    fn bert(folder: &std::path::Path) -> String {
        let path = folder.join("bert.onnx");
        let outline = zoo::outline(zoo::find("minilm").unwrap());
        file::save(&path, &outline).unwrap();
        path.display().to_string()
    }

    fn request(model: &str, lengths: &[usize]) -> RunRequest {
        let point = |length: &usize| Point::of_batch(1).with("sequence", *length);
        RunRequest {
            setups: vec!["fake".parse().unwrap(), "fake,noise=2".parse().unwrap()],
            points: Some(lengths.iter().map(point).collect()),
            ..RunRequest::new(model)
        }
    }

    fn checked(place: &Installation, request: &RunRequest, offered: &[NamedSize]) -> PlanCheck {
        let plan = plans::plan(request.clone(), request.setups.clone(), &[], 10.0);
        check(place, &plan, offered, &mut OutlineCache::default())
    }

    #[test]
    fn a_plan_refuses_what_its_run_refuses_in_the_same_words() {
        let home = tempfile::tempdir().unwrap();
        let place = place(home.path());
        let model = bert(home.path());
        let too_long = request(&model, &[2_048]);
        let unknown = RunRequest {
            points: Some(vec![Point::of_batch(1).with("height", 3)]),
            ..too_long.clone()
        };
        let no_such_input = RunRequest {
            sizes: InputSizes {
                fills: [("nonesuch".to_owned(), Fill::Ones)].into(),
                ..InputSizes::default()
            },
            ..request(&model, &[128])
        };
        let no_samples = RunRequest {
            judging: Some(AccuracyCheck {
                inputs: 4,
                samples: Some(home.path().join("nothing").display().to_string()),
            }),
            ..request(&model, &[128])
        };
        let no_machine = RunRequest {
            setups: vec!["fake,where=nonesuch".parse().unwrap()],
            programs: ProgramTrust::Typed,
            ..request(&model, &[128])
        };
        let no_model = request("nonesuch", &[128]);
        for request in [
            too_long,
            unknown,
            no_such_input,
            no_samples,
            no_machine,
            no_model,
        ] {
            let refused = prepare(&place, &request).unwrap_err().to_string();
            assert_eq!(checked(&place, &request, &[]).whole, Some(refused));
        }
    }

    #[test]
    fn single_cases_are_refused_as_their_run_does_it() {
        let home = tempfile::tempdir().unwrap();
        let place = place(home.path());
        let request = request(&bert(home.path()), &[128, 512, 2_048]);
        let inputs = prepare(&place, &request).unwrap().inputs;
        let of_run: BTreeMap<CaseKey, String> = inputs
            .into_iter()
            .filter_map(|(case, inputs)| Some((case, inputs.err()?)))
            .collect();
        let found = checked(&place, &request, &[]);
        assert_eq!((found.whole, &found.cases), (None, &of_run));
        assert_eq!(of_run.len(), 2, "2,048 tokens, with each setup");
        assert!(
            of_run.values().all(|why| why.contains("which has 512")),
            "{of_run:?}"
        );
    }

    #[test]
    fn sizes_that_could_be_added_say_whether_the_network_takes_them() {
        let home = tempfile::tempdir().unwrap();
        let place = place(home.path());
        let offered: Vec<NamedSize> = [16, 512, 1_024, 2_048]
            .map(|size| ("sequence".to_owned(), size))
            .to_vec();
        for model in ["minilm", &bert(home.path())] {
            for lengths in [&[128][..], &[2_048]] {
                let found = checked(&place, &request(model, lengths), &offered);
                let refused: Vec<usize> = found.sizes.keys().map(|(_, size)| *size).collect();
                assert_eq!(refused, [1_024, 2_048], "{model}, {lengths:?}");
            }
        }
    }
}
