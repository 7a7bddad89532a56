//! AMD graphics processors through AMD's own library.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rocm_smi_lib::{
    RocmErr, RsmiClkType, RsmiDevPerfLevel, RsmiTemperatureMetric, RsmiTemperatureType,
    RsmiVoltageMetric,
};
use rocm_smi_lib_sys::extra;
use rocm_smi_lib_sys::library::{self, Library};

use super::source::{DeviceGone, DeviceReader, TelemetrySource, Values};
use super::{amdgpu, files};
use powerband_core::domain::telemetry::{DeviceKind, MissingSource, Quantity, WatchedDevice};
use powerband_core::domain::telemetry_paths::TelemetryPaths;

/// What every card is asked for.
const ASKED: [Quantity; 6] = [
    Quantity::Busy,
    Quantity::MemoryBusy,
    Quantity::MemoryUsed,
    Quantity::Clock,
    Quantity::MemoryClock,
    Quantity::Energy,
];

/// What a card with sensors is asked for too.
const ASKED_OF_SENSORS: [Quantity; 5] = [
    Quantity::Power,
    Quantity::Temperature,
    Quantity::HotSpot,
    Quantity::MemoryTemperature,
    Quantity::Voltage,
];

/// A quantity without a value in so many readings is not read any more: every call costs time.
const TRIES: u8 = 3;

/// What changes slowly is asked for at most so often: each question costs some twenty microseconds.
const SLOWLY: Duration = Duration::from_millis(90);

/// AMD's library, ROCm SMI.
#[derive(Debug)]
pub struct RocmSmi;

impl TelemetrySource for RocmSmi {
    fn id(&self) -> &'static str {
        "rocm-smi"
    }

    fn title(&self) -> &'static str {
        "ROCm SMI"
    }

    fn open(&self, places: &TelemetryPaths) -> Result<Box<dyn DeviceReader>, MissingSource> {
        if places.rocm_smi.is_none() && places.root != Path::new("/") {
            return Err(self.missing(
                format!(
                    "it knows this machine alone, and not what is in {}",
                    places.root.display()
                ),
                "nothing: the files there are read as the kernel wrote them",
            ));
        }
        let library = library::find(places.rocm_smi.as_deref()).map_err(|missing| {
            self.missing(
                missing.to_string(),
                "install librocm-smi64-1 (Debian) or rocm-smi-lib (ROCm), or let POWERBAND_ROCM_SMI name \
                 the library",
            )
        })?;
        let cards = places.root.join("sys/class/drm");
        let none = || self.nothing(&format!("there is none in {}", cards.display()));
        // The library would complain about that on standard error. Who names one wants it to be asked.
        if places.rocm_smi.is_none() && !has_card(&cards) {
            return Err(none());
        }
        let session = Session::start().map_err(|error| {
            if has_card(&cards) {
                self.broken(library, error)
            } else {
                none()
            }
        })?;
        let cards = RocmCards::from_session(session, &places.root);
        if cards.devices.is_empty() {
            return Err(self.nothing(&format!("{} found none", library.path().display())));
        }
        Ok(Box::new(cards))
    }
}

impl RocmSmi {
    fn broken(&self, library: &Library, error: RocmErr) -> MissingSource {
        let (path, error) = (library.path().display(), error.to_string());
        self.missing(
            format!("{path} could not start: {error}"),
            "install a newer ROCm; or, where no other program uses it now, remove what an earlier one \
             left locked with sudo rm /dev/shm/rocm_smi*",
        )
    }

    fn nothing(&self, why: &str) -> MissingSource {
        self.missing(
            format!("no AMD GPU: {why}"),
            "nothing, unless there is one: then load its driver with sudo modprobe amdgpu",
        )
    }
}

/// The library at work, until this is dropped.
struct Session {
    rocm: rocm_smi_lib::RocmSmi,
    count: u32,
}

impl Session {
    fn start() -> Result<Self, RocmErr> {
        // The crate does not look whether its own start worked.
        extra::start()?;
        let rocm = rocm_smi_lib::RocmSmi::init();
        // That was a second start, and one end has to be enough.
        extra::stop();
        let mut rocm = rocm.inspect_err(|_| extra::stop())?;
        Ok(Self {
            count: rocm.get_device_count(),
            rocm,
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        extra::stop();
    }
}

struct RocmCards {
    session: Session,
    devices: Vec<WatchedDevice>,
    cards: Vec<Card>,
}

struct Card {
    /// Its number for the library.
    index: u32,
    /// Its folder in `/sys`; nothing where it is not known.
    folder: Option<PathBuf>,
    /// Quantities that are read, and whether each ever had a value. At first all are read.
    asked: Vec<(Quantity, bool)>,
    /// How often it was read so far, counted up to [`TRIES`].
    tries: u8,
    /// When it was last asked for everything.
    all_at: Option<Instant>,
    /// Whether the library has to be kept from lists of clocks.
    careful: bool,
    /// Whether it has sensors.
    sensors: bool,
}

impl RocmCards {
    fn from_session(mut session: Session, root: &Path) -> Self {
        let mut devices: Vec<WatchedDevice> = Vec::new();
        let mut cards = Vec::new();
        for index in 0..session.count {
            let address = extra::pci_id(index).map_or_else(|_| format!("GPU {index}"), address);
            let card = Card::new(index, folder(root, &address), !extra::knows_deep_sleep());
            // Parts of one card may have the same address.
            let taken = devices.iter().any(|device| device.id == address);
            let id = if taken {
                format!("{address}#{index}")
            } else {
                address
            };
            devices.push(card.describe(&mut session.rocm, &id));
            cards.push(card);
        }
        Self {
            session,
            devices,
            cards,
        }
    }
}

impl DeviceReader for RocmCards {
    fn devices(&self) -> &[WatchedDevice] {
        &self.devices
    }

    fn read(&mut self, device: usize, _workers: &[u32]) -> Result<Values, DeviceGone> {
        let Some(card) = self.cards.get_mut(device) else {
            return Ok(Values::new());
        };
        let values = card.read(&mut self.session.rocm);
        // What is read while it goes away is not to be believed.
        card.still_there()?;
        if values.is_empty() {
            return Err(DeviceGone(
                "ROCm SMI tells nothing of it any more: look into the system's log with sudo dmesg"
                    .to_owned(),
            ));
        }
        Ok(values)
    }
}

impl Card {
    fn new(index: u32, folder: Option<PathBuf>, careful: bool) -> Self {
        let hwmon = folder.as_ref().map(|folder| folder.join("hwmon"));
        // Libraries before ROCm 6 may end the whole process where they are asked for sensors that are
        // not there.
        let sensors = hwmon.map_or(!careful, |hwmon| !files::entries(&hwmon).is_empty());
        let mut asked = ASKED.to_vec();
        if sensors {
            asked.extend(ASKED_OF_SENSORS);
        }
        Self {
            index,
            folder,
            asked: asked
                .into_iter()
                .map(|quantity| (quantity, false))
                .collect(),
            tries: 0,
            all_at: None,
            careful,
            sensors,
        }
    }

    /// Whether its files, from which the library reads everything, are still where they were.
    fn still_there(&self) -> Result<(), DeviceGone> {
        self.folder.as_deref().map_or(Ok(()), amdgpu::still_there)
    }

    fn read(&mut self, rocm: &mut rocm_smi_lib::RocmSmi) -> Values {
        let mut values = Values::new();
        let mut asked = std::mem::take(&mut self.asked);
        let last_try = self.tries + 1 == TRIES;
        let now = Instant::now();
        let is_due = self.tries < TRIES
            || self
                .all_at
                .is_none_or(|then| now.duration_since(then) >= SLOWLY);
        asked.retain_mut(|(quantity, told)| {
            if !is_due && is_slow(*quantity) {
                return true;
            }
            match self.ask(rocm, *quantity) {
                Ok(value) => {
                    values.push((*quantity, value));
                    *told = true;
                    true
                }
                Err(error) => *told || !last_try || is_passing(error),
            }
        });
        if is_due {
            self.all_at = Some(now);
        }
        self.asked = asked;
        self.tries = TRIES.min(self.tries + 1);
        values
    }

    /// One value, in our unit.
    fn ask(&self, rocm: &mut rocm_smi_lib::RocmSmi, quantity: Quantity) -> Result<f64, RocmErr> {
        let card = self.index;
        let mut degrees = |sensor| {
            rocm.get_device_temperature_metric(card, sensor, RsmiTemperatureMetric::Current)
        };
        Ok(match quantity {
            Quantity::Temperature => degrees(RsmiTemperatureType::Edge)?,
            Quantity::HotSpot => degrees(RsmiTemperatureType::Junction)?,
            Quantity::MemoryTemperature => degrees(RsmiTemperatureType::Memory)?,
            Quantity::Busy => f64::from(rocm.get_device_busy_percent(card)?),
            Quantity::MemoryBusy => f64::from(extra::memory_busy_percent(card)?),
            Quantity::MemoryUsed => extra::memory_used(card)? as f64,
            Quantity::Clock => self.clocks(rocm, RsmiClkType::RsmiClkTypeSys)?.current,
            Quantity::MemoryClock => self.clocks(rocm, RsmiClkType::RsmiClkTypeMem)?.current,
            // Older cards report a mean, newer ones the power at the moment.
            Quantity::Power => {
                let power = extra::average_power_uw(card);
                power.or_else(|_| extra::current_power_uw(card))? as f64 / 1e6
            }
            // A counter that was never filled in has all bits or none.
            Quantity::Energy => match extra::energy(card)? {
                energy if energy.counter == 0 || energy.counter == u64::MAX => {
                    return Err(RocmErr::RsmiStatusNotSupported);
                }
                energy => energy.joules(),
            },
            Quantity::Voltage => {
                rocm.get_device_voltage_metric(card, RsmiVoltageMetric::Current)?
            }
            _ => return Err(RocmErr::RsmiStatusNotSupported),
        })
    }

    /// The current and the highest clock of a part, in MHz.
    fn clocks(
        &self,
        rocm: &mut rocm_smi_lib::RocmSmi,
        part: RsmiClkType,
    ) -> Result<Clocks, RocmErr> {
        if self.careful {
            return self.clocks_of_file(part);
        }
        let clocks = rocm.get_device_frequency(self.index, part)?;
        let supported = clocks.supported.iter().copied();
        Ok(Clocks {
            current: clocks.current as f64 / 1e6,
            highest: supported.fold(clocks.current, u64::max) as f64 / 1e6,
        })
    }

    /// The same from the file that the library would read. Libraries before ROCm 6 do not understand
    /// the list of a card that sleeps, and Debian's then ends the whole process.
    fn clocks_of_file(&self, part: RsmiClkType) -> Result<Clocks, RocmErr> {
        let file = match part {
            RsmiClkType::RsmiClkTypeSys => "pp_dpm_sclk",
            RsmiClkType::RsmiClkTypeMem => "pp_dpm_mclk",
            _ => return Err(RocmErr::RsmiStatusNotSupported),
        };
        let folder = self
            .folder
            .as_ref()
            .ok_or(RocmErr::RsmiStatusNotSupported)?;
        let list = files::text(&folder.join(file)).ok_or(RocmErr::RsmiStatusFileError)?;
        Clocks::of_list(&list).ok_or(RocmErr::RsmiStatusUnexpectedData)
    }

    fn describe(&self, rocm: &mut rocm_smi_lib::RocmSmi, id: &str) -> WatchedDevice {
        let card = self.index;
        let number = card as usize;
        let watts = |ask: fn(u32) -> Result<u64, u32>| {
            let power = self.sensors.then(|| ask(card))?.ok()?;
            Some(power as f64 / 1e6)
        };
        let limit = watts(extra::power_cap_uw);
        let most = watts(extra::max_power_cap_uw);
        let level = rocm.get_device_performance_level(card);
        let mut highest = |part| self.clocks(rocm, part).ok().map(|clocks| clocks.highest);
        let mut device = WatchedDevice::new("rocm-smi", DeviceKind::Amd, number, id, &self.name());
        device.memory_bytes = extra::memory_total(card).ok();
        device.max_clock_mhz = highest(RsmiClkType::RsmiClkTypeSys);
        device.max_memory_clock_mhz = highest(RsmiClkType::RsmiClkTypeMem);
        device.power_limit_w = limit;
        device.driver = extra::driver_version().ok();
        device.settings = amdgpu::settings(
            number,
            limit,
            most,
            level.ok().and_then(level_name).map(ToOwned::to_owned),
            device.max_clock_mhz,
        );
        device
    }

    /// What people call it. Where the library knows nothing but a number, the driver may know more.
    fn name(&self) -> String {
        let told = extra::name(self.index).unwrap_or_default();
        if !told.is_empty() && !told.starts_with("0x") {
            return told;
        }
        let text = |file: &str| files::text(&self.folder.as_ref()?.join(file));
        text("product_name").unwrap_or_else(|| {
            let number = text("device").unwrap_or(told);
            format!("AMD graphics processor {number}")
                .trim_end()
                .to_owned()
        })
    }
}

/// Whether the same question may have an answer later.
fn is_passing(error: RocmErr) -> bool {
    matches!(
        error,
        RocmErr::RsmiStatusBusy
            | RocmErr::RsmiStatusInterrupt
            | RocmErr::RsmiStatusPermission
            | RocmErr::RsmiStatusNoData
            | RocmErr::RsmiStatusUnexpectedData
            | RocmErr::RsmiStatusUnexpectedSize
    )
}

/// Clocks of a part of a card, in MHz.
#[derive(Debug, PartialEq)]
struct Clocks {
    current: f64,
    highest: f64,
}

impl Clocks {
    /// From a list such as `0: 500Mhz\n1: 1700Mhz *`, with the current one marked.
    fn of_list(list: &str) -> Option<Self> {
        let mhz = |line: &str| -> Option<f64> {
            let (_, clock) = line.split_once(':')?;
            let clock = clock.trim_end_matches('*').trim().to_ascii_lowercase();
            clock.strip_suffix("mhz")?.trim().parse().ok()
        };
        let current = list
            .lines()
            .find(|line| line.ends_with('*'))
            .and_then(mhz)?;
        Some(Self {
            current,
            highest: list.lines().filter_map(mhz).fold(current, f64::max),
        })
    }
}

/// `0000:43:00.0` for what the library gives as one number.
fn address(id: u64) -> String {
    format!(
        "{:04x}:{:02x}:{:02x}.{:x}",
        id >> 32,
        id >> 8 & 0xff,
        id >> 3 & 0x1f,
        id & 7
    )
}

/// Whether there is a card of AMD's in the folder with all cards.
fn has_card(cards: &Path) -> bool {
    let mut vendors = files::entries(cards).into_iter();
    vendors.any(|card| {
        files::text(&card.join("device/vendor")).is_some_and(|text| text == amdgpu::AMD)
    })
}

/// The folder of the card with an address.
fn folder(root: &Path, address: &str) -> Option<PathBuf> {
    let cards = files::entries(&root.join("sys/class/drm")).into_iter();
    cards
        .filter_map(|card| card.join("device").canonicalize().ok())
        .find(|folder| files::name(folder) == address && folder.join("vendor").exists())
}

/// What the driver calls a way of choosing clocks.
fn level_name(level: RsmiDevPerfLevel) -> Option<&'static str> {
    Some(match level {
        RsmiDevPerfLevel::Auto => "auto",
        RsmiDevPerfLevel::Low => "low",
        RsmiDevPerfLevel::High => "high",
        RsmiDevPerfLevel::Manual => "manual",
        RsmiDevPerfLevel::StableStd => "profile_standard",
        RsmiDevPerfLevel::StablePeak => "profile_peak",
        RsmiDevPerfLevel::StableMinMclk => "profile_min_mclk",
        RsmiDevPerfLevel::StableMinSclk => "profile_min_sclk",
        RsmiDevPerfLevel::Determinism => "perf_determinism",
        RsmiDevPerfLevel::Unknown => return None,
    })
}

/// Whether a quantity changes so slowly that a hundred readings a second would add nothing.
fn is_slow(quantity: Quantity) -> bool {
    matches!(
        quantity,
        Quantity::Temperature
            | Quantity::HotSpot
            | Quantity::MemoryTemperature
            | Quantity::MemoryBusy
            | Quantity::MemoryClock
            | Quantity::Voltage
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn addresses_look_like_the_kernels() {
        assert_eq!(address(0x4300), "0000:43:00.0");
        assert_eq!(
            address(0x0001_0000_0000 + 0xc1_00 + (3 << 3) + 1),
            "0001:c1:03.1"
        );
        assert_eq!(address(0x1_0000_0000_0000 + 0x4300), "10000:43:00.0");
        assert_eq!(
            address(0x2000_4300),
            "0000:43:00.0",
            "bits 28 to 31 number a part of the card"
        );
    }

    #[test]
    fn lists_of_clocks_are_read() {
        let clocks = |current, highest| Some(Clocks { current, highest });
        let list = "0: 500Mhz\n1: 800Mhz *\n2: 1700Mhz";
        assert_eq!(Clocks::of_list(list), clocks(800.0, 1700.0));
        let asleep = "S: 19Mhz *\n0: 500Mhz\n1: 1700Mhz";
        assert_eq!(Clocks::of_list(asleep), clocks(19.0, 1700.0));
        assert_eq!(
            Clocks::of_list("0: 500Mhz\n1: 800Mhz"),
            None,
            "none is the current one"
        );
        assert_eq!(Clocks::of_list("rubbish *"), None);
    }

    #[test]
    fn what_is_not_supported_is_not_asked_again() {
        assert!(is_passing(RocmErr::RsmiStatusBusy));
        assert!(!is_passing(RocmErr::RsmiStatusNotSupported));
        assert!(!is_passing(RocmErr::RsmiStatusFileError));
    }

    #[test]
    fn a_card_that_is_gone_says_so() {
        let root = tempfile::tempdir().unwrap();
        let files = root.path().join("sys/devices/pci0000:40/0000:43:00.0");
        let drm = root.path().join("sys/class/drm/card1");
        fs::create_dir_all(&files).unwrap();
        fs::create_dir_all(&drm).unwrap();
        std::os::unix::fs::symlink(&files, drm.join("device")).unwrap();
        fs::write(files.join("vendor"), "0x1002\n").unwrap();
        assert_eq!(folder(root.path(), "0000:53:00.0"), None);
        assert!(has_card(&root.path().join("sys/class/drm")));
        assert!(!has_card(&root.path().join("sys/class")));
        let card = Card::new(0, folder(root.path(), "0000:43:00.0"), true);
        assert!(!card.sensors, "it has none");
        assert_eq!(card.still_there(), Ok(()));
        fs::remove_dir_all(&files).unwrap();
        let gone = card.still_there().unwrap_err();
        assert!(gone.to_string().contains("0000:43:00.0 are gone"), "{gone}");
    }

    #[test]
    fn a_library_that_is_not_there_is_missing() {
        let places = TelemetryPaths {
            rocm_smi: Some(PathBuf::from("/nowhere/librocm_smi64.so.6")),
            ..TelemetryPaths::default()
        };
        let missing = RocmSmi.open(&places).err().unwrap();
        assert_eq!(missing.source, "ROCm SMI");
        assert_eq!(missing.why, "there is no /nowhere/librocm_smi64.so.6");
        assert!(missing.remedy.contains("librocm-smi64-1"));
    }
}
