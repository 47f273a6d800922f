//! Tests of each message's encoding, and of content that it cannot carry.

use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Encoder, GiopVersion, Limits};
use punctual_giop::lite::{self, Kind};
use punctual_giop::{
    CancelRequest, LocateReplyHeader, LocateRequestHeader, LocateStatus, MessageKind, ReplyHeader,
    ReplyStatus, RequestHeader, ResponseFlags, ServiceContexts, Target, align_body,
};

use super::support::{self, message};
use super::{lite_message, lite_request, native, open, request};

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
                            // As a body with a value of 8 bytes is aligned in every version.
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
fn a_plain_request_is_read_as_the_decoder_reads_it_and_within_the_limits() {
    let limits = Limits::default();
    for body in [&b""[..], b"1", b"12345678"] {
        let header = request(b"key", "op");
        let bytes = lite_request(&header, body);
        let plain = lite::read_plain_request(&bytes, &limits).unwrap();
        assert_eq!(
            (plain.request_id, plain.response),
            (header.request_id, header.response)
        );
        assert_eq!((plain.object_key, plain.operation), (&b"key"[..], "op"));
        assert!(plain.contexts().is_empty());
        let mut input = open(&bytes);
        lite::decode_request(&mut input).unwrap();
        assert_eq!(bytes.len() - plain.origin - plain.body, input.remaining());
        for end in 0..bytes.len() {
            assert_eq!(
                lite::read_plain_request(&bytes[..end], &limits),
                None,
                "{end}"
            );
        }
        let two = [&bytes[..], &bytes].concat();
        assert_eq!(lite::read_plain_request(&two, &limits), None);
    }
    let bytes = lite_request(&request(b"key", "op"), b"1234");
    let tight = Limits {
        sequence: 2,
        ..Limits::default()
    };
    assert_eq!(lite::read_plain_request(&bytes, &tight), None, "its key");
    let tight = Limits {
        message: bytes.len() - 6,
        ..Limits::default()
    };
    assert_eq!(lite::read_plain_request(&bytes, &tight), None, "its length");
    let mut batch = bytes.clone();
    batch[4] = Kind::Batch.number();
    assert_eq!(lite::read_plain_request(&batch, &limits), None);
    let mut unknown = bytes;
    unknown[9] = 7;
    assert_eq!(
        lite::read_plain_request(&unknown, &limits),
        None,
        "its flags"
    );
}

#[test]
fn a_plain_reply_is_matched_as_the_decoder_reads_it_and_any_other_message_is_not() {
    let reply = |status, body: &[u8]| {
        let header = ReplyHeader {
            request_id: 6,
            status,
            contexts: ServiceContexts::none(),
        };
        lite_message(Kind::Reply, |out| {
            lite::encode_reply(&header, out)?;
            if !body.is_empty() {
                align_body(out);
                out.put_bytes(body);
            }
            Ok(())
        })
    };
    for (status, is_plain) in [
        (ReplyStatus::NoException, true),
        (ReplyStatus::UserException, true),
        (ReplyStatus::SystemException, false),
        (ReplyStatus::LocationForward, false),
    ] {
        for body in [&b""[..], b"1", b"12345678"] {
            let bytes = reply(status, body);
            let mut input = open(&bytes);
            lite::decode_reply(&mut input).unwrap();
            let start = bytes.len() - lite::ORIGIN - input.remaining();
            let expected = is_plain.then_some((status, start));
            assert_eq!(lite::match_plain_reply(&bytes, 6), expected, "{bytes:?}");
        }
    }
    let bytes = reply(ReplyStatus::NoException, b"1234");
    assert_eq!(
        lite::match_plain_reply(&bytes, 7),
        None,
        "of another request"
    );
    for end in 0..bytes.len() {
        assert_eq!(lite::match_plain_reply(&bytes[..end], 6), None, "{end}");
    }
    let two = [&bytes[..], &bytes].concat();
    assert_eq!(lite::match_plain_reply(&two, 6), None, "two messages");
    let mut other = bytes;
    other[4] = Kind::LocateReply.number();
    assert_eq!(lite::match_plain_reply(&other, 6), None);
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
