//! The execution providers of ONNX Runtime: what a setup calls them, where they run, what they take.
//!
//! A setup's device says where, its `provider=` says with what. To add a provider: a line in [`ALL`], and how a worker
//! registers it.

use std::collections::BTreeMap;

use powerband_core::domain::setup::Setup;

/// What stands before the name of an option that goes to the provider as it is.
const OPTION: &str = "ep.";

/// One execution provider.
pub struct Provider {
    /// What a setup calls it.
    pub word: &'static str,
    /// Its display name.
    pub title: &'static str,
    /// Devices that it runs on, the one that it is meant for first.
    pub devices: &'static [&'static str],
    /// Flavor of the library that has it, for the command that fetches it.
    flavor: Option<&'static str>,
}

/// Every provider; the first one that runs on a device is the device's own.
pub const ALL: &[Provider] = &[
    Provider {
        word: "cpu",
        title: "CPU",
        devices: &["cpu"],
        flavor: None,
    },
    Provider {
        word: "cuda",
        title: "CUDA",
        devices: &["cuda"],
        flavor: Some("cuda"),
    },
    Provider {
        word: "rocm",
        title: "ROCm",
        devices: &["rocm"],
        flavor: Some("rocm"),
    },
    Provider {
        word: "tensorrt",
        title: "TensorRT",
        devices: &["cuda"],
        flavor: Some("cuda"),
    },
    Provider {
        word: "migraphx",
        title: "MIGraphX",
        devices: &["rocm"],
        flavor: Some("migraphx"),
    },
    Provider {
        word: "openvino",
        title: "OpenVINO",
        devices: &["cpu", "gpu", "npu"],
        flavor: Some("openvino"),
    },
    Provider {
        word: "xnnpack",
        title: "XNNPACK",
        devices: &["cpu"],
        flavor: None,
    },
    Provider {
        word: "directml",
        title: "DirectML",
        devices: &["dml"],
        flavor: Some("directml"),
    },
    Provider {
        word: "coreml",
        title: "CoreML",
        devices: &["cpu", "npu"],
        flavor: None,
    },
    Provider {
        word: "webgpu",
        title: "WebGPU",
        devices: &["gpu"],
        flavor: None,
    },
];

/// What a setup asks of a provider.
#[derive(Clone, Debug, Default)]
pub struct ProviderRequest {
    /// Which device of its kind, where the setup says.
    pub index: Option<u32>,
    /// Options that go to the provider as they are.
    pub options: Vec<(String, String)>,
}

/// What setups call them.
pub const WORDS: [&str; ALL.len()] = {
    let mut words = [""; ALL.len()];
    let mut place = 0;
    while place < ALL.len() {
        words[place] = ALL[place].word;
        place += 1;
    }
    words
};

/// The provider of a setup: the one that it names, else the one of its device.
pub fn provider_of_setup(setup: &Setup) -> Result<&'static Provider, String> {
    let (kind, index) = device(setup)?;
    let provider = match setup.options.get("provider") {
        Some(word) => find(word)?,
        None => ALL
            .iter()
            .find(|provider| provider.devices.contains(&kind))
            .ok_or_else(|| no_device(kind))?,
    };
    if !provider.devices.contains(&kind) {
        return Err(format!(
            "provider={} runs on {}, not on {kind}; write ort:{},provider={}",
            provider.word,
            provider.devices.join(", "),
            provider.devices.first().unwrap_or(&"cpu"),
            provider.word
        ));
    }
    if kind == "cpu" && index.is_some() {
        return Err("the cpu is one device; write ort:cpu".to_owned());
    }
    Ok(provider)
}

/// What computes on each kind of device where a setup names no provider.
pub fn default_providers() -> BTreeMap<String, String> {
    let mut usual = BTreeMap::new();
    for provider in ALL {
        for kind in provider.devices {
            let of_kind = usual.entry((*kind).to_owned());
            of_kind.or_insert_with(|| provider.word.to_owned());
        }
    }
    usual
}

/// What a setup asks of its provider.
pub fn provider_request(setup: &Setup) -> ProviderRequest {
    let options = setup.options.iter().filter_map(|(key, value)| {
        let name = key.strip_prefix(OPTION)?;
        Some((name.to_owned(), value.clone()))
    });
    let mut options: Vec<(String, String)> = options.collect();
    // OpenVINO's devices are an option like any other: the setup's device says which, unless the user does.
    let kind = setup.device.split(':').next().unwrap_or_default();
    let is_openvino = provider_of_setup(setup).is_ok_and(|provider| provider.word == "openvino");
    if is_openvino && !options.iter().any(|(key, _)| key == "device_type") {
        options.push(("device_type".to_owned(), kind.to_uppercase()));
    }
    ProviderRequest {
        index: device(setup).ok().and_then(|(_, index)| index),
        options,
    }
}

fn find(word: &str) -> Result<&'static Provider, String> {
    let known = ALL.iter().find(|provider| provider.word == word);
    known.ok_or_else(|| {
        format!(
            "provider={word} is not known; there are {}",
            WORDS.join(", ")
        )
    })
}

/// Kind and number of a setup's device.
fn device(setup: &Setup) -> Result<(&str, Option<u32>), String> {
    match setup.device.split_once(':') {
        None => Ok((&setup.device, None)),
        Some((kind, number)) => match number.parse() {
            Ok(index) => Ok((kind, Some(index))),
            Err(_) => Err(format!(
                "{} is no device; write for example {kind}:0",
                setup.device
            )),
        },
    }
}

fn no_device(kind: &str) -> String {
    if let Some(provider) = ALL.iter().find(|provider| provider.word == kind) {
        let device = provider.devices.first().unwrap_or(&"cpu");
        return format!("{kind} is a provider; write ort:{device},provider={kind}");
    }
    let mut kinds: Vec<&str> = ALL.iter().flat_map(|p| p.devices).copied().collect();
    kinds.sort_unstable();
    kinds.dedup();
    format!(
        "ONNX Runtime knows no device {kind}; there are {}",
        kinds.join(", ")
    )
}

impl Provider {
    /// Why the loaded library cannot use it, and what helps.
    pub fn missing_reason(&self) -> String {
        let help = self.flavor.map_or_else(String::new, |flavor| {
            format!(
                "; `powerband engines install onnxruntime --flavor {flavor}` fetches one that was, where there is one for this system, and runtime= chooses among several"
            )
        });
        format!("this ONNX Runtime was built without {}{help}", self.title)
    }

    /// Why it does not start, by what the library says.
    pub fn does_not_start(&self, reason: &str) -> String {
        match missing_library(reason) {
            Some(library) if self.devices.contains(&"cuda") => format!(
                "{} does not start: {library} was not found; `python -m pip install \"onnxruntime-gpu[cuda,cudnn]\"` in the environment of this ONNX Runtime installs CUDA and cuDNN, and LD_LIBRARY_PATH names folders of other copies",
                self.title
            ),
            Some(library) => format!(
                "{} does not start: {library} was not found; its driver and libraries have to be installed, and their folder known to the system (LD_LIBRARY_PATH)",
                self.title
            ),
            None => format!(
                "{} does not start: {}; its driver and libraries have to be installed, and its ep. options right",
                self.title,
                reason.trim()
            ),
        }
    }
}

/// The library that the system's loader did not find, by its message.
fn missing_library(reason: &str) -> Option<&str> {
    let (before, _) = reason.split_once(": cannot open shared object file")?;
    before.rsplit(' ').next().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_was_not_found_is_named_with_what_installs_it() {
        let reason = "provider_bridge.cc:2043 Failed to load library /capi/libonnxruntime_providers_cuda.so with error: libcublasLt.so.13: cannot open shared object file: No such file or directory";
        let said = |word: &str| find(word).unwrap().does_not_start(reason);
        assert!(
            said("cuda").starts_with("CUDA does not start: libcublasLt.so.13 was not found; "),
            "{}",
            said("cuda")
        );
        assert!(said("cuda").contains("onnxruntime-gpu[cuda,cudnn]"));
        assert!(!said("migraphx").contains("onnxruntime-gpu"));
        let other = find("cuda").unwrap().does_not_start("no such option");
        assert!(other.contains("no such option"), "{other}");
    }

    fn word(spec: &str) -> Result<&'static str, String> {
        provider_of_setup(&spec.parse().unwrap()).map(|provider| provider.word)
    }

    #[test]
    fn a_setup_has_the_provider_that_it_names_or_that_of_its_device() {
        assert_eq!(word("ort"), Ok("cpu"));
        assert_eq!(word("ort:cuda:1"), Ok("cuda"));
        assert_eq!(word("ort:cuda:0,provider=tensorrt"), Ok("tensorrt"));
        assert_eq!(word("ort:rocm:0,provider=migraphx"), Ok("migraphx"));
        assert_eq!(word("ort:cpu,provider=openvino"), Ok("openvino"));
        assert_eq!(word("ort:dml:0"), Ok("directml"));
    }

    #[test]
    fn what_cannot_be_is_said_with_what_can() {
        let fault = |spec| word(spec).unwrap_err();
        assert!(fault("ort:openvino").contains("ort:cpu,provider=openvino"));
        assert!(fault("ort:tpu").contains("cpu, cuda, dml"));
        assert!(fault("ort:cuda:x").contains("cuda:0"));
        assert!(fault("ort:cpu,provider=tensorrt").contains("ort:cuda,provider=tensorrt"));
        assert!(fault("ort:cpu,provider=abacus").contains("migraphx"));
        assert!(fault("ort:cpu:1").contains("one device"));
    }

    #[test]
    fn options_go_to_the_provider_by_their_own_names() {
        let of = |spec: &str| provider_request(&spec.parse().unwrap());
        let cuda = of("ort:cuda:1,ep.cudnn_conv_algo_search=HEURISTIC");
        assert_eq!(cuda.index, Some(1));
        let pair = ("cudnn_conv_algo_search".to_owned(), "HEURISTIC".to_owned());
        assert_eq!(cuda.options, [pair]);
        let openvino = of("ort:gpu,provider=openvino");
        assert_eq!(
            openvino.options,
            [("device_type".to_owned(), "GPU".to_owned())]
        );
    }
}
