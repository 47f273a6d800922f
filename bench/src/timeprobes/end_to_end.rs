//! Path of a call through both processes, computed from their time stamps where both read the same
//! counter.

use super::stages::{mean, middle_half};
use punctual::probe::{CallTrace, Point, Rate, Stamp};
use serde::Serialize;

/// Part of a call's path between client and server, with the time it takes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Leg {
    /// Name of the part of the path.
    pub(super) name: &'static str,
    /// Mean time of the part in nanoseconds, including the cost of time stamps.
    pub(super) time: f64,
}

/// Names of the parts of a call's path, in order.
const LEGS: [&str; 5] = [
    "client, until it sends",
    "request under way",
    "server, until it sends",
    "reply under way",
    "client, from when it has received",
];

/// Fraction of a client's calls for which matching stamps must have been found at the server.
const FOUND: f64 = 0.9;

/// Returns the parts of the path, as means over the middle half of the calls. The transmission of a
/// message lasts from the moment its sender begins to send it until its receiver has received it:
/// system calls, the kernel's work, and the wake-up. Returns `None` when most calls are not found
/// at the server between their request and their reply, as the processors' counters differ.
pub(super) fn legs(client: &[CallTrace], server: &[CallTrace], rate: Rate) -> Option<Vec<Leg>> {
    let mut served = server.iter().filter_map(Served::of).peekable();
    let mut ways = Vec::new();
    for made in client.iter().filter_map(Made::of) {
        while served
            .next_if(|one| one.received.ticks < made.sends.ticks)
            .is_some()
        {}
        if let Some(one) = served.next_if(|one| one.sends.ticks <= made.received.ticks) {
            ways.push(way(&made, &one));
        }
    }
    #[allow(clippy::cast_precision_loss)]
    let found = ways.len() as f64 / client.len().max(1) as f64;
    if found < FOUND {
        return None;
    }
    let usual = middle_half(&ways, |way| way.iter().sum());
    let part = |(at, name)| {
        let time = mean(usual.iter().map(|way: &&[u64; 5]| rate.nanos(way[at])))?;
        Some(Leg { name, time })
    };
    LEGS.into_iter().enumerate().map(part).collect()
}

/// Time stamps that the client takes in the course of a call.
struct Made {
    begins: Stamp,
    sends: Stamp,
    received: Stamp,
    ends: Stamp,
}

/// Time stamps that the server takes in the course of a call.
struct Served {
    received: Stamp,
    sends: Stamp,
}

impl Made {
    fn of(call: &CallTrace) -> Option<Self> {
        Some(Self {
            begins: call.begin()?,
            sends: call.begin_of(Point::ClientSend)?,
            received: call.end_of(Point::ClientReceive)?,
            ends: call.end()?,
        })
    }
}

impl Served {
    fn of(call: &CallTrace) -> Option<Self> {
        Some(Self {
            received: call.end_of(Point::ServerReceive)?,
            sends: call.begin_of(Point::ServerSend)?,
        })
    }
}

fn way(made: &Made, served: &Served) -> [u64; LEGS.len()] {
    [
        made.sends.since(made.begins),
        served.received.since(made.sends),
        served.sends.since(served.received),
        made.received.since(served.sends),
        made.ends.since(made.received),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual::probe::{self, Side};

    fn client(begin: u64) -> [Stamp; 5] {
        let at = |point, later| Stamp::new(point, begin + later);
        [
            at(Point::ClientInitialise, 0),
            at(Point::ClientSend, 3),
            at(Point::ClientReceive, 10),
            at(Point::ClientMessagingReceive, 90),
            at(Point::ClientEnd, 95),
        ]
    }

    fn server(begin: u64) -> [Stamp; 4] {
        let at = |point, later| Stamp::new(point, begin + later);
        [
            at(Point::ServerReceive, 0),
            at(Point::ServerMessagingReceive, 40),
            at(Point::ServerOperation, 45),
            at(Point::ServerSend, 60),
        ]
    }

    fn found(begins: &[u64], served: &[u64]) -> Option<Vec<f64>> {
        let made: Vec<Stamp> = begins.iter().copied().flat_map(client).collect();
        let mut stamps: Vec<Stamp> = served.iter().copied().flat_map(server).collect();
        stamps.push(Stamp::new(Point::ServerReceive, 1_000_000));
        let made = probe::calls(&made, Side::Client);
        let served = probe::calls(&stamps, Side::Server);
        let legs = legs(&made, &served, Rate::new(1.0))?;
        Some(legs.iter().map(|leg| leg.time).collect())
    }

    #[test]
    fn a_call_s_parts_are_found_at_both_sides_and_add_up_to_the_whole() {
        let parts = found(&[1000, 2000], &[1000, 2000]).unwrap();
        assert_eq!(parts, [3.0, 37.0, 20.0, 30.0, 5.0]);
        assert_eq!(parts.iter().sum::<f64>(), 95.0);
    }

    #[test]
    fn requests_of_others_are_passed_over() {
        let alone = found(&[1000, 2000], &[1000, 2000]);
        assert_eq!(found(&[1000, 2000], &[500, 1000, 1500, 2000]), alone);
    }

    #[test]
    fn counters_that_differ_are_noticed() {
        assert_eq!(found(&[1000, 2000], &[1500, 2500]), None);
        assert_eq!(found(&[1000, 2000, 3000], &[1000, 3000]), None);
    }
}
