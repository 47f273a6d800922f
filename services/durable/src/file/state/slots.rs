//! Events of a block in memory: their lengths, when they expire, and how many readers wait for each.

use std::collections::BTreeMap;

use super::expiry::{earliest, is_past};
use crate::contract::{LogStatus, Moment};
use crate::file::layout::Head;

/// Events of a block.
#[derive(Debug)]
pub(super) struct BlockState {
    pub(super) slots: Box<[Slot]>,
    /// Moments at which the events expire (0: never); empty if none does.
    pub(super) expiries: Box<[u64]>,
    /// Earliest of these moments that has not been dealt with.
    pub(super) earliest: Option<u64>,
    /// Number of events that readers wait for.
    pub(super) live: usize,
}

/// Event in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// Length of its content in bytes.
    pub(super) length: u32,
    /// Number of readers that wait for it.
    pub(super) waiting: u32,
}

// There is one for each event of a log, which may have millions.
const _: () = assert!(size_of::<Slot>() == 8);

impl Slot {
    pub(super) fn bytes(self) -> u64 {
        u64::from(self.length)
    }
}

impl BlockState {
    /// Returns the state of a block for whose events no reader waits yet.
    pub(super) fn of(head: Head) -> Self {
        let slot = |&length: &u32| Slot { length, waiting: 0 };
        Self {
            slots: head.lengths.iter().map(slot).collect(),
            earliest: earliest(&head.expiries, Moment(0)),
            expiries: head.expiries.into(),
            live: 0,
        }
    }

    pub(super) fn has_expired(&self, number: usize, now: Moment) -> bool {
        let moment = self.expiries.get(number);
        moment.is_some_and(|moment| is_past(*moment, now))
    }

    /// Notes that one reader less waits for an event. Returns true if readers then wait for no event of the block.
    pub(super) fn release(&mut self, number: usize, status: &mut LogStatus) -> bool {
        let slot = &mut self.slots[number];
        slot.waiting -= 1;
        if slot.waiting == 0 {
            self.live -= 1;
            status.events -= 1;
            status.bytes -= slot.bytes();
        }
        self.live == 0
    }
}

/// Returns the block of a position, and the position of its first event.
pub(super) fn block_of(
    blocks: &mut BTreeMap<u64, BlockState>,
    position: u64,
) -> Option<(u64, &mut BlockState)> {
    let (first, block) = blocks.range_mut(..=position).next_back()?;
    let is_within = position - first < block.slots.len() as u64;
    is_within.then_some((*first, block))
}
