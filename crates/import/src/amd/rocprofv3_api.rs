//! `rocprofv3 --hip-trace`, `--hsa-trace`, `--marker-trace`, `--rccl-trace`: one row a call, also as
//! `rocpd convert` writes them.

use crate::amd::common::AmdEvent;
use crate::amd::event_table::{self, EventColumns};
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::reading::table::TextTable;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::trace::SliceKind;

pub(crate) const FORMAT: Format = Format {
    id: "rocprofv3-api",
    title: "a trace of calls or markers of rocprofv3",
    tool: "rocprofv3",
    name_ends: &[
        "_hip_api_trace.csv",
        "_hip_trace.csv",
        "_hsa_api_trace.csv",
        "_marker_api_trace.csv",
        "_rccl_api_trace.csv",
    ],
    recognises: |head| head.has_columns(',', &["domain", "function", "start_timestamp"]),
    read,
};

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let table = TextTable::open(source, watch, ',', &["function"])?;
    let columns = EventColumns::find(&table);
    let domain = table.place(&["domain"]);
    let function = table.place(&["function"]);
    event_table::read_rows(table, source, into, |row, events| {
        let (start, end) = columns.span(row)?;
        events.push(&AmdEvent {
            kind: kind(row.text(domain)),
            name: &row.name(function),
            lane: columns.thread(row),
            start,
            end,
            link: columns.link(row),
            detail: "",
        });
        Some(())
    })
}

/// What a row of a domain is: a marker names a stretch, all others are calls.
pub fn kind(domain: &str) -> SliceKind {
    if domain.starts_with("MARKER_CORE") {
        SliceKind::Range
    } else {
        SliceKind::Call
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cut_everywhere, fixture, fixtures, sums, text};

    #[test]
    fn calls_give_the_figures_of_the_files() {
        for (name, rows, total, top) in [
            (
                "docs-hip_trace.csv",
                17,
                476_345_901,
                ("hipStreamCreateWithFlags", 1, 325_385_467),
            ),
            (
                "docs-rocpd-to-csv.csv",
                13,
                173_915_064,
                ("hipMemcpy", 3, 116_827_533),
            ),
            (
                "llamacpp-decode_hip_api_trace.csv",
                920,
                4_449_331,
                ("hipLaunchKernel", 180, 3_491_687),
            ),
        ] {
            let imported = fixture(&format!("rocprofv3/{name}"));
            let sums = sums(&imported, SliceKind::Call);
            assert_eq!(imported.trace.len(), rows, "{name}");
            assert_eq!(sums.iter().map(|sum| sum.2).sum::<u64>(), total, "{name}");
            assert_eq!(sums[0], (top.0.to_owned(), top.1, top.2));
            assert!(imported.notes.is_empty(), "{:?}", imported.notes);
        }
        let imported = fixture("rocprofv3/docs-hip_trace.csv");
        let track = &imported.trace.tracks[0];
        assert_eq!(
            (track.device, track.group.as_str(), track.name.as_str()),
            (None, "process 15", "thread 15")
        );
        assert_eq!(imported.trace.slice(16).link, 17);
    }

    #[test]
    fn markers_are_ranges_and_marks_have_no_length() {
        let imported = fixture("rocprofv3/docs-marker_api_trace.csv");
        let sums = sums(&imported, SliceKind::Range);
        assert_eq!((imported.trace.len(), sums.len()), (5, 5));
        assert_eq!(sums.iter().map(|sum| sum.2).sum::<u64>(), 4_962_639);
        assert_eq!(sums[0], ("hipLaunchKernel range".to_owned(), 1, 1_813_674));
        assert_eq!(imported.trace.slice(0).duration_ns, 0);
        let last = imported.trace.slice(4);
        let track = &imported.trace.tracks[last.track as usize];
        assert_eq!(track.name, "all threads");
    }

    #[test]
    fn calls_and_their_kernels_have_a_link_in_common() {
        let imported = fixtures(&[
            "rocprofv3/llamacpp-decode_kernel_trace.csv",
            "rocprofv3/llamacpp-decode_hip_api_trace.csv",
        ]);
        let links = |kind: SliceKind| -> Vec<u64> {
            let slices = imported.trace.slices();
            let of_kind = slices.filter(|slice| slice.kind == kind);
            of_kind.map(|slice| slice.link).collect()
        };
        let calls = links(SliceKind::Call);
        let kernels = links(SliceKind::Kernel);
        let linked = kernels.iter().filter(|link| calls.contains(link)).count();
        assert_eq!((kernels.len(), linked), (144, 27));
    }

    #[test]
    fn a_row_that_is_cut_in_its_last_number_is_left_out() {
        let whole = "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\n\
                     MARKER_CORE_API,say \"a\", then \"b\",1,2,3,1000,2000\n\
                     HIP_RUNTIME_API,hipFree,1,2,4,3000,400";
        let imported = text("a.csv", whole);
        assert_eq!(imported.trace.len(), 1);
        let name = imported.trace.slice(0).name;
        assert_eq!(imported.trace.names.get(name), "say \"a\", then \"b\"");
        assert!(imported.notes[0].starts_with("1 row of a.csv"));
        let lengths = cut_everywhere("rocprofv3/docs-hip_trace.csv", 5, |imported| {
            imported.trace.len()
        });
        assert!(lengths.is_sorted());
    }
}
