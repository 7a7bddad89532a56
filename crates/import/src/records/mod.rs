//! Records of any format as slices and sums, with implausible values removed.

mod args_plan;
pub mod clamp_implausible;
pub(crate) mod device_time;
mod graph_captures;
pub mod graph_launches;
mod launch_order;
pub(crate) mod module_network;
pub mod nesting;
pub(crate) mod node_work;
pub mod reported_stats;
pub mod slice_buffer;
pub mod summary;
pub(crate) mod tensor_size;
