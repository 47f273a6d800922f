//! Reading of the peer's ring.
//!
//! The peer may write anything there at any time. A record's head is read in one load, checked, and
//! used from that copy alone; HEAD must not pass the ring's size, nor go back. Bytes go straight to
//! the caller's block, which is private memory, and are only interpreted there.

use super::copies::Copies;
use super::ends::{Ends, Sleeper, Waker};
use super::incoming::Incoming;
use super::layout::{
    COMMON, CONTROL, HEAD, INLINE, LENT, LENT_SIZE, TAIL, UNIT, WRITER, padded, unpair,
};
use crate::{Cause, LinkError, Pending, Phase};
use punctual_cdr::Block;
use punctual_exec::{Deadline, Spin};
use punctual_sys::memory::OutOfRange;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Least increment, in bytes, of the memory for an announced message, which grows with the data
/// that arrives.
const GROWTH: usize = 64 * 1024;

/// Memories that records of the ring refer to.
#[derive(Debug)]
pub(super) struct Lent {
    pub(super) pool: Arc<Incoming>,
    /// Common pool, if the peer has announced one.
    pub(super) common: Option<Arc<Incoming>>,
}

/// Reading end of the peer's ring. One thread at a time.
#[derive(Debug)]
pub(super) struct Reader {
    /// Size of the ring buffer, in bytes.
    size: u32,
    /// Upper bound of the bytes ahead of the tail for which no closer check is needed: the size of
    /// the ring once the peer is known to have written all its pages.
    most: u32,
    /// Number of bytes of the ring, from its begin, in pages that the peer has written.
    written: u32,
    /// Number of bytes read from the ring so far, modulo 2³².
    tail: u32,
    /// Number of bytes that the peer had written at the last check.
    head: u32,
    /// Number of bytes of the current record that are still to be read.
    left: u32,
    /// Number of bytes read when it was last checked whether the writer sleeps.
    looked: u32,
    waker: Waker,
    sleeper: Sleeper,
}

impl Reader {
    /// Makes the reader of a ring of `size` bytes, a power of two.
    pub(super) fn new(size: u32, spin: Spin) -> Self {
        Self {
            size,
            most: 0,
            written: 0,
            tail: 0,
            head: 0,
            left: 0,
            looked: 0,
            waker: Waker::of(WRITER),
            sleeper: Sleeper::reader(spin),
        }
    }

    /// Receives bytes from the peer's ring buffer, see [`crate::Connection::receive`].
    pub(super) fn receive(
        &mut self,
        ends: &Ends,
        lent: &Lent,
        copies: &Copies,
        block: &mut Block,
        need: usize,
        deadline: Deadline,
    ) -> Result<usize, LinkError> {
        let failed = |cause| LinkError {
            phase: Phase::Receive,
            cause,
        };
        if ends.is_closed() {
            return Err(failed(Cause::Closed));
        }
        let held = block.full_len();
        let room = need.saturating_sub(held).max(1).min(held.max(GROWTH));
        block
            .as_mut_vec()
            .try_reserve(room)
            .map_err(|_| failed(Cause::NoMemory(need)))?;
        if self.tail == self.head {
            let tail = self.tail;
            self.sleeper
                .wait(ends, deadline, || ends.theirs.load(HEAD) != tail)
                .map_err(failed)?;
        }
        self.look(ends).map_err(failed)?;
        let taken = self.take(ends, lent, copies, block, need);
        // Data taken before the peer's fault is worthless: the connection is broken.
        let taken = taken.map_err(failed)?;
        self.publish(ends);
        Ok(taken)
    }

    /// Returns whether there is data to receive, or the end.
    pub(super) fn pending(&mut self, ends: &Ends) -> Pending {
        let is_there = |reader: &Self| reader.left > 0 || ends.theirs.load(HEAD) != reader.tail;
        if ends.is_closed() {
            return Pending::End;
        }
        if is_there(self) {
            return Pending::Data;
        }
        match ends.peer_is_gone() {
            // The end is checked first: data sent before it counts.
            true if is_there(self) => Pending::Data,
            true => Pending::End,
            false => Pending::Nothing,
        }
    }

    /// Reads the peer's HEAD, and checks that its advance is possible and that there is at least
    /// one record to read.
    fn look(&mut self, ends: &Ends) -> Result<(), Cause> {
        // Pairs with the Release store in `Writer::publish`: the records are whole.
        let head = ends.theirs.load_acquire(HEAD);
        let ahead = head.wrapping_sub(self.tail);
        let grown = head.wrapping_sub(self.head);
        if ahead > self.most || grown > ahead || ahead == 0 || !head.is_multiple_of(UNIT) {
            self.look_closer(ends, head)?;
        }
        self.head = head;
        Ok(())
    }

    /// Checks as [`Reader::look`] does, on the first time around the ring: pages that the peer
    /// never wrote are not read, as the kernel would allocate them at this process's cost
    /// (`written`).
    #[cold]
    fn look_closer(&mut self, ends: &Ends, head: u32) -> Result<(), Cause> {
        let ahead = head.wrapping_sub(self.tail);
        let grown = head.wrapping_sub(self.head);
        if ahead > self.size || grown > ahead || ahead == 0 || !head.is_multiple_of(UNIT) {
            return Err(Cause::BadPeer("its ring claims an impossible amount"));
        }
        let needed = head.min(self.size);
        if self.written < needed {
            let end = ends
                .theirs
                .unwritten_from(CONTROL + self.written as usize)
                .saturating_sub(CONTROL);
            self.written = u32::try_from(end).map_or(self.size, |end| end.min(self.size));
            if self.written < needed {
                return Err(Cause::BadPeer("its ring claims bytes that it never wrote"));
            }
        }
        if self.written == self.size {
            self.most = self.size;
        }
        Ok(())
    }

    /// Takes records until the block's room is used up or there are no more; lent ones only as far
    /// as they are needed, so that none stands after the message that is being received.
    fn take(
        &mut self,
        ends: &Ends,
        lent: &Lent,
        copies: &Copies,
        block: &mut Block,
        need: usize,
    ) -> Result<usize, Cause> {
        let held = block.full_len();
        let mut taken = 0;
        let mut copied = 0;
        while self.left > 0 || self.tail != self.head {
            if self.left == 0 {
                let (kind, length) = self.double_word(ends, 0)?;
                let ahead = self.head.wrapping_sub(self.tail);
                match kind {
                    INLINE if length > 0 && length <= ahead - UNIT => {
                        self.left = length;
                        self.tail = self.tail.wrapping_add(UNIT);
                    }
                    LENT | COMMON if ahead >= LENT_SIZE => {
                        if taken > 0 && held + taken >= need {
                            break;
                        }
                        let incoming = lent.of_kind(kind)?;
                        let (slot, offset) = self.double_word(ends, UNIT)?;
                        block.attach(incoming.take(slot, offset, length)?);
                        self.tail = self.tail.wrapping_add(LENT_SIZE);
                        taken += length as usize;
                        continue;
                    }
                    _ => return Err(Cause::BadPeer("its ring holds an invalid record")),
                }
            }
            let room = block.capacity() - block.len();
            let count = u32::try_from(room).map_or(self.left, |room| room.min(self.left));
            if count == 0 {
                break;
            }
            self.copy(ends, count, block.as_mut_vec())?;
            self.left -= count;
            taken += count as usize;
            copied += count as usize;
            if self.left == 0 {
                self.tail = padded(self.tail);
            }
        }
        copies.out_of_ring.add(copied);
        Ok(taken)
    }

    /// Copies bytes of the ring, around its end where they reach it.
    fn copy(&mut self, ends: &Ends, count: u32, to: &mut Vec<u8>) -> Result<(), Cause> {
        let at = self.tail & (self.size - 1);
        let now = count.min(self.size - at);
        let mut append = |at: u32, count: u32| {
            let appended = ends
                .theirs
                .append_to(CONTROL + at as usize, count as usize, to);
            appended.map_err(outside)
        };
        append(at, now)?;
        append(0, count - now)?;
        self.tail = self.tail.wrapping_add(count);
        Ok(())
    }

    /// Reads the double word `beyond` bytes after the tail, as two words.
    fn double_word(&self, ends: &Ends, beyond: u32) -> Result<(u32, u32), Cause> {
        let at = self.tail.wrapping_add(beyond) & (self.size - 1);
        let both = ends.theirs.double_word(CONTROL + at as usize);
        both.map(unpair).map_err(outside)
    }

    /// Releases the part that was read, and wakes the writer if it sleeps and half of the ring is
    /// free.
    fn publish(&mut self, ends: &Ends) {
        // Release pairs with the acquiring load in `Writer::look_at_room`: reading is over.
        ends.mine[TAIL].store(self.tail, Ordering::Release);
        // A sleeping writer had filled more than half of the ring when it last checked, which was
        // not before this end's last check: with less, no writer sleeps, and the fence to find out
        // is saved.
        let filled = self.head.wrapping_sub(self.looked);
        let half = self.size / 2;
        if filled > half && self.head.wrapping_sub(self.tail) <= half {
            self.looked = self.tail;
            self.waker.wake(ends);
        }
    }
}

impl Lent {
    /// Returns the memory to which records of a kind refer, [`LENT`] or [`COMMON`].
    fn of_kind(&self, kind: u32) -> Result<&Arc<Incoming>, Cause> {
        match kind {
            COMMON => self.common.as_ref().ok_or(Cause::BadPeer(
                "it lent from a common pool that it did not announce",
            )),
            _ => Ok(&self.pool),
        }
    }
}

fn outside(_: OutOfRange) -> Cause {
    Cause::BadPeer("its memory is smaller than its ring")
}
