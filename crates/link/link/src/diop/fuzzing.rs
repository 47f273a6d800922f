//! Datagrams from unknown senders, for fuzzing.

use crate::datagram::peers::{Peer, Peers, Taken};
use crate::fuzzing::Program;
use punctual_cdr::Block;
use punctual_exec::Deadline;
use std::sync::Arc;
use std::time::{Duration, Instant};

const LIMIT: usize = 4;
const BACKLOG: usize = 3;
/// Upper bound of the bytes that wait for one peer, including the overhead of each datagram.
const QUEUE: usize = 400;

/// Interprets the input as operations on a table of peers: deliver a datagram, accept a peer,
/// receive from it, forget it.
///
/// # Panics
/// If the count of datagrams is wrong.
pub fn peers(input: &[u8]) {
    let mut program = Program(input);
    let mut peers = Peers::new(LIMIT, BACKLOG, QUEUE);
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
                peers.deliver(from, datagram, now, step & 0x80 == 0);
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
    assert!(peers.is_empty() && peers.accept().is_none());
}
