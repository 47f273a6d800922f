//! Packets of MIOP: the parts of a message.
//!
//! ```text
//! char magic[4] "MIOP"; octet hdr_version 0x10; octet flags (0x01 little-endian, 0x02 last packet);
//! unsigned short packet_length;      octets of the message in this packet
//! unsigned long packet_number;       from 0 on
//! unsigned long number_of_packets;   0 while the sender does not know it
//! sequence<octet, 252> Id;           of the message
//! padding to a multiple of 8, then the octets
//! ```

/// Marks at the beginning of a packet.
const MAGIC: [u8; 4] = *b"MIOP";
/// Version 1.0: the major version in the upper half.
const VERSION: u8 = 0x10;
/// Flag of numbers in little-endian byte order.
const LITTLE_ENDIAN: u8 = 0x01;
/// Flag of the last packet of a message.
const LAST: u8 = 0x02;
/// Octets before the message's id.
const FIXED: usize = 20;
/// Maximum length of a message's id, in octets.
const LONGEST_ID: usize = 252;

/// Length of the ids of the messages that are sent, in octets.
pub(super) const ID: usize = 20;

/// One packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet<'d> {
    /// Number of the packet in its message, from 0 on.
    pub(super) number: u32,
    /// Number of the message's packets; `None` while the sender does not know it.
    pub(super) count: Option<u32>,
    /// True for the last packet of the message.
    pub(super) is_last: bool,
    /// Id of the message; not empty.
    pub(super) id: &'d [u8],
    /// Part of the message.
    pub(super) octets: &'d [u8],
}

impl<'d> Packet<'d> {
    /// Reads a packet; `None` if the datagram is none, or contradicts itself.
    pub(super) fn read(datagram: &'d [u8]) -> Option<Self> {
        let (head, rest) = datagram.split_first_chunk::<FIXED>()?;
        let (magic, head) = head.split_first_chunk::<4>()?;
        let [version, flags, head @ ..] = head else {
            return None;
        };
        // A later minor version is read as this one.
        if *magic != MAGIC || version & 0xf0 != VERSION {
            return None;
        }
        let little = flags & LITTLE_ENDIAN != 0;
        let (length, head) = head.split_first_chunk::<2>()?;
        let length = match little {
            true => u16::from_le_bytes(*length),
            false => u16::from_be_bytes(*length),
        };
        let (numbers, _) = head.as_chunks::<4>();
        let [number, count, id] = numbers else {
            return None;
        };
        let number_of = |octets: &[u8; 4]| match little {
            true => u32::from_le_bytes(*octets),
            false => u32::from_be_bytes(*octets),
        };
        let id_length = usize::try_from(number_of(id)).ok()?;
        if !(1..=LONGEST_ID).contains(&id_length) {
            return None;
        }
        let (id, _) = rest.split_at_checked(id_length)?;
        let octets = datagram.get(head_length(id_length)..)?;
        let packet = Self {
            number: number_of(number),
            count: Some(number_of(count)).filter(|count| *count != 0),
            is_last: flags & LAST != 0,
            id,
            octets: octets.get(..length.into())?,
        };
        packet.is_consistent().then_some(packet)
    }

    /// Returns whether number, count and flag agree.
    fn is_consistent(&self) -> bool {
        match self.count {
            Some(count) => {
                // JacORB marks the last packet, and so does this; TAO does so where it knows.
                self.number < count && (!self.is_last || self.number == count - 1)
            }
            None => self.number < u32::MAX,
        }
    }

    /// Returns the number of the message's packets, if this packet says it.
    pub(super) fn announced(&self) -> Option<u32> {
        self.count.or(self.is_last.then(|| self.number + 1))
    }

    /// Returns the header of a packet with `length` octets after it, whatever this one's are, in the machine's byte order.
    pub(super) fn header_of(&self, length: usize) -> Vec<u8> {
        let little = cfg!(target_endian = "little");
        let flags = u8::from(little) * LITTLE_ENDIAN + u8::from(self.is_last) * LAST;
        let length = u16::try_from(length).unwrap_or(u16::MAX);
        let id_length = u32::try_from(self.id.len()).unwrap_or(u32::MAX);
        let mut header = Vec::with_capacity(head_length(self.id.len()));
        header.extend_from_slice(&MAGIC);
        header.extend_from_slice(&[VERSION, flags]);
        header.extend_from_slice(&length.to_ne_bytes());
        for number in [self.number, self.count.unwrap_or_default(), id_length] {
            header.extend_from_slice(&number.to_ne_bytes());
        }
        header.extend_from_slice(self.id);
        header.resize(head_length(self.id.len()), 0);
        header
    }
}

/// Returns the length of a packet's header with an id of this length.
pub(super) fn head_length(id: usize) -> usize {
    (FIXED + id).next_multiple_of(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a packet as JacORB writes it, in big-endian byte order.
    fn big(length: u16, number: u32, count: u32, flags: u8) -> Vec<u8> {
        let mut packet = b"MIOP\x10".to_vec();
        packet.push(flags);
        packet.extend(length.to_be_bytes());
        packet.extend(number.to_be_bytes());
        packet.extend(count.to_be_bytes());
        packet.extend(12u32.to_be_bytes());
        packet.extend(b"0123456789ab");
        packet.extend(b"message");
        packet
    }

    #[test]
    fn a_packet_is_read_in_either_byte_order() {
        let read = Packet::read(&big(7, 2, 3, 2)).map(|packet| {
            (
                packet.number,
                packet.count,
                packet.is_last,
                packet.id.to_vec(),
                packet.octets.to_vec(),
            )
        });
        let id = b"0123456789ab".to_vec();
        assert_eq!(read, Some((2, Some(3), true, id, b"message".to_vec())));
        let packet = Packet {
            number: 1,
            count: Some(3),
            is_last: false,
            id: b"abc",
            octets: b"part",
        };
        let mut written = packet.header_of(4);
        assert_eq!(written.len(), 24);
        written.extend_from_slice(b"part");
        assert_eq!(Packet::read(&written), Some(packet));
    }

    #[test]
    fn what_contradicts_itself_is_no_packet() {
        for (why, packet) in [
            ("longer than the datagram", big(8, 0, 1, 2)),
            ("number beyond the count", big(7, 3, 3, 2)),
            ("last before the last", big(7, 1, 3, 2)),
            ("no number after it", big(7, u32::MAX, 0, 2)),
        ] {
            assert_eq!(Packet::read(&packet), None, "{why}");
        }
        let good = big(7, 0, 0, 2);
        assert_eq!(Packet::read(&good).unwrap().announced(), Some(1));
        for length in 0..good.len() {
            assert_eq!(Packet::read(&good[..length]), None, "{length}");
        }
        for (at, octet) in [(0, b'm'), (4, 0x20), (16, 1), (19, 0), (19, 253)] {
            let mut bad = good.clone();
            bad[at] = octet;
            assert_eq!(Packet::read(&bad), None, "octet {octet} at {at}");
        }
    }
}
