//! Numbers and types of AMD's header that `rocm_smi_lib` names, as bindgen calls them.

#![expect(
    missing_docs,
    reason = "AMD's header rocm_smi.h documents them by the same names"
)]
#![expect(
    non_camel_case_types,
    non_upper_case_globals,
    reason = "these are the names that bindgen gives them"
)]

use std::ffi::{c_char, c_void};

/// What a call answers: zero, or the number of an error.
pub type Status = u32;

/// The call worked.
pub(crate) const SUCCESS: Status = 0;
/// An argument cannot be right.
pub(crate) const INVALID_ARGS: Status = 1;
/// The device, the driver or the library cannot do this.
pub(crate) const NOT_SUPPORTED: Status = 2;
/// There are not as many devices or sensors.
pub(crate) const INPUT_OUT_OF_BOUNDS: Status = 7;
/// No library is loaded, or it did not start.
pub(crate) const INIT_ERROR: Status = 8;
/// The answer cannot be right.
pub(crate) const UNEXPECTED_DATA: Status = 15;
pub const rsmi_status_t_RSMI_STATUS_NO_DATA: u32 = 14;

pub const rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_AUTO: u32 = 0;
pub const rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_LOW: u32 = 1;
pub const rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_HIGH: u32 = 2;
pub const rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_MANUAL: u32 = 3;
pub const rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_STABLE_STD: u32 = 4;
pub const rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_STABLE_PEAK: u32 = 5;
pub const rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_STABLE_MIN_MCLK: u32 = 6;
pub const rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_STABLE_MIN_SCLK: u32 = 7;
pub const rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_DETERMINISM: u32 = 8;
pub const rsmi_dev_perf_level_t_RSMI_DEV_PERF_LEVEL_UNKNOWN: u32 = 256;

pub const rsmi_sw_component_t_RSMI_SW_COMP_DRIVER: u32 = 0;

pub const rsmi_clk_type_t_RSMI_CLK_TYPE_SYS: u32 = 0;
pub const rsmi_clk_type_t_RSMI_CLK_TYPE_DF: u32 = 1;
pub const rsmi_clk_type_t_RSMI_CLK_TYPE_DCEF: u32 = 2;
pub const rsmi_clk_type_t_RSMI_CLK_TYPE_SOC: u32 = 3;
pub const rsmi_clk_type_t_RSMI_CLK_TYPE_MEM: u32 = 4;
pub const rsmi_clk_type_t_RSMI_CLK_TYPE_PCIE: u32 = 5;
pub const rsmi_clk_type_t_RSMI_CLK_INVALID: u32 = 0xffff_ffff;

pub const rsmi_temperature_metric_t_RSMI_TEMP_CURRENT: u32 = 0;
pub const rsmi_temperature_metric_t_RSMI_TEMP_MAX: u32 = 1;
pub const rsmi_temperature_metric_t_RSMI_TEMP_MIN: u32 = 2;
pub const rsmi_temperature_metric_t_RSMI_TEMP_MAX_HYST: u32 = 3;
pub const rsmi_temperature_metric_t_RSMI_TEMP_MIN_HYST: u32 = 4;
pub const rsmi_temperature_metric_t_RSMI_TEMP_CRITICAL: u32 = 5;
pub const rsmi_temperature_metric_t_RSMI_TEMP_CRITICAL_HYST: u32 = 6;
pub const rsmi_temperature_metric_t_RSMI_TEMP_EMERGENCY: u32 = 7;
pub const rsmi_temperature_metric_t_RSMI_TEMP_EMERGENCY_HYST: u32 = 8;
pub const rsmi_temperature_metric_t_RSMI_TEMP_CRIT_MIN: u32 = 9;
pub const rsmi_temperature_metric_t_RSMI_TEMP_CRIT_MIN_HYST: u32 = 10;
pub const rsmi_temperature_metric_t_RSMI_TEMP_OFFSET: u32 = 11;
pub const rsmi_temperature_metric_t_RSMI_TEMP_LOWEST: u32 = 12;
pub const rsmi_temperature_metric_t_RSMI_TEMP_LAST: u32 = 13;

pub const rsmi_temperature_type_t_RSMI_TEMP_TYPE_EDGE: u32 = 0;
pub const rsmi_temperature_type_t_RSMI_TEMP_TYPE_JUNCTION: u32 = 1;
pub const rsmi_temperature_type_t_RSMI_TEMP_TYPE_MEMORY: u32 = 2;
pub const rsmi_temperature_type_t_RSMI_TEMP_TYPE_HBM_0: u32 = 3;
pub const rsmi_temperature_type_t_RSMI_TEMP_TYPE_HBM_1: u32 = 4;
pub const rsmi_temperature_type_t_RSMI_TEMP_TYPE_HBM_2: u32 = 5;
pub const rsmi_temperature_type_t_RSMI_TEMP_TYPE_HBM_3: u32 = 6;
pub const rsmi_temperature_type_t_RSMI_TEMP_TYPE_INVALID: u32 = 0xffff_ffff;

pub const rsmi_voltage_metric_t_RSMI_VOLT_CURRENT: u32 = 0;
pub const rsmi_voltage_metric_t_RSMI_VOLT_MAX: u32 = 1;
pub const rsmi_voltage_metric_t_RSMI_VOLT_MIN_CRIT: u32 = 2;
pub const rsmi_voltage_metric_t_RSMI_VOLT_MIN: u32 = 3;
pub const rsmi_voltage_metric_t_RSMI_VOLT_MAX_CRIT: u32 = 4;
pub const rsmi_voltage_metric_t_RSMI_VOLT_AVERAGE: u32 = 5;
pub const rsmi_voltage_metric_t_RSMI_VOLT_LOWEST: u32 = 6;
pub const rsmi_voltage_metric_t_RSMI_VOLT_HIGHEST: u32 = 7;

pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_INVALID: u64 = 0;
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_UMC: u64 = 1;
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_SDMA: u64 = 2;
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_GFX: u64 = 4;
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_MMHUB: u64 = 8;
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_ATHUB: u64 = 16;
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_PCIE_BIF: u64 = 32;
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_HDP: u64 = 64;
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_XGMI_WAFL: u64 = 128;
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_DF: u64 = 256;
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_SMN: u64 = 512;
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_SEM: u64 = 1024;
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_MP0: u64 = 2048;
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_MP1: u64 = 4096;
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_FUSE: u64 = 8192;
pub const rsmi_gpu_block_t_RSMI_GPU_BLOCK_RESERVED: u64 = 0x8000_0000_0000_0000;

pub const rsmi_ras_err_state_t_RSMI_RAS_ERR_STATE_NONE: u32 = 0;
pub const rsmi_ras_err_state_t_RSMI_RAS_ERR_STATE_DISABLED: u32 = 1;
pub const rsmi_ras_err_state_t_RSMI_RAS_ERR_STATE_PARITY: u32 = 2;
pub const rsmi_ras_err_state_t_RSMI_RAS_ERR_STATE_SING_C: u32 = 3;
pub const rsmi_ras_err_state_t_RSMI_RAS_ERR_STATE_MULT_UC: u32 = 4;
pub const rsmi_ras_err_state_t_RSMI_RAS_ERR_STATE_POISON: u32 = 5;
pub const rsmi_ras_err_state_t_RSMI_RAS_ERR_STATE_ENABLED: u32 = 6;
pub const rsmi_ras_err_state_t_RSMI_RAS_ERR_STATE_INVALID: u32 = 0xffff_ffff;

pub const rsmi_memory_type_t_RSMI_MEM_TYPE_VRAM: u32 = 0;
pub const rsmi_memory_type_t_RSMI_MEM_TYPE_VIS_VRAM: u32 = 1;
pub const rsmi_memory_type_t_RSMI_MEM_TYPE_GTT: u32 = 2;

pub const RSMI_UTILIZATION_COUNTER_TYPE_RSMI_COARSE_GRAIN_GFX_ACTIVITY: u32 = 0;
pub const RSMI_UTILIZATION_COUNTER_TYPE_RSMI_COARSE_GRAIN_MEM_ACTIVITY: u32 = 1;

/// The most clocks in a list, as of ROCm 6.
pub(crate) const MAX_CLOCKS: usize = 33;

/// Makes structs whose fields lie as in C.
macro_rules! structs {
    ($($name:ident { $($field:ident: $type:ty),* })*) => {$(
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name { $(pub $field: $type),* }
    )*};
}

structs! {
    rsmi_frequencies {
        has_deep_sleep: bool, num_supported: u32, current: u32, frequency: [u64; MAX_CLOCKS]
    }
    rsmi_pcie_bandwidth { transfer_rate: rsmi_frequencies, lanes: [u32; MAX_CLOCKS] }
    rsmi_utilization_counter_t { type_: u32, value: u64 }
    rsmi_power_profile_status_t { available_profiles: u64, current: u64, num_profiles: u32 }
    rsmi_version_t { major: u32, minor: u32, patch: u32, build: *const c_char }
    rsmi_range_t { lower_bound: u64, upper_bound: u64 }
    rsmi_od_vddc_point { frequency: u64, voltage: u64 }
    rsmi_od_volt_curve_t { vc_points: [rsmi_od_vddc_point; 3] }
    rsmi_od_volt_freq_data {
        curr_sclk_range: rsmi_range_t, curr_mclk_range: rsmi_range_t,
        sclk_freq_limits: rsmi_range_t, mclk_freq_limits: rsmi_range_t,
        curve: rsmi_od_volt_curve_t, num_regions: u32
    }
    rsmi_error_count_t { correctable_err: u64, uncorrectable_err: u64 }
}

/// The table of metrics. It has no fields here because the library never fills it in.
pub struct rsmi_gpu_metrics_t;

pub type rsmi_func_id_iter_handle_t = *mut c_void;

#[repr(C)]
#[derive(Clone, Copy)]
pub union rsmi_func_id_value_t {
    pub id: u64,
    pub name: *const c_char,
}
