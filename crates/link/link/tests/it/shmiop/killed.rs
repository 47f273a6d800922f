//! Tests with other processes: peers that send and receive, and peers that are killed meanwhile.

use crate::shmiop::process::Process;
use crate::shmiop::support::*;
use punctual_exec::Deadline;
use punctual_link::shmiop::{ShmOptions, Shmiop, Trust};
use punctual_link::{Cause, Phase, Waitable};
use punctual_sys::passing::{self, Found};
use std::io::IoSlice;
use std::time::Duration;

#[test]
fn a_peer_killed_while_it_sends_is_noticed_and_leaves_whole_records() {
    let acceptor = listen(&Shmiop::default());
    let mut client = Process::new("send for ever", acceptor.address().place());
    let other = acceptor.accept().unwrap();
    let mut block = other.lend(0);
    let mut received = 0;
    let end = loop {
        block.clear();
        match other.receive(&mut block, 1000, limit()) {
            Ok(count) => received += count,
            Err(error) => break error,
        }
        if received > 4 * MIB {
            client.kill();
        }
        assert!(block.iter().all(|octet| *octet == 7));
    };
    assert!(matches!(end.cause, Cause::Closed), "{end}");
    assert_eq!(end.phase, Phase::Receive);
}

#[test]
fn a_peer_killed_while_it_is_waited_for_is_noticed_whether_early_or_late() {
    for late in [false, true] {
        let acceptor = listen(&Shmiop::default());
        let mut client = Process::new("connect and stay", acceptor.address().place());
        let other = acceptor.accept().unwrap();
        let waiting = other.clone();
        let thread = std::thread::spawn(move || {
            let mut block = waiting.lend(0);
            waiting.receive(&mut block, 1, limit()).map(drop)
        });
        if late {
            // Not a safety margin: this is the time after which a sleeper moves from the futex to
            // the socket.
            std::thread::sleep(Duration::from_millis(250));
        }
        client.kill();
        let end = thread.join().unwrap().unwrap_err();
        assert!(matches!(end.cause, Cause::Closed), "{end}");
    }
}

#[test]
fn a_reactor_is_woken_by_a_peers_death() {
    let link = link(ShmOptions {
        descriptor: true,
        ..ShmOptions::default()
    });
    let acceptor = listen(&link);
    let mut client = Process::new("connect and stay", acceptor.address().place());
    let other = acceptor.accept().unwrap();
    let Waitable::Descriptor(descriptor) = other.waitable() else {
        panic!("{:?}", other.waitable());
    };
    client.kill();
    assert_eq!(passing::wait(descriptor, Some(LIMIT)), Found::End);
    let now = Deadline::after(Duration::ZERO);
    let end = other.receive(&mut other.lend(0), 1, now).unwrap_err();
    assert!(matches!(end.cause, Cause::Closed), "{end}");
}

#[test]
fn a_peer_killed_while_its_ring_is_full_of_what_it_never_read_is_noticed_by_the_sender() {
    let acceptor = listen(&Shmiop::default());
    let mut client = Process::new("connect and stay", acceptor.address().place());
    let other = acceptor.accept().unwrap();
    let thread = std::thread::spawn(move || {
        let octets = vec![1; 4 * MIB];
        other.send(&[IoSlice::new(&octets)], limit())
    });
    client.kill();
    let failed = thread.join().unwrap().unwrap_err();
    assert!(matches!(failed.error.cause, Cause::Closed), "{failed}");
}

#[test]
fn what_a_killed_peer_lent_can_still_be_read() {
    let acceptor = listen(&trusting(Trust::SameUser));
    let mut client = Process::new("send", acceptor.address().place());
    let other = acceptor.accept().unwrap();
    let block = receive(&*other, MIB);
    client.kill();
    assert_eq!(block.lent()[0].segment.view(), pattern(MIB, 0));
    let end = other.receive(&mut other.lend(0), 1, limit()).unwrap_err();
    assert!(matches!(end.cause, Cause::Closed), "{end}");
}

#[test]
fn what_a_killed_peer_was_lent_and_kept_costs_that_connection_only() {
    let link = Shmiop::default();
    let acceptor = listen(&link);
    let mut client = Process::new("receive and keep", acceptor.address().place());
    let other = acceptor.accept().unwrap();
    send(&*other, b"", &pattern(MIB, 0));
    assert_eq!(&*receive(&*other, 4), b"kept");
    client.kill();
    let end = other.receive(&mut other.lend(0), 1, limit()).unwrap_err();
    assert!(matches!(end.cause, Cause::Closed), "{end}");
    let refused = other.send(&[IoSlice::new(b"x")], limit());
    // A waiting thread notices its death; until then sending is into the ring.
    if let Err(failed) = refused {
        assert!(matches!(failed.error.cause, Cause::Closed), "{failed}");
    }
    let mut client = Process::new("send", acceptor.address().place());
    let next = acceptor.accept().unwrap();
    assert_eq!(contents(&receive(&*next, MIB)), pattern(MIB, 0));
    client.kill();
}

#[test]
fn two_processes_exchange_lent_octets_both_ways() {
    let link = Shmiop::default();
    let acceptor = listen(&link);
    let mut client = Process::new("echo", acceptor.address().place());
    let other = acceptor.accept().unwrap();
    for seed in 0..20 {
        let octets = pattern(MIB, seed);
        send(&*other, b"", &octets);
        assert_eq!(contents(&receive(&*other, MIB)), octets, "message {seed}");
    }
    client.kill();
}
