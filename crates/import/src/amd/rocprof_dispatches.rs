//! `rocprof`'s `results.csv`: one row a launch, with times, with counters, or with both; also with the
//! names that rocprofiler-compute gives to the columns.

use crate::amd::common::{AmdEvent, Lane};
use crate::amd::event_table::{self, EventColumns};
use crate::amd::rocprofv3_counters::Counters;
use crate::amd::rocprofv3_kernels::LaunchColumns;
use crate::reading::head::FileHead;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::reading::table::{TextTable, plain_name};
use crate::{Format, ImportError, Imported};
use powerband_core::domain::trace::SliceKind;

/// Columns of every release that are no counters.
const PLAIN: [&str; 47] = [
    "index",
    "dispatch_id",
    "kernelname",
    "kernel_name",
    "kernel_id",
    "gpu_id",
    "queue_id",
    "queue_index",
    "pid",
    "tid",
    "grd",
    "grid_size",
    "wgr",
    "workgroup_size",
    "lds",
    "lds_per_workgroup",
    "scr",
    "scratch_per_workitem",
    "vgpr",
    "arch_vgpr",
    "accum_vgpr",
    "sgpr",
    "fbar",
    "wave_size",
    "sig",
    "obj",
    "dispatchns",
    "beginns",
    "endns",
    "completens",
    "durationns",
    "dispatch_timestamp",
    "start_timestamp",
    "end_timestamp",
    "complete_timestamp",
    "correlation_id",
    "node",
    "xcc_id",
    "xcc_index",
    "process_id",
    "thread_id",
    "agent_id",
    "stream_id",
    "guid",
    "__section",
    "__lane",
    "",
];

/// Whether a column is no counter. rocprofiler-compute joins tables of several runs, and then numbers what it finds again:
/// `Wave_Size_1`.
pub(crate) fn is_plain(column: &str) -> bool {
    let unnumbered = column.rsplit_once('_').filter(|(_, number)| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    PLAIN.contains(&column) || unnumbered.is_some_and(|(name, _)| PLAIN.contains(&name))
}

pub(crate) const FORMAT: Format = Format {
    id: "rocprof-dispatches",
    title: "launches of rocprof",
    tool: "",
    name_ends: &[],
    recognises,
    read,
};

fn recognises(head: &FileHead) -> bool {
    let columns: Vec<String> = head.columns(',').iter().map(|c| plain_name(c)).collect();
    let has = |name: &str| columns.iter().any(|column| column == name);
    (has("kernelname") || has("kernel_name")) && has("gpu_id") && !has("counter_name")
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let table = TextTable::open(source, watch, ',', &["kernelname", "kernel_name"])?;
    let columns = EventColumns::find(&table);
    let shape = LaunchColumns::find(&table);
    let name = table.place(&["kernelname", "kernel_name"]);
    let titles = table.columns.iter().zip(&table.titles).enumerate();
    let counted: Vec<(usize, String)> = titles
        .filter(|(_, (column, _))| !is_plain(column))
        .map(|(place, (_, title))| (place, title.trim().to_owned()))
        .collect();
    into.name_tool(if table.place(&["correlation_id"]).is_some() {
        "rocprofv3"
    } else {
        "rocprof"
    });
    if table.place(&["kernelname"]).is_none() {
        into.note(format!(
            "the columns of {} have the names that rocprofiler-compute gives them",
            source.name()
        ));
    }
    let mut counters = Counters::default();
    let (mut launches, mut rounded) = (0_u64, 0_u64);
    event_table::read_rows(table, source, into, |row, events| {
        let name = row.name(name);
        let kernel = lines::kernel_name(&name);
        let agent = row
            .whole_number(columns.agent)
            .filter(|_| !kernel.is_empty())?;
        launches += 1;
        for (place, counter) in &counted {
            if let Some(value) = lines::number(row.text(Some(*place))) {
                counters.add(kernel, counter, value);
            }
        }
        if columns.have_times() {
            let (start, end) = columns.span(row)?;
            if columns.is_rounded(row) {
                rounded += 1;
                return Some(());
            }
            events.push(&AmdEvent {
                kind: SliceKind::Kernel,
                name: kernel,
                lane: Lane::Queue(agent, row.whole_number(columns.queue).unwrap_or(0)),
                start,
                end,
                link: 0,
                detail: &shape.launch_text(row),
            });
        }
        Some(())
    })?;
    if !columns.have_times() && launches > 0 {
        into.note(format!(
            "{} has no times: how long its {launches} launches took is not known",
            source.name()
        ));
    }
    into.note_some(
        rounded,
        "row",
        &source.name(),
        "had rounded times, which end where they begin: how long these launches took is not known",
    );
    counters.finish(into);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cut_everywhere, fixture, fixtures, sums, text};

    #[test]
    fn launches_give_the_figures_of_the_file() {
        let imported = fixture("rocprof-v1/llamacpp-results.csv");
        let sums = sums(&imported, SliceKind::Kernel);
        assert_eq!((imported.trace.len(), sums.len()), (1963, 20));
        let time: u64 = sums.iter().map(|sum| sum.2).sum();
        assert_eq!(time, 662_138_329);
        assert!(
            sums[0]
                .0
                .starts_with("void mul_mat_q<(ggml_type)2, 128, false>(char const*")
        );
        assert!(sums[0].0.ends_with("int)"));
        assert_eq!((sums[0].1, sums[0].2), (442, 598_069_423));
        let (first, last) = imported.trace.extent().unwrap();
        assert_eq!(last - first, 1_469_813_799);
        assert!(
            imported
                .trace
                .tracks
                .iter()
                .all(|track| track.device == Some(2))
        );
        assert_eq!(imported.trace.tracks[0].name, "queue 0");
        assert_eq!(imported.tool.name, "rocprof");
        assert!(imported.counters.is_empty() && imported.notes.is_empty());
        let slice = imported.trace.slice(0);
        assert_eq!(
            imported.trace.names.get(slice.detail),
            "grid 256, workgroup 256, VGPR 16, SGPR 128"
        );
    }

    #[test]
    fn sums_of_the_same_run_are_left_out() {
        let both = fixtures(&[
            "rocprof-v1/llamacpp-results.stats.csv",
            "rocprof-v1/llamacpp-results.csv",
        ]);
        assert_eq!(
            (both.trace.len(), both.totals.len(), both.notes.len()),
            (1963, 0, 1)
        );
    }

    #[test]
    fn columns_may_have_other_names_and_counters_their_own() {
        let imported = fixture("rocprof-v1/counters-SQ_IFETCH_LEVEL.csv");
        let kernel = "vecCopy(double*, double*, double*, int, int)";
        assert_eq!(
            sums(&imported, SliceKind::Kernel),
            [(kernel.to_owned(), 3, 20640 + 15520 + 16480)]
        );
        let counters: Vec<(&str, u64, f64)> = imported
            .counters
            .iter()
            .map(|counter| (counter.name.as_str(), counter.launches, counter.sum))
            .collect();
        assert_eq!(
            counters,
            [
                ("GRBM_COUNT", 3, 28399.0 + 41854.0 + 42687.0),
                ("GRBM_GUI_ACTIVE", 3, 112_940.0),
                ("SQ_WAVES", 3, 49152.0),
                ("SQ_IFETCH", 3, 196_608.0),
                ("SQ_IFETCH_LEVEL", 3, 35134.0),
                ("SQ_ACCUM_PREV_HIRES", 3, 3_957_120.0),
            ]
        );
        assert_eq!(imported.tool.name, "rocprof");
        assert_eq!(imported.notes.len(), 2, "{:?}", imported.notes);
    }

    #[test]
    fn rounded_times_are_no_times_of_nothing() {
        let imported = fixture("rocprof-compute/vcopy-mi300a-SQ_IFETCH_LEVEL.csv");
        assert!(imported.trace.is_empty() && imported.totals.is_empty());
        assert_eq!(imported.counters.len(), 6);
        assert_eq!(imported.counters[0].launches, 3);
        assert!(
            imported
                .notes
                .iter()
                .any(|note| note.starts_with("3 rows of") && note.contains("not known")),
            "{:?}",
            imported.notes
        );
    }

    #[test]
    fn what_is_numbered_again_is_no_counter() {
        let imported = fixture("rocprof-compute/vcopy-mi300a-pmc_perf.excerpt.csv");
        let names: Vec<&str> = imported
            .counters
            .iter()
            .map(|counter| counter.name.as_str())
            .collect();
        assert!(
            names.contains(&"SQ_WAIT_INST_ANY") && names.contains(&"TCC_HIT[0]"),
            "{names:?}"
        );
        for plain in ["Wave_Size", "Correlation_ID", "XCC_Index"] {
            assert!(
                !names.iter().any(|name| name.starts_with(plain)),
                "{names:?}"
            );
        }
    }

    #[test]
    fn a_counter_run_without_times_has_no_launches_of_no_length() {
        let imported = text(
            "results.csv",
            "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,vgpr,sgpr,fbar,sig,obj,SQ_WAVES,TCP_HIT_sum\n\
             0,\"f(int, int) [clone .kd]\",0,0,0,1,1,64,64,0,0,8,16,0,0x0,0x7f,100.0000000000,2.5\n\
             1,\"f(int, int) [clone .kd]\",0,0,0,1,1,64,64,0,0,8,16,0,0x0,0x7f,100.0000000000,nan\n\
             2,\"f(int, int) [clone .kd]\",0,0\n",
        );
        assert!(imported.trace.is_empty());
        let counters: Vec<(&str, u64, f64)> = imported
            .counters
            .iter()
            .map(|counter| (counter.name.as_str(), counter.launches, counter.sum))
            .collect();
        assert_eq!(counters, [("SQ_WAVES", 2, 200.0), ("TCP_HIT_sum", 1, 2.5)]);
        assert!(
            imported.notes[0].starts_with("1 row"),
            "{:?}",
            imported.notes
        );
        assert!(
            imported.notes[1].contains("its 2 launches"),
            "{:?}",
            imported.notes
        );
    }

    #[test]
    fn a_file_that_is_cut_anywhere_is_read_up_to_there() {
        let lengths = cut_everywhere("rocprof-v1/counters-SQ_IFETCH_LEVEL.csv", 1, |imported| {
            imported.trace.len()
        });
        assert!(lengths.is_sorted() && lengths.contains(&3));
    }
}
