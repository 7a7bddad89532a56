//! How the execution providers of ONNX Runtime are registered.

use ort::ep::{self, ArbitrarilyConfigurableExecutionProvider as _, ExecutionProvider as _};
use ort::session::builder::SessionBuilder;

use crate::engines::EngineError;
use powerband_planning::engine_options::onnxruntime::providers::{Provider, ProviderRequest};

/// How one provider is registered.
struct ProviderRegistration {
    /// What a setup calls it.
    word: &'static str,
    is_built_in: fn() -> bool,
    register: fn(&mut SessionBuilder, &ProviderRequest) -> Result<(), String>,
}

/// A provider that takes any option by its name, and its device by the option `$device`.
macro_rules! configurable {
    ($type:ident, $device:expr) => {
        |builder, wanted| {
            let device: Option<&str> = $device;
            let mut provider = ep::$type::default();
            if let (Some(name), Some(index)) = (device, wanted.index) {
                provider = provider.with_arbitrary_config(name, index);
            }
            for (key, value) in &wanted.options {
                provider = provider.with_arbitrary_config(key, value);
            }
            provider
                .register(builder)
                .map_err(|error| error.to_string())
        }
    };
}

/// How each provider is registered.
const REGISTRATIONS: &[ProviderRegistration] = &[
    ProviderRegistration {
        word: "cpu",
        is_built_in: || true,
        register: |_, wanted| none_of(&wanted.options, "cpu"),
    },
    ProviderRegistration {
        word: "cuda",
        is_built_in: || matches!(ep::CUDA::is_available(), Ok(true)),
        register: configurable!(CUDA, Some("device_id")),
    },
    ProviderRegistration {
        word: "rocm",
        is_built_in: || matches!(ep::ROCm::is_available(), Ok(true)),
        register: configurable!(ROCm, Some("device_id")),
    },
    ProviderRegistration {
        word: "tensorrt",
        is_built_in: || matches!(ep::TensorRT::is_available(), Ok(true)),
        register: configurable!(TensorRT, Some("device_id")),
    },
    ProviderRegistration {
        word: "migraphx",
        is_built_in: || matches!(ep::MIGraphX::is_available(), Ok(true)),
        register: migraphx,
    },
    ProviderRegistration {
        word: "openvino",
        is_built_in: || matches!(ep::OpenVINO::is_available(), Ok(true)),
        register: configurable!(OpenVINO, None),
    },
    ProviderRegistration {
        word: "xnnpack",
        is_built_in: || matches!(ep::XNNPACK::is_available(), Ok(true)),
        register: configurable!(XNNPACK, None),
    },
    ProviderRegistration {
        word: "directml",
        is_built_in: || matches!(ep::DirectML::is_available(), Ok(true)),
        register: directml,
    },
    ProviderRegistration {
        word: "coreml",
        is_built_in: || matches!(ep::CoreML::is_available(), Ok(true)),
        register: configurable!(CoreML, None),
    },
    ProviderRegistration {
        word: "webgpu",
        is_built_in: || matches!(ep::WebGPU::is_available(), Ok(true)),
        register: configurable!(WebGPU, Some("deviceId")),
    },
];

fn registration(provider: &Provider) -> Option<&'static ProviderRegistration> {
    let mut all = REGISTRATIONS.iter();
    all.find(|registration| registration.word == provider.word)
}

/// Whether the loaded library was built with a provider.
pub(super) fn is_built_in(provider: &Provider) -> bool {
    registration(provider).is_some_and(|own| (own.is_built_in)())
}

/// Puts a provider before the CPU in a session's list. One that the library has but that does not
/// start, because a driver or a library of the vendor is missing, is an error and never skipped.
pub(super) fn register(
    provider: &Provider,
    builder: &mut SessionBuilder,
    wanted: &ProviderRequest,
) -> Result<(), EngineError> {
    let own = registration(provider).filter(|own| (own.is_built_in)());
    let own = own.ok_or_else(|| EngineError::Unsupported(provider.missing_reason()))?;
    (own.register)(builder, wanted)
        .map_err(|reason| EngineError::Unsupported(provider.does_not_start(&reason)))
}

fn none_of(options: &[(String, String)], word: &str) -> Result<(), String> {
    match options.first() {
        None => Ok(()),
        Some((key, _)) => Err(format!("the provider {word} takes no option {key}")),
    }
}

fn directml(builder: &mut SessionBuilder, wanted: &ProviderRequest) -> Result<(), String> {
    none_of(&wanted.options, "directml")?;
    let index = wanted.index.unwrap_or(0);
    let index = i32::try_from(index).map_err(|error| error.to_string())?;
    let provider = ep::DirectML::default().with_device_id(index);
    provider
        .register(builder)
        .map_err(|error| error.to_string())
}

/// MIGraphX has a structure of its own in place of options by name; these are its names in ONNX Runtime.
fn migraphx(builder: &mut SessionBuilder, wanted: &ProviderRequest) -> Result<(), String> {
    let index = i32::try_from(wanted.index.unwrap_or(0)).map_err(|error| error.to_string())?;
    let mut provider = ep::MIGraphX::default().with_device_id(index);
    for (key, value) in &wanted.options {
        let is_on = || match value.as_str() {
            "1" | "true" | "True" => Ok(true),
            "0" | "false" | "False" => Ok(false),
            _ => Err(format!("ep.{key}={value} is neither 1 nor 0")),
        };
        provider = match key.as_str() {
            "migraphx_fp16_enable" => provider.with_fp16(is_on()?),
            "migraphx_fp8_enable" => provider.with_fp8(is_on()?),
            "migraphx_int8_enable" => provider.with_int8(is_on()?),
            "migraphx_exhaustive_tune" => provider.with_exhaustive_tune(is_on()?),
            "migraphx_int8_calibration_table_name" => {
                provider.with_int8_calibration_table(value, false)
            }
            "migraphx_save_model_path" => provider.with_save_model(value),
            "migraphx_load_model_path" => provider.with_load_model(value),
            _ => {
                return Err(format!(
                    "MIGraphX takes no option {key}; it takes migraphx_fp16_enable, migraphx_fp8_enable, migraphx_int8_enable, migraphx_int8_calibration_table_name, migraphx_exhaustive_tune, migraphx_save_model_path and migraphx_load_model_path"
                ));
            }
        };
    }
    provider
        .register(builder)
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_planning::engine_options::onnxruntime::providers::ALL;

    #[test]
    fn every_provider_is_registered_somehow() {
        let missing = ALL.iter().find(|provider| registration(provider).is_none());
        assert_eq!(missing.map(|provider| provider.word), None);
        assert_eq!(ALL.len(), REGISTRATIONS.len());
    }
}
