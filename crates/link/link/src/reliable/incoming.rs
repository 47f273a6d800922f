//! Receiving half: data that arrived, in order or beyond a gap. No I/O, no clock.
//!
//! Holds at most `capacity` bytes and a bounded number of stretches (ranges of offsets beyond a
//! gap), whichever offsets a peer sends.

use punctual_cdr::Block;
use std::collections::VecDeque;

/// Upper bound of stretches beyond gaps; data that would add one is dropped, and sent again.
const STRETCHES: usize = 128;

#[derive(Debug)]
pub(super) struct Incoming {
    /// Bytes from `read` on; beyond `next`, only the bytes in `stretches` have arrived.
    octets: VecDeque<u8>,
    /// Offset up to which the application has taken everything.
    read: u64,
    /// Offset up to which everything has arrived. The finish, which marks the end of the stream,
    /// counts as one byte.
    next: u64,
    stretches: Vec<(u64, u64)>,
    /// Offset of the finish; `None` until it has arrived.
    finish: Option<u64>,
    capacity: usize,
}

/// Classification of a received segment of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// Segment that is next in order.
    InOrder,
    /// Segment that is a duplicate, that makes or meets a gap in the data, or for which there is no
    /// room. It is to be acknowledged at once.
    OutOfOrder,
}

impl Incoming {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            octets: VecDeque::new(),
            read: 0,
            next: 0,
            stretches: Vec::new(),
            finish: None,
            capacity,
        }
    }

    /// Receives a segment. Returns `None` when the segment contradicts earlier ones.
    pub(super) fn receive(&mut self, offset: u64, octets: &[u8], finish: bool) -> Option<Arrival> {
        let end = offset.checked_add(octets.len() as u64)?;
        let whole = end.checked_add(u64::from(finish))?;
        let empty = octets.is_empty() && !finish;
        if empty || self.contradicts(end, finish) {
            return None;
        }
        let limit = self.read.saturating_add(self.capacity as u64);
        if whole <= self.next || end > limit {
            return Some(Arrival::OutOfOrder);
        }
        let in_order = offset <= self.next && self.stretches.is_empty();
        if !self.note(offset.max(self.next), whole) {
            return Some(Arrival::OutOfOrder);
        }
        if finish {
            self.finish = Some(end);
        }
        self.store(offset, octets);
        self.close_gap();
        Some(if in_order {
            Arrival::InOrder
        } else {
            Arrival::OutOfOrder
        })
    }

    fn contradicts(&self, end: u64, finish: bool) -> bool {
        let furthest = self.stretches.last().map_or(self.next, |&(_, to)| to);
        match self.finish {
            Some(known) => end > known || (finish && end != known),
            None => finish && end < furthest,
        }
    }

    /// Adds `from..to` to the stretches; returns `false` when there are too many.
    fn note(&mut self, from: u64, to: u64) -> bool {
        let begin = self.stretches.partition_point(|&(_, known)| known < from);
        let end = self.stretches.partition_point(|&(known, _)| known <= to);
        let joined = self.stretches.get(begin..end).unwrap_or_default();
        if joined.is_empty() && self.stretches.len() >= STRETCHES {
            return false;
        }
        let from = joined.first().map_or(from, |&(known, _)| known.min(from));
        let to = joined.last().map_or(to, |&(_, known)| known.max(to));
        self.stretches.splice(begin..end, [(from, to)]);
        true
    }

    /// Stores bytes by their offset; those that the application has read already are skipped.
    fn store(&mut self, offset: u64, octets: &[u8]) {
        let known = self.read.saturating_sub(offset);
        let new = usize::try_from(known)
            .ok()
            .and_then(|known| octets.get(known..));
        let new = new.unwrap_or_default();
        let place = usize::try_from(offset.saturating_sub(self.read)).unwrap_or(usize::MAX);
        if place == self.octets.len() {
            self.octets.extend(new);
            return;
        }
        let end = place + new.len();
        if self.octets.len() < end {
            self.octets.resize(end, 0);
        }
        for (kept, octet) in self.octets.range_mut(place..end).zip(new) {
            *kept = *octet;
        }
    }

    fn close_gap(&mut self) {
        if let Some(&(from, to)) = self.stretches.first()
            && from <= self.next
        {
            self.next = to;
            self.stretches.remove(0);
        }
    }

    /// Returns the number of bytes that may be read.
    pub(super) fn readable(&self) -> usize {
        let end = self.finish.map_or(self.next, |end| end.min(self.next));
        usize::try_from(end - self.read).unwrap_or(usize::MAX)
    }

    /// Appends at most `wanted` of the bytes that may be read to `block`, and returns their number.
    pub(super) fn read(&mut self, block: &mut Block, wanted: usize) -> usize {
        let count = self.readable().min(wanted);
        let (front, back) = self.octets.as_slices();
        let first = count.min(front.len());
        block.extend_from_slice(front.get(..first).unwrap_or_default());
        block.extend_from_slice(back.get(..count - first).unwrap_or_default());
        self.octets.drain(..count);
        self.read += count as u64;
        count
    }

    /// Returns whether the whole stream has arrived: the mark of its end, and all bytes before it.
    pub(super) fn is_finished(&self) -> bool {
        self.finish.is_some_and(|end| self.next > end)
    }

    /// Returns the offset to acknowledge: everything below has arrived.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Returns the number of bytes accepted beyond the acknowledged offset.
    pub(super) fn window(&self) -> u32 {
        let window = self.capacity.saturating_sub(self.readable());
        u32::try_from(window).unwrap_or(u32::MAX)
    }

    /// Returns the ranges of bytes that have arrived beyond gaps.
    pub(super) fn stretches(&self) -> &[(u64, u64)] {
        &self.stretches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(incoming: &mut Incoming) -> String {
        let mut block = Block::default();
        incoming.read(&mut block, usize::MAX);
        String::from_utf8(block.to_vec()).unwrap()
    }

    #[test]
    fn segments_in_any_order_are_read_in_theirs() {
        let mut incoming = Incoming::new(100);
        assert_eq!(
            incoming.receive(6, b"ghi", false),
            Some(Arrival::OutOfOrder)
        );
        assert_eq!(
            incoming.receive(3, b"def", false),
            Some(Arrival::OutOfOrder)
        );
        assert_eq!((incoming.next(), incoming.stretches()), (0, &[(3, 9)][..]));
        assert_eq!(text(&mut incoming), "");
        assert_eq!(
            incoming.receive(0, b"abc", false),
            Some(Arrival::OutOfOrder)
        );
        assert_eq!(text(&mut incoming), "abcdefghi");
        assert_eq!(incoming.receive(9, b"j", false), Some(Arrival::InOrder));
        assert_eq!(incoming.receive(9, b"j", false), Some(Arrival::OutOfOrder));
        assert_eq!(text(&mut incoming), "j");
    }

    #[test]
    fn segments_that_overlap_are_joined() {
        let mut incoming = Incoming::new(100);
        incoming.receive(0, b"abcd", false).unwrap();
        assert_eq!(text(&mut incoming), "abcd");
        incoming.receive(6, b"gh", false).unwrap();
        incoming.receive(2, b"cdefg", false).unwrap();
        assert_eq!(text(&mut incoming), "efgh");
    }

    #[test]
    fn nothing_is_taken_beyond_the_window() {
        let mut incoming = Incoming::new(4);
        assert_eq!(
            incoming.receive(0, b"abcde", false),
            Some(Arrival::OutOfOrder)
        );
        assert_eq!(
            incoming.receive(u64::MAX - 9, b"x", false),
            Some(Arrival::OutOfOrder)
        );
        assert_eq!(incoming.receive(u64::MAX, b"x", false), None);
        assert_eq!((incoming.readable(), incoming.window()), (0, 4));
        incoming.receive(0, b"abcd", false).unwrap();
        assert_eq!(incoming.window(), 0);
        assert_eq!(text(&mut incoming), "abcd");
        assert_eq!(incoming.window(), 4);
    }

    #[test]
    fn gaps_are_bounded() {
        let mut incoming = Incoming::new(100_000);
        for number in 0..1000 {
            incoming.receive(2 * number + 1, b"x", false).unwrap();
        }
        assert_eq!(incoming.stretches().len(), STRETCHES);
        incoming.receive(0, b"y", false).unwrap();
        assert_eq!(incoming.next(), 2);
    }

    #[test]
    fn the_finish_is_read_behind_the_last_octet_and_cannot_move() {
        let mut incoming = Incoming::new(100);
        incoming.receive(3, b"", true).unwrap();
        assert!(!incoming.is_finished());
        assert_eq!(incoming.receive(2, b"xy", false), None);
        assert_eq!(incoming.receive(0, b"a", true), None);
        incoming.receive(0, b"abc", false).unwrap();
        assert!(incoming.is_finished());
        assert_eq!(incoming.next(), 4);
        assert_eq!(text(&mut incoming), "abc");
        let mut other = Incoming::new(100);
        other.receive(5, b"xyz", false).unwrap();
        assert_eq!(other.receive(0, b"abc", true), None);
    }
}
