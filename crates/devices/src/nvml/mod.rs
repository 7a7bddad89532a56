//! NVIDIA's cards, through the library that comes with their driver.
//!
//! The library is looked for when telemetry begins, so Powerband runs without it. It is only read,
//! and never used to set anything.

mod constants;
mod readings;

use std::error::Error as _;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use nvml_wrapper::Nvml as Library;
use nvml_wrapper::error::NvmlError;

use self::readings::{CardReading, ENTRIES};
use super::source::{DeviceGone, DeviceReader, TelemetrySource, Values};
use powerband_core::domain::telemetry::{MissingSource, WatchedDevice};
use powerband_core::domain::telemetry_paths::TelemetryPaths;

/// The library's name, as the driver installs it.
const USUAL_NAME: &str = "libnvidia-ml.so.1";

/// Its name where programs are built for it.
const OTHER_NAME: &str = "libnvidia-ml.so";

/// What the kernel calls the namespace of processes that the machine itself is in.
const MACHINES_PROCESSES: &str = "pid:[4026531836]";

const ASK_NVIDIA_SMI: &str = "See whether nvidia-smi works here, and what it says";
const GIVE_CARDS: &str = "See whether nvidia-smi -L lists one; a container must be given its cards";
const INSTALL: &str = "Install the NVIDIA driver: it brings libnvidia-ml.so.1";
const NAME_ANOTHER: &str =
    "Let POWERBAND_NVML name the driver's libnvidia-ml.so.1, or unset it to have that found";

/// NVIDIA's cards.
#[derive(Clone, Copy, Debug)]
pub struct Nvml;

impl TelemetrySource for Nvml {
    fn id(&self) -> &'static str {
        "nvml"
    }

    fn title(&self) -> &'static str {
        "NVML"
    }

    fn open(&self, places: &TelemetryPaths) -> Result<Box<dyn DeviceReader>, MissingSource> {
        let (devices, library) = load(places.nvml.as_deref())
            .and_then(|library| Ok((devices(&library, self.id())?, library)))
            .map_err(|(why, remedy)| self.missing(why, remedy))?;
        let opened = Instant::now();
        let due = |card| {
            ENTRIES
                .each_ref()
                .map(|entry| Some(opened + entry.wait(card, devices.len())))
        };
        Ok(Box::new(NvmlCards {
            due: (0..devices.len()).map(due).collect(),
            devices,
            library,
            foreign: foreign(&places.root),
            root: places.root.clone(),
        }))
    }
}

/// Why there are no cards, and what would help.
type Refusal = (String, &'static str);

/// Loads the library and starts it.
fn load(place: Option<&Path>) -> Result<Library, Refusal> {
    let start = |name: &OsStr| Library::builder().lib_path(name).init();
    let (name, other) = match place {
        Some(place) => (place.as_os_str(), None),
        None => (OsStr::new(USUAL_NAME), Some(OsStr::new(OTHER_NAME))),
    };
    let library = start(name).or_else(|error| match (&error, other) {
        // What was wrong with the usual name is what people must know.
        (NvmlError::LibloadingError(_), Some(other)) => start(other).or(Err(error)),
        _ => Err(error),
    });
    library.map_err(|error| refused(name, place.is_some(), &error))
}

/// What an error at the start means.
fn refused(name: &OsStr, named: bool, error: &NvmlError) -> Refusal {
    let name = name.to_string_lossy();
    let find = if named { NAME_ANOTHER } else { INSTALL };
    match error {
        NvmlError::LibloadingError(_) => {
            let detail = error.source().map_or_else(String::new, ToString::to_string);
            let detail = detail.strip_prefix(&format!("{name}: ")).unwrap_or(&detail);
            (
                format!("the library {name} cannot be loaded: {detail}"),
                find,
            )
        }
        NvmlError::FailedToLoadSymbol(_) | NvmlError::FunctionNotFound => {
            (format!("{name} is not NVIDIA's library, or too old"), find)
        }
        NvmlError::DriverNotLoaded => (
            "NVIDIA's library is here, and its driver is not loaded".to_owned(),
            "Load the driver: sudo modprobe nvidia",
        ),
        NvmlError::LibRmVersionMismatch => (
            "NVIDIA's library and the driver that is loaded are of different versions".to_owned(),
            "Restart the machine, so that the driver that was installed last is loaded",
        ),
        NvmlError::NoPermission => (
            "this user may not talk to NVIDIA's driver".to_owned(),
            "Give this user access to /dev/nvidia*",
        ),
        error => (
            format!("NVIDIA's library does not start: {error}"),
            ASK_NVIDIA_SMI,
        ),
    }
}

/// Whether this process is in a container, whose process numbers differ from the driver's.
fn foreign(root: &Path) -> bool {
    fs::read_link(root.join("proc/self/ns/pid"))
        .is_ok_and(|own| own != Path::new(MACHINES_PROCESSES))
}

/// All cards, at least one of which answers.
fn devices(library: &Library, source: &str) -> Result<Vec<WatchedDevice>, Refusal> {
    let count = library.device_count().map_err(|error| {
        let why = format!("NVIDIA's driver does not count its cards: {error}");
        (why, ASK_NVIDIA_SMI)
    })?;
    if count == 0 {
        let why = "NVIDIA's driver is here and knows of no card".to_owned();
        return Err((why, GIVE_CARDS));
    }
    let cards: Vec<_> = (0..count).map(|n| library.device_by_index(n)).collect();
    if let (true, Some(Err(error))) = (cards.iter().all(Result::is_err), cards.first()) {
        let why = format!("no card that NVIDIA's driver knows of can be used: {error}");
        return Err((why, ASK_NVIDIA_SMI));
    }
    let driver = library.sys_driver_version().ok();
    let described = cards.iter().enumerate().map(|(number, card)| {
        let device = match card {
            Ok(card) => constants::described(card, source, number),
            Err(_) => constants::unknown(source, number),
        };
        WatchedDevice {
            driver: driver.clone(),
            ..device
        }
    });
    Ok(described.collect())
}

/// All cards of this machine.
struct NvmlCards {
    library: Library,
    devices: Vec<WatchedDevice>,
    /// For each card, when each entry may be asked again; nothing for those that it does not know.
    due: Vec<[Option<Instant>; ENTRIES.len()]>,
    /// Whether the driver's process numbers are other ones than ours.
    foreign: bool,
    /// Where `/proc` is.
    root: PathBuf,
}

impl DeviceReader for NvmlCards {
    fn devices(&self) -> &[WatchedDevice] {
        &self.devices
    }

    fn read(&mut self, device: usize, workers: &[u32]) -> Result<Values, DeviceGone> {
        let Some(due) = self.due.get_mut(device) else {
            return Err(DeviceGone("there is no such card".to_owned()));
        };
        // A handle costs next to nothing: the library has a list of them.
        let card = self.library.device_by_index(device as u32);
        let card =
            card.map_err(|error| DeviceGone(lost(&error).unwrap_or_else(|| error.to_string())))?;
        let mut asked = CardReading {
            card: &card,
            workers,
            root: &self.root,
            foreign: self.foreign,
            values: Vec::with_capacity(2 * ENTRIES.len()),
        };
        let now = Instant::now();
        for (entry, due) in ENTRIES.iter().zip(due) {
            let Some(moment) = due.filter(|moment| *moment <= now) else {
                continue;
            };
            *due = Some(entry.next(moment, now));
            if let Err(error) = entry.ask(&mut asked) {
                if let Some(why) = lost(&error) {
                    return Err(DeviceGone(why));
                }
                if unknown_to(&error) {
                    *due = None;
                }
            }
        }
        Ok(asked.values)
    }
}

/// Why the card will answer nothing any more, where an error means that.
fn lost(error: &NvmlError) -> Option<String> {
    let why = match error {
        NvmlError::GpuLost => "the card is lost: it fell off the bus or was reset",
        NvmlError::ResetRequired => "the card must be reset before it can be used again",
        NvmlError::Uninitialized | NvmlError::DriverNotLoaded => "it is not loaded any more",
        _ => return None,
    };
    Some(format!("the driver says that {why}"))
}

/// Whether a card, its driver or its library will never know the answer.
fn unknown_to(error: &NvmlError) -> bool {
    matches!(
        error,
        NvmlError::NotSupported
            | NvmlError::InvalidArg
            | NvmlError::FailedToLoadSymbol(_)
            | NvmlError::FunctionNotFound
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_at_the_start_are_explained() {
        let name = OsStr::new("libnvidia-ml.so.1");
        for (error, words) in [
            (NvmlError::DriverNotLoaded, ["not loaded", "modprobe"]),
            (
                NvmlError::LibRmVersionMismatch,
                ["different versions", "Restart"],
            ),
            (NvmlError::NoPermission, ["may not talk", "/dev/nvidia"]),
            (NvmlError::Unknown, ["internal driver error", "nvidia-smi"]),
            (
                NvmlError::FunctionNotFound,
                ["too old", "Install the NVIDIA driver"],
            ),
        ] {
            let (why, remedy) = refused(name, false, &error);
            assert!(
                why.contains(words[0]) && remedy.contains(words[1]),
                "{why}. {remedy}"
            );
        }
    }
}
