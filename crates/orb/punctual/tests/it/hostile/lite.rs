//! Malformed GIOPlite: it has no magic number and no version, so errors must be detected by sizes
//! and kinds.

use crate::hostile::links::{Over, Rig, over_links};
use crate::hostile::log::assert_logged;
use crate::hostile::peer::Peer;
use crate::support::Random;
use punctual::stub::{Block, Coding, Encoder};
use punctual_giop::lite::{
    BatchWriter, Kind, MessageHeader, begin_message, encode_request, finish_message,
};
use punctual_giop::{RequestHeader, ResponseFlags, ServiceContexts, Target, align_body};

/// Offset of the flags in a request; the length of the object key follows them.
const FLAGS_AT: usize = 9;
const KEY_LENGTH_AT: usize = 13;

pub(crate) fn request(
    key: &[u8],
    operation: &str,
    arguments: impl FnOnce(&mut Encoder<'_>),
) -> Vec<u8> {
    let mut out = begin_message(Block::default(), Kind::Request, Coding::default());
    let header = RequestHeader {
        request_id: 2,
        response: ResponseFlags::SYNC_WITH_TARGET,
        target: Target::ObjectKey(key),
        operation,
        contexts: ServiceContexts::none(),
    };
    encode_request(&header, &mut out).unwrap();
    align_body(&mut out);
    arguments(&mut out);
    let mut block = out.into_block();
    finish_message(&mut block).unwrap();
    block.into_vec()
}

/// Returns a batch of pings with four octets each, and the position of their count.
pub(crate) fn batch(key: &[u8], count: u32) -> (Vec<u8>, usize) {
    let begin = || BatchWriter::begin(Block::default(), key, "ping", Coding::default()).unwrap();
    let count_at = begin().octets() - 4;
    let mut batch = begin();
    for _ in 0..count {
        batch.push_body(&[7; 4]).unwrap();
    }
    (batch.finish().unwrap().into_vec(), count_at)
}

/// Asserts that the server answers with MessageError and closes the connection.
fn assert_refused(peer: &mut Peer) {
    let error = MessageHeader {
        kind: Kind::MessageError,
        size: 0,
    };
    assert_eq!(peer.octets(MessageHeader::LEN), error.to_octets());
    assert!(peer.rest().is_empty());
}

/// Asserts that the server refuses a message, and logs a reason that contains all of `parts`.
fn refuses(rig: &Rig, message: &[u8], parts: &[&str]) {
    let mut peer = rig.peer();
    peer.send(message);
    assert_refused(&mut peer);
    assert_logged(&peer, parts);
}

fn message(size: u32, kind: u8, rest: &[u8]) -> Vec<u8> {
    [&size.to_ne_bytes(), &[kind][..], rest].concat()
}

over_links! {
    [(over_iiop, Iiop), (over_uiop, Uiop), (over_shmiop, Shmiop)]

    fn an_unknown_kind_is_a_message_error(over: Over) {
        let rig = Rig::of("giop_lite", over);
        for kind in [7, 9, 0x2a, 0xff] {
            refuses(&rig, &message(4, kind, &[0; 4]), &["MessageError"]);
        }
        rig.others_are_served();
    }

    fn giop_is_not_taken_for_giop_lite(over: Over) {
        let rig = Rig::of("giop_lite", over);
        refuses(&rig, b"GIOP\x01\x02\x00\x00\x00\x00\x00\x00", &["limit"]);
        rig.others_are_served();
    }

    fn a_size_over_the_limit_is_refused_before_anything_is_allocated(over: Over) {
        let rig = Rig::of("giop_lite", over);
        for size in [u32::MAX, u32::MAX - 4, 0x8000_0000] {
            refuses(&rig, &message(size, 0, &[]), &["limit"]);
        }
        rig.others_are_served();
    }

    fn a_size_beyond_what_comes_ends_its_own_connection_only(over: Over) {
        let rig = Rig::of("giop_lite", over);
        let whole = request(&rig.key(), "long", |out| out.put_i32(1));
        for length in 1..whole.len() {
            let mut peer = rig.peer();
            peer.send(&whole[..length]).close();
            assert_logged(&peer, &["in the middle of a message"]);
        }
        rig.others_are_served();
    }

    fn a_head_that_the_size_cuts_off_is_a_message_error(over: Over) {
        let rig = Rig::of("giop_lite", over);
        let whole = request(&rig.key(), "ping", |_| {});
        let head = whole.len() - "ping\0".len();
        for size in [0, 3, 5, 8, head - MessageHeader::LEN] {
            let rest = &whole[MessageHeader::LEN..][..size];
            let cut = message(u32::try_from(size).unwrap(), 0, rest);
            refuses(&rig, &cut, &["header of a Request"]);
        }
        assert_eq!(rig.echo.pings().unwrap(), 0);
    }

    fn a_key_longer_than_its_message_is_a_message_error(over: Over) {
        let rig = Rig::of("giop_lite", over);
        for length in [u32::MAX, 0x8000_0000, 1000] {
            let mut wild = request(&rig.key(), "ping", |_| {});
            wild[KEY_LENGTH_AT..KEY_LENGTH_AT + 4].copy_from_slice(&length.to_ne_bytes());
            refuses(&rig, &wild, &["header of a Request"]);
        }
        assert_eq!(rig.echo.pings().unwrap(), 0);
    }

    fn a_servers_own_messages_are_refused_from_a_client(over: Over) {
        let rig = Rig::of("giop_lite", over);
        for kind in [Kind::Reply, Kind::LocateReply] {
            let reply = message(8, kind.number(), &[0; 8]);
            refuses(&rig, &reply, &["only servers may send"]);
        }
        rig.others_are_served();
    }

    fn flags_that_mean_nothing_are_a_message_error(over: Over) {
        let rig = Rig::of("giop_lite", over);
        for flags in [2, 4, 0x7f, 0x80, 0xff] {
            let mut garbled = request(&rig.key(), "ping", |_| {});
            garbled[FLAGS_AT] = flags;
            refuses(&rig, &garbled, &["response flags"]);
        }
        assert_eq!(rig.echo.pings().unwrap(), 0);
    }

    fn a_batch_that_lies_about_its_count_is_a_message_error_and_none_of_it_is_served(over: Over) {
        let rig = Rig::of("giop_lite", over);
        let (whole, count_at) = batch(&rig.key(), 3);
        for count in [u32::MAX, 0x4000_0000, 4, 2, 0] {
            let mut lying = whole.clone();
            lying[count_at..count_at + 4].copy_from_slice(&count.to_ne_bytes());
            refuses(&rig, &lying, &["header of a Request"]);
        }
        assert_eq!(rig.echo.pings().unwrap(), 0);
    }

    fn a_batch_that_lies_about_a_length_is_a_message_error_and_none_of_it_is_served(over: Over) {
        let rig = Rig::of("giop_lite", over);
        let (whole, count_at) = batch(&rig.key(), 3);
        for length in [u32::MAX, 0x7fff_ffff, 1000, 0] {
            let mut lying = whole.clone();
            lying[count_at + 4..count_at + 8].copy_from_slice(&length.to_ne_bytes());
            refuses(&rig, &lying, &["header of a Request"]);
        }
        assert_eq!(rig.echo.pings().unwrap(), 0);
        // A valid one is served whole.
        rig.peer().send(&whole);
        while rig.echo.pings().unwrap() < 3 {}
    }

    fn octets_at_random_never_reach_a_servant_nor_stop_the_server(over: Over) {
        let rig = Rig::of("giop_lite", over);
        let mut random = Random(0x5eed);
        for _ in 0..200 {
            let length = 1 + random.below(400);
            let octets: Vec<u8> = (0..length).map(|_| random.octet()).collect();
            // A size and kind that may pass, with nonsense behind them.
            let kind = [0, 2, 3, 8][random.below(4)];
            let nonsense = message(u32::try_from(length).unwrap(), kind, &octets);
            // The server may close before it has read all of it.
            let mut peer = rig.peer();
            let _ = peer.try_send(&nonsense);
            peer.close();
        }
        assert_eq!(rig.echo.pings().unwrap(), 0);
        rig.wait_until_at_most(1);
    }
}
