//! Tests that shuffles copy what copying value by value does.

use super::portable::Sixteen;
use super::{Copied, Turn, Turning, controls, copy, look};
use crate::Char;
use crate::bulk::PlainData;
use crate::bulk::copy::{copy_reversed, copy_straight};

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct BinStruct {
    s: i16,
    c: Char,
    l: i32,
    o: u8,
    d: f64,
}
crate::plain_struct! { BinStruct { s: i16, c: Char, l: i32, o: u8, d: f64 } }

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Cube {
    o: u8,
    l: i32,
    s: i16,
}
crate::plain_struct! { Cube { o: u8, l: i32, s: i16 } }

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Nested {
    l: i64,
    inner: [Cube; 3],
    text: [Char; 5],
}
crate::plain_struct! { Nested { l: i64, inner: [Cube; 3], text: [Char; 5] } }

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Long {
    numbers: [u64; 40],
    o: u8,
}
crate::plain_struct! { Long { numbers: [u64; 40], o: u8 } }

/// Returns bytes none of which is zero.
fn octets(count: usize) -> Vec<u8> {
    (1..=255).cycle().take(count).collect()
}

/// Reads values from bytes.
fn values<T: PlainData>(octets: &[u8]) -> Vec<T> {
    let values = octets.chunks_exact(size_of::<T>());
    // SAFETY: any bytes of the type's size are a value.
    let values = values.map(|octets| unsafe { octets.as_ptr().cast::<T>().read_unaligned() });
    values.collect()
}

/// Checks both copies, by the vectors of the machine and by those of the test.
fn agree<T: PlainData>(has_shuffles: bool) {
    assert_eq!(Turn::<Sixteen, T>::EXISTS, has_shuffles);
    let counts: &[usize] = match cfg!(miri) {
        true => &[1, 9],
        false => &[0, 1, 3, 4, 15, 16, 17, 64, 100],
    };
    for &count in counts {
        // Neither has to be aligned.
        let offsets: &[usize] = if cfg!(miri) { &[1] } else { &[0, 1, 8] };
        for &offset in offsets {
            let source = octets(offset + count * size_of::<T>());
            let source = &source[offset..];
            for turning in [Turning::Straight, Turning::Reversed] {
                check::<T, false>(source, count, turning, false);
                check::<T, false>(source, count, turning, true);
                check::<T, true>(source, count, turning, false);
                check::<T, true>(source, count, turning, true);
            }
        }
    }
}

fn check<T: PlainData, const RECEIVED: bool>(
    source: &[u8],
    count: usize,
    turning: Turning,
    by_sixteen: bool,
) {
    let mut place = vec![0xee; source.len() + 1];
    // SAFETY: both have the bytes of `count` values.
    let Copied { count: done, chars } = unsafe {
        match by_sixteen {
            true => Turn::<Sixteen, T>::copy::<RECEIVED>(
                source.as_ptr(),
                place.as_mut_ptr(),
                count,
                turning,
            ),
            false => copy::<T, RECEIVED>(source.as_ptr(), place.as_mut_ptr(), count, turning),
        }
    };
    assert!(done <= count);
    if by_sixteen && Turn::<Sixteen, T>::EXISTS {
        assert!(count - done < Turn::<Sixteen, T>::VALUES);
    }
    let whole = values::<T>(source);
    let whole = &whole[..done];
    let mut expected = Vec::with_capacity(size_of_val(whole));
    let room = &mut expected.spare_capacity_mut()[..size_of_val(whole)];
    match turning {
        Turning::Straight => copy_straight(whole, room),
        Turning::Reversed => copy_reversed(whole, room),
    }
    // SAFETY: all of it was written.
    unsafe { expected.set_len(size_of_val(whole)) };
    let (copied, untouched) = place.split_at_mut(expected.len());
    if RECEIVED && turning == Turning::Straight {
        assert_eq!(copied, &source[..copied.len()]);
        // Nothing else is promised of its padding.
        copied.copy_from_slice(&expected);
    }
    assert_eq!(copied, expected);
    assert!(untouched.iter().all(|octet| *octet == 0xee));
    assert_eq!(chars, whole.iter().fold(0, |all, one| all | one.chars()));
    let seen = look::<T>(source);
    let looked = values::<T>(source).into_iter().take(seen.count);
    assert_eq!(seen.chars, looked.fold(0, |all, one| all | one.chars()));
}

#[test]
fn shuffled_numbers_are_those_of_single_values_and_padding_is_zero() {
    agree::<BinStruct>(true);
    agree::<Cube>(true);
    agree::<Nested>(true);
    agree::<u8>(true);
    agree::<i16>(true);
    agree::<u32>(true);
    agree::<f64>(true);
    agree::<[u16; 5]>(true);
    agree::<Char>(true);
    agree::<Long>(false);
}

#[test]
fn values_turn_round_where_they_lie() {
    let source = octets(100 * size_of::<BinStruct>());
    let mut place = values::<BinStruct>(&source);
    crate::bulk::reverse(&mut place);
    let expected: Vec<_> = values::<BinStruct>(&source)
        .into_iter()
        .map(BinStruct::in_other_order)
        .collect();
    // Some of the doubles are no numbers, and equal nothing.
    assert_eq!(format!("{place:?}"), format!("{expected:?}"));
}

#[test]
fn operands_are_offsets_in_sixteen_bytes() {
    let straight = controls(&BinStruct::LAYOUT, 2, false).unwrap();
    assert_eq!(straight[..8], [0, 1, 2, 0x80, 4, 5, 6, 7]);
    assert_eq!(
        straight[8..16],
        [8, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80]
    );
    assert_eq!(straight[24..32], [8, 9, 10, 0x80, 12, 13, 14, 15]);
    let reversed = controls(&BinStruct::LAYOUT, 2, true).unwrap();
    assert_eq!(reversed[..8], [1, 0, 2, 0x80, 7, 6, 5, 4]);
    assert_eq!(reversed[16..24], [7, 6, 5, 4, 3, 2, 1, 0]);
    assert_eq!(controls(&Long::LAYOUT, 1, true), None);
}

#[test]
fn a_number_that_crosses_a_vector_has_no_shuffle() {
    let parts = [
        crate::Part {
            offset: 0,
            layout: crate::Layout::number(4),
        },
        crate::Part {
            offset: 4,
            layout: crate::Layout::number(8),
        },
    ];
    let packed = crate::Layout::structure(12, &parts);
    assert_eq!(controls(&packed, 4, true), None);
}
