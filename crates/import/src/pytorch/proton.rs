//! Profiles of Proton, Triton's profiler: a tree of scopes and functions with the kernels that were launched in them.
//!
//! The tree is as deep as the stacks of Python, which is deeper than `serde_json` goes: it is walked here, and only
//! its flat objects are parsed. Each node writes its children before its own name and figures.

use std::collections::{BTreeMap, BTreeSet};

use crate::reading::head::FileHead;
use crate::reading::json;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::base::humanize;
use powerband_core::domain::profile::{Counter, Total};
use powerband_core::domain::trace::SliceKind;
use powerband_core::domain::work::{NumberFormat, Work};

pub(crate) const FORMAT: Format = Format {
    id: "proton",
    title: "a profile of Proton, Triton's profiler",
    tool: "Proton",
    name_ends: &[],
    recognises: |head: &FileHead| {
        let keys = ["children", "frame", "metrics"];
        head.is_list() && keys.iter().all(|key| head.has_key(key))
    },
    read,
};

/// The scope in which Triton computes what a kernel has to do; kernels in it are no work of the program.
const METADATA: &str = "__proton_launch_metadata";
/// A time, and a number of calls.
const TIME: &str = "time (ns)";
const COUNT: &str = "count";
/// Operations by what they are done with; of 8 bits there are floats and integers, and the file does not say which.
const OPERATIONS: [(&str, NumberFormat); 3] = [
    ("flops16", NumberFormat::F16),
    ("flops32", NumberFormat::F32),
    ("flops64", NumberFormat::F64),
];
/// Letters of a path of scopes that are kept, and of each scope.
const PATH: usize = 500;
const SCOPE: usize = 120;

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut tree = CallTree::default();
    if tree.read(&text, into).is_none() || !tree.open.is_empty() {
        into.note_cut(&source.name());
        while let Some(node) = tree.open.pop() {
            tree.close(node);
        }
    }
    tree.finish(&source.name(), into);
    Ok(())
}

/// Figures of a node by their names, without those that are zero.
type Figures = BTreeMap<String, f64>;

/// A node that has begun and not ended.
#[derive(Debug, Default)]
struct OpenCall {
    /// Its number among all nodes.
    number: usize,
    /// The key that it is the value of: the list of devices has some.
    key: String,
    /// How many kernels there were before it.
    kernels_before: usize,
    is_timed: bool,
    place: String,
    figures: Figures,
}

#[derive(Debug)]
struct LaunchedKernel {
    node: usize,
    place: String,
    figures: Figures,
}

#[derive(Debug, Default)]
struct CallTree {
    /// Name of each node and the number of the one around it; the first one is around itself.
    nodes: Vec<(String, usize)>,
    open: Vec<OpenCall>,
    kernels: Vec<LaunchedKernel>,
    /// Figures of scopes that are of no one kernel.
    scope_figures: BTreeSet<String>,
    /// Kernels that computed what others have to do.
    metadata_kernels: u64,
}

impl CallTree {
    /// Reads the nodes; nothing where the text ends within a value.
    fn read(&mut self, text: &str, into: &mut Imported) -> Option<()> {
        let mut rest = text;
        let mut key = "";
        while let Some(start) = rest.find(['"', '{', '}', '[', ']']) {
            let (_, here) = rest.split_at(start);
            let (mark, after) = here.split_at(1);
            rest = after;
            match mark {
                "\"" => {
                    let end = text_end(after)?;
                    key = after.get(..end)?;
                    rest = after.get(end + 1..)?;
                    continue;
                }
                "{" => {
                    let around = self.open.last().map_or("", |node| &node.key);
                    let is_device = !around.is_empty();
                    if is_device || matches!(key, "frame" | "metrics") {
                        let object = json::elements(here).next()?;
                        rest = here.get(object.len()..)?;
                        if is_device {
                            device_fact(&format!("{around} {key}"), object, into);
                        } else if let Some(node) = self.open.last_mut() {
                            node.take(key, object, &mut self.nodes);
                        }
                    } else {
                        self.begin(key);
                    }
                }
                "}" => {
                    let node = self.open.pop()?;
                    self.close(node);
                }
                _ => {}
            }
            key = "";
        }
        Some(())
    }

    fn begin(&mut self, key: &str) {
        let number = self.nodes.len();
        let around = self.open.last().map_or(number, |node| node.number);
        self.nodes.push((String::new(), around));
        self.open.push(OpenCall {
            number,
            key: key.to_owned(),
            kernels_before: self.kernels.len(),
            ..OpenCall::default()
        });
    }

    /// A node ends: it is a kernel if it has a time, and a scope otherwise. Figures of a scope with one kernel are
    /// that kernel's, and those below a kernel, as of its lines, are its own.
    fn close(&mut self, mut node: OpenCall) {
        let (name, around) = self
            .nodes
            .get(node.number)
            .map_or(("", node.number), |(name, around)| (name, *around));
        let is_root = around == node.number;
        if name.starts_with(METADATA) {
            self.metadata_kernels += (self.kernels.len() - node.kernels_before) as u64;
            self.kernels.truncate(node.kernels_before);
            return;
        }
        if node.is_timed && !is_root {
            self.kernels.push(LaunchedKernel {
                node: node.number,
                place: node.place,
                figures: node.figures,
            });
            return;
        }
        if let Some([kernel]) = self.kernels.get_mut(node.kernels_before..)
            && !kernel.figures.contains_key("bytes")
            && node.figures.contains_key("bytes")
        {
            kernel.figures.append(&mut node.figures);
        }
        match self.open.last_mut() {
            Some(outer) => {
                for (name, value) in node.figures {
                    *outer.figures.entry(name).or_default() += value;
                }
            }
            None => self.scope_figures.extend(node.figures.into_keys()),
        }
    }

    /// The scopes around a node, the outermost first; of many, the innermost.
    fn path(&self, node: usize) -> String {
        let mut scopes: Vec<String> = Vec::new();
        let mut n_letters = 0;
        let mut at = node;
        while let Some((_, around)) = self.nodes.get(at)
            && let Some((name, outer)) = self.nodes.get(*around)
            && outer != around
        {
            // A function of Python has the path of its file.
            let short = name.rsplit('/').next().filter(|_| name.starts_with('/'));
            let short = humanize::shorten(short.unwrap_or(name), SCOPE);
            n_letters += short.chars().count() + 3;
            if n_letters > PATH {
                scopes.push("…".to_owned());
                break;
            }
            // Of a file that is cut off, scopes have no names.
            if !short.is_empty() {
                scopes.push(short);
            }
            at = *around;
        }
        scopes.reverse();
        scopes.join(" / ")
    }

    fn finish(mut self, file: &str, into: &mut Imported) {
        let mut is_half = false;
        for mut kernel in std::mem::take(&mut self.kernels) {
            let name = self.nodes.get(kernel.node);
            let name = name.map(|(name, _)| name.clone()).unwrap_or_default();
            let calls = kernel.figures.remove(COUNT).unwrap_or(1.0) as u64;
            let total_ns = kernel.figures.remove(TIME).unwrap_or_default() as u64;
            let work = take_work(&mut kernel.figures);
            is_half |= work.is_some_and(|work| work.numbers == NumberFormat::F16);
            for (figure, sum) in kernel.figures {
                into.counters.push(Counter {
                    kernel: name.clone(),
                    name: figure,
                    unit: String::new(),
                    launches: calls,
                    sum,
                });
            }
            into.totals.push(Total {
                kind: SliceKind::Kernel,
                op: self.path(kernel.node),
                name,
                place: kernel.place,
                calls,
                total_ns,
                min_ns: None,
                max_ns: None,
                work,
            });
        }
        into.note_some(
            self.metadata_kernels,
            "kernel",
            file,
            "computed what others have to do, for the profile; left out",
        );
        if is_half {
            into.note("operations of 16 bits are taken as fp16: the file does not say whether they are bf16");
        }
        if !self.scope_figures.is_empty() {
            let names: Vec<String> = self.scope_figures.into_iter().take(8).collect();
            into.note(format!(
                "{file} has figures that are of no one kernel, and are left out: {}",
                names.join(", ")
            ));
        }
        if into.totals.is_empty() {
            into.note(format!(
                "{file} has no kernel with a time: nothing ran on a device while Proton was active, or it counted cycles within kernels"
            ));
        }
    }
}

impl OpenCall {
    /// Takes the name or the figures of a node in.
    fn take(&mut self, key: &str, object: &str, nodes: &mut [(String, usize)]) {
        let object = json::object(object).unwrap_or_default();
        if key == "frame" {
            if let (Some(name), Some(node)) =
                (json::text_of(&object, "name"), nodes.get_mut(self.number))
            {
                name.clone_into(&mut node.0);
            }
            return;
        }
        self.is_timed = object.contains_key(TIME);
        if let Some(device) = object.get("device_id").map(json::value_text) {
            self.place = match json::text_of(&object, "device_type") {
                Some("CUDA" | "HIP") | None => format!("GPU {device}"),
                Some(other) => format!("{other} {device}"),
            };
        }
        for (name, value) in &object {
            let value = value.as_f64().filter(|value| *value != 0.0);
            if let Some(value) = value {
                *self.figures.entry(name.clone()).or_default() += value;
            }
        }
    }
}

/// The work of a kernel, where both its operations and its bytes are given.
fn take_work(figures: &mut Figures) -> Option<Work> {
    let bytes = figures.get("bytes").copied().filter(|bytes| *bytes > 0.0)?;
    if figures.contains_key("flops8") || figures.contains_key("flops") {
        return None;
    }
    let mut given = OPERATIONS
        .into_iter()
        .filter_map(|(key, numbers)| Some((*figures.get(key)?, key, numbers)));
    let (operations, key, numbers) = given.next()?;
    if given.next().is_some() {
        return None;
    }
    let work = Work {
        operations: operations as u64,
        numbers,
        low_bytes: bytes as u64,
        high_bytes: bytes as u64,
    };
    figures.remove(key);
    figures.remove("bytes");
    Some(work)
}

/// A device of the list at the end: its architecture, multiprocessors, clocks in kHz and width of its memory in bits.
fn device_fact(name: &str, object: &str, into: &mut Imported) {
    let object = json::object(object).unwrap_or_default();
    let mhz = |key: &str| json::number_of(&object, key).map(|khz| format!("{} MHz", khz / 1e3));
    let parts = [
        object.get("arch").map(json::value_text),
        json::number_of(&object, "num_sms").map(|count| format!("{count} multiprocessors")),
        mhz("clock_rate"),
        mhz("memory_clock_rate").map(|clock| format!("memory {clock}")),
        json::number_of(&object, "bus_width").map(|bits| format!("{bits} bits")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    into.fact("device", format!("{name}: {}", parts.join(", ")));
}

/// Where a text of JSON ends that has begun.
fn text_end(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let place = from + text.get(from..)?.find(['"', '\\'])?;
        if text.get(place..)?.starts_with('"') {
            return Some(place);
        }
        // What is escaped may be a mark; a longer character is no boundary of ours.
        from = place + 1 + text.get(place + 1..)?.chars().next()?.len_utf8();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const MADE_UP: &str = "proton/made-up.hatchet";

    #[test]
    fn kernels_have_their_times_scopes_and_work() {
        let imported = testing::fixture(MADE_UP);
        assert_eq!(imported.format, "proton");
        let sum: u64 = imported.totals.iter().map(|total| total.total_ns).sum();
        assert_eq!((imported.totals.len(), sum), (8, 3_063_546));
        let library = &imported.totals[0];
        assert_eq!(library.name, "made_up_gemm_128x128");
        assert_eq!(library.op, "library [M=1024, N=1024, K=256]");
        assert_eq!(
            (library.place.as_str(), library.calls, library.total_ns),
            ("GPU 0", 100, 1_210_345)
        );
        // The figures of the scope are those of its only kernel: 2 MNK operations a call.
        let work = library.work.unwrap();
        assert_eq!(work.operations, 100 * 2 * 1024 * 1024 * 256);
        assert_eq!(
            (work.numbers, work.low_bytes),
            (NumberFormat::F16, 314_572_800)
        );
        let own = &imported.totals[1];
        assert_eq!((own.op.as_str(), own.work), ("", Some(work)));
        assert!(imported.counters.is_empty());
        let device = "CUDA 0: 90, 100 multiprocessors, 1700 MHz, memory 1500 MHz, 4096 bits";
        assert_eq!(imported.facts, [("device".to_owned(), device.to_owned())]);
    }

    #[test]
    fn scopes_in_scopes_are_a_path() {
        let imported = testing::fixture(MADE_UP);
        let softmax = &imported.totals[5];
        assert_eq!(
            (softmax.name.as_str(), softmax.op.as_str()),
            ("row_softmax_kernel", "network / layer_1 / attention")
        );
        assert_eq!(softmax.work.unwrap().numbers, NumberFormat::F32);
        let scale = &imported.totals[7];
        assert_eq!(
            (scale.op.as_str(), scale.work),
            ("network / layer_1 / norm", None)
        );
        assert_eq!(imported.notes.len(), 1, "{:?}", imported.notes);
    }

    fn node(name: &str, metrics: &str, children: &str) -> String {
        format!(
            r#"{{"children": [{children}], "frame": {{"name": "{name}", "type": "function"}}, "metrics": {{{metrics}}}}}"#
        )
    }

    #[test]
    fn kernels_of_the_metadata_are_left_out_and_figures_of_several_are_of_none() {
        let kernel = |name: &str| {
            let metrics = r#""count": 2, "device_id": "1", "device_type": "HIP", "time (ns)": 50, "flops8": 7"#;
            node(
                name,
                metrics,
                &node("/a/b.py:f@3", r#""num_samples": 5"#, ""),
            )
        };
        let metadata = node(METADATA, "", &kernel("shape"));
        let two = [kernel("a"), metadata, kernel("b")].join(",");
        let scope = node("/x/y/train.py:step@9", r#""flops16": 8, "bytes": 9"#, &two);
        let text = format!("[{}, {{}}]", node("ROOT", r#""time (ns)": 0"#, &scope));
        let imported = testing::imported(text).unwrap();
        assert_eq!(testing::totals(&imported), [("a", 2, 50), ("b", 2, 50)]);
        let total = &imported.totals[0];
        assert_eq!(
            (total.op.as_str(), total.place.as_str(), total.work),
            ("train.py:step@9", "GPU 1", None)
        );
        let counters = imported.counters.iter();
        let counters: Vec<(&str, f64)> = counters.map(|one| (one.name.as_str(), one.sum)).collect();
        let one = [("flops8", 7.0), ("num_samples", 5.0)];
        assert_eq!(counters, [one, one].concat());
        assert!(imported.notes[0].starts_with("1 kernel of file computed"));
        assert!(imported.notes[1].ends_with("left out: bytes, flops16"));
    }

    #[test]
    fn a_tree_may_be_deeper_than_json_usually_is() {
        let mut tree = node("k", r#""count": 1, "time (ns)": 3"#, "");
        for depth in 0..3000 {
            tree = node(&format!("f{depth}"), "", &tree);
        }
        let imported = testing::imported(format!("[{tree}]")).unwrap();
        let op = &imported.totals[0].op;
        assert!(op.starts_with("… / ") && op.ends_with(" / f1 / f0"), "{op}");
        let cut = testing::imported(format!("[{}", &tree[..tree.len() - 9])).unwrap();
        assert_eq!(testing::totals(&cut), [("k", 1, 3)]);
        assert_eq!(cut.notes.len(), 1, "{:?}", cut.notes);
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&FORMAT, &testing::raw(MADE_UP));
    }
}
