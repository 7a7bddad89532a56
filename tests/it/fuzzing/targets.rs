//! What is given damaged files: every format, and what is done in the program with all that they read.

use std::fs;
use std::path::Path;

use powerband_core::domain::session::Session;
use powerband_core::domain::trace::Trace;
use powerband_findings::analysis::breakdown::{self, BreakdownLevel};
use powerband_findings::analysis::category::Rules;
use powerband_findings::analysis::earlier_sessions::EarlierSessions;
use powerband_findings::analysis::kernel_comparison;
use powerband_findings::analysis::timeline::Timeline;
use powerband_findings::analysis::timeline::detail::TimelineView;
use powerband_findings::analysis::timeline::find::SearchHits;
use powerband_findings::analysis::timeline::selection::SelectionStatistics;
use powerband_findings::export::html;
use powerband_findings::report;
use powerband_findings::report::material::{ReportInputs, ReportedSession};
use powerband_import::benchmarks::timings;
use powerband_import::benchmarks::timings::Columns;
use powerband_import::reading::read_progress::ReadProgress;
use powerband_import::reading::source::ImportSource as File;
use powerband_import::session::{self, ImportedSession};
use powerband_import::{self as import, Format, ImportError, Imported};
use powerband_store::{session_file, trace_file};

use super::seeds::{self, LIMITS};

/// Something that reads files.
pub(super) struct Target {
    /// A format's identifier, `timings` or `any`.
    pub name: &'static str,
    reader: TargetReader,
    /// Files that it can read.
    pub seeds: Vec<Vec<u8>>,
}

enum TargetReader {
    /// The first format that recognises the file.
    Any,
    /// One format, whether it recognises the file or not.
    One(&'static Format),
    /// A table whose columns the user names.
    Timings,
}

/// Every target, with its files below the folder of the tests.
pub(super) fn all(tests: &Path) -> Vec<Target> {
    let files = seeds::all(tests);
    let of = |id: &str| {
        let seeds = files.iter().filter(|(known, _)| *known == id);
        seeds.map(|(_, bytes)| bytes.clone()).collect()
    };
    let mut targets: Vec<Target> = import::ALL
        .iter()
        .map(|format| Target {
            name: format.id,
            reader: TargetReader::One(format),
            seeds: of(format.id),
        })
        .collect();
    targets.push(Target {
        name: "timings",
        reader: TargetReader::Timings,
        seeds: [
            "name,batch,latency_ms\nresnet50,1,7.25\nresnet50,8,\"31,5\"\n# cold\nvgg,1,1e2\n",
            "name;batch;latency_ms\n\"a;b\";4;0.125\n",
            "latency_ms\tbatch\n1.5\t16\n",
        ]
        .map(|text| text.as_bytes().to_vec())
        .to_vec(),
    });
    targets.push(Target {
        name: "any",
        reader: TargetReader::Any,
        seeds: files.into_iter().map(|(_, bytes)| bytes).collect(),
    });
    targets
}

impl Target {
    /// Reads a file and uses what it holds. Gives in a line how that went, for telling new ways from old
    /// ones.
    pub(super) fn read(&self, path: &Path) -> String {
        match self.imported(path) {
            Ok(imported) => {
                let told = rough_counts(&imported);
                use_all(imported, path);
                told
            }
            Err(error) => {
                let error = error.to_string();
                assert!(!error.is_empty());
                format!("not read: {error}")
            }
        }
    }

    pub(super) fn imported(&self, path: &Path) -> Result<Imported, ImportError> {
        let (source, watch) = (File::open(path, LIMITS)?, ReadProgress::default());
        let mut into = Imported::default();
        match &self.reader {
            TargetReader::Any => import::sniff(&source)?.read(&source, &watch, &mut into)?,
            TargetReader::One(format) => format.read(&source, &watch, &mut into)?,
            TargetReader::Timings => {
                let columns = Columns {
                    time: "latency_ms".to_owned(),
                    unit: None,
                    name: Some("name".to_owned()),
                    batch: Some("batch".to_owned()),
                };
                timings::read(&source, &columns, &watch, &mut into)?;
            }
        }
        import::records::clamp_implausible::clamp(&mut into);
        import::records::graph_launches::name_ops(&mut into);
        Ok(into)
    }
}

/// What was found, roughly: powers of two of how much there is of everything.
fn rough_counts(imported: &Imported) -> String {
    let about = |count: usize| usize::BITS - count.leading_zeros();
    format!(
        "{} {} {} {} {} {} {} {} {:?}",
        about(imported.trace.len()),
        about(imported.trace.memory.len()),
        about(imported.totals.len()),
        about(imported.counters.len()),
        about(imported.memory.len()),
        about(imported.reported.len()),
        about(imported.layers.len()),
        about(imported.facts.len()),
        imported.notes,
    )
}

/// The session that a file becomes.
pub(super) fn session_of(imported: Imported) -> ImportedSession {
    session::session(vec![("damaged".to_owned(), imported)], "0.1.0")
}

/// Does with a file's content what the program does: a session that can be kept, sums, a comparison, a
/// timeline.
fn use_all(imported: Imported, path: &Path) {
    let taken = session_of(imported);
    let rules = Rules::default();
    for profile in &taken.session.profiles {
        for level in BreakdownLevel::ALL {
            let found = breakdown::profile_breakdown(profile, &rules, level);
            assert!(found.rows.iter().all(|row| row.share.is_finite()));
        }
        let with_itself = kernel_comparison::compare_profiles(profile, profile, &rules);
        assert!(with_itself.difference_ns().is_none_or(f64::is_finite));
    }
    let text = session_file::to_text(&taken.session).unwrap();
    let read = session_file::from_text(Path::new("damaged.ron"), &text).unwrap();
    let again = session_file::to_text(&read.session).unwrap();
    assert_eq!(text, again, "a session reads back as another one");
    // Reports and files on disk are slow beside all else.
    let is_thorough = text.len().is_multiple_of(8);
    if is_thorough {
        report_on(&taken.session, &rules);
    }
    for trace in &taken.traces {
        look_at(trace);
        if !is_thorough {
            continue;
        }
        let beside = path.with_extension("trace.json.gz");
        trace_file::write(&beside, trace).unwrap();
        let read = import::read(&beside, LIMITS, &ReadProgress::default());
        let times = |trace: &Trace| -> Vec<(i64, u64)> {
            let slices = trace.slices();
            slices
                .map(|slice| (slice.start_ns, slice.duration_ns))
                .collect()
        };
        let read = read.map(|back| times(&back.trace)).unwrap_or_default();
        assert!(read == times(trace), "a timeline reads back as another one");
        fs::remove_file(&beside).unwrap();
    }
}

/// Writes every kind of report, with its figures and verdicts.
fn report_on(session: &Session, rules: &Rules) {
    let source = || ReportedSession::new(session, None, None);
    for layout in report::ALL {
        let material = ReportInputs {
            first: source(),
            second: layout.is_of_two.then(source),
            earlier: EarlierSessions::default(),
            rules,
            title: None,
        };
        assert!(!html::write(&layout.write(&material)).is_empty());
    }
}

/// Draws, searches and measures a timeline.
fn look_at(trace: &Trace) {
    let timeline = Timeline::from_trace(trace);
    let whole = timeline.full_range();
    let mut pieces = Vec::new();
    for stretch in [whole, whole.zoomed(whole.middle(), 1000.0)] {
        for row in 0..timeline.rows.len() {
            let look = TimelineView {
                stretch,
                pixels: 400.0,
            };
            timeline.visible(row, look, &mut pieces);
            assert!(
                pieces
                    .iter()
                    .all(|piece| piece.left.is_finite() && piece.right.is_finite())
            );
            timeline.slices_at(row, stretch.middle(), 10.0);
        }
        SelectionStatistics::from_range(
            &timeline,
            stretch,
            std::slice::from_ref(&(0..timeline.rows.len())),
        );
    }
    SearchHits::search(trace, &timeline, "conv");
    for slice in 0..trace.len().min(50) {
        timeline.partners(trace, slice);
    }
}
