//! Files of other tools: a format is a constant in a file of its own, and content finds the right one.
//!
//! A file is recognised by its content, never by its name. Nothing found wrong in it costs more than
//! the part that is wrong: what could be read is kept, and notes say what could not.

pub mod amd;
pub mod benchmarks;
pub mod chrome;
pub mod google;
mod job;
pub mod machine;
pub mod nvidia;
pub mod pytorch;
pub mod reading;
pub mod records;
pub mod session;
#[cfg(test)]
mod test_databases;
#[cfg(test)]
pub mod testing;
pub mod unread;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use powerband_core::base::humanize;
use powerband_core::domain::network::Network;
use powerband_core::domain::profile::{Counter, MemoryUse, Tool, Total};
use powerband_core::domain::ranks::JobTimes;
use powerband_core::domain::reported::Reported;
use powerband_core::domain::telemetry::Telemetry;
use powerband_core::domain::trace::Trace;
use reading::head::FileHead;
use reading::read_progress::ReadProgress;
use reading::source::ImportSource;
use records::graph_launches::{self, GraphNode};

/// Every format, in the order in which they are asked whether a file is theirs: special ones before
/// general ones.
pub const ALL: &[&Format] = &[
    // Databases.
    &amd::rocpd::FORMAT,
    &amd::rpd::FORMAT,
    &nvidia::nsys::FORMAT,
    &nvidia::nvprof::FORMAT,
    &amd::rocprof_db::FORMAT,
    &amd::rocprof_db::COMPUTE,
    // Messages of protobuf.
    &google::xplane::FORMAT,
    &google::perfetto::FORMAT,
    // Events and records in JSON: first our own, which have names of any tool in them.
    &chrome::OWN,
    &chrome::rpd::FORMAT,
    &amd::rocprofv3_json::FORMAT,
    &amd::rocprof_json::FORMAT,
    &chrome::ONNX_RUNTIME,
    &chrome::xla::FORMAT,
    &chrome::PYTORCH,
    &pytorch::proton::FORMAT,
    &pytorch::memory_snapshot::FORMAT,
    // Tables.
    &amd::rocprof_input::FORMAT,
    &amd::rocprof_stats::FORMAT,
    &amd::rocprofv3_counters::FORMAT,
    &amd::rocprofv3_kernels::FORMAT,
    &amd::rocprofv3_api::FORMAT,
    &amd::rocprof_dispatches::FORMAT,
    &amd::rocprofv3_memory::COPIES,
    &amd::rocprofv3_memory::ALLOCATIONS,
    &amd::rocprofv3_memory::SCRATCH,
    &amd::rocprofv3_agents::FORMAT,
    &amd::rocprofv3_summary::FORMAT,
    &nvidia::ncu::FORMAT,
    &nvidia::nsys_stats::FORMAT,
    &nvidia::nvprof_text::FORMAT,
    &machine::perf_script::FORMAT,
    &machine::smi::NVIDIA,
    &machine::smi::AMD,
    // What benchmarks report.
    &nvidia::trtexec_times::FORMAT,
    &nvidia::trtexec_profile::FORMAT,
    &nvidia::trtexec_layers::FORMAT,
    &nvidia::trt_explorer::FORMAT,
    &nvidia::trtexec_log::FORMAT,
    &nvidia::trtllm_bench::FORMAT,
    &amd::migraphx_perf::FORMAT,
    &benchmarks::hyperfine::FORMAT,
    &benchmarks::google_benchmark::FORMAT,
    &benchmarks::pytest_benchmark::FORMAT,
    &benchmarks::criterion::FORMAT,
    &benchmarks::airspeed_velocity::FORMAT,
    &benchmarks::jmh::FORMAT,
    &nvidia::triton_perf_analyzer::FORMAT,
    &benchmarks::openvino_report::FORMAT,
    &benchmarks::openvino_counters::FORMAT,
    &benchmarks::openvino_graph::FORMAT,
    &benchmarks::openvino_log::FORMAT,
    &benchmarks::tflite::FORMAT,
    &benchmarks::deepspeed::FORMAT,
    &benchmarks::optimum_benchmark::FORMAT,
    &benchmarks::llama_bench::FORMAT,
    &benchmarks::vllm_bench::FORMAT,
    &benchmarks::aiperf::FORMAT,
    &benchmarks::genai_perf::FORMAT,
    &benchmarks::guidellm::FORMAT,
    &pytorch::torch_table::FORMAT,
    &pytorch::torch_benchmark::FORMAT,
    &pytorch::torch_trace::FORMAT,
    &benchmarks::loadgen::FORMAT,
    &benchmarks::hpctraining::FORMAT,
    &benchmarks::ort_perf_test::FORMAT,
    &benchmarks::aitemplate::FORMAT,
    // Whatever else is a list of events.
    &chrome::ANY,
];

#[derive(Debug)]
pub struct Format {
    /// Its identifier: `rocprofv3-kernels`.
    pub id: &'static str,
    /// What it is called, with its article.
    pub title: &'static str,
    /// The program that writes it; empty where only the content of a file shows it.
    pub(crate) tool: &'static str,
    /// How names end where a process writes several files: `_kernel_trace.csv`. What stands before the
    /// end is the same for all of them.
    pub(crate) name_ends: &'static [&'static str],
    /// Whether a file that begins so is one.
    pub(crate) recognises: fn(&FileHead) -> bool,
    /// Adds what a file holds.
    pub(crate) read: fn(&ImportSource, &ReadProgress<'_>, &mut Imported) -> Result<(), ImportError>,
}

impl Format {
    /// Reads a file and adds its contents. Damage is noted; an error means that nothing could
    /// be read.
    pub fn read(
        &self,
        source: &ImportSource,
        watch: &ReadProgress<'_>,
        into: &mut Imported,
    ) -> Result<(), ImportError> {
        into.name_tool(self.tool);
        (self.read)(source, watch, into)
    }
}

/// What a file, or a few that belong together, hold.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// The identifier of the first file's format.
    pub format: &'static str,
    /// Who wrote it.
    pub tool: Tool,
    /// What ran when, where the file has times.
    pub trace: Trace,
    /// Sums, where it has those alone.
    pub totals: Vec<Total>,
    /// Hardware counters.
    pub counters: Vec<Counter>,
    /// Memory, where the file records more of it than the timeline has, or has no timeline.
    pub memory: Vec<MemoryUse>,
    /// Readings of devices.
    pub telemetry: Telemetry,
    /// When nodes of CUDA graphs were made, where the file records it.
    pub graph_nodes: Vec<GraphNode>,
    /// Results of benchmarks.
    pub reported: Vec<Reported>,
    /// Layers of an engine, for files of the same run that have times alone.
    pub layers: Vec<Layer>,
    /// The graph of what ran, where the file has it.
    pub network: Option<Network>,
    /// Runs of the network that a profile covers.
    pub runs: Option<u64>,
    /// Cards, flags and versions, as the file names them.
    pub facts: Vec<(String, String)>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// What its ranks did, where it is of several of one job.
    pub job: Option<JobTimes>,
    /// The moment that times are counted from, in nanoseconds, where the files of one job may have several.
    pub clock_base_ns: i64,
    /// Whether a file ends before what was to be in it does.
    pub is_cut_off: bool,
}

/// A layer of an engine, without a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    pub name: String,
    /// Its type; empty where the file has none.
    pub kind: String,
    /// Its outputs, each with shape and format; empty where the file has none.
    pub outputs: String,
}

impl Imported {
    /// Adds a note, once.
    pub fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    /// Notes how some items were treated, where there are any: `3 rows of a.csv` and their fate. In the past tense
    /// it is the same for one as for many.
    pub(crate) fn note_some(&mut self, count: u64, what: &str, of: &str, fate: &str) {
        if count > 0 {
            self.note(format!(
                "{} of {of} {fate}",
                humanize::pluralised(count, what)
            ));
        }
    }

    /// Notes how much could not be read: a `row` or more, a `line` or more.
    pub(crate) fn note_unread(&mut self, count: u64, what: &str, of: &str) {
        self.note_some(count, what, of, "could not be read: cut off or damaged");
    }

    /// Notes that a file shows nothing that ran on a device, and what else may be the reason.
    pub(crate) fn note_idle_device(&mut self, file: &str, or_else: &str) {
        if self.trace.kinds().iter().all(|kind| !kind.is_work()) {
            self.note(format!(
                "{file} has no kernels and no copies: nothing ran on a GPU while it was written{or_else}"
            ));
        }
    }

    /// Notes that a file ends too early.
    pub(crate) fn note_cut(&mut self, file: &str) {
        self.note(format!(
            "{file} is cut off or damaged; what stands before that was read"
        ));
    }

    /// Names the program that wrote a file, unless another file of the same run named it.
    pub(crate) fn name_tool(&mut self, name: &str) {
        if self.tool.name.is_empty() {
            name.clone_into(&mut self.tool.name);
        }
    }

    /// Names the program's version, unless another file of the same run did.
    pub(crate) fn name_version(&mut self, version: &str) {
        let version = version.trim();
        if self.tool.version.is_none() && !version.is_empty() {
            self.tool.version = Some(version.to_owned());
        }
    }

    /// Keeps the command line, unless another file of the same run had one.
    pub(crate) fn keep_command(&mut self, command: &str) {
        let command = command.trim();
        if self.tool.command.is_none() && !command.is_empty() {
            self.tool.command = Some(command.to_owned());
        }
    }

    /// Adds a particular, unless it is empty.
    pub fn fact(&mut self, name: &str, value: impl Into<String>) {
        let value = value.into();
        let fact = (name.to_owned(), value);
        if !fact.1.is_empty() && !self.facts.contains(&fact) {
            self.facts.push(fact);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.trace.is_empty()
            && self.trace.memory.is_empty()
            && self.totals.is_empty()
            && self.counters.is_empty()
            && self.memory.is_empty()
            && self.reported.is_empty()
    }
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The system refuses.
    #[error("cannot read {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// It is empty.
    #[error("{} is empty. Tools that are killed leave empty files: let the program that is profiled end by itself", path.display())]
    Empty { path: PathBuf },
    /// It is a folder.
    #[error("{} is a folder; name the files in it", path.display())]
    Folder { path: PathBuf },
    /// It is a pipe, a device or a socket.
    #[error("{} is {what}, and only regular files are read: save its contents to a file, or pass them on standard input, with: powerband import -", path.display())]
    NotRegular {
        path: PathBuf,
        /// What it is, with its article.
        what: &'static str,
    },
    /// Git's stand-in for a large file.
    #[error("{} is a pointer of Git LFS in place of the file itself; fetch the file with: git lfs pull", path.display())]
    LfsPointer { path: PathBuf },
    /// Its format is not known.
    #[error("{} is of no format that Powerband knows: {looks}. docs/import.md lists the formats; a table of timings is read with --columns", path.display())]
    Unknown {
        path: PathBuf,
        /// What it looks like.
        looks: String,
    },
    /// It is known, and not read.
    #[error("{} is {title}, which Powerband does not read as it is. {helps}", path.display())]
    Unread {
        path: PathBuf,
        /// What it is, with its article.
        title: &'static str,
        /// The command or step that helps.
        helps: String,
    },
    /// There is more of it than is allowed.
    #[error("{} {how} more than {limit_mb} MB, which may be an accident or an attack; raise the limit with --unpack-limit", path.display())]
    TooLarge {
        path: PathBuf,
        /// `unpacks to` or `holds`.
        how: &'static str,
        /// The limit, in millions of bytes.
        limit_mb: u64,
    },
    /// It is of a known format and nothing in it can be read.
    #[error("{} is {title}, and cannot be used: {reason}", path.display())]
    Unusable {
        path: PathBuf,
        title: &'static str,
        /// What is wrong, and what helps.
        reason: String,
    },
    /// Stopped by the user.
    #[error("stopped")]
    Cancelled,
}

impl ImportError {
    /// The same for the window, where different steps help.
    pub fn in_window(&self) -> String {
        match self {
            Self::Unknown { path, looks } => format!(
                "{} is of no format that Powerband knows: {looks}. It opens sessions, ONNX files, and files of profilers and benchmarks; a table of your own is read on the command line, with powerband import",
                path.display()
            ),
            Self::TooLarge { path, limit_mb, .. } => format!(
                "{} unpacks to more than {limit_mb} MB, which may be an accident or an attack; if you trust it, unpack it yourself and open the result",
                path.display()
            ),
            Self::NotRegular { path, what } => format!(
                "{} is {what}, and only regular files are read: save its contents to a file and open that",
                path.display()
            ),
            other => other.to_string(),
        }
    }
}

/// Which format a file is of.
pub fn sniff(source: &ImportSource) -> Result<&'static Format, ImportError> {
    let beginning = source.beginning()?;
    let head = source.head_of(&beginning)?;
    let found = ALL.iter().find(|format| (format.recognises)(&head));
    found.copied().ok_or_else(|| {
        unread::refusal(source.path(), &beginning, &head).unwrap_or_else(|| ImportError::Unknown {
            path: source.path().to_path_buf(),
            looks: head.description(),
        })
    })
}

pub fn read(
    path: &Path,
    limits: reading::source::Limits,
    watch: &ReadProgress<'_>,
) -> Result<Imported, ImportError> {
    read_all(&[path], limits, watch)
}

/// Reads files of the same run.
pub fn read_all(
    paths: &[impl AsRef<Path>],
    limits: reading::source::Limits,
    watch: &ReadProgress<'_>,
) -> Result<Imported, ImportError> {
    let mut imported = Imported::default();
    for path in paths {
        add(path.as_ref(), limits, watch, &mut imported)?;
    }
    graph_launches::name_ops(&mut imported);
    Ok(imported)
}

/// Reads one more file of the same run. Behind the last one, [`graph_launches::name_ops`] has all that it needs.
pub fn add(
    path: &Path,
    limits: reading::source::Limits,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let source = ImportSource::open_named(path, limits, watch)?;
    let format = sniff(&source)?;
    if into.format.is_empty() {
        into.format = format.id;
    }
    let read = format.read(&source, watch, into);
    let change = source.change();
    match (read, change) {
        (Err(ImportError::Unusable { reason, .. }), Some(change)) => {
            return Err(source.unusable_error(format.title, format!("{reason}; {change}")));
        }
        (read, change) => {
            read?;
            if let Some(change) = change {
                into.note(change);
            }
        }
    }
    source.note_packing(into);
    records::clamp_implausible::clamp(into);
    if into.is_empty() && into.notes.is_empty() {
        into.note(format!(
            "{} holds nothing: {} without a single row",
            source.name(),
            format.title
        ));
    }
    Ok(())
}

/// Files beside this one that the same process wrote: `123_kernel_trace.csv` and
/// `123_hip_api_trace.csv`, or `results.csv` and `results.hip_stats.csv`.
pub fn companions(path: &Path) -> Vec<PathBuf> {
    let name = |path: &Path| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    let Some(stem) = name(path).as_deref().and_then(set_stem).map(str::to_owned) else {
        return Vec::new();
    };
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = fs::read_dir(folder.unwrap_or_else(|| Path::new("."))) else {
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(path.with_file_name(entry.ok()?.file_name())))
        .filter(|other| other != path && other.is_file())
        .filter(|other| name(other).as_deref().and_then(set_stem) == Some(&stem))
        .collect();
    found.sort();
    found
}

/// What the files of one process have in common in their names.
fn set_stem(name: &str) -> Option<&str> {
    let mut ends = ALL.iter().flat_map(|format| format.name_ends);
    ends.find_map(|end| name.strip_suffix(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_a_name_of_its_own() {
        let mut ids: Vec<&str> = ALL.iter().map(|format| format.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), ALL.len());
        assert!(ids.iter().all(|id| {
            id.chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        }));
    }

    #[test]
    fn files_of_one_process_are_found_together() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "12_kernel_trace.csv",
            "12_hip_api_trace.csv",
            "13_kernel_trace.csv",
            "12.txt",
        ] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let found = companions(&folder.path().join("12_kernel_trace.csv"));
        assert_eq!(found, [folder.path().join("12_hip_api_trace.csv")]);
        assert!(companions(&folder.path().join("12.txt")).is_empty());
    }

    #[test]
    fn what_cannot_be_opened_is_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let refused = |path: &Path| {
            let read = read(
                path,
                reading::source::Limits::default(),
                &ReadProgress::default(),
            );
            read.unwrap_err().to_string()
        };
        assert!(refused(&file("nothing.json", b"")).contains("is empty"));
        assert!(refused(folder.path()).contains("is a folder"));
        let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n";
        assert!(refused(&file("big.db", pointer)).contains("git lfs pull"));
        assert!(refused(&file("noise", &[0, 159, 146, 150])).contains("of no format"));
        assert!(refused(&folder.path().join("gone")).contains("cannot read"));
    }

    #[test]
    fn a_window_speaks_of_no_flags() {
        let path = || PathBuf::from("a.bin");
        let unknown = ImportError::Unknown {
            path: path(),
            looks: "text".to_owned(),
        };
        let large = ImportError::TooLarge {
            path: path(),
            how: "unpacks to",
            limit_mb: 500,
        };
        let pipe = ImportError::NotRegular {
            path: path(),
            what: "a pipe",
        };
        assert!(!pipe.in_window().contains("powerband import"));
        for error in [unknown, large] {
            let words = error.in_window();
            assert!(words.starts_with("a.bin ") && !words.ends_with('.'));
            assert!(!words.contains("--") && !words.contains("docs/"), "{words}");
            assert!(error.to_string().contains("--"));
        }
    }
}
