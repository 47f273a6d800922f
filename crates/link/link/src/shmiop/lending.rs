//! Lending: loans that an application fills, and data copied into the pool.

use super::pool::{Piece, Pool};
use crate::LoanMemory;
use punctual_cdr::Segment;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stretch of this side's pool on its way to the peer.
#[derive(Debug)]
pub(super) struct Outgoing {
    piece: Arc<Piece>,
    range: Range<usize>,
}

/// Returns `octets` as a stretch of the pool: in place if they lie there, else copied there, once.
/// `None` when no piece is free.
pub(super) fn lend(pool: &Arc<Pool>, octets: &[u8]) -> Option<Arc<dyn Segment>> {
    if let Some((piece, start)) = pool.find(octets) {
        return Some(in_place(piece, start, octets.len()));
    }
    copy_into(pool, octets)
}

/// Returns `len` bytes of a published piece, from its byte `start` on.
pub(super) fn in_place(piece: Arc<Piece>, start: usize, len: usize) -> Arc<dyn Segment> {
    let range = start..start + len;
    Arc::new(Outgoing { piece, range })
}

/// Copies `octets` into a new piece of the pool, which is published; `None` when none is free.
pub(super) fn copy_into(pool: &Arc<Pool>, octets: &[u8]) -> Option<Arc<dyn Segment>> {
    let mut piece = pool.take(octets.len())?;
    piece
        .as_mut_slice()
        .get_mut(..octets.len())?
        .copy_from_slice(octets);
    pool.copies().into_pool.add(octets.len());
    let piece = Arc::new(piece);
    pool.publish(&piece);
    let range = 0..octets.len();
    Some(Arc::new(Outgoing { piece, range }))
}

impl Segment for Outgoing {
    fn len(&self) -> usize {
        self.range.len()
    }

    fn as_slice(&self) -> &[u8] {
        let octets = self.piece.as_slice();
        octets.get(self.range.clone()).unwrap_or_default()
    }

    fn copy_to(&self, to: &mut [u8]) {
        to.copy_from_slice(self.as_slice());
    }
}

/// Piece of the pool, lent to the application.
///
/// Once the application has read the loan it may have been sent, so the peer, or a message not yet
/// sent, may still read it: a later change then moves the content to another piece first. An
/// application that fills a fresh loan for each message never pays for that.
#[derive(Debug)]
pub(super) struct PoolLoan {
    place: Storage,
    len: usize,
    /// `true` if the piece is published in the pool, which then finds it by its address.
    listed: AtomicBool,
}

#[derive(Debug)]
enum Storage {
    Pool(Arc<Piece>),
    /// Heap memory, to which the content was moved when the pool had no room.
    Heap(Vec<u8>),
}

impl PoolLoan {
    /// Makes a loan of `len` bytes with unspecified content; `None` when no piece is free.
    pub(super) fn new(pool: &Arc<Pool>, len: usize) -> Option<Self> {
        Some(Self {
            place: Storage::Pool(Arc::new(pool.take(len)?)),
            len,
            listed: false.into(),
        })
    }

    fn copy_elsewhere(piece: &Piece, len: usize) -> Storage {
        let octets = piece.as_slice().get(..len).unwrap_or_default();
        let pool = piece.pool();
        let Some(mut fresh) = pool.take(len) else {
            return Storage::Heap(octets.to_vec());
        };
        if let Some(to) = fresh.as_mut_slice().get_mut(..octets.len()) {
            to.copy_from_slice(octets);
        }
        pool.copies().into_pool.add(octets.len());
        Storage::Pool(Arc::new(fresh))
    }
}

impl LoanMemory for PoolLoan {
    fn as_slice(&self) -> &[u8] {
        match &self.place {
            Storage::Heap(octets) => octets,
            Storage::Pool(piece) => {
                // Relaxed: at worst two threads list it, each under the pool's lock.
                if !self.listed.load(Ordering::Relaxed) {
                    piece.pool().publish(piece);
                    self.listed.store(true, Ordering::Relaxed);
                }
                piece.as_slice().get(..self.len).unwrap_or_default()
            }
        }
    }

    fn as_mut_slice(&mut self) -> &mut [u8] {
        if let Storage::Pool(piece) = &self.place
            && *self.listed.get_mut()
        {
            if !piece.pool().unpublish(piece) {
                self.place = Self::copy_elsewhere(piece, self.len);
            }
            *self.listed.get_mut() = false;
        }
        let octets = match &mut self.place {
            Storage::Heap(octets) => octets.as_mut_slice(),
            // An unlisted piece has only this holder.
            Storage::Pool(piece) => Arc::get_mut(piece).map_or(&mut [][..], Piece::as_mut_slice),
        };
        octets.get_mut(..self.len).unwrap_or_default()
    }
}
