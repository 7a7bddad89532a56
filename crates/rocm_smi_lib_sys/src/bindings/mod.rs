//! The C functions that `rocm_smi_lib` calls, with the types that these need.
//!
//! Most are handed on as they are. Those whose answers are looked at first are in `guarded`.
#![expect(
    non_camel_case_types,
    non_upper_case_globals,
    reason = "these are the names that bindgen gives them"
)]

mod guarded;
mod plain;
pub(crate) mod types;

pub use guarded::*;
pub use plain::*;
pub use types::*;

/// Declares functions of the library, each of which looks its symbol up when it is first called.
macro_rules! of_the_library {
    ($($(#[$doc:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?);)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// Each pointer is null or may be read and written as what it points to.
        $visibility unsafe fn $name($($argument: $type),*) -> $crate::bindings::rsmi_status_t {
            type Function = unsafe extern "C" fn($($type),*) -> $crate::bindings::rsmi_status_t;
            static SYMBOL: std::sync::OnceLock<Option<Function>> = std::sync::OnceLock::new();
            const NAME: &std::ffi::CStr =
                match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("a name has no zero in it"),
                };
            // SAFETY: The type is that of the header, for this name.
            match unsafe { $crate::library::function(&SYMBOL, NAME) } {
                // SAFETY: Passed on from the caller.
                Ok(function) => unsafe { function($($argument),*) },
                Err(status) => status,
            }
        }
    )*};
}
use of_the_library;
