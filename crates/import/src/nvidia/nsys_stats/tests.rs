//! Reports derived from a real export, and small ones as nsys prints them.

use super::*;
use crate::testing::{bytes, fixture, path, share, sum, survives_as};

const FILE: &str = "derived/nvfuser_cuda_gpu_kern_sum.csv";

#[test]
fn figures_of_kernel_sums_are_exact() {
    let read = fixture(FILE);
    assert_eq!(read.format, "nsys-stats");
    assert_eq!(read.totals.len(), 15);
    assert_eq!(
        read.totals.iter().map(|row| row.total_ns).sum::<u64>(),
        393539
    );
    assert_eq!(read.totals.iter().map(|row| row.calls).sum::<u64>(), 19);
    assert!(read.totals.iter().all(|row| row.kind == SliceKind::Kernel));
    assert_eq!(
        read.totals[1].name,
        "nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NTT"
    );
    assert_eq!(share(read.totals[1].total_ns, 393539), "22.2395");
    assert_eq!(
        (read.totals[2].min_ns, read.totals[2].max_ns),
        (Some(40448), Some(40641))
    );
    assert!(read.notes.is_empty(), "{:?}", read.notes);
}

#[test]
fn sums_are_those_of_the_export() {
    let export = fixture("nsys/nvfuser-matmul-2024.6.sqlite");
    let sums = fixture(FILE);
    let (count, time) = sum(&export, SliceKind::Kernel);
    assert_eq!(
        count as u64,
        sums.totals.iter().map(|row| row.calls).sum::<u64>()
    );
    assert_eq!(
        time,
        sums.totals.iter().map(|row| row.total_ns).sum::<u64>()
    );
}

/// The output of `nsys stats` on a terminal, kept in a file.
const PRINTED: &str = "Generating SQLite file a.sqlite from a.nsys-rep\r
Processing [a.sqlite] with [/opt/reports/nvtx_sum.py]... \r
\r
Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Style,Range\r
100.0,900,3,300.0,300.0,200,400,100.0,PushPop,:step, of mine\r
\r
Processing [a.sqlite] with [/opt/reports/osrt_sum.py]... \r
\r
Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\r
90.0,\"9,000\",3,3000.0,3000.0,3000,3000,0.0,poll\r
10.0,\"1,000\",3,333.0,333.0,300,350,0.0,cuckoo\r
\r
Processing [a.sqlite] with [/opt/reports/openmp_sum.py]... \r
SKIPPED: a.sqlite does not contain OpenMP event data.\r
\r
Processing [a.sqlite] with [/opt/reports/cuda_api_sum.py]... \r
\r
Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\r
75.0,\"1,500\",3,500.0,500.0,400,600,100.0,cudaLaunchKernel\r
25.0,500,1,500.0,500.0,500,500,0.0,cudaMalloc\r
\r
Processing [a.sqlite] with [/opt/reports/cuda_gpu_kern_sum.py]... \r
\r
Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\r
100.0,3000,3,1000.0,1000.0,900,1100,100.0,\"void f<int, (bool)1>(int, float)\"\r
\r
Processing [a.sqlite] with [/opt/reports/cuda_gpu_mem_time_sum.py]... \r
\r
Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation\r
80.0,400,2,200.0,200.0,100,300,100.0,[CUDA memcpy Host-to-Device]\r
20.0,100,1,100.0,100.0,100,100,0.0,[CUDA memset]\r
\r
Processing [a.sqlite] with [/opt/reports/cuda_gpu_mem_size_sum.py]... \r
\r
Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation\r
4.194,2,2.097,2.097,2.097,2.097,0.000,[CUDA memcpy Host-to-Device]\r
";

/// Every event, as another report has them.
const TRACED: &str = "
Processing [a.sqlite] with [/opt/reports/cuda_gpu_trace.py]...

Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name
1000,300,11,,,,,,,,,,2.097,9.0,Pinned,Device,NVIDIA H200 (1),1,,7,[CUDA memcpy Host-to-Device]
2000,1000,12,9,1,1,128,1,1,40,0.000,0.000,,,,,NVIDIA H200 (1),1,,7,\"void f<int, (bool)1>(int, float)\"
4000,1100,13,9,1,1,128,1,1,40,0.000,0.000,,,,,NVIDIA H200 (1),1,,7,\"void f<int, (bool)1>(int, float)\"
";

#[test]
fn reports_one_after_another_are_told_apart() {
    let read = bytes("a.csv", PRINTED.as_bytes()).unwrap();
    let of = |kind| -> Vec<(&str, u64, u64)> {
        let totals = read.totals.iter().filter(|total| total.kind == kind);
        totals
            .map(|total| (total.name.as_str(), total.calls, total.total_ns))
            .collect()
    };
    assert_eq!(of(SliceKind::Range), [(":step, of mine", 3, 900)]);
    assert_eq!(
        of(SliceKind::Call),
        [("cudaLaunchKernel", 3, 1500), ("cudaMalloc", 1, 500)]
    );
    assert_eq!(
        of(SliceKind::Kernel),
        [("void f<int, (bool)1>(int, float)", 3, 3000)]
    );
    assert_eq!(
        of(SliceKind::Copy),
        [("[CUDA memcpy Host-to-Device]", 2, 400)]
    );
    assert_eq!(of(SliceKind::Set), [("[CUDA memset]", 1, 100)]);
    assert_eq!(read.notes.len(), 1, "{:?}", read.notes);
    assert!(read.notes[0].contains("operating system"));
}

#[test]
fn nothing_is_told_twice() {
    let both = format!("{PRINTED}{TRACED}");
    let read = bytes("a.csv", both.as_bytes()).unwrap();
    assert_eq!(sum(&read, SliceKind::Kernel), (2, 2100));
    assert_eq!(sum(&read, SliceKind::Copy), (1, 300));
    assert!(read.totals.iter().all(|total| !total.kind.is_work()));
    assert_eq!(read.totals.len(), 3);
    assert!(read.notes[1].contains("2 reports"), "{:?}", read.notes);
    let track = &read.trace.tracks[0];
    assert_eq!(
        (track.device, track.group.as_str()),
        (Some(1), "NVIDIA H200 (1)")
    );
    let twice = format!("{PRINTED}\n{PRINTED}");
    let read = bytes("a.csv", twice.as_bytes()).unwrap();
    assert_eq!(read.totals.len(), 6);
}

#[test]
fn old_headers_are_read() {
    let old = "Time(%),Total Time,Instances,Average,Minimum,Maximum,Name\n62.5,500,5,100,80,120,k1\n37.5,\"300\",1,300,300,300,k2\n";
    let read = bytes("a.csv", old.as_bytes()).unwrap();
    let rows: Vec<(u64, u64, Option<u64>)> = read
        .totals
        .iter()
        .map(|total| (total.calls, total.total_ns, total.max_ns))
        .collect();
    assert_eq!(rows, [(5, 500, Some(120)), (1, 300, Some(300))]);
    let in_ms = "Time (%),Total Time (ms),Instances,Avg (ms),Name\n100.0,1.5,1,1.5,k\n";
    let read = bytes("a.csv", in_ms.as_bytes()).unwrap();
    assert_eq!(read.totals[0].total_ns, 1_500_000);
    let sized = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),GridXYZ,BlockXYZ,Name\n100.0,7,1,7.0,7.0,7,7,0.0,   9    1    1, 128    1    1,k\n";
    let read = bytes("a.csv", sized.as_bytes()).unwrap();
    assert_eq!(read.totals[0].name, "k <<<9    1    1, 128    1    1>>>");
}

#[test]
fn rows_that_are_none_are_counted() {
    let text = "Time (%),Total Time (ns),Instances,Name\n50.0,x,1,k\n50.0,5\n50.0,-5,1,k\n";
    let read = bytes("a.csv", text.as_bytes()).unwrap();
    assert!(read.totals.is_empty());
    assert!(read.notes[0].contains("3 rows"), "{:?}", read.notes);
    survives_as("a.csv", &std::fs::read(path(FILE)).unwrap(), 60);
    survives_as("a.csv", format!("{PRINTED}{TRACED}").as_bytes(), 300);
}
