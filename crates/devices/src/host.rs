//! The machine itself: load, memory, clocks, heat, and what the worker has of it.
//!
//! Read from `/proc` and `/sys` directly: a library that reads them as well gives the load no
//! more often than five times a second, and knows nothing of stolen time.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::files;
use super::source::{DeviceGone, DeviceReader, TelemetrySource, Values};
use super::{machine, process};
use powerband_core::domain::telemetry::{
    DeviceKind, MissingSource, Quantity, Setting, WatchedDevice,
};
use powerband_core::domain::telemetry_paths::TelemetryPaths;

/// On machines with more cores than these, only the busiest one is read by itself.
const MOST_CORES: usize = 32;
/// How often is read what changes slowly or costs a lot: clocks, heat, the worker's threads.
const SLOWLY: Duration = Duration::from_secs(1);
/// Names of the sensors in processors.
const SENSORS: [&str; 4] = ["coretemp", "k10temp", "zenpower", "cpu_thermal"];

/// `/proc` and `/sys`.
#[derive(Debug)]
pub struct Host;

impl TelemetrySource for Host {
    fn id(&self) -> &'static str {
        "host"
    }

    fn title(&self) -> &'static str {
        "Host"
    }

    fn tells_of_cards(&self) -> bool {
        false
    }

    fn open(&self, places: &TelemetryPaths) -> Result<Box<dyn DeviceReader>, MissingSource> {
        let root = &places.root;
        let Some(ticks) = ticks(root) else {
            return Err(self.missing(
                format!("{} cannot be read", root.join("proc/stat").display()),
                "nothing: this system tells its load in another way",
            ));
        };
        Ok(Box::new(HostReader {
            devices: vec![describe(root)],
            root: root.clone(),
            ticks,
            clocks: clock_files(root),
            heat: heat_file(root),
            throttles: throttle_files(root),
            slow: None,
            switches: None,
        }))
    }
}

fn describe(root: &Path) -> WatchedDevice {
    let cpu = machine::cpu(root);
    let mut device = WatchedDevice::new("host", DeviceKind::Host, 0, "host", &cpu.model);
    let meminfo = fs::read_to_string(root.join("proc/meminfo")).unwrap_or_default();
    device.memory_bytes = files::kibibytes(&meminfo, "MemTotal");
    device.max_clock_mhz = cpu.max_mhz;
    device.settings = settings(cpu.governor, cpu.boost);
    device
}

fn settings(governor: Option<String>, boost: Option<bool>) -> Vec<Setting> {
    let governor = governor.map(|governor| Setting {
        name: "Clock governor".to_owned(),
        value: governor,
        command: Some("sudo cpupower frequency-set --governor performance".to_owned()),
    });
    let boost = boost.map(|on| Setting {
        name: "Boost".to_owned(),
        value: if on { "on" } else { "off" }.to_owned(),
        command: on.then(|| {
            "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost (on Intel: echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo)".to_owned()
        }),
    });
    [governor, boost].into_iter().flatten().collect()
}

struct HostReader {
    devices: Vec<WatchedDevice>,
    root: PathBuf,
    ticks: Ticks,
    clocks: Vec<PathBuf>,
    heat: Option<PathBuf>,
    throttles: Vec<PathBuf>,
    /// When what is read slowly was read last.
    slow: Option<Instant>,
    /// Whose threads were counted when, and how often they had made way until then.
    switches: Option<(u32, Instant, u64)>,
}

impl DeviceReader for HostReader {
    fn devices(&self) -> &[WatchedDevice] {
        &self.devices
    }

    fn read(&mut self, _device: usize, workers: &[u32]) -> Result<Values, DeviceGone> {
        let worker = workers.first().copied();
        let mut values = Values::new();
        self.read_load(&mut values);
        if let Some(used) = memory_used(&self.root) {
            values.push((Quantity::MemoryUsed, used as f64));
        }
        if let Some(memory) = worker.and_then(|pid| process::memory(&self.root, pid)) {
            values.push((Quantity::WorkerMemory, memory.resident_bytes as f64));
            values.push((Quantity::WorkerPeak, memory.peak_bytes as f64));
        }
        let now = Instant::now();
        if self
            .slow
            .is_none_or(|then| now.duration_since(then) >= SLOWLY)
        {
            self.slow = Some(now);
            self.read_slowly(worker, now, &mut values);
        }
        Ok(values)
    }
}

impl HostReader {
    fn read_load(&mut self, values: &mut Values) {
        let Some(now) = ticks(&self.root) else {
            return;
        };
        let spent = now.since(&self.ticks);
        // The kernel counts in hundredths of a second: read faster than that, nothing has passed.
        if spent.whole.all == 0 {
            return;
        }
        self.ticks = now;
        values.push((Quantity::Busy, spent.whole.busy_percent()));
        values.push((
            Quantity::Stolen,
            100.0 * spent.whole.stolen as f64 / spent.whole.all as f64,
        ));
        let cores = spent.cores.iter().filter(|(_, core)| core.all > 0);
        if let Some(busiest) = cores
            .clone()
            .map(|(_, core)| core.busy_percent())
            .reduce(f64::max)
        {
            values.push((Quantity::BusiestCore, busiest));
        }
        if spent.cores.len() <= MOST_CORES {
            let whole =
                cores.map(|(core, spent)| (Quantity::Core(*core), spent.busy_percent().round()));
            values.extend(whole);
        }
    }

    fn read_slowly(&mut self, worker: Option<u32>, now: Instant, values: &mut Values) {
        if let Some(mhz) = mean_mhz(&self.clocks) {
            values.push((Quantity::Clock, mhz.round()));
        }
        if let Some(milli) = self.heat.as_deref().and_then(files::number) {
            values.push((Quantity::Temperature, milli / 1e3));
        }
        let counts = self.throttles.iter().filter_map(|path| files::number(path));
        if let Some(count) = counts.reduce(|sum, count| sum + count) {
            values.push((Quantity::TooHot, count));
        }
        let Some((pid, switches)) = worker.and_then(|pid| {
            Some((
                pid,
                process::forced_switches(&self.root.join(format!("proc/{pid}")))?,
            ))
        }) else {
            return;
        };
        if let Some((of, then, before)) = self.switches.replace((pid, now, switches))
            && of == pid
        {
            let passed_s = now.duration_since(then).as_secs_f64().max(1e-9);
            // Threads that ended took their counts with them.
            let made_way = switches.saturating_sub(before) as f64;
            values.push((Quantity::Switches, made_way / passed_s));
        }
    }
}

/// The processors' time since the machine started, in the kernel's unit.
#[derive(Clone, Debug, Default, PartialEq)]
struct Ticks {
    whole: CpuTicks,
    cores: BTreeMap<u16, CpuTicks>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct CpuTicks {
    busy: u64,
    stolen: u64,
    all: u64,
}

impl CpuTicks {
    /// From the numbers in `cpu user nice system idle iowait irq softirq steal guest guest_nice`.
    fn parse(words: &str) -> Self {
        // Guests' time is in the user's already.
        let fields: Vec<u64> = words
            .split_ascii_whitespace()
            .take(8)
            .map_while(|field| field.parse().ok())
            .collect();
        let all: u64 = fields.iter().sum();
        let idle: u64 = fields.iter().skip(3).take(2).sum();
        Self {
            busy: all - idle,
            stolen: fields.get(7).copied().unwrap_or(0),
            all,
        }
    }

    fn busy_percent(self) -> f64 {
        (100.0 * self.busy as f64 / self.all as f64).min(100.0)
    }

    /// Some kernels let single counters run backwards a little.
    fn since(self, before: Self) -> Self {
        Self {
            busy: self.busy.saturating_sub(before.busy),
            stolen: self.stolen.saturating_sub(before.stolen),
            all: self.all.saturating_sub(before.all),
        }
    }
}

impl Ticks {
    fn since(&self, before: &Self) -> Self {
        let cores = self
            .cores
            .iter()
            .filter_map(|(core, now)| Some((*core, now.since(*before.cores.get(core)?))));
        Self {
            whole: self.whole.since(before.whole),
            cores: cores.collect(),
        }
    }
}

fn ticks(root: &Path) -> Option<Ticks> {
    let stat = fs::read_to_string(root.join("proc/stat")).ok()?;
    let mut ticks = Ticks::default();
    for line in stat.lines() {
        let Some((name, words)) = line.strip_prefix("cpu").and_then(|l| l.split_once(' ')) else {
            break;
        };
        match name.parse() {
            Ok(core) => {
                ticks.cores.insert(core, CpuTicks::parse(words));
            }
            Err(_) => ticks.whole = CpuTicks::parse(words),
        }
    }
    (ticks.whole.all > 0).then_some(ticks)
}

fn memory_used(root: &Path) -> Option<u64> {
    let meminfo = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let total = files::kibibytes(&meminfo, "MemTotal")?;
    let available = files::kibibytes(&meminfo, "MemAvailable")?;
    Some(total.saturating_sub(available))
}

/// The mean clock of the cores now, in MHz, where the kernel reports it.
pub fn clock_mhz(root: &Path) -> Option<f64> {
    mean_mhz(&clock_files(root))
}

/// The temperature of the processor now, in °C, where a sensor reports it.
pub fn temperature_c(root: &Path) -> Option<f64> {
    Some(files::number(&heat_file(root)?)? / 1e3)
}

fn mean_mhz(clocks: &[PathBuf]) -> Option<f64> {
    let khz: Vec<f64> = clocks
        .iter()
        .filter_map(|path| files::number(path))
        .collect();
    (!khz.is_empty()).then(|| khz.iter().sum::<f64>() / khz.len() as f64 / 1e3)
}

/// The clocks of the cores, as the kernel sees them; virtual machines mostly have none.
fn clock_files(root: &Path) -> Vec<PathBuf> {
    per_core(root, "cpufreq/scaling_cur_freq")
}

/// How often each package was too hot. Every core has the number of its package.
fn throttle_files(root: &Path) -> Vec<PathBuf> {
    let mut packages = BTreeMap::new();
    for path in per_core(root, "thermal_throttle/package_throttle_count") {
        let core = path.ancestors().nth(2).map(Path::to_path_buf);
        let package = core.and_then(|core| files::text(&core.join("topology/physical_package_id")));
        packages.entry(package).or_insert(path);
    }
    packages.into_values().collect()
}

fn per_core(root: &Path, file: &str) -> Vec<PathBuf> {
    let cores = files::entries(&root.join("sys/devices/system/cpu"));
    let paths = cores.into_iter().map(|core| core.join(file));
    paths.filter(|path| path.exists()).collect()
}

fn heat_file(root: &Path) -> Option<PathBuf> {
    let sensors = files::entries(&root.join("sys/class/hwmon"));
    let of_cpu = sensors.into_iter().find(|sensor| {
        let name = files::text(&sensor.join("name"));
        name.is_some_and(|name| SENSORS.contains(&name.as_str()))
    })?;
    Some(of_cpu.join("temp1_input")).filter(|path| path.exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(root: &Path) -> Result<Box<dyn DeviceReader>, MissingSource> {
        Host.open(&TelemetryPaths {
            root: root.to_path_buf(),
            ..TelemetryPaths::default()
        })
    }

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(watch: &mut dyn DeviceReader, worker: Option<u32>) -> Values {
        watch.read(0, worker.as_slice()).unwrap()
    }

    #[test]
    fn load_is_what_happened_since_the_last_look() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let stat = |lines: &str| write(root, "proc/stat", &format!("{lines}intr 1 2 3\ncpus\n"));
        write(
            root,
            "proc/meminfo",
            "MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    400 kB\n",
        );
        stat(
            "cpu  100 0 100 700 100 0 0 0 50 0\ncpu0 50 0 50 350 50 0 0 0\ncpu1 50 0 50 350 50 0 0 0\n",
        );
        let mut watch = open(root).unwrap();
        assert_eq!(watch.devices()[0].memory_bytes, Some(1_024_000));
        // 50 of 100 ticks were neither idle nor waiting, 10 of them stolen; one core had most of it.
        stat(
            "cpu  130 0 110 740 110 0 0 10 90 0\ncpu0 80 0 60 350 50 0 0 0\ncpu1 50 0 50 390 60 0 0 10\n",
        );
        let values = read(&mut *watch, None);
        assert_eq!(
            values,
            [
                (Quantity::Busy, 50.0),
                (Quantity::Stolen, 10.0),
                (Quantity::BusiestCore, 100.0),
                (Quantity::Core(0), 100.0),
                (Quantity::Core(1), 17.0),
                (Quantity::MemoryUsed, 614_400.0),
            ]
        );
        let again = read(&mut *watch, None);
        assert_eq!(
            again,
            [(Quantity::MemoryUsed, 614_400.0)],
            "no time has passed"
        );
    }

    #[test]
    fn clocks_heat_and_threads_are_read_slowly() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        write(root, "proc/stat", "cpu  1 1 1 1 1 1 1 1\n");
        let cpu = "sys/devices/system/cpu";
        for (core, khz) in [(0, "2000000"), (1, "3000000")] {
            write(
                root,
                &format!("{cpu}/cpu{core}/cpufreq/scaling_cur_freq"),
                khz,
            );
            write(
                root,
                &format!("{cpu}/cpu{core}/topology/physical_package_id"),
                "0",
            );
            let count = format!("{cpu}/cpu{core}/thermal_throttle/package_throttle_count");
            write(root, &count, "7\n");
        }
        write(root, "sys/class/hwmon/hwmon0/name", "nvme\n");
        write(root, "sys/class/hwmon/hwmon1/name", "k10temp\n");
        write(root, "sys/class/hwmon/hwmon1/temp1_input", "61500\n");
        let mut watch = open(root).unwrap();
        let expected = [
            (Quantity::Clock, 2500.0),
            (Quantity::Temperature, 61.5),
            (Quantity::TooHot, 7.0),
        ];
        assert_eq!(read(&mut *watch, None), expected);
        assert_eq!(read(&mut *watch, None), []);
    }

    #[test]
    fn this_machine_and_this_process_are_read() {
        let mut watch = open(Path::new("/")).unwrap();
        let values = read(&mut *watch, Some(std::process::id()));
        let of = |wanted| values.iter().find(|(q, _)| *q == wanted).map(|(_, v)| *v);
        let used = of(Quantity::MemoryUsed).unwrap();
        assert!(used > 0.0 && used < watch.devices()[0].memory_bytes.unwrap() as f64);
        let resident = of(Quantity::WorkerMemory).unwrap();
        assert!(resident > 100_000.0 && resident <= of(Quantity::WorkerPeak).unwrap());
        assert!(open(Path::new("/nowhere")).is_err());
    }
}
