//! Functions whose answers `rocm_smi_lib` trusts blindly, so that they are looked at first.

use std::ffi::c_char;

use super::types::{
    RSMI_NUM_VOLTAGE_CURVE_POINTS, rsmi_clk_type_t, rsmi_dev_perf_level_t,
    rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_DETERMINISM,
    rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_UNKNOWN, rsmi_frequencies_t, rsmi_gpu_block_t,
    rsmi_gpu_metrics_t, rsmi_od_vddc_point_t, rsmi_od_volt_curve_t, rsmi_od_volt_freq_data_t,
    rsmi_pcie_bandwidth_t, rsmi_power_profile_status_t, rsmi_range_t, rsmi_ras_err_state_t,
    rsmi_ras_err_state_t_RSMI_RAS_ERR_STATE_ENABLED,
    rsmi_ras_err_state_t_RSMI_RAS_ERR_STATE_INVALID, rsmi_status_t,
    rsmi_status_t_RSMI_STATUS_INIT_ERROR, rsmi_status_t_RSMI_STATUS_INPUT_OUT_OF_BOUNDS,
    rsmi_status_t_RSMI_STATUS_INVALID_ARGS, rsmi_status_t_RSMI_STATUS_NOT_SUPPORTED,
    rsmi_status_t_RSMI_STATUS_SUCCESS, rsmi_status_t_RSMI_STATUS_UNEXPECTED_DATA,
    rsmi_sw_component_t,
};
use crate::layout::Answer;
use crate::library;

/// The functions as the library has them.
mod raw {
    use std::ffi::c_char;

    use super::super::of_the_library;
    use super::super::types::{
        rsmi_clk_type_t, rsmi_dev_perf_level_t, rsmi_frequencies_t, rsmi_gpu_block_t,
        rsmi_od_volt_freq_data_t, rsmi_pcie_bandwidth_t, rsmi_power_profile_status_t,
        rsmi_ras_err_state_t, rsmi_sw_component_t,
    };

    of_the_library! {
        /// Starts the library.
        pub fn rsmi_init(init_flags: u64);
        /// Clocks.
        pub fn rsmi_dev_gpu_clk_freq_get(
            dv_ind: u32, clk_type: rsmi_clk_type_t, f: *mut rsmi_frequencies_t,
        );
        /// Speeds of the bus.
        pub fn rsmi_dev_pci_bandwidth_get(dv_ind: u32, bandwidth: *mut rsmi_pcie_bandwidth_t);
        /// Clocks and voltages that can be set.
        pub fn rsmi_dev_od_volt_info_get(dv_ind: u32, odv: *mut rsmi_od_volt_freq_data_t);
        /// How clocks are chosen.
        pub fn rsmi_dev_perf_level_get(dv_ind: u32, perf: *mut rsmi_dev_perf_level_t);
        /// Error correction.
        pub fn rsmi_dev_ecc_status_get(
            dv_ind: u32, block: rsmi_gpu_block_t, state: *mut rsmi_ras_err_state_t,
        );
        /// Power profiles.
        pub fn rsmi_dev_power_profile_presets_get(
            dv_ind: u32, sensor_ind: u32, status: *mut rsmi_power_profile_status_t,
        );
        /// Turns of a fan.
        pub fn rsmi_dev_fan_rpms_get(dv_ind: u32, sensor_ind: u32, speed: *mut i64);
        /// Speed of a fan.
        pub fn rsmi_dev_fan_speed_get(dv_ind: u32, sensor_ind: u32, speed: *mut i64);
        /// Highest speed of a fan.
        pub fn rsmi_dev_fan_speed_max_get(dv_ind: u32, sensor_ind: u32, max_speed: *mut u64);
        /// Mean power.
        pub fn rsmi_dev_power_ave_get(dv_ind: u32, sensor_ind: u32, power: *mut u64);
        /// Limit of power.
        pub fn rsmi_dev_power_cap_get(dv_ind: u32, sensor_ind: u32, cap: *mut u64);
        /// What the limit can be.
        pub fn rsmi_dev_power_cap_range_get(
            dv_ind: u32, sensor_ind: u32, max: *mut u64, min: *mut u64,
        );
        /// The card's brand.
        pub fn rsmi_dev_brand_get(dv_ind: u32, brand: *mut c_char, len: u32);
        /// The card's name.
        pub fn rsmi_dev_name_get(dv_ind: u32, name: *mut c_char, len: usize);
        /// The maker's name.
        pub fn rsmi_dev_vendor_name_get(dv_ind: u32, name: *mut c_char, len: usize);
        /// The card's name for its maker.
        pub fn rsmi_dev_subsystem_name_get(dv_ind: u32, name: *mut c_char, len: usize);
        /// The memory's maker.
        pub fn rsmi_dev_vram_vendor_get(dv_ind: u32, brand: *mut c_char, len: u32);
        /// The serial number.
        pub fn rsmi_dev_serial_number_get(dv_ind: u32, serial_num: *mut c_char, len: u32);
        /// The firmware's version.
        pub fn rsmi_dev_vbios_version_get(dv_ind: u32, vbios: *mut c_char, len: u32);
        /// The version of software.
        pub fn rsmi_version_str_get(
            component: rsmi_sw_component_t, ver_str: *mut c_char, len: u32,
        );
    }
}

const SUCCESS: rsmi_status_t = rsmi_status_t_RSMI_STATUS_SUCCESS;

/// Starts the library, having loaded it from its usual places where nobody did so before. May be called
/// again, and then needs as many ends.
///
/// # Safety
///
/// None beyond that of loading the library.
pub unsafe fn rsmi_init(init_flags: u64) -> rsmi_status_t {
    if library::find(None).is_err() {
        return rsmi_status_t_RSMI_STATUS_INIT_ERROR;
    }
    // SAFETY: It takes no pointer.
    unsafe { raw::rsmi_init(init_flags) }
}

/// The table of metrics: never told.
///
/// The library fills in the table of its own version, whose size the caller cannot tell it. Were its
/// version newer than the declaration, it would write past the caller's table; and the declaration
/// cannot be checked, because the size comes with the answer.
///
/// # Safety
///
/// None: nothing is read or written.
pub unsafe fn rsmi_dev_gpu_metrics_info_get(
    _dv_ind: u32,
    _pgpu_metrics: *mut rsmi_gpu_metrics_t,
) -> rsmi_status_t {
    rsmi_status_t_RSMI_STATUS_NOT_SUPPORTED
}

/// Clocks of a part of the device, in either layout; never more than there is room for, and the current
/// one is always among them.
///
/// # Safety
///
/// `f` is null, or a list can be written there.
pub unsafe fn rsmi_dev_gpu_clk_freq_get(
    dv_ind: u32,
    clk_type: rsmi_clk_type_t,
    f: *mut rsmi_frequencies_t,
) -> rsmi_status_t {
    let mut answer = Answer::new();
    // SAFETY: The answer has room for any layout.
    let status = unsafe { raw::rsmi_dev_gpu_clk_freq_get(dv_ind, clk_type, answer.as_mut_ptr()) };
    // SAFETY: Passed on from the caller.
    unsafe { hand_over(status, || answer.frequencies(), f) }
}

/// Speeds of the bus, as careful as the clocks.
///
/// # Safety
///
/// `bandwidth` is null, or a list can be written there.
pub unsafe fn rsmi_dev_pci_bandwidth_get(
    dv_ind: u32,
    bandwidth: *mut rsmi_pcie_bandwidth_t,
) -> rsmi_status_t {
    let mut answer = Answer::new();
    // SAFETY: The answer has room for any layout.
    let status = unsafe { raw::rsmi_dev_pci_bandwidth_get(dv_ind, answer.as_mut_ptr()) };
    // SAFETY: Passed on from the caller.
    unsafe { hand_over(status, || answer.bandwidth(), bandwidth) }
}

/// Clocks and voltages that can be set; never more points of the curve than it has.
///
/// # Safety
///
/// `odv` is null, or the data can be written there.
pub unsafe fn rsmi_dev_od_volt_info_get(
    dv_ind: u32,
    odv: *mut rsmi_od_volt_freq_data_t,
) -> rsmi_status_t {
    let nothing = rsmi_range_t {
        lower_bound: 0,
        upper_bound: 0,
    };
    let point = rsmi_od_vddc_point_t {
        frequency: 0,
        voltage: 0,
    };
    let mut data = rsmi_od_volt_freq_data_t {
        curr_sclk_range: nothing,
        curr_mclk_range: nothing,
        sclk_freq_limits: nothing,
        mclk_freq_limits: nothing,
        curve: rsmi_od_volt_curve_t {
            vc_points: [point; RSMI_NUM_VOLTAGE_CURVE_POINTS as usize],
        },
        num_regions: 0,
    };
    // SAFETY: The data has room for itself; its layout is the same in all versions.
    let status = unsafe { raw::rsmi_dev_od_volt_info_get(dv_ind, &raw mut data) };
    let possible = data.num_regions <= RSMI_NUM_VOLTAGE_CURVE_POINTS;
    // SAFETY: Passed on from the caller.
    unsafe { hand_over(status, || believed(data, possible), odv) }
}

/// How clocks are chosen; always one of the ways that are declared.
///
/// # Safety
///
/// `perf` is null, or a number can be written there.
pub unsafe fn rsmi_dev_perf_level_get(
    dv_ind: u32,
    perf: *mut rsmi_dev_perf_level_t,
) -> rsmi_status_t {
    let mut level = rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_UNKNOWN;
    // SAFETY: The level has room for itself.
    let status = unsafe { raw::rsmi_dev_perf_level_get(dv_ind, &raw mut level) };
    if level > rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_DETERMINISM {
        level = rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_UNKNOWN;
    }
    // SAFETY: Passed on from the caller.
    unsafe { hand_over(status, || Ok(level), perf) }
}

/// How it is with a block's error correction; always one of the states that are declared.
///
/// # Safety
///
/// `state` is null, or a number can be written there.
pub unsafe fn rsmi_dev_ecc_status_get(
    dv_ind: u32,
    block: rsmi_gpu_block_t,
    state: *mut rsmi_ras_err_state_t,
) -> rsmi_status_t {
    let mut known = rsmi_ras_err_state_t_RSMI_RAS_ERR_STATE_INVALID;
    // SAFETY: The state has room for itself.
    let status = unsafe { raw::rsmi_dev_ecc_status_get(dv_ind, block, &raw mut known) };
    if known > rsmi_ras_err_state_t_RSMI_RAS_ERR_STATE_ENABLED {
        known = rsmi_ras_err_state_t_RSMI_RAS_ERR_STATE_INVALID;
    }
    // SAFETY: Passed on from the caller.
    unsafe { hand_over(status, || Ok(known), state) }
}

/// Power profiles. `rocm_smi_lib` asks for them with a null pointer and then reads from it, so that is
/// always an error.
///
/// # Safety
///
/// `status` is null, or the profiles can be written there.
pub unsafe fn rsmi_dev_power_profile_presets_get(
    dv_ind: u32,
    sensor_ind: u32,
    status: *mut rsmi_power_profile_status_t,
) -> rsmi_status_t {
    if status.is_null() {
        return rsmi_status_t_RSMI_STATUS_INVALID_ARGS;
    }
    // SAFETY: Passed on from the caller.
    unsafe { raw::rsmi_dev_power_profile_presets_get(dv_ind, sensor_ind, status) }
}

/// Declares functions that tell of one sensor of several. `rocm_smi_lib` asks for one after the other,
/// at places that lie far behind the room that it made, and reads what is in the first whether or not
/// something was written there. No card has a second one of these sensors; so only the first is asked
/// for, and its place is cleared before.
macro_rules! of_the_first_sensor {
    ($($(#[$doc:meta])* $name:ident($($out:ident: $type:ty),*);)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// Each pointer is null, or may be written.
        pub unsafe fn $name(dv_ind: u32, sensor_ind: u32, $($out: *mut $type),*) -> rsmi_status_t {
            if sensor_ind > 0 {
                return rsmi_status_t_RSMI_STATUS_INPUT_OUT_OF_BOUNDS;
            }
            $(if !$out.is_null() {
                // SAFETY: It is not null, and the caller's to write.
                unsafe { $out.write(0) };
            })*
            // SAFETY: Passed on from the caller.
            unsafe { raw::$name(dv_ind, sensor_ind, $($out),*) }
        }
    )*};
}

of_the_first_sensor! {
    /// Turns of the fan in a minute.
    rsmi_dev_fan_rpms_get(speed: i64);
    /// Speed of the fan, as a part of the highest.
    rsmi_dev_fan_speed_get(speed: i64);
    /// What the highest speed of the fan is called.
    rsmi_dev_fan_speed_max_get(max_speed: u64);
    /// The mean power, in microwatts.
    rsmi_dev_power_ave_get(power: u64);
    /// The limit of power, in microwatts.
    rsmi_dev_power_cap_get(cap: u64);
    /// The highest and the lowest that the limit can be set to, in microwatts.
    rsmi_dev_power_cap_range_get(max: u64, min: u64);
}

/// Declares functions that write a text. The text ends within its room, and is empty where nothing was
/// written, even if the library says that it was.
macro_rules! of_texts {
    ($($(#[$doc:meta])* $name:ident($first:ident: $type:ty, $length:ty);)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// `text` is null, or `len` characters may be written there.
        pub unsafe fn $name($first: $type, text: *mut c_char, len: $length) -> rsmi_status_t {
            if text.is_null() || len == 0 {
                return rsmi_status_t_RSMI_STATUS_INVALID_ARGS;
            }
            // SAFETY: It is not null, and there is room for the length.
            unsafe { text.write_bytes(0, len as usize) };
            // The last character stays the zero that it is.
            // SAFETY: Passed on from the caller, with less room.
            unsafe { raw::$name($first, text, len - 1) }
        }
    )*};
}

of_texts! {
    /// The card's brand.
    rsmi_dev_brand_get(dv_ind: u32, u32);
    /// The card's name.
    rsmi_dev_name_get(dv_ind: u32, usize);
    /// The name of the chip's maker.
    rsmi_dev_vendor_name_get(dv_ind: u32, usize);
    /// What the card's maker calls it.
    rsmi_dev_subsystem_name_get(dv_ind: u32, usize);
    /// The name of the memory's maker.
    rsmi_dev_vram_vendor_get(dv_ind: u32, u32);
    /// The card's serial number.
    rsmi_dev_serial_number_get(dv_ind: u32, u32);
    /// The version of the card's firmware.
    rsmi_dev_vbios_version_get(dv_ind: u32, u32);
    /// The version of a piece of software.
    rsmi_version_str_get(component: rsmi_sw_component_t, u32);
}

/// Something that was read, if it is possible.
fn believed<T>(read: T, possible: bool) -> Result<T, rsmi_status_t> {
    if possible {
        Ok(read)
    } else {
        Err(rsmi_status_t_RSMI_STATUS_UNEXPECTED_DATA)
    }
}

/// Writes what a call gave to where the caller wants it, if it worked and makes sense.
///
/// # Safety
///
/// `out` is null, or a `T` can be written there.
unsafe fn hand_over<T>(
    status: rsmi_status_t,
    read: impl FnOnce() -> Result<T, rsmi_status_t>,
    out: *mut T,
) -> rsmi_status_t {
    if status != SUCCESS {
        return status;
    }
    if out.is_null() {
        return rsmi_status_t_RSMI_STATUS_INVALID_ARGS;
    }
    match read() {
        Ok(value) => {
            // SAFETY: It is not null, and the caller's to write.
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
        let unexpected = rsmi_status_t_RSMI_STATUS_UNEXPECTED_DATA;
        // SAFETY: There is room for a number.
        let status = unsafe { hand_over(SUCCESS, || believed(9, false), &raw mut out) };
        assert_eq!((status, out), (unexpected, 7));
        // SAFETY: As before.
        let status = unsafe { hand_over(2, || Ok(9), &raw mut out) };
        assert_eq!((status, out), (2, 7), "the library's own status goes first");
        // SAFETY: As before.
        let status = unsafe { hand_over(SUCCESS, || believed(9, true), &raw mut out) };
        assert_eq!((status, out), (SUCCESS, 9));
        // SAFETY: A null pointer is allowed.
        let status = unsafe { hand_over(SUCCESS, || Ok(9), std::ptr::null_mut()) };
        assert_eq!(status, rsmi_status_t_RSMI_STATUS_INVALID_ARGS);
    }

    #[test]
    fn only_the_first_sensor_is_asked_for() {
        let mut power = 7_u64;
        // SAFETY: There is room for a number.
        let status = unsafe { rsmi_dev_power_ave_get(0, 1, &raw mut power) };
        assert_eq!(
            (status, power),
            (rsmi_status_t_RSMI_STATUS_INPUT_OUT_OF_BOUNDS, 7)
        );
    }

    #[test]
    fn without_a_library_nothing_is_initialised_and_nothing_is_left_undefined() {
        let mut text: [c_char; 4] = [1; 4];
        // SAFETY: There is room for four characters.
        let status = unsafe { rsmi_dev_name_get(0, text.as_mut_ptr(), 4) };
        assert_eq!(
            (status, text),
            (rsmi_status_t_RSMI_STATUS_INIT_ERROR, [0; 4])
        );
        let mut power = 7_u64;
        // SAFETY: There is room for a number.
        let status = unsafe { rsmi_dev_power_ave_get(0, 0, &raw mut power) };
        assert_eq!((status, power), (rsmi_status_t_RSMI_STATUS_INIT_ERROR, 0));
        let mut busy = 7;
        // SAFETY: There is room for a number.
        let status = unsafe { super::super::rsmi_dev_busy_percent_get(0, &raw mut busy) };
        assert_eq!((status, busy), (rsmi_status_t_RSMI_STATUS_INIT_ERROR, 7));
    }

    #[test]
    fn the_table_of_metrics_is_never_filled_in() {
        // SAFETY: It is not written to.
        let status = unsafe { rsmi_dev_gpu_metrics_info_get(0, std::ptr::null_mut()) };
        assert_eq!(status, rsmi_status_t_RSMI_STATUS_NOT_SUPPORTED);
    }
}
