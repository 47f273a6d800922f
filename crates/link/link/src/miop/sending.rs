//! Sending of messages as packets.

use super::counts::{Counters, add};
use super::options::MiopOptions;
use super::packet::Packet;
use crate::datagram::{Sending, To, transmit};
use crate::{Cause, LinkError, Phase, SendError};
use punctual_exec::Deadline;
use punctual_sys::clock;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::IoSlice;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Sends messages as packets of one size, with ids that are text: some receivers keep them as text.
#[derive(Debug)]
pub(super) struct Packets {
    /// Random number of the connection: ids of two senders differ even to a receiver that does not tell senders apart.
    sender: u64,
    next: AtomicU32,
    payload: usize,
    pace: Pace,
    largest: usize,
    counters: Arc<Counters>,
}

impl Packets {
    pub(super) fn new(options: &MiopOptions, counters: Arc<Counters>) -> Self {
        Self {
            // The standard library makes each `RandomState` with random keys of its own.
            sender: RandomState::new().hash_one(0),
            next: AtomicU32::new(0),
            payload: options.payload(),
            pace: Pace::new(options.pace),
            largest: options.largest,
            counters,
        }
    }

    fn next_id(&self) -> String {
        // No other memory depends on it.
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let sender = self.sender & 0xffff_ffff_ffff;
        format!("{sender:012x}{number:08x}")
    }
}

impl Sending for Packets {
    fn send(
        &self,
        socket: &UdpSocket,
        parts: &[IoSlice<'_>],
        deadline: Deadline,
    ) -> Result<(), SendError> {
        let total: usize = parts.iter().map(|part| part.len()).sum();
        // Whatever has left: the message has not arrived, and may be sent again, under another id.
        let failed = |cause| SendError {
            error: LinkError {
                phase: Phase::Send,
                cause,
            },
            sent: 0,
        };
        if total > self.largest {
            return Err(failed(Cause::TooLarge(self.largest)));
        }
        let id = self.next_id();
        let count = total.div_ceil(self.payload);
        let announced = u32::try_from(count).unwrap_or(u32::MAX);
        let mut left = Left { parts, at: 0 };
        let is_paced = announced > 1 && !self.pace.is_none();
        for number in 0..announced {
            if is_paced && !self.pace.wait(deadline) {
                return Err(failed(Cause::TimedOut));
            }
            let octets = left.next(self.payload);
            let length: usize = octets.iter().map(|part| part.len()).sum();
            let is_last = number + 1 == announced;
            let header = Packet {
                number,
                count: Some(announced),
                is_last,
                id: id.as_bytes(),
                octets: &[],
            };
            let header = header.header_of(length);
            let mut datagram = vec![IoSlice::new(&header)];
            datagram.extend(octets);
            transmit(socket, &datagram, To::Connected(None), deadline)?;
            add(&self.counters.sent_packets, 1);
        }
        add(&self.counters.sent_messages, 1);
        Ok(())
    }
}

/// Times at which packets of long messages leave, of all threads that send to the group. Nothing is locked meanwhile:
/// messages of one packet leave at once, and long ones of several threads take turns.
#[derive(Debug)]
struct Pace {
    /// Time between two packets, in nanoseconds.
    interval: u64,
    /// Time of the next packet, in nanoseconds of the monotonic clock. No other memory depends on it.
    next: AtomicU64,
}

impl Pace {
    fn new(interval: Duration) -> Self {
        Self {
            interval: u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX),
            next: AtomicU64::new(0),
        }
    }

    fn is_none(&self) -> bool {
        self.interval == 0
    }

    /// Takes the next time at which a packet may leave: now, if the last one left long enough ago. Time that was lost is not
    /// made up for by a burst. `None` if that is later than `latest`; then nothing is taken.
    fn take(&self, now: u64, latest: u64) -> Option<u64> {
        let mut taken = now;
        let next = self
            .next
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| {
                taken = next.max(now);
                (taken <= latest).then(|| taken.saturating_add(self.interval))
            });
        next.is_ok().then_some(taken)
    }

    /// Waits until a packet may leave; returns `false` if that is not before the deadline.
    fn wait(&self, deadline: Deadline) -> bool {
        let now = clock::nanos();
        let left = deadline.remaining().map_or(u64::MAX, |left| {
            u64::try_from(left.as_nanos()).unwrap_or(u64::MAX)
        });
        let Some(at) = self.take(now, now.saturating_add(left)) else {
            return false;
        };
        if at > now {
            std::thread::sleep(Duration::from_nanos(at - now));
        }
        true
    }
}

/// Parts of a message that have not been sent yet.
struct Left<'p> {
    parts: &'p [IoSlice<'p>],
    /// Octets of the first part that have been sent.
    at: usize,
}

impl<'p> Left<'p> {
    /// Takes the next octets, as many as `most`.
    fn next(&mut self, most: usize) -> Vec<IoSlice<'p>> {
        let mut taken = Vec::with_capacity(2);
        let mut room = most;
        while let Some((first, rest)) = self.parts.split_first() {
            if room == 0 {
                break;
            }
            let unsent: &'p [u8] = first.get(self.at..).unwrap_or_default();
            let (now, later) = unsent.split_at(unsent.len().min(room));
            room -= now.len();
            if !now.is_empty() {
                taken.push(IoSlice::new(now));
            }
            match later.is_empty() {
                true => (self.parts, self.at) = (rest, 0),
                false => self.at += now.len(),
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::miop::packet::ID;

    #[test]
    fn parts_are_cut_into_packets_of_one_size() {
        let parts = [
            IoSlice::new(b"abc"),
            IoSlice::new(b""),
            IoSlice::new(b"defghij"),
        ];
        let mut left = Left {
            parts: &parts,
            at: 0,
        };
        let mut text = || {
            let parts = left.next(4);
            parts.iter().flat_map(|part| part.to_vec()).collect()
        };
        let cut: [Vec<u8>; 4] = std::array::from_fn(|_| text());
        assert_eq!(cut, [&b"abcd"[..], b"efgh", b"ij", b""]);
    }

    #[test]
    fn packets_of_long_messages_take_turns_and_lost_time_makes_no_burst() {
        let pace = Pace::new(Duration::from_nanos(100));
        // Of whichever threads.
        assert_eq!(
            [10, 11, 50, 400, 401].map(|now| pace.take(now, u64::MAX)),
            [10, 110, 210, 400, 500].map(Some)
        );
        // A packet that would leave too late takes no turn.
        assert_eq!(
            [pace.take(402, 599), pace.take(402, 600)],
            [None, Some(600)]
        );
        assert!(Pace::new(Duration::ZERO).is_none() && !pace.is_none());
        // No packet leaves after the deadline.
        let slow = Pace::new(Duration::from_secs(1000));
        let soon = Deadline::after(Duration::from_secs(100));
        assert!(slow.wait(soon) && !slow.wait(soon));
    }

    #[test]
    fn ids_are_text_and_differ() {
        let packets = || Packets::new(&MiopOptions::default(), Arc::default());
        let (one, other) = (packets(), packets());
        let ids = [one.next_id(), one.next_id(), other.next_id()];
        assert!(ids.iter().all(|id| id.len() == ID), "{ids:?}");
        assert_ne!(ids[0], ids[1]);
        assert_ne!(ids[0], ids[2]);
    }
}
