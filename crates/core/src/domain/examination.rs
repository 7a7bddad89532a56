//! What an engine made of a network before running it, and where its nodes then ran.
//!
//! It comes from a run of its own that is never a benchmark: watching every node costs time. The
//! engine fills it in, sessions keep it, and views and reports ask the small questions here.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Operators that only find out or change how values lie in memory. Engines put them on the
/// processor on purpose where they work on shapes, because a handful of integers is not worth a
/// trip to a device.
const LIGHT: [&str; 22] = [
    "Shape",
    "Size",
    "Constant",
    "ConstantOfShape",
    "Range",
    "Gather",
    "Slice",
    "Concat",
    "Split",
    "Squeeze",
    "Unsqueeze",
    "Reshape",
    "Identity",
    "Cast",
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Equal",
    "Where",
    "ReduceProd",
    "If",
];

/// From which share of the time on a fallback is worth telling, whatever ran there.
const HEAVY_SHARE: f64 = 0.01;

/// What an engine made of a network before running it, and where its nodes ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Examination {
    /// Who was asked to run it: `CUDA`.
    #[serde(default)]
    pub asked: String,
    /// Runs that the times are means of.
    pub runs: u32,
    /// Nodes of the file by type.
    pub before: BTreeMap<String, u64>,
    /// Nodes that ran, in order.
    #[serde(default)]
    pub nodes: Vec<NodeRun>,
    /// Which nodes became which.
    #[serde(default)]
    pub fusions: Fusions,
    /// What could not be worked out, and why.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A node as it ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeRun {
    /// What the engine calls it.
    pub name: String,
    pub op: String,
    /// Who ran it, as people write it: `CPU`, `CUDA`.
    pub provider: String,
    /// Its time in a run, on average, without the nodes inside it. Where a device works on by
    /// itself, this is the time that starting the work took.
    pub time_ns: u64,
}

/// Which nodes of a file became which. Each node of the file is in `became` or in `gone`, once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fusions {
    /// Nodes of the prepared graph that stand for nodes of the file.
    pub became: Vec<PreparedNode>,
    /// Nodes of the file that nothing stands for: worked out beforehand, or doing nothing.
    pub gone: Vec<NamedNode>,
    /// Nodes of the prepared graph that stand for no node of the file: copies, casts, reorderings.
    pub added: Vec<NamedNode>,
}

/// A node of the prepared graph, and the nodes of the file that became it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreparedNode {
    /// What the engine calls it.
    pub node: String,
    /// Its operator, with the layout where that is not the file's: `Conv (NCHWc)`.
    pub op: String,
    /// The nodes of the file, in its order; never empty.
    pub from: Vec<NamedNode>,
}

/// A node by name and operator.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NamedNode {
    /// Its name, or that of its first output where it has none.
    pub name: String,
    pub op: String,
}

/// The same thing happening to several places of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FusionPattern {
    /// Operators of the file, each once, in the order in which they come.
    pub from: Vec<String>,
    /// What stands for them; nothing where they are gone.
    pub to: Option<String>,
    /// How often.
    pub count: u64,
}

/// What one provider ran.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProviderShare {
    /// Who.
    pub provider: String,
    /// How many nodes.
    pub nodes: u64,
    /// Of all nodes, between 0 and 1.
    pub share_of_nodes: f64,
    /// Of the time of all nodes, between 0 and 1; 0 where no time was taken.
    pub share_of_time: f64,
}

/// Nodes that ran on the processor although something else was asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fallback {
    /// How many, the light ones too.
    pub nodes: u64,
    /// The same by operator.
    #[serde(rename = "operators")]
    pub ops: BTreeMap<String, u64>,
    /// Of the time of all nodes, between 0 and 1.
    pub share_of_time: f64,
}

impl Fallback {
    /// Whether it is worth telling. Every node counts, but a few that work on shapes are put on
    /// the processor deliberately: those are worth it only where they take 1 % of the time. The
    /// time alone would not do, because it does not hold what the copies around a node cost.
    pub fn is_worth_showing(&self) -> bool {
        let heavy = |op: &String| !LIGHT.contains(&op.as_str());
        self.share_of_time >= HEAVY_SHARE || self.ops.keys().any(heavy)
    }
}

impl Examination {
    /// The time of all nodes in a run.
    pub fn total_ns(&self) -> u64 {
        self.nodes
            .iter()
            .fold(0, |total, node| total.saturating_add(node.time_ns))
    }

    /// Who ran how much, most nodes first.
    pub fn providers(&self) -> Vec<ProviderShare> {
        let mut found: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for node in &self.nodes {
            let (nodes, time) = found.entry(&node.provider).or_default();
            *nodes += 1;
            *time = time.saturating_add(node.time_ns);
        }
        let mut shares: Vec<ProviderShare> = found
            .into_iter()
            .map(|(provider, (nodes, time))| ProviderShare {
                provider: provider.to_owned(),
                nodes,
                share_of_nodes: share(nodes, self.nodes.len() as u64),
                share_of_time: share(time, self.total_ns()),
            })
            .collect();
        shares.sort_by_key(|share| std::cmp::Reverse(share.nodes));
        shares
    }

    /// Nodes that ran, by type.
    pub fn after(&self) -> BTreeMap<String, u64> {
        by_op(self.nodes.iter())
    }

    /// Copies between devices.
    pub fn copies(&self) -> Vec<&NodeRun> {
        let copies = |node: &&NodeRun| is_copy(&node.op);
        self.nodes.iter().filter(copies).collect()
    }

    /// Changes of the order in which values lie in memory.
    pub fn layout_changes(&self) -> Vec<&NodeRun> {
        let changes = |node: &&NodeRun| node.op.starts_with("Reorder");
        self.nodes.iter().filter(changes).collect()
    }

    /// What ran on the processor although another provider was to run it; nothing where the processor was
    /// asked for, or ran nothing. Copies are no fallback: they serve one.
    pub fn fallback(&self) -> Option<Fallback> {
        if provider_name(&self.asked) == CPU {
            return None;
        }
        let fell = |node: &&NodeRun| node.provider == CPU && !is_copy(&node.op);
        let fallen: Vec<&NodeRun> = self.nodes.iter().filter(fell).collect();
        let time = fallen
            .iter()
            .fold(0_u64, |time, node| time.saturating_add(node.time_ns));
        (!fallen.is_empty()).then(|| Fallback {
            nodes: fallen.len() as u64,
            ops: by_op(fallen.iter().copied()),
            share_of_time: share(time, self.total_ns()),
        })
    }
}

impl Fusions {
    /// What happened, and how often: the most frequent first. Nodes that stayed what they were
    /// are left out, and so is what was added.
    pub fn patterns(&self) -> Vec<FusionPattern> {
        let mut counts: BTreeMap<(Vec<&str>, Option<&str>), u64> = BTreeMap::new();
        for became in self.became.iter().filter(|became| !became.is_unchanged()) {
            let key = (became.kinds(), Some(became.op.as_str()));
            *counts.entry(key).or_default() += 1;
        }
        for origin in &self.gone {
            *counts.entry((vec![&origin.op], None)).or_default() += 1;
        }
        let mut patterns: Vec<FusionPattern> = counts
            .into_iter()
            .map(|((from, to), count)| FusionPattern {
                from: from.into_iter().map(str::to_owned).collect(),
                to: to.map(str::to_owned),
                count,
            })
            .collect();
        // Stable: equals stay in the order of their names.
        patterns.sort_by_key(|pattern| std::cmp::Reverse(pattern.count));
        patterns
    }

    /// How many nodes stayed what they were.
    pub fn unchanged(&self) -> u64 {
        let unchanged = |became: &&PreparedNode| became.is_unchanged();
        self.became.iter().filter(unchanged).count() as u64
    }

    /// What was added, by type.
    pub fn added_by_op(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for origin in &self.added {
            *counts.entry(origin.op.clone()).or_default() += 1;
        }
        counts
    }
}

impl PreparedNode {
    /// Whether it is the one node that it stands for.
    pub(crate) fn is_unchanged(&self) -> bool {
        matches!(self.from.as_slice(), [only] if only.op == self.op)
    }

    /// The operators it stands for, each once, in order.
    fn kinds(&self) -> Vec<&str> {
        let mut kinds: Vec<&str> = Vec::new();
        for origin in &self.from {
            if !kinds.contains(&origin.op.as_str()) {
                kinds.push(&origin.op);
            }
        }
        kinds
    }
}

impl fmt::Display for FusionPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.from.join(" + ");
        let to = self.to.as_deref().unwrap_or("nothing");
        write!(f, "{} × {from} → {to}", self.count)
    }
}

/// The processor, among providers.
const CPU: &str = "CPU";

/// How ONNX Runtime's names of providers end.
pub(crate) const PROVIDER_ENDING: &str = "ExecutionProvider";

/// A provider as people write it: `CPU` for `CPUExecutionProvider`, `ROCm` for
/// `ROCMExecutionProvider`. What is written so already stays.
pub fn provider_name(raw: &str) -> String {
    let short = raw.strip_suffix(PROVIDER_ENDING).unwrap_or(raw);
    let known = match short {
        "cpu" => CPU,
        "cuda" => "CUDA",
        "Tensorrt" | "tensorrt" => "TensorRT",
        "NvTensorRTRTX" => "TensorRT RTX",
        "ROCM" | "rocm" => "ROCm",
        "migraphx" => "MIGraphX",
        "openvino" => "OpenVINO",
        "Dml" => "DirectML",
        "Dnnl" => "oneDNN",
        "WebGpu" => "WebGPU",
        "Xnnpack" => "XNNPACK",
        "VitisAI" => "Vitis AI",
        other => other,
    };
    known.to_owned()
}

/// Whether a provider only starts its nodes while ONNX Runtime times them: the card computes later, and the time is
/// the host's.
pub fn only_starts_nodes(provider: &str) -> bool {
    const OF_CARDS: [&str; 8] = [
        "CUDA",
        "TensorRT",
        "TensorRT RTX",
        "ROCm",
        "MIGraphX",
        "DirectML",
        "WebGPU",
        "CANN",
    ];
    OF_CARDS.contains(&provider_name(provider).as_str())
}

fn is_copy(op: &str) -> bool {
    matches!(op, "MemcpyToHost" | "MemcpyFromHost")
}

fn by_op<'a>(nodes: impl Iterator<Item = &'a NodeRun>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for node in nodes {
        *counts.entry(node.op.clone()).or_default() += 1;
    }
    counts
}

/// A part of a whole; 0 of nothing.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(op: &str, provider: &str, time_ns: u64) -> NodeRun {
        NodeRun {
            name: op.to_lowercase(),
            op: op.to_owned(),
            provider: provider.to_owned(),
            time_ns,
        }
    }

    fn examined(nodes: &[NodeRun]) -> Examination {
        Examination {
            asked: "CUDAExecutionProvider".to_owned(),
            runs: 3,
            nodes: nodes.to_vec(),
            ..Examination::default()
        }
    }

    fn origins(ops: &[&str]) -> Vec<NamedNode> {
        let origin = |op: &&str| NamedNode {
            name: op.to_lowercase(),
            op: (*op).to_owned(),
        };
        ops.iter().map(origin).collect()
    }

    fn became(from: &[&str], op: &str) -> PreparedNode {
        PreparedNode {
            node: "n".to_owned(),
            op: op.to_owned(),
            from: origins(from),
        }
    }

    #[test]
    fn providers_have_shares_of_nodes_and_of_time() {
        let shares = examined(&[
            ran("Conv", "CUDA", 600),
            ran("MemcpyToHost", "CUDA", 100),
            ran("NonZero", "CPU", 300),
            ran("Relu", "CUDA", 0),
        ])
        .providers();
        assert_eq!(shares[0].provider, "CUDA");
        assert_eq!((shares[0].nodes, shares[0].share_of_nodes), (3, 0.75));
        assert_eq!(shares[1].share_of_time, 0.3);
        assert_eq!(examined(&[]).providers(), []);
        assert_eq!(
            examined(&[ran("Relu", "CPU", 0)]).providers()[0].share_of_time,
            0.0
        );
    }

    #[test]
    fn a_few_shapes_on_the_processor_are_not_worth_telling() {
        let shapes = examined(&[
            ran("Conv", "CUDA", 100_000),
            ran("Shape", "CPU", 10),
            ran("Gather", "CPU", 20),
        ]);
        let fallback = shapes.fallback().unwrap();
        assert_eq!(fallback.nodes, 2);
        assert!(!fallback.is_worth_showing());
        let on_purpose = Examination {
            asked: "CPU".to_owned(),
            ..shapes
        };
        assert_eq!(on_purpose.fallback(), None);
        assert_eq!(examined(&[ran("Conv", "CUDA", 1)]).fallback(), None);
    }

    #[test]
    fn work_on_the_processor_is_worth_telling_by_kind_and_by_time() {
        let by_kind = examined(&[ran("Conv", "CUDA", 100_000), ran("NonZero", "CPU", 1)]);
        assert!(by_kind.fallback().unwrap().is_worth_showing());
        let by_time = examined(&[ran("Conv", "CUDA", 900), ran("Concat", "CPU", 100)]);
        let fallback = by_time.fallback().unwrap();
        assert_eq!(fallback.share_of_time, 0.1);
        assert!(fallback.is_worth_showing());
    }

    #[test]
    fn copies_and_reorderings_are_found() {
        let examined = examined(&[
            ran("MemcpyFromHost", "CUDA", 5),
            ran("ReorderOutput", "CPU", 7),
            ran("Conv", "CPU", 7),
        ]);
        assert_eq!(examined.copies().len(), 1);
        assert_eq!(examined.layout_changes()[0].op, "ReorderOutput");
        assert_eq!(examined.after()["Conv"], 1);
    }

    #[test]
    fn providers_are_written_as_people_do() {
        let cases = [
            ("CPUExecutionProvider", "CPU"),
            ("ROCMExecutionProvider", "ROCm"),
            ("TensorrtExecutionProvider", "TensorRT"),
            ("OpenVINOExecutionProvider", "OpenVINO"),
            ("DmlExecutionProvider", "DirectML"),
            ("XnnpackExecutionProvider", "XNNPACK"),
            ("CUDA", "CUDA"),
            ("SomethingNewExecutionProvider", "SomethingNew"),
        ];
        for (raw, expect) in cases {
            assert_eq!(provider_name(raw), expect);
        }
    }

    #[test]
    fn patterns_count_what_changed_and_leave_out_the_rest() {
        let fusions = Fusions {
            became: vec![
                became(&["Softmax"], "Softmax"),
                became(&["Conv", "Relu"], "FusedConv"),
                became(&["Conv", "Relu"], "FusedConv"),
                became(&["Add", "Mul", "Add"], "Gelu"),
            ],
            gone: origins(&["Identity"]),
            added: origins(&["Cast", "Cast"]),
        };
        let told: Vec<String> = fusions.patterns().iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "2 × Conv + Relu → FusedConv",
                "1 × Add + Mul → Gelu",
                "1 × Identity → nothing"
            ]
        );
        assert_eq!(fusions.unchanged(), 1);
        assert_eq!(fusions.added_by_op()["Cast"], 2);
    }

    #[test]
    fn what_a_file_leaves_out_is_empty() {
        let read: Examination = serde_json::from_str(r#"{"runs":1,"before":{"Conv":2}}"#).unwrap();
        assert_eq!(read.before["Conv"], 2);
        assert_eq!(read.fusions, Fusions::default());
    }
}
