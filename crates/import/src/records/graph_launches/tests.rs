//! Traces with graphs, as Kineto, Nsight Systems and rocprofv3 write them.

use std::collections::BTreeMap;

use super::*;
use crate::reading::read_progress::ReadProgress;
use crate::reading::source::Limits;
use crate::testing::{database, fixture, imported, read_path};

/// The events of a trace of PyTorch's profiler, one behind the other in time.
#[derive(Default)]
struct KinetoTrace {
    events: Vec<String>,
    at_us: u64,
    link: u64,
}

impl KinetoTrace {
    fn event(&mut self, category: &str, name: &str, dur: u64, args: &str) {
        let (pid, tid) = match category {
            "kernel" | "gpu_memset" => (0, 7),
            _ => (100, 100),
        };
        self.events.push(format!(
            r#"{{"ph":"X","cat":"{category}","name":"{name}","pid":{pid},"tid":{tid},"ts":{},"dur":{dur},"args":{{{args}}}}}"#,
            self.at_us
        ));
    }

    /// A call without anything around it.
    fn call(&mut self, name: &str) {
        self.at_us += 10;
        self.link += 1;
        let args = format!(r#""correlation":{}"#, self.link);
        self.event("cuda_runtime", name, 5, &args);
    }

    /// An operator with the call that it makes.
    fn operator(&mut self, operator: &str, call: &str) {
        self.at_us += 10;
        self.event("cpu_op", operator, 20, "");
        self.call(call);
        self.at_us += 10;
    }

    /// A kernel of the call before, with further arguments.
    fn kernel(&mut self, name: &str, args: &str) {
        self.at_us += 10;
        let args = format!(r#""correlation":{}{args}"#, self.link);
        let is_set = name.starts_with("Memset");
        self.event(if is_set { "gpu_memset" } else { "kernel" }, name, 8, &args);
    }

    fn eager(&mut self, operator: &str, kernel: &str) {
        self.operator(operator, "cudaLaunchKernel");
        self.kernel(kernel, "");
    }

    /// The operators of each kernel's name, and the notes.
    fn ops(&self) -> (BTreeMap<String, Vec<String>>, Vec<String>) {
        let events = self.events.join(",\n");
        ops(&imported(format!(r#"{{"schemaVersion":1,"traceEvents":[{events}]}}"#)).unwrap())
    }
}

/// The operators of each kernel's name, and the notes.
fn ops(imported: &Imported) -> (BTreeMap<String, Vec<String>>, Vec<String>) {
    let trace = &imported.trace;
    let mut ops: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for slice in trace.slices().filter(|slice| slice.kind.is_work()) {
        let known = ops.entry(trace.names.get(slice.name).to_owned());
        let op = trace.names.get(slice.op).to_owned();
        known.or_default().push(op);
    }
    (ops, imported.notes.clone())
}

/// The argument with a node's number, of the graph 7.
fn node(number: u64) -> String {
    format!(r#","graph id":7,"graph node id":{}"#, (7 << 32) + number)
}

/// A capture of four nodes.
fn capture(trace: &mut KinetoTrace, last: &str) {
    trace.call("cudaStreamBeginCapture");
    trace.operator("aten::mm", "cudaLaunchKernelExC");
    trace.operator("aten::zero_", "cudaMemsetAsync");
    trace.operator("aten::add", "cudaLaunchKernel");
    trace.operator(last, "cuLaunchKernelEx");
    trace.call("cudaStreamEndCapture");
    trace.call("cudaGraphInstantiate");
}

#[test]
fn kernels_have_the_operator_of_the_capture_by_their_node() {
    let mut trace = KinetoTrace::default();
    capture(&mut trace, "triton_fused_mul");
    for _ in 0..2 {
        trace.call("cudaGraphLaunch");
        // Streams run side by side, so that the order in time is no order of nodes.
        trace.kernel("elementwise", &node(3));
        trace.kernel("elementwise", &node(4));
        trace.kernel("gemm", &node(0));
        trace.kernel("Memset (Device)", &node(1));
    }
    // The recording ends within the launch.
    trace.call("cudaGraphLaunch");
    trace.kernel("elementwise", &node(4));
    let (ops, notes) = trace.ops();
    assert_eq!(ops["gemm"], ["aten::mm"; 2]);
    assert_eq!(ops["Memset (Device)"], ["aten::zero_"; 2]);
    let (add, mul) = ("aten::add", "triton_fused_mul");
    assert_eq!(ops["elementwise"], [add, mul, add, mul, mul]);
    let note = "Operators of kernels, copies and sets that graphs launched: 9 have the operator that made their node";
    assert_eq!(notes, [note]);
}

#[test]
fn captures_that_differ_name_nothing() {
    let mut trace = KinetoTrace::default();
    capture(&mut trace, "aten::mul");
    capture(&mut trace, "aten::div");
    trace.operator("graph_runner", "cudaGraphLaunch");
    for (number, kernel) in [(0, "gemm"), (1, "Memset (Device)"), (3, "a"), (4, "b")] {
        trace.kernel(kernel, &node(number));
    }
    let (ops, notes) = trace.ops();
    assert!(
        ops.values().all(|ops| *ops == ["in graph_runner"]),
        "{ops:?}"
    );
    assert!(notes[0].ends_with("4 have what lies around the launch of the graph"));
}

#[test]
fn kernels_have_the_operator_of_the_same_kernels_outside() {
    let layer = [
        ("aten::addmm", "gemm"),
        ("aten::gelu", "elementwise"),
        ("aten::addmm", "gemm"),
        ("aten::add", "elementwise"),
        ("aten::layer_norm", "norm"),
    ];
    let mut trace = KinetoTrace::default();
    for (operator, kernel) in layer.iter().chain(&layer) {
        trace.eager(operator, kernel);
    }
    trace.eager("aten::argmax", "reduce");
    trace.call("hipGraphLaunch");
    for (_, kernel) in &layer {
        trace.kernel(kernel, "");
    }
    // One that ran nowhere else.
    trace.kernel("copy", "");
    let (ops, notes) = trace.ops();
    assert_eq!(ops["gemm"], ["aten::addmm"; 6]);
    let pair = ["aten::gelu", "aten::add"];
    assert_eq!(ops["elementwise"], [pair, pair, pair].concat());
    assert_eq!(ops["norm"], ["aten::layer_norm"; 3]);
    assert_eq!(ops["copy"], ["in hipGraphLaunch"]);
    let note = "Operators of kernels, copies and sets that graphs launched: 5 have that of the same kernels in the same order outside of graphs, 1 have what lies around the launch of the graph";
    assert_eq!(notes, [note]);
}

#[test]
fn neighbours_that_fit_several_operators_name_none() {
    let mut trace = KinetoTrace::default();
    for operator in ["aten::add", "aten::sub"] {
        for _ in 0..3 {
            trace.eager(operator, "elementwise");
        }
        trace.eager("aten::sum", "reduce");
    }
    trace.call("cudaGraphLaunch");
    for kernel in ["elementwise", "elementwise", "elementwise", "reduce"] {
        trace.kernel(kernel, "");
    }
    let (ops, _) = trace.ops();
    assert_eq!(ops["elementwise"][6..], ["in cudaGraphLaunch"; 3]);
    assert_eq!(ops["reduce"], ["aten::sum"; 3]);
}

#[test]
fn what_lies_around_a_launch_is_no_step() {
    let mut trace = KinetoTrace::default();
    trace.event("user_annotation", "ProfilerStep#3", 1000, "");
    trace.call("cudaGraphLaunch");
    trace.kernel("gemm", &node(0));
    trace.at_us += 1;
    trace.event("user_annotation", "decode", 100, "");
    trace.call("cudaGraphLaunch");
    trace.kernel("gemm", &node(0));
    let (ops, _) = trace.ops();
    assert_eq!(ops["gemm"], ["in cudaGraphLaunch", "in decode"]);
}

#[test]
fn what_the_program_called_a_node_comes_first() {
    let mut trace = KinetoTrace::default();
    capture(&mut trace, "aten::mul");
    trace.call("cudaGraphLaunch");
    for (number, kernel) in [(0, "gemm"), (1, "Memset (Device)"), (3, "a")] {
        trace.kernel(kernel, &node(number));
    }
    trace.kernel("b", &format!(r#"{},"name":"loss""#, node(4)));
    let (ops, notes) = trace.ops();
    assert_eq!(
        (&ops["a"][0], &ops["b"][0]),
        (&"aten::add".to_owned(), &"loss".to_owned())
    );
    assert!(notes[0].ends_with("4 have the operator that made their node"));
}

/// An export of Nsight Systems: a capture in ranges, its copy, two launches.
const NSYS: &str = include_str!("../../../../../tests/it/fuzzing/seeds/nsys-graphs.sql");

#[test]
fn nodes_of_nsys_are_followed_back_to_the_range_that_made_them() {
    let (_folder, path) = database(NSYS);
    let (ops, notes) = ops(&read_path(&path).unwrap());
    assert_eq!(ops["gemm"], ["aten::mm"; 2]);
    // Nodes that are copies of each other have no maker; what no graph launched has the range around its call.
    assert_eq!(ops["add"], ["aten::add", "in replay", "in replay"]);
    let note = "Operators of kernels, copies and sets that graphs launched: 3 have the operator that made their node, 1 have what lies around the launch of the graph";
    assert_eq!(notes, [note]);
}

#[test]
fn files_of_one_process_are_named_together() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        (
            "a_kernel_trace.csv",
            "Kind,Agent_Id,Queue_Id,Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp,Private_Segment_Size,Group_Segment_Size,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z\nKERNEL_DISPATCH,4,1,1,gemm,9,2000,3000,0,0,64,1,1,64,1,1\nKERNEL_DISPATCH,4,1,1,norm,9,3000,3500,0,0,64,1,1,64,1,1\n",
        ),
        (
            "a_hip_api_trace.csv",
            "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\nHIP_RUNTIME_API,hipGraphLaunch,1,2,9,1000,1100\n",
        ),
        (
            "a_marker_api_trace.csv",
            "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\nMARKER_CORE_API,decode,1,2,3,900,1500\n",
        ),
    ];
    let paths = files.map(|(name, text)| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    });
    let read = crate::read_all(&paths, Limits::default(), &ReadProgress::default()).unwrap();
    let (ops, notes) = ops(&read);
    assert_eq!(
        (&ops["gemm"], &ops["norm"]),
        (&vec!["in decode".to_owned()], &vec!["in decode".to_owned()])
    );
    assert!(notes[0].ends_with("2 have what lies around the launch of the graph"));
}

#[test]
fn a_real_trace_of_hip_graphs_has_no_kernel_without_an_operator() {
    let read = fixture("rpd/vllm-mytrace.rpd.gz");
    let calls = calls_that(&read.trace, is_graph_launch);
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for slice in read.trace.slices().filter(|slice| slice.kind.is_work()) {
        if calls.get(slice.link as i64).is_some() {
            let op = read.trace.names.get(slice.op);
            *counts.entry(op).or_default() += 1;
        }
    }
    assert_eq!(counts, BTreeMap::from([("in execute_model", 8360)]));
    let note = "8,360 have what lies around the launch of the graph";
    assert!(read.notes[0].ends_with(note), "{:?}", read.notes);
}
