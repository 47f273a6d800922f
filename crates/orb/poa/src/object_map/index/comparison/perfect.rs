//! Hash without collisions of ids that are known beforehand: one cell for each.
//!
//! Compress, hash and displace (Belazzougui, Botelho, Dietzfelbinger, *Hash, displace, and
//! compress*, ESA 2009), as `phf` does it. It also maps ids outside the set to a cell, so the id of
//! the cell's object is compared.

use super::super::super::link::Link;
use super::super::super::sync::{AtomicU32, Ordering};
use phf_shared::HashKey;
use std::collections::HashSet;

/// Error of a duplicate among the ids for a perfect hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DuplicateId;

pub(crate) struct PerfectIndex {
    key: HashKey,
    displacements: Box<[(u32, u32)]>,
    cells: Box<[Cell]>,
}

struct Cell {
    id: Box<[u8]>,
    /// Link to the entry that is active under the cell's id.
    link: AtomicU32,
}

impl PerfectIndex {
    /// Makes the cells of a set of ids. Takes a few seconds for a million of them.
    pub(crate) fn new(ids: &[Box<[u8]>]) -> Result<Self, DuplicateId> {
        let octets: Vec<&[u8]> = ids.iter().map(|id| &**id).collect();
        let mut seen = HashSet::with_capacity(ids.len());
        if !octets.iter().all(|id| seen.insert(id)) {
            return Err(DuplicateId);
        }
        let state = phf_generator::generate_hash(&octets);
        let cell = |id: &&[u8]| Cell {
            id: Box::from(*id),
            link: AtomicU32::new(Link::NotSet.pack()),
        };
        let in_order = state
            .map
            .iter()
            .filter_map(|&entry_id| octets.get(entry_id));
        Ok(Self {
            key: state.key,
            displacements: state.disps.into(),
            cells: in_order.map(cell).collect(),
        })
    }

    /// Calls `is` for the entry that may have this id, if there is one. Takes no lock.
    pub(crate) fn find<R>(&self, id: &[u8], is: impl FnOnce(u32) -> Option<R>) -> Option<R> {
        // Acquire: pairs with `insert`, and with `remove`, before which the id was marked as
        // closing.
        match Link::unpack(self.cell(id)?.link.load(Ordering::Acquire)) {
            Link::Slot(index) => is(index),
            _ => None,
        }
    }

    pub(crate) fn has(&self, id: &[u8]) -> bool {
        self.cell(id).is_some_and(|cell| *cell.id == *id)
    }

    pub(crate) fn insert(&self, id: &[u8], index: u32) {
        self.set(id, Link::Slot(index));
    }

    pub(crate) fn remove(&self, id: &[u8]) {
        self.set(id, Link::NotSet);
    }

    fn set(&self, id: &[u8], link: Link) {
        if let Some(cell) = self.cell(id) {
            cell.link.store(link.pack(), Ordering::Release);
        }
    }

    fn cell(&self, id: &[u8]) -> Option<&Cell> {
        if self.cells.is_empty() {
            return None;
        }
        let hashes = phf_shared::hash(id, &self.key);
        let index = phf_shared::get_index(&hashes, &self.displacements, self.cells.len());
        self.cells.get(index as usize)
    }
}
