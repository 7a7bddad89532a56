//! ROCm SMI, loaded when it is first needed.
//!
//! Stands in for the crate of the same name, which links the library when it is built. See [`library`]
//! for how it is found, [`bindings`] for the C functions and [`extra`] for safe ones.

pub mod bindings;
pub mod extra;
mod header;
mod layout;
pub mod library;
mod locks;
