//! `trtexec --exportLayerInfo`: what each layer of an engine is. It has no times: they come from a
//! profile of the same run. `trtexec_graph` makes the graph of it.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::nvidia::trtexec_graph;
use crate::reading::head::FileHead;
use crate::reading::json;
use crate::reading::json::Object;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported, Layer};

/// Where layers of TensorRT run.
pub(crate) const PLACE: &str = "TensorRT";
pub(crate) const FORMAT: Format = Format {
    id: "trtexec-layers",
    title: "layers of a TensorRT engine",
    tool: "trtexec",
    name_ends: &[".graph.json"],
    recognises,
    read,
};

fn recognises(head: &FileHead) -> bool {
    let is_first = |key: &str| {
        head.json()
            .and_then(|text| text.trim_start().strip_prefix('{'))
            .is_some_and(|rest| rest.trim_start().starts_with(key))
    };
    !head.is_list()
        && head.has_key("Layers")
        && (is_first("\"Layers\"") || is_first("\"Bindings\"") || head.has_key("LayerType"))
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let value = source.json(&text, FORMAT.title, into)?;
    let empty = Vec::new();
    let layers = value
        .get("Layers")
        .and_then(Value::as_array)
        .unwrap_or(&empty);
    watch.tick(source.bytes())?;
    into.fact("layers", layers.len().to_string());
    let mut types: BTreeMap<String, u64> = BTreeMap::new();
    let mut bare = 0;
    for layer in layers.iter().filter_map(layer_of) {
        if layer.kind.is_empty() {
            bare += 1;
        } else {
            *types.entry(layer.kind.clone()).or_default() += 1;
        }
        into.layers.push(layer);
    }
    for (kind, count) in types {
        into.fact(&format!("layers of type {kind}"), count.to_string());
    }
    if bare > 0 {
        into.note(format!(
            "{bare} layers of {} have names alone; build the engine with --profilingVerbosity=detailed to get their types",
            source.name()
        ));
    }
    bindings(&value, layers, into);
    let bound = value.get("Bindings").and_then(Value::as_array);
    let bound: Vec<&str> = bound
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    into.network = into
        .network
        .take()
        .or_else(|| trtexec_graph::network(layers, &bound));
    join(into);
    if into.totals.is_empty() {
        into.note(format!(
            "{} has no times: its layers are listed without them. Read it together with the file of --exportProfile",
            source.name()
        ));
    }
    Ok(())
}

/// One layer: an object, or a name alone.
fn layer_of(value: &Value) -> Option<Layer> {
    if let Some(name) = value.as_str() {
        return Some(Layer {
            name: name.to_owned(),
            ..Layer::default()
        });
    }
    let layer = value.as_object()?;
    let outputs = layer.get("Outputs").and_then(Value::as_array);
    let outputs: Vec<String> = outputs
        .into_iter()
        .flatten()
        .filter_map(|tensor| shape_of(tensor.as_object()?))
        .collect();
    Some(Layer {
        name: json::text_of(layer, "Name")?.to_owned(),
        kind: json::text_of(layer, "LayerType")
            .unwrap_or_default()
            .to_owned(),
        outputs: outputs.join(" and "),
    })
}

/// Shape and format of a tensor: `[32, 3, 224, 224] Row major linear FP32`.
fn shape_of(tensor: &Object) -> Option<String> {
    let dims = json::value_text(tensor.get("Dimensions")?);
    let kind = json::text_of(tensor, "Format/Datatype").unwrap_or_default();
    Some(format!("[{dims}] {kind}").trim().to_owned())
}

/// Inputs and outputs of the engine, with their shapes where a layer has them.
fn bindings(value: &Value, layers: &[Value], into: &mut Imported) {
    let mut shapes: HashMap<&str, String> = HashMap::new();
    for tensor in layers.iter().flat_map(tensors) {
        if let (Some(name), Some(shape)) = (json::text_of(tensor, "Name"), shape_of(tensor)) {
            shapes.entry(name).or_insert(shape);
        }
    }
    let names = value.get("Bindings").and_then(Value::as_array);
    for name in names.into_iter().flatten().filter_map(Value::as_str) {
        let shape = shapes.get(name).map_or("", |shape| shape.as_str());
        into.fact("binding", format!("{name} {shape}").trim());
    }
}

/// All that goes into a layer and comes out of it.
fn tensors(layer: &Value) -> impl Iterator<Item = &Object> {
    ["Inputs", "Outputs"]
        .into_iter()
        .filter_map(|key| layer.get(key)?.as_array())
        .flatten()
        .filter_map(Value::as_object)
}

/// Layers without known times: name, type and outputs of each.
pub(crate) fn facts_of_layers(imported: &Imported) -> Vec<(String, String)> {
    let has_times = imported.totals.iter().any(|total| total.place == PLACE);
    let layers = imported.layers.iter().filter(|_| !has_times);
    let fact = |layer: &Layer| {
        let told = [layer.kind.as_str(), layer.outputs.as_str()];
        let told: Vec<&str> = told.into_iter().filter(|text| !text.is_empty()).collect();
        let told = match told.as_slice() {
            [] => "type not known".to_owned(),
            told => told.join(", "),
        };
        (format!("layer {}", layer.name), told)
    };
    layers.map(fact).collect()
}

/// Gives layers with known times the types from another file of the run.
pub fn join(into: &mut Imported) {
    let mut types: HashMap<&str, &str> = HashMap::new();
    let mut is_double = false;
    let told = into.layers.iter().filter(|layer| !layer.kind.is_empty());
    for Layer { name, kind, .. } in told {
        is_double |= *types.entry(name).or_insert(kind) != kind;
    }
    if types.is_empty() {
        return;
    }
    let mut without = 0;
    for total in into.totals.iter_mut().filter(|total| total.place == PLACE) {
        match types.get(total.name.as_str()) {
            Some(kind) => (*kind).clone_into(&mut total.op),
            None => without += 1,
        }
    }
    if without > 0 {
        into.note(format!(
            "{without} layers of the profile are not among those of the engine; the two files may be of different engines"
        ));
    }
    if is_double {
        into.note("some layers of different types have one name; they count as the first of them");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::source::Limits;
    use crate::testing;
    use powerband_core::domain::network::NodeKind;

    const FILE: &str = "tensorrt/resnet-a100-fp16.graph.json";
    const PROFILE: &str = "tensorrt/resnet-a100-fp16.profile.json";

    fn fact<'a>(imported: &'a Imported, name: &str) -> Vec<&'a str> {
        let facts = imported.facts.iter().filter(|fact| fact.0 == name);
        facts.map(|fact| fact.1.as_str()).collect()
    }

    #[test]
    fn alone_it_tells_what_there_is_and_no_times() {
        let imported = testing::fixture(FILE);
        assert!(imported.totals.is_empty());
        assert_eq!(fact(&imported, "layers"), ["36"]);
        let types = [
            "CaskConvolution",
            "NoOp",
            "Reformat",
            "CudaPooling",
            "CaskPooling",
        ];
        let counts = types.map(|kind| fact(&imported, &format!("layers of type {kind}")).concat());
        assert_eq!(counts, ["21", "11", "2", "1", "1"]);
        let bindings = fact(&imported, "binding");
        assert_eq!(
            bindings[0],
            "input.1 [32, 3, 224, 224] Row major linear FP32"
        );
        assert!(bindings[1].starts_with("191"));
        assert!(imported.notes[0].contains("--exportProfile"));
        let facts = facts_of_layers(&imported);
        assert_eq!(facts.len(), 36);
        let expected = (
            "layer MaxPool_2".to_owned(),
            "CudaPooling, [32, 64, 56, 56] Channel major FP16 format where channel % 8 == 0"
                .to_owned(),
        );
        assert_eq!(facts[2], expected);
    }

    #[test]
    fn with_a_profile_layers_have_types_in_either_order() {
        for names in [[FILE, PROFILE], [PROFILE, FILE]] {
            let mut both = Imported::default();
            for name in names {
                let path = testing::path(name);
                crate::add(
                    &path,
                    Limits::default(),
                    &ReadProgress::default(),
                    &mut both,
                )
                .unwrap();
            }
            assert_eq!(both.totals.len(), 36);
            assert!(facts_of_layers(&both).is_empty());
            let of = |op: &str| -> Vec<u64> {
                let some = both.totals.iter().filter(|total| total.op == op);
                some.map(|total| total.total_ns).collect()
            };
            assert_eq!(
                (of("CaskConvolution").len(), of("NoOp").len(), of("").len()),
                (21, 11, 0)
            );
            assert_eq!(of("NoOp").iter().sum::<u64>(), 0);
        }
    }

    #[test]
    fn the_graph_has_a_node_for_every_time_and_edges_by_tensors() {
        let mut both = Imported::default();
        for name in [PROFILE, FILE] {
            let path = testing::path(name);
            let (limits, watch) = (Limits::default(), ReadProgress::default());
            crate::add(&path, limits, &watch, &mut both).unwrap();
        }
        let network = both.network.unwrap();
        let of_kind = |kind| network.nodes.iter().filter(move |node| node.kind == kind);
        // Of two bindings, one is read and one written.
        let counts = [NodeKind::Input, NodeKind::Operator, NodeKind::Output]
            .map(|kind| of_kind(kind).count());
        assert_eq!(counts, [1, 36, 1]);
        let names: Vec<&str> = of_kind(NodeKind::Operator)
            .map(|node| node.name.as_str())
            .collect();
        assert!(
            both.totals
                .iter()
                .all(|total| names.contains(&total.name.as_str()))
        );
        assert!(network.edges.iter().all(|edge| edge.from < edge.to));
        // Every layer reads something, and only the output is read by none.
        let is_joined = |place: usize| network.edges.iter().any(|edge| edge.to == place);
        assert!((1..network.nodes.len()).all(is_joined));
        let conv = network
            .nodes
            .iter()
            .position(|node| node.name == "Conv_0 + Relu_1");
        let node = &network.nodes[conv.unwrap()];
        assert_eq!(node.outputs, ["32×64×112×112"]);
        assert_eq!(node.weights[0].bytes, 2 * 9408);
        assert!(node.attributes.contains(&("Stride".into(), "2, 2".into())));
        let read = network
            .edges
            .iter()
            .find(|edge| Some(edge.to) == conv)
            .unwrap();
        assert_eq!(read.bytes, Some(32 * 3 * 224 * 224 * 2));
        assert_eq!(network.edges.len(), 45);
    }

    #[test]
    fn names_alone_are_said_to_be_names_alone() {
        let imported =
            testing::imported(r#"{"Layers": ["conv1", "conv2"], "Bindings": ["x", "y"]}"#).unwrap();
        assert_eq!(fact(&imported, "layers"), ["2"]);
        assert!(imported.notes[0].contains("--profilingVerbosity=detailed"));
        assert_eq!(fact(&imported, "binding"), ["x", "y"]);
        let network = imported.network.unwrap();
        assert_eq!((network.nodes.len(), network.edges.len()), (2, 1));
        assert!(network.notes[0].contains("in the order in which they ran"));
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(FILE)[..4000]);
        assert!(
            testing::imported("{\"Layers\": []}")
                .unwrap()
                .totals
                .is_empty()
        );
    }
}
