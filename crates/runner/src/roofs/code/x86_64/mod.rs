//! Loops for x86-64: from SSE, which all have, to AVX-512 and AMX.

mod additions;
mod amx;
mod bytes;
mod int8;
mod multiply_add;

pub(super) use additions::additions;
pub(super) use bytes::BYTES;

use super::ComputeCode;

/// Every loop of arithmetic.
pub(super) fn compute() -> impl Iterator<Item = &'static ComputeCode> {
    let narrow = multiply_add::ALL.iter().chain(int8::ALL);
    narrow.chain(amx::ALL)
}

/// What the system does not let this process use.
pub(super) fn refused() -> Vec<String> {
    let amx = amx::is_refused().then(|| {
        "AMX was not measured: the processor has it, and the system does not let this process use it.".to_owned()
    });
    amx.into_iter().collect()
}

/// What the sums begin with, and what is multiplied and added again and again: numbers that are neither tiny nor
/// zero, with which some processors are faster or slower.
#[repr(C, align(64))]
struct Operands<T, const N: usize>([T; N], [T; N]);

/// A loop of one instruction on several sums, each of which waits only for itself.
macro_rules! multiply_add_loop {
    ($name:ident, $feature:literal, $move:literal, $instruction:literal, $operands:expr,
     $x:tt, $y:tt, [$($sum:tt)*]) => {
        #[target_feature(enable = $feature)]
        unsafe fn $name(passes: u64) {
            // SAFETY: it reads the operands, and changes no register that is not named. The caller has made sure
            // of the instructions, and that there is a pass.
            unsafe {
                std::arch::asm!(
                    concat!($move, " ", $x, ", [{operands}]"),
                    concat!($move, " ", $y, ", [{operands} + 64]"),
                    $(concat!($move, " ", $sum, ", [{operands}]"),)*
                    "2:",
                    $(concat!($instruction, " ", $sum, ", ", $x, ", ", $y),)*
                    "dec {passes}",
                    "jnz 2b",
                    operands = in(reg) &raw const $operands,
                    passes = inout(reg) passes => _,
                    $(out($sum) _,)*
                    out($x) _,
                    out($y) _,
                    options(nostack, readonly),
                );
            }
        }
    };
}
use multiply_add_loop;
