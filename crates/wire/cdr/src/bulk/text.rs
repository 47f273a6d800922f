//! Text as bytes: most strings are short, ASCII, and have no NUL, and so can be copied as they are.

/// Returns `octets` as text, if all of them are ASCII and none is NUL: one pass that suits most
/// strings. `None` says nothing about the bytes.
#[inline]
pub(crate) fn plain_text(octets: &[u8]) -> Option<&str> {
    if is_plain(octets) {
        // SAFETY: bytes from 1 to 0x7f are ASCII, which is UTF-8.
        Some(unsafe { std::str::from_utf8_unchecked(octets) })
    } else {
        None
    }
}

/// Returns whether all bytes are from 1 to 0x7f.
#[inline]
fn is_plain(octets: &[u8]) -> bool {
    if let Some((first, last)) = ends::<16>(octets) {
        let doubts = doubts_of(*first, *last);
        let (chunks, _) = octets.as_chunks();
        let more = if octets.len() > 32 { chunks } else { &[] };
        are_plain(more.iter().fold(doubts, doubts_of_more))
    } else if let Some((first, last)) = ends::<8>(octets) {
        doubt(u64::from_ne_bytes(*first)) | doubt(u64::from_ne_bytes(*last)) == 0
    } else if let Some((first, last)) = ends::<4>(octets) {
        let (first, last) = (u32::from_ne_bytes(*first), u32::from_ne_bytes(*last));
        doubt(u64::from(first) << 32 | u64::from(last)) == 0
    } else {
        let word = octets
            .iter()
            .fold(ONES, |word, octet| word << 8 | u64::from(*octet));
        doubt(word) == 0
    }
}

/// Returns the first `N` bytes and the last, which may overlap; `None` if there are fewer.
#[inline(always)]
fn ends<const N: usize>(octets: &[u8]) -> Option<(&[u8; N], &[u8; N])> {
    octets.first_chunk().zip(octets.last_chunk())
}

/// Greatest byte at each of sixteen places, NUL counting as the greatest.
type Doubts = [u8; 16];

#[inline(always)]
fn doubts_of(first: [u8; 16], last: [u8; 16]) -> Doubts {
    doubts_of_more(doubts_of_more([0; 16], &first), &last)
}

#[inline(always)]
fn doubts_of_more(mut doubts: Doubts, chunk: &[u8; 16]) -> Doubts {
    for (doubt, octet) in doubts.iter_mut().zip(chunk) {
        *doubt = octet.wrapping_sub(1).max(*doubt);
    }
    doubts
}

#[inline(always)]
fn are_plain(doubts: Doubts) -> bool {
    doubts
        .iter()
        .fold(true, |plain, octet| plain & (*octet < 0x7f))
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Returns 0 if all bytes of a word are from 1 to 0x7f.
///
/// Takes one off each byte at once: a byte's high bit is set then, or was before, unless all of
/// the word's bytes are such. A borrow would come from a NUL, whose own high bit is set.
#[inline(always)]
const fn doubt(word: u64) -> u64 {
    (word | word.wrapping_sub(ONES)) & HIGH
}

/// Appends up to three zeroes as padding, the four bytes of a length, `text`, and a NUL, if all
/// bytes of the text are ASCII and none is NUL; else appends nothing. Returns whether it did.
///
/// Short text is looked at and copied at once, without a call.
#[inline]
pub(crate) fn append_plain(
    bytes: &mut Vec<u8>,
    padding: usize,
    length: [u8; 4],
    text: &[u8],
) -> bool {
    debug_assert!(padding < 4, "lengths are aligned to four");
    let padding = padding & 3;
    let size = padding + length.len() + text.len() + 1;
    bytes.reserve(size);
    let begin = bytes.len();
    // SAFETY: there is room for `size` bytes behind the vector's, which are written in the order in
    // which they stand. The first four zeroes end within it, as `size` is more than that. The
    // vector is borrowed exclusively, so `text` does not overlap it.
    unsafe {
        let room = bytes.as_mut_ptr().add(begin);
        room.cast::<[u8; 4]>().write([0; 4]);
        let room = room.add(padding);
        room.cast::<[u8; 4]>().write(length);
        let room = room.add(length.len());
        if !copy_plain(text, room) {
            return false;
        }
        room.add(text.len()).write(0);
        bytes.set_len(begin + size);
    }
    true
}

/// Copies bytes, and returns whether all of them are from 1 to 0x7f; up to 32 of them by two reads
/// and writes that may overlap.
///
/// # Safety
/// `to` is valid for writes of as many bytes, none of which is one of `from`.
#[inline(always)]
unsafe fn copy_plain(from: &[u8], to: *mut u8) -> bool {
    /// # Safety
    /// As above; there are at least `N` bytes, and at most twice as many.
    #[inline(always)]
    unsafe fn write<const N: usize>(to: *mut u8, length: usize, first: [u8; N], last: [u8; N]) {
        // SAFETY: as the caller promises.
        unsafe {
            to.cast::<[u8; N]>().write(first);
            to.add(length - N).cast::<[u8; N]>().write(last);
        }
    }
    let length = from.len();
    // SAFETY: as the caller promises; each kind of copy has the lengths for which it is right.
    unsafe {
        if length > 32 {
            std::ptr::copy_nonoverlapping(from.as_ptr(), to, length);
            is_plain(from)
        } else if let Some((&first, &last)) = ends::<16>(from) {
            write(to, length, first, last);
            are_plain(doubts_of(first, last))
        } else if let Some((&first, &last)) = ends::<8>(from) {
            write(to, length, first, last);
            doubt(u64::from_ne_bytes(first)) | doubt(u64::from_ne_bytes(last)) == 0
        } else {
            for (offset, octet) in from.iter().enumerate() {
                to.add(offset).write(*octet);
            }
            is_plain(from)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lengths that are tried; under Miri those around which text is treated otherwise.
    fn lengths() -> impl Iterator<Item = usize> {
        let is_near = |length: &usize| matches!(length % 16, 0 | 1 | 4 | 8 | 15) && *length < 34;
        (0..100).filter(move |length| !cfg!(miri) || is_near(length))
    }

    #[test]
    fn plain_text_is_ascii_without_nul() {
        for length in lengths() {
            let plain: Vec<u8> = (1..=0x7f).cycle().take(length).collect();
            assert_eq!(plain_text(&plain).map(str::as_bytes), Some(&*plain));
            for at in 0..length {
                for other in [0, 0x80, 0xff, 0xc3] {
                    let mut octets = plain.clone();
                    octets[at] = other;
                    assert_eq!(plain_text(&octets), None, "{octets:?}");
                    // A borrow must not hide it.
                    octets[length - 1] = 0;
                    assert_eq!(plain_text(&octets), None, "{octets:?}");
                }
            }
        }
    }

    #[test]
    fn plain_text_is_appended_behind_its_padding_and_length() {
        for length in lengths() {
            for padding in 0..4 {
                let mut text: Vec<u8> = (1..=0x7f).cycle().take(length).collect();
                let mut expected = vec![7, 8];
                expected.extend(&[0; 4][..padding]);
                expected.extend([1, 2, 3, 4]);
                expected.extend(&text);
                expected.push(0);
                // With room for exactly that, and without any.
                for room in [0, padding + 4 + length + 1] {
                    let mut bytes = Vec::with_capacity(2 + room);
                    bytes.extend([7, 8]);
                    assert!(append_plain(&mut bytes, padding, [1, 2, 3, 4], &text));
                    assert_eq!(bytes, expected);
                }
                for at in 0..length {
                    let plain =
                        std::mem::replace(&mut text[at], if at % 2 == 0 { 0 } else { 0x80 });
                    let mut bytes = vec![7, 8];
                    assert!(!append_plain(&mut bytes, padding, [1, 2, 3, 4], &text));
                    assert_eq!(bytes, [7, 8]);
                    text[at] = plain;
                }
            }
        }
    }
}
