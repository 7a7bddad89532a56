//! The host: processor, memory, operating system, as far as it tells.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use sysinfo::System;

use crate::domain::device::{Cpu, Memory};
use crate::domain::environment::Environment;

/// Instruction sets that decide how fast a processor multiplies matrices.
const FEATURES: [&str; 9] = [
    "sse4_2",
    "avx2",
    "fma",
    "avx512f",
    "avx512_vnni",
    "avx_vnni",
    "avx512_bf16",
    "amx_int8",
    "asimd",
];

/// The circumstances of a run that starts now.
pub fn environment() -> Environment {
    Environment {
        program: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("POWERBAND_COMMIT").map(ToOwned::to_owned),
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
pub fn memory() -> Option<Memory> {
    let mut system = System::new().ok()?;
    system.refresh_memory();
    let limits = system.cgroup_limits();
    let within = |own: u64, limit: Option<u64>| {
        limit
            .filter(|limit| *limit > 0)
            .map_or(own, |limit| own.min(limit))
    };
    Some(Memory {
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

/// How busy the machine is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostLoad {
    /// Share of all processors' time that was used since the last look, 0 to 1.
    pub cpu_share: f64,
    /// Memory that could not be had now, in bytes.
    pub memory_used_bytes: u64,
    /// All memory, in bytes.
    pub memory_total_bytes: u64,
}

/// Looks at the machine's load from time to time, at the cost of reading two small files.
#[derive(Clone, Debug)]
pub struct LoadSampler {
    root: PathBuf,
    before: Option<Ticks>,
}

/// The processors' time since the machine started, in the kernel's unit.
#[derive(Clone, Copy, Debug)]
struct Ticks {
    busy: u64,
    all: u64,
}

impl Default for LoadSampler {
    fn default() -> Self {
        Self::new()
    }
}

impl LoadSampler {
    /// Begins to look; the first sample tells what happened since now.
    pub fn new() -> Self {
        Self::under(Path::new("/"))
    }

    /// The same, with /proc below `root`.
    pub fn under(root: &Path) -> Self {
        Self {
            root: root.to_path_buf(),
            before: ticks(root),
        }
    }

    /// The load since the last look. What the system does not tell is zero.
    pub fn sample(&mut self) -> HostLoad {
        let now = ticks(&self.root);
        let spent = self.before.zip(now).map(|(before, now)| Ticks {
            // Some kernels let single counters run backwards a little.
            busy: now.busy.saturating_sub(before.busy),
            all: now.all.saturating_sub(before.all),
        });
        self.before = now;
        let meminfo = fs::read_to_string(self.root.join("proc/meminfo")).unwrap_or_default();
        let total = kibibytes(&meminfo, "MemTotal").unwrap_or(0);
        let available = kibibytes(&meminfo, "MemAvailable").unwrap_or(total);
        HostLoad {
            cpu_share: spent
                .filter(|spent| spent.all > 0)
                .map_or(0.0, |spent| spent.busy as f64 / spent.all as f64)
                .min(1.0),
            memory_used_bytes: total.saturating_sub(available),
            memory_total_bytes: total,
        }
    }
}

/// From the line `cpu  user nice system idle iowait irq softirq steal guest guest_nice`.
fn ticks(root: &Path) -> Option<Ticks> {
    let stat = fs::read_to_string(root.join("proc/stat")).ok()?;
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    // Guests' time is in the user's already.
    let fields: Vec<u64> = line
        .split_ascii_whitespace()
        .take(8)
        .map_while(|field| field.parse().ok())
        .collect();
    let all: u64 = fields.iter().sum();
    let idle: u64 = fields.iter().skip(3).take(2).sum();
    Some(Ticks {
        busy: all - idle,
        all,
    })
}

/// The bytes in a line such as `MemTotal:       16316412 kB`.
fn kibibytes(meminfo: &str, name: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let number = line.split_ascii_whitespace().next()?;
    number.parse::<u64>().ok()?.checked_mul(1024)
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

    #[test]
    fn load_is_what_happened_since_the_last_look() {
        let root = tempfile::tempdir().unwrap();
        let proc = root.path().join("proc");
        fs::create_dir(&proc).unwrap();
        let stat = |line: &str| {
            fs::write(proc.join("stat"), format!("{line}\ncpu0 9 9 9 9\n")).unwrap();
        };
        fs::write(
            proc.join("meminfo"),
            "MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    400 kB\n",
        )
        .unwrap();
        stat("cpu  100 0 100 700 100 0 0 0 50 0");
        let mut sampler = LoadSampler::under(root.path());
        stat("cpu  130 10 110 740 110 0 0 0 90 0");
        let load = sampler.sample();
        assert_eq!(
            (load.memory_used_bytes, load.memory_total_bytes),
            (600 * 1024, 1000 * 1024)
        );
        // 50 of 100 ticks were neither idle nor waiting.
        assert!((load.cpu_share - 0.5).abs() < 1e-9, "{load:?}");
        assert_eq!(sampler.sample().cpu_share, 0.0, "no time has passed");
        stat("cpu  90 0 0 0 0 0 0 0 0 0");
        assert_eq!(
            sampler.sample().cpu_share,
            0.0,
            "counters may run backwards"
        );
        fs::remove_dir_all(&proc).unwrap();
        assert_eq!(sampler.sample(), HostLoad::default());
    }

    #[test]
    fn this_machine_has_memory() {
        let load = LoadSampler::new().sample();
        assert!(load.memory_used_bytes > 0 && load.memory_used_bytes < load.memory_total_bytes);
    }
}
