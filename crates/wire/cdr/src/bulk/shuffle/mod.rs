//! Copies of plain data by the processor's byte shuffles: numbers in either byte order, and zeroes
//! as padding, 16 or 32 bytes at a time.
//!
//! The bytes of consecutive values repeat a pattern: after as many values as fill a whole number of
//! vectors, a *turn*, it begins anew. Where a byte of a vector comes from is a [`Layout`]'s to say, so
//! the shuffles' operands are constants of the type. A number never crosses a vector, since its
//! offset is a multiple of its size; a layout where one did has no shuffles. What is left behind the last turn,
//! and types and processors without shuffles, are the caller's to copy value by value.

#[cfg(all(target_arch = "aarch64", target_endian = "little", not(miri)))]
mod aarch64;
#[cfg(any(miri, test))]
mod portable;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86_64;

use std::marker::PhantomData;

use super::layout::{Layout, MAPPED, PlainData};
use crate::order::ByteOrder;

#[cfg(all(target_arch = "aarch64", target_endian = "little", not(miri)))]
use aarch64 as machine;
#[cfg(miri)]
use portable as machine;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use x86_64 as machine;

/// Upper bound of the bytes of a turn.
const LONGEST: usize = 2 * MAPPED;

/// Operand of a shuffle for a byte that becomes zero.
const ZERO: u8 = 0x80;

/// Register of bytes.
///
/// # Safety
/// `BYTES` is the size, a multiple of 16.
unsafe trait Vector: Copy {
    /// Number of bytes.
    const BYTES: usize;

    /// Returns a vector of zeroes.
    ///
    /// # Safety
    /// The processor has vectors of this kind.
    unsafe fn zero() -> Self;

    /// Reads a vector.
    ///
    /// # Safety
    /// As [`Vector::zero`]; `from` is valid for reads of `BYTES` initialised bytes.
    unsafe fn load(from: *const u8) -> Self;

    /// Reads a vector from memory that may not be initialised; such bytes have any values.
    ///
    /// # Safety
    /// As [`Vector::zero`]; `from` is valid for reads of `BYTES` bytes.
    unsafe fn load_any(from: *const u8) -> Self;

    /// Selects bytes within each 16: byte `n` of the result is the one whose offset is
    /// `control[n]`, or 0 where that is [`ZERO`].
    ///
    /// # Safety
    /// As [`Vector::zero`].
    unsafe fn shuffled(self, control: Self) -> Self;

    /// Returns the bits that are set in either vector.
    ///
    /// # Safety
    /// As [`Vector::zero`].
    unsafe fn or(self, other: Self) -> Self;

    /// Writes a vector.
    ///
    /// # Safety
    /// As [`Vector::zero`]; `to` is valid for writes of `BYTES` bytes.
    unsafe fn store(self, to: *mut u8);
}

/// Order in which the bytes of numbers are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turning {
    /// As they are.
    Straight,
    /// Reversed within each number.
    Reversed,
}

impl Turning {
    /// Returns how bytes in an order are turned to be in the machine's, or back.
    #[inline]
    pub(crate) fn of(order: ByteOrder) -> Self {
        match order.is_native() {
            true => Self::Straight,
            false => Self::Reversed,
        }
    }
}

/// Copied values of plain data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Copied {
    /// Number of values.
    pub(super) count: usize,
    /// Bytes of type `char` in the values, or-ed together.
    pub(super) chars: u8,
}

/// Copies as many of `count` values as fill whole vectors from `from` to `to`. Their padding is zeroed there,
/// unless all bytes are `RECEIVED`: initialised, and what is made of them stays in the process.
///
/// # Safety
/// Both are valid for `count` values, `from` for reads and `to` for writes, without need of
/// alignment. They are the same, or do not overlap. Bytes of `from` that are padding need not be
/// initialised, unless they are `RECEIVED`.
#[inline]
pub(super) unsafe fn copy<T: PlainData, const RECEIVED: bool>(
    from: *const u8,
    to: *mut u8,
    count: usize,
    turning: Turning,
) -> Copied {
    #[cfg(any(
        miri,
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little")
    ))]
    {
        // SAFETY: as the caller promises.
        unsafe { machine::copy::<T, RECEIVED>(from, to, count, turning) }
    }
    #[cfg(not(any(
        miri,
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little")
    )))]
    {
        let _ = (from, to, count, turning);
        Copied::default()
    }
}

/// Looks at as many values at the beginning of `octets` as fill whole vectors.
#[inline]
pub(super) fn look<T: PlainData>(octets: &[u8]) -> Copied {
    #[cfg(any(
        miri,
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little")
    ))]
    {
        machine::look::<T>(octets)
    }
    #[cfg(not(any(
        miri,
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little")
    )))]
    {
        let _ = octets;
        Copied::default()
    }
}

/// Turn of values of a type by vectors of a kind.
struct Turn<V, T>(PhantomData<(V, T)>);

impl<V: Vector, T: PlainData> Turn<V, T> {
    /// Number of vectors, at least four so that a loop does enough in one
    /// step.
    const VECTORS: usize = match T::LAYOUT.size() {
        0 => 0,
        size => match size / common(size, V::BYTES) {
            few @ 1..=3 => few * 4_usize.div_ceil(few),
            many => many,
        },
    };
    /// Number of bytes.
    const BYTES: usize = Self::VECTORS * V::BYTES;
    /// Number of values.
    const VALUES: usize = match T::LAYOUT.size() {
        0 => 0,
        size => Self::BYTES / size,
    };
    /// Whether values can be shuffled, or looked at by vectors.
    const EXISTS: bool = Self::VALUES != 0 && T::LAYOUT.size() <= MAPPED && Self::BYTES <= LONGEST;
    const STRAIGHT: Option<[u8; LONGEST]> = controls(&T::LAYOUT, Self::VALUES, false);
    const REVERSED: Option<[u8; LONGEST]> = controls(&T::LAYOUT, Self::VALUES, true);

    /// Copies values as [`copy`] does.
    ///
    /// # Safety
    /// As [`copy`]; the processor has vectors of this kind.
    #[inline(always)]
    unsafe fn copy<const RECEIVED: bool>(
        from: *const u8,
        to: *mut u8,
        count: usize,
        turning: Turning,
    ) -> Copied {
        let controls = match turning {
            Turning::Straight => const { &Self::STRAIGHT },
            Turning::Reversed => const { &Self::REVERSED },
        };
        let Some(controls) = controls.as_ref().filter(|_| Self::EXISTS) else {
            return Copied::default();
        };
        // SAFETY: the processor has such vectors. `controls` has a turn's bytes, as `EXISTS` says.
        // What is not received is shuffled, and no control selects padding. What is received is
        // initialised.
        unsafe {
            if RECEIVED && turning == Turning::Straight {
                return Self::copy_by(from, to, count, |from, _| V::load(from));
            }
            let mut operands = [V::zero(); LONGEST / 16];
            for (index, operand) in operands.iter_mut().enumerate().take(Self::VECTORS) {
                *operand = V::load(controls.as_ptr().add(index * V::BYTES));
            }
            Self::copy_by(from, to, count, |from, index| {
                let octets = match RECEIVED {
                    true => V::load(from),
                    false => V::load_any(from),
                };
                let operand = operands.get(index).copied();
                octets.shuffled(operand.unwrap_unchecked())
            })
        }
    }

    /// Copies the vectors that `read` returns for each place in `from` and its number in the turn.
    ///
    /// # Safety
    /// As [`copy`]; the processor has vectors of this kind.
    #[inline(always)]
    unsafe fn copy_by(
        from: *const u8,
        to: *mut u8,
        count: usize,
        read: impl Fn(*const u8, usize) -> V,
    ) -> Copied {
        let turns = count / Self::VALUES.max(1);
        // SAFETY: the processor has such vectors. `turns` of them have no more values than `count`,
        // so no more bytes than those for which `from` and `to` are valid. Each vector is read
        // before its bytes are overwritten, where both are the same.
        unsafe {
            let mut seen = [V::zero(); LONGEST / 16];
            for turn in 0..turns {
                let begin = turn * Self::BYTES;
                for (index, seen) in seen.iter_mut().enumerate().take(Self::VECTORS) {
                    let offset = begin + index * V::BYTES;
                    let octets = read(from.add(offset), index);
                    if T::LAYOUT.has_chars() {
                        *seen = seen.or(octets);
                    }
                    octets.store(to.add(offset));
                }
            }
            Copied {
                count: turns * Self::VALUES,
                chars: Self::chars(&seen),
            }
        }
    }

    /// Looks at values as [`look`] does.
    ///
    /// # Safety
    /// The processor has vectors of this kind.
    #[inline(always)]
    unsafe fn look(octets: &[u8]) -> Copied {
        if !Self::EXISTS || octets.len() < Self::BYTES || !T::LAYOUT.has_chars() {
            return Copied::default();
        }
        let turns = octets.len() / Self::BYTES;
        // SAFETY: the processor has such vectors, and all that is read lies within `octets`.
        unsafe {
            let mut seen = [V::zero(); LONGEST / 16];
            for turn in 0..turns {
                let begin = octets.as_ptr().add(turn * Self::BYTES);
                for (index, seen) in seen.iter_mut().enumerate().take(Self::VECTORS) {
                    *seen = seen.or(V::load(begin.add(index * V::BYTES)));
                }
            }
            Copied {
                count: turns * Self::VALUES,
                chars: Self::chars(&seen),
            }
        }
    }

    /// Returns the bytes of type `char` in the values of a turn, which `seen` has instead of
    /// values.
    ///
    /// # Safety
    /// The processor has vectors of this kind.
    #[inline(always)]
    unsafe fn chars(seen: &[V; LONGEST / 16]) -> u8 {
        if !T::LAYOUT.has_chars() {
            return 0;
        }
        let mut octets = [0; LONGEST];
        let mut chars = 0;
        // SAFETY: a turn's vectors and its values have the same bytes, which `octets` has room for,
        // as `EXISTS` says. Any bytes are a value.
        unsafe {
            for (index, seen) in seen.iter().enumerate().take(Self::VECTORS) {
                seen.store(octets.as_mut_ptr().add(index * V::BYTES));
            }
            for index in 0..Self::VALUES {
                let value = octets.as_ptr().add(index * size_of::<T>()).cast::<T>();
                chars |= value.read_unaligned().chars();
            }
        }
        chars
    }
}

/// Returns the operands of the shuffles for so many values: for each byte, the offset of the one
/// that takes its place, in the 16 bytes in which both are. `None` if there are too many bytes, or a
/// number has bytes elsewhere.
#[allow(clippy::indexing_slicing, clippy::cast_possible_truncation)] // In a constant.
const fn controls(layout: &Layout, values: usize, reversed: bool) -> Option<[u8; LONGEST]> {
    let mut controls = [ZERO; LONGEST];
    let size = layout.size();
    if size > MAPPED || size * values > LONGEST {
        return None;
    }
    let mut index = 0;
    while index < size * values {
        let offset = index % size;
        if let Some(mirrored) = layout.mirrored(offset) {
            let from = index - offset + if reversed { mirrored } else { offset };
            if from / 16 != index / 16 {
                return None;
            }
            controls[index] = (from % 16) as u8;
        }
        index += 1;
    }
    Some(controls)
}

/// Returns the greatest common divisor of two sizes.
const fn common(one: usize, other: usize) -> usize {
    match other {
        0 => one,
        other => common(other, one % other),
    }
}

#[cfg(test)]
mod tests;
