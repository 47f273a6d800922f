//! Messages as datagrams: TAO's header, fragments in any order, and datagrams that are forged.

use proptest::prelude::*;
use punctual::stub::ByteOrder;
use punctual_rtevent_service::federation::datagram::{
    Assembler, AssemblerOptions, BadDatagram, FragmentHeader, Taken, split,
};
use std::net::SocketAddr;

fn source(port: u16) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], port))
}

fn datagrams(number: u32, message: &[u8], size: usize, has_checksum: bool) -> Vec<Vec<u8>> {
    let fragments = split(number, ByteOrder::NATIVE, message, size, has_checksum).unwrap();
    fragments
        .map(|(head, fragment)| [&head, fragment].concat())
        .collect()
}

fn message(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 7 % 251) as u8).collect()
}

/// A fragment with this number, of a message of 100 octets in 4 fragments of 25.
fn quarter(message: u32, number: u32) -> Vec<u8> {
    let header = FragmentHeader {
        order: ByteOrder::Big,
        message,
        message_size: 100,
        size: 25,
        offset: 25 * number,
        number,
        count: 4,
    };
    [
        &header.encode(&[number as u8; 25], false)[..],
        &[number as u8; 25],
    ]
    .concat()
}

fn is_message(taken: &Taken) -> bool {
    matches!(taken, Taken::Message(..))
}

#[test]
fn the_header_is_tao_s() {
    let header = FragmentHeader {
        order: ByteOrder::Little,
        message: 0x0102_0304,
        message_size: 5,
        size: 5,
        offset: 0,
        number: 0,
        count: 1,
    };
    let octets = header.encode(b"event", false);
    let expected = [
        1, b'A', b'B', b'C', 4, 3, 2, 1, 5, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0,
        0, 0, 0, 0, 0,
    ];
    assert_eq!(octets, expected);
}

#[test]
fn the_checksum_is_the_crc_32_of_the_28_octets_before_it_and_the_fragment() {
    let datagram = &datagrams(1, b"event", 64, true)[0];
    let mut checked = datagram[..28].to_vec();
    checked.extend_from_slice(b"event");
    // CRC-32 by its definition, bit by bit: the reflected polynomial of IEEE 802.3.
    let crc = !checked.iter().fold(u32::MAX, |crc, octet| {
        (0..8).fold(crc ^ u32::from(*octet), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(crc & 1))
        })
    });
    assert_eq!(datagram[28..32], crc.to_be_bytes());
}

#[test]
fn a_changed_datagram_is_noticed_by_its_checksum() {
    let options = AssemblerOptions {
        has_checksum: true,
        ..AssemblerOptions::default()
    };
    let mut assembler = Assembler::new(options);
    let mut datagram = datagrams(1, &message(40), 1_024, true).remove(0);
    datagram[40] ^= 1;
    let taken = assembler.take(source(1), &datagram);
    assert!(
        matches!(taken, Taken::Bad(BadDatagram::Checksum { .. })),
        "{taken:?}"
    );
    datagram[40] ^= 1;
    assert!(is_message(&assembler.take(source(1), &datagram)));
}

proptest! {
    #[test]
    fn fragments_in_any_order_and_repeated_make_the_message_once(
        length in 1_usize..5_000,
        size in 33_usize..1_500,
        has_checksum: bool,
        seed: u64,
    ) {
        let whole = message(length);
        let mut all = datagrams(9, &whole, size, has_checksum);
        let once = all.len();
        all.extend(all.clone());
        let mut state = seed | 1;
        for at in (1..all.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            all.swap(at, (state >> 33) as usize % (at + 1));
        }
        let options = AssemblerOptions { has_checksum, ..AssemblerOptions::default() };
        let mut assembler = Assembler::new(options);
        let taken: Vec<_> = all.iter().map(|it| assembler.take(source(1), it)).collect();
        let messages: Vec<_> = taken.iter().filter(|it| is_message(it)).collect();
        let expected = Taken::Message(ByteOrder::NATIVE, whole);
        prop_assert_eq!(messages, vec![&expected]);
        prop_assert_eq!(assembler.counts().duplicates, once as u64);
    }

    #[test]
    fn no_octets_are_more_than_a_bad_datagram(octets in prop::collection::vec(any::<u8>(), 0..200), marks: bool) {
        let mut octets = octets;
        if marks && octets.len() > 4 {
            octets[..4].copy_from_slice(b"\x01ABC");
        }
        let mut assembler = Assembler::new(AssemblerOptions::default());
        assembler.take(source(1), &octets);
        assembler.take(source(1), &octets);
    }
}

#[test]
fn messages_of_sources_are_kept_apart() {
    let mut assembler = Assembler::new(AssemblerOptions::default());
    for number in 0..3 {
        assert_eq!(
            assembler.take(source(1), &quarter(5, number)),
            Taken::Incomplete
        );
    }
    assert_eq!(assembler.take(source(2), &quarter(5, 3)), Taken::Incomplete);
    assert!(is_message(&assembler.take(source(1), &quarter(5, 3))));
}

#[test]
fn contradictions_are_refused_and_the_message_still_comes() {
    let mut assembler = Assembler::new(AssemblerOptions::default());
    assembler.take(source(1), &quarter(5, 0));
    let mut longer = quarter(5, 1);
    longer[8..12].copy_from_slice(&200_u32.to_be_bytes());
    let taken = assembler.take(source(1), &longer);
    assert!(
        matches!(taken, Taken::Bad(BadDatagram::Contradiction(_))),
        "{taken:?}"
    );
    for number in 1..3 {
        assert_eq!(
            assembler.take(source(1), &quarter(5, number)),
            Taken::Incomplete
        );
    }
    assert!(is_message(&assembler.take(source(1), &quarter(5, 3))));
}

#[test]
fn fragments_that_overlap_make_no_message() {
    let mut assembler = Assembler::new(AssemblerOptions::default());
    let overlapping = |number: u32| {
        let header = FragmentHeader {
            order: ByteOrder::Big,
            message: 1,
            message_size: 100,
            size: 50,
            offset: 0,
            number,
            count: 2,
        };
        [&header.encode(&[0; 50], false)[..], &[0; 50]].concat()
    };
    assert_eq!(
        assembler.take(source(1), &overlapping(0)),
        Taken::Incomplete
    );
    let taken = assembler.take(source(1), &overlapping(1));
    assert!(
        matches!(taken, Taken::Bad(BadDatagram::Contradiction(_))),
        "{taken:?}"
    );
}

#[test]
fn headers_that_lie_are_refused() {
    let with = |at: usize, number: u32| {
        let mut datagram = quarter(1, 0);
        datagram[at..at + 4].copy_from_slice(&number.to_be_bytes());
        datagram
    };
    let lies = [
        with(8, 1 << 30),
        with(12, 26),
        with(16, u32::MAX),
        with(20, 4),
        with(24, 0),
        with(24, 1_000_000_000),
        quarter(1, 0)[..31].to_vec(),
    ];
    let mut assembler = Assembler::new(AssemblerOptions::default());
    for lie in &lies {
        let taken = assembler.take(source(1), lie);
        assert!(matches!(taken, Taken::Bad(_)), "{taken:?}");
    }
    assert_eq!(assembler.counts().bad, lies.len() as u64);
}

#[test]
fn incomplete_messages_of_a_flood_give_way_to_others() {
    let options = AssemblerOptions {
        most_incomplete: 10 * (25 + 64),
        ..AssemblerOptions::default()
    };
    let mut assembler = Assembler::new(options);
    for number in 0..1_000 {
        let port = 1 + (number % 100) as u16;
        assembler.take(source(port), &quarter(number / 100, 0));
    }
    for number in 0..3 {
        assert_eq!(
            assembler.take(source(999), &quarter(7, number)),
            Taken::Incomplete
        );
    }
    assert!(is_message(&assembler.take(source(999), &quarter(7, 3))));
}

#[test]
fn one_source_has_no_more_than_there_is_room_for() {
    let options = AssemblerOptions {
        most_incomplete: 10 * (25 + 64),
        ..AssemblerOptions::default()
    };
    let mut assembler = Assembler::new(options);
    for number in 0..10 {
        assert_eq!(
            assembler.take(source(1), &quarter(number, 0)),
            Taken::Incomplete
        );
    }
    assert_eq!(assembler.take(source(1), &quarter(10, 0)), Taken::NoRoom);
    assert_eq!(assembler.counts().no_room, 1);
}

#[test]
fn messages_that_leave_the_window_are_counted_as_lost() {
    let options = AssemblerOptions {
        window: 32,
        ..AssemblerOptions::default()
    };
    let mut assembler = Assembler::new(options);
    let whole = |number| datagrams(number, b"event", 64, false).remove(0);
    assembler.take(source(1), &whole(100));
    // 101 is not sent, 102 in part.
    assembler.take(source(1), &quarter(102, 0));
    assembler.take(source(1), &whole(103));
    assert_eq!(assembler.counts().lost, 0);
    assembler.take(source(1), &whole(103 + 32));
    assert_eq!(assembler.counts().lost, 2);
    assert_eq!(assembler.take(source(1), &whole(101)), Taken::Late);
}

#[test]
fn a_message_that_the_first_one_overtook_is_taken() {
    let mut assembler = Assembler::new(AssemblerOptions::default());
    let whole = |number| datagrams(number, b"event", 64, false).remove(0);
    assert!(is_message(&assembler.take(source(1), &whole(0))));
    assert!(is_message(&assembler.take(source(1), &whole(u32::MAX))));
    assert_eq!(assembler.take(source(1), &whole(0)), Taken::Duplicate);
}

#[test]
fn a_source_that_counts_anew_is_heard_again() {
    let mut assembler = Assembler::new(AssemblerOptions::default());
    let whole = |number| datagrams(number, b"event", 64, false).remove(0);
    assembler.take(source(1), &whole(1_000_000));
    let taken: Vec<_> = (0..40)
        .map(|number| assembler.take(source(1), &whole(number)))
        .collect();
    assert!(taken.iter().rev().take(20).all(is_message));
    assert_eq!(assembler.counts().late, 15);
}

#[test]
fn a_number_that_is_far_ahead_costs_no_memory_and_is_no_loss_of_all_before() {
    let mut assembler = Assembler::new(AssemblerOptions::default());
    let whole = |number| datagrams(number, b"event", 64, false).remove(0);
    assembler.take(source(1), &whole(0));
    assert!(is_message(
        &assembler.take(source(1), &whole(u32::MAX / 2 - 20))
    ));
    assert_eq!(assembler.counts().lost, 0);
    // The source's own numbers are late, until it is taken to count anew.
    let taken: Vec<_> = (1..40)
        .map(|number| assembler.take(source(1), &whole(number)))
        .collect();
    assert!(taken.iter().rev().take(20).all(is_message));
}

#[test]
fn a_message_that_fits_no_datagrams_is_refused() {
    assert!(split(1, ByteOrder::Big, b"", 64, false).is_err());
    assert!(split(1, ByteOrder::Big, b"event", 32, false).is_err());
}
