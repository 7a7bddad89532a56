//! The engine `torch`: PyTorch, in a Python that the user has, through a worker of our own in Python.
//!
//! The Python package `assets/workers/torch_worker/` does it.

use std::path::Path;

use super::{Engine, EngineError, EngineInfo, LoadRequest, LoadedModel, Requirement};
use powerband_core::base::process_spec::{ProcessSpec, Script};
use powerband_core::domain::setup::Setup;
use powerband_planning::engine_options::pytorch::PyTorch;

/// The files of the worker, a package in Python.
macro_rules! files {
    ($($name:literal,)+) => {
        &[$(($name, include_str!(concat!("../../../../assets/workers/torch_worker/", $name)))),+]
    };
}
const WORKER: Script = Script {
    name: "torch_worker",
    files: files![
        "__init__.py",
        "__main__.py",
        "availability.py",
        "cpu_contention.py",
        "errors.py",
        "export.py",
        "generation.py",
        "handlers.py",
        "importing.py",
        "inference.py",
        "measuring.py",
        "memory.py",
        "modes.py",
        "networks.py",
        "onnx_weights.py",
        "placing.py",
        "recipe.py",
        "tensors.py",
        "text_networks.py",
        "training.py",
        "training_data.py",
        "worker.py",
    ],
};
/// The Python package that has to be there.
const PACKAGE: &str = "torch";
impl Engine for PyTorch {
    fn needs(&self) -> Requirement {
        Requirement::Python { package: PACKAGE }
    }

    fn profiles(&self) -> bool {
        true
    }

    fn worker(&self, setup: &Setup, runtime: Option<&Path>) -> Option<ProcessSpec> {
        // Unbuffered, so that the end of what it says is there when it dies.
        let mut python = ProcessSpec::new(runtime?).args(["-u"]);
        let is = |key: &str, value: &str| setup.options.get(key).is_some_and(|own| own == value);
        // OpenMP reads these once, when its library is loaded.
        if is("pinning", "on") {
            python = python
                .env("OMP_PROC_BIND", "true")
                .env("OMP_PLACES", "cores");
        }
        if is("spinning", "off") {
            let settings = [
                ("OMP_WAIT_POLICY", "passive"),
                ("GOMP_SPINCOUNT", "0"),
                ("KMP_BLOCKTIME", "0"),
            ];
            for (name, value) in settings {
                python = python.env(name, value);
            }
        }
        Some(python.script(WORKER))
    }

    fn probe(&self, _runtime: Option<&Path>) -> Result<EngineInfo, EngineError> {
        Err(in_python())
    }

    fn load(&self, _request: &LoadRequest<'_>) -> Result<Box<dyn LoadedModel>, EngineError> {
        Err(in_python())
    }
}

fn in_python() -> EngineError {
    EngineError::Unsupported(
        "PyTorch is run by its worker in Python, and loads nothing here".to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn each_file_of_the_worker_goes_along() {
        let folder = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../assets/workers/torch_worker"
        );
        let names = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names
            .filter(|name| !name.starts_with("__pycache__"))
            .collect();
        names.sort();
        let along: Vec<_> = WORKER.files.iter().map(|(name, _)| *name).collect();
        assert_eq!(along, names);
    }

    #[test]
    fn the_worker_is_a_script_for_the_interpreter() {
        let setup = "torch".parse().unwrap();
        let spec = PyTorch
            .worker(&setup, Some(Path::new("/usr/bin/python3")))
            .unwrap();
        assert_eq!(spec.program, Path::new("/usr/bin/python3"));
        assert_eq!(spec.script, Some(WORKER));
        assert!(PyTorch.worker(&setup, None).is_none());
        assert!(spec.env.is_empty());
        let calm = "torch,pinning=on,spinning=off".parse().unwrap();
        let spec = PyTorch.worker(&calm, Some(Path::new("python3"))).unwrap();
        let set = |name: &str| spec.env.iter().any(|(own, _)| own == name);
        assert!(set("OMP_PROC_BIND") && set("OMP_WAIT_POLICY"));
    }
}
