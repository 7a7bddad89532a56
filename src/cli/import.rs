//! `powerband import`: files of other tools, shown or kept as a session.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::process::ExitCode;
use std::sync::atomic::AtomicU64;

use anyhow::bail;
use serde_json::{Value, json};

use super::args::ImportArgs;
use super::{Context, output, signals};
use powerband_core::base::humanize;
use powerband_core::domain::profile::{MemoryUse, Profile, Total};
use powerband_core::domain::reported::Reported;
use powerband_core::domain::trace::SliceKind;
use powerband_devices::version;
use powerband_findings::analysis::category::Rules;
use powerband_findings::analysis::reported_stats;
use powerband_findings::export::{profile, terminal};
use powerband_findings::report::{job, kernels};
use powerband_import::benchmarks::timings::Columns;
use powerband_import::reading::read_progress::ReadProgress;
use powerband_import::reading::source::Limits;
use powerband_import::session::{self, ImportedSession};
use powerband_store::session_copy;
use powerband_store::session_file;

/// Rows of each kind that are shown.
const ROWS: usize = 20;
/// Letters of a stack's name.
const STACK: usize = 100;

/// Reads the files.
pub(super) fn run(context: &Context, args: &ImportArgs) -> anyhow::Result<ExitCode> {
    if let Some(out) = &args.out {
        session_file::check_target(out, args.force)?;
    }
    let limits = Limits {
        unpacked: args.unpack_limit.saturating_mul(1_000_000),
        keeps_args: args.out.is_some(),
    };
    let read = AtomicU64::new(0);
    let watch = ReadProgress {
        cancel: signals::listen()?.token(),
        progress: Some(&read),
    };
    let columns = args.columns.as_deref().map(columns).transpose()?;
    let mut taken = session::import_files(
        &args.files,
        columns.as_ref(),
        limits,
        &watch,
        version::VERSION,
    )?;
    if let Some(out) = &args.out {
        session_copy::keep(&mut taken.session, &taken.traces, out)?;
    }
    if args.json {
        let rules = Rules::with_user_rules(&context.settings.categories);
        output::document(&document(&taken, &rules))?;
    } else {
        output::answer(&text(&taken))?;
        for warning in &taken.session.warnings {
            output::note(&format!("Note: {warning}"));
        }
    }
    for companion in &taken.companions {
        output::note(&format!(
            "{} lies beside it and is of the same run: name it too to make one profile of both.",
            companion.display()
        ));
    }
    if let Some(out) = &args.out {
        output::note(&format!("Saved to {}", out.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Which column of a table is what.
fn columns(text: &str) -> anyhow::Result<Columns> {
    let mut columns = Columns::default();
    for part in text.split(',') {
        let Some((what, column)) = part.split_once('=') else {
            bail!(
                "--columns {part}: write the kind of a column and its name, as in time=latency_ms"
            );
        };
        let column = column.trim().to_owned();
        match what.trim() {
            "time" => columns.time = column,
            "unit" => columns.unit = Some(column),
            "name" => columns.name = Some(column),
            "batch" => columns.batch = Some(column),
            other => bail!(
                "--columns {other}=…: a column is time, name or batch; unit=ms sets the unit of the time"
            ),
        }
    }
    if columns.time.is_empty() {
        bail!("--columns names no column of times; write for example time=latency_ms");
    }
    Ok(columns)
}

/// One profile is the document itself; several are a list in it.
fn document(taken: &ImportedSession, rules: &Rules) -> Value {
    let session = &taken.session;
    let reported: Vec<Value> = session.reported.iter().map(profile::reported).collect();
    let mut profiles = session
        .profiles
        .iter()
        .map(|found| profile::document(found, rules, &session.warnings));
    let mut document = match (profiles.next(), session.profiles.len()) {
        (Some(only), 1) => only,
        (Some(first), _) => {
            let all: Vec<Value> = std::iter::once(first).chain(profiles).collect();
            json!({ "profiles": all, "warnings": session.warnings })
        }
        (None, _) => {
            // A profile without kernels has an empty list.
            let nothing = Profile {
                name: session.name.clone(),
                format: taken.format.clone(),
                tool: session.imported.clone().unwrap_or_default(),
                ..Profile::default()
            };
            profile::document(&nothing, rules, &session.warnings)
        }
    };
    if let Some(fields) = document.as_object_mut() {
        fields.insert("reported".to_owned(), Value::Array(reported));
    }
    document
}

fn text(taken: &ImportedSession) -> String {
    let profiles = taken.session.profiles.iter().map(profile_text);
    let reported = reported_text(&taken.session.reported);
    let parts: Vec<String> = profiles.chain(reported).collect();
    parts.join("\n")
}

fn profile_text(profile: &Profile) -> String {
    let mut text = format!("{}: {}", profile.name, profile.tool.name);
    if let Some(version) = &profile.tool.version {
        text.push_str(&format!(" {version}"));
    }
    text.push('\n');
    for (name, value) in &profile.facts {
        text.push_str(&format!("  {name}: {value}\n"));
    }
    let job = terminal::write(&job::blocks(profile));
    if !job.is_empty() {
        text.push_str(&format!("\n{job}\n"));
    }
    for kind in SliceKind::ALL {
        text.push_str(&kind_text(profile, kind));
    }
    let counters = terminal::write(&kernels::counters(profile, "", ROWS));
    if !counters.is_empty() {
        text.push_str(&format!("{counters}\n"));
    }
    for device in &profile.devices {
        text.push_str(&format!(
            "{}: busy for {} of {}\n",
            device.device,
            humanize::duration_ns(device.busy_ns as f64),
            humanize::duration_ns(device.span_ns as f64)
        ));
    }
    for memory in &profile.memory {
        text.push_str(&memory_text(memory));
    }
    text
}

/// What was in use at the peak, where that is known.
fn memory_text(memory: &MemoryUse) -> String {
    if memory.at_peak.is_empty() {
        return String::new();
    }
    let rows = memory.at_peak.iter().take(ROWS);
    let rows = rows.map(|(name, bytes)| {
        vec![
            humanize::shorten_middle(name, STACK),
            humanize::bytes(*bytes),
        ]
    });
    let peak = humanize::bytes(memory.peak_bytes);
    let title = format!("in use at the peak of {}, {peak}", memory.device);
    let mut text = humanize::table(&[title.as_str(), "Memory"], &rows.collect::<Vec<_>>(), 1);
    let more = memory.at_peak.len().saturating_sub(ROWS);
    if more > 0 {
        text.push_str(&format!("and {more} more\n"));
    }
    text
}

/// Times of one kind over all places, the longest first.
fn by_name(profile: &Profile, kind: SliceKind) -> Vec<Total> {
    let mut sums: BTreeMap<(&str, &str), Total> = BTreeMap::new();
    for total in profile.of_kind(kind) {
        match sums.entry((&total.name, &total.op)) {
            Entry::Vacant(free) => drop(free.insert(total.clone())),
            Entry::Occupied(mut known) => {
                let known = known.get_mut();
                known.calls += total.calls;
                known.total_ns = known.total_ns.saturating_add(total.total_ns);
            }
        }
    }
    let mut sums: Vec<Total> = sums.into_values().collect();
    sums.sort_by_key(|total| std::cmp::Reverse(total.total_ns));
    sums
}

/// The longest of one kind.
fn kind_text(profile: &Profile, kind: SliceKind) -> String {
    let summed = profile.summed_ns(kind);
    let totals = by_name(profile, kind);
    let rows: Vec<Vec<String>> = totals
        .iter()
        .take(ROWS)
        .map(|total| {
            let share = total.total_ns as f64 / (summed.max(1)) as f64;
            let share = if may_overlap(kind) {
                String::new()
            } else {
                format!("{:.1} %", share * 100.0)
            };
            vec![
                humanize::shorten(&total.name, 72),
                total.op.clone(),
                humanize::count(total.calls),
                humanize::duration_ns(total.total_ns as f64),
                share,
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let more = totals.len().saturating_sub(ROWS);
    let title = match kind {
        SliceKind::Copy => "copies".to_owned(),
        _ => format!("{}s", kind.title()),
    };
    let header = [title.as_str(), "Operator", "Calls", "Time", "Share"];
    let mut text = humanize::table(&header, &rows, 2);
    if more > 0 {
        text.push_str(&format!("and {more} more\n"));
    }
    if may_overlap(kind) {
        return text + "\n";
    }
    format!("{text}{} in all\n\n", humanize::duration_ns(summed as f64))
}

/// Whether slices of a kind overlap, so that their sum is meaningless.
fn may_overlap(kind: SliceKind) -> bool {
    matches!(kind, SliceKind::Range | SliceKind::Other)
}

/// Results of other programs.
fn reported_text(reported: &[Reported]) -> Option<String> {
    if reported.is_empty() {
        return None;
    }
    let mut text = String::new();
    for one in reported {
        text.push_str(&one.name);
        if let Some(point) = one.point {
            text.push_str(&format!(", {point}"));
        }
        if !one.samples_ns.is_empty() {
            text.push_str(&format!(
                ", {}",
                humanize::pluralised(one.samples_ns.len() as u64, "sample")
            ));
        }
        if let Some(typical) = one.typical_ns {
            text.push_str(&format!(", {}", humanize::duration_ns(typical as f64)));
        }
        text.push('\n');
        let stated = one
            .generation
            .as_ref()
            .map(reported_stats::generation_texts);
        for words in stated.unwrap_or_default() {
            text.push_str(&format!("  {words}\n"));
        }
        for figure in &one.figures {
            text.push_str(&format!(
                "  {}: {} {}\n",
                figure.name, figure.value, figure.unit
            ));
        }
        for objection in &one.objections {
            text.push_str(&format!("  not accepted: {objection}\n"));
        }
    }
    Some(text)
}
