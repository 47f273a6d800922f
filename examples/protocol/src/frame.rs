//! Frames: the wire format of the link.
//!
//! ```text
//! 0  length    u32, big-endian: octets of the payload, 1 to 65,536
//! 4  checksum  u32, big-endian: CRC-32 (IEEE 802.3) over the length's octets and the payload
//! 8  payload
//! ```
//!
//! A message may go out in several frames, and a frame may hold several messages: the link is a
//! stream. A frame is delivered only after all of it has arrived and been checked.

use punctual_cdr::Block;
use std::io::IoSlice;

/// Size of a frame header, which consists of a length and a checksum, in bytes.
pub const HEADER: usize = 8;
/// Upper bound of a payload, in bytes: it limits the unchecked data that a peer can make the other
/// side hold.
pub const LONGEST: usize = 64 * 1024;

/// Returns the header of a frame with this payload, of at most [`LONGEST`] bytes.
#[must_use]
pub fn header<'p>(payload: impl IntoIterator<Item = &'p [u8]> + Clone) -> [u8; HEADER] {
    let length: usize = payload.clone().into_iter().map(<[u8]>::len).sum();
    let length = u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&length);
    payload.into_iter().for_each(|run| checksum.update(run));
    let [a, b, c, d] = length;
    let [e, f, g, h] = checksum.finalize().to_be_bytes();
    [a, b, c, d, e, f, g, h]
}

/// Iterator that cuts a message's parts into the payloads of frames.
#[derive(Debug)]
pub struct Payloads<'m> {
    parts: &'m [IoSlice<'m>],
    /// Number of bytes of the first remaining part that were already returned.
    begin: usize,
}

impl<'m> Payloads<'m> {
    /// Makes the iterator over a message's payloads, given the message as `parts`.
    #[must_use]
    pub fn of(parts: &'m [IoSlice<'m>]) -> Self {
        Self { parts, begin: 0 }
    }
}

impl<'m> Iterator for Payloads<'m> {
    type Item = Vec<&'m [u8]>;

    /// Returns the next payload as a list of non-empty slices, or `None` at the end of the message.
    fn next(&mut self) -> Option<Vec<&'m [u8]>> {
        let mut runs = Vec::new();
        let mut room = LONGEST;
        while let Some((first, rest)) = self.parts.split_first() {
            let left = first.get(self.begin..).unwrap_or_default();
            let run = left.get(..room).unwrap_or(left);
            if !run.is_empty() {
                runs.push(run);
            }
            room -= run.len();
            if run.len() < left.len() {
                self.begin += run.len();
                break;
            }
            (self.parts, self.begin) = (rest, 0);
        }
        (!runs.is_empty()).then_some(runs)
    }
}

/// Buffer of received bytes. Once the complete frames are delivered, it holds only the incomplete
/// last one.
#[derive(Debug, Default)]
pub struct Arrivals {
    octets: Vec<u8>,
}

impl Arrivals {
    /// Returns the buffer to which received bytes are appended, with capacity for the rest of the
    /// current frame; the added capacity is limited by the number of bytes that have arrived (or a
    /// page), so that a peer cannot cause large allocations.
    pub fn to_fill(&mut self) -> &mut Vec<u8> {
        let lacks = match self.octets.first_chunk::<4>() {
            Some(length) => u32::from_be_bytes(*length) as usize + HEADER,
            None => HEADER,
        };
        let lacks = lacks.saturating_sub(self.octets.len()).max(1);
        self.octets.reserve(lacks.min(self.octets.len()).max(4096));
        &mut self.octets
    }

    /// Appends the payloads of all complete frames to `block`, and returns the number of bytes
    /// appended.
    ///
    /// # Errors
    /// The first wrong frame. The payloads before it have been appended; the data after it cannot
    /// be decoded.
    pub fn deliver(&mut self, block: &mut Block) -> (usize, Result<(), &'static str>) {
        let before = block.len();
        let mut rest = self.octets.as_slice();
        let outcome = loop {
            match split(rest) {
                Ok(Some((payload, behind))) => {
                    block.extend_from_slice(payload);
                    rest = behind;
                }
                Ok(None) => break Ok(()),
                Err(wrong) => break Err(wrong),
            }
        };
        let done = self.octets.len() - rest.len();
        self.octets.drain(..done);
        (block.len() - before, outcome)
    }
}

/// Payload of a complete frame, and the bytes after the frame.
type Whole<'f> = (&'f [u8], &'f [u8]);

/// Splits off the first frame of `octets`; returns `None` while it is incomplete.
fn split(octets: &[u8]) -> Result<Option<Whole<'_>>, &'static str> {
    let Some((announced, behind)) = octets.split_first_chunk::<HEADER>() else {
        return Ok(None);
    };
    let [a, b, c, d, ..] = *announced;
    match u32::from_be_bytes([a, b, c, d]) as usize {
        0 => Err("an empty frame"),
        length if length > LONGEST => Err("a frame longer than 65,536 octets"),
        length => match behind.split_at_checked(length) {
            None => Ok(None),
            Some((payload, _)) if header([payload]) != *announced => {
                Err("a frame whose checksum is wrong")
            }
            whole => Ok(whole),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_cut_where_a_frame_is_full_whatever_its_parts() {
        let long = vec![7; LONGEST + 1];
        let parts = [&b"ab"[..], b"", &long, b"c"].map(IoSlice::new);
        let payloads: Vec<Vec<&[u8]>> = Payloads::of(&parts).collect();
        let lengths = |runs: &Vec<&[u8]>| runs.iter().map(|run| run.len()).collect::<Vec<_>>();
        let lengths: Vec<Vec<usize>> = payloads.iter().map(lengths).collect();
        assert_eq!(lengths, [vec![2, LONGEST - 2], vec![3, 1]]);
        assert_eq!(Payloads::of(&[IoSlice::new(b"")]).count(), 0);
    }

    #[test]
    fn the_checksum_is_the_known_one() {
        // CRC-32 of 00 00 00 01 'x', by zlib.
        assert_eq!(header([&b"x"[..]]), [0, 0, 0, 1, 0x81, 0xe7, 0x3f, 0x52]);
    }

    #[test]
    fn each_flipped_bit_is_found() {
        let mut frame = header([&b"payload"[..]]).to_vec();
        frame.extend_from_slice(b"payload");
        assert!(matches!(split(&frame), Ok(Some((b"payload", b"")))));
        for bit in 0..frame.len() * 8 {
            let mut flipped = frame.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            // A length that grew may make the receiver wait, but nothing wrong is delivered.
            assert!(!matches!(split(&flipped), Ok(Some(_))), "bit {bit}");
        }
    }

    #[test]
    fn room_follows_what_has_arrived_and_not_the_length_that_is_claimed() {
        let mut arrivals = Arrivals::default();
        arrivals.to_fill().extend_from_slice(&[0xff; 5]);
        assert!(arrivals.to_fill().capacity() < 16 * 1024);
    }
}
