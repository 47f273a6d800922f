//! Peer of one connection as a holder of pieces of the common pool.
//!
//! Private memory has how often each piece was sent to this peer, and how often the peer is known to
//! have returned it, by marks in its own memory as for a connection's pool. While one is out, this
//! side keeps the piece for the peer. A peer that returns nothing costs the others its share of the
//! pool, and no more. Marks that count more than was sent break the protocol, and are ignored from
//! then on.
//!
//! What is out at the end of the connection stays so until it is returned, or until the peer has
//! closed its end of the lifeline ([`Lifeline`]), as its process does when it dies.

use super::allocator::{Marks, Reference};
use super::layout::{REFERENCES, SLOTS};
use super::lending;
use super::pool::{Piece, Pool};
use crate::Cause;
use punctual_cdr::Segment;
use punctual_exec::{LaneLock, LockProtocol};
use punctual_sys::lifeline::Lifeline;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Part of the common pool that may be out at one peer: the pool's size divided by this.
pub(super) const SHARE: usize = 4;

/// Holder of pieces; see the module.
pub(super) struct Holder {
    pool: Arc<Pool>,
    marks: Arc<dyn Marks>,
    lifeline: Lifeline,
    closed: AtomicBool,
    held: LaneLock<Held>,
}

struct Held {
    /// Slots of the pool, as this peer has them.
    slots: Vec<Slot>,
    /// Indices of the slots whose pieces are out.
    out: Vec<usize>,
    /// Number of bytes of the pieces that are out.
    octets: usize,
    /// Set once the peer has returned something it never got.
    broken: bool,
}

#[derive(Default)]
struct Slot {
    /// Piece, while it is out.
    piece: Option<Arc<Piece>>,
    /// Number of times that pieces of the slot were sent; `back` is the number of times they are
    /// known to have been returned. Both wrap.
    sent: u32,
    back: u32,
}

impl Holder {
    /// Makes the holder of a new connection.
    pub(super) fn new(pool: Arc<Pool>, marks: Arc<dyn Marks>, lifeline: Lifeline) -> Self {
        let held = Held {
            slots: (0..SLOTS).map(|_| Slot::default()).collect(),
            out: Vec::with_capacity(SLOTS),
            octets: 0,
            broken: false,
        };
        Self {
            pool,
            marks,
            lifeline,
            closed: AtomicBool::new(false),
            held: LaneLock::new(LockProtocol::InheritPriority, held),
        }
    }

    /// Returns whether the given bytes lie in the common pool.
    pub(super) fn holds(&self, octets: &[u8]) -> bool {
        self.pool.holds(octets)
    }

    /// Returns bytes that lie in the common pool as a stretch of it; `None` if they do not, or the
    /// peer holds as much as it may.
    pub(super) fn lend(&self, octets: &[u8]) -> Option<Arc<dyn Segment>> {
        let (piece, start) = self.pool.find(octets)?;
        let may = {
            let mut held = self.held.lock().ok()?;
            held.collect(&*self.marks);
            held.may_hold(&piece, self.pool.len() / SHARE)
        };
        may.then(|| lending::in_place(piece, start, octets.len()))
    }

    /// Records that bytes of the common pool are sent to the peer by reference. Returns `None` if
    /// they are in no published piece, or the peer holds as much as it may.
    ///
    /// # Errors
    /// [`Cause::BadPeer`]: it returned a reference that it had never been sent.
    pub(super) fn refer(&self, octets: &[u8]) -> Result<Option<Reference>, Cause> {
        let (Some(offset), Some((piece, _))) = (self.pool.offset(octets), self.pool.find(octets))
        else {
            return Ok(None);
        };
        let Ok(mut held) = self.held.lock() else {
            return Ok(None);
        };
        held.collect(&*self.marks);
        if held.broken {
            return Err(Cause::BadPeer(
                "it returned common memory that was not lent to it",
            ));
        }
        if !held.may_hold(&piece, self.pool.len() / SHARE) {
            return Ok(None);
        }
        let slot = u32::try_from(piece.slot());
        let reference = slot.ok().zip(u32::try_from(offset).ok());
        let Some((slot, offset)) = reference.filter(|_| held.send(piece)) else {
            return Ok(None);
        };
        Ok(Some(Reference { slot, offset }))
    }

    /// Drops the pieces that the peer has returned; returns whether there are any.
    pub(super) fn collect(&self) -> bool {
        let held = self.held.lock();
        held.is_ok_and(|mut held| held.collect(&*self.marks))
    }

    /// Notes that the connection is closed: nothing more is sent.
    pub(super) fn close(&self) {
        // Release pairs with the acquiring load in `is_closed`.
        self.closed.store(true, Ordering::Release);
    }

    /// Returns whether the connection is closed.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Returns whether the connection is closed and its peer cannot use any piece any more. A system
    /// call if it is closed and pieces are out.
    pub(super) fn is_at_its_end(&self) -> bool {
        let nothing_is_out = || self.held.lock().is_ok_and(|held| held.out.is_empty());
        self.is_closed() && (nothing_is_out() || self.lifeline.is_released())
    }
}

impl Held {
    /// Returns whether the piece may be sent once more, with up to `most` bytes out at once.
    fn may_hold(&self, piece: &Piece, most: usize) -> bool {
        let slot = self.slots.get(piece.slot());
        slot.is_some_and(|slot| match slot.piece {
            None => self.octets + piece.len() <= most,
            Some(_) => slot.sent.wrapping_sub(slot.back) < REFERENCES,
        })
    }

    /// Counts the piece as sent; returns whether it has a slot.
    fn send(&mut self, piece: Arc<Piece>) -> bool {
        let at = piece.slot();
        let Some(slot) = self.slots.get_mut(at) else {
            return false;
        };
        slot.sent = slot.sent.wrapping_add(1);
        if slot.piece.is_none() {
            self.octets += piece.len();
            self.out.push(at);
            slot.piece = Some(piece);
        }
        true
    }

    /// Drops the pieces that the peer has returned; returns whether there are any.
    fn collect(&mut self, marks: &dyn Marks) -> bool {
        let before = self.out.len();
        let mut at = 0;
        while let Some(&index) = self.out.get(at) {
            if self.broken {
                break;
            }
            match self.slots.get_mut(index) {
                Some(slot) => {
                    let mark = marks.mark(index);
                    let (back, sent) = (slot.back, slot.sent);
                    // A mark lies between its last value and the number sent.
                    self.broken = mark.wrapping_sub(back) > sent.wrapping_sub(back);
                    if !self.broken {
                        slot.back = mark;
                    }
                    if slot.back == sent {
                        self.octets -= slot.piece.take().map_or(0, |piece| piece.len());
                        self.out.swap_remove(at);
                    } else {
                        at += 1;
                    }
                }
                None => at += 1,
            }
        }
        self.out.len() < before
    }
}

impl fmt::Debug for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Holder")
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
