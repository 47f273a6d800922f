//! Events of a block in memory: their lengths, and how many readers wait for each.

use std::collections::BTreeMap;

use crate::contract::{LogStatus, Moment};

/// Events of a block.
#[derive(Debug)]
pub(super) struct BlockState {
    pub(super) slots: Box<[Slot]>,
    /// Moments at which the events expire (0: never); empty if none does.
    pub(super) expiries: Box<[u64]>,
    /// Earliest of these moments; the greatest number if there is none.
    pub(super) earliest: u64,
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

impl Slot {
    pub(super) fn bytes(self) -> u64 {
        u64::from(self.length)
    }
}

impl BlockState {
    pub(super) fn expires(&self, number: usize) -> Option<Moment> {
        let moment = self.expiries.get(number).copied()?;
        (moment > 0).then_some(Moment(moment))
    }
}

pub(super) fn earliest(expiries: &[u64]) -> u64 {
    let moments = expiries.iter().filter(|moment| **moment > 0);
    moments.min().copied().unwrap_or(u64::MAX)
}

pub(super) fn is_past(moment: u64, now: Moment) -> bool {
    moment > 0 && moment <= now.0
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

/// Notes that one reader less waits for an event.
pub(super) fn release(slot: &mut Slot, live: &mut usize, status: &mut LogStatus) {
    slot.waiting -= 1;
    if slot.waiting == 0 {
        *live -= 1;
        status.events -= 1;
        status.bytes -= slot.bytes();
    }
}
