//! Shuffles of Advanced SIMD, which all processors of this architecture have.

use std::arch::aarch64::{uint8x16_t, vdupq_n_u8, vld1q_u8, vorrq_u8, vqtbl1q_u8, vst1q_u8};
use std::arch::asm;

use super::{Copied, Turn, Turning, Vector};
use crate::bulk::layout::PlainData;

/// Copies as [`super::copy`] does.
///
/// # Safety
/// As [`super::copy`].
#[inline]
pub(super) unsafe fn copy<T: PlainData, const RECEIVED: bool>(
    from: *const u8,
    to: *mut u8,
    count: usize,
    turning: Turning,
) -> Copied {
    // SAFETY: as the caller promises.
    unsafe { Turn::<uint8x16_t, T>::copy::<RECEIVED>(from, to, count, turning) }
}

/// Looks at values as [`super::look`] does.
#[inline]
pub(super) fn look<T: PlainData>(octets: &[u8]) -> Copied {
    // SAFETY: the processor has such vectors.
    unsafe { Turn::<uint8x16_t, T>::look(octets) }
}

// SAFETY: 128 bits are 16 bytes.
unsafe impl Vector for uint8x16_t {
    const BYTES: usize = 16;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the processor has such vectors, here and below.
        unsafe { vdupq_n_u8(0) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: as the caller promises; the instruction needs no alignment.
        unsafe { vld1q_u8(from) }
    }

    /// Reads by an instruction of its own, since padding is not initialised: to the compiler, what
    /// an instruction returns always is.
    #[inline(always)]
    unsafe fn load_any(from: *const u8) -> Self {
        let octets: Self;
        // SAFETY: the caller promises that the bytes can be read; the instruction needs no
        // alignment, writes no memory, and leaves flags and stack as they are.
        unsafe {
            asm!(
                "ldr {octets:q}, [{from}]",
                octets = lateout(vreg) octets,
                from = in(reg) from,
                options(pure, readonly, nostack, preserves_flags)
            );
        }
        octets
    }

    #[inline(always)]
    unsafe fn shuffled(self, control: Self) -> Self {
        // SAFETY: as above. An operand of 128 is out of range, for which the result is 0.
        unsafe { vqtbl1q_u8(self, control) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: as above.
        unsafe { vorrq_u8(self, other) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: as the caller promises; the instruction needs no alignment.
        unsafe { vst1q_u8(to, self) }
    }
}
