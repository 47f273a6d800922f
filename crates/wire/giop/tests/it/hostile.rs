//! Tests of hostile and of erroneous input.

#![allow(clippy::unwrap_used)]

use crate::support;
use punctual_heap::bytes_of;

use proptest::collection::vec;
use proptest::prelude::*;
use punctual_cdr::{ByteOrder, CdrError, Coding, Decoder, GiopVersion, Limits};
use punctual_giop::code_sets::CodeSetContext;
use punctual_giop::trace::{TraceOptions, describe};
use punctual_giop::{
    Accepted, CancelRequest, Examined, LocateReplyHeader, LocateRequestHeader, MessageHeader,
    MessageKind, Reassembly, ReplyHeader, RequestHeader, ResponseFlags, ServiceContexts,
    SystemExceptionBody, Target, align_body, examine, message_decoder, split,
};
use support::message;

const VERSIONS: [GiopVersion; 3] = [GiopVersion::V1_0, GiopVersion::V1_1, GiopVersion::V1_2];

/// Reads a message as each kind, whatever its header says.
fn read_as_everything(input: &Decoder<'_>) -> Result<(), CdrError> {
    let results = [
        RequestHeader::decode(&mut input.clone()).map(|it| it.contexts.iter().count()),
        ReplyHeader::decode(&mut input.clone()).map(|it| it.contexts.iter().count()),
        LocateRequestHeader::decode(&mut input.clone()).map(|_| 0),
        LocateReplyHeader::decode(&mut input.clone()).map(|_| 0),
        CancelRequest::decode(&mut input.clone()).map(|_| 0),
        SystemExceptionBody::decode(&mut input.clone()).map(|_| 0),
        CodeSetContext::decode(input.rest()).map(|_| 0),
    ];
    results.into_iter().try_for_each(|result| result.map(drop))
}

fn check(bytes: &[u8]) {
    let found = examine(bytes, &Limits::default());
    let header = match found {
        Ok(Examined::Complete(header)) => header,
        _ => match bytes.first_chunk().map(MessageHeader::parse) {
            Some(Ok(header)) => header,
            _ => MessageHeader::new(GiopVersion::V1_2, ByteOrder::Big, MessageKind::Request, 0),
        },
    };
    let input = message_decoder(&header, bytes, Coding::default());
    let allowed = 16 * bytes.len() + 1024;
    let peak = bytes_of(|| read_as_everything(&input)).peak;
    assert!(peak <= allowed, "{peak} octets held, {allowed} allowed");
    for (hex, payload) in [(false, false), (true, false), (true, true)] {
        let text = describe(bytes, TraceOptions { hex, payload }).to_string();
        assert!(!text.is_empty());
    }
    let pieces = split(bytes, 40)
        .map(|piece| piece.body.len())
        .sum::<usize>();
    assert!(pieces <= bytes.len());
}

fn good_messages() -> Vec<Vec<u8>> {
    let contexts = [
        (1, &[1u8, 0, 0, 0, 1, 0, 1, 0, 9, 1, 1, 0][..]),
        (10, &[0, 0, 0, 7]),
    ];
    let mut messages = Vec::new();
    for version in VERSIONS {
        for order in [ByteOrder::Big, ByteOrder::Little] {
            messages.push(message(version, order, MessageKind::Request, |out| {
                RequestHeader {
                    request_id: 5,
                    response: ResponseFlags::SYNC_WITH_TARGET,
                    target: Target::ObjectKey(b"some key"),
                    operation: "operation",
                    contexts: ServiceContexts::new(&contexts),
                }
                .encode(out)?;
                align_body(out);
                out.put_string("an argument")
            }));
            messages.push(message(version, order, MessageKind::Reply, |out| {
                ReplyHeader {
                    request_id: 5,
                    status: punctual_giop::ReplyStatus::SystemException,
                    contexts: ServiceContexts::new(&contexts),
                }
                .encode(out)?;
                align_body(out);
                SystemExceptionBody {
                    repository_id: "IDL:omg.org/CORBA/UNKNOWN:1.0",
                    minor: 1,
                    completed: 2,
                }
                .encode(out)
            }));
            messages.push(message(version, order, MessageKind::LocateRequest, |out| {
                LocateRequestHeader {
                    request_id: 6,
                    target: Target::ObjectKey(b"some key"),
                }
                .encode(out)
            }));
        }
    }
    messages
}

#[test]
fn every_truncation_of_a_good_message_is_an_error_or_a_message() {
    for message in good_messages() {
        for end in 0..message.len() {
            check(&message[..end]);
        }
    }
}

#[test]
fn every_changed_octet_of_a_good_message_is_an_error_or_a_message() {
    for message in good_messages() {
        for at in 0..message.len() {
            for octet in [0x00, 0x01, 0x7f, 0x80, 0xff] {
                let mut changed = message.clone();
                changed[at] = octet;
                check(&changed);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_octets_behind_a_good_header_do_no_harm(
        version in prop::sample::select(&VERSIONS[..]),
        kind in 0u8..8,
        flags in 0u8..4,
        body in vec(prop_oneof![Just(0u8), Just(1), Just(4), any::<u8>()], 0..150),
    ) {
        let kind = MessageKind::from_number(kind, version).unwrap_or(MessageKind::Request);
        let size = u32::try_from(body.len()).unwrap();
        let order = ByteOrder::from_flag(flags);
        let mut bytes = MessageHeader::new(version, order, kind, size).to_octets().to_vec();
        bytes[6] = flags;
        bytes.extend_from_slice(&body);
        check(&bytes);
    }

    #[test]
    fn any_octets_do_no_harm(bytes in vec(any::<u8>(), 0..100)) {
        check(&bytes);
    }

    #[test]
    fn any_octets_in_tiny_fragments_do_no_harm(
        version in prop::sample::select(&VERSIONS[1..]),
        kind in prop::sample::select(&[0u8, 1][..]),
        flags in 2u8..4,
        start in vec(prop_oneof![Just(0u8), Just(1), Just(4), any::<u8>()], 4..30),
        parts in vec(vec(prop_oneof![Just(0u8), Just(1), Just(4), any::<u8>()], 0..4), 1..100),
    ) {
        let order = ByteOrder::from_flag(flags);
        let piece = |kind: u8, more: u8, id: &[u8], body: &[u8]| {
            let size = u32::try_from(id.len() + body.len()).unwrap();
            let header = MessageHeader::new(version, order, MessageKind::Request, size);
            let mut bytes = [&header.to_octets()[..], id, body].concat();
            bytes[6] = flags & 1 | more;
            bytes[7] = kind;
            bytes
        };
        let id = if version == GiopVersion::V1_2 { &start[..4] } else { &[] };
        let mut pieces = vec![piece(kind, 2, &[], &start)];
        let (last, others) = parts.split_last().unwrap();
        pieces.extend(others.iter().map(|body| piece(7, 2, id, body)));
        pieces.push(piece(7, 0, id, last));
        let mut reassembly = Reassembly::new(&Limits::default());
        let mut whole = None;
        for piece in &pieces {
            let Ok(Examined::Complete(header)) = examine(piece, &Limits::default()) else {
                panic!("a whole piece expected");
            };
            if let Accepted::Assembled(done) = reassembly.accept(&header, piece).unwrap() {
                whole = Some(done);
            }
        }
        let done = whole.unwrap();
        prop_assert_eq!(&done.bytes[12..], [start.clone(), parts.concat()].concat());
        let input = done.decoder(Coding::default());
        let allowed = 16 * done.bytes.len() + 1024;
        let peak = bytes_of(|| read_as_everything(&input)).peak;
        prop_assert!(peak <= allowed, "{peak} octets held, {allowed} allowed");
        if version == GiopVersion::V1_2 {
            check(&done.bytes);
        }
    }

    #[test]
    fn any_stream_of_fragments_stays_within_its_limits(
        pieces in vec((0u8..3, 0u8..8, 0u8..4, vec(0u8..3, 0..12)), 0..60),
    ) {
        let limits = Limits {
            message: 60,
            fragments_pending: 3,
            fragments_bytes: 120,
            ..Limits::default()
        };
        let mut reassembly = Reassembly::new(&limits);
        let mut held = Vec::new();
        let peak = bytes_of(|| {
            for (minor, kind, flags, body) in pieces {
                let size = u8::try_from(body.len()).unwrap();
                let (first, last) = if flags & 1 == 0 { (0, size) } else { (size, 0) };
                let start = [b'G', b'I', b'O', b'P', 1, minor, flags, kind, first, 0, 0, last];
                let bytes = [&start[..], &body].concat();
                let Ok(Examined::Complete(header)) = examine(&bytes, &limits) else {
                    continue;
                };
                if let Ok(Accepted::Assembled(done)) = reassembly.accept(&header, &bytes) {
                    assert_eq!(done.header.message_len(), done.bytes.len());
                    assert!(done.bytes.len() <= limits.message);
                    let input = done.decoder(Coding::default());
                    let _ = read_as_everything(&input);
                    held.push(done.bytes.len());
                }
                assert!(reassembly.pending() <= limits.fragments_pending);
            }
        }).peak;
        prop_assert!(peak < 8192, "{peak} octets held");
    }
}
