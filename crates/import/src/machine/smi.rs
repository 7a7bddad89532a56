//! Readings of cards over time, as `nvidia-smi` and `amd-smi` write them: the session's device telemetry.
//!
//! These are CSV of `nvidia-smi --query-gpu=timestamp,…`, `nvidia-smi dmon` with times, and `amd-smi metric` or `monitor`
//! with `--watch --csv`. What has one moment alone, or rows without times, is no recording: it is refused like the other
//! outputs of these programs.

use rustc_hash::FxHashMap;

use crate::reading::head::FileHead;
use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::base::{clock, humanize};
use powerband_core::domain::telemetry::{
    DeviceKind, DeviceReading, DeviceTelemetry, Quantity, WatchedDevice,
};
use powerband_core::domain::trace::{Slice, SliceKind, Track};

pub(crate) const NVIDIA: Format = Format {
    id: "nvidia-smi",
    title: "a recording of nvidia-smi",
    tool: "nvidia-smi",
    name_ends: &[],
    recognises: |head| is_recording(head, DeviceKind::Nvidia),
    read: |source, watch, into| read(source, watch, &NVIDIA, into),
};

pub(crate) const AMD: Format = Format {
    id: "amd-smi",
    title: "a recording of amd-smi",
    tool: "amd-smi",
    name_ends: &[],
    recognises: |head| is_recording(head, DeviceKind::Amd),
    read: |source, watch, into| read(source, watch, &AMD, into),
};

/// Cards that a machine has at most.
const CARDS: usize = 1024;
const SECOND_NS: i64 = 1_000_000_000;
const DAY_NS: i64 = 86_400 * SECOND_NS;
const MIB: f64 = (1 << 20) as f64;

/// Whether a file begins with columns of readings, and has two moments.
fn is_recording(head: &FileHead, kind: DeviceKind) -> bool {
    let text = head.plain_text().unwrap_or_default();
    let Some(columns) = head.first_line().and_then(SmiColumns::of_header) else {
        return false;
    };
    let mut times = MomentReader::default();
    let mut moments = text
        .lines()
        .filter_map(|line| times.moment_ns(&columns, &columns.cells(line)));
    let first = moments.next();
    columns.kind == kind && first.is_some() && moments.any(|moment| Some(moment) != first)
}

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    format: &Format,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let mut recording = SmiRecording::default();
    // The numbers of a row without its end may be cut off.
    let (whole, open) = text.rsplit_once('\n').unwrap_or(("", &text));
    for line in source.progress_reader(whole.lines(), watch) {
        recording.line(line?, format.tool);
    }
    recording.unread += u64::from(!open.trim().is_empty());
    let file = source.name();
    into.note_unread(recording.unread, "row", &file);
    let fate = "could not be believed; left out";
    into.note_some(recording.implausible, "value", &file, fate);
    if recording.readings.is_empty() {
        return Err(source.unusable_error(format.title, "no row of it has a time and a value"));
    }
    if recording.mixes_cards() {
        return Err(source.unusable_error(
            format.title,
            "its rows are of several cards and do not name them: add index to --query-gpu",
        ));
    }
    recording.finish(format.tool, into);
    Ok(())
}

/// Where in a row what stands.
#[derive(Debug)]
struct SmiColumns {
    kind: DeviceKind,
    /// Whether blanks part the columns, as in `nvidia-smi dmon`.
    is_spaced: bool,
    titles: Vec<String>,
    /// What names the card.
    card: Option<usize>,
    quantities: Vec<(usize, Quantity, f64)>,
}

impl SmiColumns {
    /// The columns of a header that has times and readings.
    fn of_header(line: &str) -> Option<Self> {
        let is_dmon = line.starts_with('#');
        let mut columns = Self {
            kind: DeviceKind::Nvidia,
            is_spaced: is_dmon && !line.contains(','),
            titles: Vec::new(),
            card: None,
            quantities: Vec::new(),
        };
        let cells = columns.cells(line.trim_start_matches(['#', ' ']));
        let title = |cell: &String| {
            let name = cell.split(" [").next().unwrap_or_default();
            name.trim().to_lowercase()
        };
        columns.titles = cells.iter().map(title).collect();
        let has_times = columns.place(if is_dmon { "time" } else { "timestamp" });
        // Names of `--query-gpu` have points.
        if !is_dmon && !columns.titles.iter().any(|title| title.contains('.')) {
            columns.kind = DeviceKind::Amd;
        }
        let names = [
            "index",
            "gpu",
            "uuid",
            "gpu_uuid",
            "pci.bus_id",
            "gpu_bus_id",
        ];
        columns.card = names.iter().find_map(|name| columns.place(name));
        // This is a temperature in `amd-smi metric`, and a utilisation elsewhere.
        let is_temperature = columns.place("hotspot").is_some();
        for (place, title) in columns.titles.iter().enumerate() {
            let found = quantity_of(title, is_temperature);
            let Some((quantity, scale)) = found else {
                continue;
            };
            if !columns.quantities.iter().any(|known| known.1 == quantity) {
                columns.quantities.push((place, quantity, scale));
            }
        }
        let is_usable = columns.kind == DeviceKind::Nvidia || columns.card.is_some();
        (has_times.is_some() && is_usable && !columns.quantities.is_empty()).then_some(columns)
    }

    fn place(&self, title: &str) -> Option<usize> {
        self.titles.iter().position(|known| known == title)
    }

    fn cells(&self, line: &str) -> Vec<String> {
        if self.is_spaced {
            return line.split_whitespace().map(str::to_owned).collect();
        }
        // Behind the comma of nvidia-smi is a blank.
        lines::fields(line, ',')
            .iter()
            .map(|cell| cell.trim().to_owned())
            .collect()
    }

    fn number(&self, cells: &[String], title: &str) -> Option<f64> {
        number(cells.get(self.place(title)?)?)
    }
}

/// What a column has, and the factor to the quantity's unit.
fn quantity_of(title: &str, is_temperature: bool) -> Option<(Quantity, f64)> {
    Some(match title {
        "power.draw"
        | "power.draw.instant"
        | "power.draw.average"
        | "pwr"
        | "power_usage"
        | "socket_power"
        | "average_socket_power"
        | "current_socket_power" => (Quantity::Power, 1.0),
        "utilization.gpu" | "sm" | "gfx" | "gfx_activity" => (Quantity::Busy, 1.0),
        "mem" if is_temperature => (Quantity::MemoryTemperature, 1.0),
        "utilization.memory" | "umc_activity" | "mem" => (Quantity::MemoryBusy, 1.0),
        "memory.used" | "fb" | "used_vram" => (Quantity::MemoryUsed, MIB),
        "clocks.current.sm"
        | "clocks.sm"
        | "clocks.current.graphics"
        | "clocks.gr"
        | "pclk"
        | "gfx_clk"
        | "gfx_clock"
        | "gfx_0_clk" => (Quantity::Clock, 1.0),
        "clocks.current.memory" | "clocks.mem" | "mclk" | "mem_clk" | "mem_clock" | "mem_0_clk" => {
            (Quantity::MemoryClock, 1.0)
        }
        "temperature.gpu" | "gtemp" | "edge" | "edge_temperature" => (Quantity::Temperature, 1.0),
        "hotspot" | "hotspot_temperature" => (Quantity::HotSpot, 1.0),
        "temperature.memory" | "mtemp" | "memory_temperature" => (Quantity::MemoryTemperature, 1.0),
        _ => return None,
    })
}

/// A value with its unit or without it: `70.1 W`.
fn number(cell: &str) -> Option<f64> {
    lines::number(cell.split_whitespace().next()?)
}

/// Reads the moments of rows; clocks without a date go on after midnight.
#[derive(Debug, Default)]
struct MomentReader {
    last_ns: i64,
    midnights: i64,
}

impl MomentReader {
    /// When a row was written, in nanoseconds since 1970 by whatever clock it has, or since its first midnight.
    fn moment_ns(&mut self, columns: &SmiColumns, cells: &[String]) -> Option<i64> {
        let cell = |title: &str| cells.get(columns.place(title)?).map(String::as_str);
        if let Some(moment) = cell("timestamp") {
            return written_moment_ns(moment);
        }
        let (time, date) = (cell("time")?, cell("date"));
        let day =
            match date.and_then(|date| Some((date.get(..4)?, date.get(4..6)?, date.get(6..)?))) {
                Some((year, month, day)) => format!("{year}-{month}-{day}"),
                None => "1970-01-01".to_owned(),
            };
        let moment_ns = written_moment_ns(&format!("{day} {time}"))?;
        if date.is_some() {
            return Some(moment_ns);
        }
        let passed = |midnights: i64| moment_ns.checked_add(midnights.checked_mul(DAY_NS)?);
        if passed(self.midnights)? < self.last_ns - DAY_NS / 2 {
            self.midnights += 1;
        }
        self.last_ns = passed(self.midnights)?;
        Some(self.last_ns)
    }
}

/// `2026/01/02 03:04:05.678`, or seconds since 1970.
fn written_moment_ns(text: &str) -> Option<i64> {
    if text.len() <= 10 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse::<i64>().ok()?.checked_mul(SECOND_NS);
    }
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    let utc = format!("{}Z", seconds.replace('/', "-").replace(' ', "T"));
    let seconds = clock::unix_seconds(&utc)?;
    let digits: String = fraction
        .chars()
        .take_while(char::is_ascii_digit)
        .take(9)
        .collect();
    let fraction: i64 = format!("{digits:0<9}").parse().ok()?;
    let moment_ns = seconds.checked_mul(SECOND_NS)?.checked_add(fraction)?;
    (moment_ns >= 0).then_some(moment_ns)
}

/// The readings as far as they were read, with moments since 1970.
#[derive(Debug, Default)]
struct SmiRecording {
    columns: Option<SmiColumns>,
    times: MomentReader,
    cards: FxHashMap<String, usize>,
    devices: Vec<WatchedDevice>,
    readings: Vec<DeviceReading>,
    implausible: u64,
    unread: u64,
}

impl SmiRecording {
    fn line(&mut self, line: &str, tool: &str) {
        // A header stands wherever the program was started again, and now and then in between.
        if let Some(columns) = SmiColumns::of_header(line) {
            self.columns = Some(columns);
        } else if !line.starts_with('#')
            && !line.trim().is_empty()
            && let Some(columns) = self.columns.take()
        {
            let is_read = self.row(&columns, &columns.cells(line), tool).is_some();
            self.unread += u64::from(!is_read);
            self.columns = Some(columns);
        }
    }

    fn row(&mut self, columns: &SmiColumns, cells: &[String], tool: &str) -> Option<()> {
        if cells.len() < columns.titles.len() {
            return None;
        }
        let moment_ns = self.times.moment_ns(columns, cells)?;
        let card = match columns.card {
            Some(place) => cells.get(place)?.clone(),
            None => "0".to_owned(),
        };
        let device = match self.cards.get(&card) {
            Some(device) => *device,
            None if self.devices.len() >= CARDS => return None,
            None => {
                self.devices.push(watched_device(
                    columns,
                    cells,
                    &card,
                    self.devices.len(),
                    tool,
                ));
                self.cards.insert(card, self.devices.len() - 1);
                self.devices.len() - 1
            }
        };
        let mut values = Vec::new();
        for (place, quantity, scale) in &columns.quantities {
            let Some(value) = cells.get(*place).and_then(|cell| number(cell)) else {
                continue;
            };
            if quantity.plausible().contains(&(value * scale)) {
                values.push((*quantity, value * scale));
            } else {
                self.implausible += 1;
            }
        }
        self.readings.push(DeviceReading {
            device,
            at_ns: moment_ns as u64,
            values,
        });
        Some(())
    }

    /// Whether no column names the cards and rows come in groups, as those of several cards do.
    fn mixes_cards(&self) -> bool {
        if self
            .columns
            .as_ref()
            .is_none_or(|columns| columns.card.is_some())
        {
            return false;
        }
        let pairs = self.readings.iter().zip(self.readings.iter().skip(1));
        let mut steps: Vec<u64> = pairs
            .map(|(one, next)| next.at_ns.abs_diff(one.at_ns))
            .collect();
        steps.sort_unstable();
        let sum = steps
            .iter()
            .fold(0_u64, |sum, step| sum.saturating_add(*step));
        let mean = sum / steps.len().max(1) as u64;
        steps
            .get(steps.len() / 4)
            .is_some_and(|step| *step < mean / 3)
    }

    /// The readings become telemetry from the first one on, and a range on the timeline, which has them below it.
    fn finish(mut self, tool: &str, into: &mut Imported) {
        self.readings.sort_by_key(|reading| reading.at_ns);
        let first_ns = self.readings.first().map_or(0, |reading| reading.at_ns);
        for reading in &mut self.readings {
            reading.at_ns -= first_ns;
        }
        let span_ns = self.readings.last().map_or(0, |reading| reading.at_ns);
        let n_moments = self.readings.len() as f64 / self.devices.len().max(1) as f64;
        let rate_hz = (n_moments - 1.0) * 1e9 / span_ns.max(1) as f64;
        into.telemetry
            .watch(0, rate_hz.max(0.0), self.devices, Vec::new());
        into.telemetry.take(&self.readings);
        for track in &into.telemetry.tracks {
            let text = track_text(track);
            into.facts.push(("readings".to_owned(), text));
        }
        let trace = &mut into.trace;
        let track = trace.track(Track {
            device: None,
            group: tool.to_owned(),
            name: "readings".to_owned(),
        });
        let name = trace.names.number("recording");
        trace.push(Slice::new(SliceKind::Range, name, track, 0, span_ns));
    }
}

/// `GPU 0 · NVIDIA A100: 30 readings of power, clock`.
fn track_text(track: &DeviceTelemetry) -> String {
    let titles: Vec<String> = track
        .channels
        .iter()
        .map(|channel| channel.quantity.title().to_lowercase())
        .collect();
    let readings = humanize::pluralised(track.times_ns.len() as u64, "reading");
    let (short, name) = (track.device.short_name(), &track.device.name);
    let device = if short == *name {
        short
    } else {
        format!("{short} · {name}")
    };
    format!("{device}: {readings} of {}", titles.join(", "))
}

fn watched_device(
    columns: &SmiColumns,
    cells: &[String],
    card: &str,
    order: usize,
    tool: &str,
) -> WatchedDevice {
    let cell = |title: &str| cells.get(columns.place(title)?);
    let number = card.parse().unwrap_or(order);
    let id = cell("pci.bus_id").or_else(|| cell("uuid"));
    let id = id.map_or_else(|| format!("{tool} {card}"), Clone::clone);
    let name = cell("name").or_else(|| cell("gpu_name"));
    let name = name.map_or_else(|| format!("GPU {number}"), Clone::clone);
    let memory_mib = columns.number(cells, "memory.total");
    WatchedDevice {
        memory_bytes: memory_mib.map(|mib| (mib * MIB) as u64),
        power_limit_w: columns.number(cells, "power.limit"),
        driver: cell("driver_version").cloned(),
        ..WatchedDevice::new(tool, columns.kind, number, &id, &name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{session, testing};

    const METRIC: &str = "smi/made-up-metric.csv";
    /// As `nvidia-smi --query-gpu=… --format=csv -l 1` writes it.
    const QUERY: &str = "\
timestamp, index, name, utilization.gpu [%], power.draw [W], memory.used [MiB], memory.total [MiB], power.limit [W]
2026/06/30 23:59:59.500, 0, NVIDIA Made-up, 0 %, 31.50 W, 8 MiB, 20000 MiB, 400.00 W
2026/06/30 23:59:59.501, 1, NVIDIA Made-up, 3 %, [N/A], 12 MiB, 20000 MiB, 400.00 W
2026/07/01 00:00:00.502, 0, NVIDIA Made-up, 100 %, 388.25 W, 2048 MiB, 20000 MiB, 400.00 W
2026/07/01 00:00:00.503, 1, NVIDIA Made-up, 99 %, 99999.00 W, 14 MiB, 20000 MiB, 400.00 W
";
    const DMON: &str = "\
#Time        gpu   pwr gtemp mtemp    sm   mem   enc   dec  mclk  pclk
#HH:MM:SS    Idx     W     C     C     %     %     %     %   MHz   MHz
 23:59:58      0    28    31     -     0     0     0     0  1200   300
 23:59:59      0   270    48    55    96    61     0     0  1500  1700
#Time        gpu   pwr gtemp mtemp    sm   mem   enc   dec  mclk  pclk
#HH:MM:SS    Idx     W     C     C     %     %     %     %   MHz   MHz
 00:00:00      0   275    49    56    97    62     0     0  1500  1700
";

    fn readings(imported: &Imported, track: usize, quantity: Quantity) -> Vec<(u64, f64)> {
        imported.telemetry.tracks[track]
            .readings(quantity)
            .collect()
    }

    #[test]
    fn rows_of_a_query_are_readings_of_their_cards() {
        let imported = testing::imported(QUERY).unwrap();
        assert_eq!(imported.format, "nvidia-smi");
        let power = readings(&imported, 0, Quantity::Power);
        assert_eq!(power, [(0, 31.5), (1_002_000_000, 388.25)]);
        let memory = readings(&imported, 0, Quantity::MemoryUsed);
        assert_eq!(memory[1].1, 2048.0 * MIB);
        assert!(readings(&imported, 1, Quantity::Power).is_empty());
        assert_eq!(
            readings(&imported, 1, Quantity::Busy)[1],
            (1_003_000_000, 99.0)
        );
        let device = &imported.telemetry.tracks[1].device;
        assert_eq!((device.name.as_str(), device.number), ("NVIDIA Made-up", 1));
        assert_eq!(device.power_limit_w, Some(400.0));
        assert!((0.99..1.01).contains(&imported.telemetry.rate_hz));
        let note = "1 value of file could not be believed; left out";
        assert_eq!(imported.notes, [note]);
    }

    #[test]
    fn a_clock_goes_on_after_midnight() {
        let imported = testing::imported(DMON).unwrap();
        let power = readings(&imported, 0, Quantity::Power);
        let second = 1_000_000_000;
        assert_eq!(power, [(0, 28.0), (second, 270.0), (2 * second, 275.0)]);
        assert_eq!(readings(&imported, 0, Quantity::MemoryTemperature).len(), 2);
        assert!(imported.notes.is_empty(), "{:?}", imported.notes);
    }

    #[test]
    fn a_recording_of_amd_smi_becomes_a_session_with_telemetry() {
        let imported = testing::fixture(METRIC);
        assert_eq!(imported.format, "amd-smi");
        assert_eq!(imported.telemetry.tracks.len(), 4);
        assert_eq!(
            readings(&imported, 3, Quantity::Clock),
            [(0, 420.0), (1_000_000_000, 407.0)]
        );
        assert_eq!(
            readings(&imported, 2, Quantity::MemoryTemperature)[0].1,
            30.0
        );
        assert!(readings(&imported, 2, Quantity::Temperature).is_empty());
        let made = session::session(vec![("a".to_owned(), imported)], "");
        let session = made.session;
        assert_eq!(session.telemetry.tracks[0].device.kind, DeviceKind::Amd);
        assert_eq!(session.elapsed_ns, 1_000_000_000);
        assert_eq!(session.profiles[0].began_ns, Some(0));
        assert_eq!(session.profiles[0].totals[0].kind, SliceKind::Range);
    }

    #[test]
    fn one_moment_is_no_recording_and_several_cards_have_names() {
        let lines: Vec<&str> = QUERY.lines().collect();
        let error = testing::imported(lines[..2].join("\n") + "\n").unwrap_err();
        assert!(
            error.to_string().contains("an output of nvidia-smi"),
            "{error}"
        );
        let nameless = "timestamp, power.draw [W]\n";
        let row = |ms: u32| format!("2026/03/04 05:06:{:02}.{:03}, 9 W\n", ms / 1000, ms % 1000);
        let mixed: String = [0, 1, 1001, 1002, 2003, 2004]
            .into_iter()
            .map(row)
            .collect();
        let error = testing::imported(format!("{nameless}{mixed}")).unwrap_err();
        assert!(
            error.to_string().contains("add index to --query-gpu"),
            "{error}"
        );
        let steady: String = [0, 50, 101, 151].into_iter().map(row).collect();
        let imported = testing::imported(format!("{nameless}{steady}2026/03/04 05:06:09.000, 1"));
        let imported = imported.unwrap();
        assert_eq!(readings(&imported, 0, Quantity::Power).len(), 4);
        assert_eq!(imported.notes.len(), 1, "{:?}", imported.notes);
    }

    #[test]
    fn no_damage_makes_it_panic() {
        testing::survives(&AMD, &testing::raw(METRIC));
        testing::survives(&NVIDIA, QUERY.as_bytes());
        testing::survives(&NVIDIA, DMON.as_bytes());
    }
}
