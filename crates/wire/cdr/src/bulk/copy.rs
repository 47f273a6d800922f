//! Bulk copies of plain data values to bytes and back.

use std::mem::MaybeUninit;

use super::layout::PlainData;
use super::shuffle::{self, Turning};

/// Number of bytes copied before their padding is zeroed: as many as fit the processor's
/// first-level cache.
const STEP: usize = 8 << 10;

/// Appends the memory of `values`, padding zeroed, with the bytes of each number in the stated
/// order. Returns all bytes of type `char` in the values, or-ed together. `T` must not be
/// zero-sized.
#[inline]
pub(crate) fn append<T: PlainData>(bytes: &mut Vec<u8>, values: &[T], turning: Turning) -> u8 {
    let size = size_of_val(values);
    bytes.reserve(size);
    let room = bytes.spare_capacity_mut().get_mut(..size);
    let room = room.unwrap_or_default();
    let chars = match turning {
        Turning::Straight if !T::LAYOUT.is_padded() && !T::LAYOUT.has_chars() => {
            copy_straight(values, room);
            0
        }
        _ => {
            // SAFETY: both have as many bytes as `values`, and do not overlap, since `bytes` is
            // borrowed exclusively.
            let copied = unsafe {
                let from = values.as_ptr().cast();
                shuffle::copy::<T, false>(from, room.as_mut_ptr().cast(), values.len(), turning)
            };
            let values = values.get(copied.count..).unwrap_or_default();
            let room = room.get_mut(copied.count * size_of::<T>()..);
            let room = room.unwrap_or_default();
            match turning {
                Turning::Straight => copy_straight(values, room),
                Turning::Reversed => copy_reversed(values, room),
            }
            copied.chars | chars_of(values)
        }
    };
    // SAFETY: `size` bytes behind the length are within the capacity, and all of them were written:
    // by the shuffles those of the values that these counted, and the others one of the functions
    // below.
    unsafe { bytes.set_len(bytes.len() + size) };
    chars
}

/// Initialises memory with as many bytes as `values`, padding zeroed.
///
/// # Panics
/// When it has another number of bytes.
#[inline]
pub(super) fn copy_straight<T: PlainData>(values: &[T], room: &mut [MaybeUninit<u8>]) {
    assert!(
        room.len() == size_of_val(values),
        "memory of as many values"
    );
    let step = (STEP / size_of::<T>()).max(1);
    for (values, room) in values
        .chunks(step)
        .zip(room.chunks_mut(step * size_of::<T>()))
    {
        // SAFETY: both are as long as `values`: the last chunk of either holds what is left. They
        // do not overlap, since `room` is borrowed exclusively. Padding bytes need not be
        // initialised, as both sides may be uninitialised memory.
        unsafe {
            std::ptr::copy_nonoverlapping(
                values.as_ptr().cast::<MaybeUninit<u8>>(),
                room.as_mut_ptr(),
                size_of_val(values),
            );
        }
        clear_all::<T>(room);
    }
}

/// Zeroes the padding of consecutive values, several in one turn of the loop.
#[inline]
fn clear_all<T: PlainData>(memory: &mut [MaybeUninit<u8>]) {
    const AT_ONCE: usize = 8;
    if !T::LAYOUT.is_padded() {
        return;
    }
    let mut several = memory.chunks_exact_mut(size_of::<T>() * AT_ONCE);
    for several in &mut several {
        several
            .chunks_exact_mut(size_of::<T>())
            .for_each(T::clear_padding);
    }
    several
        .into_remainder()
        .chunks_exact_mut(size_of::<T>())
        .for_each(T::clear_padding);
}

/// Initialises memory as [`copy_straight`] does, each number in the byte order that is not the
/// machine's.
///
/// # Panics
/// As [`copy_straight`].
#[inline]
pub(super) fn copy_reversed<T: PlainData>(values: &[T], room: &mut [MaybeUninit<u8>]) {
    assert!(
        room.len() == size_of_val(values),
        "memory of as many values"
    );
    for (value, room) in values.iter().zip(room.chunks_exact_mut(size_of::<T>())) {
        // SAFETY: `room` is as long as a value; the write needs no alignment.
        unsafe {
            room.as_mut_ptr()
                .cast::<T>()
                .write_unaligned(value.in_other_order());
        }
        T::clear_padding(room);
    }
}

/// Returns all bytes of type `char` in the values, or-ed together.
#[inline]
fn chars_of<T: PlainData>(values: &[T]) -> u8 {
    if !T::LAYOUT.has_chars() {
        return 0;
    }
    values.iter().fold(0, |all, value| all | value.chars())
}

/// Appends `count` values from their bytes, those of each number in the stated order; the last
/// value's trailing padding may be missing. Returns all bytes of type `char` in the values, or-ed
/// together.
///
/// # Panics
/// When there are fewer bytes than that, or more than `count` values have.
#[inline]
pub(crate) fn extend_vec<T: PlainData>(
    values: &mut Vec<T>,
    octets: &[u8],
    count: usize,
    turning: Turning,
) -> u8 {
    values.reserve_exact(count);
    let room = values.spare_capacity_mut();
    let chars = fill(room, octets, count, turning);
    // SAFETY: `fill` has initialised `count` values behind the length, within the capacity.
    unsafe { values.set_len(values.len() + count) };
    chars
}

/// Initialises the first `count` values of `room`, as [`extend_vec`] does.
///
/// # Panics
/// As [`extend_vec`], and when `room` is smaller.
#[inline]
pub(super) fn fill<T: PlainData>(
    room: &mut [MaybeUninit<T>],
    octets: &[u8],
    count: usize,
    turning: Turning,
) -> u8 {
    let size = count * size_of::<T>();
    let least = size.saturating_sub(T::LAYOUT.trailing());
    assert!(
        count <= room.len() && (least..=size).contains(&octets.len()),
        "octets of as many values as there is room for"
    );
    let mut done = shuffle::Copied::default();
    if turning == Turning::Reversed || T::LAYOUT.has_chars() {
        let whole = octets.len() / size_of::<T>().max(1);
        // SAFETY: `octets` has the bytes of `whole` values, and `room` has memory for those, which
        // is borrowed exclusively.
        done = unsafe {
            shuffle::copy::<T, true>(octets.as_ptr(), room.as_mut_ptr().cast(), whole, turning)
        };
    }
    let octets = octets.get(done.count * size_of::<T>()..);
    let octets = octets.unwrap_or_default();
    let left = room.get_mut(done.count..count).unwrap_or_default();
    // SAFETY: `left` has memory for the values that are left, so for all of their bytes; it is
    // borrowed exclusively. Any bytes are values, and the part that the last value may lack is
    // padding. All of `left` is then initialised.
    let left = unsafe {
        std::ptr::copy_nonoverlapping(
            octets.as_ptr(),
            left.as_mut_ptr().cast::<u8>(),
            octets.len(),
        );
        std::slice::from_raw_parts_mut(left.as_mut_ptr().cast::<T>(), left.len())
    };
    if turning == Turning::Reversed {
        for value in &mut *left {
            *value = value.in_other_order();
        }
    }
    done.chars | chars_of(left)
}

/// Reverses the bytes of each number in the values.
#[inline]
pub(crate) fn reverse<T: PlainData>(values: &mut [T]) {
    let place: *mut T = values.as_mut_ptr();
    // SAFETY: both are the memory of `values`, which is borrowed exclusively.
    let done = unsafe {
        shuffle::copy::<T, false>(place.cast(), place.cast(), values.len(), Turning::Reversed)
    };
    for value in values.get_mut(done.count..).unwrap_or_default() {
        *value = value.in_other_order();
    }
}

/// Returns all bytes of type `char` in values that lie in `octets`, or-ed together, as far as the
/// values are whole.
#[inline]
pub(crate) fn chars_in<T: PlainData>(values: &[T], octets: &[u8]) -> u8 {
    if !T::LAYOUT.has_chars() {
        return 0;
    }
    let seen = shuffle::look::<T>(octets);
    let left = values.get(seen.count..).unwrap_or_default();
    seen.chars | chars_of(left)
}

/// Returns the front of `octets` viewed as `count` values in the machine's order, if it is aligned
/// for such values and holds all of their padding.
#[inline]
pub(crate) fn view_plain<T: PlainData>(octets: &[u8], count: usize) -> Option<&[T]> {
    let octets = octets.get(..count.checked_mul(size_of::<T>())?)?;
    // SAFETY: any bytes are a value of `T`; `align_to` ensures alignment and bounds.
    let (before, values, after) = unsafe { octets.align_to::<T>() };
    (before.is_empty() && after.is_empty() && values.len() == count).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Char;

    /// Struct with padding between its members, after the last one and in an inner struct.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    #[repr(C)]
    struct Inner {
        o: u8,
        l: i32,
    }

    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    #[repr(C)]
    struct Outer {
        d: f64,
        inner: [Inner; 2],
        c: Char,
        s: u16,
    }

    crate::plain_struct! { Inner { o: u8, l: i32 } }
    crate::plain_struct! { Outer { d: f64, inner: [Inner; 2], c: Char, s: u16 } }

    fn outer(number: u8) -> Outer {
        let inner = |o| Inner {
            o,
            l: i32::from(o) << 20,
        };
        Outer {
            d: f64::from(number) / 3.0,
            inner: [inner(number), inner(!number)],
            c: Char(number),
            s: u16::from(number) << 7,
        }
    }

    /// Returns more values than are copied in one step, and no multiple of those of one turn of a
    /// loop.
    fn several() -> Vec<Outer> {
        let step = if cfg!(miri) { 64 } else { STEP };
        let count = step / size_of::<Outer>() + 13;
        (0..=255).cycle().take(count).map(outer).collect()
    }

    /// Offsets of the padding bytes in a value of the test type `Outer`.
    const GAPS: [usize; 11] = [9, 10, 11, 17, 18, 19, 25, 28, 29, 30, 31];

    #[test]
    fn octets_are_those_of_the_numbers_and_zeroes_between_them() {
        let values = several();
        let mut bytes = vec![0x55; 3];
        append(&mut bytes, &values, Turning::Straight);
        assert_eq!(bytes.len(), 3 + size_of_val(&*values));
        for (octets, value) in bytes[3..].chunks_exact(size_of::<Outer>()).zip(&values) {
            assert!(GAPS.iter().all(|&gap| octets[gap] == 0));
            assert_eq!(octets[..8], value.d.to_ne_bytes());
            assert_eq!(octets[8], value.inner[0].o);
            assert_eq!(octets[20..24], value.inner[1].l.to_ne_bytes());
            assert_eq!(octets[24], value.c.0);
            assert_eq!(octets[26..28], value.s.to_ne_bytes());
        }
    }

    #[test]
    fn numbers_turn_round_and_padding_stays_zero() {
        let values = several();
        let (mut turned, mut straight) = (Vec::new(), Vec::new());
        append(&mut turned, &values, Turning::Reversed);
        let back: Vec<Outer> = values.iter().map(|value| value.in_other_order()).collect();
        append(&mut straight, &back, Turning::Straight);
        assert_eq!(turned, straight);
        assert_ne!(back, values);
    }

    #[test]
    fn values_come_back_with_or_without_the_padding_behind_the_last() {
        let values = several();
        let mut bytes = Vec::new();
        append(&mut bytes, &values, Turning::Straight);
        assert_eq!(Outer::LAYOUT.trailing(), 4);
        for missing in 0..=4 {
            let mut back = vec![outer(1)];
            let octets = &bytes[..bytes.len() - missing];
            extend_vec(&mut back, octets, values.len(), Turning::Straight);
            assert_eq!(back[1..], values);
        }
    }

    #[test]
    #[should_panic(expected = "as many values")]
    fn too_few_octets_are_no_values() {
        extend_vec(&mut Vec::<Outer>::new(), &[0; 27], 1, Turning::Straight);
    }

    #[test]
    fn values_are_seen_where_they_may_lie() {
        let values = several();
        let mut memory = Vec::new();
        append(&mut memory, &values, Turning::Straight);
        // An allocator may put bytes anywhere: the result has to agree with their alignment.
        let is_aligned = memory.as_ptr().cast::<Outer>().is_aligned();
        let seen = view_plain::<Outer>(&memory, values.len());
        assert_eq!(seen, is_aligned.then_some(&*values));
        let shifted = view_plain::<Outer>(&memory[1..], values.len() - 1);
        assert!(shifted.is_none() || !is_aligned);
        assert!(view_plain::<Outer>(&memory, values.len() + 1).is_none());
        assert!(view_plain::<Outer>(&memory, usize::MAX).is_none());
    }
}
