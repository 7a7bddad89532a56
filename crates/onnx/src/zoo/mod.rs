//! Networks that Powerband makes itself, so that a first benchmark needs no file and no download.
//!
//! Names come from `source`; models go back to it. The layouts are torchvision's, the weights are
//! seeded noise of the right size: speed does not depend on what a network has learned, and the
//! same bytes everywhere make results from different machines comparable.

pub mod bert;
pub mod builder;
mod densenet;
pub mod draft;
mod efficientnet;
pub mod gpt;
mod layers;
pub mod llama;
mod mobilenet;
mod operators;
pub mod probes;
mod resnet;
pub mod roofs;
#[cfg(test)]
pub(crate) mod testing;
mod transformer;
mod unet;
mod vit;
pub mod weights;

use crate::pb::ModelProto;
use powerband_core::base::near_miss::near_miss;

use bert::Bert;
use builder::{Conv, FeatureMap, GraphBuilder};
use draft::Draft;
use gpt::Gpt;
use llama::Llama;
use probes::PROBES;
use resnet::Resnet;

/// Counts up whenever the bytes of any network change, so that no cache hands out old ones.
pub const REVISION: u32 = 2;

/// The pictures that a network is shaped for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataSet {
    /// 224 × 224 pixels, 1000 classes.
    ImageNet,
    /// CIFAR-10: 32 × 32 pixels, 10 classes.
    Cifar,
}

impl DataSet {
    /// Height and width of a picture.
    pub fn side(self) -> usize {
        match self {
            Self::ImageNet => 224,
            Self::Cifar => 32,
        }
    }

    /// How many classes there are.
    pub fn classes(self) -> usize {
        match self {
            Self::ImageNet => 1000,
            Self::Cifar => 10,
        }
    }
}

/// Which kind of network.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ZooNetwork {
    /// Residual.
    Resnet(Resnet, DataSet),
    /// Densely connected.
    Densenet(DataSet),
    /// Narrow between its layers.
    Mobilenet,
    /// The same with gates.
    Efficientnet,
    /// Down to small pictures and up again.
    Unet,
    /// Vision transformer: a picture as a sequence of patches.
    Vit,
    /// An encoder in the manner of BERT.
    Bert(Bert),
    /// A decoder in the manner of GPT-2.
    Gpt(Gpt),
    /// A decoder in the manner of Llama.
    Llama(Llama),
    /// Built to be limited by one thing.
    Probe(probes::ProbeKind),
}

/// A network that can be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ZooModel {
    /// What the user types: `resnet50`, `resnet50@cifar`.
    pub id: &'static str,
    /// What lists show.
    pub title: &'static str,
    network: ZooNetwork,
}

const RESNET18: Resnet = Resnet {
    bottleneck: false,
    blocks: [2, 2, 2, 2],
};
const RESNET34: Resnet = Resnet {
    bottleneck: false,
    blocks: [3, 4, 6, 3],
};
const RESNET50: Resnet = Resnet {
    bottleneck: true,
    blocks: [3, 4, 6, 3],
};

impl ZooModel {
    /// Whether it is one that is only for trying: it stands in no list, and no library has it.
    pub fn is_probe(&self) -> bool {
        matches!(self.network, ZooNetwork::Probe(_))
    }
}

/// Every network that lists show: pictures of `ImageNet`, those of CIFAR-10, and text.
pub const ALL: &[ZooModel] = &[
    entry(
        "resnet18",
        "ResNet-18, ImageNet",
        ZooNetwork::Resnet(RESNET18, DataSet::ImageNet),
    ),
    entry(
        "resnet34",
        "ResNet-34, ImageNet",
        ZooNetwork::Resnet(RESNET34, DataSet::ImageNet),
    ),
    entry(
        "resnet50",
        "ResNet-50, ImageNet",
        ZooNetwork::Resnet(RESNET50, DataSet::ImageNet),
    ),
    entry(
        "densenet121",
        "DenseNet-121, ImageNet",
        ZooNetwork::Densenet(DataSet::ImageNet),
    ),
    entry(
        "mobilenetv2",
        "MobileNetV2, ImageNet",
        ZooNetwork::Mobilenet,
    ),
    entry(
        "efficientnet-b0",
        "EfficientNet-B0, ImageNet",
        ZooNetwork::Efficientnet,
    ),
    entry("vit-b16", "ViT-B/16, ImageNet", ZooNetwork::Vit),
    entry("unet", "U-Net, 256 × 256", ZooNetwork::Unet),
    entry(
        "resnet18@cifar",
        "ResNet-18, CIFAR-10",
        ZooNetwork::Resnet(RESNET18, DataSet::Cifar),
    ),
    entry(
        "resnet34@cifar",
        "ResNet-34, CIFAR-10",
        ZooNetwork::Resnet(RESNET34, DataSet::Cifar),
    ),
    entry(
        "resnet50@cifar",
        "ResNet-50, CIFAR-10",
        ZooNetwork::Resnet(RESNET50, DataSet::Cifar),
    ),
    entry(
        "densenet121@cifar",
        "DenseNet-121, CIFAR-10",
        ZooNetwork::Densenet(DataSet::Cifar),
    ),
    entry("bert-base", "BERT base", ZooNetwork::Bert(bert::BASE)),
    entry("minilm", "MiniLM L6", ZooNetwork::Bert(bert::MINI)),
    entry("gpt2", "GPT-2, 124M", ZooNetwork::Gpt(gpt::gpt2(false))),
    entry(
        "gpt2-past",
        "GPT-2, 124M, with past key/values",
        ZooNetwork::Gpt(gpt::gpt2(true)),
    ),
    entry(
        "llama-tiny",
        "Llama, 135M as SmolLM",
        ZooNetwork::Llama(llama::tiny(false)),
    ),
    entry(
        "llama-tiny-past",
        "Llama, 135M as SmolLM, with past key/values",
        ZooNetwork::Llama(llama::tiny(true)),
    ),
];

const fn entry(id: &'static str, title: &'static str, network: ZooNetwork) -> ZooModel {
    ZooModel { id, title, network }
}

/// Letters of a beginning that mean a network.
const LEAST_BEGINNING: usize = 3;

/// The network of that name, however it is capitalised and hyphenated: `ResNet-50`, `resnet50@CIFAR`.
pub fn find(name: &str) -> Option<&'static ZooModel> {
    let plain = search_key(name);
    let plain = plain
        .strip_suffix("@cifar10")
        .map_or_else(|| plain.clone(), |base| format!("{base}@cifar"));
    let probes = PROBES.iter().map(|probe| &probe.model);
    let mut known = ALL.iter().chain(probes);
    known.find(|model| self::search_key(model.id) == plain)
}

/// The network that an unknown name may mean: one that is written almost so, else the first that begins so.
pub fn meant(name: &str) -> Option<&'static ZooModel> {
    let ids: Vec<&str> = ALL.iter().map(|model| model.id).collect();
    let near = near_miss(name, &ids).and_then(find);
    let word = search_key(name);
    let begins = |model: &&ZooModel| search_key(model.id).starts_with(&word);
    near.or_else(|| {
        ALL.iter()
            .find(begins)
            .filter(|_| word.len() >= LEAST_BEGINNING)
    })
}

/// A name in small letters without hyphens and underscores, for look-up.
fn search_key(name: &str) -> String {
    let letters = name.trim().chars().filter(|c| !matches!(c, '-' | '_'));
    letters.collect::<String>().to_lowercase()
}

/// Makes the network: always the same bytes.
pub fn build(model: &ZooModel) -> ModelProto {
    draft(model).fill()
}

/// The network without the values of its weights: made at once, however large it is.
pub fn outline(model: &ZooModel) -> ModelProto {
    draft(model).outline()
}

fn draft(model: &ZooModel) -> Draft {
    match model.network {
        ZooNetwork::Resnet(plan, data) => resnet::draft(model.id, plan, data),
        ZooNetwork::Densenet(data) => densenet::draft(model.id, data),
        ZooNetwork::Mobilenet => mobilenet::draft(model.id),
        ZooNetwork::Efficientnet => efficientnet::draft(model.id),
        ZooNetwork::Unet => unet::draft(model.id),
        ZooNetwork::Vit => vit::draft(model.id),
        ZooNetwork::Bert(plan) => bert::draft(model.id, plan),
        ZooNetwork::Gpt(plan) => gpt::draft(model.id, plan),
        ZooNetwork::Llama(plan) => llama::draft(model.id, plan),
        ZooNetwork::Probe(kind) => probes::draft(model.id, kind),
    }
}

/// The first layers, which both families share: large pictures are made four times
/// smaller at once, and CIFAR's are small already.
fn stem(graph: &mut GraphBuilder, data: DataSet, names: [&str; 4]) -> FeatureMap {
    let [conv, norm, relu, pool] = names;
    let image = GraphBuilder::image();
    let (kernel, stride) = match data {
        DataSet::ImageNet => (7, 2),
        DataSet::Cifar => (3, 1),
    };
    let x = graph.conv(
        conv,
        &image,
        Conv {
            channels: 64,
            kernel,
            stride,
        },
    );
    let x = graph.batch_norm(norm, &x, 1.0);
    let x = graph.relu(relu, &x);
    match data {
        DataSet::ImageNet => graph.max_pool(pool, &x),
        DataSet::Cifar => x,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use prost::Message as _;
    use sha2::{Digest as _, Sha256};

    use super::*;
    use crate::inspect;
    use powerband_core::base::humanize;

    #[test]
    fn names_are_forgiving_and_unique() {
        let found = |name| find(name).map(|model| model.id);
        assert_eq!(found("resnet50"), Some("resnet50"));
        assert_eq!(found("ResNet-50"), Some("resnet50"));
        assert_eq!(found(" DenseNet_121@CIFAR "), Some("densenet121@cifar"));
        assert_eq!(found("resnet18@cifar-10"), Some("resnet18@cifar"));
        for wrong in [
            "",
            "resnet",
            "resnet51",
            "resnet50@",
            "resnet50@mnist",
            "resnet50.onnx",
            "@cifar",
        ] {
            assert_eq!(found(wrong), None, "{wrong}");
        }
        let ids: BTreeSet<_> = ALL.iter().map(|model| model.id).collect();
        assert_eq!(ids.len(), ALL.len());
    }

    /// Parameters are those that torchvision's documentation states; multiply-accumulates count
    /// convolutions and the last layer.
    #[test]
    fn sizes_are_torchvisions() {
        let expect = [
            ("resnet18", 11_689_512, "1.81 G"),
            ("resnet34", 21_797_672, "3.66 G"),
            ("resnet50", 25_557_032, "4.09 G"),
            ("densenet121", 7_978_856, "2.83 G"),
            ("resnet18@cifar", 11_173_962, "555.42 M"),
            ("resnet50@cifar", 23_520_842, "1.30 G"),
        ];
        for (id, parameters, macs) in expect {
            let model = build(find(id).unwrap());
            let summary = inspect::summarize(&model, id);
            assert_eq!(summary.parameters, parameters, "{id}");
            assert_eq!(
                summary.macs.map(humanize::decimal).as_deref(),
                Some(macs),
                "{id}"
            );
            assert_eq!(summary.notes, Vec::<String>::new(), "{id}");
            assert_eq!(summary.opset, 17);
        }
    }

    #[test]
    fn inputs_and_outputs_follow_the_data() {
        for (id, input, output) in [
            ("resnet18", "float32 batch×3×224×224", "float32 batch×1000"),
            (
                "resnet18@cifar",
                "float32 batch×3×32×32",
                "float32 batch×10",
            ),
            (
                "densenet121@cifar",
                "float32 batch×3×32×32",
                "float32 batch×10",
            ),
        ] {
            let summary = inspect::summarize(&build(find(id).unwrap()), id);
            let described =
                |port: &powerband_core::domain::model::Port| (port.name.clone(), port.describe());
            assert_eq!(
                summary.inputs.iter().map(described).collect::<Vec<_>>(),
                [("input".to_owned(), input.to_owned())]
            );
            assert_eq!(
                summary.outputs.iter().map(described).collect::<Vec<_>>(),
                [("logits".to_owned(), output.to_owned())]
            );
        }
    }

    /// What is said of a network without its weights is what is said of it with them.
    #[test]
    fn outlines_say_the_same() {
        let model = find("resnet18@cifar").unwrap();
        let [whole, outline] = [build(model), outline(model)].map(|m| inspect::summarize(&m, ""));
        assert_eq!(whole, outline);
    }

    /// If this fails, every cached network and every stored comparison is off: count `REVISION` up.
    #[test]
    fn bytes_never_change() {
        let hash = |id| {
            let digest = Sha256::digest(build(find(id).unwrap()).encode_to_vec());
            let bytes: Vec<String> = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            bytes.concat()
        };
        let first = hash("resnet18@cifar");
        assert_eq!(first, hash("resnet18@cifar"));
        assert_eq!(
            first,
            "160778f2e0b1bbc4dc89677de719b96d108582cb8905a457783589db5b87e08f"
        );
    }
}
