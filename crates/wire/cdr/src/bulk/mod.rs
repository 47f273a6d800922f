//! Runs of numbers and of structs of them as bytes and back: the one module of this crate with
//! `unsafe`.
//!
//! It holds the few reinterpretations of memory that copying in bulk needs, each behind a safe
//! function that the rest of the crate and generated code call. `layout` tells which structs may be
//! copied as a whole, and `copy` copies them, by `shuffle` where the processor has instructions for
//! that. `scratch` keeps memory for values whose layout in
//! memory differs from that in the message. `text` has strings.

mod copy;
mod layout;
mod scratch;
mod shuffle;
mod text;

pub(crate) use copy::{append, chars_in, extend_vec, reverse, view_plain};
pub use layout::{Layout, Part, PlainData, clear, gap_end, member, prove_order};
pub(crate) use scratch::Scratch;
pub(crate) use shuffle::Turning;
pub(crate) use text::{append_plain, plain_text};

use crate::order::ByteOrder;

/// Type whose values are plain numbers of a fixed size.
///
/// # Safety
/// The type has no padding, every bit pattern is one of its values, and `SIZE` is its size.
pub(crate) unsafe trait Primitive: PlainData {
    /// Size in memory and in CDR, in bytes; also its alignment in CDR.
    const SIZE: usize = size_of::<Self>();
    /// Arbitrary value, to fill memory that is about to be overwritten.
    const ZERO: Self;
    /// Returns how bytes in an order are turned to be in the machine's, or back.
    #[inline]
    fn turning(order: ByteOrder) -> Turning {
        match Self::SIZE {
            1 => Turning::Straight,
            _ => Turning::of(order),
        }
    }
    /// Returns the number with the order of its bytes reversed.
    fn swapped(self) -> Self;
}

/// Numeric type for which every bit pattern is a value, so that numbers in shared memory may be
/// read while a peer changes them.
pub(crate) trait Number: Primitive {}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl Number for $integer {}

        // SAFETY: an integer has no padding and every bit pattern is one of its values.
        unsafe impl Primitive for $integer {
            const ZERO: Self = 0;
            #[inline]
            fn swapped(self) -> Self {
                self.swap_bytes()
            }
        }
    )*};
}

integers!(u8 i8 u16 i16 u32 i32 u64 i64);

macro_rules! floats {
    ($($float:ty)*) => {$(
        impl Number for $float {}

        // SAFETY: a float has no padding and every bit pattern is one of its values (a NaN with
        // any payload included).
        unsafe impl Primitive for $float {
            const ZERO: Self = 0.0;
            #[inline]
            fn swapped(self) -> Self {
                Self::from_bits(self.to_bits().swap_bytes())
            }
        }
    )*};
}

floats!(f32 f64);

// SAFETY: `Char` is `repr(transparent)` over `u8`.
unsafe impl Primitive for crate::Char {
    const ZERO: Self = Self(0);
    #[inline]
    fn swapped(self) -> Self {
        self
    }
}

/// Sequence of octets or numbers, whose memory is what a message in the machine's byte order has.
pub trait InMemory {
    /// Returns the memory of the elements.
    fn octets(&self) -> &[u8];
}

impl<T: Number> InMemory for [T] {
    #[inline]
    fn octets(&self) -> &[u8] {
        octets_of(self)
    }
}

/// Returns the memory of `values`, in the machine's order.
#[inline]
pub(crate) fn octets_of<T: Primitive>(values: &[T]) -> &[u8] {
    // SAFETY: the range is that of `values`, which stays borrowed; `T` has no padding, so all of
    // it is initialised; `u8` has no alignment requirement.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) }
}

/// Returns the memory of `values` to be overwritten, in the machine's order.
#[inline]
pub(crate) fn octets_of_mut<T: Primitive>(values: &mut [T]) -> &mut [u8] {
    let size = size_of_val(values);
    // SAFETY: as in `octets_of`; the borrow is exclusive, and whatever is written is a value of
    // `T`, as every bit pattern is.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast::<u8>(), size) }
}

/// Returns the memory of `values`, in which each boolean is a byte, 0 or 1.
#[inline]
pub(crate) fn octets_of_bools(values: &[bool]) -> &[u8] {
    // SAFETY: `bool` has the size of `u8`, no padding, and the values 0 and 1.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), values.len()) }
}

/// Copies bytes to values, those of each number in the stated order; bytes after the last whole
/// value are ignored.
#[inline]
pub(crate) fn vec_from_octets<T: Primitive>(octets: &[u8], turning: Turning) -> Vec<T> {
    let count = octets.len() / size_of::<T>();
    let mut values = Vec::with_capacity(count);
    if turning == Turning::Reversed {
        let octets = octets.get(..count * size_of::<T>()).unwrap_or_default();
        extend_vec(&mut values, octets, count, turning);
        return values;
    }
    // SAFETY: `values` has room for `count` values, which take `count * size_of::<T>()` octets,
    // no more than `octets` has; a fresh allocation does not overlap it; every bit pattern is a
    // value of `T`, so the `count` values are initialised after the copy.
    unsafe {
        std::ptr::copy_nonoverlapping(
            octets.as_ptr(),
            values.as_mut_ptr().cast::<u8>(),
            count * size_of::<T>(),
        );
        values.set_len(count);
    }
    values
}

/// Returns `octets` viewed as values in the machine's order, if they are aligned for such values
/// and no byte is left over.
#[inline]
pub(crate) fn view<T: Primitive>(octets: &[u8]) -> Option<&[T]> {
    // SAFETY: every bit pattern is a value of `T`; `align_to` ensures alignment and bounds.
    let (before, values, after) = unsafe { octets.align_to::<T>() };
    (before.is_empty() && after.is_empty()).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_their_octets_are_inverse() {
        let values = [1.5f64, f64::NAN, -0.0];
        let back: Vec<f64> = vec_from_octets(octets_of(&values), Turning::Straight);
        assert_eq!(
            values.map(f64::to_bits).to_vec(),
            back.iter().map(|v| v.to_bits()).collect::<Vec<_>>()
        );
    }

    #[test]
    fn leftover_octets_are_left_out_of_a_vector_and_refuse_a_view() {
        assert_eq!(vec_from_octets::<u16>(&[0, 0, 1], Turning::Straight), [0]);
        let values = [1u32, 2];
        assert_eq!(view::<u32>(octets_of(&values)), Some(&values[..]));
        assert_eq!(view::<u32>(&octets_of(&values)[..7]), None);
        assert_eq!(view::<u32>(&octets_of(&values)[1..5]), None);
    }

    #[test]
    fn empty_runs_are_empty() {
        assert!(octets_of::<u64>(&[]).is_empty());
        assert!(vec_from_octets::<u64>(&[], Turning::Straight).is_empty());
        assert!(octets_of_bools(&[]).is_empty());
    }
}
