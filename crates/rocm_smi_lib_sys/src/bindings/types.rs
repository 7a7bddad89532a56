//! Types and numbers of the C header, under the names that bindgen gives them.

use std::ffi::{c_char, c_uint, c_ulong};

/// What became of a call.
pub type rsmi_status_t = c_uint;
/// It worked.
pub const rsmi_status_t_RSMI_STATUS_SUCCESS: rsmi_status_t = 0;
/// It was given something that makes no sense.
pub const rsmi_status_t_RSMI_STATUS_INVALID_ARGS: rsmi_status_t = 1;
/// This device, driver or library cannot do it.
pub const rsmi_status_t_RSMI_STATUS_NOT_SUPPORTED: rsmi_status_t = 2;
/// A file of the kernel could not be read.
pub const rsmi_status_t_RSMI_STATUS_FILE_ERROR: rsmi_status_t = 3;
/// There are not as many devices or sensors.
pub const rsmi_status_t_RSMI_STATUS_INPUT_OUT_OF_BOUNDS: rsmi_status_t = 7;
/// The library is not there, or could not start.
pub const rsmi_status_t_RSMI_STATUS_INIT_ERROR: rsmi_status_t = 8;
/// The driver does not offer it yet.
pub const rsmi_status_t_RSMI_STATUS_NOT_YET_IMPLEMENTED: rsmi_status_t = 9;
/// There is nothing, or nothing more.
pub const rsmi_status_t_RSMI_STATUS_NO_DATA: rsmi_status_t = 14;
/// What was read makes no sense.
pub const rsmi_status_t_RSMI_STATUS_UNEXPECTED_DATA: rsmi_status_t = 15;

/// How clocks are chosen.
pub type rsmi_dev_perf_level_t = c_uint;
/// By load.
pub const rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_AUTO: rsmi_dev_perf_level_t = 0;
/// The lowest, always.
pub const rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_LOW: rsmi_dev_perf_level_t = 1;
/// The highest, always.
pub const rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_HIGH: rsmi_dev_perf_level_t = 2;
/// As somebody set them.
pub const rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_MANUAL: rsmi_dev_perf_level_t = 3;
/// Steady ones for profiling.
pub const rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_STABLE_STD: rsmi_dev_perf_level_t = 4;
/// Steady, the highest.
pub const rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_STABLE_PEAK: rsmi_dev_perf_level_t = 5;
/// Steady, the memory's the lowest.
pub const rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_STABLE_MIN_MCLK: rsmi_dev_perf_level_t = 6;
/// Steady, the processor's the lowest.
pub const rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_STABLE_MIN_SCLK: rsmi_dev_perf_level_t = 7;
/// Below a limit that can always be held.
pub const rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_DETERMINISM: rsmi_dev_perf_level_t = 8;
/// In a way that the library does not know.
pub const rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_UNKNOWN: rsmi_dev_perf_level_t = 256;

/// Software that has a version.
pub type rsmi_sw_component_t = c_uint;
/// The kernel's driver.
pub const rsmi_sw_component_t_RSMI_SW_COMP_DRIVER: rsmi_sw_component_t = 0;

/// Which clock.
pub type rsmi_clk_type_t = c_uint;
/// Of what computes.
pub const rsmi_clk_type_t_RSMI_CLK_TYPE_SYS: rsmi_clk_type_t = 0;
/// Of the data fabric.
pub const rsmi_clk_type_t_RSMI_CLK_TYPE_DF: rsmi_clk_type_t = 1;
/// Of the display engine.
pub const rsmi_clk_type_t_RSMI_CLK_TYPE_DCEF: rsmi_clk_type_t = 2;
/// Of the rest of the chip.
pub const rsmi_clk_type_t_RSMI_CLK_TYPE_SOC: rsmi_clk_type_t = 3;
/// Of the memory.
pub const rsmi_clk_type_t_RSMI_CLK_TYPE_MEM: rsmi_clk_type_t = 4;
/// Of the bus.
pub const rsmi_clk_type_t_RSMI_CLK_TYPE_PCIE: rsmi_clk_type_t = 5;
/// None.
pub const rsmi_clk_type_t_RSMI_CLK_INVALID: rsmi_clk_type_t = 0xffff_ffff;

/// Which value of a temperature sensor.
pub type rsmi_temperature_metric_t = c_uint;
/// The temperature now.
pub const rsmi_temperature_metric_t_RSMI_TEMP_CURRENT: rsmi_temperature_metric_t = 0;
/// The highest that is allowed.
pub const rsmi_temperature_metric_t_RSMI_TEMP_MAX: rsmi_temperature_metric_t = 1;
/// The lowest that is allowed.
pub const rsmi_temperature_metric_t_RSMI_TEMP_MIN: rsmi_temperature_metric_t = 2;
/// Where the highest counts as left.
pub const rsmi_temperature_metric_t_RSMI_TEMP_MAX_HYST: rsmi_temperature_metric_t = 3;
/// Where the lowest counts as left.
pub const rsmi_temperature_metric_t_RSMI_TEMP_MIN_HYST: rsmi_temperature_metric_t = 4;
/// Critically high.
pub const rsmi_temperature_metric_t_RSMI_TEMP_CRITICAL: rsmi_temperature_metric_t = 5;
/// Where critically high counts as left.
pub const rsmi_temperature_metric_t_RSMI_TEMP_CRITICAL_HYST: rsmi_temperature_metric_t = 6;
/// So high that it switches itself off.
pub const rsmi_temperature_metric_t_RSMI_TEMP_EMERGENCY: rsmi_temperature_metric_t = 7;
/// Where that counts as left.
pub const rsmi_temperature_metric_t_RSMI_TEMP_EMERGENCY_HYST: rsmi_temperature_metric_t = 8;
/// Critically low.
pub const rsmi_temperature_metric_t_RSMI_TEMP_CRIT_MIN: rsmi_temperature_metric_t = 9;
/// Where critically low counts as left.
pub const rsmi_temperature_metric_t_RSMI_TEMP_CRIT_MIN_HYST: rsmi_temperature_metric_t = 10;
/// What is added to what the sensor says.
pub const rsmi_temperature_metric_t_RSMI_TEMP_OFFSET: rsmi_temperature_metric_t = 11;
/// The lowest there ever was.
pub const rsmi_temperature_metric_t_RSMI_TEMP_LOWEST: rsmi_temperature_metric_t = 12;
/// The last of these: the highest there ever was.
pub const rsmi_temperature_metric_t_RSMI_TEMP_LAST: rsmi_temperature_metric_t = 13;

/// Which temperature sensor.
pub type rsmi_temperature_type_t = c_uint;
/// At the chip's edge.
pub const rsmi_temperature_type_t_RSMI_TEMP_TYPE_EDGE: rsmi_temperature_type_t = 0;
/// Where the chip is hottest.
pub const rsmi_temperature_type_t_RSMI_TEMP_TYPE_JUNCTION: rsmi_temperature_type_t = 1;
/// In the memory.
pub const rsmi_temperature_type_t_RSMI_TEMP_TYPE_MEMORY: rsmi_temperature_type_t = 2;
/// In the first stack of memory.
pub const rsmi_temperature_type_t_RSMI_TEMP_TYPE_HBM_0: rsmi_temperature_type_t = 3;
/// In the second stack.
pub const rsmi_temperature_type_t_RSMI_TEMP_TYPE_HBM_1: rsmi_temperature_type_t = 4;
/// In the third stack.
pub const rsmi_temperature_type_t_RSMI_TEMP_TYPE_HBM_2: rsmi_temperature_type_t = 5;
/// In the fourth stack.
pub const rsmi_temperature_type_t_RSMI_TEMP_TYPE_HBM_3: rsmi_temperature_type_t = 6;
/// None.
pub const rsmi_temperature_type_t_RSMI_TEMP_TYPE_INVALID: rsmi_temperature_type_t = 0xffff_ffff;

/// Which value of a voltage sensor.
pub type rsmi_voltage_metric_t = c_uint;
/// The voltage now.
pub const rsmi_voltage_metric_t_RSMI_VOLT_CURRENT: rsmi_voltage_metric_t = 0;
/// The highest that is allowed.
pub const rsmi_voltage_metric_t_RSMI_VOLT_MAX: rsmi_voltage_metric_t = 1;
/// Critically low.
pub const rsmi_voltage_metric_t_RSMI_VOLT_MIN_CRIT: rsmi_voltage_metric_t = 2;
/// The lowest that is allowed.
pub const rsmi_voltage_metric_t_RSMI_VOLT_MIN: rsmi_voltage_metric_t = 3;
/// Critically high.
pub const rsmi_voltage_metric_t_RSMI_VOLT_MAX_CRIT: rsmi_voltage_metric_t = 4;
/// The mean.
pub const rsmi_voltage_metric_t_RSMI_VOLT_AVERAGE: rsmi_voltage_metric_t = 5;
/// The lowest there ever was.
pub const rsmi_voltage_metric_t_RSMI_VOLT_LOWEST: rsmi_voltage_metric_t = 6;
/// The highest there ever was.
pub const rsmi_voltage_metric_t_RSMI_VOLT_HIGHEST: rsmi_voltage_metric_t = 7;

/// Which voltage sensor; 0 is that of what computes.
pub type rsmi_voltage_type_t = c_uint;

/// Which part of the chip, as a bit.
pub type rsmi_gpu_block_t = c_ulong;
/// None.
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_INVALID: rsmi_gpu_block_t = 0;
/// The memory controller.
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_UMC: rsmi_gpu_block_t = 1;
/// What copies memory.
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_SDMA: rsmi_gpu_block_t = 2;
/// What computes.
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_GFX: rsmi_gpu_block_t = 4;
/// The hub to the memory.
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_MMHUB: rsmi_gpu_block_t = 8;
/// The hub that translates addresses.
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_ATHUB: rsmi_gpu_block_t = 16;
/// The interface to the bus.
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_PCIE_BIF: rsmi_gpu_block_t = 32;
/// The host's path to the memory.
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_HDP: rsmi_gpu_block_t = 64;
/// The links to other chips.
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_XGMI_WAFL: rsmi_gpu_block_t = 128;
/// The data fabric.
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_DF: rsmi_gpu_block_t = 256;
/// The network for managing it.
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_SMN: rsmi_gpu_block_t = 512;
/// The semaphores.
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_SEM: rsmi_gpu_block_t = 1024;
/// The security processor.
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_MP0: rsmi_gpu_block_t = 2048;
/// The processor for power.
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_MP1: rsmi_gpu_block_t = 4096;
/// The fuses.
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_FUSE: rsmi_gpu_block_t = 8192;
/// Kept for later.
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_RESERVED: rsmi_gpu_block_t = 0x8000_0000_0000_0000;

/// How it is with a block's error correction.
pub type rsmi_ras_err_state_t = c_uint;
/// No error.
pub const rsmi_ras_err_state_t_RSMI_RAS_ERR_STATE_NONE: rsmi_ras_err_state_t = 0;
/// Errors are not looked for.
pub const rsmi_ras_err_state_t_RSMI_RAS_ERR_STATE_DISABLED: rsmi_ras_err_state_t = 1;
/// Errors of an unknown kind.
pub const rsmi_ras_err_state_t_RSMI_RAS_ERR_STATE_PARITY: rsmi_ras_err_state_t = 2;
/// One error, corrected.
pub const rsmi_ras_err_state_t_RSMI_RAS_ERR_STATE_SING_C: rsmi_ras_err_state_t = 3;
/// Several errors, not corrected.
pub const rsmi_ras_err_state_t_RSMI_RAS_ERR_STATE_MULT_UC: rsmi_ras_err_state_t = 4;
/// A page was shut off because of an error.
pub const rsmi_ras_err_state_t_RSMI_RAS_ERR_STATE_POISON: rsmi_ras_err_state_t = 5;
/// Errors are looked for.
pub const rsmi_ras_err_state_t_RSMI_RAS_ERR_STATE_ENABLED: rsmi_ras_err_state_t = 6;
/// Not known.
pub const rsmi_ras_err_state_t_RSMI_RAS_ERR_STATE_INVALID: rsmi_ras_err_state_t = 0xffff_ffff;

/// Which memory.
pub type rsmi_memory_type_t = c_uint;
/// The card's own.
pub const rsmi_memory_type_t_RSMI_MEM_TYPE_VRAM: rsmi_memory_type_t = 0;
/// That part of it which the host can see.
pub const rsmi_memory_type_t_RSMI_MEM_TYPE_VIS_VRAM: rsmi_memory_type_t = 1;
/// The host's, as far as the card may use it.
pub const rsmi_memory_type_t_RSMI_MEM_TYPE_GTT: rsmi_memory_type_t = 2;

/// What a counter of activity counts.
pub type RSMI_UTILIZATION_COUNTER_TYPE = c_uint;
/// Computing.
pub const RSMI_UTILIZATION_COUNTER_TYPE_RSMI_COARSE_GRAIN_GFX_ACTIVITY:
    RSMI_UTILIZATION_COUNTER_TYPE = 0;
/// Reading and writing memory.
pub const RSMI_UTILIZATION_COUNTER_TYPE_RSMI_COARSE_GRAIN_MEM_ACTIVITY:
    RSMI_UTILIZATION_COUNTER_TYPE = 1;

/// A set, each bit a member.
pub type rsmi_bit_field_t = u64;
/// One power profile, as a bit.
pub type rsmi_power_profile_preset_masks_t = c_ulong;
/// The most clocks that a list can have.
pub const RSMI_MAX_NUM_FREQUENCIES: u32 = 33;
/// How many points a curve of voltages has.
pub const RSMI_NUM_VOLTAGE_CURVE_POINTS: u32 = 3;

/// A counter of activity.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct rsmi_utilization_counter_t {
    /// What it counts; set by the caller.
    pub type_: RSMI_UTILIZATION_COUNTER_TYPE,
    /// What it has come to.
    pub value: u64,
}

/// Power profiles of a device.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct rsmi_power_profile_status_t {
    /// Those that it has.
    pub available_profiles: rsmi_bit_field_t,
    /// The one that it uses.
    pub current: rsmi_power_profile_preset_masks_t,
    /// How many it has.
    pub num_profiles: u32,
}

/// Clocks that a part can have, as of ROCm 6.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct rsmi_frequencies_t {
    /// Whether the first is the clock that it sleeps with.
    pub has_deep_sleep: bool,
    /// How many there are.
    pub num_supported: u32,
    /// Which of them it has now.
    pub current: u32,
    /// The clocks in hertz; those after the last are zero.
    pub frequency: [u64; RSMI_MAX_NUM_FREQUENCIES as usize],
}
/// Its other name in C.
pub type rsmi_frequencies = rsmi_frequencies_t;

/// Speeds that the bus can have, as of ROCm 6.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct rsmi_pcie_bandwidth_t {
    /// Transfers a second.
    pub transfer_rate: rsmi_frequencies_t,
    /// Lanes that go with each.
    pub lanes: [u32; RSMI_MAX_NUM_FREQUENCIES as usize],
}
/// Its other name in C.
pub type rsmi_pcie_bandwidth = rsmi_pcie_bandwidth_t;

/// The library's version.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct rsmi_version_t {
    /// The first number.
    pub major: u32,
    /// The second.
    pub minor: u32,
    /// The third.
    pub patch: u32,
    /// What else its makers call it; a text of the library's own.
    pub build: *const c_char,
}

/// From here to there.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct rsmi_range_t {
    /// The lowest.
    pub lower_bound: u64,
    /// The highest.
    pub upper_bound: u64,
}

/// A point of the curve of voltages.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct rsmi_od_vddc_point_t {
    /// The clock in hertz.
    pub frequency: u64,
    /// The voltage in millivolts.
    pub voltage: u64,
}
/// Its other name in C.
pub type rsmi_od_vddc_point = rsmi_od_vddc_point_t;

/// The curve of voltages.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct rsmi_od_volt_curve_t {
    /// Its points.
    pub vc_points: [rsmi_od_vddc_point_t; RSMI_NUM_VOLTAGE_CURVE_POINTS as usize],
}

/// Clocks and voltages that can be set.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct rsmi_od_volt_freq_data_t {
    /// What the processor's clock may be now.
    pub curr_sclk_range: rsmi_range_t,
    /// What the memory's clock may be now.
    pub curr_mclk_range: rsmi_range_t,
    /// What the processor's clock could be set to.
    pub sclk_freq_limits: rsmi_range_t,
    /// What the memory's clock could be set to.
    pub mclk_freq_limits: rsmi_range_t,
    /// Voltages over clocks.
    pub curve: rsmi_od_volt_curve_t,
    /// How many points of the curve can be set.
    pub num_regions: u32,
}
/// Its other name in C.
pub type rsmi_od_volt_freq_data = rsmi_od_volt_freq_data_t;

/// How the table of metrics begins.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct metrics_table_header_t {
    /// Its size in bytes.
    pub structure_size: u16,
    /// Which family of tables.
    pub format_revision: u8,
    /// Which of the family.
    pub content_revision: u8,
}

/// The table of metrics: only how it begins, for it is never filled in.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct rsmi_gpu_metrics_t {
    /// How it begins.
    pub common_header: metrics_table_header_t,
}

/// Errors of memory so far.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct rsmi_error_count_t {
    /// Those that were corrected.
    pub correctable_err: u64,
    /// Those that were not.
    pub uncorrectable_err: u64,
}

/// Goes through the library's functions; what is behind it is the library's own business.
pub type rsmi_func_id_iter_handle_t = *mut rsmi_func_id_iter_handle;

/// What such a handle points to.
#[repr(C)]
#[derive(Debug)]
pub struct rsmi_func_id_iter_handle {
    hidden: [u8; 0],
}

/// A function's name, or the number of a variant of it.
#[repr(C)]
#[derive(Clone, Copy)]
pub union id {
    /// The number.
    pub id: u64,
    /// The name; a text of the library's own.
    pub name: *const c_char,
}

/// Its other name in C.
pub type rsmi_func_id_value_t = id;
