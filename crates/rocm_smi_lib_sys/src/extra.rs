//! Single values that `rocm_smi_lib` gives only together with others, or not at all, as safe functions.
//!
//! Each gives the library's status where it has no value.

use std::ffi::{CStr, c_char};
use std::path::Path;

use crate::bindings::{
    SUCCESS, Status, UNEXPECTED_DATA, rsmi_dev_current_socket_power_get, rsmi_dev_energy_count_get,
    rsmi_dev_memory_busy_percent_get, rsmi_dev_memory_total_get, rsmi_dev_memory_usage_get,
    rsmi_dev_name_get, rsmi_dev_pci_id_get, rsmi_dev_power_ave_get, rsmi_dev_power_cap_get,
    rsmi_dev_power_cap_range_get, rsmi_init, rsmi_memory_type_t_RSMI_MEM_TYPE_VRAM, rsmi_shut_down,
    rsmi_sw_component_t_RSMI_SW_COMP_DRIVER, rsmi_version_str_get,
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
/// Before an old library starts, locks in `/dev/shm` that no process has open are removed, as newer ones
/// do by themselves: one that a killed process took with it would keep the library from starting.
pub fn start() -> Result<(), Status> {
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
    library::loaded().is_some_and(|library| library.has_function("rsmi_dev_power_get"))
}

/// Makes functions that give one number of a device.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $call:ident($($argument:expr),*);)*) => {$(
        $(#[$doc])*
        pub fn $name(device: u32) -> Result<$type, Status> {
            let mut number = 0;
            // SAFETY: There is room for a number.
            worked(unsafe { $call(device, $($argument,)* &raw mut number) })?;
            Ok(number)
        }
    )*};
}

numbers! {
    /// The card's own memory, in bytes.
    memory_total: u64 = rsmi_dev_memory_total_get(rsmi_memory_type_t_RSMI_MEM_TYPE_VRAM);
    /// The part of it that all processes together use, in bytes.
    memory_used: u64 = rsmi_dev_memory_usage_get(rsmi_memory_type_t_RSMI_MEM_TYPE_VRAM);
    /// The share of time in which it was read or written, in percent.
    memory_busy_percent: u32 = rsmi_dev_memory_busy_percent_get();
    /// The mean power of the last moments, in microwatts. Some cards have no such value.
    average_power_uw: u64 = rsmi_dev_power_ave_get(0);
    /// The power now, in microwatts, which newer cards have in place of the mean. Libraries before
    /// ROCm 6 do not know it.
    current_power_uw: u64 = rsmi_dev_current_socket_power_get();
    /// The limit of power that is set, in microwatts.
    power_cap_uw: u64 = rsmi_dev_power_cap_get(0);
    /// The device's address: the domain in the upper half, then bus, device and function in bits 8 to
    /// 15, 3 to 7 and 0 to 2.
    pci_id: u64 = rsmi_dev_pci_id_get();
}

/// The highest limit that could be set, in microwatts.
pub fn max_power_cap_uw(device: u32) -> Result<u64, Status> {
    let (mut highest, mut lowest) = (0, 0);
    // SAFETY: There is room for two numbers.
    worked(unsafe { rsmi_dev_power_cap_range_get(device, 0, &raw mut highest, &raw mut lowest) })?;
    Ok(highest)
}

/// What a counter of energy has come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energy {
    /// The counter.
    pub counter: u64,
    /// What one of it is worth, in microjoules.
    pub resolution_uj: f32,
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
pub fn energy(device: u32) -> Result<Energy, Status> {
    let mut energy = Energy {
        counter: 0,
        resolution_uj: 0.0,
    };
    let mut timestamp_ns = 0;
    // SAFETY: There is room for the three numbers.
    worked(unsafe {
        rsmi_dev_energy_count_get(
            device,
            &raw mut energy.counter,
            &raw mut energy.resolution_uj,
            &raw mut timestamp_ns,
        )
    })?;
    Ok(energy)
}

/// The device's name. Where the library knows none, its number such as `0x740f`.
pub fn name(device: u32) -> Result<String, Status> {
    // SAFETY: There is as much room as is said.
    text(|text| unsafe { rsmi_dev_name_get(device, text, usize::from(ROOM)) })
}

/// The driver's version; the kernel's where the driver is part of it.
pub fn driver_version() -> Result<String, Status> {
    let driver = rsmi_sw_component_t_RSMI_SW_COMP_DRIVER;
    // SAFETY: There is as much room as is said.
    text(|text| unsafe { rsmi_version_str_get(driver, text, u32::from(ROOM)) })
}

/// Nothing, or the status of a call that did not work.
fn worked(status: Status) -> Result<(), Status> {
    if status == SUCCESS {
        Ok(())
    } else {
        Err(status)
    }
}

/// The text that a call writes, without blanks around it.
fn text(call: impl FnOnce(*mut c_char) -> Status) -> Result<String, Status> {
    let mut room = [0_u8; ROOM as usize];
    worked(call(room.as_mut_ptr().cast()))?;
    let text = CStr::from_bytes_until_nul(&room);
    let text = text.map_err(|_| UNEXPECTED_DATA)?;
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
        assert_eq!(write(&[b'x'; 255]), Err(UNEXPECTED_DATA));
        assert_eq!(text(|_| 3), Err(3));
    }

    #[test]
    fn without_a_library_there_is_a_status() {
        assert_eq!(memory_used(0), Err(8));
        assert_eq!(name(0), Err(8));
        assert_eq!(energy(0), Err(8));
    }
}
