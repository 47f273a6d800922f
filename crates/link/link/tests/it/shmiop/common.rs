//! Tests of the common pool: one copy for several peers, and peers that keep, break or are killed.

use crate::shmiop::process::Process;
use crate::shmiop::raw::*;
use crate::shmiop::support::{
    LIMIT, MIB, contents, lend, limit, link, listen, pair, pattern, receive, send, share,
};
use punctual_link::shmiop::{Copied, NAME, ShmOptions, Shmiop, Trust};
use punctual_link::{Acceptor, Address, Connection, Link, Properties};
use punctual_sys::memory::PeerMemory;
use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Link that lends from a common pool of 4 MiB.
fn common() -> Shmiop {
    link(ShmOptions {
        common_pool: 4 << 20,
        ..ShmOptions::default()
    })
}

fn connect(link: &Shmiop, acceptor: &dyn Acceptor) -> [Arc<dyn Connection>; 2] {
    let one = link.connect(acceptor.address(), &Properties::NONE, limit());
    [one.unwrap(), acceptor.accept().unwrap()]
}

/// Returns how many MiB of the pool are free.
fn free(connection: &dyn Connection) -> usize {
    let all: Vec<_> = (0..4).map_while(|_| share(connection, &[0; MIB])).collect();
    all.len()
}

/// Waits until the whole pool is free.
fn wait_until_free(connection: &dyn Connection) {
    let end = Instant::now() + LIMIT;
    while free(connection) < 4 {
        assert!(Instant::now() < end, "the pool is free again");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn octets_for_ten_peers_are_copied_once() {
    let (sender, receiver) = (common(), Shmiop::default());
    let acceptor = listen(&receiver);
    let pairs: Vec<_> = (0..10).map(|_| connect(&sender, &*acceptor)).collect();
    let octets = pattern(64 * 1024, 1);
    let copy = share(&*pairs[0][0], &octets).unwrap();
    for [one, _] in &pairs {
        send(&**one, b"head", copy.as_slice());
    }
    drop(copy);
    for [_, other] in &pairs {
        let block = receive(&**other, 4 + octets.len());
        assert_eq!(block.lent()[0].segment.as_slice(), octets);
    }
    let expected = Copied {
        into_ring: 40,
        into_pool: 64 * 1024,
        ..Copied::default()
    };
    assert_eq!(sender.copied(), expected);
    assert_eq!(receiver.copied().out_of_pool, 640 * 1024);
    wait_until_free(&*pairs[3][0]);
}

#[test]
fn a_link_without_a_common_pool_shares_nothing() {
    let (one, other) = pair(&Shmiop::default(), &common());
    assert!(share(&*one, &pattern(MIB, 1)).is_none());
    assert!(share(&*other, &pattern(MIB, 1)).is_some());
}

#[test]
fn a_property_of_an_endpoint_makes_its_connections_use_the_pool() {
    let link = Shmiop::default();
    let properties = Properties::from_iter([("common_pool", "65536"), ("pool", "0")]);
    let listen = link.listen(&Address::new(NAME, ""), &properties);
    let acceptor = listen.unwrap();
    let [one, other] = connect(&link, &*acceptor);
    assert!(share(&*one, &[1; 100]).is_none());
    let copy = share(&*other, &[1; 16_384]).unwrap();
    send(&*other, b"", copy.as_slice());
    assert_eq!(contents(&receive(&*one, 16_384)), [1; 16_384]);
    // It has no pool of its own: other bytes go through the ring.
    assert!(lend(&*other, &[2; 16_384]).is_none());
}

#[test]
fn both_sides_lend_from_common_pools_of_their_own() {
    let (client, server) = (common(), common());
    let (one, other) = pair(&client, &server);
    for (from, to, seed) in [(&one, &other, 1), (&other, &one, 2)] {
        let copy = share(&**from, &pattern(MIB, seed)).unwrap();
        send(&**from, b"", copy.as_slice());
        let block = receive(&**to, MIB);
        assert_eq!(block.lent().len(), 1);
        assert_eq!(contents(&block), pattern(MIB, seed));
    }
}

#[test]
fn copies_of_another_link_are_lent_from_the_connections_own_pool() {
    let (ours, theirs) = (common(), common());
    let receiver = Shmiop::default();
    let ((one, _), (there, other)) = (pair(&ours, &receiver), pair(&theirs, &receiver));
    let copy = share(&*one, &pattern(MIB, 1)).unwrap();
    send(&*there, b"", copy.as_slice());
    assert_eq!(contents(&receive(&*other, MIB)), pattern(MIB, 1));
    assert_eq!(theirs.copied().into_pool, MIB as u64);
}

#[test]
fn a_peer_that_keeps_its_share_is_sent_copies_and_others_are_not() {
    let sender = common();
    let receiver = link(ShmOptions {
        trust: Trust::SameUser,
        ..ShmOptions::default()
    });
    let acceptor = listen(&receiver);
    let [[keeps, keeper], [goes_on, other]] = [(); 2].map(|()| connect(&sender, &*acceptor));
    let mut kept = Vec::new();
    for seed in 0..3 {
        let before = sender.copied().into_pool;
        let copy = share(&*keeps, &pattern(MIB, seed)).unwrap();
        send(&*keeps, b"", copy.as_slice());
        kept.push(receive(&*keeper, MIB));
        send(&*goes_on, b"", copy.as_slice());
        assert_eq!(contents(&receive(&*other, MIB)), pattern(MIB, seed));
        let copied = (sender.copied().into_pool - before) / MIB as u64;
        // A quarter of the pool is one of them.
        assert_eq!(copied, if seed == 0 { 1 } else { 2 }, "{seed}");
    }
    for (seed, block) in kept.iter().enumerate() {
        assert_eq!(block.lent()[0].segment.view(), pattern(MIB, seed));
    }
}

#[test]
fn a_full_pool_shares_nothing_until_something_is_given_back() {
    let sender = common();
    let receiver = Shmiop::default();
    let (one, other) = pair(&sender, &receiver);
    let copies: Vec<_> = (0..4).map_while(|_| share(&*one, &[1; MIB])).collect();
    assert_eq!(copies.len(), 4);
    assert!(share(&*one, &[1; MIB]).is_none());
    send(&*one, b"", copies[0].as_slice());
    drop(copies);
    assert_eq!(free(&*one), 3);
    assert_eq!(contents(&receive(&*other, MIB)), [1; MIB]);
    wait_until_free(&*one);
}

#[test]
fn what_a_trusting_peer_looks_at_stays_after_the_sender_has_closed() {
    let sender = common();
    let receiver = link(ShmOptions {
        trust: Trust::SameUser,
        ..ShmOptions::default()
    });
    let ((one, other), (next, _)) = (pair(&sender, &receiver), pair(&sender, &receiver));
    let copy = share(&*one, &pattern(MIB, 1)).unwrap();
    send(&*one, b"", copy.as_slice());
    let block = receive(&*other, MIB);
    drop((copy, one, other));
    // All that is free is overwritten.
    let others: Vec<_> = (0..4).map_while(|_| share(&*next, &[9; MIB])).collect();
    assert_eq!(others.len(), 3);
    assert_eq!(block.lent()[0].segment.view(), pattern(MIB, 1));
    drop((others, block));
    wait_until_free(&*next);
}

#[test]
fn what_a_killed_peer_keeps_is_free_again() {
    let link = common();
    let acceptor = listen(&link);
    let mut client = Process::new("receive and keep", acceptor.address().place());
    let other = acceptor.accept().unwrap();
    let copy = share(&*other, &pattern(MIB, 0)).unwrap();
    send(&*other, b"", copy.as_slice());
    drop(copy);
    assert_eq!(&*receive(&*other, 4), b"kept");
    let mut sender = Process::new("send", acceptor.address().place());
    let next = acceptor.accept().unwrap();
    assert_eq!(free(&*next), 3);
    client.kill();
    drop(other);
    wait_until_free(&*next);
    sender.kill();
}

#[test]
fn a_raw_peer_that_lends_from_a_common_pool_is_served_and_gets_it_back() {
    let (mut raw, connection, mut common) = Raw::pair_with_common(&link_of_raw());
    common.memory.as_mut_slice()[100..1100].fill(5);
    raw.put(0, COMMON, 1000);
    raw.put(8, 3, 100);
    raw.set_head(16);
    let mut block = connection.lend(0);
    connection.receive(&mut block, 1000, limit()).unwrap();
    assert_eq!(raw.theirs.load_acquire(COMMON_MARKS + 3), 0);
    assert_eq!(block.lent()[0].segment.as_slice(), [5; 1000]);
    assert_eq!(raw.theirs.load_acquire(COMMON_MARKS + 3), 1);
    assert_eq!(raw.theirs.load_acquire(MARKS + 3), 0);
}

#[test]
fn the_lifeline_is_held_for_as_long_as_something_is_lent() {
    let (mut raw, connection, common) = Raw::pair_with_common(&link_of_raw());
    drop(common.held);
    raw.put(0, COMMON, 1000);
    raw.put(8, 0, 0);
    raw.set_head(16);
    let mut block = connection.lend(0);
    connection.receive(&mut block, 1000, limit()).unwrap();
    drop(connection);
    assert!(!common.lifeline.is_released());
    drop(block);
    let end = Instant::now() + LIMIT;
    while !common.lifeline.is_released() {
        assert!(Instant::now() < end, "it is released");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn what_is_lent_of_no_slot_or_outside_of_the_common_pool_is_a_bad_peer() {
    for (slot, offset, length, why) in [
        (256, 0, 8, "slot"),
        (u32::MAX, 0, 8, "slot"),
        (0, POOL, 1, "outside of its pool"),
        (0, POOL - 8, 9, "outside of its pool"),
        (0, u32::MAX, u32::MAX, "outside of its pool"),
        (0, 0, 0, "outside of its pool"),
    ] {
        let (mut raw, connection, _common) = Raw::pair_with_common(&link_of_raw());
        raw.put(0, COMMON, length);
        raw.put(8, slot, offset);
        raw.set_head(16);
        assert_bad(&*connection, &raw, why);
    }
    let (mut raw, connection, _common) = Raw::pair_with_common(&link_of_raw());
    raw.put(0, COMMON, 8);
    raw.set_head(8);
    assert_bad(&*connection, &raw, "invalid record");
}

#[test]
fn what_is_lent_of_a_common_pool_that_was_not_announced_is_a_bad_peer() {
    let (mut raw, connection) = Raw::pair(&link_of_raw());
    raw.put(0, COMMON, 8);
    raw.put(8, 0, 0);
    raw.set_head(16);
    assert_bad(&*connection, &raw, "did not announce");
}

#[test]
fn lending_a_common_pool_without_end_is_a_bad_peer() {
    // One slot more often than is allowed, and all of the pool as many slots.
    for slots in [1, 256] {
        let (mut raw, connection, _common) = Raw::pair_with_common(&link_of_raw());
        for at in 0..17 {
            raw.put(at * 16, COMMON, POOL);
            raw.put(at * 16 + 8, u32::try_from(at).unwrap() % slots, 0);
        }
        raw.set_head(17 * 16);
        let mut block = connection.lend(0);
        let error = failure(&*connection, &mut block);
        assert!(error.to_string().contains("lent more at once"), "{error}");
    }
}

#[test]
fn giving_back_common_memory_that_was_not_lent_is_a_bad_peer() {
    let link = raw_common();
    let (raw, connection) = Raw::pair_to_common(&link);
    let copy = share(&*connection, &[1; 1000]).unwrap();
    send(&*connection, b"", copy.as_slice());
    // It can read what it was sent.
    let common = PeerMemory::map(&raw.passed[0], POOL as usize).unwrap();
    let mut octets = [0; 1000];
    common.copy_to(0, &mut octets).unwrap();
    assert_eq!((raw.passed.len(), octets), (2, [1; 1000]));
    for mark in 0..256 {
        raw.words[COMMON_MARKS + mark].store(5, Ordering::Release);
    }
    let failed = connection
        .send(&[IoSlice::new(copy.as_slice())], limit())
        .unwrap_err();
    assert!(failed.to_string().contains("common memory"), "{failed}");
    assert!(has_hung_up(&raw.socket));
}

#[test]
fn a_peer_that_never_gives_back_is_sent_copies() {
    let link = raw_common();
    let (raw, connection) = Raw::pair_to_common(&link);
    // A quarter of the pool is out: what comes then is lent from the connection's own pool.
    for (fill, kind) in [(1, COMMON), (2, LENT)] {
        let copy = share(&*connection, &[fill; POOL as usize / 4]).unwrap();
        send(&*connection, b"", copy.as_slice());
        let at = CONTROL + 16 * usize::from(fill - 1);
        let record = raw.theirs.double_word(at).unwrap();
        assert_eq!(record >> 32, u64::from(kind));
    }
}

fn link_of_raw() -> Shmiop {
    crate::shmiop::raw::link()
}

fn raw_common() -> Shmiop {
    Shmiop::new(ShmOptions {
        common_pool: POOL,
        ..raw_options()
    })
}
