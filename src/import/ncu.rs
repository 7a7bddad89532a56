//! Nsight Compute's `ncu --csv`, in rows of one metric each or with a column for each metric.
//!
//! Lines of ncu and of the program stand before, between and after the table. What it measures is a
//! kernel that runs alone, again and again, at a clock that is held, so its times are not those of a
//! timeline.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use super::head::Head;
use super::source::Source;
use super::watch::Watch;
use super::{ImportError, Imported, Importer, lines};
use crate::domain::profile::{Counter, Total};
use crate::domain::trace::SliceKind;

/// The format.
#[derive(Debug)]
pub struct Ncu;

/// What a table's header begins with.
const START: &str = "\"ID\",";
/// How long a kernel took, by the names of old and new versions and of the hardware.
const DURATIONS: [&str; 2] = ["Duration", "gpu__time_duration.sum"];
/// Rows between two looks at whether somebody wants it stopped.
const TICK: usize = 8192;

impl Importer for Ncu {
    fn id(&self) -> &'static str {
        "ncu"
    }

    fn title(&self) -> &'static str {
        "metrics of Nsight Compute"
    }

    fn recognises(&self, head: &Head) -> bool {
        head.plain()
            .is_some_and(|text| text.lines().any(|line| Header::of(line).is_some()))
    }

    fn read(
        &self,
        source: &Source,
        watch: &Watch<'_>,
        into: &mut Imported,
    ) -> Result<(), ImportError> {
        let (text, is_cut) = source.text(watch)?;
        let file = source.name();
        let mut sums = Sums::default();
        let mut header: Option<Header> = None;
        for (number, line) in text.lines().enumerate() {
            if number % TICK == TICK - 1 {
                watch.tick(0)?;
            }
            if let Some(found) = Header::of(line) {
                header = Some(found);
                sums.tables += 1;
                continue;
            }
            match &mut header {
                Some(header) if line.starts_with('"') => sums.row(header, line),
                _ => talk(line, into),
            }
        }
        if into.tool.name.is_empty() {
            "ncu".clone_into(&mut into.tool.name);
        }
        let program = std::mem::take(&mut sums.program);
        into.fact("Program", program);
        for (name, value) in std::mem::take(&mut sums.facts) {
            into.fact(&name, value);
        }
        sums.finish(&file, into);
        if is_cut {
            into.note(format!(
                "{file} is cut off: what stands before the cut was read"
            ));
        }
        Ok(())
    }
}

/// What ncu says besides the table.
fn talk(line: &str, into: &mut Imported) {
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
    fn of(line: &str) -> Option<Self> {
        let line = line.trim_start_matches('\u{feff}');
        if !line.starts_with(START) {
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

    fn cell<'a>(&self, fields: &'a [String], name: &str) -> Option<&'a str> {
        let place = self.columns.iter().position(|column| column == name)?;
        fields.get(place).map(String::as_str)
    }
}

/// Columns of a wide table that tell what a launch is, and are no metrics.
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
    without_time: HashSet<Launch>,
    unread: u64,
}

impl Sums {
    fn row(&mut self, header: &mut Header, line: &str) {
        let fields = lines::fields(line, ',');
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
            self.about(header, &fields);
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

    /// What is the same in all rows of a launch.
    fn about(&mut self, header: &Header, fields: &[String]) {
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

    fn time(&mut self, kernel: &str, time_ns: u64) {
        let place = *self.places.entry(kernel.to_owned()).or_insert_with(|| {
            self.totals.push(Total {
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

    fn finish(self, file: &str, into: &mut Imported) {
        let launches = self.launches.len();
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
