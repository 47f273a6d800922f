//! Tests of copies, and of the ownership of lent memory.

use crate::shmiop::support::*;
use punctual_link::shmiop::{Copied, ShmOptions, Trust};

#[test]
fn a_loan_travels_without_a_copy_between_trusted_peers() {
    let (client, server) = (trusting(Trust::SameUser), trusting(Trust::SameUser));
    let (one, other) = pair(&client, &server);
    let mut loan = one.loan(MIB).unwrap();
    let octets = pattern(MIB, 1);
    loan.copy_from_slice(&octets);
    send(&*one, b"head", &loan);
    let block = receive(&*other, 4 + MIB);
    assert_eq!(block.as_slice(), b"head");
    assert_eq!(block.lent()[0].segment.view(), octets);
    // Only the head went through the ring.
    let sent = Copied {
        into_ring: 4,
        ..Copied::default()
    };
    let received = Copied {
        out_of_ring: 4,
        ..Copied::default()
    };
    assert_eq!((client.copied(), server.copied()), (sent, received));
}

#[test]
fn octets_of_the_applications_are_copied_once_by_each_side_that_does_not_trust() {
    let (client, server) = (trusting(Trust::SameUser), trusting(Trust::Never));
    let (one, other) = pair(&client, &server);
    let octets = pattern(MIB, 2);
    send(&*one, b"head", &octets);
    let block = receive(&*other, 4 + MIB);
    let segment = &block.lent()[0].segment;
    let mut copy = vec![0; MIB];
    segment.copy_to(&mut copy);
    assert_eq!(copy, octets);
    let mib = u64::try_from(MIB).unwrap();
    assert_eq!(
        (client.copied().into_pool, client.copied().into_ring),
        (mib, 4)
    );
    assert_eq!(
        (server.copied().out_of_pool, server.copied().out_of_ring),
        (mib, 4)
    );
    // Read as a slice, it is copied for that, once.
    assert_eq!(segment.as_slice(), octets);
    assert_eq!(segment.as_slice(), octets);
    segment.copy_to(&mut copy);
    assert_eq!(server.copied().out_of_pool, 2 * mib);
}

#[test]
fn a_trusted_peer_looks_at_what_was_lent_where_it_lies() {
    let (client, server) = (trusting(Trust::Never), trusting(Trust::SameUser));
    let (one, other) = pair(&client, &server);
    send(&*one, b"", &pattern(MIB, 3));
    let block = receive(&*other, MIB);
    assert_eq!(block.lent()[0].segment.view(), pattern(MIB, 3));
    let mib = u64::try_from(MIB).unwrap();
    assert_eq!(client.copied().into_pool, mib);
    assert_eq!(server.copied(), Copied::default());
}

#[test]
fn short_runs_and_those_of_a_side_without_a_pool_go_through_the_ring() {
    let bare = link(ShmOptions {
        pool: 0,
        ..ShmOptions::default()
    });
    let (one, other) = pair(&trusting(Trust::SameUser), &bare);
    assert!(lend(&*one, &[0; 100]).is_none());
    assert!(other.lender().is_none() && other.loan(100).is_none());
    let octets = pattern(MIB, 4);
    let sending = std::thread::spawn(move || send(&*other, b"", &octets));
    assert_eq!(receive(&*one, MIB).as_slice(), pattern(MIB, 4));
    sending.join().unwrap();
}

#[test]
fn a_receiver_that_keeps_what_it_got_makes_the_sender_copy_and_nothing_worse() {
    let link = link(ShmOptions {
        pool: 1 << 16,
        lend_threshold: 1,
        trust: Trust::SameUser,
        ..ShmOptions::default()
    });
    let (one, other) = pair(&link, &link);
    let mut kept = Vec::new();
    for seed in 0..6 {
        send(&*one, b"", &pattern(1 << 14, seed));
        kept.push(receive(&*other, 1 << 14));
    }
    let lent: Vec<usize> = kept.iter().map(|block| block.lent().len()).collect();
    assert_eq!(lent, [1, 1, 1, 1, 0, 0]);
    for (seed, block) in kept.iter().enumerate() {
        assert_eq!(contents(block), pattern(1 << 14, seed));
    }
    assert!(one.loan(1).is_none());
    kept.remove(0);
    assert!(one.loan(1 << 14).is_some());
}

#[test]
fn a_loan_given_back_is_not_lent_again_while_the_peer_looks_at_it() {
    let link = link(ShmOptions {
        pool: 1 << 16,
        lend_threshold: 1,
        ..ShmOptions::default()
    });
    let (one, other) = pair(&link, &link);
    let mut loan = one.loan(1 << 16).unwrap();
    loan.fill(5);
    send(&*one, b"", &loan);
    drop(loan);
    let block = receive(&*other, 1 << 16);
    assert!(one.loan(1).is_none());
    assert_eq!(block.lent()[0].segment.as_slice(), vec![5; 1 << 16]);
    drop(block);
    assert!(one.loan(1 << 16).is_some());
}

#[test]
fn a_loan_filled_anew_leaves_the_peer_what_was_sent() {
    let link = trusting(Trust::SameUser);
    let (one, other) = pair(&link, &link);
    let mut loan = one.loan(MIB).unwrap();
    let mut frames = Vec::new();
    for frame in 0..5u8 {
        loan.fill(frame);
        send(&*one, b"", &loan);
        frames.push(receive(&*other, MIB));
    }
    for (frame, block) in (0..5u8).zip(&frames) {
        let octets = block.lent()[0].segment.view();
        assert!(octets.iter().all(|octet| *octet == frame), "frame {frame}");
    }
}

#[test]
fn one_loan_may_be_under_way_more_often_than_it_is_lent() {
    let link = trusting(Trust::SameUser);
    let (one, other) = pair(&link, &link);
    let mut loan = one.loan(20_000).unwrap();
    loan.copy_from_slice(&pattern(20_000, 6));
    let mut blocks = Vec::new();
    for _ in 0..40 {
        send(&*one, b"", &loan);
        blocks.push(receive(&*other, 20_000));
    }
    assert!(
        blocks
            .iter()
            .all(|block| contents(block) == pattern(20_000, 6))
    );
    let lent = blocks
        .iter()
        .filter(|block| !block.lent().is_empty())
        .count();
    assert_eq!(lent, 16);
}

#[test]
fn a_part_of_a_loan_is_sent_by_reference() {
    let link = trusting(Trust::SameUser);
    let (one, other) = pair(&link, &link);
    let mut loan = one.loan(MIB).unwrap();
    loan.copy_from_slice(&pattern(MIB, 7));
    send(&*one, b"", &loan[1000..200_000]);
    let block = receive(&*other, 199_000);
    assert_eq!(
        block.lent()[0].segment.view(),
        &pattern(MIB, 7)[1000..200_000]
    );
}

#[test]
fn lent_runs_stand_where_they_were_sent_and_never_behind_what_is_needed() {
    let link = link(ShmOptions {
        lend_threshold: 1,
        ..ShmOptions::default()
    });
    let (one, other) = pair(&link, &link);
    for seed in [1, 2] {
        send(&*one, &pattern(100, seed), &pattern(50_000, seed));
        send(&*one, &pattern(30, seed + 2), b"");
    }
    let mut block = other.lend(0);
    other.receive(&mut block, 50, limit()).unwrap();
    assert_eq!((block.len(), block.lent().len()), (100, 0));
    while block.full_len() < 50_100 {
        other.receive(&mut block, 50_100, limit()).unwrap();
    }
    // The message is whole: data behind it came along as far as it is not lent.
    assert_eq!((block.lent().len(), block.lent()[0].at), (1, 100));
    other.receive(&mut block, 100_260, limit()).unwrap();
    while block.full_len() < 100_260 {
        other.receive(&mut block, 100_260, limit()).unwrap();
    }
    let mut expected = Vec::new();
    for seed in [1, 2] {
        expected.extend(pattern(100, seed));
        expected.extend(pattern(50_000, seed));
        expected.extend(pattern(30, seed + 2));
    }
    assert_eq!(contents(&block), expected);
}

#[test]
fn lent_memory_outlives_its_connection() {
    let link = trusting(Trust::SameUser);
    let (one, other) = pair(&link, &link);
    let mut loan = one.loan(MIB).unwrap();
    loan.fill(9);
    send(&*one, b"", &loan);
    let block = receive(&*other, MIB);
    drop((one, other));
    assert!(
        block.lent()[0]
            .segment
            .view()
            .iter()
            .all(|octet| *octet == 9)
    );
    assert_eq!(loan[MIB - 1], 9);
}
