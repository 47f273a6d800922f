//! Tests of hostile input.

use proptest::collection::vec;
use proptest::prelude::*;
use punctual_cdr::Limits;
use punctual_giop::lite::{self, decode_batch, examine};
use punctual_giop::{RequestHeader, ResponseFlags};

use super::batches::batch_of;
use super::{lite_request, open, request};
use punctual_heap::bytes_of;

#[test]
fn a_batch_that_lies_about_counts_and_lengths_hands_out_nothing() {
    let good = batch_of(&[vec![1; 8], vec![2; 8]]);
    let count_at = 5 + 16;
    let length_at = count_at + 4;
    for (at, lie) in [
        (count_at, 3),
        (count_at, u32::MAX),
        (count_at, 1),
        (length_at, 1),
        (length_at, 1 << 20),
        (length_at, u32::MAX),
    ] {
        let mut bytes = good.clone();
        bytes[at..at + 4].copy_from_slice(&lie.to_ne_bytes());
        let allowed = 512;
        let mut read = None;
        let peak = bytes_of(|| read = Some(decode_batch(&mut open(&bytes)).map(drop))).peak;
        assert!(peak <= allowed, "{peak} octets held");
        assert!(read.unwrap().is_err(), "{lie} at {at}");
    }
}

/// Reads a message as each kind, whatever its header says.
fn read_as_everything(bytes: &[u8]) {
    let _ = examine(bytes, bytes.len(), &Limits::default());
    let read = || {
        let _ = lite::decode_request(&mut open(bytes));
        let _ = lite::decode_reply(&mut open(bytes));
        let _ = lite::decode_locate_request(&mut open(bytes));
        let _ = lite::decode_locate_reply(&mut open(bytes));
        if let Ok(batch) = decode_batch(&mut open(bytes)) {
            let announced = batch.bodies.len();
            assert_eq!(batch.bodies.count(), announced);
        }
    };
    let peak = bytes_of(read).peak;
    assert!(peak <= 512, "{peak} octets held for {}", bytes.len());
}

#[test]
fn every_truncation_and_every_changed_octet_is_an_error_or_a_message() {
    let messages = [
        lite_request(&request(b"some key", "operation"), b"a body"),
        batch_of(&[vec![1; 3], vec![], vec![2; 9]]),
    ];
    for message in messages {
        for end in 0..message.len() {
            read_as_everything(&message[..end]);
            for octet in [0x00, 0x01, 0x7f, 0x80, 0xff] {
                let mut changed = message.clone();
                changed[end] = octet;
                read_as_everything(&changed);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_octets_do_no_harm(
        kind in 0u8..10,
        body in vec(prop_oneof![Just(0u8), Just(1), Just(4), any::<u8>()], 0..150),
    ) {
        let size = u32::try_from(body.len()).unwrap();
        read_as_everything(&[&size.to_ne_bytes()[..], &[kind], &body].concat());
        read_as_everything(&body);
    }

    #[test]
    fn requests_survive(
        request_id: u32,
        flags in 0usize..3,
        key in vec(any::<u8>(), 0..40),
        operation in "[a-z_]{1,20}",
        body in vec(any::<u8>(), 0..40),
    ) {
        let response = [
            ResponseFlags::NONE,
            ResponseFlags::SYNC_WITH_SERVER,
            ResponseFlags::SYNC_WITH_TARGET,
        ][flags];
        let header = RequestHeader { request_id, response, ..request(&key, &operation) };
        let bytes = lite_request(&header, &body);
        let mut input = open(&bytes);
        prop_assert_eq!(lite::decode_request(&mut input), Ok(header));
        prop_assert_eq!(input.rest(), &body[..]);
    }

    #[test]
    fn batches_survive(bodies in vec(vec(any::<u8>(), 0..30), 0..20)) {
        let bytes = batch_of(&bodies);
        let batch = decode_batch(&mut open(&bytes)).unwrap();
        let back: Vec<_> = batch.bodies.map(|body| body.rest().to_vec()).collect();
        prop_assert_eq!(back, bodies);
    }
}
