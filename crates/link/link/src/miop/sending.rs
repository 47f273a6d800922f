//! Sending of messages as packets.

use super::options::MiopOptions;
use super::packet::Packet;
use crate::datagram::{Sending, To, transmit};
use crate::{Cause, LinkError, Phase, SendError};
use punctual_exec::Deadline;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::IoSlice;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Sends messages as packets of one size, with ids that are text: some receivers keep them as text.
#[derive(Debug)]
pub(super) struct Packets {
    /// Random number of the connection: ids of two senders differ even to a receiver that does not tell senders apart.
    sender: u64,
    next: AtomicU32,
    payload: usize,
    pace: Duration,
    largest: usize,
}

impl Packets {
    pub(super) fn new(options: &MiopOptions) -> Self {
        Self {
            // The standard library makes each `RandomState` with random keys of its own.
            sender: RandomState::new().hash_one(0),
            next: AtomicU32::new(0),
            payload: options.payload(),
            pace: options.pace,
            largest: options.largest,
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
        for number in 0..announced {
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
            if !is_last && !self.pace.is_zero() {
                if deadline.remaining().is_some_and(|left| left < self.pace) {
                    return Err(failed(Cause::TimedOut));
                }
                std::thread::sleep(self.pace);
            }
        }
        Ok(())
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
    fn ids_are_text_and_differ() {
        let options = MiopOptions::default();
        let (one, other) = (Packets::new(&options), Packets::new(&options));
        let ids = [one.next_id(), one.next_id(), other.next_id()];
        assert!(ids.iter().all(|id| id.len() == ID), "{ids:?}");
        assert_ne!(ids[0], ids[1]);
        assert_ne!(ids[0], ids[2]);
    }
}
