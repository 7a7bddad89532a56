//! A stretch of a timeline as a figure: the slices of each track, with memory and devices below.

use std::collections::BTreeSet;

use super::lanes::Lane;
use super::ribbon::Ribbon;
use super::timeline::{Hue, hue, short};
use crate::analysis::timeline::Timeline;
use crate::analysis::timeline::detail::{LEVELS, Piece, PieceKind, TimelineView};
use crate::analysis::timeline::stretch::TimeRange;
use powerband_core::domain::trace::{SliceKind, Trace};

/// Parts into which the time is divided: what is shorter is drawn together.
const COLUMNS: f32 = 1_000.0;
/// Rows that are drawn.
const MOST_ROWS: usize = 80;
/// Lanes of memory that are drawn.
const MOST_LINES: usize = 4;

/// Something that ran, or several slices too short to draw separately.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnSlice {
    /// When it began, in nanoseconds of the timeline.
    pub from_ns: f64,
    /// When it ended.
    pub to_ns: f64,
    /// What it is; of several, what takes most of their time.
    pub kind: SliceKind,
    /// How strong its colour is.
    pub strength: f32,
    /// What it is called in short, and in full; nothing for several.
    pub name: Option<(String, String)>,
}

/// A stream, a queue or a thread.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureTrack {
    /// The device or process that it belongs to.
    pub group: String,
    pub name: String,
    /// Slices in rows, the outermost first.
    pub rows: Vec<Vec<DrawnSlice>>,
}

/// Memory in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigureMemoryLane {
    /// Whose.
    pub title: String,
    /// The most of all of the trace, in bytes.
    pub highest: u64,
    /// From when to when, in nanoseconds, and bytes: the most of each part.
    pub steps: Vec<(i64, i64, u64)>,
}

/// A range of a timeline as a figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimelineFigure {
    pub title: String,
    /// From when to when.
    pub stretch: TimeRange,
    /// What is different, where two timelines are compared.
    pub ribbon: Option<Ribbon>,
    /// Tracks from top to bottom.
    pub tracks: Vec<FigureTrack>,
    /// How many more there are, which are not drawn.
    pub more: usize,
    /// Memory, device by device.
    pub memory: Vec<FigureMemoryLane>,
    /// Device telemetry of that time.
    pub lanes: Vec<Lane>,
}

impl TimelineFigure {
    /// A stretch of a trace: the tracks at these places of the timeline, from top to bottom. Of tracks that are folded the first row is drawn.
    pub fn new(
        title: String,
        (trace, timeline): (&Trace, &Timeline),
        stretch: TimeRange,
        folded: &BTreeSet<u32>,
        shown: &[usize],
    ) -> Self {
        let look = TimelineView {
            stretch,
            pixels: COLUMNS,
        };
        let mut traced = Self {
            title,
            stretch,
            ..Self::default()
        };
        let mut rows = 0;
        let strands = shown.iter().filter_map(|place| timeline.tracks.get(*place));
        for strand in strands {
            let shown = if folded.contains(&strand.track) {
                strand.rows.start..strand.rows.end.min(strand.rows.start + 1)
            } else {
                strand.rows.clone()
            };
            if rows + shown.len() > MOST_ROWS && rows > 0 {
                traced.more += 1;
                continue;
            }
            rows += shown.len();
            let track = trace.tracks.get(strand.track as usize);
            traced.tracks.push(FigureTrack {
                group: track.map_or_else(String::new, |track| track.group.clone()),
                name: track.map_or_else(String::new, |track| track.name.clone()),
                rows: shown
                    .take(MOST_ROWS)
                    .map(|row| runs(trace, timeline, row, look))
                    .collect(),
            });
        }
        traced.memory = memory(timeline, look);
        traced
    }

    /// Whether nothing is to be seen.
    pub fn is_empty(&self) -> bool {
        self.tracks.is_empty()
    }

    /// Kinds that occur, in their order.
    pub fn kinds(&self) -> Vec<SliceKind> {
        let mut occurs = [false; SliceKind::ALL.len()];
        for row in self.tracks.iter().flat_map(|track| &track.rows) {
            for run in row {
                occurs[run.kind as usize] = true;
            }
        }
        let kinds = SliceKind::ALL.into_iter();
        kinds.filter(|kind| occurs[*kind as usize]).collect()
    }
}

/// The series' colour of a kind; nothing for grey.
pub fn series(kind: SliceKind) -> Option<usize> {
    match hue(kind) {
        Hue::Series(index) => Some(index),
        Hue::Grey => None,
    }
}

fn runs(trace: &Trace, timeline: &Timeline, row: usize, look: TimelineView) -> Vec<DrawnSlice> {
    let mut pieces = Vec::new();
    timeline.visible(row, look, &mut pieces);
    let Some(slices) = timeline.rows.get(row) else {
        return Vec::new();
    };
    let mut runs: Vec<DrawnSlice> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let mut run = match piece.what {
            PieceKind::Slice(at) => {
                let at = at as usize;
                let (from, to) = slices.times(at);
                let name = trace.names.get(slices.name(at));
                let kind = slices.kind(at);
                DrawnSlice {
                    from_ns: from as f64,
                    to_ns: to as f64,
                    kind,
                    strength: super::timeline::strength(timeline.shade(slices.name(at))),
                    name: Some((short(name, kind).to_owned(), name.to_owned())),
                }
            }
            PieceKind::Block { kind, level } => several(kind, level, piece, look),
        };
        // They are put into whole columns, and so may reach into what is before them.
        if let Some(before) = runs.last().filter(|_| run.name.is_none()) {
            run.from_ns = run.from_ns.max(before.to_ns).min(run.to_ns);
        }
        match runs.last_mut() {
            Some(before) if goes_on(before, &run, look) => before.to_ns = run.to_ns,
            _ => runs.push(run),
        }
    }
    runs
}

/// Several slices that are narrower than a column.
fn several(kind: SliceKind, level: u8, piece: Piece, look: TimelineView) -> DrawnSlice {
    debug_assert!(level <= LEVELS, "{level}");
    DrawnSlice {
        from_ns: look.time(f64::from(piece.left)),
        to_ns: look.time(f64::from(piece.right)),
        kind,
        strength: super::timeline::strength_of_several(level),
        name: None,
    }
}

/// Whether several short slices go on as those before them.
fn goes_on(before: &DrawnSlice, run: &DrawnSlice, look: TimelineView) -> bool {
    let is_like = before.name.is_none()
        && run.name.is_none()
        && before.kind == run.kind
        && before.strength == run.strength;
    is_like && run.from_ns - before.to_ns < 0.01 / look.scale()
}

fn memory(timeline: &Timeline, look: TimelineView) -> Vec<FigureMemoryLane> {
    let mut steps = Vec::new();
    let lines = timeline.lines.iter().take(MOST_LINES);
    lines
        .map(|line| {
            line.visible(look, &mut steps);
            let time = |x: f32| look.time(f64::from(x)).round() as i64;
            let steps = steps
                .iter()
                .map(|step| (time(step.left), time(step.right), step.value));
            FigureMemoryLane {
                title: line.title.clone(),
                highest: line.highest,
                steps: steps.collect(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::trace::{MemoryEvent, Slice, Track};

    fn trace() -> Trace {
        let mut trace = Trace::default();
        let names = ["void conv<4>(float*)", "tiny"].map(|name| trace.names.number(name));
        for (device, group) in [(Some(0), "GPU 0"), (None, "python")] {
            let track = trace.track(Track {
                device,
                group: group.to_owned(),
                name: "stream".to_owned(),
            });
            trace.push(Slice::new(SliceKind::Kernel, names[0], track, 0, 500_000));
            for n in 0..5_000 {
                let start = 500_000 + n * 100;
                trace.push(Slice::new(SliceKind::Copy, names[1], track, start, 60));
            }
        }
        trace.memory.push(MemoryEvent {
            at_ns: 100_000,
            device: Some(0),
            change: 4096,
            total: None,
            track: None,
            op: 0,
        });
        trace
    }

    fn test_figure(stretch: Option<TimeRange>) -> TimelineFigure {
        let trace = trace();
        let timeline = Timeline::from_trace(&trace);
        let stretch = stretch.unwrap_or_else(|| timeline.full_range());
        let title = "t".to_owned();
        let tracks: Vec<usize> = (0..timeline.tracks.len()).collect();
        TimelineFigure::new(
            title,
            (&trace, &timeline),
            stretch,
            &BTreeSet::new(),
            &tracks,
        )
    }

    #[test]
    fn what_is_long_has_its_name_and_what_is_short_is_drawn_together() {
        let traced = test_figure(None);
        assert_eq!(traced.tracks.len(), 2);
        let row = &traced.tracks[0].rows[0];
        let (short, whole) = row[0].name.as_ref().unwrap();
        assert_eq!(
            (short.as_str(), whole.as_str()),
            ("conv", "void conv<4>(float*)")
        );
        assert_eq!((row[0].from_ns, row[0].to_ns), (0.0, 500_000.0));
        assert!((2..40).contains(&row.len()), "{}", row.len());
        assert!(row[1..].iter().all(|run| run.name.is_none()));
        assert!(
            row.windows(2)
                .all(|pair| pair[1].from_ns >= pair[0].to_ns - 1.0)
        );
        assert_eq!(traced.kinds(), [SliceKind::Kernel, SliceKind::Copy]);
        let steps = &traced.memory[0].steps;
        assert!(
            steps
                .iter()
                .all(|(from, _, bytes)| *from >= 99_000 && *bytes == 4096)
        );
    }

    #[test]
    fn a_short_stretch_tells_short_slices_apart() {
        let traced = test_figure(Some(TimeRange::new(600_000.0, 610_000.0)));
        let row = &traced.tracks[0].rows[0];
        assert_eq!(row.len(), 100);
        assert_eq!(
            row[0].name.as_ref().map(|name| name.0.as_str()),
            Some("tiny")
        );
    }

    #[test]
    fn tracks_beyond_what_a_picture_holds_are_counted() {
        let mut trace = Trace::default();
        let name = trace.names.number("a");
        for n in 0..MOST_ROWS + 7 {
            let track = trace.track(Track {
                device: None,
                group: "python".to_owned(),
                name: format!("thread {n}"),
            });
            trace.push(Slice::new(SliceKind::Operator, name, track, 0, 10));
        }
        let timeline = Timeline::from_trace(&trace);
        let whole = timeline.full_range();
        let tracks: Vec<usize> = (0..timeline.tracks.len()).collect();
        let ready = (&trace, &timeline);
        let traced = TimelineFigure::new(String::new(), ready, whole, &BTreeSet::new(), &tracks);
        assert_eq!((traced.tracks.len(), traced.more), (MOST_ROWS, 7));
    }
}
