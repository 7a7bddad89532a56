//! The dimensions of a plan's sweep: which there are, and their sizes in the plan's text.

use super::{Draft, ModelFacts, Planner, parse_batches, show_batches};
use powerband_core::domain::model::{Dim, Port};
use powerband_core::domain::point::BATCH;
use powerband_core::domain::setup::{Setup, TASK_KEY};
use powerband_core::domain::sizes;
use powerband_onnx::batch_axis::BatchAxes;
use powerband_planning::lengths::{NEW, PROMPT, USUAL_NEW, USUAL_PROMPT};

/// Sizes that a click adds or takes out: of the batch, of most dimensions, and of those that count what is there
/// already.
const BATCHES: [usize; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
const SIZES: [usize; 8] = [16, 32, 64, 128, 256, 512, 1_024, 2_048];
const SIZES_FROM_ZERO: [usize; 8] = [0, 32, 64, 128, 256, 512, 1_024, 2_048];

/// What inputs for past keys and values begin with.
const CACHE: &str = "past";

/// One dimension of the sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweptDim {
    /// What it is called.
    pub name: String,
    /// The sizes that are in the plan, ascending.
    pub sizes: Vec<usize>,
    /// The sizes that are offered.
    pub offered: &'static [usize],
    /// The size that is measured where the plan has none.
    pub usual: Option<usize>,
}

impl SweptDim {
    /// What people call it; the sweep has its name.
    pub fn title(&self) -> String {
        match self.name.as_str() {
            PROMPT => "Tokens of the prompt (prompt)".to_owned(),
            NEW => "New tokens (new)".to_owned(),
            name => name.to_owned(),
        }
    }

    /// Whether a size is measured: the plan has it, or it has none and this is the usual one.
    pub fn measures(&self, size: usize) -> bool {
        self.sizes.contains(&size) || (self.sizes.is_empty() && self.usual == Some(size))
    }
}

impl Planner {
    /// The batch.
    pub fn batch_dimension(&self) -> SweptDim {
        SweptDim {
            name: BATCH.to_owned(),
            sizes: sizes_of(&self.draft, BATCH),
            offered: &BATCHES,
            usual: None,
        }
    }

    /// Whether the setups measure whole requests, where the model is a decoder with a cache or any of them does;
    /// nothing within where they differ.
    pub fn whole_requests(&self) -> Option<Option<bool>> {
        let setups = self.draft.setups.iter();
        let tasks = setups.filter_map(|setup| setup.spec.parse::<Setup>().ok());
        // A setup that trains takes no part.
        let tasks = tasks.filter(|setup| {
            let own = setup.options.get(TASK_KEY);
            own.is_none() || setup.is_generate_task()
        });
        let tasks: Vec<bool> = tasks.map(|setup| setup.is_generate_task()).collect();
        let has_cache = matches!(
            &self.facts,
            ModelFacts::Known(summary) if summary.inputs.iter().any(|input| input.name.starts_with(CACHE))
        );
        let first = *tasks.first()?;
        let is_one = tasks.iter().all(|task| *task == first);
        (has_cache || tasks.contains(&true)).then_some(is_one.then_some(first))
    }

    /// Whether there are dimensions to be swept beside the batch.
    pub(super) fn has_sweeps(&self) -> bool {
        !self.draft.sweeps.is_empty() || !self.swept_dimensions().is_empty()
    }

    /// The sizes that a click adds.
    pub(super) fn offered_sizes(&self) -> Vec<(String, usize)> {
        let dimensions = self.swept_dimensions().into_iter();
        let sizes = dimensions.flat_map(|dimension| {
            let offered = dimension.offered.iter();
            offered.map(move |size| (dimension.name.clone(), *size))
        });
        sizes.collect()
    }

    /// The dimensions beside the batch: those that the model leaves open, or the lengths of requests where a setup
    /// generates, and those that the plan has.
    pub fn swept_dimensions(&self) -> Vec<SweptDim> {
        let mut names: Vec<String> = Vec::new();
        let setups = self.draft.setups.iter();
        let specs = setups.filter_map(|setup| setup.spec.parse::<Setup>().ok());
        if specs.into_iter().any(|setup| setup.is_generate_task()) {
            names.extend([PROMPT, NEW].map(str::to_owned));
        } else if let ModelFacts::Known(summary) = &self.facts {
            names.extend(open_dimensions(&summary.inputs));
        }
        let lines = self.draft.sweeps.lines().filter_map(line);
        names.extend(lines.map(|(name, _)| name.to_owned()));
        let mut known: Vec<SweptDim> = Vec::new();
        for name in names {
            if name != BATCH && known.iter().all(|one| one.name != name) {
                known.push(SweptDim {
                    usual: match name.as_str() {
                        PROMPT => Some(USUAL_PROMPT),
                        NEW => Some(USUAL_NEW),
                        _ => None,
                    },
                    sizes: sizes_of(&self.draft, &name),
                    offered: if name.contains("past") {
                        &SIZES_FROM_ZERO
                    } else {
                        &SIZES
                    },
                    name,
                });
            }
        }
        known
    }
}

/// The names of dimensions that a model leaves open, without the batch and without sums of others, which follow.
fn open_dimensions(inputs: &[Port]) -> Vec<String> {
    let Ok(axes) = BatchAxes::find(inputs, &[]) else {
        return Vec::new();
    };
    let is_name = |name: &str| {
        let is_part = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
        !name.is_empty() && name.chars().all(is_part) && !name.starts_with("total_")
    };
    let open = inputs.iter().flat_map(|port| {
        let dims = port.dims.iter().enumerate();
        let axes = &axes;
        dims.filter_map(move |(index, dim)| match dim {
            Dim::Named(name) if !axes.takes(&port.name, index) => Some(name.clone()),
            _ => None,
        })
    });
    open.filter(|name| is_name(name)).collect()
}

/// The dimension and the sizes of a line that has one dimension.
fn line(line: &str) -> Option<(&str, &str)> {
    let (name, sizes) = line.split_once('=')?;
    (!sizes.contains('+')).then(|| (name.trim(), sizes.trim()))
}

fn sizes_of(draft: &Draft, dimension: &str) -> Vec<usize> {
    if dimension == BATCH {
        return parse_batches(&draft.batches).unwrap_or_default();
    }
    let mut lines = draft.sweeps.lines().filter_map(line);
    let own = lines.find(|(name, _)| *name == dimension);
    own.and_then(|(name, text)| sizes::parse(name, text).ok())
        .unwrap_or_default()
}

/// Adds a size of a dimension, or takes it out. Lines with several dimensions stay as they are.
pub(super) fn toggle(draft: &mut Draft, dimension: &str, size: usize) {
    let mut chosen = sizes_of(draft, dimension);
    match chosen.iter().position(|&have| have == size) {
        Some(place) => {
            chosen.remove(place);
        }
        None => chosen.push(size),
    }
    chosen.sort_unstable();
    if dimension == BATCH {
        draft.batches = show_batches(&chosen);
        return;
    }
    let text: Vec<String> = chosen.iter().map(ToString::to_string).collect();
    let new = (!chosen.is_empty()).then(|| format!("{dimension}={}", text.join(",")));
    let is_own = |text: &str| line(text).is_some_and(|(name, _)| name == dimension);
    let mut lines: Vec<String> = Vec::new();
    let mut new = new;
    for text in draft.sweeps.lines() {
        if is_own(text) {
            lines.extend(new.take());
        } else {
            lines.push(text.to_owned());
        }
    }
    lines.extend(new);
    draft.sweeps = lines.join("\n");
}

/// Takes sizes out that nothing has after the task was chosen: lengths of requests where none are measured, and else
/// dimensions of the model. Lines with several dimensions stay as they are.
pub(super) fn fit_task(draft: &mut Draft, measures_requests: bool) {
    let fits = |text: &&str| {
        line(text).is_none_or(|(name, _)| [PROMPT, NEW].contains(&name) == measures_requests)
    };
    let lines: Vec<&str> = draft.sweeps.lines().filter(fits).collect();
    draft.sweeps = lines.join("\n");
}

#[cfg(test)]
mod tests {
    use super::super::{DraftSetup, PlanEdit};
    use super::*;
    use powerband_core::domain::tensor::ElementType;

    #[test]
    fn sizes_are_added_to_the_text_and_taken_out() {
        let mut draft = Draft::default();
        toggle(&mut draft, "sequence", 128);
        toggle(&mut draft, "sequence", 32);
        toggle(&mut draft, "past", 0);
        assert_eq!(draft.sweeps, "sequence=32,128\npast=0");
        toggle(&mut draft, "sequence", 128);
        assert_eq!(draft.sweeps, "sequence=32\npast=0");
        toggle(&mut draft, "sequence", 32);
        assert_eq!(draft.sweeps, "past=0");
        "heads=2,4+width=8,16\nsequence=16..64".clone_into(&mut draft.sweeps);
        toggle(&mut draft, "sequence", 128);
        assert_eq!(
            draft.sweeps, "heads=2,4+width=8,16\nsequence=16,32,64,128",
            "pairs stay as they are"
        );
    }

    #[test]
    fn the_task_is_chosen_for_all_setups_at_once() {
        let setup = |spec: &str| DraftSetup {
            spec: spec.to_owned(),
            ..DraftSetup::default()
        };
        let mut planner = Planner::new(Draft {
            setups: vec![
                setup("ort:cpu"),
                setup("rten:cpu,task=generate"),
                setup("torch:cpu,task=train"),
            ],
            ..Draft::default()
        });
        let specs = |planner: &Planner| {
            let setups = planner.draft.setups.iter();
            setups.map(|setup| setup.spec.clone()).collect::<Vec<_>>()
        };
        assert_eq!(planner.whole_requests(), Some(None), "they differ");
        let sizes = "sequence=32\nprompt=64\nheads=2,4+width=8,16";
        sizes.clone_into(&mut planner.draft.sweeps);
        planner.edit(PlanEdit::WholeRequests(true));
        assert_eq!(planner.draft.sweeps, "prompt=64\nheads=2,4+width=8,16");
        let trains = "torch:cpu,task=train";
        let whole = ["ort:cpu,task=generate", "rten:cpu,task=generate", trains];
        assert_eq!(specs(&planner), whole);
        assert_eq!(planner.whole_requests(), Some(Some(true)));
        planner.edit(PlanEdit::WholeRequests(false));
        assert_eq!(specs(&planner), ["ort:cpu", "rten:cpu", trains]);
        assert_eq!(planner.whole_requests(), None, "of no language model");
        assert_eq!(planner.draft.sweeps, "heads=2,4+width=8,16");
    }

    #[test]
    fn a_setup_that_generates_has_the_lengths_of_its_requests() {
        let mut planner = Planner::default();
        planner.draft.setups = vec![DraftSetup {
            spec: "ort,task=generate".to_owned(),
            ..DraftSetup::default()
        }];
        let names: Vec<String> = planner
            .swept_dimensions()
            .into_iter()
            .map(|dim| dim.name)
            .collect();
        assert_eq!(names, ["prompt", "new"]);
    }

    #[test]
    fn open_dimensions_are_offered_and_sums_are_not() {
        let port = |name: &str, dims: &[&str]| Port {
            name: name.to_owned(),
            dims: dims
                .iter()
                .map(|dim| Dim::Named((*dim).to_owned()))
                .collect(),
            element: ElementType::I64,
            recurrent: None,
        };
        let inputs = [
            port("ids", &["batch", "sequence"]),
            port("mask", &["batch", "past + sequence"]),
            port("keys", &["batch", "past"]),
        ];
        assert_eq!(open_dimensions(&inputs), ["sequence", "past"]);
    }
}
