//! Writing of this side's ring.
//!
//! Records are written after HEAD and become the peer's when HEAD is moved past them, whole: a
//! writer that dies in the middle of one has not written it. HEAD moves when a message is written,
//! when the ring is full, and after each stretch of a long message, so that the reader need not
//! wait for its end.

use super::allocator::Reference;
use super::ends::{Ends, Sleeper, Waker};
use super::holder::Holder;
use super::layout::{
    COMMON, CONTROL, HEAD, INLINE, LENT, LENT_SIZE, READER, Sizes, TAIL, UNIT, padded, pair,
};
use super::pool::Pool;
use crate::{Cause, LinkError, Phase, SendError};
use punctual_exec::{Deadline, Spin};
use punctual_sys::memory::Region;
use std::io::IoSlice;
use std::sync::atomic::Ordering;

/// Least part of a long message that is handed over to the reader at once, in bytes.
const STRETCH: u32 = 32 * 1024;

/// Writing end of this side's ring. One thread at a time.
#[derive(Debug)]
pub(super) struct Writer {
    ring: Region,
    /// Number of bytes ever written to the ring; `published` is the number handed over to the
    /// reader. Both wrap.
    written: u32,
    published: u32,
    /// Number of bytes that the peer had read at the last check.
    tail: u32,
    waker: Waker,
    sleeper: Sleeper,
}

/// Memories from which parts are sent by reference.
#[derive(Clone, Copy)]
pub(super) struct Memories<'m> {
    pub(super) pool: &'m Pool,
    /// Peer as a holder of pieces of the link's common pool, if it has that.
    pub(super) holder: Option<&'m Holder>,
}

/// Progress of a message: the bytes written, and those handed over.
#[derive(Default)]
struct Progress {
    written: usize,
    published: usize,
}

impl Writer {
    pub(super) fn new(ring: Region, spin: Spin) -> Self {
        Self {
            ring,
            written: 0,
            published: 0,
            tail: 0,
            waker: Waker::of(READER),
            sleeper: Sleeper::writer(spin),
        }
    }

    /// Writes all parts; those that lie in the pool or the common pool by reference.
    pub(super) fn send(
        &mut self,
        ends: &Ends,
        memories: Memories<'_>,
        parts: &[IoSlice<'_>],
        deadline: Deadline,
    ) -> Result<(), SendError> {
        let mut progress = Progress::default();
        let outcome = parts
            .iter()
            .try_for_each(|part| self.send_part(ends, memories, part, deadline, &mut progress));
        self.publish(ends, &mut progress);
        outcome.map_err(|cause| SendError {
            error: LinkError {
                phase: Phase::Send,
                cause,
            },
            sent: progress.published,
        })
    }

    fn send_part(
        &mut self,
        ends: &Ends,
        memories: Memories<'_>,
        part: &[u8],
        deadline: Deadline,
        progress: &mut Progress,
    ) -> Result<(), Cause> {
        if ends.has_ended() {
            return Err(Cause::Closed);
        }
        // A reference to less than its own record would take more room than the bytes.
        if part.len() > LENT_SIZE as usize && memories.hold(part) {
            self.make_room(ends, LENT_SIZE, deadline, progress)?;
            if let Some((kind, reference)) = memories.refer(part)? {
                self.put_reference(kind, reference, part.len());
                progress.written += part.len();
                return Ok(());
            }
        }
        let mut rest = part;
        while !rest.is_empty() {
            let wanted = u32::try_from(rest.len()).map_or(STRETCH, |len| len.min(STRETCH));
            let room = self.make_room(ends, UNIT + padded(wanted), deadline, progress)?;
            let most = (room - UNIT).min(STRETCH) as usize;
            let (now, later) = rest.split_at(rest.len().min(most));
            self.put_inline(now);
            memories.pool.copies().into_ring.add(now.len());
            progress.written += now.len();
            if self.written.wrapping_sub(self.published) >= STRETCH {
                self.publish(ends, progress);
            }
            rest = later;
        }
        Ok(())
    }

    /// Waits for room of `wanted` bytes, or of half the ring if it is smaller than twice that.
    /// Returns the room, a whole number of units.
    fn make_room(
        &mut self,
        ends: &Ends,
        wanted: u32,
        deadline: Deadline,
        progress: &mut Progress,
    ) -> Result<u32, Cause> {
        // The reader wakes this side when half of the ring is free.
        let wanted = wanted.min(self.size() / 2);
        let room = self.size() - self.written.wrapping_sub(self.tail);
        if room >= wanted {
            return Ok(room & !(UNIT - 1));
        }
        let room = self.look_at_room(ends)?;
        if room >= wanted {
            return Ok(room & !(UNIT - 1));
        }
        // The reader has to see all data to make room.
        self.publish(ends, progress);
        let (written, size) = (self.written, self.size());
        self.sleeper.wait(ends, deadline, || {
            // More than the ring holds is the peer's fault, and ends the wait too.
            let filled = written.wrapping_sub(ends.theirs.load(TAIL));
            filled > size || size - filled >= wanted
        })?;
        let room = self.look_at_room(ends)?;
        if room < wanted {
            return Err(Cause::BadPeer("its read position went back"));
        }
        Ok(room & !(UNIT - 1))
    }

    /// Checks how far the peer has read, and that this is possible.
    fn look_at_room(&mut self, ends: &Ends) -> Result<u32, Cause> {
        // Pairs with the Release store in `Reader::publish`: the part that was read is free.
        let tail = ends.theirs.load_acquire(TAIL);
        let read = tail.wrapping_sub(self.tail);
        if read > self.published.wrapping_sub(self.tail) {
            return Err(Cause::BadPeer(
                "its read position is beyond the written data",
            ));
        }
        self.tail = tail;
        Ok(self.size() - self.written.wrapping_sub(tail))
    }

    fn put_reference(&mut self, kind: u32, reference: Reference, len: usize) {
        let length = u32::try_from(len).unwrap_or(u32::MAX);
        self.put(&pair(kind, length).to_ne_bytes());
        self.put(&pair(reference.slot, reference.offset).to_ne_bytes());
    }

    fn put_inline(&mut self, octets: &[u8]) {
        let length = u32::try_from(octets.len()).unwrap_or(u32::MAX);
        self.put(&pair(INLINE, length).to_ne_bytes());
        self.put(octets);
        self.written = padded(self.written);
    }

    /// Writes bytes for which there is room, around the ring's end where they reach it.
    fn put(&mut self, octets: &[u8]) {
        let at = (self.written & (self.size() - 1)) as usize;
        let ring = self.ring.as_mut_slice();
        let (now, around) = octets.split_at(octets.len().min(ring.len() - at));
        if let Some(to) = ring.get_mut(at..at + now.len()) {
            to.copy_from_slice(now);
        }
        if let Some(to) = ring.get_mut(..around.len()) {
            to.copy_from_slice(around);
        }
        // Never more than the ring, which is far below 2^32.
        let count = u32::try_from(octets.len()).unwrap_or_default();
        self.written = self.written.wrapping_add(count);
    }

    /// Hands over the written data, and wakes the reader if it sleeps.
    fn publish(&mut self, ends: &Ends, progress: &mut Progress) {
        progress.published = progress.written;
        if self.written == self.published {
            return;
        }
        // Release pairs with the acquiring load in `Reader::look`: the records are whole.
        ends.mine[HEAD].store(self.written, Ordering::Release);
        self.published = self.written;
        self.waker.wake(ends);
    }

    fn size(&self) -> u32 {
        // The size was checked: at most 2^26.
        u32::try_from(self.ring.len()).unwrap_or_default()
    }
}

impl Memories<'_> {
    fn hold(self, part: &[u8]) -> bool {
        self.pool.holds(part) || self.holder.is_some_and(|holder| holder.holds(part))
    }

    /// Records that a part is sent by reference, and returns the kind of its record; `None` if it
    /// has to be copied.
    fn refer(self, part: &[u8]) -> Result<Option<(u32, Reference)>, Cause> {
        if let Some(holder) = self.holder.filter(|holder| holder.holds(part)) {
            let reference = holder.refer(part)?;
            return Ok(reference.map(|reference| (COMMON, reference)));
        }
        let reference = self.pool.refer(part)?;
        Ok(reference.map(|reference| (LENT, reference)))
    }
}

/// Splits one side's memory into its parts: control words, ring, pool.
pub(super) fn parts(memory: Region, sizes: Sizes) -> (Region, Region, Region) {
    let (control, rest) = memory.split(CONTROL);
    let (ring, pool) = rest.split(sizes.ring as usize);
    (control, ring, pool)
}
