//! Tests of sending and receiving: under load, with deadlines, and for a reactor.

use crate::shmiop::support::*;
use punctual_exec::Deadline;
use punctual_link::shmiop::{ShmOptions, Trust};
use punctual_link::{Acceptor, Cause, Connection, Link, Properties, Waitable};
use punctual_sys::passing::{self, Found};
use std::io::IoSlice;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn a_send_that_timed_out_tells_how_much_the_peer_can_have() {
    let link = trusting(Trust::SameUser);
    let (one, other) = pair(&link, &link);
    let octets = pattern(MIB, 8);
    let parts: Vec<IoSlice<'_>> = octets.chunks(10_000).map(IoSlice::new).collect();
    let failed = one.send(&parts, Deadline::after(SOON)).unwrap_err();
    assert!(matches!(failed.error.cause, Cause::TimedOut), "{failed}");
    assert!(failed.sent > 0);
    assert_eq!(
        contents(&receive(&*other, failed.sent)),
        &octets[..failed.sent]
    );
    let more = other.receive(&mut other.lend(0), 1, Deadline::after(SOON));
    assert!(matches!(more.unwrap_err().cause, Cause::TimedOut));
}

/// Exchanges messages of all sizes both ways at once, lent and not, through a ring far too small
/// for them.
fn exchange(options: &ShmOptions) {
    let link = link(options.clone());
    let (one, other) = pair(&link, &link);
    const ROUNDS: usize = 500;
    let size = |seed: usize| (seed * seed * 31 + seed) % 9000 + 1;
    let sender = |connection: Arc<dyn Connection>| {
        move || {
            for seed in 0..ROUNDS {
                let octets = pattern(size(seed), seed);
                let (head, rest) = octets.split_at(octets.len() / 3);
                send(&*connection, head, rest);
            }
        }
    };
    let receiver = |connection: Arc<dyn Connection>| {
        move || {
            let mut kept = std::collections::VecDeque::new();
            let mut block = connection.lend(0);
            for seed in 0..ROUNDS {
                let len = size(seed);
                while block.full_len() < len {
                    connection.receive(&mut block, len, limit()).unwrap();
                }
                // Bytes beyond the message are the next one's; lent ones never are.
                let lent: usize = block.full_len() - block.len();
                let own = len - lent;
                let mut next = connection.lend(0);
                next.extend_from_slice(&block[own..]);
                block.truncate(own);
                assert_eq!(contents(&block), pattern(len, seed), "message {seed}");
                // Some are kept for a while, so that they are returned out of order.
                if seed % 3 == 0 {
                    kept.push_back(block);
                }
                if kept.len() > 5 {
                    kept.pop_front();
                }
                block = next;
            }
        }
    };
    std::thread::scope(|threads| {
        threads.spawn(sender(one.clone()));
        threads.spawn(sender(other.clone()));
        threads.spawn(receiver(one));
        threads.spawn(receiver(other));
    });
}

#[test]
fn nothing_is_lost_or_changed_under_load_whoever_spins_or_sleeps() {
    for spin in [0, 5, 200] {
        for (pool, trust) in [
            (0, Trust::Never),
            (1 << 15, Trust::Never),
            (1 << 16, Trust::SameUser),
        ] {
            exchange(&ShmOptions {
                ring: 4096,
                pool,
                lend_threshold: 1000,
                spin: Some(Duration::from_micros(spin)),
                trust,
                ..ShmOptions::default()
            });
        }
    }
}

#[test]
fn a_descriptor_is_readable_when_there_is_something_or_the_end() {
    let link = link(ShmOptions {
        descriptor: true,
        ..ShmOptions::default()
    });
    let (one, other) = pair(&link, &link);
    let Waitable::Descriptor(descriptor) = other.waitable() else {
        panic!("{:?}", other.waitable());
    };
    let nothing = || {
        let mut block = other.lend(0);
        let error = other.receive(&mut block, 1, Deadline::after(Duration::ZERO));
        matches!(error.unwrap_err().cause, Cause::TimedOut)
    };
    for seed in 0..50 {
        // A receive that finds nothing arms it.
        assert!(nothing());
        assert_eq!(
            passing::wait(descriptor, Some(Duration::ZERO)),
            Found::Nothing
        );
        for _ in 0..3 {
            send(&*one, &pattern(1000, seed), b"");
        }
        // One notification for all of them, pending until a receive finds nothing more.
        assert_eq!(passing::wait(descriptor, Some(LIMIT)), Found::Data);
        assert_eq!(contents(&receive(&*other, 3000)).len(), 3000);
    }
    assert!(nothing());
    drop(one);
    assert_eq!(passing::wait(descriptor, Some(LIMIT)), Found::End);
    let end = other.receive(&mut other.lend(0), 1, limit()).unwrap_err();
    assert!(matches!(end.cause, Cause::Closed), "{end}");
}

#[test]
fn many_connections_come_and_go_at_once() {
    let link = link(ShmOptions {
        ring: 4096,
        pool: 4096,
        ..ShmOptions::default()
    });
    let acceptor: Arc<dyn Acceptor> = listen(&link).into();
    let address = acceptor.address().clone();
    std::thread::scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| {
                for seed in 0..25 {
                    let none = Properties::NONE;
                    let one = link.connect(&address, &none, limit()).unwrap();
                    send(&*one, &pattern(3000, seed), b"");
                    assert_eq!(contents(&receive(&*one, 3000)), pattern(3000, seed));
                }
            });
        }
        for _ in 0..8 * 25 {
            let other = acceptor.accept().unwrap();
            threads.spawn(move || {
                let block = receive(&*other, 3000);
                send(&*other, &block, b"");
            });
        }
    });
}
