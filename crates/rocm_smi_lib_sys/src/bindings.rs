//! The C functions that `rocm_smi_lib` and [`crate::extra`] call: one table makes them all.
//!
//! A function looks its symbol up when it is first called. It answers `INIT_ERROR` where no library
//! is loaded and `NOT_SUPPORTED` where the library lacks it.

use std::ffi::c_char;

pub use crate::header::*;
use crate::layout::ClockAnswer;
use crate::library;

/// Makes the functions of a table. The word before a name says how the library is called:
///
/// - `plain`: with the same arguments.
/// - `sensor`: only for the first sensor, with zeros in place of the answer beforehand. `rocm_smi_lib`
///   asks for one sensor after the other, at addresses far behind the room that it allocated, and reads
///   the first answer even where the call failed. No card has a second sensor of these kinds.
/// - `text`: with one character less and zeros beforehand, so that every text ends within its room.
/// - `never`: not at all, the answer is `NOT_SUPPORTED`.
macro_rules! functions {
    ($($how:ident $name:ident($($arguments:tt)*);)*) => {
        $(functions! { @$how $name($($arguments)*) })*
    };
    (@plain $name:ident($($argument:ident: $type:ty),*)) => {
        functions! { @function $name($($argument: $type),*) {
            functions!(@call $name($($argument: $type),*))
        } }
    };
    (@sensor $name:ident($device:ident: u32, $sensor:ident: u32 $(, $out:ident: $type:ty)*)) => {
        functions! { @function $name($device: u32, $sensor: u32 $(, $out: $type)*) {
            if $sensor > 0 {
                return INPUT_OUT_OF_BOUNDS;
            }
            $(if !$out.is_null() {
                // SAFETY: It is not null, and the caller lets it be written.
                unsafe { $out.write(0) };
            })*
            functions!(@call $name($device: u32, $sensor: u32 $(, $out: $type)*))
        } }
    };
    (@text $name:ident($first:ident: u32, $text:ident: $type:ty, $length:ident: $size:ty)) => {
        functions! { @function $name($first: u32, $text: $type, $length: $size) {
            if $text.is_null() || $length == 0 {
                return INVALID_ARGS;
            }
            // SAFETY: It is not null, and there is room for the length.
            unsafe { $text.write_bytes(0, $length as usize) };
            let $length = $length - 1;
            functions!(@call $name($first: u32, $text: $type, $length: $size))
        } }
    };
    (@never $name:ident($($argument:ident: $type:ty),*)) => {
        functions! { @function $name($($argument: $type),*) {
            let _ = ($($argument,)*);
            NOT_SUPPORTED
        } }
    };
    (@function $name:ident($($argument:ident: $type:ty),*) $body:block) => {
        /// The function of this name in AMD's header.
        ///
        /// # Safety
        ///
        /// Each pointer is null, or what it points to may be read and written.
        pub unsafe fn $name($($argument: $type),*) -> Status $body
    };
    (@call $name:ident($($argument:ident: $type:ty),*)) => {{
        type Function = unsafe extern "C" fn($($type),*) -> Status;
        static FUNCTION: std::sync::OnceLock<Option<Function>> = std::sync::OnceLock::new();
        // SAFETY: The type is that of the header, for this name.
        match unsafe { library::function(&FUNCTION, stringify!($name)) } {
            // SAFETY: The caller's promise about pointers is the one that the library asks for.
            Ok(function) => unsafe { function($($argument),*) },
            Err(status) => status,
        }
    }};
}

functions! {
    plain rsmi_shut_down();
    plain rsmi_num_monitor_devices(num_devices: *mut u32);
    plain rsmi_dev_pci_id_get(dv_ind: u32, bdfid: *mut u64);
    plain rsmi_dev_memory_total_get(dv_ind: u32, mem_type: u32, total: *mut u64);
    plain rsmi_dev_memory_usage_get(dv_ind: u32, mem_type: u32, used: *mut u64);
    plain rsmi_dev_memory_busy_percent_get(dv_ind: u32, busy_percent: *mut u32);
    plain rsmi_dev_busy_percent_get(dv_ind: u32, busy_percent: *mut u32);
    plain rsmi_dev_temp_metric_get(dv_ind: u32, sensor: u32, metric: u32, temperature: *mut i64);
    plain rsmi_dev_volt_metric_get(dv_ind: u32, sensor: u32, metric: u32, voltage: *mut i64);
    plain rsmi_dev_current_socket_power_get(dv_ind: u32, socket_power: *mut u64);
    plain rsmi_dev_energy_count_get(
        dv_ind: u32, power: *mut u64, counter_resolution: *mut f32, timestamp: *mut u64
    );
    sensor rsmi_dev_power_ave_get(dv_ind: u32, sensor_ind: u32, power: *mut u64);
    sensor rsmi_dev_power_cap_get(dv_ind: u32, sensor_ind: u32, cap: *mut u64);
    sensor rsmi_dev_power_cap_range_get(
        dv_ind: u32, sensor_ind: u32, max: *mut u64, min: *mut u64
    );
    text rsmi_dev_name_get(dv_ind: u32, name: *mut c_char, len: usize);
    text rsmi_version_str_get(component: u32, ver_str: *mut c_char, len: u32);

    // `rocm_smi_lib` reads the first fan's answer even where every call failed.
    sensor rsmi_dev_fan_rpms_get(dv_ind: u32, sensor_ind: u32, speed: *mut i64);
    sensor rsmi_dev_fan_speed_get(dv_ind: u32, sensor_ind: u32, speed: *mut i64);
    sensor rsmi_dev_fan_speed_max_get(dv_ind: u32, sensor_ind: u32, max_speed: *mut u64);

    // `rocm_smi_lib` needs these to compile, and Powerband uses nothing of it that calls them. Before one
    // of them calls the library: look how `rocm_smi_lib` uses the answer, and check what it trusts.
    never rsmi_version_get(version: *mut rsmi_version_t);
    never rsmi_topo_numa_affinity_get(dv_ind: u32, numa_node: *mut i32);
    never rsmi_topo_get_numa_node_number(dv_ind: u32, numa_node: *mut u32);
    never rsmi_dev_id_get(dv_ind: u32, id: *mut u16);
    never rsmi_dev_revision_get(dv_ind: u32, revision: *mut u16);
    never rsmi_dev_vendor_id_get(dv_ind: u32, id: *mut u16);
    never rsmi_dev_subsystem_id_get(dv_ind: u32, id: *mut u16);
    never rsmi_dev_subsystem_vendor_id_get(dv_ind: u32, id: *mut u16);
    never rsmi_dev_drm_render_minor_get(dv_ind: u32, minor: *mut u32);
    never rsmi_dev_unique_id_get(dv_ind: u32, id: *mut u64);
    never rsmi_dev_xgmi_physical_id_get(dv_ind: u32, id: *mut u16);
    never rsmi_dev_brand_get(dv_ind: u32, brand: *mut c_char, len: u32);
    never rsmi_dev_vendor_name_get(dv_ind: u32, name: *mut c_char, len: usize);
    never rsmi_dev_subsystem_name_get(dv_ind: u32, name: *mut c_char, len: usize);
    never rsmi_dev_vram_vendor_get(dv_ind: u32, brand: *mut c_char, len: u32);
    never rsmi_dev_serial_number_get(dv_ind: u32, serial_num: *mut c_char, len: u32);
    never rsmi_dev_vbios_version_get(dv_ind: u32, vbios: *mut c_char, len: u32);
    never rsmi_dev_pci_throughput_get(
        dv_ind: u32, sent: *mut u64, received: *mut u64, max_pkt_sz: *mut u64
    );
    never rsmi_utilization_count_get(
        dv_ind: u32, counters: *mut rsmi_utilization_counter_t, count: u32, timestamp: *mut u64
    );
    never rsmi_dev_overdrive_level_get(dv_ind: u32, od: *mut u32);
    never rsmi_dev_mem_overdrive_level_get(dv_ind: u32, od: *mut u32);
    never rsmi_dev_power_cap_default_get(dv_ind: u32, default_cap: *mut u64);
    never rsmi_dev_ecc_count_get(dv_ind: u32, block: u64, ec: *mut rsmi_error_count_t);
    never rsmi_dev_supported_func_iterator_open(
        dv_ind: u32, handle: *mut rsmi_func_id_iter_handle_t
    );
    never rsmi_dev_supported_variant_iterator_open(
        obj_h: rsmi_func_id_iter_handle_t, var_iter: *mut rsmi_func_id_iter_handle_t
    );
    never rsmi_func_iter_next(handle: rsmi_func_id_iter_handle_t);
    never rsmi_func_iter_value_get(
        handle: rsmi_func_id_iter_handle_t, value: *mut rsmi_func_id_value_t
    );
    never rsmi_dev_supported_func_iterator_close(handle: *mut rsmi_func_id_iter_handle_t);

    // `rocm_smi_lib` makes an enum of the state without looking whether it has that value.
    never rsmi_dev_ecc_status_get(dv_ind: u32, block: u64, state: *mut u32);
    // `rocm_smi_lib` uses `num_regions` as an index, whatever it is.
    never rsmi_dev_od_volt_info_get(dv_ind: u32, odv: *mut rsmi_od_volt_freq_data);
    // The answer has another layout since ROCm 6, as lists of clocks have.
    never rsmi_dev_pci_bandwidth_get(dv_ind: u32, bandwidth: *mut rsmi_pcie_bandwidth);
    // `rocm_smi_lib` passes a null pointer, and reads from it where the call worked.
    never rsmi_dev_power_profile_presets_get(
        dv_ind: u32, sensor_ind: u32, status: *mut rsmi_power_profile_status_t
    );
    // The library fills in the table of its own version. A newer library would write past ours, and the
    // size comes only with the answer.
    never rsmi_dev_gpu_metrics_info_get(dv_ind: u32, pgpu_metrics: *mut rsmi_gpu_metrics_t);
}

/// The functions that need a check of their own, without it.
mod unchecked {
    use super::{ClockAnswer, Status, library};

    functions! {
        plain rsmi_init(init_flags: u64);
        plain rsmi_dev_gpu_clk_freq_get(dv_ind: u32, clk_type: u32, f: *mut ClockAnswer);
        plain rsmi_dev_perf_level_get(dv_ind: u32, perf: *mut u32);
    }
}

/// Starts the library, and loads it from its usual places where none is loaded. Each start needs an
/// [`rsmi_shut_down`].
///
/// # Safety
///
/// None beyond that of loading the library.
pub unsafe fn rsmi_init(init_flags: u64) -> Status {
    if library::find(None).is_err() {
        return INIT_ERROR;
    }
    // SAFETY: It takes no pointer.
    unsafe { unchecked::rsmi_init(init_flags) }
}

/// Clocks of a part of the device, whichever layout the library has. The current one is always among
/// them.
///
/// # Safety
///
/// `f` is null, or a list can be written there.
pub unsafe fn rsmi_dev_gpu_clk_freq_get(
    dv_ind: u32,
    clk_type: u32,
    f: *mut rsmi_frequencies,
) -> Status {
    let mut answer = ClockAnswer::new();
    // SAFETY: The answer has room for any layout.
    let status = unsafe { unchecked::rsmi_dev_gpu_clk_freq_get(dv_ind, clk_type, &raw mut answer) };
    // SAFETY: Passed on from the caller.
    unsafe { hand_over(status, || answer.frequencies(), f) }
}

/// How the device chooses its clocks. `rocm_smi_lib` makes an enum of the number, so that it is always
/// one that the enum has.
///
/// # Safety
///
/// `perf` is null, or a number can be written there.
pub unsafe fn rsmi_dev_perf_level_get(dv_ind: u32, perf: *mut u32) -> Status {
    let mut level = rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_UNKNOWN;
    // SAFETY: There is room for a number.
    let status = unsafe { unchecked::rsmi_dev_perf_level_get(dv_ind, &raw mut level) };
    if level > rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_DETERMINISM {
        level = rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_UNKNOWN;
    }
    // SAFETY: Passed on from the caller.
    unsafe { hand_over(status, || Ok(level), perf) }
}

/// Writes an answer to where the caller wants it, where the call worked and the answer can be right.
///
/// # Safety
///
/// `out` is null, or a `T` can be written there.
unsafe fn hand_over<T>(
    status: Status,
    read: impl FnOnce() -> Result<T, Status>,
    out: *mut T,
) -> Status {
    if status != SUCCESS {
        return status;
    }
    if out.is_null() {
        return INVALID_ARGS;
    }
    match read() {
        Ok(value) => {
            // SAFETY: It is not null, and the caller lets it be written.
            unsafe { out.write(value) };
            SUCCESS
        }
        Err(status) => status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_impossible_is_not_handed_over() {
        let mut out = 7;
        // SAFETY: There is room for a number.
        let status = unsafe { hand_over(SUCCESS, || Err(UNEXPECTED_DATA), &raw mut out) };
        assert_eq!((status, out), (UNEXPECTED_DATA, 7));
        // SAFETY: As before.
        let status = unsafe { hand_over(2, || Ok(9), &raw mut out) };
        assert_eq!((status, out), (2, 7), "the library's own status goes first");
        // SAFETY: As before.
        let status = unsafe { hand_over(SUCCESS, || Ok(9), &raw mut out) };
        assert_eq!((status, out), (SUCCESS, 9));
        // SAFETY: A null pointer is allowed.
        let status = unsafe { hand_over(SUCCESS, || Ok(9), std::ptr::null_mut()) };
        assert_eq!(status, INVALID_ARGS);
    }

    #[test]
    fn only_the_first_sensor_is_asked_for() {
        let mut power = 7_u64;
        // SAFETY: There is room for a number.
        let status = unsafe { rsmi_dev_power_ave_get(0, 1, &raw mut power) };
        assert_eq!((status, power), (INPUT_OUT_OF_BOUNDS, 7));
    }

    #[test]
    fn without_a_library_nothing_is_initialised_and_nothing_is_left_undefined() {
        let mut text: [c_char; 4] = [1; 4];
        // SAFETY: There is room for four characters.
        let status = unsafe { rsmi_dev_name_get(0, text.as_mut_ptr(), 4) };
        assert_eq!((status, text), (INIT_ERROR, [0; 4]));
        let mut power = 7_u64;
        // SAFETY: There is room for a number.
        let status = unsafe { rsmi_dev_power_ave_get(0, 0, &raw mut power) };
        assert_eq!((status, power), (INIT_ERROR, 0));
        let mut busy = 7;
        // SAFETY: There is room for a number.
        let status = unsafe { rsmi_dev_busy_percent_get(0, &raw mut busy) };
        assert_eq!((status, busy), (INIT_ERROR, 7));
    }

    #[test]
    fn the_table_of_metrics_is_never_filled_in() {
        // SAFETY: It is not written to.
        let status = unsafe { rsmi_dev_gpu_metrics_info_get(0, std::ptr::null_mut()) };
        assert_eq!(status, NOT_SUPPORTED);
    }
}
