//! Functions that are handed on as they are.

use super::of_the_library;
use super::types::{
    rsmi_error_count_t, rsmi_func_id_iter_handle_t, rsmi_func_id_value_t, rsmi_gpu_block_t,
    rsmi_memory_type_t, rsmi_temperature_metric_t, rsmi_utilization_counter_t, rsmi_version_t,
    rsmi_voltage_metric_t, rsmi_voltage_type_t,
};

of_the_library! {
    /// Ends what an `rsmi_init` began, once for each.
    pub fn rsmi_shut_down();
    /// How many devices there are.
    pub fn rsmi_num_monitor_devices(num_devices: *mut u32);
    /// The library's version.
    pub fn rsmi_version_get(version: *mut rsmi_version_t);
    /// The device's address on the bus: domain, bus, device and function in one number.
    pub fn rsmi_dev_pci_id_get(dv_ind: u32, bdfid: *mut u64);
    /// What went over the bus within a second, which the call takes.
    pub fn rsmi_dev_pci_throughput_get(
        dv_ind: u32, sent: *mut u64, received: *mut u64, max_pkt_sz: *mut u64,
    );
    /// The node of the host's memory that the device is nearest to; negative for none.
    pub fn rsmi_topo_numa_affinity_get(dv_ind: u32, numa_node: *mut i32);
    /// The node that the device's processor belongs to.
    pub fn rsmi_topo_get_numa_node_number(dv_ind: u32, numa_node: *mut u32);
    /// The device's number for its maker.
    pub fn rsmi_dev_id_get(dv_ind: u32, id: *mut u16);
    /// The device's revision.
    pub fn rsmi_dev_revision_get(dv_ind: u32, revision: *mut u16);
    /// The chip's maker.
    pub fn rsmi_dev_vendor_id_get(dv_ind: u32, id: *mut u16);
    /// The card's number for its maker.
    pub fn rsmi_dev_subsystem_id_get(dv_ind: u32, id: *mut u16);
    /// The card's maker.
    pub fn rsmi_dev_subsystem_vendor_id_get(dv_ind: u32, id: *mut u16);
    /// The number of the file that renders on the device.
    pub fn rsmi_dev_drm_render_minor_get(dv_ind: u32, minor: *mut u32);
    /// A number that no other device has.
    pub fn rsmi_dev_unique_id_get(dv_ind: u32, id: *mut u64);
    /// The device's number among those it is linked with.
    pub fn rsmi_dev_xgmi_physical_id_get(dv_ind: u32, id: *mut u16);
    /// How much memory of a kind there is, in bytes.
    pub fn rsmi_dev_memory_total_get(dv_ind: u32, mem_type: rsmi_memory_type_t, total: *mut u64);
    /// How much of it is in use.
    pub fn rsmi_dev_memory_usage_get(dv_ind: u32, mem_type: rsmi_memory_type_t, used: *mut u64);
    /// The share of time in which memory was read or written.
    pub fn rsmi_dev_memory_busy_percent_get(dv_ind: u32, busy_percent: *mut u32);
    /// The share of time in which the device computed.
    pub fn rsmi_dev_busy_percent_get(dv_ind: u32, busy_percent: *mut u32);
    /// Counters of activity, of the kinds that are set in them.
    pub fn rsmi_utilization_count_get(
        dv_ind: u32, utilization_counters: *mut rsmi_utilization_counter_t, count: u32,
        timestamp: *mut u64,
    );
    /// By how many percent the processor's clock is above its limit.
    pub fn rsmi_dev_overdrive_level_get(dv_ind: u32, od: *mut u32);
    /// The same for the memory's clock.
    pub fn rsmi_dev_mem_overdrive_level_get(dv_ind: u32, od: *mut u32);
    /// A temperature in thousandths of a degree Celsius.
    pub fn rsmi_dev_temp_metric_get(
        dv_ind: u32, sensor_type: u32, metric: rsmi_temperature_metric_t, temperature: *mut i64,
    );
    /// A voltage in millivolts.
    pub fn rsmi_dev_volt_metric_get(
        dv_ind: u32, sensor_type: rsmi_voltage_type_t, metric: rsmi_voltage_metric_t,
        voltage: *mut i64,
    );
    /// The power of the whole socket now, in microwatts.
    pub fn rsmi_dev_current_socket_power_get(dv_ind: u32, socket_power: *mut u64);
    /// The limit of power that the device came with, in microwatts.
    pub fn rsmi_dev_power_cap_default_get(dv_ind: u32, default_cap: *mut u64);
    /// A counter of energy, what one of it is worth in microjoules, and when it was read in nanoseconds.
    pub fn rsmi_dev_energy_count_get(
        dv_ind: u32, power: *mut u64, counter_resolution: *mut f32, timestamp: *mut u64,
    );
    /// Errors of memory in a block.
    pub fn rsmi_dev_ecc_count_get(
        dv_ind: u32, block: rsmi_gpu_block_t, ec: *mut rsmi_error_count_t,
    );
    /// Begins to go through the functions that a device supports.
    pub fn rsmi_dev_supported_func_iterator_open(
        dv_ind: u32, handle: *mut rsmi_func_id_iter_handle_t,
    );
    /// Begins to go through the variants of one of them.
    pub fn rsmi_dev_supported_variant_iterator_open(
        obj_h: rsmi_func_id_iter_handle_t, var_iter: *mut rsmi_func_id_iter_handle_t,
    );
    /// Goes one further.
    pub fn rsmi_func_iter_next(handle: rsmi_func_id_iter_handle_t);
    /// What is there.
    pub fn rsmi_func_iter_value_get(
        handle: rsmi_func_id_iter_handle_t, value: *mut rsmi_func_id_value_t,
    );
    /// Ends it.
    pub fn rsmi_dev_supported_func_iterator_close(handle: *mut rsmi_func_id_iter_handle_t);
}
