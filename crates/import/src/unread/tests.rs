//! Small made-up beginnings of every kind, and the sentence of each.

use super::super::testing;
use super::*;

/// A name, its content, and the message: its name, and a part of what helps.
type Case<'a> = (&'a str, &'a [u8], &'a str, &'a str);
/// The same of text with an unspecific name.
type TextCase = (&'static str, &'static str, &'static str);

const TFEVENTS: &[u8] = b"\x18\0\0\0\0\0\0\0\x01\x02\x03\x04\x09\0\0\0\0\0\0\xd9\x41\x1a\x0dbrain.Event:2\x01\x02\x03\x04";
const PICKLE: &[u8] = b"\x80\x04\x95\x20\0\0\0\0\0\0\0}\x94(\x8c\x04loss\x94";

#[rustfmt::skip]
const BINARY: &[Case<'static>] = &[
    ("a.nsys-rep", b"\x01\x02\0\0", "a report of Nsight Systems", "nsys export --type sqlite "),
    ("a.QDREP", b"\x01\x02\0\0", "a report of Nsight Systems", "nsys export --type sqlite "),
    ("a.qdstrm", b"\x01\x02\0\0", "a raw stream of Nsight Systems", "nsys export"),
    ("a.bin", b"NVR\0\x10\0\0\0", "a report of Nsight Compute", " --csv --page raw"),
    ("a.ncu-rep", b"\x01\x02\0\0", "a report of Nsight Compute", "ncu --import "),
    ("a.ncu-repz", b"\x28\xb5\x2f\xfd\0", "a report of Nsight Compute", "ncu --import "),
    ("events.out", TFEVENTS, "an event file of TensorBoard", "plugins/profile/"),
    ("a", b"PERFILE2\x68\0\0\0", "a recording of perf", "perf script -i "),
    ("a", b"2ELIFREP\0\0\0\x68", "a recording of perf", "perf script -i "),
    ("a.zip", b"PK\x03\x04\x14\0", "a zip archive", "unzip "),
    ("a", b"\x28\xb5\x2f\xfd\0\0", "packed with zstd", "zstd -d "),
    ("a", b"\xfd7zXZ\0\0\x04", "packed with xz", "xz -dk "),
    ("a", b"BZh91AY&SY\0", "packed with bzip2", "bzip2 -dk "),
    ("a", b"7z\xbc\xaf\x27\x1c\0\x04", "a 7-Zip archive", "7z x "),
    ("a", b"\x08\x08\x12\x07pytorch\0", "an ONNX file", "powerband bench "),
    ("a", PICKLE, "a pickle of Python", "CSV or JSON"),
];

#[rustfmt::skip]
const TEXT: &[TextCase] = &[
    ("[[-1, 1, 37888, 7], [-1, 1, 512, 7], [1689337627000, 2, 512, 4]]", "a memory timeline of PyTorch", "profile_memory=True"),
    ("[[1689337627000, 1689337627100, 1689337627200, 1689337627300, 1689337627400], [[0, 512], [0, 1024]]]", "a memory timeline of PyTorch", "profile_memory=True"),
    ("<html><head><meta charset=\"utf-8\"/><title>GPU Memory Timeline HTML</title></head><body>\n", "a memory timeline of PyTorch", "profile_memory=True"),
    (r#"{"schema": "1.0.1", "pid": 5, "nodes": [{"name": "aten::add", "id": 2, "rf_id": 0, "fw_parent": 0, "op_schema": ""}]}"#, "an execution trace of PyTorch", "export_chrome_trace"),
    ("CodeObj,Vaddr,Instruction,Hitcount,Latency,Stall,Idle,Source\n1,6528,s_load_dwordx2,64,4096,0,0,\n", "a thread trace of rocprofv3", "--kernel-trace"),
    (r#"{"triton_poi_fused_add_0:1": {"stack_traces": ["File \"a.py\", line 1"], "post_grad_nodes": ["add"], "pre_grad_nodes": ["add"]}}"#, "a list of Inductor's kernels", "export_chrome_trace"),
    ("Mon Mar 31 10:11:18 2025\n+-----+\n| NVIDIA-SMI 535.154.05   Driver Version: 535.154.05 |\n", "an output of nvidia-smi", "nvidia-smi dmon -o DT"),
    ("==============NVSMI LOG==============\n\nTimestamp : now\n", "an output of nvidia-smi", "nvidia-smi dmon -o DT"),
    ("index, name, utilization.gpu [%], power.draw [W]\n0, A, 3 %, 70.1 W\n", "an output of nvidia-smi", "nvidia-smi dmon -o DT"),
    ("# gpu    pwr  gtemp  mtemp     sm    mem\n# Idx      W      C      C      %      %\n    0     70     40      -      0      0\n", "an output of nvidia-smi", "nvidia-smi dmon -o DT"),
    ("===== ROCm System Management Interface =====\nGPU[0] : GPU use (%): 25\n", "an output of rocm-smi", "--watch 1 --csv"),
    (r#"{"card0": {"GPU use (%)": "25"}}"#, "an output of rocm-smi", "--watch 1 --csv"),
    ("+-----+\n| AMD-SMI 26.2.1+fc0010cf6a    amdgpu version: 6.14.14  ROCm version: 7.2.4    |\n", "an output of amd-smi", "--watch 1 --csv"),
    ("GPU  POWER   GPU_T   MEM_T   GFX_CLK   GFX%\n  0   45 W   34 C   36 C   132 MHz   0 %\n", "an output of amd-smi", "--watch 1 --csv"),
    (r#"[{"gpu": 0, "usage": {"gfx_activity": {"value": 0, "unit": "%"}}}]"#, "an output of amd-smi", "--watch 1 --csv"),
    (r#"{"backend": "sglang", "dataset_name": "random", "request_rate": 1.0, "max_concurrency": 8, "sharegpt_output_len": null, "random_input_len": 9, "random_output_len": 9}"#, "a result of SGLang's benchmark", "--columns time=latency_ms"),
    ("============ Serving Benchmark Result ============\nBackend:                                 sglang\n", "a result of SGLang's benchmark", "--columns time=latency_ms"),
    ("============ Serving Benchmark Result ============\nSuccessful requests:                     9\n", "a printed result of vLLM's benchmark", "--save-result"),
    ("benchmarks:\n- type_: generative_benchmark\n  id_: a\n", "a report of GuideLLM in YAML", "benchmarks.json"),
    ("// A Powerband session. `powerband show` reads it.\n(\n  version: 1,\n", "a session of Powerband", "powerband show "),
    ("(version: 1, session: ())", "a session of Powerband", "powerband show "),
];

/// A tar archive's first block.
fn tar() -> Vec<u8> {
    let mut block = vec![0; 512];
    block[..5].copy_from_slice(b"a.csv");
    block[257..262].copy_from_slice(b"ustar");
    block
}

fn each(mut look: impl FnMut(Case<'_>)) {
    for case in BINARY {
        look(*case);
    }
    for (text, title, helps) in TEXT {
        look(("a.txt", text.as_bytes(), title, helps));
    }
    look(("a.tar", &tar(), "a tar archive", "tar -xf "));
}

#[test]
fn what_is_known_and_not_read_is_named_with_what_helps() {
    each(|(name, content, title, helps)| {
        let shown = String::from_utf8_lossy(content).into_owned();
        let error = testing::bytes(name, content).unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains(&format!("{name} is {title}")),
            "{said}\n{shown}"
        );
        assert!(said.contains(helps), "{said}\n{shown}");
        assert_eq!(said, error.in_window(), "the window says the same");
        assert!(!said.contains("FILE") && !said.ends_with('.'), "{said}");
    });
}

#[test]
fn every_kind_is_tried() {
    let mut titles: Vec<String> = Vec::new();
    each(|(_, _, title, _)| titles.push(title.to_owned()));
    for UnreadFormat(title, signs, ends, helps) in KNOWN.iter().chain(PACKED) {
        assert!(!signs.is_empty() || !ends.is_empty(), "{title}");
        assert!(!helps.is_empty());
        assert!(
            titles.iter().any(|said| title.starts_with(said)),
            "no case for {title}"
        );
    }
}

#[test]
fn what_came_by_standard_input_has_no_path_to_be_named() {
    let bytes = b"NVR\0\x10";
    let error = refusal(
        Path::new(standard_input::NAME),
        bytes,
        &FileHead::from_bytes(bytes),
    )
    .unwrap();
    let said = error.to_string();
    assert!(said.starts_with("standard input is a report"), "{said}");
    assert!(said.contains("ncu --import FILE "), "{said}");
}

#[test]
fn what_nobody_knows_stays_unknown() {
    for content in [
        &b"hello\n"[..],
        b"{\"a\": 1}",
        b"\x0a",
        b"\x0a\x05\0",
        b"\x80",
        b"\0\0\0\0",
        b"a 1.2: b\n",
    ] {
        let error = testing::bytes("a", content).unwrap_err();
        assert!(matches!(error, ImportError::Unknown { .. }), "{error}");
    }
}
