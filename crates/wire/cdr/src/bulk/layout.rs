//! Types whose values lie in memory as they do on the wire: plain numbers, arrays of them, and
//! structs of both.
//!
//! CDR aligns the members of a struct one by one and never the struct itself, nor does it pad its
//! end (CORBA 3.3 part 2, §9.3.2.1): the offset of a struct decides the offsets of its members. A
//! [`Layout`] says, for values that begin at a multiple of their alignment, whether each number is
//! where the compiler put it, and whether the values of a sequence then follow each other as the
//! elements of a slice do. It is computed at compile time, from the offsets that the compiler
//! chose; a type whose layouts differ is transmitted number by number.

use std::mem::MaybeUninit;

/// Type that consists of plain numbers.
///
/// [`plain_struct!`](crate::plain_struct) implements it for structs.
///
/// # Safety
/// Any bytes of the type's size are a valid value, `LAYOUT` is the type's, and
/// [`clear_padding`](PlainData::clear_padding) writes each byte that is not part of a number.
pub unsafe trait PlainData: Copy + 'static {
    /// Layout of the type's numbers, in memory and in CDR.
    const LAYOUT: Layout;

    /// Returns the value with the bytes of each number reversed.
    #[must_use]
    fn in_other_order(self) -> Self;

    /// Returns all bytes of type `char` in the value, or-ed together; 0 if there are none.
    #[must_use]
    fn chars(&self) -> u8;

    /// Zeroes the padding between the numbers of a value.
    ///
    /// # Panics
    /// When `memory` is not as long as a value.
    fn clear_padding(memory: &mut [MaybeUninit<u8>]);
}

/// Layout of the numbers of a type, in memory and in CDR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Size of a value in memory, in bytes.
    size: usize,
    /// Greatest alignment of any number in the type.
    alignment: usize,
    /// Alignment of the type's first number.
    first: usize,
    /// Offset of the end of the type's last number.
    end: usize,
    /// `true` if from a multiple of `alignment` on, CDR has each number where memory has it.
    agrees: bool,
    /// `true` if memory has bytes that are not part of a number.
    is_padded: bool,
    has_chars: bool,
    /// Places of the numbers in a value of at most [`MAPPED`] bytes; of a longer one, of those
    /// that end before.
    numbers: Places,
}

/// Size in bytes of the longest value whose numbers a [`Layout`] has the places of.
pub(super) const MAPPED: usize = 256;

/// Set of bytes of a value, one bit for each, and the first of each number among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Places {
    covered: [u64; MAPPED / 64],
    first: [u64; MAPPED / 64],
}

impl Places {
    const NONE: Self = Self {
        covered: [0; MAPPED / 64],
        first: [0; MAPPED / 64],
    };

    const fn number(size: usize) -> Self {
        let mut this = Self::NONE;
        this.first[0] = 1;
        this.covered[0] = if size < 64 { (1 << size) - 1 } else { u64::MAX };
        this
    }

    /// Returns the union with the places of a part at an offset.
    #[allow(clippy::indexing_slicing)] // An iterator cannot be used in a constant.
    const fn with(mut self, part: Self, offset: usize) -> Self {
        let (words, bits) = (offset / 64, offset % 64);
        let mut index = 0;
        while index + words < MAPPED / 64 {
            self.covered[index + words] |= part.covered[index] << bits;
            self.first[index + words] |= part.first[index] << bits;
            if bits != 0 && index + words + 1 < MAPPED / 64 {
                self.covered[index + words + 1] |= part.covered[index] >> (64 - bits);
                self.first[index + words + 1] |= part.first[index] >> (64 - bits);
            }
            index += 1;
        }
        self
    }
}

#[allow(clippy::indexing_slicing)] // An iterator cannot be used in a constant.
const fn has_bit(set: &[u64; MAPPED / 64], index: usize) -> bool {
    index < MAPPED && set[index / 64] >> (index % 64) & 1 == 1
}

/// Member of a struct, with its offset and its layout.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Offset of the member in the struct, in bytes.
    pub offset: usize,
    /// Layout of the numbers in the member.
    pub layout: Layout,
}

impl Layout {
    /// Returns the layout of a number of `size` bytes.
    #[must_use]
    pub const fn number(size: usize) -> Self {
        Self {
            size,
            alignment: size,
            first: size,
            end: size,
            agrees: true,
            is_padded: false,
            has_chars: false,
            numbers: Places::number(size),
        }
    }

    /// Returns the layout of the IDL type `char`.
    #[must_use]
    pub const fn character() -> Self {
        Self {
            has_chars: true,
            ..Self::number(1)
        }
    }

    /// Returns the layout of an array of `count` elements.
    #[must_use]
    pub const fn array(element: Self, count: usize) -> Self {
        if count == 0 {
            return Self {
                size: 0,
                end: 0,
                agrees: false,
                is_padded: false,
                numbers: Places::NONE,
                ..element
            };
        }
        let (mut numbers, mut offset) = (Places::NONE, 0);
        while element.size != 0 && offset < element.size * count && offset < MAPPED {
            numbers = numbers.with(element.numbers, offset);
            offset += element.size;
        }
        Self {
            numbers,
            size: element.size * count,
            end: element.size * (count - 1) + element.end,
            agrees: if count == 1 {
                element.agrees
            } else {
                element.is_contiguous()
            },
            ..element
        }
    }

    /// Returns the layout of a struct of `size` bytes with these members, in the order of their
    /// declaration.
    #[must_use]
    #[allow(clippy::indexing_slicing)] // An iterator cannot be used in a constant.
    pub const fn structure(size: usize, parts: &[Part]) -> Self {
        let mut this = Self {
            size,
            alignment: 1,
            first: 1,
            end: 0,
            agrees: !parts.is_empty(),
            is_padded: false,
            has_chars: false,
            numbers: Places::NONE,
        };
        let (mut on_wire, mut occupied, mut index) = (0_usize, 0, 0);
        while index < parts.len() {
            let Part { offset, layout } = parts[index];
            if index == 0 {
                this.first = layout.first;
            }
            if layout.alignment > this.alignment {
                this.alignment = layout.alignment;
            }
            let begin = on_wire.next_multiple_of(layout.first);
            // A member agrees only from a multiple of its own alignment on.
            this.agrees &= layout.agrees && begin == offset && begin % layout.alignment == 0;
            this.is_padded |= layout.is_padded;
            this.has_chars |= layout.has_chars;
            this.numbers = this.numbers.with(layout.numbers, offset);
            on_wire = begin + layout.end;
            occupied += layout.size;
            index += 1;
        }
        this.end = on_wire;
        this.is_padded |= occupied != size;
        this
    }

    /// Returns whether values follow each other in CDR as they do in memory, from a multiple of the
    /// alignment on.
    ///
    /// A value that begins elsewhere may differ; the one after it then begins at such a multiple,
    /// since from its first number of the greatest alignment on, its layout is the usual one.
    #[inline]
    #[must_use]
    pub const fn is_contiguous(&self) -> bool {
        self.agrees
            && self.end.next_multiple_of(self.first) == self.size
            && self.size.is_multiple_of(self.alignment)
    }

    /// Returns the greatest alignment of any number in the layout.
    #[inline]
    #[must_use]
    pub const fn alignment(&self) -> usize {
        self.alignment
    }

    /// Returns the alignment of the first number in the layout.
    #[inline]
    #[must_use]
    pub const fn first_alignment(&self) -> usize {
        self.first
    }

    /// Returns the number of bytes after the last number in memory. CDR has none there.
    #[inline]
    #[must_use]
    pub const fn trailing(&self) -> usize {
        self.size - self.end
    }

    /// Returns the offset of the byte that stands in the place of the one at `offset` when each
    /// number has its bytes reversed; `None` for padding. The value has at most [`MAPPED`] bytes.
    pub(super) const fn mirrored(&self, offset: usize) -> Option<usize> {
        if !has_bit(&self.numbers.covered, offset) {
            return None;
        }
        let mut first = offset;
        while first > 0 && !has_bit(&self.numbers.first, first) {
            first -= 1;
        }
        let mut end = offset + 1;
        while has_bit(&self.numbers.covered, end) && !has_bit(&self.numbers.first, end) {
            end += 1;
        }
        Some(first + end - 1 - offset)
    }

    /// Returns the size of a value in memory, in bytes.
    pub(super) const fn size(&self) -> usize {
        self.size
    }

    /// Returns whether the type has padding bytes in memory.
    #[inline]
    #[must_use]
    pub const fn is_padded(&self) -> bool {
        self.is_padded
    }

    /// Returns whether the type contains a `char`, which may be invalid in a code set.
    #[inline]
    #[must_use]
    pub const fn has_chars(&self) -> bool {
        self.has_chars
    }
}

/// Proves that members lie in the order of their declaration, the first at the beginning, without
/// overlap, as `repr(C)` has them. For [`plain_struct!`](crate::plain_struct).
///
/// # Panics
/// When they do not; at compile time, where the call is in a constant.
#[allow(clippy::indexing_slicing)] // An iterator cannot be used in a constant.
pub const fn prove_order(size: usize, parts: &[Part]) {
    let (mut end, mut index) = (0, 0);
    while index < parts.len() {
        let Part { offset, layout } = parts[index];
        assert!(
            if index == 0 {
                offset == 0
            } else {
                offset >= end
            },
            "a struct of plain data is `repr(C)`"
        );
        end = offset + layout.size;
        index += 1;
    }
    assert!(
        end <= size,
        "a member ends where the struct does, or before"
    );
}

/// Returns the offset of the member after the one at `index`, or the end of the struct.
#[must_use]
#[allow(clippy::indexing_slicing)] // An iterator cannot be used in a constant.
pub const fn gap_end(size: usize, parts: &[Part], index: usize) -> usize {
    if index + 1 < parts.len() {
        parts[index + 1].offset
    } else {
        size
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        // SAFETY: a number has no padding, and any bytes are one.
        unsafe impl PlainData for $number {
            const LAYOUT: Layout = Layout::number(size_of::<Self>());

            #[inline]
            fn in_other_order(self) -> Self {
                super::Primitive::swapped(self)
            }

            #[inline]
            fn chars(&self) -> u8 {
                0
            }

            #[inline]
            fn clear_padding(_: &mut [MaybeUninit<u8>]) {}
        }
    )*};
}

numbers!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);

// SAFETY: `Char` is `repr(transparent)` over `u8`.
unsafe impl PlainData for crate::Char {
    const LAYOUT: Layout = Layout::character();

    #[inline]
    fn in_other_order(self) -> Self {
        self
    }

    #[inline]
    fn chars(&self) -> u8 {
        self.0
    }

    #[inline]
    fn clear_padding(_: &mut [MaybeUninit<u8>]) {}
}

// SAFETY: an array is its elements, one after the other.
unsafe impl<T: PlainData, const N: usize> PlainData for [T; N] {
    const LAYOUT: Layout = Layout::array(T::LAYOUT, N);

    #[inline]
    fn in_other_order(self) -> Self {
        self.map(T::in_other_order)
    }

    #[inline]
    fn chars(&self) -> u8 {
        if !T::LAYOUT.has_chars {
            return 0;
        }
        self.iter().fold(0, |all, element| all | element.chars())
    }

    #[inline]
    fn clear_padding(memory: &mut [MaybeUninit<u8>]) {
        assert!(memory.len() == size_of::<Self>(), "memory of one array");
        if T::LAYOUT.is_padded && size_of::<T>() != 0 {
            memory
                .chunks_exact_mut(size_of::<T>())
                .for_each(T::clear_padding);
        }
    }
}

/// Zeroes the bytes from one offset to another.
///
/// # Panics
/// When they are out of range.
#[inline(always)]
#[allow(clippy::indexing_slicing)] // Leaving a gap as it is would be worse than a panic.
pub fn clear(memory: &mut [MaybeUninit<u8>], from: usize, to: usize) {
    memory[from..to].fill(MaybeUninit::new(0));
}

/// Returns the memory of a member.
///
/// # Panics
/// When it is out of range.
#[inline(always)]
#[allow(clippy::indexing_slicing)] // As above.
pub fn member(
    memory: &mut [MaybeUninit<u8>],
    offset: usize,
    size: usize,
) -> &mut [MaybeUninit<u8>] {
    &mut memory[offset..offset + size]
}
