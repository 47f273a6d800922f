//! Datagrams from unknown senders, for fuzzing.

use crate::datagram::peers::{Peer, PeerLimits, Peers, Taken};
use crate::fuzzing::Program;
use punctual_cdr::Block;
use punctual_exec::Deadline;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The bytes that wait for one peer and for all include the overhead of each datagram.
const LIMITS: PeerLimits = PeerLimits {
    peers: 4,
    backlog: 3,
    queue: 400,
    waiting: 600,
};
/// Upper bound of what one datagram takes beyond its octets.
const OVERHEAD: usize = 100;

/// Interprets the input as operations on a table of peers: deliver a datagram, accept a peer,
/// receive from it, forget it.
///
/// # Panics
/// If the count of datagrams is wrong, or a limit is exceeded.
pub fn peers(input: &[u8]) {
    let mut program = Program(input);
    let mut peers = Peers::new(LIMITS, Arc::default());
    let mut accepted: Vec<Arc<Peer>> = Vec::new();
    let mut now = Instant::now();
    let mut delivered = 0u64;
    let mut dropped = 0;
    while !program.0.is_empty() {
        let step = program.octet();
        match step % 8 {
            0..3 => {
                let from = ([127, 0, 0, 1], u16::from(step >> 3)).into();
                let datagram = Block::from_vec(program.some().to_vec());
                delivered += 1;
                let newest = datagram.len() + OVERHEAD;
                peers.deliver(from, datagram, now, step & 0x80 == 0);
                assert!(peers.waiting() <= LIMITS.waiting.max(newest));
            }
            3 => accepted.extend(peers.accept()),
            4 => {
                for peer in &accepted {
                    let (waits, _) = peer.state();
                    let taken = peer.take(Deadline::after(Duration::ZERO));
                    assert_eq!(waits, matches!(taken, Taken::Datagram(_)));
                }
            }
            5 => {
                now += Duration::from_secs(step.into());
                peers.drop_idle(now, Duration::from_secs(100));
            }
            6 => accepted.iter().for_each(|peer| peers.forget(peer)),
            _ => peers.drop_unaccepted(),
        }
        dropped += peers.take_dropped();
        accepted.truncate(16);
    }
    assert!(dropped <= delivered);
    peers.clear();
    assert!(peers.is_empty() && peers.accept().is_none() && peers.waiting() == 0);
}
