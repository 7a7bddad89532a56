//! Additions that wait for each other, from which the clock is known.

#![expect(unsafe_code, reason = "written in assembly")]

/// Makes 16 additions a block, each of a register that the one before has written.
///
/// An addition takes one cycle on every x86-64 (Agner Fog, Instruction tables); of registers, because newer
/// processors work constants out beforehand.
pub(in crate::roofs::code) fn additions(blocks: u64) {
    if blocks == 0 {
        return;
    }
    // SAFETY: it touches no memory, and changes no register that is not named.
    unsafe {
        std::arch::asm!(
            "2:",
            "add {sum}, {other}",
            "add {sum}, {other}",
            "add {sum}, {other}",
            "add {sum}, {other}",
            "add {sum}, {other}",
            "add {sum}, {other}",
            "add {sum}, {other}",
            "add {sum}, {other}",
            "add {sum}, {other}",
            "add {sum}, {other}",
            "add {sum}, {other}",
            "add {sum}, {other}",
            "add {sum}, {other}",
            "add {sum}, {other}",
            "add {sum}, {other}",
            "add {sum}, {other}",
            "dec {blocks}",
            "jnz 2b",
            sum = inout(reg) 1_u64 => _,
            other = in(reg) 3_u64,
            blocks = inout(reg) blocks => _,
            options(nostack, nomem),
        );
    }
}
