//! What the machine is, and what its devices say of themselves while something is measured.
//!
//! To add a source: a file here and a line in [`ALL`].

pub mod amdgpu;
pub mod cores;
mod files;
pub mod host;
pub mod machine;
pub mod nvml;
pub mod process;
pub mod rapl;
pub mod replay;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod rocm_smi;
pub mod sampler;
pub mod source;
pub mod survey;
pub mod version;

use source::TelemetrySource;

/// Every source, the preferred first: a card that one reads is not read through the next.
pub const ALL: &[&dyn TelemetrySource] = &[
    &nvml::Nvml,
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    &rocm_smi::RocmSmi,
    &amdgpu::Amdgpu,
    &host::Host,
    &rapl::Rapl,
];
