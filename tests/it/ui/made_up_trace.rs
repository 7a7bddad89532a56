//! A trace of a small network, with times that are the same every time.

use powerband_core::domain::trace::{MemoryEvent, Slice, SliceKind, Trace, Track};

/// A few steps of a small network on one card: operators of the host, launches, and what they launched.
pub(super) fn made_up() -> Trace {
    let mut trace = Trace::default();
    let mut on = |device: Option<u32>, group: &str, name: &str| {
        trace.track(Track {
            device,
            group: group.to_owned(),
            name: name.to_owned(),
        })
    };
    let (compute, copies, comm) = (
        on(Some(0), "NVIDIA A100 80GB PCIe", "stream 7"),
        on(Some(0), "NVIDIA A100 80GB PCIe", "stream 14, copies"),
        on(Some(1), "NVIDIA A100 80GB PCIe, second", "stream 7"),
    );
    let (main, loader) = (
        on(None, "python 4711", "thread 4711, main"),
        on(None, "python 4711", "thread 4720, loader"),
    );
    let mut step = TraceSteps {
        trace,
        link: 0,
        seed: 7,
        device: 0,
        main,
        compute,
    };
    step.range("ProfilerStep#0", loader, 0, 5_900_000, SliceKind::Script);
    for number in 0..12_i64 {
        step.add_step(number, copies, comm);
    }
    step.trace
}

/// Operators, what they launch, and how long that takes at most.
const KERNELS: [(&str, &str, u64); 3] = [
    (
        "aten::conv2d",
        "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x64x16_stage4",
        34_000,
    ),
    (
        "aten::batch_norm",
        "void at::native::batch_norm_transform_input_channels_last_kernel<float, float, float, 4>(float const*)",
        12_000,
    ),
    (
        "aten::relu_",
        "void at::native::vectorized_elementwise_kernel<4, at::native::launch_clamp_scalar(at::TensorIteratorBase&)>(int)",
        6_000,
    ),
];

struct TraceSteps {
    trace: Trace,
    link: u64,
    seed: u64,
    /// Where the card is free.
    device: i64,
    main: u32,
    compute: u32,
}

impl TraceSteps {
    fn noise(&mut self, below: u64) -> i64 {
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.seed >> 33) % below) as i64
    }

    fn range(&mut self, name: &str, track: u32, from: i64, to: i64, kind: SliceKind) -> usize {
        let name = self.trace.names.number(name);
        let slice = Slice::new(kind, name, track, from, to.abs_diff(from));
        self.trace.push(slice);
        self.trace.len() - 1
    }

    fn linked(
        &mut self,
        name: &str,
        track: u32,
        (from, to): (i64, i64),
        kind: SliceKind,
        op: &str,
    ) {
        let (name, op) = (self.trace.names.number(name), self.trace.names.number(op));
        let detail = match kind {
            SliceKind::Kernel => self.trace.names.number("grid 512×1×1, block 256×1×1"),
            _ => 0,
        };
        let slice = Slice::new(kind, name, track, from, to.abs_diff(from));
        self.trace.push(Slice {
            link: self.link,
            op,
            detail,
            ..slice
        });
    }

    /// A step of the network: convolution, normalisation and activation, eight times.
    fn add_step(&mut self, number: i64, copies: u32, comm: u32) {
        let begin = number * 500_000;
        let name = format!("ProfilerStep#{}", number + 1);
        self.range(&name, self.main, begin, begin + 492_000, SliceKind::Range);
        let mut at = begin + 4_000;
        let mut device = self.device.max(begin + 30_000);
        self.link += 1;
        let copied = (at, at + 9_000);
        self.linked("cudaMemcpyAsync", self.main, copied, SliceKind::Call, "");
        let to = (at + 12_000, at + 44_000);
        self.linked(
            "Memcpy HtoD (Pinned -> Device)",
            copies,
            to,
            SliceKind::Copy,
            "",
        );
        at += 14_000;
        for layer in 0..24_i64 {
            let (operator, kernel, length) = KERNELS[layer as usize % 3];
            let host = 9_000 + self.noise(6_000);
            self.range(operator, self.main, at, at + host, SliceKind::Operator);
            if layer % 3 == 0 {
                let inner = (at + 700, at + host - 500);
                self.range(
                    "aten::cudnn_convolution",
                    self.main,
                    inner.0,
                    inner.1,
                    SliceKind::Operator,
                );
            }
            self.link += 1;
            let call = (at + 2_000, at + 5_500);
            self.linked(
                "cudaLaunchKernel",
                self.main,
                call,
                SliceKind::Call,
                operator,
            );
            device = device.max(at + 8_000);
            let took = length as i64 / 2 + self.noise(length);
            let ran = (device, device + took);
            self.linked(kernel, self.compute, ran, SliceKind::Kernel, operator);
            device += took + 900 + self.noise(1_500);
            at += host + 400 + self.noise(900);
            self.trace.memory.push(MemoryEvent {
                at_ns: at,
                device: Some(0),
                change: 0,
                total: Some(900_000_000 + (layer * 61_000_000).unsigned_abs()),
                track: None,
                op: 0,
            });
        }
        self.device = device;
        let reduced = (device - 60_000, device + 20_000);
        self.linked(
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
            comm,
            reduced,
            SliceKind::Kernel,
            "",
        );
        let waits = (at + 2_000, begin + 486_000);
        self.range(
            "cudaDeviceSynchronize",
            self.main,
            waits.0,
            waits.1,
            SliceKind::Wait,
        );
    }
}
