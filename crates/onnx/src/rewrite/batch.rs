//! Fixes the batch: the dimensions of the inputs that take it become a number.
//!
//! Some engines plan better, and some run at all, where every size is known. A model comes in and a
//! model goes out; weights and nodes stay as they are. Which dimensions are the batch is found by
//! `batch_axis`. What the file says of its inner values follows, corrected by `infer`.

use std::collections::BTreeMap;

use crate::pb::tensor_shape_proto::{Dimension, dimension};
use crate::pb::{GraphProto, ModelProto, TensorShapeProto, ValueInfoProto, type_proto};

use super::parts::node_label;
use super::{Counts, RewriteError, Rewritten};
use crate::batch_axis::BatchAxes;
use crate::infer::{self, Shapes};
use crate::{inspect, proto};
use powerband_core::domain::input_sizes::InputAxis;
use powerband_core::domain::model::{Dim, Port};
use powerband_core::domain::tensor::TensorSpec;

/// Rewrites a network to one batch size; `chosen` is what the user says of which dimension that is.
pub fn rewrite(
    model: &ModelProto,
    batch: usize,
    chosen: &[InputAxis],
) -> Result<Rewritten, RewriteError> {
    if model.graph.is_none() {
        return Err(RewriteError::NoGraph);
    }
    let size = match i64::try_from(batch) {
        Ok(size) if size > 0 => size,
        _ => return Err(RewriteError::NoBatch { asked: batch }),
    };
    let ports = inspect::inputs(model).map_err(|why| RewriteError::Input {
        why: why.to_string(),
    })?;
    let axes = BatchAxes::find(&ports, chosen).map_err(|why| RewriteError::Input {
        why: why.to_string(),
    })?;
    let mut new = model.clone();
    let mut notes = Vec::new();
    if axes.is_open(&ports) {
        let open = BatchDims { axes };
        if let Some(graph) = &mut new.graph {
            open.close_inputs(graph, &ports, size);
            open.close(graph, size);
        }
        check_stated_shapes(&mut new, &open, &ports, batch, &mut notes);
    } else {
        match axes.fixed(&ports) {
            Some(fixed) if fixed == batch => {
                notes.push(format!("The network's batch is {fixed} already"));
            }
            Some(fixed) => {
                return Err(RewriteError::FixedBatch {
                    fixed,
                    asked: batch,
                });
            }
            None => return Err(RewriteError::NoBatch { asked: batch }),
        }
    }
    Ok(Rewritten {
        model: new,
        notes,
        counts: Counts::default(),
    })
}

/// The dimensions that stand for the batch.
struct BatchDims {
    axes: BatchAxes,
}

impl BatchDims {
    /// Closes the dimensions of inputs, with or without a name.
    fn close_inputs(&self, graph: &mut GraphProto, ports: &[Port], size: i64) {
        for port in ports {
            let stated = graph.input.iter_mut().find(|value| value.name == port.name);
            let Some(shape) = stated.and_then(shape_of) else {
                continue;
            };
            for &axis in self.axes.of_input(&port.name) {
                let is_open = matches!(port.dims.get(axis), Some(Dim::Named(_)));
                if let Some(dim) = shape.dim.get_mut(axis).filter(|_| is_open) {
                    dim.value = Some(dimension::DimensionValue::DimValue(size));
                }
            }
        }
        graph
            .input
            .iter_mut()
            .for_each(|value| self.close_value(value, size));
    }

    /// Closes what goes by the name of the batch, in branches and loops too.
    fn close(&self, graph: &mut GraphProto, size: i64) {
        let values = graph.output.iter_mut().chain(&mut graph.value_info);
        values.for_each(|value| self.close_value(value, size));
        for attribute in graph.node.iter_mut().flat_map(|node| &mut node.attribute) {
            for inner in attribute.g.iter_mut().chain(&mut attribute.graphs) {
                inner
                    .input
                    .iter_mut()
                    .for_each(|value| self.close_value(value, size));
                self.close(inner, size);
            }
        }
    }

    fn close_value(&self, value: &mut ValueInfoProto, size: i64) {
        let dims = shape_of(value).into_iter().flat_map(|shape| &mut shape.dim);
        for dim in dims {
            if name_of(dim).is_some_and(|name| self.axes.names().contains(name)) {
                dim.value = Some(dimension::DimensionValue::DimValue(size));
            }
        }
    }

    /// Whether a dimension is worked out from the batch, as in `2*batch`.
    fn is_in(&self, dim: &Dimension) -> bool {
        let is_sign = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.');
        name_of(dim).is_some_and(|name| {
            name.split(is_sign)
                .any(|word| self.axes.names().contains(word))
        })
    }

    /// Full shapes of the inputs for a batch; nothing where other sizes are open too.
    fn specs(&self, ports: &[Port], batch: usize) -> Option<Vec<TensorSpec>> {
        let spec = |port: &Port| {
            let size = |(index, dim): (usize, &Dim)| match dim {
                Dim::Fixed(size) => Some(*size),
                Dim::Named(_) => self.axes.takes(&port.name, index).then_some(batch),
            };
            let dims = port.dims.iter().enumerate().map(size);
            Some(TensorSpec::new(
                port.name.as_str(),
                port.element,
                dims.collect::<Option<_>>()?,
            ))
        };
        ports.iter().map(spec).collect()
    }
}

fn name_of(dim: &Dimension) -> Option<&str> {
    match &dim.value {
        Some(dimension::DimensionValue::DimParam(name)) if !name.is_empty() => Some(name),
        _ => None,
    }
}

fn shape_of(value: &mut ValueInfoProto) -> Option<&mut TensorShapeProto> {
    match value.r#type.as_mut()?.value.as_mut()? {
        type_proto::TypeValue::TensorType(tensor) => tensor.shape.as_mut(),
        _ => None,
    }
}

/// Checks the shapes that the file states against those inferred from the inputs.
fn check_stated_shapes(
    model: &mut ModelProto,
    open: &BatchDims,
    ports: &[Port],
    batch: usize,
    notes: &mut Vec<String>,
) {
    let Some(graph) = &mut model.graph else {
        return;
    };
    // Inference believes what the file states; here that is the question.
    let mut inner = std::mem::take(&mut graph.value_info);
    let mut outputs = std::mem::take(&mut graph.output);
    let other = if batch == 1 { 2 } else { 1 };
    let at = |batch| {
        let specs = open.specs(ports, batch);
        specs.map(|specs| infer::infer(model, &specs))
    };
    let (known, elsewhere) = (at(batch), at(other));
    if let (Some(known), Some(elsewhere)) = (&known, &elsewhere) {
        notes.extend(misfit_note(model, known, elsewhere, batch));
    }
    let nothing = Shapes::new();
    let known = known.as_ref().unwrap_or(&nothing);
    inner.retain_mut(|value| {
        let agrees = known
            .get(&value.name)
            .is_none_or(|dims| fill_shape(value, dims));
        let dims = shape_of(value).map(|shape| shape.dim.as_slice());
        agrees && !dims.is_some_and(|dims| dims.iter().any(|dim| open.is_in(dim)))
    });
    for value in &mut outputs {
        let Some(dims) = known.get(&value.name) else {
            continue;
        };
        if !fill_shape(value, dims) {
            notes.push(format!(
                "The file stated another shape for output {:?} than it has for a batch of {batch}; it \
                 is corrected",
                value.name
            ));
            if let Some(shape) = shape_of(value) {
                shape.dim = vec![Dimension::default(); dims.len()];
            }
            fill_shape(value, dims);
        }
    }
    if let Some(graph) = &mut model.graph {
        graph.value_info = inner;
        graph.output = outputs;
    }
}

/// Fills the open dimensions of a value; returns whether the fixed ones agree.
fn fill_shape(value: &mut ValueInfoProto, dims: &[usize]) -> bool {
    let Some(shape) = shape_of(value) else {
        // No shape at all is never wrong.
        return true;
    };
    if shape.dim.len() != dims.len() {
        return false;
    }
    for (stated, &size) in shape.dim.iter_mut().zip(dims) {
        let size = size as i64;
        match stated.value {
            Some(dimension::DimensionValue::DimValue(known)) if known > 0 => {
                if known != size {
                    return false;
                }
            }
            _ => stated.value = Some(dimension::DimensionValue::DimValue(size)),
        }
    }
    true
}

/// A sentence where another batch can be followed further through the network than this one: a size
/// inside of it is fixed then, in a `Reshape` as a rule.
fn misfit_note(
    model: &ModelProto,
    known: &Shapes,
    elsewhere: &Shapes,
    batch: usize,
) -> Option<String> {
    let ends: BTreeMap<String, u64> = infer::unfollowed(model, known);
    let node = proto::nodes(model).iter().find(|node| {
        let output = node.output.first();
        ends.contains_key(&node.op_type)
            && output.is_some_and(|name| elsewhere.contains_key(name) && !known.contains_key(name))
    })?;
    Some(format!(
        "{} does not fit a batch of {batch}: a size inside of the network is fixed. Export it with \
         that batch, or with a batch that stays open throughout",
        node_label(node)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch_axis::fixed_batch;
    use crate::infer::testing::{TestGraph, port};
    use crate::pb::tensor_proto::DataType;
    use crate::zoo;

    fn shown(value: &ValueInfoProto) -> String {
        let dims = proto::stated_dims(value).unwrap();
        let dims: Vec<String> = dims.iter().map(ToString::to_string).collect();
        format!("{}:{}", value.name, dims.join("x"))
    }

    fn all(values: &[ValueInfoProto]) -> Vec<String> {
        values.iter().map(shown).collect()
    }

    /// A graph whose inputs and outputs are said as `x n 4`.
    fn model(graph: TestGraph, inputs: &[&str], outputs: &[&str]) -> ModelProto {
        let ports = |texts: &[&str]| -> Vec<ValueInfoProto> {
            let one = |text: &&str| {
                let words: Vec<&str> = text.split(' ').collect();
                port(words[0], DataType::Float, &words[1..])
            };
            texts.iter().map(one).collect()
        };
        let mut graph = graph;
        graph.graph.input = ports(inputs);
        graph.graph.output = ports(outputs);
        graph.model()
    }

    fn fixed(model: &ModelProto, batch: usize) -> (GraphProto, Vec<String>) {
        let done = rewrite(model, batch, &[]).unwrap();
        (done.model.graph.unwrap(), done.notes)
    }

    #[test]
    fn networks_of_the_zoo_have_one_batch() {
        for name in ["resnet18@cifar", "densenet121@cifar"] {
            let before = zoo::build(zoo::find(name).unwrap());
            let done = rewrite(&before, 8, &[]).unwrap();
            assert_eq!(done.notes, [""; 0], "{name}");
            let ports = inspect::inputs(&done.model).unwrap();
            assert_eq!(fixed_batch(&ports, &[]), Some(8));
            let (old, new) = (before.graph.unwrap(), done.model.graph.clone().unwrap());
            assert_eq!((&old.node, &old.initializer), (&new.node, &new.initializer));
            assert!(
                all(&new.output)[0].ends_with(":8x10"),
                "{:?}",
                all(&new.output)
            );
            let again = rewrite(&done.model, 8, &[]).unwrap();
            assert_eq!(again.model, done.model);
            assert_eq!(again.notes, ["The network's batch is 8 already"]);
            let message = rewrite(&done.model, 4, &[]).unwrap_err().to_string();
            assert!(
                message.contains("fixed at 8") && message.contains("batch of 4"),
                "{message}"
            );
        }
    }

    #[test]
    fn everything_of_that_name_is_fixed() {
        let graph = TestGraph::new(&[])
            .node("Mystery", "x m", "a b", &[])
            .node("Relu", "a", "y", &[])
            .stated("a", &["n", "seq"])
            .stated("b", &["2*n", "4"])
            .stated("c", &["batch_n", ""]);
        let made = model(graph, &["x n seq", "m 1 n", "w  4", "s"], &["y n seq"]);
        let (graph, notes) = fixed(&made, 3);
        assert_eq!(all(&graph.input), ["x:3xseq", "m:1x3", "w:3x4", "s:"]);
        assert_eq!(all(&graph.output), ["y:3xseq"]);
        assert_eq!(all(&graph.value_info), ["a:3xseq", "c:batch_nx?"]);
        assert_eq!(notes, [""; 0]);
    }

    #[test]
    fn what_follows_is_filled_in_and_what_contradicts_is_dropped() {
        let graph = TestGraph::new(&[])
            .weight("w", &[4, 5])
            .node("Relu", "x", "a", &[])
            .node("Relu", "a", "b", &[])
            .node("MatMul", "b w", "y", &[])
            .node("Relu", "y", "z", &[])
            .stated("a", &["", "4"])
            .stated("b", &["1", "4"]);
        let made = model(graph, &["x n 4"], &["y m 5", "z 1 5"]);
        let (graph, notes) = fixed(&made, 6);
        assert_eq!(all(&graph.value_info), ["a:6x4"]);
        assert_eq!(all(&graph.output), ["y:6x5", "z:6x5"]);
        assert_eq!(notes.len(), 1);
        assert!(notes[0].contains("output \"z\""), "{notes:?}");
    }

    #[test]
    fn a_size_that_is_fixed_inside_is_said() {
        let graph = TestGraph::new(&[])
            .ints("s", &[1, 16])
            .node("Relu", "x", "a", &[])
            .node("Reshape", "a s", "y", &[]);
        let made = model(graph, &["x n 4 4"], &["y n 16"]);
        assert_eq!(fixed(&made, 1).1, [""; 0]);
        let (_, notes) = fixed(&made, 2);
        assert!(
            notes[0].contains("Reshape \"y\" does not fit a batch of 2"),
            "{notes:?}"
        );
        let swallowed = TestGraph::new(&[])
            .weight("w", &[16, 3])
            .ints("s", &[1, -1])
            .node("Reshape", "x s", "a", &[])
            .node("MatMul", "a w", "y", &[]);
        let made = model(swallowed, &["x n 4 4"], &["y n 3"]);
        let (_, notes) = fixed(&made, 2);
        assert!(notes[0].contains("MatMul \"y\" does not fit"), "{notes:?}");
    }

    #[test]
    fn branches_and_loops_are_looked_into() {
        let inner = TestGraph::new(&[]).stated("q", &["n", "3"]).graph;
        let branch = crate::pb::AttributeProto {
            name: "then_branch".to_owned(),
            g: Some(inner),
            ..Default::default()
        };
        let graph = TestGraph::new(&[]).node("If", "x", "y", &[branch]);
        let (graph, _) = fixed(&model(graph, &["x n"], &["y n"]), 5);
        let inner = graph.node[0].attribute[0].g.as_ref().unwrap();
        assert_eq!(all(&inner.value_info), ["q:5x3"]);
    }

    #[test]
    fn what_has_no_batch_is_refused() {
        let refusal = |inputs: &[&str], batch| {
            let graph = TestGraph::new(&[]).node("Relu", "x", "y", &[]);
            let made = model(graph, inputs, &["y"]);
            rewrite(&made, batch, &[]).unwrap_err().to_string()
        };
        assert!(refusal(&["x 8 3"], 1).contains("fixed at 8"));
        assert!(refusal(&["x"], 1).contains("no input"));
        assert!(refusal(&["x 8", "y 4"], 2).contains("no input"));
        assert!(refusal(&["x n"], 0).contains("batch of 0"));
        assert_eq!(
            rewrite(&ModelProto::default(), 1, &[]).unwrap_err(),
            RewriteError::NoGraph
        );
    }
}
