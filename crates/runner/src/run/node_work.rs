//! The work of the nodes that a profile of our own run timed.
//!
//! The file says what its nodes are and, with the sizes of the case, what each has to do; the look at the
//! engine's graph says which of them became one. Where a node of the profile stands for none of the file, what
//! the profile itself recorded of it stays.

use std::collections::HashMap;
use std::path::Path;

use powerband_core::domain::examination::{Examination, PreparedNode};
use powerband_core::domain::profile::{Profile, Total};
use powerband_core::domain::tensor::TensorSpec;
use powerband_core::domain::trace::SliceKind;
use powerband_core::domain::work::{NumberFormat, Work};
use powerband_onnx::cost::work::GraphWork;
use powerband_onnx::{file, fusion, infer};

/// Larger files are not read once more for this.
const MOST_BYTES: u64 = 4 << 30;

/// Tells each node of a profile its work.
pub(super) fn fill(
    profile: &mut Profile,
    model: &Path,
    inputs: &[TensorSpec],
    examination: Option<&Examination>,
) {
    let is_small = model
        .metadata()
        .is_ok_and(|known| known.len() <= MOST_BYTES);
    let Some(mut model) = is_small.then(|| file::load(model).ok()).flatten() else {
        return;
    };
    // As the engine's graph was looked at.
    fusion::name_nodes(&mut model);
    let shapes = infer::infer(&model, inputs);
    let graph = GraphWork::new(&model, &shapes);
    drop(model);
    let became: HashMap<&str, &PreparedNode> = examination
        .iter()
        .flat_map(|examination| &examination.fusions.became)
        .map(|became| (became.node.as_str(), became))
        .collect();
    let knows_groups = !became.is_empty();
    let is_node = |total: &&mut Total| total.kind == SliceKind::Kernel;
    for total in profile.totals.iter_mut().filter(is_node) {
        let group = became.get(total.name.as_str());
        let work = match group {
            Some(group) => group_work(&graph, group),
            None if knows_groups => None,
            None => same_node(&graph, total),
        };
        if let Some(work) = work {
            total.work = Some(work.times(total.calls));
        }
    }
}

/// The work of the nodes that became one.
fn group_work(graph: &GraphWork, became: &PreparedNode) -> Option<Work> {
    let names: Vec<&str> = became
        .from
        .iter()
        .map(|origin| origin.name.as_str())
        .collect();
    let is_quantised = became.op.starts_with("QLinear")
        || became.op.contains("Integer")
        || became.op.starts_with("QGemm")
        || became.op.starts_with("DynamicQuantizeMatMul");
    graph.group(&names, is_quantised.then_some(NumberFormat::Int8))
}

/// The work of the node of that name, where the engine calls it the same kind.
fn same_node(graph: &GraphWork, total: &Total) -> Option<Work> {
    let op = graph.op(&total.name)?;
    (op == total.op).then(|| graph.node(&total.name)).flatten()
}
