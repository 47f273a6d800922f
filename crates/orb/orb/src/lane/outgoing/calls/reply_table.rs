//! Table of the callers that wait for replies on a connection.
//!
//! A request id is even (as for the connection's originator, CORBA 3.3 part 2, §9.8.1) and contains the index of a
//! place in the table and the generation of that place. So a reply finds its caller in one step, and a late reply to an
//! abandoned call finds none. Places are taken and released by one atomic exchange each; there is no lock. The place of
//! an abandoned call is *owed* until its late reply has arrived: it is not used again before.

use super::slot::ReplySlot;
use crate::sync::{AtomicU32, AtomicU64, OnceLock, Ordering};

/// Maximum number of calls that may wait on one connection at once.
pub(crate) const MAX_WAITING: usize = 1 << INDEX_BITS;
const INDEX_BITS: u32 = 17;
pub(super) const GENERATIONS: u32 = 1 << (31 - INDEX_BITS);
/// Number of places in a row: a bit of one word marks each taken place.
const A_ROW: usize = 64;
/// Number of rows that are allocated together, when more callers wait than ever before.
const A_BLOCK: usize = 32;
const BLOCKS: usize = MAX_WAITING / A_ROW / A_BLOCK;

/// Table of the callers that wait for replies on one connection.
#[derive(Debug)]
pub(crate) struct ReplyTable<T> {
    /// The first row. Few connections have more callers at once.
    first: Row<T>,
    /// Further rows; the first of them is not used.
    further: [OnceLock<Box<[Row<T>]>>; BLOCKS],
    /// Number of a further row that recently had a free place.
    vacant: AtomicU32,
    /// Last bit of each id: 0 for the connection's originator, 1 for the other side.
    parity: u32,
}

#[derive(Debug)]
struct Row<T> {
    /// Bit set of the places in the row that are taken.
    taken: AtomicU64,
    /// Bit set of the places whose caller has left without its reply. Such a place is not used
    /// again before the reply has arrived: as generations repeat, a late reply could otherwise
    /// reach another caller.
    owed: AtomicU64,
    slots: [OnceLock<Box<ReplySlot<T>>>; A_ROW],
}

/// Place in the table that a caller has taken.
#[derive(Debug)]
pub(crate) struct ReplyPlace<'t, T> {
    pub(crate) id: u32,
    pub(crate) slot: &'t ReplySlot<T>,
}

impl<T> Default for ReplyTable<T> {
    fn default() -> Self {
        Self {
            first: Row::new(),
            further: std::array::from_fn(|_| OnceLock::new()),
            vacant: AtomicU32::new(1),
            parity: 0,
        }
    }
}

impl<T> Row<T> {
    fn new() -> Self {
        Self {
            taken: AtomicU64::new(0),
            owed: AtomicU64::new(0),
            slots: std::array::from_fn(|_| OnceLock::new()),
        }
    }

    /// Takes a free place and returns its index in the row, or `None` if there is none.
    #[inline]
    fn take(&self) -> Option<usize> {
        let mut taken = self.taken.load(Ordering::Relaxed);
        loop {
            let free = taken.trailing_ones();
            let bit = 1u64.checked_shl(free)?;
            // Acquire pairs with the Release of the caller that had the place before.
            match self.taken.compare_exchange_weak(
                taken,
                taken | bit,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(free as usize),
                Err(now) => taken = now,
            }
        }
    }

    /// Returns the slots of the places that are taken.
    fn in_use(&self) -> impl Iterator<Item = &ReplySlot<T>> {
        let taken = self.taken.load(Ordering::Acquire);
        let slots = self.slots.iter().enumerate();
        slots
            .filter(move |(at, _)| taken >> at & 1 == 1)
            .filter_map(|(_, slot)| slot.get().map(|slot| &**slot))
    }
}

impl<T> ReplyTable<T> {
    /// Makes the table for calls over an incoming connection: its ids are odd.
    pub(crate) fn odd() -> Self {
        Self {
            parity: 1,
            ..Self::default()
        }
    }

    /// Returns a place for one more caller; `None` when [`MAX_WAITING`] wait already. Allocates
    /// only if more wait at once than ever before.
    #[inline(always)]
    pub(crate) fn register(&self) -> Option<ReplyPlace<'_, T>> {
        match self.first.take() {
            Some(at) => self.enter(&self.first, at, 0),
            None => self.register_further(),
        }
    }

    #[cold]
    fn register_further(&self) -> Option<ReplyPlace<'_, T>> {
        // Relaxed: only a hint.
        let vacant = self.vacant.load(Ordering::Relaxed) as usize;
        let rows = (vacant..BLOCKS * A_BLOCK).chain(1..vacant);
        for number in rows {
            let block = self.further.get(number / A_BLOCK)?;
            let block = block.get_or_init(|| (0..A_BLOCK).map(|_| Row::new()).collect());
            let row = block.get(number % A_BLOCK)?;
            if let Some(at) = row.take() {
                self.record_vacancy(number);
                return self.enter(row, at, number);
            }
        }
        None
    }

    fn record_vacancy(&self, row: usize) {
        let row = u32::try_from(row).unwrap_or(1);
        self.vacant.store(row, Ordering::Relaxed);
    }

    #[inline]
    fn enter<'t>(&self, row: &'t Row<T>, at: usize, number: usize) -> Option<ReplyPlace<'t, T>> {
        let slot = row
            .slots
            .get(at)?
            .get_or_init(|| Box::new(ReplySlot::new()));
        let index = u32::try_from(number * A_ROW + at).ok()?;
        let generation = slot.begin() % GENERATIONS;
        Some(ReplyPlace {
            id: (generation << INDEX_BITS | index) << 1 | self.parity,
            slot,
        })
    }

    /// Returns the taken place in the reply table for this request id.
    pub(crate) fn place(&self, id: u32) -> Option<ReplyPlace<'_, T>> {
        let index = index_of(id);
        let slot = self.row(index)?.slots.get(index % A_ROW)?.get()?;
        Some(ReplyPlace { id, slot })
    }

    /// Gives a place back, after its slot has been ended.
    #[inline]
    pub(crate) fn give_back(&self, id: u32) {
        let index = index_of(id);
        if let Some(row) = self.row(index) {
            // Release pairs with the Acquire in `take`; SeqCst for `is_idle`.
            row.taken
                .fetch_and(!(1 << (index % A_ROW)), Ordering::SeqCst);
            if index >= A_ROW {
                self.record_vacancy(index / A_ROW);
            }
        }
    }

    /// Marks a place as owed before its slot is ended, so that it is not used again: the late reply of
    /// the abandoned call may still arrive.
    #[cold]
    pub(crate) fn keep_owed(&self, id: u32) {
        let index = index_of(id);
        if let Some(row) = self.row(index) {
            // SeqCst, as in `give_back`.
            row.owed.fetch_or(1 << (index % A_ROW), Ordering::SeqCst);
        }
    }

    /// Releases the place of an abandoned call whose late reply has arrived. If several threads do so
    /// at once, only one releases it.
    #[cold]
    pub(crate) fn settle_owed(&self, id: u32) {
        let index = index_of(id);
        let bit = 1 << (index % A_ROW);
        if let Some(row) = self.row(index)
            && row.owed.fetch_and(!bit, Ordering::SeqCst) & bit != 0
        {
            self.give_back(id);
        }
    }

    /// Returns the number of places of abandoned calls whose late replies are outstanding.
    pub(crate) fn owed(&self) -> u32 {
        let owed = |row: &Row<T>| row.owed.load(Ordering::Relaxed).count_ones();
        self.rows().map(owed).sum()
    }

    /// Releases the place of a reply that no caller waits for, if its call was abandoned. Called by
    /// the reader only.
    #[cold]
    fn settle(&self, slot: &ReplySlot<T>, id: u32) {
        let was_last = slot.generation().wrapping_sub(1) % GENERATIONS == id >> (1 + INDEX_BITS);
        if was_last {
            self.settle_owed(id);
        }
    }

    /// Delivers to the caller that waits for this reply; returns `false` if no caller does.
    pub(crate) fn deliver(&self, id: u32, content: T) -> bool {
        let index = index_of(id);
        let Some(row) = self.row(index).filter(|_| id & 1 == self.parity) else {
            return false;
        };
        let Some(slot) = row.slots.get(index % A_ROW).and_then(OnceLock::get) else {
            return false;
        };
        let generation = slot.generation();
        // The place may belong to the next caller by now: the slot compares again.
        let is_current = generation % GENERATIONS == id >> (1 + INDEX_BITS);
        if is_current && slot.deliver_if(generation, content, |_| false) {
            return true;
        }
        self.settle(slot, id);
        false
    }

    /// Wakes the watcher for this reply although the reply has not arrived.
    pub(crate) fn wake_watcher(&self, id: u32) {
        let index = index_of(id);
        let slot = self.row(index).and_then(|row| row.slots.get(index % A_ROW));
        if let Some(slot) = slot.and_then(OnceLock::get) {
            let generation = slot.generation();
            if generation % GENERATIONS == id >> (1 + INDEX_BITS) {
                slot.wake_watcher(generation);
            }
        }
    }

    /// Chooses a new reader among the waiting callers; returns `false` if there is none.
    pub(crate) fn promote_one(&self) -> bool {
        self.slots().any(ReplySlot::promote)
    }

    /// Delivers to all waiting callers. `may_replace` decides whether an earlier delivery is
    /// replaced.
    pub(crate) fn deliver_to_all(&self, content: impl Fn() -> T, may_replace: impl Fn(&T) -> bool) {
        for slot in self.slots() {
            slot.deliver_now(content(), &may_replace);
        }
    }

    /// Returns `true` if a caller waits at one of the first 64 places. Cheap and inexact: a place
    /// that is being taken or released may be counted either way.
    #[inline]
    pub(crate) fn is_taken(&self) -> bool {
        let taken = self.first.taken.load(Ordering::Relaxed);
        taken != 0 && taken & !self.first.owed.load(Ordering::Relaxed) != 0
    }

    /// Returns `true` if no caller waits. If one thread releases its place and then reads a flag,
    /// and another thread sets that flag and then calls this function, at least one of them sees
    /// the other's change.
    pub(crate) fn is_idle(&self) -> bool {
        self.rows().all(|row| {
            let taken = row.taken.load(Ordering::SeqCst);
            taken == 0 || taken & !row.owed.load(Ordering::SeqCst) == 0
        })
    }

    fn rows(&self) -> impl Iterator<Item = &Row<T>> {
        let further = self.further.iter().filter_map(OnceLock::get);
        std::iter::once(&self.first).chain(further.flat_map(|block| &**block))
    }

    fn row(&self, index: usize) -> Option<&Row<T>> {
        match index / A_ROW {
            0 => Some(&self.first),
            row => self.further.get(row / A_BLOCK)?.get()?.get(row % A_BLOCK),
        }
    }

    fn slots(&self) -> impl Iterator<Item = &ReplySlot<T>> {
        self.rows().flat_map(Row::in_use)
    }
}

pub(super) fn index_of(id: u32) -> usize {
    (id >> 1) as usize & (MAX_WAITING - 1)
}
