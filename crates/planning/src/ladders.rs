//! Plans that come ready: journeys that people have made with well-known networks, as far as they can be
//! made on this machine.
//!
//! A step that cannot be made here stays in the plan and says why: what is missing is a finding, too. To
//! add one: a line in [`ALL`].

use super::engine_options::EngineInfo;
use powerband_core::domain::plan::{AccuracyCheck, SetupStyle};
use powerband_core::domain::point::Point;
use powerband_core::domain::request::RunRequest;
use powerband_core::domain::setup::Setup;

/// A plan that comes ready.
pub struct Ladder {
    /// What the command line calls it.
    pub id: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// What it shows, in a sentence.
    pub about: &'static str,
    model: &'static str,
    batches: &'static [usize],
    /// Whether each setup is a step on the one before.
    is_journey: bool,
    steps: fn(&LadderMachine) -> Vec<StepSetup>,
}

/// A step: what it is called and how it is run.
type StepSetup = (&'static str, String);

/// What this machine has, as far as ladders ask.
#[derive(Clone, Debug, Default)]
pub struct LadderMachine {
    /// Engines that run here, by their identifiers, with what they say of themselves.
    pub engines: Vec<(&'static str, EngineInfo)>,
}

/// Every ladder.
pub const ALL: &[Ladder] = &[
    Ladder {
        id: "resnet50-case-study",
        title: "ResNet-50 case study",
        about: "From PyTorch as it comes, through mixed precision and fusion, to eight bits and larger batches",
        model: "resnet50",
        batches: &[1, 4, 8, 16, 32],
        is_journey: true,
        steps: case_study,
    },
    Ladder {
        id: "densenet121-suite",
        title: "DenseNet-121 suite",
        about: "Six optimisations of PyTorch beside its defaults, at small and large batches",
        model: "densenet121",
        batches: &[1, 8, 32],
        is_journey: false,
        steps: densenet_suite,
    },
    Ladder {
        id: "everything",
        title: "Everything this machine can do",
        about: "ResNet-50 on every engine and in every precision that is here",
        model: "resnet50",
        batches: &[1],
        is_journey: false,
        steps: everything,
    },
];

/// The ladder of this name.
pub fn find(id: &str) -> Result<&'static Ladder, String> {
    ALL.iter().find(|ladder| ladder.id == id).ok_or_else(|| {
        let ids: Vec<&str> = ALL.iter().map(|ladder| ladder.id).collect();
        format!("there is no ladder \"{id}\"; there are {}", ids.join(", "))
    })
}

impl Ladder {
    /// What is to be measured on this machine.
    pub fn request(&self, here: &LadderMachine) -> RunRequest {
        let (mut setups, mut looks): (Vec<Setup>, Vec<SetupStyle>) = (Vec::new(), Vec::new());
        for (title, spec) in (self.steps)(here) {
            let Ok(setup) = spec.parse::<Setup>() else {
                continue;
            };
            setups.push(setup);
            looks.push(SetupStyle {
                label: Some(title.to_owned()),
                colour: None,
            });
        }
        RunRequest {
            setups,
            looks,
            points: Some(self.batches.iter().copied().map(Point::of_batch).collect()),
            journey: self.is_journey,
            judging: Some(AccuracyCheck {
                inputs: AccuracyCheck::USUAL,
                samples: None,
            }),
            name: Some(self.title.to_owned()),
            ..RunRequest::new(self.model)
        }
    }
}

impl LadderMachine {
    /// The card to compute on, as a setup spells it; the processor where there is none.
    fn device(&self) -> &str {
        let devices = self.engines.iter().flat_map(|(_, info)| &info.devices);
        let card = devices.map(String::as_str).find(|device| *device != "cpu");
        card.unwrap_or("cpu")
    }

    /// The card that an engine says it can compute on.
    pub(super) fn card_of(&self, engine: &str) -> Option<&str> {
        let own = self.engines.iter().filter(|(id, _)| *id == engine);
        let devices = own.flat_map(|(_, info)| &info.devices);
        devices.map(String::as_str).find(|device| *device != "cpu")
    }

    pub(super) fn has_engine(&self, engine: &str) -> bool {
        self.engines.iter().any(|(id, _)| *id == engine)
    }

    /// Whether a library of ONNX Runtime has a provider.
    pub(super) fn has_provider(&self, title: &str) -> bool {
        let providers = self.engines.iter().flat_map(|(_, info)| &info.providers);
        providers.into_iter().any(|provider| provider == title)
    }
}

/// Half precision as the device computes it well.
fn half(device: &str) -> &'static str {
    if device == "cpu" { "bf16" } else { "fp16" }
}

/// Document 000: baseline, mixed precision, fusion; then the number of bits, which it does not try.
fn case_study(here: &LadderMachine) -> Vec<StepSetup> {
    let device = here.device();
    let fused = match device.split(':').next() {
        Some("rocm") => format!("ort:{device},provider=migraphx"),
        _ => format!("ort:{device}"),
    };
    vec![
        ("Baseline: PyTorch", format!("torch:{device}")),
        (
            "Mixed precision",
            format!("torch:{device},mode=amp-{}", half(device)),
        ),
        ("Fused operators", fused),
        ("int8", "ort:cpu,precision=int8".replace("cpu", device)),
    ]
}

/// Document 004: each against the baseline.
fn densenet_suite(here: &LadderMachine) -> Vec<StepSetup> {
    let device = here.device();
    let half = half(device);
    vec![
        ("Baseline", format!("torch:{device}")),
        ("AMP", format!("torch:{device},mode=amp-{half}")),
        (
            "Channels last",
            format!("torch:{device},mode=channels-last"),
        ),
        ("torch.compile", format!("torch:{device},mode=compile")),
        ("TorchScript", format!("torch:{device},mode=script")),
        ("Half precision", format!("torch:{device},mode={half}")),
        ("TensorRT", format!("torch:{device},mode=tensorrt")),
    ]
}

fn everything(here: &LadderMachine) -> Vec<StepSetup> {
    let device = here.device();
    let mut steps = Vec::new();
    if here.has_engine("torch") {
        steps.extend(densenet_suite(here));
    }
    if here.has_engine("ort") {
        steps.extend([
            (
                "ONNX Runtime, not optimised",
                format!("ort:{device},opt=none"),
            ),
            ("ONNX Runtime", format!("ort:{device}")),
            (
                "ONNX Runtime, half precision",
                format!("ort:{device},precision=fp16"),
            ),
            (
                "ONNX Runtime, 8 bits",
                format!("ort:{device},precision=int8"),
            ),
        ]);
        let providers = [
            ("OpenVINO", "cpu", "openvino"),
            ("XNNPACK", "cpu", "xnnpack"),
            ("TensorRT", device, "tensorrt"),
            ("MIGraphX", device, "migraphx"),
        ];
        let built_in = providers
            .into_iter()
            .filter(|(title, ..)| here.has_provider(title));
        steps.extend(
            built_in.map(|(title, device, word)| (title, format!("ort:{device},provider={word}"))),
        );
    }
    steps.push(("rten", "rten".to_owned()));
    steps
}
