//! Encoding of values that go into several messages.

use crate::code_set::CodeSets;
use crate::encoder::Encoder;
use crate::error::CdrError;
use crate::order::ByteOrder;
use crate::version::GiopVersion;

/// Largest alignment of any value.
const ALIGNMENT: usize = 8;

/// Encoding of values that are written to several messages, such as the arguments of a call to several objects: the first
/// message is encoded, and those like it get a copy of the bytes.
///
/// Messages are alike if byte order, GIOP version, code sets and the alignment of the first value are the same. One that
/// differs is encoded, and becomes the one that is copied. Encodings with runs that the message lends or with valuetypes, and
/// those of more than [`SharedEncoding::LONGEST`] bytes, are not kept: they are encoded for each message.
///
/// Values are checked against the limits of the first message. The memory is reused by the next values, so that warm calls
/// allocate nothing.
#[derive(Debug, Default)]
pub struct SharedEncoding {
    /// What the bytes depend on; `None` if there are none.
    terms: Option<Terms>,
    bytes: Vec<u8>,
}

/// What an encoding depends on besides the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Terms {
    order: ByteOrder,
    version: GiopVersion,
    code_sets: CodeSets,
    /// Padding up to the next multiple of 8.
    phase: usize,
}

impl Terms {
    fn of(out: &Encoder<'_>) -> Self {
        let coding = out.coding();
        Self {
            order: out.order(),
            version: coding.version,
            code_sets: coding.code_sets,
            phase: out.padding(ALIGNMENT),
        }
    }
}

impl SharedEncoding {
    /// Length of the longest encoding that is kept, in bytes. Encoding long runs of bytes costs little more than copying
    /// them.
    pub const LONGEST: usize = 64 * 1024;

    /// Forgets the values: the next message is encoded.
    pub fn clear(&mut self) {
        self.terms = None;
    }

    /// Writes the values, which `write` encodes if no message like this one was encoded since the last
    /// [`SharedEncoding::clear`].
    ///
    /// # Errors
    /// Those of `write`.
    pub fn put(
        &mut self,
        out: &mut Encoder<'_>,
        write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
    ) -> Result<(), CdrError> {
        let terms = Terms::of(out);
        let is_apart = out.written_if_any().is_none();
        if is_apart && self.terms == Some(terms) {
            out.put_bytes(&self.bytes);
            return Ok(());
        }
        // A run that is lent or left out moves the origin of alignment.
        let origin = |out: &Encoder<'_>| out.position().wrapping_sub(out.place());
        let (begin, before) = (out.position(), origin(out));
        write(out)?;
        let is_whole = origin(out) == before && out.written_if_any().is_none();
        let written = out.block().get(begin..).unwrap_or_default();
        if is_apart && is_whole && written.len() <= Self::LONGEST {
            self.bytes.clear();
            self.bytes.extend_from_slice(written);
            self.terms = Some(terms);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Block, Coding, Marshal};
    use std::cell::Cell;

    /// Value that counts how often it is encoded: a string between numbers.
    struct Counted<'c>(&'c Cell<usize>);

    impl Marshal for Counted<'_> {
        fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
            self.0.set(self.0.get() + 1);
            out.put_u8(1);
            "text".marshal(out)?;
            out.put_u64(2);
            Ok(())
        }
    }

    fn coding(version: GiopVersion) -> Coding<'static> {
        Coding {
            version,
            ..Coding::default()
        }
    }

    /// Returns a message with a head of so many bytes, in which `write` has written.
    fn message(
        (head, order, version): (usize, ByteOrder, GiopVersion),
        write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
    ) -> Vec<u8> {
        let mut out = Encoder::new(Block::default(), order, coding(version));
        out.put_bytes(&vec![0xaa; head]);
        write(&mut out).unwrap();
        out.into_block().into_vec()
    }

    #[test]
    fn messages_that_are_alike_are_encoded_once_and_all_have_the_bytes_that_they_would_have() {
        let (count, mut shared) = (Cell::new(0), SharedEncoding::default());
        let native = (ByteOrder::NATIVE, GiopVersion::V1_2);
        let swapped = match ByteOrder::NATIVE {
            ByteOrder::Big => ByteOrder::Little,
            ByteOrder::Little => ByteOrder::Big,
        };
        let places = [
            (24, native, 1),
            (40, native, 1),
            (16, native, 1),
            // Another alignment, another order, another version: each is encoded.
            (28, native, 2),
            (20, native, 2),
            (20, (swapped, GiopVersion::V1_2), 3),
            (20, (swapped, GiopVersion::V1_0), 4),
            (12, (swapped, GiopVersion::V1_0), 4),
        ];
        for (head, (order, version), encoded) in places {
            let place = (head, order, version);
            let got = message(place, |out| {
                shared.put(out, |out| Counted(&count).marshal(out))
            });
            assert_eq!(count.get(), encoded, "{place:?}");
            let uncounted = Cell::new(0);
            let alone = message(place, |out| Counted(&uncounted).marshal(out));
            assert_eq!(got, alone, "{place:?}");
        }
    }

    #[test]
    fn other_values_are_encoded_and_so_is_what_is_too_long_to_be_kept() {
        let (count, mut shared) = (Cell::new(0), SharedEncoding::default());
        let place = (0, ByteOrder::NATIVE, GiopVersion::V1_2);
        let long = vec![7; SharedEncoding::LONGEST];
        let put = |shared: &mut SharedEncoding, value: &[u8]| {
            let got = message(place, |out| {
                shared.put(out, |out| {
                    count.set(count.get() + 1);
                    value.marshal(out)
                })
            });
            assert_eq!(got, message(place, |out| value.marshal(out)));
            count.get()
        };
        assert_eq!((put(&mut shared, b"one"), put(&mut shared, b"one")), (1, 1));
        shared.clear();
        assert_eq!((put(&mut shared, b"two"), put(&mut shared, b"two")), (2, 2));
        shared.clear();
        assert_eq!((put(&mut shared, &long), put(&mut shared, &long)), (3, 4));
    }

    #[test]
    fn an_encoding_that_failed_is_not_kept() {
        let mut shared = SharedEncoding::default();
        let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
        let fails = |out: &mut Encoder<'_>| {
            out.put_u32(1);
            Err(CdrError::BadEncapsulation)
        };
        assert_eq!(shared.put(&mut out, fails), Err(CdrError::BadEncapsulation));
        let place = (0, ByteOrder::NATIVE, GiopVersion::V1_2);
        let got = message(place, |out| shared.put(out, |out| 2_u32.marshal(out)));
        assert_eq!(got, 2_u32.to_ne_bytes());
    }
}
