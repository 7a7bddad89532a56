//! What the machine is: processor, memory, operating system, as far as it reports them.

use std::fs;
use std::path::Path;
use std::thread;

use sysinfo::System;

use crate::version;
use powerband_core::domain::device::{Cpu, MainMemory};
use powerband_core::domain::environment::Environment;

/// Instruction sets that decide how fast a processor multiplies matrices.
const FEATURES: [&str; 12] = [
    "sse4_2",
    "avx2",
    "fma",
    "avx512f",
    "avx512_vnni",
    "avx_vnni",
    "avx512_bf16",
    "avx512_fp16",
    "amx_int8",
    "amx_bf16",
    "amx_fp16",
    "asimd",
];

/// The circumstances of a run that starts now.
pub fn environment() -> Environment {
    Environment {
        program: version::VERSION.to_owned(),
        commit: version::COMMIT.map(ToOwned::to_owned),
        project_commit: None,
        optimised_build: !cfg!(debug_assertions),
        os: System::long_os_version().unwrap_or_default(),
        kernel: System::kernel_version().unwrap_or_default(),
        arch: System::cpu_arch(),
        cpu: cpu(Path::new("/")),
        memory: memory().unwrap_or_default(),
        gpus: Vec::new(),
        load_before: System::load_average().ok().map(|load| load.one),
    }
}

/// Main memory: all of it, and what can be had now.
pub fn memory() -> Option<MainMemory> {
    let mut system = System::new().ok()?;
    system.refresh_memory();
    let limits = system.cgroup_limits();
    let within = |own: u64, limit: Option<u64>| {
        limit
            .filter(|limit| *limit > 0)
            .map_or(own, |limit| own.min(limit))
    };
    Some(MainMemory {
        total_bytes: within(
            system.total_memory(),
            limits.as_ref().map(|limits| limits.total_memory),
        ),
        available_bytes: within(
            system.available_memory(),
            limits.as_ref().map(|limits| limits.free_memory),
        ),
    })
}

/// The processor as /proc and /sys below `root` describe it.
pub fn cpu(root: &Path) -> Cpu {
    let cpuinfo = fs::read_to_string(root.join("proc/cpuinfo")).unwrap_or_default();
    let field = |name: &str| {
        cpuinfo
            .lines()
            .find_map(|line| line.split_once(':').filter(|(key, _)| key.trim() == name))
            .map(|(_, value)| value.trim().to_owned())
    };
    let flags = field("flags")
        .or_else(|| field("Features"))
        .unwrap_or_default();
    let sys = |file: &str| {
        let text = fs::read_to_string(root.join("sys/devices/system/cpu").join(file)).ok()?;
        Some(text.trim().to_owned())
    };
    Cpu {
        model: field("model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        cores: physical_cores(&cpuinfo),
        threads: thread::available_parallelism().map_or(1, usize::from),
        features: FEATURES
            .iter()
            .filter(|f| flags.split(' ').any(|have| have == **f))
            .map(ToString::to_string)
            .collect(),
        governor: sys("cpu0/cpufreq/scaling_governor"),
        boost: sys("cpufreq/boost")
            .map(|on| on == "1")
            .or_else(|| sys("intel_pstate/no_turbo").map(|off| off == "0")),
        max_mhz: sys("cpu0/cpufreq/cpuinfo_max_freq")
            .and_then(|khz| khz.parse::<f64>().ok())
            .map(|khz| khz / 1e3),
    }
}

/// Distinct pairs of socket and core; nothing where the kernel does not list them.
fn physical_cores(cpuinfo: &str) -> Option<usize> {
    let mut cores = std::collections::BTreeSet::new();
    let mut socket = String::new();
    for (key, value) in cpuinfo.lines().filter_map(|line| line.split_once(':')) {
        match key.trim() {
            "physical id" => value.trim().clone_into(&mut socket),
            "core id" => {
                cores.insert((socket.clone(), value.trim().to_owned()));
            }
            _ => {}
        }
    }
    (!cores.is_empty()).then_some(cores.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_processor_is_read() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let one = |core| {
            format!(
                "model name\t: Example 9000\nphysical id\t: 0\ncore id\t: {core}\nflags\t: fpu avx2 avx512f\n\n"
            )
        };
        write("proc/cpuinfo", &[one(0), one(0), one(1), one(1)].concat());
        write(
            "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
            "powersave\n",
        );
        write(
            "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
            "4200000\n",
        );
        write("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
        let cpu = cpu(root.path());
        assert_eq!((cpu.model.as_str(), cpu.cores), ("Example 9000", Some(2)));
        assert_eq!(cpu.features, ["avx2", "avx512f"]);
        assert_eq!(
            (cpu.governor.as_deref(), cpu.boost, cpu.max_mhz),
            (Some("powersave"), Some(false), Some(4200.0))
        );
    }

    #[test]
    fn what_is_not_told_is_unknown() {
        let root = tempfile::tempdir().unwrap();
        let cpu = cpu(root.path());
        assert_eq!(
            (cpu.cores, cpu.governor, cpu.boost, cpu.max_mhz),
            (None, None, None, None)
        );
        assert!(!cpu.model.is_empty());
    }
}
