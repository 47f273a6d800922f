//! Latest messages of one source.

use super::header::{BadDatagram, FragmentHeader};
use punctual::stub::ByteOrder;
use std::collections::{BTreeMap, VecDeque};
use std::ops::AddAssign;

/// Latest messages of one source, by their numbers, which count up and begin again behind the largest.
#[derive(Debug)]
pub(super) struct Window {
    /// Number of the first message in `slots`.
    first: u32,
    slots: VecDeque<Slot>,
    most: usize,
    /// Number of fragments in a row that were older than the window.
    late: u32,
}

/// State of a message.
#[derive(Debug)]
pub(super) enum Slot {
    /// No fragment of the message has arrived; it may have been sent before its source was known.
    Before,
    /// No fragment of the message has arrived.
    Missing,
    /// Some fragments of the message have arrived.
    Partial(Box<Partial>),
    /// The message has been passed on, or given up.
    Done,
}

/// Message of which some fragments have arrived. It holds what has arrived, and no room for what is announced.
#[derive(Debug)]
pub(super) struct Partial {
    order: ByteOrder,
    size: u32,
    count: u32,
    /// Places of fragments in the message, and their octets, by the fragments' numbers.
    fragments: BTreeMap<u32, (u32, Box<[u8]>)>,
    /// Octets that have arrived.
    filled: usize,
}

/// Octets of memory that a fragment costs beside its own.
pub(super) const BESIDE: usize = 64;

/// Number of messages that may arrive after later ones of a new source, and are still accepted.
const BEFORE: u32 = 16;

/// Number of late fragments in a row after which a source is assumed to have restarted, with numbers from the beginning.
const LATE_IN_A_ROW: u32 = 16;

/// Number of messages by which a source may be ahead of its window. A source that is further ahead is treated as
/// restarted: the number may be forged.
const FAR: usize = 1 << 16;

/// Messages that left the window incomplete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lost {
    /// Messages, including messages without any fragment that arrived.
    pub(super) messages: u64,
    /// Octets of memory that their parts held.
    pub(super) octets: usize,
}

impl Window {
    /// Makes a window of at most `most` messages around the first one that arrives.
    pub(super) fn new(arrived: u32, most: usize) -> Self {
        let mut window = Self {
            first: 0,
            slots: VecDeque::new(),
            most: most.max(1),
            late: 0,
        };
        window.begin_at(arrived);
        window
    }

    /// Returns the state of a message; `None` if it is older than the window. A newer one moves the window, and so does
    /// a source that counts anew.
    pub(super) fn slot(&mut self, message: u32) -> (Option<&mut Slot>, Lost) {
        let mut lost = Lost::default();
        if self.is_late(message) {
            self.late += 1;
            if self.late < LATE_IN_A_ROW {
                return (None, lost);
            }
            lost = self.leave(self.slots.len());
            self.begin_at(message);
        }
        self.late = 0;
        if message.wrapping_sub(self.first) as usize > self.slots.len() + FAR {
            lost += self.leave(self.slots.len());
            self.begin_at(message);
        }
        let ahead = message.wrapping_sub(self.first) as usize;
        lost += self.leave((ahead + 1).saturating_sub(self.most));
        let at = message.wrapping_sub(self.first) as usize;
        while self.slots.len() <= at {
            self.slots.push_back(Slot::Missing);
        }
        (self.slots.get_mut(at), lost)
    }

    /// Returns the octets that parts of messages hold.
    pub(super) fn held(&self) -> usize {
        self.slots.iter().map(Slot::held).sum()
    }

    /// Returns the number of messages that are not complete, and may still become so.
    pub(super) fn missing(&self) -> u64 {
        let is_missing = |slot: &&Slot| matches!(slot, Slot::Missing | Slot::Partial(_));
        self.slots.iter().filter(is_missing).count() as u64
    }

    /// Gives up all incomplete messages.
    pub(super) fn give_up(&mut self) -> Lost {
        let mut lost = Lost::default();
        for slot in &mut self.slots {
            if matches!(slot, Slot::Partial(_)) {
                lost += slot.lost();
                *slot = Slot::Done;
            }
        }
        lost
    }

    fn begin_at(&mut self, arrived: u32) {
        let before = BEFORE.min(u32::try_from(self.most - 1).unwrap_or(BEFORE));
        self.first = arrived.wrapping_sub(before);
        self.slots = (0..before).map(|_| Slot::Before).collect();
    }

    const fn is_late(&self, message: u32) -> bool {
        message.wrapping_sub(self.first) > u32::MAX / 2
    }

    /// Removes the first `count` messages from the window; `count` may exceed the number of slots.
    fn leave(&mut self, count: usize) -> Lost {
        let mut lost = Lost::default();
        let known = count.min(self.slots.len());
        for slot in self.slots.drain(..known) {
            lost += slot.lost();
        }
        lost.messages += (count - known) as u64;
        self.first = self
            .first
            .wrapping_add(u32::try_from(count).unwrap_or(u32::MAX));
        lost
    }
}

impl AddAssign for Lost {
    fn add_assign(&mut self, other: Self) {
        self.messages += other.messages;
        self.octets += other.octets;
    }
}

impl Slot {
    fn held(&self) -> usize {
        match self {
            Self::Partial(partial) => partial.held(),
            Self::Before | Self::Missing | Self::Done => 0,
        }
    }

    fn lost(&self) -> Lost {
        Lost {
            messages: u64::from(matches!(self, Self::Missing | Self::Partial(_))),
            octets: self.held(),
        }
    }
}

impl Partial {
    /// Makes an empty message, as its first fragment announces it.
    pub(super) const fn new(header: &FragmentHeader) -> Self {
        Self {
            order: header.order,
            size: header.message_size,
            count: header.count,
            fragments: BTreeMap::new(),
            filled: 0,
        }
    }

    /// Returns the octets of memory that a fragment costs until its message is complete.
    pub(super) const fn cost(fragment: &[u8]) -> usize {
        fragment.len() + BESIDE
    }

    /// Returns the octets of memory that the message holds.
    pub(super) fn held(&self) -> usize {
        self.filled + BESIDE * self.fragments.len()
    }

    /// Takes a fragment. Returns `false` if it has been taken before.
    ///
    /// # Errors
    /// The fragment contradicts earlier ones.
    pub(super) fn take(
        &mut self,
        header: &FragmentHeader,
        fragment: &[u8],
    ) -> Result<bool, BadDatagram> {
        let announced = (header.order, header.message_size, header.count);
        if announced != (self.order, self.size, self.count) {
            let text = "the fragment is of another message than those before with its number";
            return Err(BadDatagram::Contradiction(text));
        }
        if self.fragments.contains_key(&header.number) {
            return Ok(false);
        }
        let taken = (header.offset, fragment.into());
        self.fragments.insert(header.number, taken);
        self.filled += fragment.len();
        Ok(true)
    }

    /// Returns `true` once all fragments have arrived.
    pub(super) fn is_complete(&self) -> bool {
        self.fragments.len() == self.count as usize
    }

    /// Returns the message.
    ///
    /// # Errors
    /// Its fragments overlap, or leave a gap.
    pub(super) fn finish(self) -> Result<(ByteOrder, Vec<u8>), BadDatagram> {
        let mut fragments: Vec<_> = self.fragments.into_values().collect();
        // Senders number them by their places.
        fragments.sort_by_key(|(offset, _)| *offset);
        let mut message = Vec::with_capacity(self.filled);
        for (offset, fragment) in &fragments {
            if *offset as usize != message.len() {
                break;
            }
            message.extend_from_slice(fragment);
        }
        if message.len() == self.size as usize && self.filled == message.len() {
            Ok((self.order, message))
        } else {
            let text = "the fragments overlap, or leave a gap in the message";
            Err(BadDatagram::Contradiction(text))
        }
    }
}
