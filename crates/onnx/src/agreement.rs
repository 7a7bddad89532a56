//! Which of a file's statements about its inner values hold for given inputs.
//!
//! Exporters leave the shapes behind that they saw, and names for what was open. An engine that optimises for one
//! shape of the inputs takes such a statement for a promise, and fails where it is another than what follows from
//! the inputs. `infer` says what follows.

use std::collections::BTreeSet;

use crate::pb::ModelProto;
use crate::{infer, proto};
use powerband_core::domain::model::Dim;
use powerband_core::domain::tensor::TensorSpec;

/// The inner values whose stated shape is closed, and the one that follows from the inputs where one does.
pub fn agreeing(mut model: ModelProto, inputs: &[TensorSpec]) -> BTreeSet<String> {
    let Some(graph) = &mut model.graph else {
        return BTreeSet::new();
    };
    // Inference believes what the file states; here that is the question.
    let stated = std::mem::take(&mut graph.value_info);
    let known = infer::infer(&model, inputs);
    let agrees = stated.into_iter().filter(|value| {
        let Some(dims) = proto::stated_dims(value) else {
            // A type without a shape is never wrong.
            return true;
        };
        let closed: Option<Vec<usize>> = dims
            .into_iter()
            .map(|dim| match dim {
                Dim::Fixed(size) => Some(size),
                Dim::Named(_) => None,
            })
            .collect();
        let follows = known.get(&value.name);
        closed.is_some_and(|closed| follows.is_none_or(|dims| *dims == closed))
    });
    agrees.map(|value| value.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::testing::TestGraph;
    use powerband_core::domain::tensor::ElementType;

    #[test]
    fn names_and_other_sizes_do_not_hold() {
        let graph = TestGraph::new(&[("x", &[1, 4])])
            .node("Relu", "x", "a", &[])
            .node("Relu", "a", "b", &[])
            .node("Relu", "b", "c", &[])
            .node("Mystery", "c", "d", &[])
            .node("Mystery", "c", "e", &[])
            .stated("a", &["batch", "4"])
            .stated("b", &["1", "4"])
            .stated("c", &["3", "4"])
            .stated("d", &["7"])
            .stated("e", &["7", ""]);
        let spec = |batch| TensorSpec::new("x", ElementType::F32, vec![batch, 4]);
        let names = |batch| {
            let names = agreeing(graph.model(), &[spec(batch)]);
            names.into_iter().collect::<Vec<_>>().join(" ")
        };
        assert_eq!((names(1), names(3)), ("b d".to_owned(), "c d".to_owned()));
    }
}
