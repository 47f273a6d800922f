//! Tests of the frame-sequencing protocol: its layout, its handling of loss and order, and hostile
//! input.

#![allow(clippy::unwrap_used)]

use crate::support;
use punctual_heap::bytes_of;

use std::collections::HashSet;

use proptest::collection::vec;
use proptest::prelude::*;
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Decoder, GiopVersion, Limits};
use punctual_giop::align_body;
use punctual_giop::sequenced::{
    Arrival, BatchWriter, Examined, FrameError, FrameHeader, MessageHeader, Sequence, Statistics,
    begin_message, decode_batch, examine, finish_message, message_decoder,
};
use support::hex;

use ByteOrder::{Big, Little};

const HEADER: FrameHeader<'static> = FrameHeader {
    stream: 0x0a,
    sequence: 0x0102_0304_0506_0708,
    sent_at: 0x11,
    object_key: b"key",
    operation: "op",
};

fn frame(header: &FrameHeader<'_>, order: ByteOrder, body: &[u8]) -> Vec<u8> {
    let mut out = begin_message(Block::default(), order, Coding::default());
    header.encode(&mut out).unwrap();
    if !body.is_empty() {
        align_body(&mut out);
    }
    out.put_bytes(body);
    let mut block = out.into_block();
    finish_message(&mut block).unwrap();
    block.into_vec()
}

fn header_of(message: &[u8]) -> MessageHeader {
    MessageHeader::parse(message.first_chunk().unwrap()).unwrap()
}

fn open(message: &[u8]) -> (FrameHeader<'_>, Decoder<'_>) {
    let header = header_of(message);
    let mut input = message_decoder(&header, message, Coding::default());
    (FrameHeader::decode(&header, &mut input).unwrap(), input)
}

#[test]
fn a_frame_tells_its_number_and_its_time_before_anything_else() {
    let expected = [
        (
            Big,
            "50554e46 01 00 0000 00000025 0000000a 0102030405060708 0000000000000011 \
             00000003 6b6579 00 00000003 6f7000 00 bb",
        ),
        (
            Little,
            "50554e46 01 01 0000 25000000 0a000000 0807060504030201 1100000000000000 \
             03000000 6b6579 00 03000000 6f7000 00 bb",
        ),
    ];
    for (order, text) in expected {
        let bytes = frame(&HEADER, order, &[0xbb]);
        assert_eq!(bytes, hex(text));
        assert_eq!(bytes[48], 0xbb, "the body stands at a multiple of 8");
        let (header, mut input) = open(&bytes);
        assert_eq!(header, HEADER);
        assert_eq!(input.get_u8(), Ok(0xbb));
        assert_eq!(input.remaining(), 0);
    }
}

#[test]
fn a_frame_is_seen_whole_when_its_last_octet_is_there() {
    let bytes = frame(&HEADER, Little, b"body");
    let limits = Limits::default();
    for end in 0..bytes.len() {
        let need = if end < 12 { 12 } else { bytes.len() };
        let found = examine(&bytes[..end], end, &limits);
        assert_eq!(found, Ok(Examined::Incomplete { need }), "{end} octets");
    }
    let found = examine(&bytes, bytes.len(), &limits);
    assert_eq!(found, Ok(Examined::Complete(header_of(&bytes))));
    let header = header_of(&bytes);
    assert_eq!(MessageHeader::parse(&header.to_octets()), Ok(header));
}

#[test]
fn what_is_no_frame_is_refused_as_soon_as_its_octets_show_it() {
    let limits = Limits {
        message: 112,
        ..Limits::default()
    };
    let look = |bytes: &[u8]| examine(bytes, bytes.len(), &limits);
    assert_eq!(look(b"PUG"), Err(FrameError::BadMagic));
    assert_eq!(look(b"GIOP\x01\x02"), Err(FrameError::BadMagic));
    assert_eq!(look(b"PUNF\x02"), Err(FrameError::UnsupportedVersion(2)));
    assert_eq!(look(b"PUNF\x01\x04"), Err(FrameError::UnknownFlags(4)));
    assert_eq!(look(b"PUNF\x01\x83"), Err(FrameError::UnknownFlags(0x83)));
    let oversized = FrameError::Oversized {
        size: 101,
        limit: 112,
    };
    assert_eq!(
        look(b"PUNF\x01\x00\x00\x00\x00\x00\x00\x65"),
        Err(oversized)
    );
    assert_eq!(
        look(b"PUNF\x01\x00\x00\x00\x00\x00\x00\x64"),
        Ok(Examined::Incomplete { need: 112 })
    );
}

fn batch_of(order: ByteOrder, frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut batch =
        BatchWriter::begin(Block::default(), order, &HEADER, Coding::default()).unwrap();
    for (sent_at, body) in frames {
        batch
            .push(*sent_at, |out| {
                out.put_bytes(body);
                Ok(())
            })
            .unwrap();
    }
    assert_eq!(batch.len(), frames.len());
    assert_eq!(batch.is_empty(), frames.is_empty());
    let octets = batch.octets();
    let block = batch.finish().unwrap();
    assert_eq!(block.len(), octets);
    block.into_vec()
}

#[test]
fn the_requests_of_a_batch_are_numbered_from_the_headers_number_on() {
    for order in [Big, Little] {
        let frames = [(7, vec![1, 2, 3]), (8, vec![]), (9, vec![4])];
        let bytes = batch_of(order, &frames);
        assert!(header_of(&bytes).batch);
        let (header, mut input) = open(&bytes);
        assert_eq!(header, HEADER);
        let frames: Vec<_> = decode_batch(&mut input).unwrap().collect();
        let facts: Vec<_> = frames
            .iter()
            .map(|it| (it.sequence - HEADER.sequence, it.sent_at, it.body.rest()))
            .collect();
        assert_eq!(facts, [(0, 7, &[1, 2, 3][..]), (1, 8, &[]), (2, 9, &[4])]);
    }
}

#[test]
fn a_request_that_fails_to_marshal_takes_no_number() {
    let mut batch = BatchWriter::begin(Block::default(), Big, &HEADER, Coding::default()).unwrap();
    let failed = batch.push(1, |out| {
        out.put_u64(1);
        Err(CdrError::InnerNul)
    });
    assert_eq!(failed, Err(CdrError::InnerNul));
    assert!(batch.is_empty());
    batch.push(2, |_| Ok(())).unwrap();
    let bytes = batch.finish().unwrap();
    let (_, mut input) = open(&bytes);
    let frames: Vec<_> = decode_batch(&mut input).unwrap().collect();
    assert_eq!(frames.len(), 1);
    assert_eq!(
        (frames[0].sequence, frames[0].sent_at),
        (HEADER.sequence, 2)
    );
}

#[test]
fn a_batch_has_no_more_requests_than_the_limit_on_sequences() {
    let limits = Limits {
        sequence: 3,
        ..Limits::default()
    };
    let coding = Coding::new(GiopVersion::V1_2, &limits);
    let mut batch = BatchWriter::begin(Block::default(), Big, &HEADER, coding).unwrap();
    for _ in 0..3 {
        batch.push(0, |_| Ok(())).unwrap();
    }
    assert!(matches!(
        batch.push(0, |_| Ok(())),
        Err(CdrError::LengthOverLimit { .. })
    ));
}

fn check(bytes: &[u8]) {
    let read = || {
        let Ok(Examined::Complete(header)) = examine(bytes, bytes.len(), &Limits::default()) else {
            return;
        };
        let mut input = message_decoder(&header, bytes, Coding::default());
        if FrameHeader::decode(&header, &mut input).is_err() {
            return;
        }
        if let Ok(frames) = decode_batch(&mut input) {
            let announced = frames.len();
            assert_eq!(frames.count(), announced);
        }
    };
    let peak = bytes_of(read).peak;
    assert!(peak <= 512, "{peak} octets held for {}", bytes.len());
}

#[test]
fn every_truncation_and_every_changed_octet_is_an_error_or_a_message() {
    for order in [Big, Little] {
        let frames = [(7, vec![1; 3]), (8, vec![]), (9, vec![4; 9])];
        for message in [frame(&HEADER, order, b"a body"), batch_of(order, &frames)] {
            for end in 0..message.len() {
                check(&message[..end]);
                for octet in [0x00, 0x01, 0x7f, 0x80, 0xff] {
                    let mut changed = message.clone();
                    changed[end] = octet;
                    check(&changed);
                }
            }
        }
    }
}

fn arrivals(sequence: &mut Sequence, numbers: &[u64]) -> Vec<Arrival> {
    numbers
        .iter()
        .map(|number| sequence.accept(*number, 0, 0))
        .collect()
}

#[test]
fn gaps_late_frames_and_duplicates_are_told_apart() {
    use Arrival::{Duplicate, Gap, InOrder, Late};
    let mut stream = Sequence::new();
    assert_eq!(stream.highest(), None);
    assert_eq!(
        arrivals(&mut stream, &[5, 6, 9, 9, 7, 10, 6, 7, 8, 8]),
        [
            InOrder,
            InOrder,
            Gap { lost: 2 },
            Duplicate,
            Late,
            InOrder,
            Duplicate,
            Duplicate,
            Late,
            Duplicate
        ]
    );
    let expected = Statistics {
        received: 6,
        lost: 0,
        late: 2,
        duplicate: 4,
        stray: 0,
    };
    assert_eq!(stream.statistics(), expected);
    assert_eq!(stream.highest(), Some(10));
}

#[test]
fn frames_from_before_the_first_are_late_and_were_never_lost() {
    let mut stream = Sequence::new();
    let told = arrivals(&mut stream, &[100, 98, 98, 103]);
    assert_eq!(
        told,
        [
            Arrival::InOrder,
            Arrival::Late,
            Arrival::Duplicate,
            Arrival::Gap { lost: 2 }
        ]
    );
    let statistics = stream.statistics();
    assert_eq!((statistics.lost, statistics.late), (2, 1));
}

#[test]
fn a_lone_stray_changes_nothing_and_two_in_a_row_are_a_new_beginning() {
    for far in [u64::MAX - 5, 1 << 40] {
        let mut stream = Sequence::new();
        let told = arrivals(&mut stream, &[2000, far, 2001, 3, 2002, 3, 4, 5, 7]);
        assert_eq!(
            told,
            [
                Arrival::InOrder,
                Arrival::Stray,
                Arrival::InOrder,
                Arrival::Stray,
                Arrival::InOrder,
                Arrival::Stray,
                Arrival::Restarted,
                Arrival::InOrder,
                Arrival::Gap { lost: 1 }
            ]
        );
        let statistics = stream.statistics();
        assert_eq!((statistics.stray, statistics.lost), (3, 1));
        assert_eq!(stream.highest(), Some(7));
    }
}

#[test]
fn the_highest_number_there_is_does_no_harm() {
    let mut stream = Sequence::new();
    let told = arrivals(
        &mut stream,
        &[u64::MAX, u64::MAX, u64::MAX - 1, 0, u64::MAX],
    );
    assert_eq!(
        told,
        [
            Arrival::InOrder,
            Arrival::Duplicate,
            Arrival::Late,
            Arrival::Stray,
            Arrival::Duplicate
        ]
    );
}

#[test]
fn jitter_is_the_mean_deviation_of_rfc_3550() {
    let mut stream = Sequence::new();
    // Constant transit time, by clocks that differ: no jitter.
    for number in 0..100u64 {
        stream.accept(number, number * 1000, 500 + number * 1000);
    }
    assert_eq!(stream.jitter(), 0);
    // Alternately 0 and 1600 longer: each differs by 1600 from the one before.
    for number in 100..1000u64 {
        let detour = number % 2 * 1600;
        stream.accept(number, number * 1000, 500 + number * 1000 + detour);
    }
    assert!(
        (1590..=1600).contains(&stream.jitter()),
        "{}",
        stream.jitter()
    );
    // One step of it: J += (|D| - J) / 16.
    let mut stream = Sequence::new();
    stream.accept(0, 0, 0);
    stream.accept(1, 0, 1600);
    assert_eq!(stream.jitter(), 100);
    stream.accept(1, 0, 99_999);
    assert_eq!(stream.jitter(), 100, "a duplicate tells nothing");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn counts_are_those_of_who_remembers_everything(
        first in prop_oneof![Just(0u64), Just(1 << 33), 0u64..5000],
        steps in vec(0u64..40, 1..400),
        lags in vec(0u64..60, 400),
    ) {
        let mut stream = Sequence::new();
        let mut known = HashSet::new();
        let (mut ahead, mut base, mut highest) = (first, None, None::<u64>);
        let (mut late, mut duplicate) = (0, 0);
        for (step, lag) in steps.iter().zip(lags) {
            ahead += step / 8;
            let number = ahead.saturating_sub(lag / 4);
            let expected = match highest {
                _ if known.contains(&number) => Arrival::Duplicate,
                Some(highest) if number < highest => Arrival::Late,
                Some(highest) if number - highest > 1 => Arrival::Gap { lost: number - highest - 1 },
                _ => Arrival::InOrder,
            };
            prop_assert_eq!(stream.accept(number, 0, 0), expected);
            late += u64::from(expected == Arrival::Late);
            duplicate += u64::from(expected == Arrival::Duplicate);
            known.insert(number);
            base = base.or(Some(number));
            highest = highest.max(Some(number));
        }
        let highest = highest.unwrap();
        // Missing frames count as lost from the first one that arrived on.
        let missing = (base.unwrap()..=highest).filter(|number| !known.contains(number)).count();
        let expected = Statistics {
            received: u64::try_from(known.len()).unwrap(),
            lost: u64::try_from(missing).unwrap(),
            late,
            duplicate,
            stray: 0,
        };
        prop_assert_eq!(stream.statistics(), expected);
        prop_assert_eq!(stream.highest(), Some(highest));
    }

    #[test]
    fn no_stream_of_numbers_and_times_does_harm(
        frames in vec((any::<u64>(), any::<u64>(), any::<u64>()), 0..200),
        near in vec((0u64..3000, any::<u64>(), any::<u64>()), 0..200),
    ) {
        let mut stream = Sequence::new();
        let peak = bytes_of(|| {
            for (number, sent_at, now) in frames.iter().chain(&near) {
                stream.accept(*number, *sent_at, *now);
            }
        }).peak;
        prop_assert_eq!(peak, 0);
        let told = stream.statistics();
        let total = told.received + told.duplicate + told.stray;
        prop_assert_eq!(total, u64::try_from(frames.len() + near.len()).unwrap());
    }

    #[test]
    fn frames_survive(
        stream: u32,
        sequence: u64,
        sent_at: u64,
        object_key in vec(any::<u8>(), 0..40),
        operation in "[a-z_]{1,20}",
        body in vec(any::<u8>(), 0..40),
        big: bool,
    ) {
        let order = if big { Big } else { Little };
        let header = FrameHeader {
            stream,
            sequence,
            sent_at,
            object_key: &object_key,
            operation: &operation,
        };
        let bytes = frame(&header, order, &body);
        let (back, input) = open(&bytes);
        prop_assert_eq!(back, header);
        prop_assert_eq!(input.rest(), &body[..]);
    }

    #[test]
    fn any_octets_do_no_harm(
        flags in 0u8..4,
        body in vec(prop_oneof![Just(0u8), Just(1), Just(4), any::<u8>()], 0..150),
    ) {
        let size = u32::try_from(body.len()).unwrap();
        let order = ByteOrder::from_flag(flags);
        let header = MessageHeader { order, batch: flags & 2 != 0, size };
        check(&[&header.to_octets()[..], &body].concat());
        check(&body);
    }
}
