//! AMD graphics processors as the kernel's `amdgpu` driver describes them in files, for machines
//! that have no ROCm SMI.

use std::path::{Path, PathBuf};

use super::files;
use super::source::{DeviceGone, DeviceReader, TelemetrySource, Values};
use powerband_core::domain::telemetry::{
    DeviceKind, MissingSource, Quantity, Setting, WatchedDevice,
};
use powerband_core::domain::telemetry_paths::TelemetryPaths;

/// The maker's number in PCI.
pub const AMD: &str = "0x1002";

/// The files below `/sys/class/drm`.
#[derive(Debug)]
pub struct Amdgpu;

impl TelemetrySource for Amdgpu {
    fn id(&self) -> &'static str {
        "amdgpu"
    }

    fn title(&self) -> &'static str {
        "amdgpu"
    }

    fn open(&self, places: &TelemetryPaths) -> Result<Box<dyn DeviceReader>, MissingSource> {
        let folder = places.root.join("sys/class/drm");
        let mut cards: Vec<Card> = files::entries(&folder)
            .iter()
            .filter(|path| is_card(&files::name(path)))
            .filter_map(|path| Card::from_folder(&path.join("device")))
            .collect();
        // In the order of the bus, as ROCm SMI counts them; card10 comes before card2 by its name.
        cards.sort_by_key(|card| files::name(&card.folder));
        if cards.is_empty() {
            return Err(self.missing(
                format!("there is no AMD graphics processor in {}", folder.display()),
                "nothing, unless there is one: then load its driver with sudo modprobe amdgpu",
            ));
        }
        let devices = cards.iter().enumerate();
        Ok(Box::new(AmdgpuCards {
            devices: devices
                .map(|(number, card)| card.describe(number, &places.root))
                .collect(),
            cards,
        }))
    }
}

/// `card0`, and not `card0-DP-1` or `renderD128`.
fn is_card(name: &str) -> bool {
    let number = name.strip_prefix("card");
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

struct AmdgpuCards {
    devices: Vec<WatchedDevice>,
    cards: Vec<Card>,
}

impl DeviceReader for AmdgpuCards {
    fn devices(&self) -> &[WatchedDevice] {
        &self.devices
    }

    fn read(&mut self, device: usize, _workers: &[u32]) -> Result<Values, DeviceGone> {
        let Some(card) = self.cards.get(device) else {
            return Ok(Values::new());
        };
        let values = card.read();
        if values.is_empty() {
            still_there(&card.folder)?;
        }
        Ok(values)
    }
}

/// Whether a card's files are still where they were.
pub(crate) fn still_there(folder: &Path) -> Result<(), DeviceGone> {
    if folder.join("vendor").exists() {
        return Ok(());
    }
    Err(DeviceGone(format!(
        "its files in {} are gone: it fell off the bus, or its driver was unloaded",
        folder.display()
    )))
}

/// One card: the files with readings, looked up once.
struct Card {
    folder: PathBuf,
    /// Files with one number each, and what it is worth in our unit.
    numbers: Vec<(Quantity, PathBuf, f64)>,
    /// Files with a list of clocks, the current one marked.
    clocks: Vec<(Quantity, PathBuf)>,
}

impl Card {
    /// The card in a folder, where it is one of AMD's.
    fn from_folder(device: &Path) -> Option<Self> {
        let folder = device.canonicalize().ok()?;
        if files::text(&folder.join("vendor"))? != AMD {
            return None;
        }
        let mut numbers = vec![
            (Quantity::Busy, folder.join("gpu_busy_percent"), 1.0),
            (Quantity::MemoryBusy, folder.join("mem_busy_percent"), 1.0),
            (Quantity::MemoryUsed, folder.join("mem_info_vram_used"), 1.0),
        ];
        if let Some(sensors) = files::entries(&folder.join("hwmon")).into_iter().next() {
            numbers.extend(power_file(&sensors).map(|path| (Quantity::Power, path, 1e-6)));
            numbers.extend(labelled(&sensors, "in", "vddgfx", Quantity::Voltage));
            numbers.extend(labelled(&sensors, "temp", "edge", Quantity::Temperature));
            numbers.extend(labelled(&sensors, "temp", "junction", Quantity::HotSpot));
            numbers.extend(labelled(
                &sensors,
                "temp",
                "mem",
                Quantity::MemoryTemperature,
            ));
        }
        numbers.retain(|(_, path, _)| path.exists());
        let mut clocks = vec![
            (Quantity::Clock, folder.join("pp_dpm_sclk")),
            (Quantity::MemoryClock, folder.join("pp_dpm_mclk")),
        ];
        clocks.retain(|(_, path)| path.exists());
        Some(Self {
            folder,
            numbers,
            clocks,
        })
    }

    fn read(&self) -> Values {
        let numbers = self.numbers.iter().filter_map(|(quantity, path, factor)| {
            Some((*quantity, files::number(path)? * factor))
        });
        let clocks = self
            .clocks
            .iter()
            .filter_map(|(quantity, path)| Some((*quantity, current_mhz(&files::text(path)?)?)));
        numbers.chain(clocks).collect()
    }

    fn describe(&self, number: usize, root: &Path) -> WatchedDevice {
        let text = |file: &str| files::text(&self.folder.join(file));
        let highest = |file: &str| text(file).and_then(|list| highest_mhz(&list));
        let name = text("product_name").unwrap_or_else(|| {
            format!(
                "AMD graphics processor {}",
                text("device").unwrap_or_default()
            )
        });
        let sensors = files::entries(&self.folder.join("hwmon"))
            .into_iter()
            .next();
        let watts = |file: &str| {
            let path = sensors.as_ref()?.join(file);
            Some(files::number(&path)? / 1e6)
        };
        let limit = watts("power1_cap");
        let mut device = WatchedDevice::new(
            "amdgpu",
            DeviceKind::Amd,
            number,
            &files::name(&self.folder),
            &name,
        );
        device.memory_bytes = text("mem_info_vram_total").and_then(|bytes| bytes.parse().ok());
        device.max_clock_mhz = highest("pp_dpm_sclk");
        device.max_memory_clock_mhz = highest("pp_dpm_mclk");
        device.power_limit_w = limit;
        device.driver = files::text(&root.join("sys/module/amdgpu/version"));
        device.settings = settings(
            number,
            limit,
            watts("power1_cap_max"),
            text("power_dpm_force_performance_level"),
            device.max_clock_mhz,
        );
        device
    }
}

/// What decides over the speed of an AMD card, with the commands of ROCm SMI's own tool.
pub fn settings(
    number: usize,
    limit_w: Option<f64>,
    most_w: Option<f64>,
    level: Option<String>,
    max_clock_mhz: Option<f64>,
) -> Vec<Setting> {
    let limit = limit_w.map(|limit| Setting {
        name: "Power limit".to_owned(),
        value: match most_w {
            Some(most) => format!("{limit:.0} W of at most {most:.0} W"),
            None => format!("{limit:.0} W"),
        },
        command: Some(format!(
            "sudo rocm-smi --device {number} --setpoweroverdrive {limit:.0}"
        )),
    });
    let level = level.map(|level| Setting {
        name: "Performance level".to_owned(),
        value: level,
        command: Some(format!(
            "sudo rocm-smi --device {number} --setperflevel high"
        )),
    });
    let determinism = max_clock_mhz.map(|mhz| Setting {
        name: "Determinism".to_owned(),
        value: format!("holds a clock, of at most {mhz:.0} MHz"),
        command: Some(format!(
            "sudo rocm-smi --device {number} --setperfdeterminism {mhz:.0}"
        )),
    });
    [limit, level, determinism].into_iter().flatten().collect()
}

/// Older drivers report a mean, newer ones the power at the moment.
fn power_file(sensors: &Path) -> Option<PathBuf> {
    let files = ["power1_average", "power1_input"].map(|file| sensors.join(file));
    files.into_iter().find(|file| file.exists())
}

/// The sensor with a label, which is in thousandths.
fn labelled(
    sensors: &Path,
    kind: &str,
    label: &str,
    quantity: Quantity,
) -> Option<(Quantity, PathBuf, f64)> {
    let input = (0..=8).find_map(|index| {
        let found = files::text(&sensors.join(format!("{kind}{index}_label")))?;
        (found == label).then(|| sensors.join(format!("{kind}{index}_input")))
    })?;
    Some((quantity, input, 1e-3))
}

/// The clock with the asterisk in `0: 500Mhz\n1: 1700Mhz *`.
fn current_mhz(list: &str) -> Option<f64> {
    list.lines().find(|line| line.ends_with('*')).and_then(mhz)
}

/// The highest clock of the list.
fn highest_mhz(list: &str) -> Option<f64> {
    list.lines().filter_map(mhz).reduce(f64::max)
}

fn mhz(line: &str) -> Option<f64> {
    let (_, clock) = line.split_once(':')?;
    let clock = clock
        .trim()
        .trim_end_matches('*')
        .trim()
        .to_ascii_lowercase();
    clock.strip_suffix("mhz")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn card(root: &Path, write: &dyn Fn(&Path)) -> PathBuf {
        let folder = root.join("sys/devices/pci0000:40/0000:43:00.0");
        let drm = root.join("sys/class/drm/card1");
        fs::create_dir_all(folder.join("hwmon/hwmon3")).unwrap();
        fs::create_dir_all(&drm).unwrap();
        std::os::unix::fs::symlink(&folder, drm.join("device")).unwrap();
        fs::write(folder.join("vendor"), "0x1002\n").unwrap();
        write(&folder);
        folder
    }

    fn open(root: &Path) -> Result<Box<dyn DeviceReader>, MissingSource> {
        Amdgpu.open(&TelemetryPaths {
            root: root.to_path_buf(),
            ..TelemetryPaths::default()
        })
    }

    #[test]
    fn a_card_is_read_until_it_is_gone() {
        let root = tempfile::tempdir().unwrap();
        let folder = card(root.path(), &|folder| {
            fs::write(folder.join("gpu_busy_percent"), "57\n").unwrap();
            fs::write(folder.join("mem_busy_percent"), "rubbish\n").unwrap();
            fs::write(folder.join("mem_info_vram_total"), "68702699520\n").unwrap();
            fs::write(
                folder.join("pp_dpm_sclk"),
                "0: 500Mhz\n1: 800Mhz *\n2: 1700Mhz\n",
            )
            .unwrap();
            fs::write(folder.join("hwmon/hwmon3/power1_input"), "215000000\n").unwrap();
            fs::write(folder.join("hwmon/hwmon3/temp2_label"), "junction\n").unwrap();
            fs::write(folder.join("hwmon/hwmon3/temp2_input"), "51000\n").unwrap();
            fs::write(folder.join("hwmon/hwmon3/power1_cap"), "500000000\n").unwrap();
        });
        let mut watch = open(root.path()).unwrap();
        let device = watch.devices()[0].clone();
        assert_eq!((device.id.as_str(), device.number), ("0000:43:00.0", 0));
        assert_eq!(device.memory_bytes, Some(68_702_699_520));
        assert_eq!(device.max_clock_mhz, Some(1700.0));
        assert_eq!(device.power_limit_w, Some(500.0));
        let values = watch.read(0, &[]).unwrap();
        let expected = [
            (Quantity::Busy, 57.0),
            (Quantity::Power, 215.0),
            (Quantity::HotSpot, 51.0),
            (Quantity::Clock, 800.0),
        ];
        assert_eq!(values, expected, "what is rubbish or not there is a gap");
        fs::remove_dir_all(&folder).unwrap();
        let gone = watch.read(0, &[]).unwrap_err();
        assert!(gone.to_string().contains("0000:43:00.0"), "{gone}");
    }

    #[test]
    fn a_machine_without_a_card_says_so() {
        let root = tempfile::tempdir().unwrap();
        let missing = open(root.path()).err().unwrap();
        assert!(missing.why.contains("sys/class/drm"), "{}", missing.why);
        card(root.path(), &|folder| {
            fs::write(folder.join("vendor"), "0x10de\n").unwrap();
        });
        assert!(open(root.path()).is_err(), "of another maker");
    }
}
