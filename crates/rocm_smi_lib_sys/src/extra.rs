//! Single values that `rocm_smi_lib` gives only together with others, or not at all, as safe functions.
//!
//! Each gives the library's status where it has no value.

use std::ffi::{CStr, c_char};
use std::path::Path;

use crate::bindings::{
    rsmi_dev_current_socket_power_get, rsmi_dev_energy_count_get, rsmi_dev_memory_busy_percent_get,
    rsmi_dev_memory_total_get, rsmi_dev_memory_usage_get, rsmi_dev_name_get, rsmi_dev_pci_id_get,
    rsmi_dev_power_ave_get, rsmi_dev_power_cap_get, rsmi_dev_power_cap_range_get, rsmi_init,
    rsmi_memory_type_t_RSMI_MEM_TYPE_VRAM, rsmi_shut_down, rsmi_status_t,
    rsmi_status_t_RSMI_STATUS_SUCCESS, rsmi_status_t_RSMI_STATUS_UNEXPECTED_DATA,
    rsmi_sw_component_t_RSMI_SW_COMP_DRIVER, rsmi_version_get, rsmi_version_str_get,
    rsmi_version_t,
};
use crate::{library, locks};

/// Room for a text, its end included.
const ROOM: u8 = 255;

/// Asks for locks that hold between the threads of this process alone. The usual ones hold between all
/// processes, and stay locked where one of them ended in a call; nothing that is only read needs them.
/// Libraries that do not know this flag pass over it.
const LOCKS_OF_ITS_OWN: u64 = 0x0400_0000_0000_0000;

/// Starts the library, which looks for devices the first time. Each start needs a [`stop`].
///
/// Before an old library starts, locks in `/dev/shm` that nobody uses any more are removed, as newer ones
/// do by themselves: one that a killed process took with it would keep the library from starting.
pub fn start() -> Result<(), rsmi_status_t> {
    if library::find(None).is_ok() && !knows_deep_sleep() {
        locks::remove_unused(Path::new(locks::SHARED_MEMORY), Path::new("/proc"));
    }
    // SAFETY: It takes no pointer.
    worked(unsafe { rsmi_init(LOCKS_OF_ITS_OWN) })
}

/// Ends one [`start`]. Whatever is asked after the last of them fails.
pub fn stop() {
    // SAFETY: It takes nothing. There is nothing to be done where it fails.
    unsafe { rsmi_shut_down() };
}

/// Whether the library understands the clock that a card sleeps with, which the driver lists as `S`
/// since ROCm 6. An older one gives an error then, or, where it was built with its assertions, as
/// Debian's is, ends the whole process.
pub fn knows_deep_sleep() -> bool {
    // This function came with the same version.
    library::loaded().is_some_and(|library| library.has(c"rsmi_dev_power_get"))
}

/// The library's version, as it numbers itself: its major and its minor number.
pub fn version() -> Result<(u32, u32), rsmi_status_t> {
    let mut version = rsmi_version_t {
        major: 0,
        minor: 0,
        patch: 0,
        build: std::ptr::null(),
    };
    // SAFETY: There is room for the version, whose layout is the same in all versions.
    worked(unsafe { rsmi_version_get(&raw mut version) })?;
    Ok((version.major, version.minor))
}

/// All of the card's own memory, in bytes.
pub fn memory_total(device: u32) -> Result<u64, rsmi_status_t> {
    let kind = rsmi_memory_type_t_RSMI_MEM_TYPE_VRAM;
    // SAFETY: There is room for a number.
    one(|out| unsafe { rsmi_dev_memory_total_get(device, kind, out) })
}

/// How much of it is in use, by anybody, in bytes.
pub fn memory_used(device: u32) -> Result<u64, rsmi_status_t> {
    let kind = rsmi_memory_type_t_RSMI_MEM_TYPE_VRAM;
    // SAFETY: There is room for a number.
    one(|out| unsafe { rsmi_dev_memory_usage_get(device, kind, out) })
}

/// The share of time in which it was read or written, in percent.
pub fn memory_busy_percent(device: u32) -> Result<u32, rsmi_status_t> {
    // SAFETY: There is room for a number.
    one(|out| unsafe { rsmi_dev_memory_busy_percent_get(device, out) })
}

/// The mean power of the last moments, in microwatts. Not every card tells it.
pub fn average_power_uw(device: u32) -> Result<u64, rsmi_status_t> {
    // SAFETY: There is room for a number.
    one(|out| unsafe { rsmi_dev_power_ave_get(device, 0, out) })
}

/// The power now, in microwatts, which newer cards tell in place of the mean. Libraries before ROCm 6
/// do not know it.
pub fn current_power_uw(device: u32) -> Result<u64, rsmi_status_t> {
    // SAFETY: There is room for a number.
    one(|out| unsafe { rsmi_dev_current_socket_power_get(device, out) })
}

/// The limit of power that is set, in microwatts.
pub fn power_cap_uw(device: u32) -> Result<u64, rsmi_status_t> {
    // SAFETY: There is room for a number.
    one(|out| unsafe { rsmi_dev_power_cap_get(device, 0, out) })
}

/// The highest limit that could be set, in microwatts.
pub fn max_power_cap_uw(device: u32) -> Result<u64, rsmi_status_t> {
    let mut lowest = 0;
    // SAFETY: There is room for two numbers.
    one(|out| unsafe { rsmi_dev_power_cap_range_get(device, 0, out, &raw mut lowest) })
}

/// What a counter of energy has come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energy {
    /// The counter.
    pub counter: u64,
    /// What one of it is worth, in microjoules.
    pub resolution_uj: f32,
    /// When it was read, in nanoseconds by the device's clock.
    pub timestamp_ns: u64,
}

impl Energy {
    /// The energy since some moment in the past, in joules.
    #[expect(
        clippy::cast_precision_loss,
        reason = "the counter's last bits do not matter"
    )]
    pub fn joules(&self) -> f64 {
        self.counter as f64 * f64::from(self.resolution_uj) * 1e-6
    }
}

/// The counter of energy, where there is one.
pub fn energy(device: u32) -> Result<Energy, rsmi_status_t> {
    let mut energy = Energy {
        counter: 0,
        resolution_uj: 0.0,
        timestamp_ns: 0,
    };
    // SAFETY: There is room for the three numbers.
    worked(unsafe {
        rsmi_dev_energy_count_get(
            device,
            &raw mut energy.counter,
            &raw mut energy.resolution_uj,
            &raw mut energy.timestamp_ns,
        )
    })?;
    Ok(energy)
}

/// The device's address: the domain in the upper half, then bus, device and function in bits 8 to 15,
/// 3 to 7 and 0 to 2.
pub fn pci_id(device: u32) -> Result<u64, rsmi_status_t> {
    // SAFETY: There is room for a number.
    one(|out| unsafe { rsmi_dev_pci_id_get(device, out) })
}

/// The device's name. Where nobody knows one, its number such as `0x740f`.
pub fn name(device: u32) -> Result<String, rsmi_status_t> {
    // SAFETY: There is as much room as is said.
    text(|text| unsafe { rsmi_dev_name_get(device, text, usize::from(ROOM)) })
}

/// The driver's version; the kernel's where the driver is part of it.
pub fn driver_version() -> Result<String, rsmi_status_t> {
    let driver = rsmi_sw_component_t_RSMI_SW_COMP_DRIVER;
    // SAFETY: There is as much room as is said.
    text(|text| unsafe { rsmi_version_str_get(driver, text, u32::from(ROOM)) })
}

/// Nothing, or the status of a call that did not work.
fn worked(status: rsmi_status_t) -> Result<(), rsmi_status_t> {
    if status == rsmi_status_t_RSMI_STATUS_SUCCESS {
        Ok(())
    } else {
        Err(status)
    }
}

/// The number that a call writes.
fn one<T: Default>(call: impl FnOnce(*mut T) -> rsmi_status_t) -> Result<T, rsmi_status_t> {
    let mut out = T::default();
    worked(call(&raw mut out))?;
    Ok(out)
}

/// The text that a call writes, without blanks around it.
fn text(call: impl FnOnce(*mut c_char) -> rsmi_status_t) -> Result<String, rsmi_status_t> {
    let mut room = [0_u8; ROOM as usize];
    worked(call(room.as_mut_ptr().cast()))?;
    let text = CStr::from_bytes_until_nul(&room);
    let text = text.map_err(|_| rsmi_status_t_RSMI_STATUS_UNEXPECTED_DATA)?;
    Ok(text.to_string_lossy().trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joules_are_counted_in_what_one_is_worth() {
        let energy = Energy {
            counter: 2_000_000,
            resolution_uj: 15.25,
            timestamp_ns: 1,
        };
        assert!((energy.joules() - 30.5).abs() < 1e-9);
    }

    #[test]
    fn texts_end_where_they_end() {
        let write = |bytes: &'static [u8]| {
            text(move |out| {
                // SAFETY: There is room for 255 characters.
                unsafe { out.cast::<u8>().copy_from(bytes.as_ptr(), bytes.len()) };
                0
            })
        };
        assert_eq!(write(b" Card \0rest"), Ok("Card".to_owned()));
        assert_eq!(
            write(&[b'x'; 255]),
            Err(rsmi_status_t_RSMI_STATUS_UNEXPECTED_DATA)
        );
        assert_eq!(text(|_| 3), Err(3));
    }

    #[test]
    fn without_a_library_there_is_a_status() {
        assert_eq!(memory_used(0), Err(8));
        assert_eq!(name(0), Err(8));
        assert_eq!(energy(0), Err(8));
    }
}
