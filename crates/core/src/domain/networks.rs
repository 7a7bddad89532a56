//! The built-in networks, known before they are made: `assets/networks.json`, as a test of `crates/onnx/src/facts.rs` renews it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::model::ModelSummary;

/// Summaries by name: `resnet18@cifar`.
pub static BUILT_IN: LazyLock<BTreeMap<String, ModelSummary>> = LazyLock::new(|| {
    let text = include_str!("../../../../assets/networks.json");
    serde_json::from_str(text).unwrap_or_default()
});
