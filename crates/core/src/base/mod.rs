//! Helpers that know nothing of benchmarks: how numbers read, where files go, how work is cancelled.

pub mod atomic_file;
pub mod cancel;
pub mod clock;
pub mod ending;
pub mod environment_roots;
pub mod fonts;
pub mod humanize;
pub mod near_miss;
pub mod parallel;
pub mod paths;
pub mod plain_text;
pub mod process_spec;
pub mod regular_file;
pub mod serde_optional_f64_list;
pub mod serde_u64_list;
pub mod system;
