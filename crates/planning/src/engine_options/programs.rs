//! Which options of a setup run a program, or load a library or code: those that are asked for where a plan is from
//! a file. Each key says it of itself.

use super::{COMMON_KEYS, Key, find};
use powerband_core::domain::setup::Setup;

/// The options of a setup that run or load something, as `key=value`, in the order of their keys.
pub fn programs(setup: &Setup) -> Vec<String> {
    let engine = find(&setup.engine);
    // What is known of all engines holds of one that is not known, too.
    let own = engine.into_iter().flat_map(|engine| engine.keys());
    let keys: Vec<&Key> = own.chain(COMMON_KEYS).collect();
    let runs = |key: &str, value: &str| {
        let known = keys.iter().find(|known| known.covers(key));
        known
            .and_then(|known| known.runs)
            .is_some_and(|runs| runs(value))
    };
    let options = setup.options.iter();
    options
        .filter(|(key, value)| runs(key, value))
        .map(|(key, value)| format!("{key}={value}"))
        .collect()
}

/// What setups would run or load, each line once: `command:cpu: run=python bench.py`.
pub fn program_lines(setups: &[Setup]) -> Vec<String> {
    let mut lines = Vec::new();
    for setup in setups {
        for program in programs(setup) {
            let line = format!("{}: {program}", setup.engine);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::key::{Takes, is_elsewhere, may_name_a_file};
    use super::super::{ALL, keys_of};
    use super::*;
    use powerband_core::domain::setup::{LOOP_KEY, MODEL_KEY};

    #[test]
    fn every_key_that_takes_free_text_says_whether_it_runs() {
        // What these name is read or compared, and nothing in it is run.
        let harmless = [
            MODEL_KEY,
            "memory",
            "keep_float",
            "calibration",
            "ranges",
            "devices",
            "cores",
            "provider",
            "pattern",
            "data",
            LOOP_KEY,
        ];
        for engine in ALL {
            for key in keys_of(*engine) {
                let is_free = matches!(
                    key.takes,
                    Takes::Path(_) | Takes::Folder(_) | Takes::Text(..) | Takes::OneOr(..)
                );
                let is_covered = key.runs.is_some() || harmless.contains(&key.name);
                assert!(!is_free || is_covered, "{} of {}", key.name, engine.id());
            }
        }
        assert!(!may_name_a_file("CPU") && !may_name_a_file("0.5") && !may_name_a_file("GPU:0"));
        assert!(may_name_a_file("/a") && may_name_a_file("a.so") && may_name_a_file("a b"));
        assert!(!is_elsewhere("here") && is_elsewhere("ssh:-oProxyCommand=x"));
    }

    #[test]
    fn what_runs_or_loads_something_is_named() {
        let plan = [
            "command,run=\"sh a.sh, b\"",
            "command,run=\"sh a.sh, b\",pattern=(?<ms>.)",
            "ort,library=/p.so,ep.backend_path=libQnnCpu.so,ep.device_type=CPU,threads=2",
            "ort,runtime=/tmp/x/libonnxruntime.so",
            "ort,runtime=1.22-cuda",
            "ort,runtime=folder",
            "torch,module=nets:tiny,python=/tmp/python",
            "rten,model=a.onnx",
        ];
        let named = program_lines(&plan.map(|spec| spec.parse().unwrap()));
        assert_eq!(
            named,
            [
                "command: run=sh a.sh, b",
                "ort: ep.backend_path=libQnnCpu.so",
                "ort: library=/p.so",
                "ort: runtime=/tmp/x/libonnxruntime.so",
                "ort: runtime=folder",
                "torch: module=nets:tiny",
                "torch: python=/tmp/python",
            ]
        );
    }

    #[test]
    fn an_engine_that_is_not_known_hides_no_program() {
        let setup: Setup = "nothing,via=\"sh -c 'touch owned' --\"".parse().unwrap();
        assert_eq!(programs(&setup).len(), 1);
    }
}
