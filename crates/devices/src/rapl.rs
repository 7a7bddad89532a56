//! The energy counters of processor packages (RAPL), where the kernel lets this user read them.

use std::path::PathBuf;
use std::time::Instant;

use super::files;
use super::source::{DeviceGone, DeviceReader, TelemetrySource, Values};
use powerband_core::domain::telemetry::{DeviceKind, MissingSource, Quantity, WatchedDevice};
use powerband_core::domain::telemetry_paths::TelemetryPaths;

/// Power is the counter's change over at least this time: it ticks about a thousand times a second.
const SHORTEST_S: f64 = 0.02;

/// The files below `/sys/class/powercap`.
#[derive(Debug)]
pub(crate) struct Rapl;

impl TelemetrySource for Rapl {
    fn id(&self) -> &'static str {
        "rapl"
    }

    fn title(&self) -> &'static str {
        "RAPL"
    }

    fn tells_of_cards(&self) -> bool {
        false
    }

    fn open(&self, places: &TelemetryPaths) -> Result<Box<dyn DeviceReader>, MissingSource> {
        let folder = places.root.join("sys/class/powercap");
        let zones = zones(&folder);
        if zones.is_empty() {
            return Err(self.missing(
                format!("the kernel offers no energy counters in {}", folder.display()),
                "nothing in a virtual machine; else load the driver with sudo modprobe intel_rapl_msr",
            ));
        }
        let readable: Vec<Zone> = zones
            .into_iter()
            .filter(|zone| files::number(&zone.counter).is_some())
            .collect();
        if readable.is_empty() {
            return Err(self.missing(
                "this user may not read the energy counters",
                "until the next start: sudo chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj",
            ));
        }
        let devices = readable.iter().enumerate();
        Ok(Box::new(Zones {
            devices: devices
                .map(|(number, zone)| {
                    WatchedDevice::new("rapl", DeviceKind::Package, number, &zone.id, &zone.name)
                })
                .collect(),
            zones: readable,
        }))
    }
}

/// Packages and their memory. Cores and graphics are parts of their package, and `psys` is more than it.
fn zones(folder: &std::path::Path) -> Vec<Zone> {
    let mut zones = Vec::new();
    for path in files::entries(folder) {
        let id = files::name(&path);
        let Some(name) = files::text(&path.join("name")) else {
            continue;
        };
        let is_package = name.starts_with("package");
        if !id.starts_with("intel-rapl:") || !(is_package || name == "dram") {
            continue;
        }
        let package = id.split(':').nth(1).unwrap_or_default();
        zones.push(Zone {
            name: if is_package {
                format!("CPU package {package}")
            } else {
                format!("Memory of package {package}")
            },
            id,
            counter: path.join("energy_uj"),
            range_j: files::number(&path.join("max_energy_range_uj")).map(|uj| uj / 1e6),
            last_j: None,
            total_j: 0.0,
            before: None,
        });
    }
    zones
}

struct Zones {
    devices: Vec<WatchedDevice>,
    zones: Vec<Zone>,
}

impl DeviceReader for Zones {
    fn devices(&self) -> &[WatchedDevice] {
        &self.devices
    }

    fn read(&mut self, device: usize, _workers: &[u32]) -> Result<Values, DeviceGone> {
        let zone = self.zones.get_mut(device);
        Ok(zone.map_or_else(Values::new, |zone| zone.read(Instant::now())))
    }
}

struct Zone {
    id: String,
    name: String,
    counter: PathBuf,
    /// Where the counter begins again.
    range_j: Option<f64>,
    last_j: Option<f64>,
    /// Since the first reading, without the jumps back.
    total_j: f64,
    /// When power was worked out last, and the total then.
    before: Option<(Instant, f64)>,
}

impl Zone {
    fn read(&mut self, now: Instant) -> Values {
        let mut values = Values::new();
        let Some(counter_j) = files::number(&self.counter).map(|uj| uj / 1e6) else {
            return values;
        };
        if let Some(last) = self.last_j.replace(counter_j) {
            let step = counter_j - last;
            // A counter that went back has begun again.
            self.total_j += if step < 0.0 {
                step + self.range_j.unwrap_or(-step)
            } else {
                step
            };
        }
        values.push((Quantity::Energy, self.total_j));
        let Some((then, total_j)) = self.before else {
            self.before = Some((now, self.total_j));
            return values;
        };
        let passed_s = now.duration_since(then).as_secs_f64();
        if passed_s >= SHORTEST_S {
            values.push((Quantity::Power, (self.total_j - total_j) / passed_s));
            self.before = Some((now, self.total_j));
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    use super::*;

    fn zone(root: &Path, id: &str, name: &str, uj: u64) -> PathBuf {
        let folder = root.join("sys/class/powercap").join(id);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("name"), name).unwrap();
        fs::write(folder.join("energy_uj"), uj.to_string()).unwrap();
        fs::write(folder.join("max_energy_range_uj"), "1000000000\n").unwrap();
        folder
    }

    #[test]
    fn packages_and_their_memory_are_told() {
        let root = tempfile::tempdir().unwrap();
        zone(root.path(), "intel-rapl:0", "package-0", 5);
        zone(root.path(), "intel-rapl:0:0", "core", 5);
        zone(root.path(), "intel-rapl:0:1", "dram", 5);
        zone(root.path(), "intel-rapl:1", "psys", 5);
        let places = TelemetryPaths {
            root: root.path().to_path_buf(),
            ..TelemetryPaths::default()
        };
        let watch = Rapl.open(&places).unwrap();
        let names: Vec<&str> = watch.devices().iter().map(|d| d.name.as_str()).collect();
        assert_eq!(names, ["CPU package 0", "Memory of package 0"]);
    }

    #[test]
    fn power_is_the_change_of_a_counter_that_begins_again() {
        let root = tempfile::tempdir().unwrap();
        let folder = zone(root.path(), "intel-rapl:0", "package-0", 990_000_000);
        let mut zone = zones(&root.path().join("sys/class/powercap")).remove(0);
        let start = Instant::now();
        assert_eq!(zone.read(start), [(Quantity::Energy, 0.0)]);
        fs::write(folder.join("energy_uj"), "20000000").unwrap();
        let values = zone.read(start + Duration::from_millis(500));
        assert_eq!(values, [(Quantity::Energy, 30.0), (Quantity::Power, 60.0)]);
    }

    #[test]
    fn what_may_not_be_read_comes_with_the_command_that_helps() {
        let root = tempfile::tempdir().unwrap();
        let places = TelemetryPaths {
            root: root.path().to_path_buf(),
            ..TelemetryPaths::default()
        };
        assert!(Rapl.open(&places).is_err());
        let folder = zone(root.path(), "intel-rapl:0", "package-0", 5);
        // Root may read every file, so the counter is made unreadable otherwise.
        fs::remove_file(folder.join("energy_uj")).unwrap();
        fs::create_dir(folder.join("energy_uj")).unwrap();
        let missing = Rapl.open(&places).err().unwrap();
        assert!(missing.remedy.contains("chmod a+r"), "{}", missing.remedy);
    }
}
