//! Blocks: the events of one commit, up to some 60 KiB of them, as one record.
//!
//! ```text
//! 01                        version
//! for each event:
//!   length                  of the content, 4 bytes
//!   expires                 milliseconds since 1970, 8 bytes; 0: never
//!   priority                2 bytes
//!   length of the id        1 byte; 0: none
//!   id, content
//! ```
//!
//! Numbers are big-endian. Event `n` of a block has the position of the block plus `n`.

use bytes::{Buf, Bytes};

use super::layout::{Head, IdsRecord};
use crate::contract::{EventId, Moment, NewEvent};

const VERSION: u8 = 1;

/// Length of what is kept before each event's id, in bytes.
const HEAD: usize = 15;

/// Length at which a block is complete. With its key it fits into a page of 64 KiB, so that no
/// larger one is taken for it.
const COMPLETE: usize = 60 << 10;

/// Maximum number of events in a block.
const MOST: usize = 4_096;

/// Length of the longest event, in bytes.
pub(super) const LONGEST: usize = 16 << 20;

/// Block that is being filled.
#[derive(Debug)]
pub(super) struct NewBlock {
    /// Position of the first event.
    pub(super) first: u64,
    pub(super) bytes: Vec<u8>,
    offsets: Vec<u32>,
    lengths: Vec<u32>,
    /// Moments at which the events expire; 0: never.
    expiries: Vec<u64>,
    ids: Vec<EventId>,
}

/// Block of events, complete.
#[derive(Debug)]
pub(super) struct Block {
    bytes: Bytes,
    offsets: Vec<u32>,
}

/// Event of a block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) bytes: Bytes,
    pub(super) id: Option<EventId>,
    pub(super) expires: Option<Moment>,
    pub(super) priority: i16,
}

impl NewBlock {
    pub(super) fn at(first: u64) -> Self {
        Self {
            first,
            bytes: vec![VERSION],
            offsets: Vec::new(),
            lengths: Vec::new(),
            expiries: Vec::new(),
            ids: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Returns true if an event of this length belongs into the next block.
    pub(super) fn is_complete_before(&self, event: &NewEvent) -> bool {
        let after = self.bytes.len() + HEAD + event.bytes.len();
        self.len() > 0 && (after > COMPLETE || self.len() >= MOST)
    }

    /// Adds an event, of at most [`LONGEST`] bytes.
    pub(super) fn push(&mut self, event: NewEvent, now: Moment) {
        let expires = event.lifetime.map_or(0, |lifetime| now.after(lifetime).0);
        let id = event.id.as_ref().map_or(&[][..], EventId::as_bytes);
        let length = event.bytes.len() as u32;
        self.offsets.push(self.bytes.len() as u32);
        self.bytes.extend_from_slice(&length.to_be_bytes());
        self.bytes.extend_from_slice(&expires.to_be_bytes());
        self.bytes.extend_from_slice(&event.priority.to_be_bytes());
        self.bytes.push(id.len() as u8);
        self.bytes.extend_from_slice(id);
        self.bytes.extend_from_slice(&event.bytes);
        self.lengths.push(length);
        self.expiries.push(expires);
        self.ids.extend(event.id);
    }

    /// Returns what is stored of the block besides its events.
    pub(super) fn head(&self) -> Head {
        let has_expiries = self.expiries.iter().any(|moment| *moment > 0);
        Head {
            lengths: self.lengths.clone(),
            expiries: match has_expiries {
                true => self.expiries.clone(),
                false => Vec::new(),
            },
        }
    }

    /// Returns the ids of the block's events, appended at this moment, if any has one.
    pub(super) fn ids(&self, appended: Moment) -> Option<IdsRecord> {
        (!self.ids.is_empty()).then(|| IdsRecord {
            appended,
            ids: self.ids.clone(),
        })
    }

    /// Returns the block for reading.
    pub(super) fn into_block(self) -> Block {
        Block {
            bytes: self.bytes.into(),
            offsets: self.offsets,
        }
    }
}

impl Block {
    /// Reads a block; returns `None` if the bytes are not one.
    pub(super) fn decode(bytes: Bytes) -> Option<Self> {
        let mut offsets = Vec::new();
        let mut rest = bytes.strip_prefix(&[VERSION])?;
        while !rest.is_empty() {
            offsets.push((bytes.len() - rest.len()) as u32);
            let length = u32::from_be_bytes(*rest.first_chunk()?) as usize;
            let id = usize::from(*rest.get(HEAD - 1)?);
            rest = rest.get(HEAD.checked_add(id)?.checked_add(length)?..)?;
        }
        Some(Self { bytes, offsets })
    }

    /// Returns the length of the block in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Returns an event by its number in the block, without copying its content.
    pub(super) fn event(&self, number: usize) -> Option<Event> {
        let offset = *self.offsets.get(number)? as usize;
        let mut rest = self.bytes.slice(offset..);
        let length = rest.get_u32() as usize;
        let expires = rest.get_u64();
        let priority = rest.get_i16();
        let id = usize::from(rest.get_u8());
        let id = EventId::new(&rest.split_to(id));
        Some(Event {
            bytes: rest.split_to(length),
            id,
            expires: (expires > 0).then_some(Moment(expires)),
            priority,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn events_of_a_block_are_read_as_they_were_written() {
        let mut block = NewBlock::at(7);
        let plain = NewEvent::new(&b"plain"[..]);
        let full = NewEvent {
            lifetime: Some(Duration::from_millis(5)),
            priority: -3,
            ..NewEvent::new(&b""[..]).with_id(EventId::new(b"id").unwrap())
        };
        block.push(plain, Moment(1));
        block.push(full, Moment(1));
        let block = Block::decode(block.bytes.into()).unwrap();
        let first = block.event(0).unwrap();
        assert_eq!(
            (&first.bytes[..], first.id, first.expires),
            (&b"plain"[..], None, None)
        );
        let second = block.event(1).unwrap();
        assert_eq!(second.id, EventId::new(b"id"));
        assert_eq!((second.expires, second.priority), (Some(Moment(6)), -3));
        assert_eq!(block.event(2), None);
    }

    #[test]
    fn bytes_that_are_cut_off_or_of_another_version_are_no_block() {
        let mut block = NewBlock::at(1);
        block.push(NewEvent::new(vec![1; 40]), Moment(1));
        let bytes = Bytes::from(block.bytes);
        for end in 2..bytes.len() {
            assert!(Block::decode(bytes.slice(..end)).is_none(), "{end}");
        }
        assert!(Block::decode(Bytes::from_static(&[2])).is_none());
        assert!(Block::decode(Bytes::new()).is_none());
    }

    #[test]
    fn a_block_takes_events_until_it_is_long_and_one_that_is_longer() {
        let mut block = NewBlock::at(1);
        let long = NewEvent::new(vec![0; 100_000]);
        assert!(!block.is_complete_before(&long));
        block.push(long, Moment(1));
        assert!(block.is_complete_before(&NewEvent::default()));
    }
}
