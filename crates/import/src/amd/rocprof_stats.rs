//! `rocprof --stats` and `rocprofv3 --stats`: one row a name with its calls and times, in nanoseconds.
//!
//! Old ones write names that hold commas without quotation marks, so rows are read from the right.

use crate::amd::common;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::reading::{lines, table};
use crate::{Format, ImportError, Imported};
use powerband_core::domain::profile::Total;
use powerband_core::domain::trace::SliceKind;

pub(crate) const FORMAT: Format = Format {
    id: "rocprof-stats",
    title: "statistics of rocprof",
    tool: "",
    name_ends: &[
        "_kernel_stats.csv",
        "_hip_api_stats.csv",
        "_hsa_api_stats.csv",
        "_memory_copy_stats.csv",
        "_marker_api_stats.csv",
        "_domain_stats.csv",
        ".stats.csv",
        ".hip_stats.csv",
        ".copy_stats.csv",
        "_memory_allocation_stats.csv",
        "_scratch_memory_stats.csv",
        "_rccl_api_stats.csv",
        ".hsa_stats.csv",
    ],
    recognises: |head| head.has_columns(',', &["name", "calls", "totaldurationns"]),
    read,
};

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut rows = text.lines().filter(|line| !line.trim().is_empty());
    let header = rows.next().unwrap_or_default();
    let columns: Vec<String> = lines::fields(header, ',')
        .iter()
        .map(|column| table::plain_name(column))
        .collect();
    let places = StatColumns::find(&columns);
    let tool = match places.min {
        Some(_) => "rocprofv3",
        None => "rocprof",
    };
    into.name_tool(tool);
    let mut totals = Vec::new();
    let mut unread = 0;
    for row in rows {
        match places.total(row, columns.len()) {
            Some(total) => totals.push(total),
            None => unread += 1,
        }
    }
    take(totals, &source.name(), into);
    table::note_unread(unread, source, into);
    Ok(())
}

/// Columns that are read, counted from the first number.
struct StatColumns {
    calls: Option<usize>,
    total: Option<usize>,
    min: Option<usize>,
    max: Option<usize>,
}

impl StatColumns {
    fn find(columns: &[String]) -> Self {
        let place = |name: &str| {
            let place = columns.iter().position(|column| column == name)?;
            place.checked_sub(1)
        };
        Self {
            calls: place("calls"),
            total: place("totaldurationns"),
            min: place("minns"),
            max: place("maxns"),
        }
    }

    /// A row: a name, and numbers.
    fn total(&self, row: &str, columns: usize) -> Option<Total> {
        let (name, numbers) = lines::name_then(row, ',', columns.checked_sub(1)?)?;
        let whole = |place: Option<usize>| {
            numbers
                .get(place?)
                .and_then(|cell| lines::whole_number(cell))
        };
        Some(Total {
            work: None,
            kind: SliceKind::Kernel,
            calls: whole(self.calls)?,
            total_ns: whole(self.total)?,
            min_ns: whole(self.min),
            max_ns: whole(self.max),
            name: lines::kernel_name(&name).to_owned(),
            op: String::new(),
            place: String::new(),
        })
    }
}

/// Finds the kind of the rows, and takes them in unless they repeat a trace.
fn take(mut totals: Vec<Total>, file: &str, into: &mut Imported) {
    if !totals.is_empty() && totals.iter().all(|total| is_domain(&total.name)) {
        into.note(
            "the times of whole domains lie over each other and over those of their calls, and are not added to them",
        );
        for total in &mut totals {
            total.kind = SliceKind::Range;
        }
    } else {
        let of_file = file_kind(&totals, file);
        for total in &mut totals {
            total.kind = row_kind(&total.name).unwrap_or(of_file);
        }
    }
    common::take_sums(totals, into);
}

/// The kind of a file's rows, where their names do not show it: its own name does, or all of them
/// are functions of one interface.
fn file_kind(totals: &[Total], file: &str) -> SliceKind {
    let has = |part: &str| file.contains(part);
    if has("kernel_stats") {
        SliceKind::Kernel
    } else if has("marker_api") || has("marker_stats") {
        SliceKind::Range
    } else if has("_api_stats") || has("hip_stats") || has("hsa_stats") || has("rccl_stats") {
        SliceKind::Call
    } else if has("copy_stats") {
        SliceKind::Copy
    } else if !totals.is_empty() && totals.iter().all(|total| is_call(&total.name)) {
        SliceKind::Call
    } else {
        SliceKind::Kernel
    }
}

/// What a row is whose name cannot be a kernel's.
fn row_kind(name: &str) -> Option<SliceKind> {
    let is_copy = name.starts_with("MEMORY_COPY_")
        || (name.starts_with("Copy")
            && name.contains("To")
            && name.chars().all(char::is_alphanumeric));
    if is_copy {
        Some(SliceKind::Copy)
    } else if name == "FillBuffer" {
        Some(SliceKind::Set)
    } else if name.starts_with("MEMORY_ALLOCATION_") || name.starts_with("SCRATCH_MEMORY_") {
        Some(SliceKind::Other)
    } else {
        None
    }
}

/// A domain of rocprofv3 as a whole.
pub(crate) fn is_domain(name: &str) -> bool {
    const DOMAINS: [&str; 16] = [
        "HSA_API",
        "HIP_API",
        "MARKER_API",
        "KERNEL_DISPATCH",
        "MEMORY_COPY",
        "SCRATCH_MEMORY",
        "COUNTER_COLLECTION",
        "RCCL_API",
        "MEMORY_ALLOCATION",
        "COUNTER_VALUES",
        "PC_SAMPLING_HOST_TRAP",
        "PC_SAMPLING_STOCHASTIC",
        "ROCDECODE_API",
        "ROCJPEG_API",
        "HIP_STREAM",
        "OMPT",
    ];
    DOMAINS.contains(&name)
}

/// `hipLaunchKernel`, `__hipPushCallConfiguration`, `hsa_queue_create`, `ncclAllReduce`.
pub(crate) fn is_call(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    let camel = |prefix: &str| {
        name.strip_prefix(prefix)
            .and_then(|rest| rest.chars().next())
            .is_some_and(char::is_uppercase)
    };
    (camel("hip") || camel("nccl") || name.starts_with("hsa_"))
        && !name.starts_with("ncclDevKernel")
        && !name.starts_with("ncclKernel")
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cut_everywhere, fixture, fixtures, text, totals};

    /// Kind, rows, calls, time, and the first row.
    fn figures(imported: &Imported) -> (SliceKind, usize, u64, u64, &str, u64, u64) {
        let totals = &imported.totals;
        assert!(totals.iter().all(|total| total.kind == totals[0].kind));
        (
            totals[0].kind,
            totals.len(),
            totals.iter().map(|total| total.calls).sum(),
            totals.iter().map(|total| total.total_ns).sum(),
            &totals[0].name,
            totals[0].calls,
            totals[0].total_ns,
        )
    }

    #[test]
    fn kernels_give_the_figures_of_the_files() {
        let old = fixture("rocprof-v1/llamacpp-results.stats.csv");
        let (kind, rows, calls, time, name, top_calls, top) = figures(&old);
        assert_eq!(
            (kind, rows, calls, time),
            (SliceKind::Kernel, 20, 1963, 662_138_329)
        );
        assert!(name.starts_with("void mul_mat_q<(ggml_type)2, 128, false>(char const*"));
        assert!(name.ends_with("int)"), "{name}");
        assert_eq!((top_calls, top), (442, 598_069_423));
        assert!((top as f64 / time as f64 - 0.903_239).abs() < 1e-6);
        assert_eq!((old.tool.name.as_str(), old.notes.len()), ("rocprof", 0));
        assert_eq!(old.totals[0].min_ns, None);

        let new = fixture("rocprofv3/resnet-cifar100-kernels_kernel_stats.head.csv");
        assert_eq!(
            figures(&new),
            (
                SliceKind::Kernel,
                9,
                17311,
                95_395_329,
                "__amd_rocclr_copyBuffer",
                7084,
                17_229_993
            )
        );
        assert_eq!(
            (new.totals[0].min_ns, new.totals[0].max_ns),
            (Some(601), Some(10656))
        );
        assert_eq!(new.tool.name, "rocprofv3");
    }

    #[test]
    fn calls_and_domains_give_the_figures_of_the_files() {
        let calls = fixture("rocprofv3/docs-hip_api_stats.csv");
        assert_eq!(
            figures(&calls),
            (
                SliceKind::Call,
                17,
                155,
                308_269_675,
                "hipStreamCreateWithFlags",
                4,
                262_497_406
            )
        );
        let domains = fixture("rocprofv3/docs-hip_domain_stats.csv");
        assert_eq!(
            figures(&domains),
            (
                SliceKind::Range,
                1,
                13,
                458_514_859,
                "HIP_API",
                13,
                458_514_859
            )
        );
        assert!(domains.notes[0].contains("lie over"));
    }

    #[test]
    fn names_of_four_are_not_quoted() {
        let imported = text(
            "results.stats.csv",
            "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n\
             void f<float, 4>(int, char const*) [clone .kd],2,300,150,75.0\n\
             Cijk_Ailk_Bljk_SB_MT64x64x16.kd,1,99,99,5.477e-05\n\
             g(int),1,x,1,24.0\n\
             h(int, int),3\n",
        );
        let names = totals(&imported);
        assert_eq!(
            names,
            [
                ("void f<float, 4>(int, char const*)", 2, 300),
                ("Cijk_Ailk_Bljk_SB_MT64x64x16", 1, 99)
            ]
        );
        assert!(imported.notes[0].starts_with("2 rows"));
    }

    #[test]
    fn what_rows_are_is_seen_by_their_names() {
        let header = "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n";
        let kinds = |file: &str, names: &[&str]| -> Vec<SliceKind> {
            let rows = names.join(
                ",1,2,2,50
",
            );
            let imported = text(
                file,
                &format!(
                    "{header}{rows},1,2,2,50
"
                ),
            );
            imported.totals.iter().map(|total| total.kind).collect()
        };
        use SliceKind::{Call, Copy, Kernel, Set};
        assert_eq!(
            kinds("x.csv", &["CopyHostToDevice", "FillBuffer"]),
            [Copy, Set]
        );
        assert_eq!(
            kinds("x.csv", &["hipMalloc", "__hipPopCallConfiguration"]),
            [Call, Call]
        );
        assert_eq!(kinds("x.csv", &["hsa_init", "ncclAllReduce"]), [Call, Call]);
        assert_eq!(
            kinds("ship_kernel_stats.csv", &["hipKernel", "f(int)"]),
            [Kernel, Kernel]
        );
        assert_eq!(
            kinds("ship.csv", &["ncclDevKernel_Generic", "f(int)"]),
            [Kernel, Kernel]
        );
    }

    #[test]
    fn sums_of_a_run_whose_launches_are_known_are_left_out() {
        let header = "Name,Calls,TotalDurationNs,AverageNs,Percentage,MinNs,MaxNs,StdDev\n";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1_kernel_stats.csv");
        std::fs::write(&path, format!("{header}f,1,2,2,100,2,2,0\n")).unwrap();
        let stats = path.to_string_lossy().into_owned();
        let trace = "rocprofv3/docs-kernel_trace.csv";
        for order in [[stats.as_str(), trace], [trace, stats.as_str()]] {
            let both = fixtures(&order);
            assert_eq!((both.trace.len(), both.totals.len()), (9, 0));
            assert!(both.notes[0].contains("left out"), "{:?}", both.notes);
        }
    }

    #[test]
    fn a_file_that_is_cut_anywhere_is_read_up_to_there() {
        cut_everywhere("rocprof-v1/llamacpp-results.stats.csv", 17, |_| ());
        cut_everywhere("rocprofv3/docs-hip_domain_stats.csv", 1, |_| ());
    }
}
