//! Profiles of XLA, which JAX and `TensorFlow` write for `XProf` and `TensorBoard` (`*.xplane.pb`).
//!
//! A plane is a device or the host, a line of it a stream or a thread, and names stand in tables behind the lines, so a
//! plane is read as a whole. `XProf` makes `*.trace.json.gz` of the same planes; what is a kernel, an operator or a range
//! is decided there, in `chrome/xla.rs`, once for both files.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::chrome::{TrackTitles, xla};
use crate::reading::head::FileHead;
use crate::reading::protobuf::{FieldValue, Fields, field_bytes};
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::reading::{lines, messages, protobuf};
use crate::records::nesting;
use crate::{Format, ImportError, Imported};
use powerband_core::base::humanize;
use powerband_core::domain::slice_args::ArgsText;
use powerband_core::domain::trace::{Slice, Trace, Track};

/// What names of planes begin with.
const PLANES: [&[u8]; 4] = [b"/host:", b"/device:", b"/task:", b"Task Environment"];
/// What the profiler itself reports is shown up to this many messages and signs.
const REPORTS: (usize, usize) = (8, 200);

/// The profiler of JAX and `TensorFlow`.
pub(crate) const FORMAT: Format = Format {
    id: "xplane",
    title: "a profile of XLA (JAX, TensorFlow)",
    tool: xla::TOOL,
    name_ends: &[],
    recognises,
    read,
};

fn recognises(head: &FileHead) -> bool {
    // The name stands at the beginning of a plane, so one that is cut has it too.
    let mut planes = protobuf::first_messages(head.messages().unwrap_or_default());
    planes.any(|(_, plane)| {
        let name = field_bytes(plane, 2);
        PLANES.iter().any(|begin| name.starts_with(begin))
    })
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let mut profile = XlaProfile {
        keeps_args: source.limits().keeps_args,
        ..XlaProfile::default()
    };
    let end = messages::read_messages(source, watch, |field, message| match field {
        1 => profile.plane(&Plane::new(message)),
        2 | 3 => profile.reports.push(message.to_vec()),
        _ => {}
    })?;
    let file = source.name();
    end.note(&file, into);
    if profile.n_planes == 0 {
        return Err(source.unusable_error(FORMAT.title, "there is no whole plane in it"));
    }
    for report in profile.reports.iter().take(REPORTS.0) {
        let text = String::from_utf8_lossy(report);
        into.note(format!(
            "the profiler reports: {}",
            humanize::shorten(text.trim(), REPORTS.1)
        ));
    }
    into.note_unread(profile.damaged, "message", &file);
    into.note_some(profile.timeless, "event", &file, "had no time; left out");
    for (name, value) in &profile.facts {
        into.fact(name, value.as_str());
    }
    xla::sort(&mut profile.trace, &profile.titles);
    drop(into.trace.append(profile.trace));
    nesting::name_ops(&mut into.trace);
    Ok(())
}

/// A plane, with its names looked up and its events still in their bytes.
struct Plane<'a> {
    name: Cow<'a, str>,
    lines: Vec<&'a [u8]>,
    events: FxHashMap<u64, EventNames<'a>>,
    /// Names of statistics, and texts that these refer to.
    texts: FxHashMap<u64, Cow<'a, str>>,
    stats: Vec<&'a [u8]>,
    is_damaged: bool,
}

/// What all events of one kind have in common.
#[derive(Default)]
struct EventNames<'a> {
    name: Cow<'a, str>,
    /// A shorter one; empty where there is none.
    display_name: Cow<'a, str>,
    stats: Vec<&'a [u8]>,
}

impl<'a> Plane<'a> {
    fn new(message: &'a [u8]) -> Self {
        let mut plane = Self {
            name: Cow::Borrowed(""),
            lines: Vec::new(),
            events: FxHashMap::default(),
            texts: FxHashMap::default(),
            stats: Vec::new(),
            is_damaged: false,
        };
        let mut fields = Fields::new(message);
        for (field, value) in fields.by_ref() {
            match field {
                2 => plane.name = value.text(),
                3 => plane.lines.push(value.bytes()),
                4 => {
                    let (id, entry) = map_entry(value.bytes());
                    plane.events.insert(id, EventNames::new(entry));
                }
                5 => {
                    let (id, entry) = map_entry(value.bytes());
                    let name = FieldValue::Bytes(field_bytes(entry, 2)).text();
                    plane.texts.insert(id, name);
                }
                6 => plane.stats.push(value.bytes()),
                _ => {}
            }
        }
        plane.is_damaged = fields.is_damaged();
        plane
    }

    /// Name and value of a statistic; nothing where it has none.
    fn stat(&self, message: &'a [u8]) -> Option<(&str, Cow<'_, str>)> {
        let (mut id, mut text) = (0, None);
        for (field, value) in Fields::new(message) {
            match (field, value) {
                (1, _) => id = value.number(),
                (2, FieldValue::Fixed64(bits)) => {
                    text = Some(f64::from_bits(bits).to_string().into());
                }
                (3, FieldValue::Varint(number)) => text = Some(number.to_string().into()),
                (4, FieldValue::Varint(number)) => {
                    text = Some((number as i64).to_string().into());
                }
                (5, FieldValue::Bytes(_)) => text = Some(value.text()),
                (7, FieldValue::Varint(other)) => {
                    let known = self.texts.get(&other);
                    text = known.map(|known| Cow::Borrowed(known.as_ref()));
                }
                _ => {}
            }
        }
        Some((self.texts.get(&id)?.as_ref(), text?))
    }
}

impl<'a> EventNames<'a> {
    fn new(message: &'a [u8]) -> Self {
        let mut names = Self::default();
        for (field, value) in Fields::new(message) {
            match field {
                2 => names.name = value.text(),
                4 => names.display_name = value.text(),
                5 => names.stats.push(value.bytes()),
                _ => {}
            }
        }
        names
    }
}

/// Key and value of an entry of a map.
fn map_entry(message: &[u8]) -> (u64, &[u8]) {
    let key = Fields::new(message).find(|(field, _)| *field == 1);
    let key = key.map_or(0, |(_, value)| value.number());
    (key, field_bytes(message, 2))
}

/// What was read of a file.
#[derive(Default)]
struct XlaProfile {
    keeps_args: bool,
    trace: Trace,
    /// Names of planes and lines, by their places in the file: two lines may have the same name.
    titles: TrackTitles,
    facts: Vec<(String, String)>,
    /// Errors and warnings.
    reports: Vec<Vec<u8>>,
    n_planes: usize,
    /// Events that are sums of several, without a time of their own.
    timeless: u64,
    /// Planes, lines and events that end at what is no field; what stands before it is read.
    damaged: u64,
    args: ArgsText,
}

impl XlaProfile {
    fn plane(&mut self, plane: &Plane<'_>) {
        let place = self.n_planes.to_string();
        self.n_planes += 1;
        self.damaged += u64::from(plane.is_damaged);
        for stat in &plane.stats {
            if let Some((name, value)) = plane.stat(stat) {
                let is_fact = name.ends_with("_version") || name == "device_type_string";
                if is_fact {
                    let name = name.replace("device_type_string", "device");
                    self.facts.push((name, value.into_owned()));
                }
            }
        }
        for (number, line) in plane.lines.iter().enumerate() {
            self.line(plane, line, &place, &number.to_string());
        }
        let name = plane.name.as_ref().to_owned();
        self.titles.processes.insert(place, name);
    }

    fn line(&mut self, plane: &Plane<'_>, message: &[u8], place: &str, number: &str) {
        let (mut name, mut display_name, mut start_ns) = (Cow::default(), Cow::default(), 0);
        let mut events = Vec::new();
        let mut fields = Fields::new(message);
        for (field, value) in fields.by_ref() {
            match field {
                2 => name = value.text(),
                3 => start_ns = value.number() as i64,
                4 => events.push(value.bytes()),
                11 => display_name = value.text(),
                _ => {}
            }
        }
        self.damaged += u64::from(fields.is_damaged());
        if events.is_empty() {
            return;
        }
        let track = self.trace.tracks.len() as u32;
        self.trace.tracks.push(Track {
            device: None,
            group: place.to_owned(),
            name: number.to_owned(),
        });
        for event in events {
            if self.event(plane, event, start_ns, track).is_none() {
                self.timeless += 1;
            }
        }
        let name = if display_name.is_empty() {
            name
        } else {
            display_name
        };
        let key = (place.to_owned(), number.to_owned());
        self.titles.threads.insert(key, name.into_owned());
    }

    /// Takes an event in; nothing where it has no time.
    fn event(
        &mut self,
        plane: &Plane<'_>,
        message: &[u8],
        begin_ns: i64,
        track: u32,
    ) -> Option<()> {
        let (mut kind, mut offset_ps, mut duration_ps) = (0, Some(0), 0);
        let mut stats = Vec::new();
        let mut fields = Fields::new(message);
        for (field, value) in fields.by_ref() {
            match field {
                1 => kind = value.number(),
                2 => offset_ps = Some(value.number() as i64),
                3 => duration_ps = value.number() as i64,
                4 => stats.push(value.bytes()),
                // How often it happened, in place of when.
                5 => offset_ps = None,
                _ => {}
            }
        }
        self.damaged += u64::from(fields.is_damaged());
        let start_ns = begin_ns.checked_add(rounded_ns(offset_ps?))?;
        let unnamed = EventNames::default();
        let names = plane.events.get(&kind).unwrap_or(&unnamed);
        let mut name = names.name.as_ref();
        self.args.clear();
        if !names.display_name.is_empty() {
            if self.keeps_args {
                self.args.add("long_name", name);
            }
            name = &names.display_name;
        }
        let (mut instruction, mut operator, mut step) = Default::default();
        let mut link = None;
        for stat in names.stats.iter().chain(&stats) {
            let Some((key, value)) = plane.stat(stat) else {
                continue;
            };
            // Those of the profiler itself join producers and consumers within it.
            if self.keeps_args && (!key.starts_with('_') || key == "_src") {
                self.args.add(key, &value);
            }
            match key {
                "hlo_op" => instruction = value,
                "tf_op" => operator = value,
                "step_name" => step = value,
                "correlation_id" => link = value.parse().ok(),
                _ => {}
            }
        }
        let step: &Cow<'_, str> = &step;
        let name = if step.is_empty() { name } else { step.as_ref() };
        let duration_ns = rounded_ns(duration_ps).max(0) as u64;
        let names = &mut self.trace.names;
        let slice = Slice {
            link: link.unwrap_or_default(),
            op: names.number(xla::operator(&instruction, &operator)),
            ..Slice::new(
                xla::host_kind(name, &instruction, link),
                names.number(lines::kernel_name(name)),
                track,
                start_ns,
                duration_ns,
            )
        };
        self.trace.push_with(slice, &self.args);
        Some(())
    }
}

/// Picoseconds in the nearest nanoseconds.
fn rounded_ns(ps: i64) -> i64 {
    ps.saturating_add(500).div_euclid(1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bytes, fixture, imported, raw, read_by, slices, sums, survives};
    use powerband_core::domain::trace::SliceKind;

    /// Files of one run: of the processor a real one of JAX 0.10, of the others made from the traces.
    const RUNS: [(&str, &str); 3] = [
        ("xla/jax-cpu.xplane.pb", "xla/jax-cpu.trace.json.gz"),
        ("xla/jax-gpu.xplane.pb", "xla/jax-gpu.trace.json"),
        ("xla/jax-tpu.xplane.pb", "xla/jax-tpu.trace.json"),
    ];

    #[test]
    fn both_files_of_a_run_say_the_same() {
        for (profile, trace) in RUNS {
            let (profile, trace) = (fixture(profile), fixture(trace));
            assert_eq!((profile.format, trace.format), ("xplane", "xla"));
            assert_eq!(profile.tool.name, trace.tool.name);
            let in_order = |imported: &Imported| {
                let ops = imported.trace.slices().map(|slice| slice.op);
                let ops = ops.map(|op| imported.trace.names.get(op).to_owned());
                let slices = slices(imported).into_iter();
                let mut all: Vec<_> = slices
                    .map(|(kind, name, track, start, length, link)| {
                        (track, start, length, kind, name.to_owned(), link)
                    })
                    .zip(ops)
                    .collect();
                all.sort();
                all
            };
            assert!(profile.trace.len() > 10);
            assert_eq!(in_order(&profile), in_order(&trace));
            assert_eq!(profile.notes, [""; 0]);
        }
    }

    #[test]
    fn statistics_are_arguments_and_particulars() {
        let read = fixture(RUNS[1].0);
        assert_eq!(
            read.facts,
            [("device".to_owned(), "NVIDIA A100".to_owned())]
        );
        let mut kernel = read.trace.kinds().iter();
        let kernel = kernel.position(|kind| *kind == SliceKind::Kernel).unwrap();
        let args = read.trace.args().get(kernel);
        assert_eq!(args[0], ("correlation_id".to_owned(), "3".to_owned()));
        assert_eq!(args[2].1, "gemm_fusion_dot.1", "a text that others share");
        let cpu = fixture(RUNS[0].0);
        let version = ("jax_version".to_owned(), "0.10.2".to_owned());
        assert!(cpu.facts.contains(&version), "{:?}", cpu.facts);
    }

    /// A field with bytes.
    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, bytes.len() as u8], bytes].concat()
    }

    #[test]
    fn names_and_times_have_their_places() {
        let event = |time: &[u8]| field(4, &[b"\x08\x01", time].concat());
        // Lines may come before what their names stand in, and a name may be a short one.
        let line = [
            field(2, b"XLA Ops"),
            b"\x18\x05".to_vec(),
            event(b"\x10\xdc\x0b\x18\xe8\x07"),
            event(b"\x28\x03\x18\xe8\x07"),
        ];
        let names = [
            b"\x08\x01".to_vec(),
            field(2, b"%fusion.1 = f32[]"),
            field(4, b"fusion.1"),
        ];
        let entry = [b"\x08\x01".to_vec(), field(2, &names.concat())];
        let plane = [
            field(2, b"/device:TPU:1"),
            field(3, &line.concat()),
            field(4, &entry.concat()),
        ];
        let read = imported([field(1, &plane.concat()), field(2, b"overflow")].concat()).unwrap();
        // 1500 ps behind 5 ns are nearer to 7 ns.
        let track = "TPU 1/XLA Ops".to_owned();
        assert_eq!(
            slices(&read),
            [(SliceKind::Kernel, "fusion.1", track, 7, 1, 0)]
        );
        assert_eq!(read.trace.args().get(0)[0].1, "%fusion.1 = f32[]");
        assert_eq!(read.notes[0], "the profiler reports: overflow");
        assert_eq!(read.notes[1], "1 event of file had no time; left out");
    }

    #[test]
    fn a_file_that_is_cut_is_read_plane_by_plane() {
        let whole = raw(RUNS[1].0);
        let mut seen = Vec::new();
        for end in 0..whole.len() {
            match bytes("a.xplane.pb", &whole[..end]) {
                Ok(read) => {
                    assert!(read.is_cut_off || end == read.trace.len() || !read.trace.is_empty());
                    seen.push(sums(&read, SliceKind::Kernel).len());
                }
                Err(error) => assert!(seen.is_empty(), "{end}: {error}"),
            }
        }
        assert!(seen.is_sorted() && seen.last() == Some(&2), "{seen:?}");
    }

    #[test]
    fn no_damage_makes_it_panic() {
        for (profile, _) in RUNS {
            survives(&FORMAT, &raw(profile));
        }
        let nested: Vec<u8> = (0..40).fold(Vec::new(), |inner, _| field(1, &inner));
        assert!(read_by(&FORMAT, &nested).is_ok());
        let long = b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x12";
        let error = read_by(&FORMAT, long).unwrap_err().to_string();
        assert!(error.contains("no whole plane"), "{error}");
        let line = [field(2, b"/host:CPU"), field(3, &[0x0b])].concat();
        let notes = imported(field(1, &line)).unwrap().notes;
        let note = "1 message of file could not be read: cut off or damaged";
        assert_eq!(notes, [note]);
    }
}
