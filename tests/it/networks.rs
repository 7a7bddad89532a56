//! Built-in networks do what they are for, on ONNX Runtime and beside PyTorch.

use std::path::Path;
use std::process::Command;

use prost::Message as _;

use powerband_onnx::zoo;

use crate::support::{self, Home};

/// Most that two ways of adding up the same floats may differ, relative to the largest.
const TOLERANCE: f64 = 1e-4;

/// Decoding with a cache gives the logits of the whole text, however it is cut, and padding is not seen.
#[test]
fn a_decoder_with_a_cache_computes_what_the_one_without_does() {
    let Some(python) = support::torch_python() else {
        return;
    };
    for (name, words) in [("gpt2", "50257"), ("llama-tiny", "49152")] {
        let home = Home::new();
        let files = [name.to_owned(), format!("{name}-past")].map(|id| {
            let network = zoo::find(&id).expect("a built-in network");
            let bytes = zoo::build(network).encode_to_vec();
            home.write(&format!("{id}.onnx"), bytes)
        });
        let arguments = [&files[0], &files[1], Path::new(words)];
        let printed = printed_by(&python, include_str!("networks.py"), &arguments);
        let numbers: Vec<f64> = printed
            .split_whitespace()
            .map(|number| number.parse().expect("a number"))
            .collect();
        let [worst, largest] = numbers[..] else {
            panic!("{printed}");
        };
        assert!(
            largest > 0.1 && worst / largest < TOLERANCE,
            "{name}: {worst} of {largest}"
        );
    }
}

/// torchvision's networks take our weights, and compute what ONNX Runtime does with the file.
#[test]
fn networks_for_pictures_are_those_of_torchvision() {
    let Some(python) = support::torch_python() else {
        return;
    };
    let home = Home::new();
    for id in ["mobilenetv2", "efficientnet-b0", "vit-b16"] {
        let network = zoo::find(id).expect("a built-in network");
        let bytes = zoo::build(network).encode_to_vec();
        let file = home.write(&format!("{id}.onnx"), bytes);
        let worker = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/workers"));
        let script = "
import sys
sys.path.insert(0, sys.argv[3])
import onnxruntime
import torch
from torch_worker.networks import build_network
from torch_worker.recipe import Recipe

recipe = Recipe('cpu', 'cpu', frozenset(['eager']), {})
network = build_network(recipe, sys.argv[1], sys.argv[2])
assert not network.own_weights, network.notes
image = torch.randn(2, 3, 224, 224)
with torch.no_grad():
    expected = network.module.eval()(image).numpy()
found = onnxruntime.InferenceSession(sys.argv[2]).run(None, {'input': image.numpy()})[0]
print(abs(found - expected).max() / abs(expected).max())
";
        let printed = printed_by(&python, script, &[Path::new(id), &file, worker]);
        let worst: f64 = printed.trim().parse().expect("a number");
        assert!(worst < TOLERANCE, "{id}: {worst}");
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test runs what it compares with"
)]
fn printed_by(python: &Path, script: &str, arguments: &[&Path]) -> String {
    let mut command = Command::new(python);
    command.args(["-B", "-c", script]).args(arguments);
    let output = command.output().expect("Python starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
