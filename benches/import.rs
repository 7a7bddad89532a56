//! What importing promises of its own speed: a trace of a million events, read and added up.
//!
//! `cargo bench --bench import` writes the trace into a temporary folder, plain and packed, and reads
//! each in a process of its own, whose memory is told; `-- --write FILE --events N` writes it alone.
//! `powerband import FILE --json`, alone and with `--out`, takes turns with Python's `json.load` of the
//! plain one; `POWERBAND_PROGRAM` names another program to measure.
//! The trace is what PyTorch would write of a training run: an operator, the call that launches, the
//! flow and the kernel, with 40 names of convolutions and 60 of elementwise kernels.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]
#![expect(
    clippy::disallowed_methods,
    reason = "each file is read by a process of its own, so that its memory can be told"
)]

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use flate2::Compression;
use flate2::write::GzEncoder;
use powerband_import as import;
use powerband_import::reading::read_progress::ReadProgress;
use powerband_import::reading::source::Limits;
use powerband_import::records::summary;

/// Events of the trace that the promise is about.
const EVENTS: usize = 1_000_000;
/// Times that each file is read.
const TURNS: usize = 5;
/// Runs a command, and prints how many seconds it took and how many KiB it had at most.
const MEASURE: &str = "import resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
/// What the program is compared with.
const JSON_LOAD: &str = "import json, sys; json.load(open(sys.argv[1]))";

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let after = |flag: &str| {
        let place = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(place + 1).cloned()
    };
    if let Some(path) = after("--read") {
        read(Path::new(&path));
        return;
    }
    let events = after("--events").map_or(EVENTS, |text| text.parse().expect("a number of events"));
    if let Some(path) = after("--write") {
        write(Path::new(&path), events).expect("the trace can be written");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (title, name, events) in [
        ("plain", "trace.json", events),
        ("packed", "trace.json.gz", events),
        ("four times as long", "long.json", 4 * events),
    ] {
        let path = folder.path().join(name);
        write(&path, events).expect("the trace can be written");
        let bytes = path.metadata().expect("it was written").len();
        println!("{title}: {events} events, {:.0} MB", bytes as f64 / 1e6);
        let program = std::env::current_exe().expect("this program");
        for _ in 0..TURNS {
            let status = Command::new(&program).arg("--read").arg(&path).status();
            assert!(status.expect("this program starts").success());
        }
        if title == "plain" {
            compare(&path);
        }
    }
}

/// Prints what importing takes beside Python's `json.load`, by turns.
fn compare(path: &Path) {
    let program = std::env::var("POWERBAND_PROGRAM");
    let program = program.unwrap_or_else(|_| env!("CARGO_BIN_EXE_powerband").to_owned());
    let out = path.with_extension("ron").display().to_string();
    let path = path.display().to_string();
    let alone = [&program, "import", &path, "--json"];
    let commands: [(&str, Vec<&str>); 3] = [
        ("json.load", vec!["python3", "-c", JSON_LOAD, &path]),
        ("import --json", alone.to_vec()),
        (
            "import --json --out",
            [&alone[..], &["--out", &out, "--force"]].concat(),
        ),
    ];
    let mut seconds: [Vec<f64>; 3] = Default::default();
    let mut kib = [0_u64; 3];
    for _ in 0..TURNS {
        for (place, (_, command)) in commands.iter().enumerate() {
            let mut python = Command::new("python3");
            let Ok(output) = python.args(["-c", MEASURE]).args(command).output() else {
                println!("  not compared with json.load: python3 cannot be started");
                return;
            };
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let (took, most) = text.trim().split_once(' ').expect("the command succeeds");
            seconds[place].push(took.parse().expect("seconds"));
            kib[place] = kib[place].max(most.parse().expect("KiB"));
        }
    }
    for (place, (title, _)) in commands.iter().enumerate() {
        seconds[place].sort_by(f64::total_cmp);
        let [least, median] = [0, TURNS / 2].map(|rank| seconds[place][rank]);
        println!(
            "  {title}: {median:.2} s, at least {least:.2} s; of json.load {:.3}, at least {:.3}; {} MiB at most",
            median / seconds[0][TURNS / 2],
            least / seconds[0][0],
            kib[place] / 1024,
        );
    }
}

/// Reads a trace and adds it up.
fn read(path: &Path) {
    let start = Instant::now();
    let imported =
        import::read(path, Limits::default(), &ReadProgress::default()).expect("a sound trace");
    let read = start.elapsed();
    let profile = summary::profile(&imported, "trace");
    let whole = start.elapsed();
    println!(
        "  {:.2} s, of which reading {:.2} s; {} slices, {} names; {} MiB at most",
        whole.as_secs_f64(),
        read.as_secs_f64(),
        imported.trace.len(),
        profile.totals.len(),
        peak_kib() / 1024,
    );
}

/// The most memory that this process had, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or_default()
}

fn write(path: &Path, events: usize) -> io::Result<()> {
    let file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    if PathBuf::from(path)
        .extension()
        .is_some_and(|end| end == "gz")
    {
        let mut packed = GzEncoder::new(file, Compression::fast());
        pour(&mut packed, events)?;
        packed.finish()?.flush()
    } else {
        let mut file = file;
        pour(&mut file, events)?;
        file.flush()
    }
}

fn pour(out: &mut impl Write, events: usize) -> io::Result<()> {
    out.write_all(
        b"{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\"id\": 0, \"name\": \"Made-up GPU\"}\n  ],\n  \"traceEvents\": [\n",
    )?;
    for step in 0..events / 4 {
        let number = step + 1;
        let at = 10.5 * step as f64;
        let is_convolution = step % 5 < 2;
        let (op, kernel) = if is_convolution {
            let kind = step / 5 % 40;
            let size = 1 << (kind % 4 + 4);
            (
                "aten::cudnn_convolution",
                format!(
                    "sm80_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nchw_tilesize{size}x{kind}x16_stage4_warpsize2x2x1_g1_tensor16x8x8_kernel_cudnn"
                ),
            )
        } else {
            let kind = step / 5 % 60;
            (
                "aten::add_",
                format!(
                    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, {kind}> >(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, {kind}>)"
                ),
            )
        };
        let comma = if step == 0 { "" } else { "," };
        write!(
            out,
            "{comma}  {{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"{op}\", \"pid\": 4711, \"tid\": 4711,\n    \"ts\": {at:.3}, \"dur\": 9.250,\n    \"args\": {{\n      \"External id\": {number},\"Record function id\": 0, \"Ev Idx\": {step}\n    }}\n  }},\n  {{\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 4711, \"tid\": 4711,\n    \"ts\": {:.3}, \"dur\": 4.125,\n    \"args\": {{\n      \"External id\": {number}, \"cbid\": 211, \"correlation\": {number}\n    }}\n  }},\n  {{\n    \"ph\": \"s\", \"id\": {number}, \"pid\": 4711, \"tid\": 4711, \"ts\": {:.3},\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  }},\n  {{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"{kernel}\", \"pid\": 0, \"tid\": 7,\n    \"ts\": {:.3}, \"dur\": {}.{:03},\n    \"args\": {{\n      \"External id\": {number}, \"queued\": 0, \"device\": 0, \"context\": 1,\n      \"stream\": 7, \"correlation\": {number},\n      \"registers per thread\": 74, \"shared memory\": 49152,\n      \"blocks per SM\": 1.75, \"warps per SM\": 14.0,\n      \"grid\": [126, 1, 1], \"block\": [256, 1, 1],\n      \"est. achieved occupancy %\": 22\n    }}\n  }}\n",
            at + 1.0,
            at + 1.0,
            at + 6.0,
            step % 7 + 1,
            step % 1000,
        )?;
    }
    out.write_all(b"  ],\n  \"traceName\": \"made-up.json\"\n}\n")
}
