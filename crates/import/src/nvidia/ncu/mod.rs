//! Nsight Compute's `ncu --csv`, in rows of one metric each or with a column for each metric.
//!
//! Lines of ncu and of the program stand before, between and after the table. What it measures is a
//! kernel that runs alone, again and again, at a clock that is held, so its times are not those of a
//! timeline.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::reading::lines;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::ImportSource;
use crate::{Format, ImportError, Imported};
use powerband_core::domain::profile::{Counter, Total};
use powerband_core::domain::trace::SliceKind;

/// What a table's header begins with; tables that went through a spreadsheet have no quotation marks.
const STARTS: [&str; 2] = ["\"ID\",", "ID,"];
/// How long a kernel took, by the names of old and new versions and of the hardware.
const DURATIONS: [&str; 2] = ["Duration", "gpu__time_duration.sum"];
/// How many cycles it took, and how many of them a second has: the substitute where no duration was measured.
const CYCLES: [&str; 2] = ["Elapsed Cycles", "gpc__cycles_elapsed.max"];
const CLOCKS: [&str; 2] = ["SM Frequency", "gpc__cycles_elapsed.avg.per_second"];

pub(crate) const FORMAT: Format = Format {
    id: "ncu",
    title: "metrics of Nsight Compute",
    tool: "ncu",
    name_ends: &[],
    recognises: |head| {
        head.plain_text()
            .is_some_and(|text| text.lines().any(|line| Header::parse(line).is_some()))
    },
    read,
};

fn read(
    source: &ImportSource,
    watch: &ReadProgress<'_>,
    into: &mut Imported,
) -> Result<(), ImportError> {
    let text = source.text(watch, into)?;
    let file = source.name();
    let mut sums = Sums::default();
    let mut header: Option<Header> = None;
    for line in source.progress_reader(text.lines(), watch) {
        let line = line?;
        if let Some(found) = Header::parse(line) {
            header = Some(found);
            sums.tables += 1;
            continue;
        }
        match &mut header {
            Some(header) if header.has_row(line) => sums.row(header, line),
            _ => note_message(line, into),
        }
    }
    let program = std::mem::take(&mut sums.program);
    into.fact("Program", program);
    for (name, value) in std::mem::take(&mut sums.facts) {
        into.fact(&name, value);
    }
    sums.finish(&file, into);
    Ok(())
}

/// Notes a message of ncu.
fn note_message(line: &str, into: &mut Imported) {
    let said = line
        .strip_prefix("==ERROR==")
        .or_else(|| line.strip_prefix("==WARNING=="));
    if let Some(said) = said {
        into.note(format!("ncu says: {}", said.trim()));
    }
}

/// A table's columns.
#[derive(Clone, Debug, Default)]
struct Header {
    columns: Vec<String>,
    /// The units of the columns, where each metric has a column.
    units: Option<Vec<String>>,
    is_wide: bool,
}

impl Header {
    fn parse(line: &str) -> Option<Self> {
        let line = line.trim_start_matches('\u{feff}');
        if !STARTS.iter().any(|start| line.starts_with(start)) {
            return None;
        }
        let columns = lines::fields(line, ',');
        let has = |name: &str| columns.iter().any(|column| column == name);
        if !has("Kernel Name") {
            return None;
        }
        Some(Self {
            is_wide: !has("Metric Name"),
            units: None,
            columns,
        })
    }

    /// Whether a line is one of the table's, and no word of ncu or of the program.
    fn has_row(&self, line: &str) -> bool {
        let first = line.split(',').next().unwrap_or_default();
        let is_number = !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit());
        // The row of units has no number.
        let is_units = self.is_wide && self.units.is_none() && line.starts_with(',');
        line.starts_with('"') || is_units || is_number && line.contains(',')
    }

    /// The fields of a row. Without quotation marks, a name with commas is more than one field: what stands
    /// before it is taken from the left, what follows from the right.
    fn fields(&self, line: &str) -> Vec<String> {
        let mut fields = lines::fields(line, ',');
        let name = self
            .columns
            .iter()
            .position(|column| column == "Kernel Name");
        if let (false, Some(place)) = (line.contains('"'), name)
            && let Some(more) = fields.len().checked_sub(self.columns.len())
        {
            let parts: Vec<String> = fields.drain(place..=place + more).collect();
            fields.insert(place, parts.join(", "));
        }
        fields
    }

    fn cell<'a>(&self, fields: &'a [String], name: &str) -> Option<&'a str> {
        let place = self.columns.iter().position(|column| column == name)?;
        fields.get(place).map(String::as_str)
    }
}

/// Columns of a wide table that describe a launch, and are no metrics.
const ABOUT: [&str; 17] = [
    "ID",
    "Process ID",
    "Process Name",
    "Host Name",
    "Kernel Name",
    "Kernel Time",
    "Context",
    "Stream",
    "Block Size",
    "Grid Size",
    "Device",
    "CC",
    "Section Name",
    "thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
    "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg",
    "Rule Name",
    "launch__function_pcs",
];

/// A launch: table, process and number.
type Launch = (u64, String, String);

/// Everything of a file, added up.
#[derive(Debug, Default)]
struct Sums {
    tables: u64,
    program: String,
    facts: Vec<(String, String)>,
    totals: Vec<Total>,
    places: HashMap<String, usize>,
    counters: Vec<Counter>,
    counted: HashMap<(String, String, String), usize>,
    /// Metrics that were met, with their units.
    seen: HashSet<(Launch, String, String)>,
    launches: HashSet<Launch>,
    without_time: BTreeSet<Launch>,
    /// Cycles, and cycles of a nanosecond, by launch and kernel.
    clocked: HashMap<Launch, Clocked>,
    unread: u64,
}

/// The values that a launch's time can be computed from.
#[derive(Debug, Default)]
struct Clocked {
    kernel: String,
    cycles: Option<f64>,
    cycles_per_ns: Option<f64>,
}

/// Cycles of a nanosecond: `1.2 cycle/nsecond`, `1200000000 cycle/second`, `1.2 Ghz`.
fn cycles_per_ns(value: f64, unit: &str) -> Option<f64> {
    if let Some(time) = unit.strip_prefix("cycle/") {
        return Some(value / lines::unit_ns(time)?);
    }
    let ns = match unit.to_ascii_lowercase().as_str() {
        "hz" => 1e9,
        "khz" => 1e6,
        "mhz" => 1e3,
        "ghz" => 1.0,
        _ => return None,
    };
    Some(value / ns)
}

impl Sums {
    fn row(&mut self, header: &mut Header, line: &str) {
        let fields = header.fields(line);
        let id = header.cell(&fields, "ID").unwrap_or_default();
        // Under a header with a column for each metric stands a row with their units.
        if header.is_wide && header.units.is_none() && id.is_empty() {
            header.units = Some(fields);
            return;
        }
        let name = header.cell(&fields, "Kernel Name").unwrap_or_default();
        if id.parse::<u64>().is_err() || name.is_empty() {
            self.unread += 1;
            return;
        }
        let process = header.cell(&fields, "Process ID").unwrap_or_default();
        let launch = (self.tables, process.to_owned(), id.to_owned());
        if self.launches.insert(launch.clone()) {
            self.without_time.insert(launch.clone());
            self.take_launch_facts(header, &fields);
        }
        let kernel = lines::kernel_name(name).to_owned();
        if header.is_wide {
            let units = header.units.clone().unwrap_or_default();
            for (place, column) in header.columns.iter().enumerate() {
                let unit = units.get(place).map_or("", |unit| unit);
                if let Some(cell) = fields
                    .get(place)
                    .filter(|_| !ABOUT.contains(&column.as_str()))
                {
                    self.metric(&launch, &kernel, column, unit, cell);
                }
            }
            return;
        }
        let metric = header.cell(&fields, "Metric Name").unwrap_or_default();
        // Rows of rules have no metric, and a row that is cut has no value.
        if metric.is_empty() {
            self.unread += u64::from(fields.len() < header.columns.len().min(14));
            return;
        }
        let unit = header.cell(&fields, "Metric Unit").unwrap_or_default();
        match header.cell(&fields, "Metric Value") {
            Some(value) if !value.is_empty() => {
                self.metric(&launch, &kernel, metric, unit, value);
            }
            _ => self.unread += 1,
        }
    }

    /// Takes the program and the device of a launch.
    fn take_launch_facts(&mut self, header: &Header, fields: &[String]) {
        let cell = |name| header.cell(fields, name).unwrap_or_default().to_owned();
        if self.program.is_empty() {
            self.program = cell("Process Name");
        }
        let device = cell("Device");
        let capability = cell("CC");
        if !device.is_empty() && !capability.is_empty() {
            let fact = (
                format!("GPU {device}"),
                format!("compute capability {capability}"),
            );
            if !self.facts.contains(&fact) {
                self.facts.push(fact);
            }
        }
    }

    fn metric(&mut self, launch: &Launch, kernel: &str, metric: &str, unit: &str, cell: &str) {
        // Several sections show the same metric, and some another one of the same name in another unit.
        let key = (launch.clone(), metric.to_owned(), unit.to_owned());
        if !self.seen.insert(key) {
            return;
        }
        // Some are words, and some were not counted.
        let Some(value) = lines::number(cell) else {
            return;
        };
        if DURATIONS.contains(&metric)
            && let Some(unit_ns) = lines::unit_ns(unit)
        {
            if self.without_time.remove(launch) {
                self.time(kernel, lines::ns(value, unit_ns));
            }
            return;
        }
        self.clock(launch, kernel, (metric, value, unit));
        let key = (kernel.to_owned(), metric.to_owned(), unit.to_owned());
        let place = *self.counted.entry(key).or_insert_with(|| {
            self.counters.push(Counter {
                kernel: kernel.to_owned(),
                name: metric.to_owned(),
                unit: unit.to_owned(),
                launches: 0,
                sum: 0.0,
            });
            self.counters.len() - 1
        });
        if let Some(counter) = self.counters.get_mut(place) {
            counter.launches += 1;
            counter.sum += value;
        }
    }

    /// Keeps the values that a launch's time can be computed from.
    fn clock(&mut self, launch: &Launch, kernel: &str, (metric, value, unit): (&str, f64, &str)) {
        let is_cycles = CYCLES.contains(&metric) && unit == "cycle";
        let per_ns = cycles_per_ns(value, unit).filter(|_| CLOCKS.contains(&metric));
        if !is_cycles && per_ns.is_none() {
            return;
        }
        let clocked = self.clocked.entry(launch.clone()).or_default();
        kernel.clone_into(&mut clocked.kernel);
        if is_cycles {
            clocked.cycles = Some(value);
        }
        clocked.cycles_per_ns = clocked.cycles_per_ns.or(per_ns);
    }

    /// Computes the times of launches that have none, with a note on their number.
    fn derive_times(&mut self) -> u64 {
        let mut derived: Vec<(Launch, String, u64)> = Vec::new();
        for launch in &self.without_time {
            if let Some(clocked) = self.clocked.get(launch)
                && let (Some(cycles), Some(per_ns)) = (clocked.cycles, clocked.cycles_per_ns)
                && per_ns > 0.0
            {
                let time_ns = lines::ns(cycles / per_ns, 1.0);
                derived.push((launch.clone(), clocked.kernel.clone(), time_ns));
            }
        }
        derived.sort();
        for (launch, kernel, time_ns) in &derived {
            self.without_time.remove(launch);
            self.time(kernel, *time_ns);
        }
        derived.len() as u64
    }

    fn time(&mut self, kernel: &str, time_ns: u64) {
        let place = *self.places.entry(kernel.to_owned()).or_insert_with(|| {
            self.totals.push(Total {
                work: None,
                kind: SliceKind::Kernel,
                name: kernel.to_owned(),
                op: String::new(),
                place: String::new(),
                calls: 0,
                total_ns: 0,
                min_ns: None,
                max_ns: None,
            });
            self.totals.len() - 1
        });
        if let Some(total) = self.totals.get_mut(place) {
            total.calls += 1;
            total.total_ns = total.total_ns.saturating_add(time_ns);
            total.min_ns = Some(total.min_ns.map_or(time_ns, |least| least.min(time_ns)));
            total.max_ns = Some(total.max_ns.map_or(time_ns, |most| most.max(time_ns)));
        }
    }

    fn finish(mut self, file: &str, into: &mut Imported) {
        let launches = self.launches.len();
        let derived = self.derive_times();
        if derived > 0 {
            into.note(format!(
                "{derived} of {launches} launches have no Duration: their times are Elapsed Cycles divided by SM Frequency, which ncu rounds, and so are only about right"
            ));
        }
        if launches > 0 {
            into.note("ncu runs each kernel alone and several times over, at a clock that it holds: its times are not those of a run by itself");
        } else {
            into.note(format!(
                "{file} has the header of ncu's table and no kernel"
            ));
        }
        let missing = self.without_time.len();
        if missing > 0 {
            into.note(format!(
                "{missing} of {launches} launches have no Duration: profile with the section SpeedOfLight, or with --metrics gpu__time_duration.sum"
            ));
        }
        let why = "could not be read: cut off, or not only metrics";
        into.note_some(self.unread, "row", file, why);
        into.totals.extend(self.totals);
        into.counters.extend(self.counters);
    }
}
