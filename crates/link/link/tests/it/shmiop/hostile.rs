//! Tests of peers that break the rules of the ring and the pool.

use crate::shmiop::raw::*;
use crate::shmiop::support::{SOON, limit};
use punctual_exec::Deadline;
use punctual_link::Cause;
use punctual_sys::futex;
use punctual_sys::passing::{self};
use std::io::IoSlice;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[test]
fn a_raw_peer_that_keeps_the_rules_is_served() {
    let (mut raw, connection) = Raw::pair(&link());
    raw.send_first(b"hello");
    assert_eq!(&*receive(&*connection).unwrap(), b"hello");
    assert_eq!(raw.theirs.load_acquire(TAIL), 16);
    connection
        .send(&[IoSlice::new(b"welcome")], limit())
        .unwrap();
    let mut octets = [0; 7];
    raw.theirs.copy_to(CONTROL + 8, &mut octets).unwrap();
    assert_eq!(&octets, b"welcome");
}

#[test]
fn a_head_that_cannot_be_is_a_bad_peer() {
    for head in [RING + 8, 12, u32::MAX - 7, 1 << 31] {
        let (raw, connection) = Raw::pair(&link());
        raw.set_head(head);
        assert_bad(&*connection, &raw, "impossible amount");
    }
}

#[test]
fn a_head_that_goes_back_is_a_bad_peer() {
    let (mut raw, connection) = Raw::pair(&link());
    raw.send_first(&[1; 100]);
    let mut block = connection.lend(0);
    connection.receive(&mut block, 1, limit()).unwrap();
    assert_eq!(block.len(), 100);
    raw.set_head(8);
    assert_bad(&*connection, &raw, "impossible amount");
}

#[test]
fn what_is_no_record_is_a_bad_peer() {
    for (kind, length) in [
        (0, 0),
        (0, 8),
        (4, 8),
        (u32::MAX, u32::MAX),
        (INLINE, 0),
        (INLINE, 9),
        (INLINE, u32::MAX),
        (INLINE, u32::MAX - 7),
    ] {
        let (mut raw, connection) = Raw::pair(&link());
        raw.put(0, kind, length);
        raw.set_head(16);
        assert_bad(&*connection, &raw, "invalid record");
    }
    let (mut raw, connection) = Raw::pair(&link());
    raw.put(0, LENT, 8);
    raw.set_head(8);
    assert_bad(&*connection, &raw, "invalid record");
}

#[test]
fn what_is_lent_of_no_slot_or_outside_of_the_pool_is_a_bad_peer() {
    for (slot, offset, length, why) in [
        (256, 0, 8, "slot"),
        (u32::MAX, 0, 8, "slot"),
        (0, POOL, 1, "outside of its pool"),
        (0, POOL - 8, 9, "outside of its pool"),
        (0, 0, POOL + 1, "outside of its pool"),
        (0, u32::MAX, u32::MAX, "outside of its pool"),
        (0, u32::MAX, 1, "outside of its pool"),
        (0, 0, 0, "outside of its pool"),
    ] {
        let (mut raw, connection) = Raw::pair(&link());
        raw.put(0, LENT, length);
        raw.put(8, slot, offset);
        raw.set_head(16);
        assert_bad(&*connection, &raw, why);
    }
}

#[test]
fn lending_one_slot_without_end_is_a_bad_peer() {
    let (mut raw, connection) = Raw::pair(&link());
    for at in 0..17 {
        raw.put(at * 16, LENT, POOL);
        raw.put(at * 16 + 8, 7, 0);
    }
    raw.set_head(17 * 16);
    let mut block = connection.lend(0);
    let error = failure(&*connection, &mut block);
    assert!(error.to_string().contains("lent more at once"), "{error}");
}

#[test]
fn lending_the_whole_pool_as_every_slot_is_a_bad_peer() {
    let (mut raw, connection) = Raw::pair(&link());
    for at in 0..32 {
        raw.put(at * 16, LENT, POOL);
        raw.put(at * 16 + 8, u32::try_from(at).unwrap(), 0);
    }
    raw.set_head(32 * 16);
    let mut block = connection.lend(0);
    let error = failure(&*connection, &mut block);
    assert!(error.to_string().contains("lent more at once"), "{error}");
    assert!(block.full_len() <= 16 * POOL as usize);
}

#[test]
fn lent_octets_that_change_afterwards_change_nothing() {
    let (mut raw, connection) = Raw::pair(&link());
    raw.pool.as_mut_slice()[..1000].fill(1);
    raw.put(0, LENT, 1000);
    raw.put(8, 3, 0);
    raw.set_head(16);
    let mut block = connection.lend(0);
    connection.receive(&mut block, 1000, limit()).unwrap();
    let segment = block.lent()[0].segment.clone();
    let before = segment.as_slice();
    assert_eq!(before, [1; 1000]);
    // A copied stretch is returned, at once and once.
    assert_eq!(raw.theirs.load_acquire(MARKS + 3), 1);
    raw.pool.as_mut_slice().fill(2);
    assert_eq!(before, [1; 1000]);
    let mut copy = [0; 1000];
    segment.copy_to(&mut copy);
    assert_eq!(copy, [1; 1000]);
    drop((segment, block));
    assert_eq!(raw.theirs.load_acquire(MARKS + 3), 1);
}

#[test]
fn pages_that_a_peer_lends_but_never_wrote_are_zeroes_and_not_made_for_the_reader() {
    let (mut raw, connection) = Raw::pair(&link());
    raw.pool.as_mut_slice()[4096] = 9;
    raw.put(0, LENT, POOL);
    raw.put(8, 0, 0);
    raw.set_head(16);
    let mut block = connection.lend(0);
    let pool = POOL as usize;
    connection.receive(&mut block, pool, limit()).unwrap();
    let before = raw.taken();
    let segment = &block.lent()[0].segment;
    let mut copy = vec![1; pool];
    segment.copy_to(&mut copy);
    for octets in [&copy, segment.as_slice()] {
        let mut others = octets.iter().enumerate().filter(|(at, _)| *at != 4096);
        assert!(octets[4096] == 9 && others.all(|(_, octet)| *octet == 0));
    }
    assert_eq!(raw.taken(), before);
}

#[test]
fn a_ring_that_a_peer_never_wrote_is_not_read() {
    let (raw, connection) = Raw::pair(&link());
    // The page of control words, which both sides use.
    raw.set_head(RING);
    let before = raw.taken();
    assert_bad(&*connection, &raw, "it never wrote");
    assert_eq!(raw.taken(), before);
}

#[test]
fn a_tail_that_cannot_be_is_a_bad_peer() {
    for tail in [8, u32::MAX, 1 << 31] {
        let (raw, connection) = Raw::pair(&link());
        raw.words[TAIL].store(tail, Ordering::Release);
        // More than fits makes the sender check how far the peer has read.
        let failed = connection
            .send(&[IoSlice::new(&[0; 3 * RING as usize])], limit())
            .unwrap_err();
        let text = failed.to_string();
        assert!(
            text.contains("its read position is beyond the written data"),
            "{text}"
        );
        assert!(has_hung_up(&raw.socket));
    }
}

#[test]
fn a_tail_that_goes_to_and_fro_neither_overruns_the_ring_nor_hangs() {
    for _ in 0..50 {
        let (raw, connection) = Raw::pair(&link());
        let stop = AtomicBool::new(false);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    for tail in [0, RING / 2, 8, RING - 8, 0, RING] {
                        raw.words[TAIL].store(tail, Ordering::Release);
                        raw.words[WRITER_DOORBELL].fetch_add(1, Ordering::Relaxed);
                        futex::wake_shared(&raw.words[WRITER_DOORBELL]);
                    }
                }
            });
            let octets = [3; 64 * RING as usize];
            let failed = connection.send(&[IoSlice::new(&octets)], limit());
            stop.store(true, Ordering::Relaxed);
            let failed = failed.unwrap_err();
            assert!(matches!(failed.error.cause, Cause::BadPeer(_)), "{failed}");
            assert!(failed.sent < octets.len());
        });
    }
}

#[test]
fn giving_back_what_was_not_lent_is_a_bad_peer() {
    let (raw, connection) = Raw::pair(&link());
    for mark in 0..256 {
        raw.words[MARKS + mark].store(5, Ordering::Release);
    }
    let lent = connection.lender().unwrap().lend(&[1; 100]).unwrap();
    connection
        .send(&[IoSlice::new(lent.as_slice())], limit())
        .unwrap();
    let failed = connection
        .send(&[IoSlice::new(lent.as_slice())], limit())
        .unwrap_err();
    assert!(failed.to_string().contains("returned memory"), "{failed}");
    assert!(has_hung_up(&raw.socket));
}

#[test]
fn sleep_words_of_nonsense_and_a_socket_full_of_bells_do_not_hold_the_sender() {
    let (raw, connection) = Raw::pair(&link());
    for word in 0..2000u32 {
        raw.words[READER_SLEEP].store(word | 2, Ordering::Release);
        connection.send(&[IoSlice::new(b"x")], limit()).unwrap();
        // Read at once, so that the ring never fills; the notifications are never read.
        raw.words[TAIL].store(raw.theirs.load_acquire(HEAD), Ordering::Release);
    }
}

#[test]
fn bells_without_a_message_do_not_keep_a_deadline_from_passing() {
    let (raw, connection) = Raw::pair(&link());
    let stop = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                passing::notify(&raw.socket);
                raw.words[READER_DOORBELL].fetch_add(1, Ordering::Relaxed);
                futex::wake_shared(&raw.words[READER_DOORBELL]);
            }
        });
        // Beyond the first slice, so that the socket is waited on as well.
        let deadline = Deadline::after(Duration::from_millis(200));
        let error = connection.receive(&mut connection.lend(0), 1, deadline);
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(error.unwrap_err().cause, Cause::TimedOut));
    });
}

#[test]
fn descriptors_slipped_in_with_notifications_are_closed() {
    let (raw, connection) = Raw::pair(&link());
    let (mut reader, writer) = std::io::pipe().unwrap();
    send_all(&raw.socket, b"wake", &[writer.as_fd(); 50]);
    drop(writer);
    // A sleep beyond the first slice is on the socket, and clears the notifications.
    let deadline = Deadline::after(Duration::from_millis(150));
    let error = connection.receive(&mut connection.lend(0), 1, deadline);
    assert!(matches!(error.unwrap_err().cause, Cause::TimedOut));
    assert_eq!(std::io::Read::read(&mut reader, &mut [0]).unwrap(), 0);
}

/// Returns the next of a deterministic sequence of pseudo-random numbers.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn a_length_rewritten_after_it_was_checked_changes_nothing() {
    for round in 0..100 {
        let (mut raw, connection) = Raw::pair(&link());
        raw.ring.as_mut_slice().fill(0xaa);
        raw.put(0, INLINE, 64);
        raw.set_head(8 + 64);
        let stop = AtomicBool::new(false);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                // Valid, and then as invalid as possible, over and over while it is read.
                while !stop.load(Ordering::Relaxed) {
                    for length in [64, u32::MAX, 64, RING, 64, 0] {
                        raw.put(0, INLINE, length);
                    }
                }
            });
            let mut block = connection.lend(0);
            let outcome = connection.receive(&mut block, 64, limit());
            stop.store(true, Ordering::Relaxed);
            match outcome {
                // As a whole or not at all, whatever its current content.
                Ok(count) => assert_eq!((count, &*block), (64, &[0xaa; 64][..]), "{round}"),
                Err(error) => assert!(matches!(error.cause, Cause::BadPeer(_)), "{error}"),
            }
        });
    }
}

#[test]
fn a_peer_that_scribbles_over_all_its_memory_neither_hangs_nor_harms_anybody() {
    let mut state = 0x9e37_79b9_7f4a_7c15;
    let (mut bad, mut good) = (0, 0);
    for _ in 0..100 {
        let (mut raw, connection) = Raw::pair(&link());
        let mut seed = next(&mut state);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let scribbler = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                // Mostly plausible values, so that it gets far.
                let at = usize::try_from(next(&mut seed)).unwrap() % 64 * 8;
                let kind = u32::try_from(next(&mut seed) % 3).unwrap();
                let length = u32::try_from(next(&mut seed) % 40).unwrap();
                raw.put(at, kind, length);
                let word = [HEAD, HEAD, TAIL, MARKS, READER_SLEEP][at / 8 % 5];
                let value = u32::try_from(next(&mut seed) % 64 * 8).unwrap();
                raw.words[word].store(value, Ordering::Release);
            }
            raw
        });
        let mut block = connection.lend(0);
        let outcome = (0..200).find_map(|_| {
            block.clear();
            let _ = connection.send(&[IoSlice::new(&[1; 80])], Deadline::after(SOON));
            let outcome = connection.receive(&mut block, 500, Deadline::after(SOON));
            for lent in block.lent() {
                assert_eq!(lent.segment.as_slice().len(), lent.segment.len());
            }
            outcome.err()
        });
        stop.store(true, Ordering::Relaxed);
        drop(scribbler.join().unwrap());
        match outcome.map(|error| error.cause) {
            Some(Cause::BadPeer(_) | Cause::Closed) => bad += 1,
            Some(Cause::TimedOut) | None => good += 1,
            Some(other) => panic!("{other}"),
        }
    }
    assert_eq!(bad + good, 100);
    assert!(bad > 0, "it was caught now and then");
}
