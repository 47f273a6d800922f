//! Shuffles of AVX2. A processor without it copies value by value.

use std::arch::asm;
use std::arch::x86_64::{
    __m256i, _mm256_loadu_si256, _mm256_or_si256, _mm256_setzero_si256, _mm256_shuffle_epi8,
    _mm256_storeu_si256,
};

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
    if count < Turn::<__m256i, T>::VALUES || !std::arch::is_x86_feature_detected!("avx2") {
        return Copied::default();
    }
    // SAFETY: as the caller promises; the processor has AVX2.
    unsafe { copy_by_avx2::<T, RECEIVED>(from, to, count, turning) }
}

/// Looks at values as [`super::look`] does.
#[inline]
pub(super) fn look<T: PlainData>(octets: &[u8]) -> Copied {
    if octets.len() < Turn::<__m256i, T>::BYTES || !std::arch::is_x86_feature_detected!("avx2") {
        return Copied::default();
    }
    // SAFETY: the processor has AVX2.
    unsafe { look_by_avx2::<T>(octets) }
}

/// # Safety
/// As [`super::copy`].
#[target_feature(enable = "avx2")]
unsafe fn copy_by_avx2<T: PlainData, const RECEIVED: bool>(
    from: *const u8,
    to: *mut u8,
    count: usize,
    turning: Turning,
) -> Copied {
    // SAFETY: as the caller promises; the processor has AVX2.
    unsafe { Turn::<__m256i, T>::copy::<RECEIVED>(from, to, count, turning) }
}

#[target_feature(enable = "avx2")]
fn look_by_avx2<T: PlainData>(octets: &[u8]) -> Copied {
    // SAFETY: the processor has AVX2.
    unsafe { Turn::<__m256i, T>::look(octets) }
}

// SAFETY: 256 bits are 32 bytes.
unsafe impl Vector for __m256i {
    const BYTES: usize = 32;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn zero() -> Self {
        _mm256_setzero_si256()
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: as the caller promises; the instruction needs no alignment.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    /// Reads by an instruction of its own, since padding is not initialised: to the compiler, what
    /// an instruction returns always is.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load_any(from: *const u8) -> Self {
        let octets: Self;
        // SAFETY: the caller promises that the bytes can be read; the instruction needs no
        // alignment, writes no memory, and leaves flags and stack as they are.
        unsafe {
            asm!(
                "vmovdqu {octets}, ymmword ptr [{from}]",
                octets = lateout(ymm_reg) octets,
                from = in(reg) from,
                options(pure, readonly, nostack, preserves_flags)
            );
        }
        octets
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn shuffled(self, control: Self) -> Self {
        _mm256_shuffle_epi8(self, control)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn or(self, other: Self) -> Self {
        _mm256_or_si256(self, other)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: as the caller promises; the instruction needs no alignment.
        unsafe { _mm256_storeu_si256(to.cast(), self) }
    }
}
