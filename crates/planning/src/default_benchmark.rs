//! What the large button measures before the user has chosen anything: ResNet-50 with the quick preset, on
//! the best engine of this machine.

use super::ladders::LadderMachine;
use powerband_core::domain::plan::PresetName;
use powerband_core::domain::point::{DEFAULT_BATCHES, Point};
use powerband_core::domain::request::RunRequest;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::telemetry::DeviceKind;

/// How ONNX Runtime computes on a maker's cards, best first: the provider that its library must have, and
/// the setup.
const ON_CARDS: [(DeviceKind, &str, &str); 3] = [
    (DeviceKind::Nvidia, "CUDA", "ort:cuda"),
    (DeviceKind::Amd, "MIGraphX", "ort:rocm,provider=migraphx"),
    (DeviceKind::Amd, "ROCm", "ort:rocm"),
];
/// Engines on the processor, fastest first.
const ON_THE_PROCESSOR: [&str; 2] = ["ort", "rten"];

/// Where there is a card that an engine can use: that engine on it, and the processor beside it, so that
/// what the card gains is seen. Else every engine there is.
pub fn request(here: &LadderMachine, cards: &[DeviceKind]) -> RunRequest {
    let mut setups = on_cards(here, cards);
    if !setups.is_empty() {
        let engine = ON_THE_PROCESSOR.into_iter().find(|id| here.has_engine(id));
        setups.extend(engine.and_then(|id| id.parse().ok()));
    }
    RunRequest {
        setups,
        points: Some(DEFAULT_BATCHES.map(Point::of_batch).to_vec()),
        preset: PresetName::Quick,
        ..RunRequest::new("resnet50")
    }
}

fn on_cards(here: &LadderMachine, cards: &[DeviceKind]) -> Vec<Setup> {
    let own = ON_CARDS
        .into_iter()
        .filter(|(kind, provider, _)| cards.contains(kind) && here.has_provider(provider))
        .map(|(_, _, spec)| spec.to_owned())
        .next();
    let torch = here
        .card_of("torch")
        .map(|device| format!("torch:{device}"));
    let specs = own.into_iter().chain(torch);
    specs.filter_map(|spec| spec.parse().ok()).collect()
}
