//! GIOPlite, octet by octet, against GIOP, and from a peer that means no good.

#![allow(clippy::unwrap_used)]

#[path = "../../cdr/tests/support/peak.rs"]
mod peak;
mod support;

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use punctual_cdr::{
    Block, ByteOrder, CdrError, Coding, Decoder, Encoder, GiopVersion, Lender, Limits, Segment,
};
use punctual_giop::lite::{
    self, BatchWriter, Examined, Kind, MessageHeader, decode_batch, examine, message_decoder,
};
use punctual_giop::{
    CancelRequest, FrameError, LocateReplyHeader, LocateRequestHeader, LocateStatus, MessageKind,
    ReplyHeader, ReplyStatus, RequestHeader, ResponseFlags, ServiceContexts, Target, align_body,
};
use support::{hex, message};

/// A whole message with what `write` puts behind its header.
fn lite_message(
    kind: Kind,
    write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
) -> Vec<u8> {
    let mut out = lite::begin_message(Block::default(), kind, Coding::default());
    write(&mut out).unwrap();
    let mut block = out.into_block();
    lite::finish_message(&mut block).unwrap();
    block.into_vec()
}

fn request<'m>(key: &'m [u8], operation: &'m str) -> RequestHeader<'m> {
    RequestHeader {
        request_id: 5,
        response: ResponseFlags::SYNC_WITH_TARGET,
        target: Target::ObjectKey(key),
        operation,
        contexts: ServiceContexts::none(),
    }
}

fn lite_request(header: &RequestHeader<'_>, body: &[u8]) -> Vec<u8> {
    lite_message(Kind::Request, |out| {
        lite::encode_request(header, out)?;
        if !body.is_empty() {
            align_body(out);
        }
        out.put_bytes(body);
        Ok(())
    })
}

fn open(message: &[u8]) -> Decoder<'_> {
    message_decoder(message, Coding::default())
}

/// The text is for the machine's own order: little-endian, or big-endian.
fn native(little: &str, big: &str) -> Vec<u8> {
    match ByteOrder::NATIVE {
        ByteOrder::Little => hex(little),
        ByteOrder::Big => hex(big),
    }
}

#[test]
fn a_request_has_a_header_of_five_octets_and_its_body_at_a_multiple_of_eight() {
    let header = request(b"key", "op");
    // Offsets 1, 9, 17, … are the multiples of 8.
    let expected = native(
        "20000000 00 05000000 03 000000 03000000 6b6579 00 03000000 6f7000 0000000000 07000000",
        "00000020 00 00000005 03 000000 00000003 6b6579 00 00000003 6f7000 0000000000 00000007",
    );
    let bytes = lite_request(&header, &7u32.to_ne_bytes());
    assert_eq!(bytes, expected);
    let mut input = open(&bytes);
    assert_eq!(lite::decode_request(&mut input), Ok(header));
    assert_eq!(input.get_u32(), Ok(7));
    assert_eq!(input.remaining(), 0);
}

#[test]
fn every_request_is_at_least_fifteen_octets_shorter_than_in_any_version_of_giop() {
    let body = [0x11; 24];
    let name = "a_rather_long_operation";
    for version in [GiopVersion::V1_0, GiopVersion::V1_1, GiopVersion::V1_2] {
        for key_length in 0..40 {
            for name_length in 1..name.len() {
                let key = vec![b'k'; key_length];
                let header = request(&key, &name[..name_length]);
                for body in [&body[..], &[]] {
                    let giop = message(version, ByteOrder::NATIVE, MessageKind::Request, |out| {
                        header.encode(out)?;
                        if !body.is_empty() {
                            // As a body with a value of 8 octets is aligned in every version.
                            out.align(8);
                        }
                        out.put_bytes(body);
                        Ok(())
                    });
                    let lite = lite_request(&header, body);
                    assert!(
                        lite.len() + 15 <= giop.len(),
                        "{version}, key of {key_length}, operation of {name_length}, body of {}: \
                         {} and {} octets",
                        body.len(),
                        lite.len(),
                        giop.len()
                    );
                }
            }
        }
    }
}

#[test]
fn a_body_has_the_alignment_that_giop_1_2_gives_it_and_passes_over_as_it_is() {
    for key_length in 0..16 {
        let key = vec![b'k'; key_length];
        let header = request(&key, "op");
        let write = |out: &mut Encoder<'_>| {
            align_body(out);
            out.put_u8(1);
            out.put_f64(2.5);
            out.put_u16(3);
            out.put_u64(4);
            Ok(())
        };
        let giop = message(
            GiopVersion::V1_2,
            ByteOrder::NATIVE,
            MessageKind::Request,
            |out| {
                header.encode(out)?;
                write(out)
            },
        );
        let lite = lite_message(Kind::Request, |out| {
            lite::encode_request(&header, out)?;
            write(out)
        });
        let mut in_giop = support::open(&giop);
        RequestHeader::decode(&mut in_giop).unwrap();
        let mut in_lite = open(&lite);
        lite::decode_request(&mut in_lite).unwrap();
        assert_eq!(in_lite.rest(), in_giop.rest());
        assert_eq!(in_lite.get_u8(), Ok(1));
        assert_eq!(in_lite.get_f64(), Ok(2.5));
        assert_eq!(in_lite.get_u16(), Ok(3));
        assert_eq!(in_lite.get_u64(), Ok(4));
    }
}

#[test]
fn response_flags_have_numbers_of_their_own() {
    let cases = [
        (ResponseFlags::NONE, 0),
        (ResponseFlags::SYNC_WITH_SERVER, 129),
        (ResponseFlags::SYNC_WITH_TARGET, 3),
    ];
    for (response, number) in cases {
        let header = RequestHeader {
            response,
            ..request(b"k", "op")
        };
        let bytes = lite_request(&header, &[]);
        assert_eq!(bytes[9], number);
        assert_eq!(lite::decode_request(&mut open(&bytes)), Ok(header));
    }
    let mut bytes = lite_request(&request(b"k", "op"), &[]);
    bytes[9] = 1;
    let read = lite::decode_request(&mut open(&bytes)).unwrap();
    assert_eq!(read.response, ResponseFlags::SYNC_WITH_TARGET);
    bytes[9] = 2;
    let read = lite::decode_request(&mut open(&bytes));
    assert!(matches!(read, Err(CdrError::Invalid(_))));
}

#[test]
fn what_cannot_be_said_is_refused_and_not_left_out() {
    let mut out = lite::begin_message(Block::default(), Kind::Request, Coding::default());
    let contexts = [(10, &[0u8][..])];
    let with_contexts = RequestHeader {
        contexts: ServiceContexts::new(&contexts),
        ..request(b"k", "op")
    };
    let with_profile = RequestHeader {
        target: Target::Profile { tag: 0, data: b"" },
        ..request(b"k", "op")
    };
    let with_flags = RequestHeader {
        response: ResponseFlags(0x02),
        ..request(b"k", "op")
    };
    for header in [with_contexts, with_profile, with_flags] {
        let written = lite::encode_request(&header, &mut out);
        assert!(matches!(written, Err(CdrError::Invalid(_))), "{header:?}");
    }
    let reply = ReplyHeader {
        request_id: 1,
        status: ReplyStatus::NoException,
        contexts: ServiceContexts::new(&contexts),
    };
    let written = lite::encode_reply(&reply, &mut out);
    assert!(matches!(written, Err(CdrError::Invalid(_))));
}

#[test]
fn a_reply_is_an_id_and_a_status() {
    let header = ReplyHeader {
        request_id: 6,
        status: ReplyStatus::LocationForwardPerm,
        contexts: ServiceContexts::none(),
    };
    let bytes = lite_message(Kind::Reply, |out| {
        lite::encode_reply(&header, out)?;
        align_body(out);
        out.put_u16(0x0101);
        Ok(())
    });
    let expected = native(
        "0e000000 01 06000000 04000000 00000000 0101",
        "0000000e 01 00000006 00000004 00000000 0101",
    );
    assert_eq!(bytes, expected);
    let mut input = open(&bytes);
    assert_eq!(lite::decode_reply(&mut input), Ok(header));
    assert_eq!(input.get_u16(), Ok(0x0101));
    drop(input);
    let mut bytes = bytes;
    bytes[9..13].copy_from_slice(&6u32.to_ne_bytes());
    let read = lite::decode_reply(&mut open(&bytes));
    assert_eq!(read, Err(CdrError::UnknownEnumerator(6)));
}

#[test]
fn the_other_messages_are_as_short() {
    let locate = LocateRequestHeader {
        request_id: 8,
        target: Target::ObjectKey(b"k"),
    };
    let bytes = lite_message(Kind::LocateRequest, |out| {
        lite::encode_locate_request(&locate, out)
    });
    assert_eq!(
        bytes,
        native(
            "09000000 03 08000000 01000000 6b",
            "00000009 03 00000008 00000001 6b"
        )
    );
    assert_eq!(lite::decode_locate_request(&mut open(&bytes)), Ok(locate));

    let reply = LocateReplyHeader {
        request_id: 8,
        status: LocateStatus::ObjectForward,
    };
    let bytes = lite_message(Kind::LocateReply, |out| {
        lite::encode_locate_reply(&reply, out)?;
        out.put_u16(9);
        Ok(())
    });
    assert_eq!(bytes.len(), 5 + 4 + 4 + 2, "a body follows as it is");
    let mut input = open(&bytes);
    assert_eq!(lite::decode_locate_reply(&mut input), Ok(reply));
    assert_eq!(input.get_u16(), Ok(9));

    let cancel = CancelRequest { request_id: 3 };
    let bytes = lite_message(Kind::CancelRequest, |out| {
        cancel.encode(out);
        Ok(())
    });
    assert_eq!(bytes.len(), 9);
    assert_eq!(CancelRequest::decode(&mut open(&bytes)), Ok(cancel));
    assert_eq!(lite::close_connection(), [0, 0, 0, 0, 5]);
    assert_eq!(lite::message_error(), [0, 0, 0, 0, 6]);
}

#[test]
fn a_message_is_seen_whole_when_its_last_octet_is_there() {
    let bytes = lite_request(&request(b"key", "op"), b"body");
    let limits = Limits::default();
    let whole = bytes.len();
    for end in 0..whole {
        let need = if end < 5 { 5 } else { whole };
        let found = examine(&bytes[..end], end, &limits);
        assert_eq!(found, Ok(Examined::Incomplete { need }), "{end} octets");
    }
    let header = MessageHeader {
        kind: Kind::Request,
        size: u32::try_from(whole - 5).unwrap(),
    };
    let more = [&bytes[..], b"the next one"].concat();
    for bytes in [&bytes, &more] {
        let found = examine(bytes, bytes.len(), &limits);
        assert_eq!(found, Ok(Examined::Complete(header)));
    }
    assert_eq!(MessageHeader::parse(&header.to_octets()), Ok(header));
}

#[test]
fn what_is_no_giop_lite_is_refused_by_its_first_octets() {
    let limits = Limits {
        message: 105,
        ..Limits::default()
    };
    let with = |size: u32, kind: u8| [&size.to_ne_bytes()[..], &[kind]].concat();
    assert_eq!(
        examine(&with(100, 0), 5, &limits),
        Ok(Examined::Incomplete { need: 105 })
    );
    let oversized = Err(FrameError::Oversized {
        size: 101,
        limit: 105,
    });
    assert_eq!(examine(&with(101, 0), 5, &limits), oversized);
    assert_eq!(examine(&with(101, 0)[..4], 4, &limits), oversized);
    for kind in [7, 9, 255] {
        let found = examine(&with(0, kind), 5, &limits);
        assert_eq!(found, Err(FrameError::UnknownKind(kind)));
    }
    let limits = Limits::default();
    let giop = examine(b"GIOP\x01\x02\x01\x00", 8, &limits);
    assert!(matches!(giop, Err(FrameError::Oversized { .. })));
    let swapped = examine(&200u32.swap_bytes().to_ne_bytes(), 4, &limits);
    assert!(matches!(swapped, Err(FrameError::Oversized { .. })));
}

#[test]
fn messages_that_share_a_block_do_not_disturb_each_other() {
    let first = lite_request(&request(b"key", "op"), b"x");
    let mut out = lite::begin_message(
        Block::from_vec(first.clone()),
        Kind::Request,
        Coding::default(),
    );
    lite::encode_request(&request(b"key", "op"), &mut out).unwrap();
    align_body(&mut out);
    out.put_bytes(b"x");
    let mut block = out.into_block();
    lite::finish_message_at(&mut block, first.len()).unwrap();
    assert_eq!(block[..], [&first[..], &first].concat());
    let nothing = lite::finish_message(&mut Block::from_vec(vec![0; 4]));
    assert!(matches!(nothing, Err(CdrError::Truncated { .. })));
}

#[derive(Debug)]
struct Run(Vec<u8>);

impl Segment for Run {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn as_slice(&self) -> &[u8] {
        &self.0
    }

    fn copy_to(&self, to: &mut [u8]) {
        to.copy_from_slice(&self.0);
    }
}

/// Takes every run it is shown.
#[derive(Debug)]
struct TakesAll;

impl Lender for TakesAll {
    fn threshold(&self) -> usize {
        1
    }

    fn lend(&self, octets: &[u8]) -> Option<Arc<dyn Segment>> {
        Some(Arc::new(Run(octets.to_vec())))
    }
}

#[test]
fn a_lent_run_counts_in_the_size_and_is_read_where_it_stands() {
    let run = vec![7u8; 3001];
    let mut out = lite::begin_message(Block::default(), Kind::Request, Coding::default());
    out.set_lender(Some(&TakesAll));
    lite::encode_request(&request(b"key", "op"), &mut out).unwrap();
    align_body(&mut out);
    out.put_octets(&run).unwrap();
    out.put_u64(9);
    let mut block = out.into_block();
    lite::finish_message(&mut block).unwrap();
    let limits = Limits::default();
    let found = examine(&block, block.full_len(), &limits);
    assert!(matches!(found, Ok(Examined::Complete(_))));
    let found = examine(&block, block.full_len() - 1, &limits);
    assert!(matches!(found, Ok(Examined::Incomplete { need }) if need == block.full_len()));
    for lent in block.lent_mut() {
        lent.at -= lite::ORIGIN;
    }
    let mut input =
        lite::message_decoder_with_lent(block.as_slice(), block.lent(), Coding::default());
    lite::decode_request(&mut input).unwrap();
    assert_eq!(input.get_octets(), Ok(&run[..]));
    assert_eq!(input.get_u64(), Ok(9));
    assert_eq!(input.remaining(), 0);
}

fn batch_of(bodies: &[Vec<u8>]) -> Vec<u8> {
    let mut batch = BatchWriter::begin(Block::default(), b"key", "op", Coding::default()).unwrap();
    for body in bodies {
        batch.push_body(body).unwrap();
    }
    assert_eq!(batch.len(), bodies.len());
    assert_eq!(batch.is_empty(), bodies.is_empty());
    let octets = batch.octets();
    let block = batch.finish().unwrap();
    assert_eq!(block.len(), octets);
    block.into_vec()
}

#[test]
fn a_batch_is_one_header_and_a_body_for_each_request() {
    let bytes = batch_of(&[vec![0xaa], vec![], vec![0xbb, 0xcc]]);
    let expected = native(
        "3a000000 08 03000000 6b6579 00 03000000 6f7000 00 03000000 01000000 00000000 aa 000000 \
         00000000 02000000 00000000 bbcc",
        "0000003a 08 00000003 6b6579 00 00000003 6f7000 00 00000003 00000001 00000000 aa 000000 \
         00000000 00000002 00000000 bbcc",
    );
    // The size is told by the octets themselves.
    assert_eq!(bytes[5..], expected[5..]);
    let size = u32::try_from(bytes.len() - 5).unwrap();
    assert_eq!(bytes[..4], size.to_ne_bytes());
    assert_eq!(bytes[4], 8);
    let batch = decode_batch(&mut open(&bytes)).unwrap();
    assert_eq!((batch.object_key, batch.operation), (&b"key"[..], "op"));
    assert_eq!(batch.bodies.len(), 3);
    let bodies: Vec<_> = batch.bodies.map(|body| body.rest().to_vec()).collect();
    assert_eq!(bodies, [&b"\xaa"[..], b"", b"\xbb\xcc"]);
}

#[test]
fn each_body_of_a_batch_is_aligned_and_read_on_its_own() {
    let mut batch =
        BatchWriter::begin(Block::default(), b"k", "operation", Coding::default()).unwrap();
    for number in 0..5u64 {
        batch
            .push(|out| {
                out.put_u8(1);
                out.put_u64(number);
                out.put_u8(2);
                Ok(())
            })
            .unwrap();
    }
    let block = batch.finish().unwrap();
    let batch = decode_batch(&mut open(&block)).unwrap();
    for (number, mut body) in (0..).zip(batch.bodies) {
        assert_eq!(body.get_u8(), Ok(1));
        assert_eq!(body.get_u64(), Ok(number));
        assert_eq!(body.get_u8(), Ok(2));
        assert_eq!(body.remaining(), 0, "it ends where the next one begins");
    }
}

#[test]
fn a_request_that_fails_to_marshal_leaves_no_trace_in_a_batch() {
    let mut batch = BatchWriter::begin(Block::default(), b"k", "op", Coding::default()).unwrap();
    batch.push_body(b"one").unwrap();
    let failed = batch.push(|out| {
        out.put_u64(1);
        Err(CdrError::InnerNul)
    });
    assert_eq!(failed, Err(CdrError::InnerNul));
    batch.push_body(b"two").unwrap();
    let block = batch.finish().unwrap();
    let batch = decode_batch(&mut open(&block)).unwrap();
    let bodies: Vec<_> = batch.bodies.map(|body| body.rest().to_vec()).collect();
    assert_eq!(bodies, [b"one", b"two"]);
}

#[test]
fn a_batch_has_no_more_requests_than_the_limit_on_sequences() {
    let limits = Limits {
        sequence: 2,
        ..Limits::default()
    };
    let coding = Coding::new(GiopVersion::V1_2, &limits);
    let mut batch = BatchWriter::begin(Block::default(), b"k", "o", coding).unwrap();
    batch.push_body(b"").unwrap();
    batch.push_body(b"").unwrap();
    let error = batch.push_body(b"").unwrap_err();
    assert_eq!(
        error,
        CdrError::LengthOverLimit {
            length: 3,
            limit: 2
        }
    );
    assert_eq!(batch.len(), 2);
    let three = batch_of(&[vec![], vec![], vec![]]);
    let read = decode_batch(&mut message_decoder(&three, coding));
    assert!(matches!(read, Err(CdrError::LengthOverLimit { .. })));
}

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
        let peak = peak::peak_of(|| read = Some(decode_batch(&mut open(&bytes)).map(drop)));
        assert!(peak <= allowed, "{peak} octets held");
        assert!(read.unwrap().is_err(), "{lie} at {at}");
    }
}

/// Reads a message as each kind there is, whatever it says it is.
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
    let peak = peak::peak_of(read);
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
