//! Coverage-guided fuzzing of what is taken apart by hand: one program for all parsers, of which each has a corpus of its
//! own. `scripts/fuzz-coverage` starts it.
//!
//! `POWERBAND_FUZZ_PARSER` names the parser; with `POWERBAND_FUZZ_SEEDS` a folder is filled with files to begin with, one
//! folder a parser.

#![no_main]

#[path = "../tests/it/fuzzing/seeds/mod.rs"]
mod seeds;
#[expect(
    dead_code,
    reason = "what the program does with contents is fuzzed without coverage"
)]
#[path = "../tests/it/fuzzing/targets.rs"]
mod targets;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

use powerband_core::base::humanize;
use powerband_core::domain::fill;
use powerband_core::domain::input_sizes::{self, InputSizes, NamedDim};
use powerband_core::domain::point::Point;
use powerband_core::domain::setup::Setup;
use powerband_core::domain::spelling::Spelling;
use powerband_core::domain::written::Written;
use powerband_core::domain::{sizes, sweep};
use powerband_findings::analysis::kernel_name::KernelName;
use powerband_onnx::samples::npy;
use powerband_onnx::{file, inspect, network, ort_profile, shapes};
use powerband_store::{gate_plan, session_file, settings, trace_notes};

use targets::Target;

/// Something that takes bytes apart.
struct Parser {
    name: &'static str,
    read: ParserKind,
    seeds: Vec<Vec<u8>>,
}

enum ParserKind {
    /// Reads a file of another tool.
    Import(Target),
    /// Takes bytes apart.
    Bytes(fn(&[u8])),
    /// Reads a file with this ending.
    File(&'static str, fn(&Path)),
}

impl Parser {
    /// All of them.
    fn all() -> Vec<Self> {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
        let mut parsers: Vec<Self> = Vec::new();
        let mut profiles = Vec::new();
        for mut target in targets::all(&tests) {
            let seeds = std::mem::take(&mut target.seeds);
            if target.name == "onnxruntime" {
                profiles.clone_from(&seeds);
            }
            parsers.push(Self {
                name: target.name,
                read: ParserKind::Import(target),
                seeds,
            });
        }
        let bytes = |path: &str| vec![fs::read(tests.join(path)).expect("a fixture")];
        let own = |name, read, seeds| Self { name, read, seeds };
        parsers.extend([
            own(
                "onnx",
                ParserKind::Bytes(onnx),
                bytes("fixtures/onnx/decoder.onnx"),
            ),
            own("onnx-profile", ParserKind::Bytes(onnx_profile), profiles),
            own("npy", ParserKind::File(".npy", numpy), vec![ARRAY.to_vec()]),
            own("session", ParserKind::Bytes(session), sessions(&tests)),
            own(
                "settings",
                ParserKind::File(".ron", ron_files),
                texts(&SETTINGS),
            ),
            own("options", ParserKind::Bytes(options), texts(&OPTIONS)),
            own(
                "kernel-name",
                ParserKind::Bytes(kernel_name),
                texts(&KERNELS),
            ),
        ]);
        parsers
    }

    fn take(&self, bytes: &[u8]) {
        match &self.read {
            ParserKind::Import(target) => {
                let path = scratch("");
                seeds::write(&path, bytes);
                if let Ok(imported) = target.imported(&path) {
                    targets::session_of(imported);
                }
            }
            ParserKind::Bytes(read) => read(bytes),
            ParserKind::File(end, read) => {
                let path = scratch(end);
                fs::write(&path, bytes).expect("a file in the temporary folder");
                read(&path);
            }
        }
    }
}

/// The file that is written and read again and again.
fn scratch(end: &str) -> PathBuf {
    env::temp_dir().join(format!("powerband-fuzz-{}{end}", process::id()))
}

const ARRAY: &[u8] = b"\x93NUMPY\x01\x00\x45\x00{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }         \n\0\0\0\0\0\0\0\0";
const SETTINGS: [&str; 3] = [
    "(model: \"resnet50\", setups: [\"ort\", \"rten\"], rounds: 5, budget: \"5min\", limits: {\"median\": 3.0})",
    "(version: 1, notes: [(start_ns: 5, end_ns: 9, text: \"here\")])",
    "(theme: Dark, ort_library: \"/a/b.so\", machines: {\"a\": \"ssh:b\"})",
];
const OPTIONS: [&str; 7] = [
    "ort:cuda:0,threads=4,ep.a=\"b c\",label=x",
    "input_ids=random:0..30522",
    "sequence=128,256+batch=8,4",
    "1,2,4..64",
    "tokens:1,n=batch",
    "~1,234.5–2,000",
    "1.5min",
];
const KERNELS: [&str; 3] = [
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_",
    "Cijk_Alik_Bljk_HHS_BH_Bias_HA_S_SAV_UserArgs_MT64x16x64_MI16x16x1.kd",
];

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn sessions(tests: &Path) -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    seeds::files_below(&tests.join("fixtures/sessions"), &mut paths);
    paths.retain(|path| path.extension().is_some_and(|end| end == "ron"));
    let read = paths.iter().map(|path| fs::read(path).expect("a fixture"));
    read.collect()
}

fn onnx(bytes: &[u8]) {
    let Ok(model) = file::decode(Path::new("a.onnx"), bytes) else {
        return;
    };
    inspect::summarize(&model, "a");
    network::at_point(&model, "a", Point::of_batch(2), &InputSizes::default());
}

fn onnx_profile(bytes: &[u8]) {
    drop(ort_profile::parse(Path::new("a.json"), bytes, 0));
}

fn numpy(path: &Path) {
    drop(npy::read(path, "x"));
}

fn session(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    if let Ok(opened) = session_file::from_text(Path::new("a.ron"), text) {
        drop(session_file::to_text(&opened.session));
    }
}

fn ron_files(path: &Path) {
    drop(gate_plan::read(path));
    drop(trace_notes::read(path));
    drop(settings::read(path));
}

/// Everything that is typed or stands in a plan.
fn options(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    if let Ok(setup) = text.parse::<Setup>() {
        drop(setup.to_string());
    }
    Spelling::parse(text);
    drop(text.parse::<Written>());
    drop(text.parse::<NamedDim>());
    drop(fill::parse_input(text));
    drop(input_sizes::parse_batch_axes(text));
    drop(sizes::parse("batch", text));
    // Several together may have as many points as a plan can, which takes a second.
    drop(sweep::parse([text]));
    drop(shapes::parse_override(text));
    humanize::parse_duration_ns(text);
    humanize::parse_bytes(text);
}

fn kernel_name(bytes: &[u8]) {
    KernelName::parse(&String::from_utf8_lossy(bytes)).short();
}

/// Fills a folder with files to begin with, and ends.
fn write_seeds(folder: &Path, parsers: &[Parser]) -> ! {
    for parser in parsers {
        let own = folder.join(parser.name);
        fs::create_dir_all(&own).expect("a folder for files to begin with");
        for (number, bytes) in parser.seeds.iter().enumerate() {
            fs::write(own.join(number.to_string()), bytes).expect("a file to begin with");
        }
    }
    process::exit(0)
}

/// The parser that is asked for.
fn chosen() -> &'static Parser {
    static CHOSEN: OnceLock<Parser> = OnceLock::new();
    CHOSEN.get_or_init(|| {
        let parsers = Parser::all();
        if let Some(folder) = env::var_os("POWERBAND_FUZZ_SEEDS") {
            write_seeds(Path::new(&folder), &parsers);
        }
        let name = env::var("POWERBAND_FUZZ_PARSER").unwrap_or_default();
        let names: Vec<&str> = parsers.iter().map(|parser| parser.name).collect();
        let error = format!("POWERBAND_FUZZ_PARSER={name} is none of {names:?}");
        let found = parsers.into_iter().find(|parser| parser.name == name);
        found.unwrap_or_else(|| panic!("{error}"))
    })
}

fuzz_target!(
    init: {
        chosen();
    },
    |bytes: &[u8]| chosen().take(bytes)
);
