//! Which dimension of each input is the batch.
//!
//! Ports come from `inspect`, what the user says of them from the command line or the plan; `shapes`
//! fills the dimensions that are found here, and `rewrite::batch` fixes them. What the user says counts
//! first, then a dimension that is called batch, wherever it stands, then what a recurrent layer says of its
//! inputs; only where there is none of these is the first one taken. `note` says how it was found.

use std::collections::{BTreeMap, BTreeSet};

use super::shape_error::ShapeError;
use powerband_core::domain::input_sizes::InputAxis;
use powerband_core::domain::model::{Dim, Port};

/// Words that stand for the batch in the name of a dimension.
const BATCH_WORDS: [&str; 4] = ["batch", "batches", "batchsize", "batchdim"];
/// Names that stand for the batch where they are the whole name.
const BATCH_NAMES: [&str; 2] = ["n", "bs"];

/// Evidence for the batch dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AxisEvidence {
    /// The user said which dimension it is.
    Chosen,
    /// A dimension has a name of the batch.
    Called,
    /// None is called so, and a recurrent layer says which it is.
    Recurrent,
    /// None is called so, and the first dimension is taken.
    First,
}

/// The dimensions of a model's inputs that take the batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchAxes {
    /// The dimensions of each input by its name, ascending; an input without a batch has no entry.
    axes: BTreeMap<String, Vec<usize>>,
    /// Names of dimensions that stand for the batch.
    names: BTreeSet<String>,
    found: AxisEvidence,
}

impl BatchAxes {
    /// Finds the batch of these inputs; `chosen` is what the user says.
    pub fn find(inputs: &[Port], chosen: &[InputAxis]) -> Result<Self, ShapeError> {
        if !chosen.is_empty() {
            return Self::chosen(inputs, chosen);
        }
        let called: BTreeSet<String> = names_in(inputs)
            .filter(|name| is_called_batch(name))
            .map(str::to_owned)
            .collect();
        if called.is_empty() {
            let recurrent = inputs.iter().any(|port| port.recurrent.is_some());
            return Ok(if recurrent {
                Self::recurrent(inputs)
            } else {
                Self::first(inputs)
            });
        }
        let axes = nameless(inputs, &called);
        Ok(Self::new(inputs, called, &axes, AxisEvidence::Called))
    }

    /// The dimensions that recurrent layers take for the batch.
    fn recurrent(inputs: &[Port]) -> Self {
        let stated = |port: &Port| Some((port.name.clone(), port.recurrent.as_ref()?.batch?));
        let mut axes: Vec<(String, usize)> = inputs.iter().filter_map(stated).collect();
        let dims = axes.iter().filter_map(|(name, axis)| {
            let port = inputs.iter().find(|port| port.name == *name)?;
            name_of(port.dims.get(*axis)?).map(str::to_owned)
        });
        let names: BTreeSet<String> = dims.collect();
        axes.extend(nameless(inputs, &names));
        Self::new(inputs, names, &axes, AxisEvidence::Recurrent)
    }

    /// The dimensions that the user names.
    fn chosen(inputs: &[Port], chosen: &[InputAxis]) -> Result<Self, ShapeError> {
        let mut names = BTreeSet::new();
        let mut axes = Vec::new();
        for choice in chosen {
            match choice {
                InputAxis::Named(name) => {
                    if names_in(inputs).all(|known| known != name) {
                        return Err(ShapeError::UnknownBatchAxis {
                            name: name.clone(),
                            known: described(inputs),
                        });
                    }
                    names.insert(name.clone());
                }
                InputAxis::At { input, index } => {
                    let Some(port) = inputs.iter().find(|port| port.name == *input) else {
                        return Err(ShapeError::UnknownInput {
                            option: "--batch-axis",
                            name: input.clone(),
                            known: inputs.iter().map(|port| port.name.clone()).collect(),
                        });
                    };
                    let Some(dim) = port.dims.get(*index) else {
                        return Err(ShapeError::NoSuchAxis {
                            name: input.clone(),
                            index: *index,
                            port: port.describe(),
                        });
                    };
                    names.extend(name_of(dim).map(str::to_owned));
                    axes.push((input.clone(), *index));
                }
            }
        }
        Ok(Self::new(inputs, names, &axes, AxisEvidence::Chosen))
    }

    /// The first dimension of each input where one is open, or where all of them agree.
    fn first(inputs: &[Port]) -> Self {
        let firsts = || {
            inputs
                .iter()
                .filter_map(|port| Some((port, port.dims.first()?)))
        };
        let is_open = |dim: &Dim| matches!(dim, Dim::Named(_));
        let has_open = firsts().any(|(_, dim)| is_open(dim));
        let agree = firsts().all(|(_, dim)| firsts().all(|(_, other)| dim == other));
        let takes = |(_, dim): &(&Port, &Dim)| if has_open { is_open(dim) } else { agree };
        let taken: Vec<(&Port, &Dim)> = firsts().filter(takes).collect();
        let names = taken.iter().filter_map(|(_, dim)| name_of(dim));
        let names = names.map(str::to_owned).collect();
        let axes = taken.iter().map(|(port, _)| (port.name.clone(), 0));
        Self::new(
            inputs,
            names,
            &axes.collect::<Vec<_>>(),
            AxisEvidence::First,
        )
    }

    /// These axes, and every dimension that goes by one of the names.
    fn new(
        inputs: &[Port],
        names: BTreeSet<String>,
        axes: &[(String, usize)],
        found: AxisEvidence,
    ) -> Self {
        let mut all: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for port in inputs {
            let is_axis = |index: &usize| {
                let here = (port.name.clone(), *index);
                axes.contains(&here) || port.dims.get(*index).is_some_and(|d| is_one_of(d, &names))
            };
            let taken: Vec<usize> = (0..port.dims.len()).filter(is_axis).collect();
            if !taken.is_empty() {
                all.insert(port.name.clone(), taken);
            }
        }
        Self {
            axes: all,
            names,
            found,
        }
    }

    /// The dimensions of an input that take the batch.
    pub(crate) fn of_input(&self, input: &str) -> &[usize] {
        self.axes.get(input).map_or(&[], Vec::as_slice)
    }

    /// Whether this dimension of an input takes the batch.
    pub fn takes(&self, input: &str, index: usize) -> bool {
        self.of_input(input).contains(&index)
    }

    /// The batch axes as options, for a network in which the batch has a size and no name any more.
    pub fn as_chosen(&self) -> Vec<InputAxis> {
        let of_input = |(input, axes): (&String, &Vec<usize>)| {
            let at = |&index: &usize| InputAxis::At {
                input: input.clone(),
                index,
            };
            axes.iter().map(at).collect::<Vec<_>>()
        };
        self.axes.iter().flat_map(of_input).collect()
    }

    /// Names of dimensions that stand for the batch.
    pub fn names(&self) -> &BTreeSet<String> {
        &self.names
    }

    /// Whether some dimension that takes the batch is open.
    pub fn is_open(&self, inputs: &[Port]) -> bool {
        self.dims(inputs).any(|dim| matches!(dim, Dim::Named(_)))
    }

    /// The batch size that the file fixes: no dimension that takes it is open, and all of them agree.
    pub fn fixed(&self, inputs: &[Port]) -> Option<usize> {
        let mut agreed = None;
        for dim in self.dims(inputs) {
            match (dim, agreed) {
                (Dim::Fixed(size), None) => agreed = Some(*size),
                (Dim::Fixed(size), Some(before)) if *size == before => {}
                (Dim::Named(_), _) | (Dim::Fixed(_), Some(_)) => return None,
            }
        }
        agreed
    }

    /// Whether no dimension takes the batch.
    pub fn is_absent(&self) -> bool {
        self.axes.is_empty()
    }

    /// A sentence where no name says which dimension is the batch: that a recurrent layer does, or nothing but its
    /// place, so that it could be another.
    pub fn note(&self, inputs: &[Port]) -> Option<String> {
        if self.found == AxisEvidence::Recurrent {
            return inputs.iter().find_map(recurrent_note);
        }
        if self.found != AxisEvidence::First || !self.is_open(inputs) {
            return None;
        }
        let port = inputs.iter().find(|port| {
            let first = port.dims.first();
            self.takes(&port.name, 0) && first.is_some_and(|dim| matches!(dim, Dim::Named(_)))
        })?;
        let name = match port.dims.first().and_then(name_of) {
            Some(name) => format!(" ({name})"),
            None => String::new(),
        };
        Some(format!(
            "No dimension is called batch, so the first one{name} of input {} is taken for it: {}. \
             --batch-axis chooses another.",
            port.name,
            port.describe()
        ))
    }

    fn dims<'a>(&'a self, inputs: &'a [Port]) -> impl Iterator<Item = &'a Dim> {
        let of_port = |port: &'a Port| {
            let axes = self.of_input(&port.name).iter();
            axes.filter_map(|axis| port.dims.get(*axis))
        };
        inputs.iter().flat_map(of_port)
    }
}

/// The batch size that the file fixes, with the batch where the user says or where it is found.
pub fn fixed_batch(inputs: &[Port], chosen: &[InputAxis]) -> Option<usize> {
    BatchAxes::find(inputs, chosen).ok()?.fixed(inputs)
}

/// Whether a dimension's name says that it is the batch. What is worked out from it, as `2*batch`, is not.
fn is_called_batch(name: &str) -> bool {
    let name = name.to_lowercase();
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | ' ' | ':' | '/');
    if !name.chars().all(is_plain) {
        return false;
    }
    let words = name.split(|c: char| !c.is_alphanumeric());
    let stem = |word: &str| {
        word.trim_end_matches(|c: char| c.is_ascii_digit())
            .to_owned()
    };
    BATCH_NAMES.contains(&name.as_str())
        || words
            .map(stem)
            .any(|word| BATCH_WORDS.contains(&word.as_str()))
}

/// Beside inputs whose batch is known, an open first dimension without a name is taken for it too.
fn nameless(inputs: &[Port], batch_names: &BTreeSet<String>) -> Vec<(String, usize)> {
    let is_nameless = |dim: &Dim| matches!(dim, Dim::Named(name) if name.is_empty());
    let lacks_name = |port: &&Port| {
        port.recurrent.is_none()
            && port.dims.first().is_some_and(is_nameless)
            && !port.dims.iter().any(|dim| is_one_of(dim, batch_names))
    };
    let found = inputs.iter().filter(lacks_name);
    found.map(|port| (port.name.clone(), 0)).collect()
}

/// What a recurrent layer says of an input with steps.
fn recurrent_note(port: &Port) -> Option<String> {
    let axes = port.recurrent.as_ref()?;
    let dim = |axis: usize| {
        let name = port.dims.get(axis).and_then(name_of);
        let name = name.map_or_else(String::new, |name| format!(" ({name})"));
        format!("dimension {}{name}", axis + 1)
    };
    let time = dim(axes.time?);
    let batch = match axes.batch {
        Some(batch) => format!("{} as the batch", dim(batch)),
        None => "no dimension as the batch".to_owned(),
    };
    Some(format!(
        "{} takes {time} of input {} as the time and {batch}: {}. --batch-axis chooses another.",
        axes.operator,
        port.name,
        port.describe()
    ))
}

fn names_in(inputs: &[Port]) -> impl Iterator<Item = &str> {
    inputs
        .iter()
        .flat_map(|port| &port.dims)
        .filter_map(name_of)
}

/// The name of an open dimension; nothing for those without, which are all different.
pub(super) fn name_of(dim: &Dim) -> Option<&str> {
    match dim {
        Dim::Named(name) if !name.is_empty() => Some(name),
        _ => None,
    }
}

fn is_one_of(dim: &Dim, names: &BTreeSet<String>) -> bool {
    name_of(dim).is_some_and(|name| names.contains(name))
}

fn described(inputs: &[Port]) -> Vec<String> {
    let described = inputs
        .iter()
        .map(|port| format!("{}: {}", port.name, port.describe()));
    described.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::testing::ports;
    use powerband_core::domain::model::RecurrentAxes;

    fn chosen(texts: &[&str]) -> Vec<InputAxis> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[track_caller]
    fn axes(inputs: &[&str], choice: &[&str], expect: &[(&str, &[usize])]) {
        let found = BatchAxes::find(&ports(inputs), &chosen(choice)).unwrap();
        let found: Vec<(&str, &[usize])> = found
            .axes
            .iter()
            .map(|(name, axes)| (name.as_str(), axes.as_slice()))
            .collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn a_dimension_called_batch_is_the_batch_wherever_it_stands() {
        axes(&["x:time,batch,64"], &[], &[("x", &[1])]);
        axes(
            &["x:time,N,64", "h:2,N,128"],
            &[],
            &[("h", &[1]), ("x", &[1])],
        );
        axes(&["x:50,batch_size,64"], &[], &[("x", &[1])]);
        // Where another input names its batch, only what has no name at all is taken beside it.
        axes(
            &["x:batch,3", "pos:seq", "y:?,4"],
            &[],
            &[("x", &[0]), ("y", &[0])],
        );
        // What is worked out from the batch is not the batch.
        axes(&["x:batch,3", "y:2*batch,4"], &[], &[("x", &[0])]);
    }

    #[test]
    fn the_first_is_taken_where_none_is_called_so() {
        axes(&["x:time,rows,64"], &[], &[("x", &[0])]);
        axes(&["x:n_heads,rows"], &[], &[("x", &[0])]);
        axes(&["x:8,3", "y:8"], &[], &[("x", &[0]), ("y", &[0])]);
        axes(&["x:8,3", "y:4"], &[], &[]);
        axes(&["x:m,3", "y:1,m"], &[], &[("x", &[0]), ("y", &[1])]);
        let note = |inputs: &[&str]| {
            let inputs = ports(inputs);
            BatchAxes::find(&inputs, &[]).unwrap().note(&inputs)
        };
        assert_eq!(
            note(&["x:time,rows,64"]).unwrap(),
            "No dimension is called batch, so the first one (time) of input x is taken for it: float32 \
             time×rows×64. --batch-axis chooses another."
        );
        assert!(
            note(&["x:?,3,8,8"])
                .unwrap()
                .contains("the first one of input x")
        );
        assert_eq!(note(&["x:time,batch,64"]), None);
        assert_eq!(note(&["x:8,3"]), None);
    }

    #[test]
    fn a_recurrent_layer_says_what_no_name_does() {
        let taken = |inputs: &[&str], time: Option<usize>, batch: Option<usize>| {
            let mut inputs = ports(inputs);
            inputs[0].recurrent = Some(RecurrentAxes {
                operator: "LSTM".to_owned(),
                time,
                batch,
            });
            let axes = BatchAxes::find(&inputs, &[]).unwrap();
            let of_first = axes.of_input("x").to_vec();
            (of_first, axes.fixed(&inputs), axes.note(&inputs))
        };
        let (axes, fixed, note) = taken(&["x:?,?,64", "mask:?,5"], Some(0), Some(1));
        assert_eq!((axes, fixed), (vec![1], None));
        assert_eq!(
            note.unwrap(),
            "LSTM takes dimension 1 of input x as the time and dimension 2 as the batch: float32 ?×?×64. \
             --batch-axis chooses another."
        );
        let (axes, ..) = taken(&["x:rows,steps,64", "h:1,rows,64"], Some(1), Some(0));
        assert_eq!(axes, [0]);
        let (axes, fixed, _) = taken(&["x:50,8,64"], Some(0), Some(1));
        assert_eq!((axes, fixed), (vec![1], Some(8)));
        // Steps alone are no batch.
        let (axes, fixed, note) = taken(&["x:steps,576"], Some(0), None);
        assert_eq!((axes.len(), fixed), (0, None));
        assert!(note.unwrap().contains("no dimension as the batch"));
        // A name counts before.
        let (axes, _, note) = taken(&["x:batch,?,64"], Some(0), Some(1));
        assert_eq!((axes, note), (vec![0], None));
    }

    #[test]
    fn what_the_user_says_counts_first() {
        axes(&["x:time,rows,64"], &["rows"], &[("x", &[1])]);
        axes(
            &["x:?,?,64", "h:2,?,8"],
            &["x=1", "h=1"],
            &[("h", &[1]), ("x", &[1])],
        );
        axes(&["x:batch,seq"], &["seq"], &[("x", &[1])]);
        axes(&["x:50,8,64"], &["x=1"], &[("x", &[1])]);
        let fixed = |choice: &[&str]| fixed_batch(&ports(&["x:50,8,64"]), &chosen(choice));
        assert_eq!(fixed(&["x=1"]), Some(8));
        assert_eq!(fixed(&[]), Some(50));
        let refused = |choice: &str| {
            let error = BatchAxes::find(&ports(&["x:time,rows,64"]), &chosen(&[choice]));
            error.unwrap_err().to_string()
        };
        assert_eq!(
            refused("columns"),
            "--batch-axis names a dimension \"columns\" that no input has; they are x: float32 time×rows×64"
        );
        assert!(refused("y=0").contains("--batch-axis names an input \"y\""));
        assert!(
            refused("x=3").contains("counted from 0"),
            "{}",
            refused("x=3")
        );
    }

    #[test]
    fn batches_that_the_file_fixes() {
        let fixed = |inputs: &[&str]| fixed_batch(&ports(inputs), &[]);
        assert_eq!(fixed(&["x:8,3,32,32"]), Some(8));
        assert_eq!(fixed(&["x:8,3", "y:8", "s:"]), Some(8));
        assert_eq!(fixed(&["x:8,3", "y:4"]), None);
        assert_eq!(fixed(&["x:n,3", "y:1"]), None);
        assert_eq!(fixed(&["x:?,3"]), None);
        assert_eq!(fixed(&["s:"]), None);
        assert_eq!(fixed(&[]), None);
        assert_eq!(fixed(&["x:50,batch,64"]), None);
    }
}
