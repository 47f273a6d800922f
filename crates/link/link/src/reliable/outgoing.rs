//! Sending half: data written, in flight, and lost. No I/O, no clock.
//!
//! Bytes are numbered from 0 by a 64-bit offset that never wraps; the finish takes the number
//! after the last. A segment keeps its bounds once sent, so that it is acknowledged or lost as a
//! whole.

use super::pace::{Congestion, RoundTrip};
use super::wire::Ranges;
use std::collections::VecDeque;
use std::time::Duration;

/// Upper bound of segments in flight, whatever their size.
const SEGMENTS: usize = 1024;
/// Number of later transmissions after which a segment counts as lost once one of those has arrived
/// (RFC 9002, §6.1.1).
const REORDERED: u64 = 3;

#[derive(Debug)]
pub(super) struct Outgoing {
    /// Bytes written by the application that are not yet acknowledged, from the offset `acked` on.
    octets: VecDeque<u8>,
    /// Stream offset up to which the peer has acknowledged all data.
    acked: u64,
    /// Offset up to which everything was sent at least once.
    sent: u64,
    /// Stream offset up to which the peer accepts data.
    limit: u64,
    capacity: usize,
    payload: usize,
    segments: VecDeque<Segment>,
    in_flight: usize,
    transmissions: u64,
    /// Number of the latest transmission that is known to have arrived.
    arrived: u64,
    waiting_since: Duration,
    finishing: bool,
    finish_sent: bool,
    trip: RoundTrip,
    congestion: Congestion,
}

#[derive(Debug)]
struct Segment {
    offset: u64,
    length: usize,
    finish: bool,
    sent_at: Duration,
    transmission: u64,
    tries: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    Lost,
    /// Segment that arrived beyond a gap, and was acknowledged by a range.
    Held,
}

impl Segment {
    fn end(&self) -> u64 {
        self.offset + self.length as u64 + u64::from(self.finish)
    }
}

/// Segment to be sent: the bounds of its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) offset: u64,
    pub(super) length: usize,
    pub(super) finish: bool,
}

impl Outgoing {
    /// Makes the half: `payload` bytes fit a datagram; `capacity` are held at most; the peer's
    /// initial window is `window`.
    pub(super) fn new(payload: usize, capacity: usize, window: u32) -> Self {
        Self {
            octets: VecDeque::new(),
            acked: 0,
            sent: 0,
            limit: u64::from(window),
            capacity,
            payload,
            segments: VecDeque::new(),
            in_flight: 0,
            transmissions: 0,
            arrived: 0,
            waiting_since: Duration::ZERO,
            finishing: false,
            finish_sent: false,
            trip: RoundTrip::default(),
            congestion: Congestion::new(payload),
        }
    }

    /// Takes as much from the front of `octets` as there is room for, and returns the number of
    /// bytes.
    pub(super) fn write(&mut self, octets: &[u8]) -> usize {
        let count = octets.len().min(self.room());
        self.octets.extend(octets.get(..count).unwrap_or_default());
        count
    }

    pub(super) fn room(&self) -> usize {
        self.capacity.saturating_sub(self.octets.len())
    }

    /// Ends writing: the finish follows the data written before.
    pub(super) fn finish(&mut self) {
        self.finishing = true;
    }

    /// Returns whether the peer has acknowledged all data and the end of the stream.
    pub(super) fn is_finished(&self) -> bool {
        self.finish_sent && self.segments.is_empty()
    }

    fn unsent(&self) -> usize {
        let flown = usize::try_from(self.sent - self.acked).unwrap_or(usize::MAX);
        self.octets.len().saturating_sub(flown)
    }

    /// Returns whether only the peer's window holds back written data.
    pub(super) fn is_blocked(&self) -> bool {
        self.segments.is_empty() && self.unsent() > 0 && self.limit <= self.sent
    }

    /// Returns the time to wait for an acknowledgement before retransmission.
    pub(super) fn timeout(&self) -> Duration {
        self.trip.timeout()
    }

    /// Returns the time when retransmission is due, if anything is in flight.
    pub(super) fn timer(&self) -> Option<Duration> {
        let waiting = self
            .segments
            .iter()
            .any(|segment| segment.state != State::Held);
        waiting.then(|| self.waiting_since + self.trip.timeout())
    }

    /// Handles a missing acknowledgement: everything in flight counts as lost. Returns `false` when
    /// one segment has been tried `tries` times.
    pub(super) fn time_out(&mut self, now: Duration, tries: u32) -> bool {
        self.trip.back_off();
        self.congestion.collapsed(self.sent);
        self.waiting_since = now;
        for segment in &mut self.segments {
            if segment.state == State::InFlight {
                segment.state = State::Lost;
            }
        }
        self.in_flight = 0;
        self.segments.iter().all(|segment| segment.tries < tries)
    }

    /// Returns the next segment to be sent: a lost one, or a new one as far as peer and network
    /// allow.
    pub(super) fn next(&mut self, now: Duration) -> Option<Piece> {
        if self.segments.is_empty() {
            self.waiting_since = now;
        }
        self.again(now).or_else(|| self.anew(now))
    }

    fn again(&mut self, now: Duration) -> Option<Piece> {
        if self.in_flight > 0 && self.in_flight >= self.congestion.window() {
            return None;
        }
        let lost = |segment: &&mut Segment| segment.state == State::Lost;
        let segment = self.segments.iter_mut().find(lost)?;
        self.transmissions += 1;
        segment.transmission = self.transmissions;
        segment.tries += 1;
        segment.sent_at = now;
        segment.state = State::InFlight;
        self.in_flight += segment.length;
        Some(Piece {
            offset: segment.offset,
            length: segment.length,
            finish: segment.finish,
        })
    }

    fn anew(&mut self, now: Duration) -> Option<Piece> {
        if self.segments.len() >= SEGMENTS || self.finish_sent {
            return None;
        }
        let unsent = self.unsent();
        let allowed = usize::try_from(self.limit.saturating_sub(self.sent)).unwrap_or(usize::MAX);
        let length = unsent.min(self.payload).min(allowed);
        let finish = self.finishing && length == unsent;
        if length == 0 && !finish {
            return None;
        }
        // Sending half a segment now would lead to another half: better wait for the window.
        let silly = length < self.payload && length < unsent;
        let crowded = self.in_flight + length > self.congestion.window();
        if self.in_flight > 0 && (silly || crowded) {
            return None;
        }
        self.transmissions += 1;
        let segment = Segment {
            offset: self.sent,
            length,
            finish,
            sent_at: now,
            transmission: self.transmissions,
            tries: 1,
            state: State::InFlight,
        };
        self.sent = segment.end();
        self.finish_sent = finish;
        self.in_flight += length;
        let offset = segment.offset;
        self.segments.push_back(segment);
        Some(Piece {
            offset,
            length,
            finish,
        })
    }

    /// Appends the bytes of a segment to `out`.
    pub(super) fn copy(&self, piece: Piece, out: &mut Vec<u8>) {
        let begin = usize::try_from(piece.offset.saturating_sub(self.acked)).unwrap_or(usize::MAX);
        let octets = self.octets.iter().skip(begin).take(piece.length);
        let (front, back) = self.octets.as_slices();
        let end = begin.saturating_add(piece.length);
        if let Some(whole) = front.get(begin..end) {
            out.extend_from_slice(whole);
        } else if let Some(whole) = begin
            .checked_sub(front.len())
            .and_then(|begin| back.get(begin..begin + piece.length))
        {
            out.extend_from_slice(whole);
        } else {
            out.extend(octets);
        }
    }

    /// Handles an acknowledgement and the peer's window. Returns `None` when it is impossible, else
    /// whether it was new.
    pub(super) fn acknowledge(
        &mut self,
        ack: u64,
        window: u32,
        ranges: Option<Ranges<'_>>,
        now: Duration,
    ) -> Option<bool> {
        if ack > self.sent {
            return None;
        }
        self.limit = self.limit.max(ack.saturating_add(u64::from(window)));
        let before = self.octets.len() + self.held();
        self.take_acked(ack, now);
        for (from, to) in ranges.iter().flat_map(Ranges::iter) {
            if from >= to || to > self.sent {
                return None;
            }
            self.hold(from, to, now);
        }
        self.find_lost();
        let news = before != self.octets.len() + self.held();
        if news {
            self.trip.progress();
            self.waiting_since = now;
        }
        Some(news)
    }

    /// Returns the number of segments that arrived beyond a gap; used to detect new information.
    fn held(&self) -> usize {
        let held = |segment: &&Segment| segment.state == State::Held;
        self.segments.iter().filter(held).count()
    }

    fn take_acked(&mut self, ack: u64, now: Duration) {
        while let Some(first) = self.segments.front() {
            if first.end() > ack {
                return;
            }
            let Some(segment) = self.segments.pop_front() else {
                return;
            };
            self.arrive(&segment, now);
            self.acked = segment.end();
            self.octets.drain(..segment.length.min(self.octets.len()));
        }
    }

    fn hold(&mut self, from: u64, to: u64, now: Duration) {
        for index in 0..self.segments.len() {
            let Some(segment) = self.segments.get_mut(index) else {
                return;
            };
            let inside = segment.offset >= from && segment.end() <= to;
            if inside && segment.state != State::Held {
                let was = std::mem::replace(&mut segment.state, State::Held);
                let copy = Segment {
                    state: was,
                    ..*segment
                };
                self.arrive(&copy, now);
            }
        }
    }

    /// Records the first acknowledgement of a segment for round-trip and congestion estimates.
    fn arrive(&mut self, segment: &Segment, now: Duration) {
        if segment.state == State::Held {
            return;
        }
        if segment.state == State::InFlight {
            self.in_flight = self.in_flight.saturating_sub(segment.length);
        }
        self.congestion.arrived(segment.length, self.capacity);
        // After a retransmission it is unknown which transmission arrived (Karn's rule).
        if segment.tries == 1 {
            self.trip.sample(now.saturating_sub(segment.sent_at));
            self.arrived = self.arrived.max(segment.transmission);
        }
    }

    fn find_lost(&mut self) {
        for segment in &mut self.segments {
            let overtaken = segment.transmission + REORDERED <= self.arrived;
            if segment.state == State::InFlight && overtaken {
                segment.state = State::Lost;
                self.in_flight = self.in_flight.saturating_sub(segment.length);
                self.congestion.lost(segment.offset, self.sent);
            }
        }
    }
}

#[cfg(test)]
mod tests;
