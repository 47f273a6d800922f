//! De-layered demultiplexing: one hash of id and operation leads to the object's entry and the
//! operation's number.
//!
//! Cells are filled as calls come, and later pairs overwrite earlier ones. They are only hints: the
//! entry is pinned, and id and operation are compared whole. So all accesses here are relaxed, and
//! the two words of a cell may come from two calls.

use super::super::super::entry::EntryId;
use super::super::super::sync::{AtomicU32, AtomicU64, OnceLock, Ordering, RandomState};

use std::hash::BuildHasher;

/// Number of cells of the smallest cache table.
const FIRST: usize = 1 << 10;
/// Number of tables, each twice as large as the one before: up to 2^20 cells, 16 MiB.
const TABLES: usize = 11;
/// Number of cells per object, until the largest table is in use.
const CELLS: usize = 8;
/// Mask of the operation's number in a cell's first word; the other bits are from the hash.
const NUMBER: u64 = 0xffff;
/// First word of an empty cell. Not 0: writing it makes the system map the table's memory at once,
/// not during the first call that uses a cell.
const NOTHING: u64 = NUMBER;

pub(crate) struct Shortcuts {
    hasher: RandomState,
    tables: [OnceLock<Box<[Cell]>>; TABLES],
    /// Index of the table in use. Smaller tables are kept; all together they are as large as this
    /// one.
    current: AtomicU32,
}

struct Cell {
    /// Upper bits of the pair's hash, and the operation's number.
    tag: AtomicU64,
    entry_id: AtomicU64,
}

/// Hash of a pair of id and operation, which selects its cell.
#[derive(Clone, Copy)]
pub(crate) struct Pair(u64);

impl Shortcuts {
    pub(crate) fn new() -> Self {
        let new = Self {
            hasher: RandomState::new(),
            tables: std::array::from_fn(|_| OnceLock::new()),
            current: AtomicU32::new(0),
        };
        new.make(0);
        new
    }

    pub(crate) fn pair(&self, id: &[u8], operation: &str) -> Pair {
        Pair(self.hasher.hash_one((id, operation)))
    }

    /// Returns the entry and the operation's number that may belong to a pair; the caller compares
    /// id and operation.
    pub(crate) fn find(&self, pair: Pair) -> Option<(EntryId, usize)> {
        let cell = self.cell(pair)?;
        let tag = cell.tag.load(Ordering::Relaxed);
        let number = tag & NUMBER;
        if number == NOTHING || tag & !NUMBER != pair.0 & !NUMBER {
            return None;
        }
        let entry_id = EntryId::of(&cell.entry_id.load(Ordering::Relaxed).to_be_bytes())?;
        Some((entry_id, number as usize))
    }

    /// Records a pair, unless its number is too large.
    pub(crate) fn note(&self, pair: Pair, entry_id: EntryId, number: usize) {
        if let Some(cell) = self.cell(pair)
            && (number as u64) < NUMBER
        {
            let octets = u64::from_be_bytes(entry_id.octets());
            cell.entry_id.store(octets, Ordering::Relaxed);
            let tag = pair.0 & !NUMBER | number as u64;
            cell.tag.store(tag, Ordering::Relaxed);
        }
    }

    /// Removes a wrong cache record for a pair of object and operation.
    pub(crate) fn drop(&self, pair: Pair) {
        if let Some(cell) = self.cell(pair) {
            cell.tag.store(NOTHING, Ordering::Relaxed);
        }
    }

    /// Makes enough cells for this number of objects; a larger table begins empty. Called by one
    /// thread at a time.
    pub(crate) fn reserve(&self, objects: usize) {
        let current = self.current.load(Ordering::Relaxed) as usize;
        if objects.saturating_mul(CELLS) > FIRST << current && current + 1 < TABLES {
            self.make(current + 1);
        }
    }

    fn make(&self, table: usize) {
        let new_cell = |_| Cell {
            tag: AtomicU64::new(NOTHING),
            entry_id: AtomicU64::new(0),
        };
        if let Some(cells) = self.tables.get(table) {
            cells.get_or_init(|| (0..FIRST << table).map(new_cell).collect());
            // Release: a reader of the number finds the table.
            self.current.store(table as u32, Ordering::Release);
        }
    }

    fn cell(&self, pair: Pair) -> Option<&Cell> {
        let current = self.current.load(Ordering::Acquire) as usize;
        let cells = self.tables.get(current)?.get()?;
        // The low bits are not in the tag.
        cells.get(pair.0 as usize & (cells.len() - 1))
    }
}
