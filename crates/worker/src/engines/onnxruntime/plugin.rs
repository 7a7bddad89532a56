//! Execution providers of plug-in libraries (ONNX Runtime 1.22 and newer).
//!
//! The `ort` crate offers them only where it is built for 1.22 and then refuses every older library, so
//! the four functions that are needed are taken from the library's own table, whose places never change.

#![expect(
    unsafe_code,
    reason = "functions of a library that is found at run time"
)]

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use std::ptr;

use libloading::Library;
use ort::AsPointer as _;
use ort::environment::Environment;
use ort::session::builder::SessionBuilder;

use super::interface::GetBase;
use crate::engines::EngineError;
use powerband_planning::engine_options::onnxruntime::providers::ProviderRequest;

/// The version of the table that first had plug-ins.
const VERSION: u32 = 22;
/// How such libraries begin their names.
const PREFIXES: [&str; 3] = ["lib", "onnxruntime_", "providers_"];

/// Places in ONNX Runtime's table of functions.
mod place {
    pub(crate) const REGISTER_LIBRARY: usize = 301;
    pub(super) const DEVICES: usize = 303;
    pub(crate) const APPEND: usize = 304;
    pub(crate) const DEVICE_PROVIDER: usize = 312;
    pub(crate) const DEVICE_KIND: usize = 316;
    pub(crate) const HARDWARE_KIND: usize = 307;
}

type Status = ort::sys::OrtStatusPtr;
type RegisterLibrary =
    unsafe extern "system" fn(*mut c_void, *const c_char, *const c_char) -> Status;
type Devices =
    unsafe extern "system" fn(*const c_void, *mut *const *const c_void, *mut usize) -> Status;
type Append = unsafe extern "system" fn(
    *mut c_void,
    *mut c_void,
    *const *const c_void,
    usize,
    *const *const c_char,
    *const *const c_char,
    usize,
) -> Status;
type DeviceProvider = unsafe extern "system" fn(*const c_void) -> *const c_char;
type DeviceHardware = unsafe extern "system" fn(*const c_void) -> *const c_void;
type HardwareKind = unsafe extern "system" fn(*const c_void) -> i32;

/// The functions that plug-ins need.
struct Api {
    table: *const *const c_void,
    // The table lives in it.
    _library: Library,
}

/// Where a provider can compute.
struct Device {
    pointer: *const c_void,
    provider: String,
    kind: &'static str,
}

/// Registers a library and puts its provider before the CPU in a session's list; says what it is called.
pub(super) fn register(
    environment: &Environment,
    builder: &mut SessionBuilder,
    runtime: &Path,
    library: &str,
    name: Option<&str>,
    (device, wanted): (&str, &ProviderRequest),
) -> Result<String, EngineError> {
    let api = Api::load(runtime).map_err(EngineError::Unsupported)?;
    let known: Vec<String> = api
        .devices(environment)?
        .into_iter()
        .map(|d| d.provider)
        .collect();
    api.register_library(environment, library, name.unwrap_or(&stem(library)))?;
    let devices = api.devices(environment)?;
    let is_new = |device: &&Device| !known.contains(&device.provider);
    let is_meant = |provider: &str| name.is_none_or(|name| provider.eq_ignore_ascii_case(name));
    let kind = device.split(':').next().unwrap_or_default();
    let index = wanted.index.unwrap_or(0) as usize;
    let fitting: Vec<&Device> = devices
        .iter()
        .filter(is_new)
        .filter(|device| is_meant(&device.provider) && device_matches(kind, device.kind))
        .collect();
    let Some(chosen) = fitting.get(index) else {
        return Err(EngineError::Unsupported(no_device_error(
            library, name, device, &devices, &known,
        )));
    };
    api.append(environment, builder, chosen, wanted)?;
    Ok(chosen.provider.clone())
}

/// What a library is registered as where the setup does not say. Some providers take it as their name.
pub(super) fn stem(library: &str) -> String {
    let stem = Path::new(library).file_stem().unwrap_or_default();
    let stem = stem.to_string_lossy();
    let mut name = stem.split('.').next().unwrap_or_default();
    for prefix in PREFIXES {
        name = name.strip_prefix(prefix).unwrap_or(name);
    }
    name.to_owned()
}

/// Cards go by the name of their maker's software in a setup, and are graphics cards to ONNX Runtime.
fn device_matches(asked: &str, kind: &str) -> bool {
    match asked {
        "cuda" | "rocm" | "dml" => kind == "gpu",
        asked => asked == kind,
    }
}

fn no_device_error(
    library: &str,
    name: Option<&str>,
    device: &str,
    devices: &[Device],
    known: &[String],
) -> String {
    let offers: Vec<String> = devices
        .iter()
        .filter(|device| !known.contains(&device.provider))
        .map(|device| format!("{} on the {}", device.provider, device.kind))
        .collect();
    if offers.is_empty() {
        return format!("{library} finds no device on this machine that it can compute on");
    }
    let wanted = name.map_or_else(String::new, |name| format!("{name} "));
    format!(
        "{library} does not offer {wanted}on {device}; it offers {}",
        offers.join(", ")
    )
}

impl Api {
    fn load(runtime: &Path) -> Result<Self, String> {
        let cannot = |reason: String| {
            format!(
                "{} cannot be asked for plug-ins: {reason}",
                runtime.display()
            )
        };
        // SAFETY: the library is ONNX Runtime and loaded already; its initialisers have run.
        let library =
            unsafe { Library::new(runtime) }.map_err(|error| cannot(error.to_string()))?;
        // SAFETY: the type is that of ONNX Runtime's header, the same since its first version.
        let base = unsafe { library.get::<GetBase>(b"OrtGetApiBase") };
        let base = base.map_err(|error| cannot(error.to_string()))?();
        // SAFETY: the function returns a table that lives as long as the library.
        let base = unsafe { base.as_ref() };
        let table = base
            .and_then(|base| base.get_api)
            .map_or(ptr::null(), |get_api| {
                // SAFETY: any version may be asked for; one that is not known gives null.
                unsafe { get_api(VERSION) }
            });
        if table.is_null() {
            return Err("plug-in libraries need ONNX Runtime 1.22 or newer; choose one with runtime=, or fetch one with `powerband engines install onnxruntime`".to_owned());
        }
        Ok(Self {
            table,
            _library: library,
        })
    }

    /// A function of the table.
    ///
    /// # Safety
    /// `F` is the type that ONNX Runtime's header gives the function at this place.
    unsafe fn function<F: Copy>(&self, place: usize) -> F {
        const { assert!(size_of::<F>() == size_of::<*const c_void>()) };
        // SAFETY: the table of version 22 is longer than every place here, and holds functions.
        unsafe { self.table.add(place).cast::<F>().read() }
    }

    fn register_library(
        &self,
        environment: &Environment,
        library: &str,
        name: &str,
    ) -> Result<(), EngineError> {
        let text = |text: &str| {
            CString::new(text).map_err(|_zero| {
                EngineError::Unsupported("library= or provider= has a zero byte in it".to_owned())
            })
        };
        let (path, name) = (text(library)?, text(name)?);
        // SAFETY: environment and texts live through the call; the type is the header's.
        let status = unsafe {
            self.function::<RegisterLibrary>(place::REGISTER_LIBRARY)(
                environment.ptr().cast_mut().cast(),
                name.as_ptr(),
                path.as_ptr(),
            )
        };
        check(status).map_err(|reason| {
            EngineError::Unsupported(format!("{library} cannot be registered: {reason}"))
        })
    }

    fn devices(&self, environment: &Environment) -> Result<Vec<Device>, EngineError> {
        let (mut list, mut length) = (ptr::null(), 0);
        // SAFETY: both places are ours; the list belongs to the environment and is copied at once.
        let status = unsafe {
            self.function::<Devices>(place::DEVICES)(
                environment.ptr().cast(),
                &raw mut list,
                &raw mut length,
            )
        };
        check(status).map_err(EngineError::Failed)?;
        let devices = (0..length).map(|index| {
            // SAFETY: the list has that many devices, each valid as long as the environment.
            unsafe { self.device(*list.add(index)) }
        });
        Ok(devices.collect())
    }

    /// # Safety
    /// The pointer is one that [`Self::devices`] was given.
    unsafe fn device(&self, pointer: *const c_void) -> Device {
        // SAFETY: the types are the header's; the name is a text that lives as long as the device.
        unsafe {
            let name = self.function::<DeviceProvider>(place::DEVICE_PROVIDER)(pointer);
            let hardware = self.function::<DeviceHardware>(place::DEVICE_KIND)(pointer);
            let kind = match self.function::<HardwareKind>(place::HARDWARE_KIND)(hardware) {
                0 => "cpu",
                1 => "gpu",
                2 => "npu",
                _ => "other",
            };
            Device {
                pointer,
                provider: CStr::from_ptr(name).to_string_lossy().into_owned(),
                kind,
            }
        }
    }

    fn append(
        &self,
        environment: &Environment,
        builder: &mut SessionBuilder,
        device: &Device,
        wanted: &ProviderRequest,
    ) -> Result<(), EngineError> {
        let texts = |pick: fn(&(String, String)) -> &str| {
            let texts = wanted.options.iter().map(|pair| CString::new(pick(pair)));
            texts.collect::<Result<Vec<_>, _>>().map_err(|_zero| {
                EngineError::Unsupported("an ep. option has a zero byte in it".to_owned())
            })
        };
        let (keys, values) = (texts(|pair| &pair.0)?, texts(|pair| &pair.1)?);
        let pointers = |texts: &[CString]| -> Vec<*const c_char> {
            texts.iter().map(|text| text.as_ptr()).collect()
        };
        let (key_pointers, value_pointers) = (pointers(&keys), pointers(&values));
        // SAFETY: options, environment, device and texts live through the call; the type is the header's.
        let status = unsafe {
            self.function::<Append>(place::APPEND)(
                builder.ptr_mut().cast(),
                environment.ptr().cast_mut().cast(),
                &raw const device.pointer,
                1,
                key_pointers.as_ptr(),
                value_pointers.as_ptr(),
                keys.len(),
            )
        };
        check(status).map_err(|reason| {
            EngineError::Unsupported(format!("{} does not start: {reason}", device.provider))
        })
    }
}

/// What a status says, where it is not fine.
fn check(status: Status) -> Result<(), String> {
    // SAFETY: the status comes from ONNX Runtime and is given over.
    unsafe { ort::Error::result_from_status(status) }.map_err(|error: ort::Error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_are_graphics_cards_to_onnx_runtime() {
        assert!(
            device_matches("cpu", "cpu")
                && device_matches("cuda", "gpu")
                && device_matches("npu", "npu")
        );
        assert!(!device_matches("cpu", "gpu") && !device_matches("rocm", "cpu"));
    }

    #[test]
    fn a_library_is_called_by_what_is_its_own_in_its_name() {
        assert_eq!(stem("/a/libonnxruntime_providers_qnn.so"), "qnn");
        assert_eq!(stem("/a/libthing.so.1.2"), "thing");
    }

    #[test]
    fn a_library_that_offers_something_else_is_told_with_what_it_offers() {
        let device = Device {
            pointer: ptr::null(),
            provider: "OpenVINO".to_owned(),
            kind: "cpu",
        };
        let said = no_device_error("lib.so", None, "cuda:0", &[device], &[]);
        assert_eq!(
            said,
            "lib.so does not offer on cuda:0; it offers OpenVINO on the cpu"
        );
        assert!(no_device_error("lib.so", None, "cpu", &[], &[]).contains("no device"));
    }
}
