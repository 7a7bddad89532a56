//! `rocprof --stats` and `rocprofv3 --stats`: one row a name with its calls and times, in nanoseconds.
//!
//! Old ones write names that hold commas without quotation marks, so rows are read from the right.

use super::head::Head;
use super::source::Source;
use super::watch::Watch;
use super::{ImportError, Imported, Importer, lines};
use crate::domain::profile::Total;
use crate::domain::trace::SliceKind;

/// The format.
#[derive(Debug)]
pub struct RocprofStats;

impl Importer for RocprofStats {
    fn id(&self) -> &'static str {
        "rocprof-stats"
    }

    fn title(&self) -> &'static str {
        "statistics of rocprof"
    }

    fn recognises(&self, head: &Head) -> bool {
        head.has_columns(',', &["name", "calls", "totaldurationns"])
    }

    fn read(
        &self,
        source: &Source,
        watch: &Watch<'_>,
        into: &mut Imported,
    ) -> Result<(), ImportError> {
        let (text, _) = source.text(watch)?;
        let mut rows = text.lines().filter(|line| !line.trim().is_empty());
        let header = rows.next().unwrap_or_default();
        let columns: Vec<String> = lines::fields(header, ',')
            .iter()
            .map(|column| column.to_lowercase())
            .collect();
        let place = |name: &str| columns.iter().position(|column| column == name);
        let is_v3 = place("minns").is_some();
        if into.tool.name.is_empty() {
            let name = if is_v3 { "rocprofv3" } else { "rocprof" };
            name.clone_into(&mut into.tool.name);
        }
        if source.name().contains("domain_stats") {
            into.note("the times of whole domains lie over those of their calls, and are not added to them");
        }
        let mut unread = 0;
        for row in rows {
            match total(
                row,
                columns.len(),
                place("minns"),
                place("maxns"),
                &source.name(),
            ) {
                Some(total) => into.totals.push(total),
                None => unread += 1,
            }
        }
        if unread > 0 {
            into.note(format!(
                "{unread} rows of {} could not be read: they are cut off or hold something else than numbers",
                source.name()
            ));
        }
        Ok(())
    }
}

/// A row: name, calls, total, mean, share and whatever follows.
fn total(
    row: &str,
    columns: usize,
    min: Option<usize>,
    max: Option<usize>,
    file: &str,
) -> Option<Total> {
    let (name, numbers) = lines::name_then(row, ',', columns.checked_sub(1)?)?;
    let at = |place: Option<usize>| numbers.get(place?.checked_sub(1)?).copied();
    Some(Total {
        kind: kind(&name, file),
        calls: lines::whole(at(Some(1))?)?,
        total_ns: lines::whole(at(Some(2))?)?,
        min_ns: at(min).and_then(lines::whole),
        max_ns: at(max).and_then(lines::whole),
        name,
        op: String::new(),
        place: String::new(),
    })
}

/// What a name is: rocprof has a file for each kind, and its names tell too.
fn kind(name: &str, file: &str) -> SliceKind {
    let is_copy =
        name.starts_with("MEMORY_COPY_") || (name.starts_with("Copy") && name.contains("To"));
    if file.contains("domain_stats") {
        SliceKind::Range
    } else if is_copy || file.contains("copy_stats") {
        if name == "FillBuffer" {
            SliceKind::Set
        } else {
            SliceKind::Copy
        }
    } else if file.contains("marker_api") {
        SliceKind::Range
    } else if file.contains("hip") || file.contains("hsa") || file.contains("rccl") || is_call(name)
    {
        SliceKind::Call
    } else {
        SliceKind::Kernel
    }
}

/// `hipLaunchKernel`, `__hipPushCallConfiguration`, `hsa_queue_create`.
fn is_call(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    let camel = |prefix: &str| {
        name.strip_prefix(prefix)
            .and_then(|rest| rest.chars().next())
            .is_some_and(char::is_uppercase)
    };
    (camel("hip") || name.starts_with("hsa_"))
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}
