//! Bad frames: no error can be reported to their sender, so the connection is closed; and valid
//! frames with arbitrary sequence numbers, which the servant gets from
//! [`punctual::protocol::frame_arrival`].

use crate::hostile::links::{Over, Rig, over_links};
use crate::hostile::log::assert_logged;
use punctual::protocol::FrameArrival;
use punctual::stub::{Block, ByteOrder, Coding};
use punctual_giop::sequenced::{
    Arrival, BatchWriter, FrameHeader, MessageHeader, begin_message, finish_message,
};

/// Stream number of the frames, unless a test uses another.
const STREAM: u32 = 7;
/// Number of requests in a batch sent by the test.
const COUNT: u32 = 3;

fn header<'m>(key: &'m [u8], sequence: u64) -> FrameHeader<'m> {
    FrameHeader {
        stream: STREAM,
        sequence,
        sent_at: 1,
        object_key: key,
        operation: "ping",
    }
}

fn ping(header: &FrameHeader<'_>) -> Vec<u8> {
    let coding = Coding::default();
    let mut out = begin_message(Block::default(), ByteOrder::Big, coding);
    header.encode(&mut out).unwrap();
    let mut block = out.into_block();
    finish_message(&mut block).unwrap();
    block.into_vec()
}

/// Returns a batch of pings with four octets each, and the position of their count.
fn batch(key: &[u8], sequence: u64) -> (Vec<u8>, usize) {
    let begin = || {
        let (order, header) = (ByteOrder::Big, header(key, sequence));
        BatchWriter::begin(Block::default(), order, &header, Coding::default()).unwrap()
    };
    let count_at = begin().octets() - 4;
    let mut batch = begin();
    for _ in 0..COUNT {
        let pushed = batch.push(1, |out| {
            out.put_bytes(&[7; 4]);
            Ok(())
        });
        pushed.unwrap();
    }
    (batch.finish().unwrap().into_vec(), count_at)
}

/// Asserts that the server closes the connection without an answer, and logs a reason that contains
/// all of `parts`.
fn closes(rig: &Rig, message: &[u8], parts: &[&str]) {
    let mut peer = rig.peer();
    peer.send(message);
    assert!(peer.rest().is_empty());
    assert_logged(&peer, parts);
}

/// Waits until the servant has recorded at least `count` arrivals, and returns them.
fn arrivals(rig: &Rig, count: usize) -> Vec<FrameArrival> {
    loop {
        let seen = rig.servant.arrivals.lock().unwrap().clone();
        if seen.len() >= count {
            return seen;
        }
        crate::support::pause();
    }
}

over_links! {
    [(over_iiop, Iiop), (over_uiop, Uiop), (over_shmiop, Shmiop)]

    fn a_beginning_that_is_no_frames_closes_the_connection(over: Over) {
        let rig = Rig::of("frames", over);
        let good = ping(&header(&rig.key(), 1));
        for (at, octet, logged) in [
            (0, b'G', "sequenced message"),
            (4, 2, "version 2"),
            (4, 0, "version 0"),
            (5, 0x80, "0x80"),
            (8, 0xff, "limit"),
        ] {
            let mut bad = good.clone();
            bad[at] = octet;
            closes(&rig, &bad, &[logged, "closed"]);
        }
        rig.others_are_served();
        assert_eq!(rig.echo.pings().unwrap(), 0);
    }

    fn a_header_that_does_not_decode_closes_the_connection(over: Over) {
        let rig = Rig::of("frames", over);
        let good = ping(&header(&rig.key(), 1));
        let mut wild = good.clone();
        wild[32..36].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff]);
        let head = |size: usize| {
            let mut cut = good[..MessageHeader::LEN + size].to_vec();
            cut[8..12].copy_from_slice(&u32::try_from(size).unwrap().to_be_bytes());
            cut
        };
        for bad in [wild, head(0), head(4), head(19), head(24)] {
            closes(&rig, &bad, &["header of a Request"]);
        }
        assert_eq!(rig.echo.pings().unwrap(), 0);
    }

    fn a_frame_that_is_cut_off_ends_its_own_connection_only(over: Over) {
        let rig = Rig::of("frames", over);
        let whole = ping(&header(&rig.key(), 1));
        for length in 1..whole.len() {
            let mut peer = rig.peer();
            peer.send(&whole[..length]).close();
            assert_logged(&peer, &["in the middle of a message"]);
        }
        assert_eq!(rig.echo.pings().unwrap(), 0);
    }

    fn a_batch_that_lies_closes_the_connection_and_none_of_it_is_served(over: Over) {
        let rig = Rig::of("frames", over);
        let (whole, count_at) = batch(&rig.key(), 1);
        // Behind the first request's number and time stamp.
        let length_at = (count_at + 4).next_multiple_of(8) + 16;
        for (at, value) in [
            (count_at, u32::MAX),
            (count_at, COUNT + 1),
            (count_at, COUNT - 1),
            (count_at, 0),
            (length_at, u32::MAX),
            (length_at, 1000),
            (length_at, 0),
        ] {
            let mut lying = whole.clone();
            lying[at..at + 4].copy_from_slice(&value.to_be_bytes());
            closes(&rig, &lying, &["header of a Request"]);
        }
        assert_eq!(rig.echo.pings().unwrap(), 0);
        let mut peer = rig.peer();
        peer.send(&whole);
        let seen = arrivals(&rig, COUNT as usize);
        assert!(seen.iter().all(|one| one.arrival == Arrival::InOrder));
    }

    fn duplicates_and_strays_are_dropped_and_the_servant_is_told_of_gaps_and_late_ones(over: Over) {
        let rig = Rig::of("frames", over);
        let key = rig.key();
        let far = 1 << 63;
        let sent = [1, 2, 5, 4, 4, far, 6, far, far + 1, u64::MAX, 0, far + 2];
        let mut peer = rig.peer();
        for sequence in sent {
            peer.send(&ping(&header(&key, sequence)));
        }
        let expected = [
            (1, Arrival::InOrder),
            (2, Arrival::InOrder),
            (5, Arrival::Gap { lost: 2 }),
            (4, Arrival::Late),
            (6, Arrival::InOrder),
            // A far number is accepted when the next confirms it.
            (far + 1, Arrival::Restarted),
            (far + 2, Arrival::InOrder),
        ];
        let seen = arrivals(&rig, expected.len());
        let what: Vec<_> = seen.iter().map(|one| (one.sequence, one.arrival)).collect();
        assert_eq!(what, expected);
        let statistics = seen.last().unwrap().statistics;
        assert_eq!((statistics.duplicate, statistics.stray), (1, 4));
        rig.others_are_served();
    }

    fn streams_and_stamps_gone_wild_are_served_and_nothing_piles_up(over: Over) {
        let rig = Rig::of("frames", over);
        let key = rig.key();
        let mut peer = rig.peer();
        let count = 500;
        for number in 0..count {
            let wild = FrameHeader {
                stream: number,
                sequence: u64::MAX - u64::from(number),
                sent_at: u64::MAX * u64::from(number % 2),
                ..header(&key, 0)
            };
            peer.send(&ping(&wild));
        }
        let seen = arrivals(&rig, count as usize);
        // Each stream begins again: only the latest is kept.
        assert!(seen.iter().all(|one| one.statistics.received == 1));
        rig.others_are_served();
    }

    fn a_request_that_wants_an_answer_gets_none(over: Over) {
        let rig = Rig::of("frames", over);
        let key = rig.key();
        let mut peer = rig.peer();
        let asking = FrameHeader { operation: "no_such_operation", ..header(&key, 1) };
        let unknown = FrameHeader { object_key: b"nobody", ..header(&key, 2) };
        peer.send(&ping(&asking)).send(&ping(&unknown));
        peer.send(&ping(&header(&key, 3)));
        assert_eq!(arrivals(&rig, 1)[0].sequence, 3);
        assert_logged(&peer, &["BAD_OPERATION"]);
        assert_logged(&peer, &["OBJECT_NOT_EXIST"]);
        // Data that is no frame ends the connection, with nothing sent before.
        peer.send(b"no frame at all");
        assert!(peer.rest().is_empty());
    }
}
