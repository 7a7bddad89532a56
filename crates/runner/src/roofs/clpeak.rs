//! `clpeak`, a program that measures what `OpenCL` reaches on a card, where it is installed.
//!
//! Read is the file that its option `--xml-file` writes (clpeak 1.1): a `platform` has a `device` each, a device an
//! element for each test with its unit, and a test an element for each width of vectors, with the figure in it.

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use powerband_core::base::cancel::CancelToken;
use powerband_core::base::paths;
use powerband_core::base::process_spec::ProcessSpec;
use powerband_core::base::regular_file;
use powerband_core::domain::roofs::{Access, ComputeRoof, Level, MeasuredValue, MemoryRoof};
use powerband_core::domain::work::NumberFormat;
use powerband_worker::process;

const PROGRAM: &str = "clpeak";
/// It takes under a minute on a card.
const LIMIT: Duration = Duration::from_mins(2);
/// Its tests of arithmetic, and what they compute with.
const COMPUTE: [(&str, NumberFormat); 3] = [
    ("single_precision_compute", NumberFormat::F32),
    ("half_precision_compute", NumberFormat::F16),
    ("double_precision_compute", NumberFormat::F64),
];
/// What its figures say of who measured them.
const CODE: &str = "OpenCL, by clpeak";
/// Its test of memory, which reads.
const MEMORY: &str = "global_memory_bandwidth";

/// What it measured of a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ClDevice {
    /// As its `OpenCL` driver calls it.
    pub name: String,
    /// Arithmetic.
    pub compute: Vec<ComputeRoof>,
    /// Bandwidth.
    pub memory: Vec<MemoryRoof>,
}

/// Where it lies on `PATH`.
pub(super) fn find() -> Option<PathBuf> {
    paths::program_in(&env::var_os("PATH")?, PROGRAM)
}

/// Runs it on every device that `OpenCL` has.
pub(super) fn measure(program: &Path, cancel: &CancelToken) -> Result<Vec<ClDevice>, String> {
    let cannot = |reason: String| format!("clpeak ({}) failed: {reason}", program.display());
    let folder = tempfile::tempdir().map_err(|error| cannot(error.to_string()))?;
    let file = folder.path().join("clpeak.xml");
    let spec = ProcessSpec::new(program)
        .args([
            "--global-bandwidth",
            "--compute-sp",
            "--compute-dp",
            "--compute-hp",
            "--xml-file",
        ])
        .args([&file]);
    let mut finished = run(&spec, cancel).map_err(cannot)?;
    if !finished.success {
        // Versions before 1.1.3 have no test of halves.
        let spec = ProcessSpec::new(program).args(["--xml-file"]).args([&file]);
        finished = run(&spec, cancel).map_err(cannot)?;
    }
    if !finished.success {
        let last = finished.stderr.trim().lines().last().unwrap_or_default();
        return Err(cannot(
            format!("it {} {last}", finished.how).trim_end().to_owned(),
        ));
    }
    let text = regular_file::read_to_string(&file)
        .map_err(|error| cannot(format!("it wrote no XML file ({error}); version 1.1 does")))?;
    Ok(parse(&text))
}

fn run(spec: &ProcessSpec, cancel: &CancelToken) -> Result<process::Finished, String> {
    process::run_to_end(spec, LIMIT, cancel).map_err(|error| error.to_string())
}

/// The devices of its file. What is not known is passed over.
fn parse(text: &str) -> Vec<ClDevice> {
    let mut devices: Vec<ClDevice> = Vec::new();
    let mut test: Option<&str> = None;
    let mut rates: Vec<f64> = Vec::new();
    for piece in text.split('<').skip(1) {
        let Some((tag, content)) = piece.split_once('>') else {
            continue;
        };
        let name = tag.split_whitespace().next().unwrap_or_default();
        if name == "device" {
            devices.push(ClDevice {
                name: attribute(tag, "name").unwrap_or_default(),
                ..ClDevice::default()
            });
        } else if name == MEMORY || COMPUTE.iter().any(|(known, _)| *known == name) {
            test = Some(name);
            rates.clear();
        } else if let (Some(ended), Some(device)) = (name.strip_prefix('/'), devices.last_mut()) {
            if test == Some(ended) {
                device.add(ended, &rates);
                test = None;
            }
        } else if test.is_some() {
            // In giga, by the unit of every test that is read.
            let rate = content.trim().parse::<f64>().map(|rate| rate * 1e9);
            rates.extend(rate.ok().filter(|rate| rate.is_finite() && *rate > 0.0));
        }
    }
    devices.retain(|device| !device.compute.is_empty() || !device.memory.is_empty());
    devices
}

impl ClDevice {
    /// The best width of a test.
    fn add(&mut self, test: &str, rates: &[f64]) {
        let Some(best) = rates.iter().copied().reduce(f64::max) else {
            return;
        };
        // Each width is measured once, and says nothing of how far repetitions lie apart.
        let per_s = MeasuredValue {
            value: best,
            low: best,
            high: best,
            repetitions: 1,
        };
        if test == MEMORY {
            self.memory.push(MemoryRoof {
                level: Level::Memory,
                access: Access::Read,
                threads: 0,
                code: CODE.to_owned(),
                working_set_bytes: 0,
                per_s,
            });
        }
        let numbers = COMPUTE.iter().find(|(known, _)| *known == test);
        self.compute.extend(numbers.map(|(_, numbers)| ComputeRoof {
            numbers: *numbers,
            threads: 0,
            vector_bits: 0,
            code: CODE.to_owned(),
            per_s,
        }));
    }
}

/// The value of an attribute in a tag.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    let (value, _) = rest.split_once('"')?;
    let plain = value.replace("&quot;", "\"").replace("&apos;", "'");
    let plain = plain.replace("&lt;", "<").replace("&gt;", ">");
    Some(plain.replace("&amp;", "&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<clpeak os="Linux x86_64">
    <platform name="Example OpenCL">
        <device name="Example R&amp;D 9000" driver_version="1.2.3">
            <global_memory_bandwidth unit="gbps"><float>801.25</float><float2>812.50</float2></global_memory_bandwidth>
            <single_precision_compute unit="gflops"><float>20100.00</float><float2>20300.50</float2><float4>19000.00</float4></single_precision_compute>
            <half_precision_compute unit="gflops"><half>40100.00</half></half_precision_compute>
            <integer_compute unit="gflops"><int>9000.00</int></integer_compute>
            <transfer_bandwidth unit="gbps"><enqueuewritebuffer>12.00</enqueuewritebuffer></transfer_bandwidth>
            <kernel_launch_latency unit="us">6.50</kernel_launch_latency>
        </device>
        <device name="Nothing measured" driver_version="1.2.3"></device>
    </platform>
</clpeak>
"#;

    #[test]
    fn the_best_width_of_each_test_is_read() {
        let devices = parse(FILE);
        let [device] = &devices[..] else {
            panic!("{devices:?}");
        };
        assert_eq!(device.name, "Example R&D 9000");
        let compute = device.compute.iter();
        let compute: Vec<(NumberFormat, f64)> = compute
            .map(|roof| (roof.numbers, roof.per_s.value / 1e9))
            .collect();
        assert_eq!(
            compute,
            [(NumberFormat::F32, 20300.5), (NumberFormat::F16, 40100.0)]
        );
        assert_eq!(device.memory.len(), 1);
        assert!((device.memory[0].per_s.value - 812.5e9).abs() < 1.0);
    }

    #[test]
    fn what_is_broken_gives_nothing() {
        for text in [
            "",
            "<clpeak>",
            "<device",
            "</device>",
            "<single_precision_compute><float>1</float></single_precision_compute>",
            "<device name=\"x\"><single_precision_compute><float>nan</float><float2>-1</float2></single_precision_compute>",
        ] {
            assert!(parse(text).is_empty(), "{text}");
        }
        for end in 0..FILE.len() {
            if let Some(cut) = FILE.get(..end) {
                parse(cut);
            }
        }
    }

    #[test]
    fn a_program_that_writes_nothing_is_a_sentence() {
        let cancel = CancelToken::default();
        for (program, said) in [("/bin/true", "no XML file"), ("/bin/false", "failed")] {
            let reason = measure(Path::new(program), &cancel).unwrap_err();
            assert!(reason.contains(said), "{reason}");
        }
    }
}
