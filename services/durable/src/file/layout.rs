//! Tables of the database, and their records.
//!
//! | table | key | value |
//! |---|---|---|
//! | `event logs` | name of a log | its number, position of its next event |
//! | `event readers` | number of a log, name of a reader | [`ReaderRecord`] |
//! | `event heads` | number of a log, position of a block's first event | [`Head`]: lengths of the block's events, and when they expire |
//! | `event blocks` | as above | the events ([`block`](super::block)) |
//! | `event ids` | as above | [`IdsRecord`]: ids of the block's events, against repeats; they outlive the block |
//!
//! Numbers are big-endian. Each value but those of `event logs` begins with its version.

use bytes::{Buf, BufMut};
use punctual_host::store::{Record, Records, StoreError, TableDefinition};

use super::ranges::Ranges;
use crate::contract::{EventId, Moment};

/// Key of a block: number of the log, position of the first event.
pub(super) type BlockKey = (u64, u64);

pub(super) const LOGS: Records<&'static str, LogRecord> = Records::named("event logs");
pub(super) const READERS: Records<(u64, &'static str), ReaderRecord> =
    Records::named("event readers");
pub(super) const HEADS: Records<BlockKey, Head> = Records::named("event heads");
pub(super) const IDS: Records<BlockKey, IdsRecord> = Records::named("event ids");
pub(super) const BLOCKS: TableDefinition<'static, BlockKey, &'static [u8]> =
    TableDefinition::new("event blocks");

const VERSION: u8 = 1;

/// Log, as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LogRecord {
    pub(super) number: u64,
    /// Position of the next event.
    pub(super) next: u64,
}

/// Reader, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReaderRecord {
    /// Position below which events may have been handed out before.
    pub(super) seen: u64,
    /// Positions of events that the reader does not wait for.
    pub(super) acknowledged: Ranges,
}

/// Lengths of a block's events in bytes, and moments at which they expire (0: never), or none if
/// none expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) lengths: Vec<u32>,
    pub(super) expiries: Vec<u64>,
}

/// Ids of a block's events, and the moment of their append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IdsRecord {
    pub(super) appended: Moment,
    pub(super) ids: Vec<EventId>,
}

impl Record for LogRecord {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), StoreError> {
        out.put_u64(self.number);
        out.put_u64(self.next);
        Ok(())
    }

    fn decode(mut bytes: &[u8]) -> Option<Self> {
        let number = bytes.try_get_u64().ok()?;
        let next = bytes.try_get_u64().ok()?;
        bytes.is_empty().then_some(Self { number, next })
    }
}

impl Record for ReaderRecord {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), StoreError> {
        out.put_u8(VERSION);
        out.put_u64(self.seen);
        for (start, end) in self.acknowledged.iter() {
            out.put_u64(start);
            out.put_u64(end);
        }
        Ok(())
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut bytes = bytes.strip_prefix(&[VERSION])?;
        let seen = bytes.try_get_u64().ok()?;
        let (pairs, rest) = bytes.as_chunks::<16>();
        let pairs = pairs.iter().map(|pair| {
            let mut pair = pair.as_slice();
            (pair.get_u64(), pair.get_u64())
        });
        let acknowledged = Ranges::from_sorted(pairs)?;
        rest.is_empty().then_some(Self { seen, acknowledged })
    }
}

impl Record for Head {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), StoreError> {
        out.put_u8(VERSION);
        out.put_u32(u32::try_from(self.lengths.len()).map_err(StoreError::io)?);
        self.lengths.iter().for_each(|length| out.put_u32(*length));
        self.expiries.iter().for_each(|moment| out.put_u64(*moment));
        Ok(())
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut bytes = bytes.strip_prefix(&[VERSION])?;
        let count = bytes.try_get_u32().ok()? as usize;
        let (lengths, expiries) = bytes.split_at_checked(count.checked_mul(4)?)?;
        let (expiries, rest) = expiries.as_chunks::<8>();
        if !rest.is_empty() || ![0, count].contains(&expiries.len()) {
            return None;
        }
        let (lengths, _) = lengths.as_chunks::<4>();
        Some(Self {
            lengths: lengths.iter().map(|one| u32::from_be_bytes(*one)).collect(),
            expiries: expiries
                .iter()
                .map(|one| u64::from_be_bytes(*one))
                .collect(),
        })
    }
}

impl Record for IdsRecord {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), StoreError> {
        out.put_u8(VERSION);
        out.put_u64(self.appended.0);
        for id in &self.ids {
            out.put_u8(id.as_bytes().len() as u8);
            out.put_slice(id.as_bytes());
        }
        Ok(())
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut bytes = bytes.strip_prefix(&[VERSION])?;
        let appended = Moment(bytes.try_get_u64().ok()?);
        let mut ids = Vec::new();
        while let Some((length, rest)) = bytes.split_first() {
            let (id, rest) = rest.split_at_checked(usize::from(*length))?;
            ids.push(EventId::new(id)?);
            bytes = rest;
        }
        Some(Self { appended, ids })
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;

    fn check<R: Record + PartialEq + Debug>(record: R) {
        let mut bytes = Vec::new();
        record.encode(&mut bytes).unwrap();
        assert_eq!(R::decode(&bytes), Some(record));
        bytes.push(0xFF);
        assert_eq!(R::decode(&bytes), None);
    }

    #[test]
    fn records_are_read_as_they_were_written_and_others_refused() {
        check(LogRecord { number: 3, next: 9 });
        check(Head {
            lengths: vec![1, 2],
            expiries: vec![],
        });
        check(Head {
            lengths: vec![1, 2],
            expiries: vec![0, 7],
        });
        let ids = vec![EventId::new(b"one").unwrap(), EventId::new(b"2").unwrap()];
        check(IdsRecord {
            appended: Moment(5),
            ids,
        });
        let mut acknowledged = Ranges::below(4);
        acknowledged.insert(9);
        check(ReaderRecord {
            seen: 3,
            acknowledged,
        });
        assert_eq!(Head::decode(&[1, 0xFF, 0xFF, 0xFF, 0xFF]), None);
    }
}
