//! Files of tools that are known and not read: how each is recognised, its name, and what helps.
//!
//! Used where no format recognises a file. Content decides before the name; for packed or pickled files the name is
//! more specific.

use std::path::Path;

use super::ImportError;
use crate::reading::head::FileHead;
use crate::reading::standard_input;

#[cfg(test)]
mod tests;

/// As much of a file as words are looked for in.
const WORDS_WITHIN: usize = 8 * 1024;

/// A kind of file: its title with an article, any one sign in its content, ends of its names in small letters,
/// and what helps, in which `FILE` stands for the file's path.
struct UnreadFormat(
    &'static str,
    &'static [FormatMark],
    &'static [&'static str],
    &'static str,
);

/// What content is recognised by.
enum FormatMark {
    /// These bytes at this place.
    At(usize, &'static [u8]),
    /// All of these words near the beginning of a text.
    Words(&'static [&'static str]),
    /// All of these keys near the beginning of JSON.
    Keys(&'static [&'static str]),
    /// A check by a function, where bytes and words do not suffice.
    Like(fn(&[u8], &FileHead) -> bool),
}

use FormatMark::{At, Keys, Like, Words};

/// What helps with one look at cards.
const NVIDIA_SMI: &str = "Readings over time are read: nvidia-smi --query-gpu=timestamp,index,utilization.gpu,power.draw --format=csv -l 1 > readings.csv, or nvidia-smi dmon -o DT";
const AMD_SMI: &str = "Readings over time are read: amd-smi metric --usage --power --clock --temperature --watch 1 --csv > readings.csv";
/// What helps with the result of a test of a server.
const OF_A_SERVER: &str = "Its times can be brought along as a CSV with a row a request: powerband import times.csv --columns time=latency_ms";
/// Every kind, special ones before general ones.
#[rustfmt::skip]
const KNOWN: &[UnreadFormat] = &[
    UnreadFormat("a report of Nsight Systems", &[], &[".nsys-rep", ".qdrep"], "Export it, and import the result: nsys export --type sqlite FILE"),
    UnreadFormat("a raw stream of Nsight Systems", &[], &[".qdstrm"], "Open it in Nsight Systems once, which makes a report of it, and import the result of: nsys export --type sqlite REPORT"),
    UnreadFormat("a report of Nsight Compute", &[At(0, b"NVR\0")], &[".ncu-rep", ".ncu-repz"], "Export it, and import the result: ncu --import FILE --csv --page raw > kernels.csv"),
    UnreadFormat("an event file of TensorBoard", &[Like(is_tfevents)], &[], "It has values over the steps of a training; profiles of the same training lie below plugins/profile/, in files that end in .xplane.pb or .trace.json.gz, which are read"),
    UnreadFormat("a recording of perf", &[At(0, b"PERFILE2"), At(0, b"2ELIFREP"), At(0, b"PERFFILE")], &["perf.data"], "Export it, and import the result: perf script -i FILE > samples.txt"),
    UnreadFormat("a list of Inductor's kernels with the nodes that each carries out", &[Keys(&["post_grad_nodes", "pre_grad_nodes"]), Keys(&["stack_traces", "post_grad_nodes"]), Keys(&["preToPost", "postToPre"])], &[], "It has no times: record the same run with torch.profiler, whose trace has each kernel with its time and its operator, from export_chrome_trace(\"trace.json.gz\")"),
    UnreadFormat("a memory timeline of PyTorch", &[Like(is_memory_timeline)], &[], "It has the memory over time by what it is for, and no time of any operator: python -m json.tool FILE shows it, and the trace of torch.profiler.profile(profile_memory=True) is read, with each allocation and the operator that asked for it"),
    UnreadFormat("an execution trace of PyTorch", &[Keys(&["schema", "nodes", "rf_id", "op_schema"]), Keys(&["schema", "nodes", "fw_parent"])], &[], "It has the operators of a run and none of their times: record the same run with torch.profiler too, whose trace of the same operators is read, from export_chrome_trace(\"trace.json.gz\")"),
    UnreadFormat("a thread trace of rocprofv3", &[Words(&["CodeObj", "Vaddr", "Hitcount"]), Keys(&["wave_filenames"]), Keys(&["code", "version", "header"])], &[".att"], "It counts the cycles of instructions within a kernel, which ROCprof Compute Viewer shows; rocprofv3 --kernel-trace writes how long each kernel took, which is read"),
    UnreadFormat("an output of nvidia-smi", &[Words(&["NVIDIA-SMI "]), Words(&["NVSMI LOG"]), Words(&["<nvidia_smi_log>"]), Words(&["# gpu", "pwr", "mtemp"]), Words(&["#Time", " gpu "]), Words(&["#Date", " gpu "]), Like(is_smi_query)], &[], NVIDIA_SMI),
    UnreadFormat("an output of rocm-smi", &[Words(&["ROCm System Management Interface"]), Words(&["device,", "\ncard0,"]), Like(is_rocm_smi_json)], &[], AMD_SMI),
    UnreadFormat("an output of amd-smi", &[Words(&["| AMD-SMI "]), Words(&["GPU", "POWER", "GPU_T", "MEM_T"]), Words(&["GPU: 0", "GFX_ACTIVITY"]), Words(&["GPU: 0", "MARKET_NAME"]), Keys(&["gpu", "gfx_activity"]), Keys(&["gpu", "asic"])], &[], AMD_SMI),
    UnreadFormat("a result of SGLang's benchmark", &[Keys(&["sharegpt_output_len", "random_output_len", "request_rate"]), Keys(&["mean_e2e_latency_ms", "backend", "dataset_name"]), Keys(&["prefill_latency", "prefill_throughput"]), Words(&["Serving Benchmark Result", "Backend:"])], &[], OF_A_SERVER),
    UnreadFormat("a printed result of vLLM's benchmark", &[Words(&["Serving Benchmark Result"])], &[], "vllm bench serve --save-result writes a file that is read"),
    UnreadFormat("a report of GuideLLM in YAML", &[Words(&["generative_benchmark"])], &[], "GuideLLM writes the same report as JSON, which is read: name the file of its output benchmarks.json"),
    UnreadFormat("a session of Powerband", &[Words(&["// A Powerband session."]), Like(is_session)], &[], "powerband show FILE prints it"),
    UnreadFormat("an ONNX file", &[Like(is_onnx)], &[".onnx"], "powerband bench FILE measures it, and powerband model FILE shows its contents"),
];

/// Packed files, whose content shows only the packing.
#[rustfmt::skip]
const PACKED: &[UnreadFormat] = &[
    UnreadFormat("a zip archive", &[At(0, b"PK\x03\x04"), At(0, b"PK\x05\x06")], &[".zip"], "Unpack it, and import the files that were in it: unzip FILE"),
    UnreadFormat("a tar archive", &[At(257, b"ustar")], &[".tar"], "Unpack it, and import the files that were in it: tar -xf FILE"),
    UnreadFormat("packed with zstd", &[At(0, b"\x28\xb5\x2f\xfd")], &[".zst"], "Unpack it, and import the result: zstd -d FILE"),
    UnreadFormat("packed with xz", &[At(0, b"\xfd7zXZ\0")], &[".xz"], "Unpack it, and import the result: xz -dk FILE"),
    UnreadFormat("packed with bzip2", &[At(0, b"BZh")], &[".bz2"], "Unpack it, and import the result: bzip2 -dk FILE"),
    UnreadFormat("a 7-Zip archive", &[At(0, b"7z\xbc\xaf\x27\x1c")], &[".7z"], "Unpack it, and import the files that were in it: 7z x FILE"),
    UnreadFormat("a pickle of Python", &[Like(is_pickle)], &[".pickle", ".pkl"], "Reading one runs its code, so none is read: save its numbers as CSV or JSON in Python"),
];

/// The message about a file that no format recognises; nothing where it is not known either.
pub fn refusal(path: &Path, beginning: &[u8], head: &FileHead) -> Option<ImportError> {
    let shows = |kind: &&UnreadFormat| kind.1.iter().any(|sign| sign.is_in(beginning, head));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_lowercase();
    let is_named = |kind: &&UnreadFormat| kind.2.iter().any(|end| name.ends_with(end));
    let UnreadFormat(title, _, _, helps) = (KNOWN.iter().find(shows))
        .or_else(|| KNOWN.iter().find(is_named))
        .or_else(|| PACKED.iter().find(shows))
        .or_else(|| PACKED.iter().find(is_named))?;
    let helps = if path == Path::new(standard_input::NAME) {
        (*helps).to_owned()
    } else {
        helps.replace("FILE", &path.display().to_string())
    };
    Some(ImportError::Unread {
        path: path.to_path_buf(),
        title,
        helps,
    })
}

impl FormatMark {
    fn is_in(&self, beginning: &[u8], head: &FileHead) -> bool {
        match self {
            At(place, bytes) => beginning
                .get(*place..)
                .is_some_and(|rest| rest.starts_with(bytes)),
            Words(words) => {
                let text = first_words(head);
                words.iter().all(|word| text.contains(word))
            }
            Keys(keys) => keys.iter().all(|key| head.has_key(key)),
            Like(is_like) => is_like(beginning, head),
        }
    }
}

/// The beginning of a text; empty where it is none.
fn first_words(head: &FileHead) -> &str {
    let text = head.any_text().unwrap_or_default();
    text.get(..text.floor_char_boundary(WORDS_WITHIN))
        .unwrap_or(text)
}

/// Whether the beginning contains some bytes.
fn contains_bytes(beginning: &[u8], wanted: &[u8]) -> bool {
    beginning
        .windows(wanted.len())
        .any(|window| window == wanted)
}

/// Records with a length and a checksum before each; the first one has the version of the format.
fn is_tfevents(beginning: &[u8], _: &FileHead) -> bool {
    let first = &beginning[..beginning.len().min(64)];
    first.get(12) == Some(&0x09) && contains_bytes(first, b"brain.Event:")
}

/// The page of `export_memory_timeline`, or its lists: times and sizes, or events with a time, an action and a size.
fn is_memory_timeline(_: &[u8], head: &FileHead) -> bool {
    if head
        .any_text()
        .is_some_and(|text| text.contains("<title>GPU Memory Timeline HTML</title>"))
    {
        return true;
    }
    let Some(text) = head.json().filter(|_| head.is_list()) else {
        return false;
    };
    let Some(first) = text.trim_start().strip_prefix('[').map(str::trim_start) else {
        return false;
    };
    let row = first
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'));
    let numbers: Vec<Option<i64>> = row
        .map_or("", |(row, _)| row)
        .split(',')
        .map(|cell| cell.trim().parse().ok())
        .collect();
    // A list of times is long; an event is a time, one of four actions, a size, and one of eight categories.
    match numbers.as_slice() {
        [Some(-1 | 1_000_000..), Some(0..=3), Some(0..), Some(0..=8)] => true,
        [Some(1_000_000..), _, _, _, _, ..] => text.contains("]], [[") || text.contains("], [["),
        _ => false,
    }
}

fn is_pickle(beginning: &[u8], _: &FileHead) -> bool {
    matches!(beginning, [0x80, 2..=5, ..])
}

/// The header of `nvidia-smi --query-gpu=… --format=csv`.
fn is_smi_query(_: &[u8], head: &FileHead) -> bool {
    let line = head.first_line().unwrap_or_default();
    let columns = [
        "utilization.gpu [%]",
        "power.draw [W]",
        "memory.used [MiB]",
        "clocks.current.sm [MHz]",
        "temperature.gpu",
    ];
    columns.iter().any(|column| line.contains(column))
}

fn is_rocm_smi_json(_: &[u8], head: &FileHead) -> bool {
    let text = head.json().unwrap_or_default();
    let inner = text.trim_start().trim_start_matches('{').trim_start();
    inner.starts_with("\"card0\"")
}

/// A session without its first line.
fn is_session(_: &[u8], head: &FileHead) -> bool {
    let text = first_words(head).trim_start();
    text.starts_with('(') && text[1..].trim_start().starts_with("version:")
}

/// A model begins with the version of its format, and then comes its producer, its domain or its graph.
fn is_onnx(beginning: &[u8], _: &FileHead) -> bool {
    matches!(
        beginning,
        [0x08, 1..=20, 0x12 | 0x1a | 0x22 | 0x3a | 0x42, ..]
    )
}
