//! What the machine is, and what its devices say of themselves while something is measured.
//!
//! To add a source: a file here and a line in [`ALL`].

pub mod amdgpu;
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

use source::Source;

/// Every source, in the order in which they are believed: a card that one tells of is not asked about
/// from the next.
pub const ALL: &[&dyn Source] = &[
    &nvml::Nvml,
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    &rocm_smi::RocmSmi,
    &amdgpu::Amdgpu,
    &host::Host,
    &rapl::Rapl,
];
