//! The first look at a library: whether it has the interface of ONNX Runtime at all. The `ort` crate takes that for
//! granted and ends with an assertion where a stub or another program's library has the name.

#![expect(
    unsafe_code,
    reason = "functions of a library that is found at run time"
)]

use std::ffi::{CStr, c_char, c_void};
use std::path::Path;

use libloading::Library;

/// The version of the table that the `ort` crate asks for.
const VERSION: u32 = ort::sys::ORT_API_VERSION;

/// `OrtGetApiBase`.
pub(super) type GetBase = extern "system" fn() -> *const BaseTable;

/// `OrtApiBase`, which every version has; null where a library only seems to be one.
#[repr(C)]
pub(super) struct BaseTable {
    /// The table of functions of a version.
    pub(super) get_api: Option<unsafe extern "system" fn(u32) -> *const *const c_void>,
    version: Option<unsafe extern "system" fn() -> *const c_char>,
}

/// Looks at a library and keeps it loaded; or why it is not ONNX Runtime.
pub(super) fn load_library(path: &Path) -> Result<Library, String> {
    // SAFETY: a library that the user chose, or that is installed; `ort` loads the same one right after this, so its
    // initialisers run in this worker in any case.
    let library = unsafe { Library::new(path) }
        .map_err(|error| unusable(path, &format!("it does not load: {error}")))?;
    let foreign = "it has no function OrtGetApiBase, so it is another program's library";
    // SAFETY: the type is that of ONNX Runtime's header, the same since its first version.
    let get_base = unsafe { library.get::<GetBase>(b"OrtGetApiBase") }
        .map_err(|error| unusable(path, &format!("{foreign} ({error})")))?;
    let base = get_base();
    // SAFETY: null, or a table that lives as long as the library.
    let base = unsafe { base.as_ref() };
    let functions = base.and_then(|base| base.get_api.zip(base.version));
    let Some((get_api, version)) = functions else {
        return Err(unusable(
            path,
            "OrtGetApiBase gives no interface, so it is a stub, damaged, or another program's library",
        ));
    };
    // SAFETY: the function takes nothing and gives null or a text that lives as long as the library.
    let version = unsafe { version() };
    if version.is_null() {
        return Err(unusable(
            path,
            "it does not name its version, so it is a stub or damaged",
        ));
    }
    // SAFETY: it is not null, and ends with a zero byte.
    let version = unsafe { CStr::from_ptr(version) }.to_string_lossy();
    // SAFETY: any version may be asked for; one that is not known gives null.
    if unsafe { get_api(VERSION) }.is_null() {
        let reason = format!("it is version {version}, and at least 1.{VERSION} is needed");
        return Err(unusable(path, &reason));
    }
    Ok(library)
}

fn unusable(path: &Path, reason: &str) -> String {
    format!(
        "{} cannot be used as ONNX Runtime: {reason}",
        path.display()
    )
}
