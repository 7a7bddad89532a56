//! `rocprofv3 --kernel-trace`: one row a launch, with its times.
//!
//! Columns came and went between releases and changed their spelling, so they are found by name.

use crate::amd::common::{AmdEvent, Lane};
use crate::amd::event_table::{self, EventColumns};
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::reading::table::{TableRow, TextTable};
use crate::{Format, ImportError, Imported};
use powerband_core::domain::trace::SliceKind;

pub(crate) const FORMAT: Format = Format {
    id: "rocprofv3-kernels",
    title: "a kernel trace of rocprofv3",
    tool: "rocprofv3",
    name_ends: &["_kernel_trace.csv"],
    recognises: |head| head.has_columns(',', &["kind", "kernel_name", "start_timestamp"]),
    read,
};

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let table = TextTable::open(source, watch, ',', &["kernel_name"])?;
    let columns = EventColumns::find(&table);
    let shape = LaunchColumns::find(&table);
    let name = table.place(&["kernel_name"]);
    event_table::read_rows(table, source, into, |row, events| {
        let (start, end) = columns.span(row)?;
        let lane = match (columns.queue(row), row.whole_number(columns.stream)) {
            (Lane::Queue(agent, _), Some(stream)) => Lane::Stream(agent, stream),
            (queue, _) => queue,
        };
        events.push(&AmdEvent {
            kind: SliceKind::Kernel,
            name: lines::kernel_name(&row.name(name)),
            lane,
            start,
            end,
            link: columns.link(row),
            detail: &shape.launch_text(row),
        });
        Some(())
    })
}

/// The columns with the size of a launch and its use of the device.
pub struct LaunchColumns {
    columns: Vec<(&'static str, [Option<usize>; 3])>,
}

impl LaunchColumns {
    pub fn find(table: &TextTable<'_>) -> Self {
        let one = |names: &[&str]| [table.place(names), None, None];
        let three = |name: &str| {
            ["x", "y", "z"].map(|axis| {
                let whole = format!("{name}_{axis}");
                table.place(&[whole.as_str()])
            })
        };
        let either = |three: [Option<usize>; 3], one: [Option<usize>; 3]| {
            if three[0].is_some() { three } else { one }
        };
        let columns = vec![
            (
                "grid",
                either(three("grid_size"), one(&["grid_size", "grd"])),
            ),
            (
                "workgroup",
                either(three("workgroup_size"), one(&["workgroup_size", "wgr"])),
            ),
            (
                "LDS",
                one(&[
                    "lds_block_size",
                    "group_segment_size",
                    "lds_per_workgroup",
                    "lds",
                ]),
            ),
            (
                "scratch",
                one(&[
                    "scratch_size",
                    "private_segment_size",
                    "scratch_per_workitem",
                    "scr",
                ]),
            ),
            ("VGPR", one(&["vgpr_count", "arch_vgpr", "vgpr"])),
            ("AGPR", one(&["accum_vgpr_count", "accum_vgpr"])),
            ("SGPR", one(&["sgpr_count", "sgpr"])),
        ];
        Self { columns }
    }

    /// A row's sizes: `grid 1024x1024x1, workgroup 64x1x1, VGPR 8`.
    pub fn launch_text(&self, row: &TableRow<'_>) -> String {
        let mut words = String::new();
        for (title, places) in &self.columns {
            let sizes = places.iter().filter_map(|place| row.whole_number(*place));
            let sizes: Vec<String> = sizes.map(|size| size.to_string()).collect();
            // Unused resources are left out.
            if sizes.is_empty() || sizes == ["0"] {
                continue;
            }
            if !words.is_empty() {
                words.push_str(", ");
            }
            words.push_str(&format!("{title} {}", sizes.join("x")));
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cut_everywhere, fixture, sums, text};

    #[test]
    fn two_generations_of_columns_give_the_figures_of_the_files() {
        for (name, rows, names, total, top) in [
            (
                "docs-kernel_trace.csv",
                9,
                4,
                96160,
                ("void addition_kernel<float>(float*", 3, 34040),
            ),
            (
                "rocm62-docs-kernel_trace.csv",
                7,
                3,
                795_453,
                ("void addition_kernel<float>(float*", 4, 413_506),
            ),
            (
                "llamacpp-decode_kernel_trace.csv",
                144,
                17,
                1_857_381,
                (
                    "void mul_mat_vec_q<(ggml_type)13, 1, false, false>",
                    10,
                    807_978,
                ),
            ),
        ] {
            let imported = fixture(&format!("rocprofv3/{name}"));
            assert_eq!(imported.tool.name, "rocprofv3");
            assert_eq!(imported.trace.len(), rows, "{name}");
            let sums = sums(&imported, SliceKind::Kernel);
            assert_eq!(sums.len(), names, "{name}");
            assert_eq!(sums.iter().map(|sum| sum.2).sum::<u64>(), total);
            assert!(sums[0].0.starts_with(top.0), "{}", sums[0].0);
            assert_eq!((sums[0].1, sums[0].2), (top.1, top.2), "{name}");
            assert!(imported.notes.is_empty(), "{:?}", imported.notes);
        }
    }

    #[test]
    fn tracks_links_and_sizes_are_taken() {
        let imported = fixture("rocprofv3/docs-kernel_trace.csv");
        let slice = imported.trace.slice(0);
        let track = &imported.trace.tracks[slice.track as usize];
        assert_eq!(
            (track.device, track.group.as_str(), track.name.as_str()),
            (Some(4), "GPU 4", "stream 1")
        );
        assert_eq!(
            (slice.start_ns, slice.duration_ns, slice.link),
            (1_550_151_853_029_637, 12800, 1)
        );
        assert_eq!(
            imported.trace.names.get(slice.detail),
            "grid 1024x1024x1, workgroup 64x1x1, VGPR 8, SGPR 16"
        );
        let old = fixture("rocprofv3/rocm62-docs-kernel_trace.csv");
        assert_eq!(old.trace.tracks[0].name, "queue 1");
        assert_eq!(old.trace.slice(0).link, 1451);
    }

    #[test]
    fn spelling_and_order_of_columns_do_not_matter() {
        let imported = text(
            "k.csv",
            "\u{feff}\"Guid\",\"Kind\",\"End_Timestamp\",\"START_TIMESTAMP\",\"Kernel_Name\",\"Agent_Id\",\"Lds_Block_Size\",\"Vgpr_Count\"\r\n\
             \"g\",\"KERNEL_DISPATCH\",30,10,\"op \"a\", b(int).kd\",\"GPU 0\",512,8\r\n\
             \"g\",\"KERNEL_DISPATCH\",10,30,\"f\",\"GPU 0\",0,8\r\n\
             \"g\",\"KERNEL_DISPATCH\",NaN,30,\"f\",\"GPU 0\",0,8\r\n\
             \"g\",\"KERNEL_D",
        );
        assert_eq!(imported.trace.len(), 2);
        let slice = imported.trace.slice(0);
        assert_eq!(imported.trace.names.get(slice.name), "op \"a\", b(int)");
        assert_eq!(imported.trace.names.get(slice.detail), "LDS 512, VGPR 8");
        assert_eq!(imported.trace.slice(1).duration_ns, 0);
        assert_eq!(imported.notes.len(), 2, "{:?}", imported.notes);
        assert!(imported.notes[1].starts_with("2 rows of k.csv could not be read"));
    }

    #[test]
    fn a_file_that_is_cut_anywhere_is_read_up_to_there() {
        let lengths = cut_everywhere("rocprofv3/docs-kernel_trace.csv", 7, |imported| {
            imported.trace.len()
        });
        assert!(lengths.is_sorted() && lengths.contains(&8));
    }

    #[test]
    fn a_table_without_rows_is_no_error() {
        let imported = text("k.csv", "Kind,Kernel_Name,Start_Timestamp,End_Timestamp\n");
        assert!(imported.is_empty() && imported.notes[0].contains("holds nothing"));
    }
}
