//! Tests of each message in each version and both byte orders, octet by octet. The vectors were
//! computed by hand from CORBA 3.3 part 2, §9.4.

#![allow(clippy::unwrap_used)]

use crate::support;

use punctual_cdr::{ByteOrder, CdrError, GiopVersion, Marshal, Unmarshal};
use punctual_giop::{
    AddressingDisposition, CancelRequest, LocateReplyHeader, LocateRequestHeader, LocateStatus,
    MessageHeader, MessageKind, ReplyHeader, ReplyStatus, RequestHeader, ResponseFlags,
    ServiceContexts, SystemExceptionBody, Target, align_body, close_connection, message_error,
};
use punctual_ior::{Ior, TaggedProfile};
use support::{coding, header_of, hex, message, open};

use ByteOrder::{Big, Little};
use GiopVersion::{V1_0, V1_1, V1_2};

fn request<'m>(contexts: ServiceContexts<'m>) -> RequestHeader<'m> {
    RequestHeader {
        request_id: 5,
        response: ResponseFlags::SYNC_WITH_TARGET,
        target: Target::ObjectKey(b"key"),
        operation: "op",
        contexts,
    }
}

/// Encodes a request with a `long` as its body, compares, and reads it back.
fn check_request(version: GiopVersion, order: ByteOrder, header: &RequestHeader<'_>, text: &str) {
    let bytes = message(version, order, MessageKind::Request, |out| {
        header.encode(out)?;
        align_body(out);
        out.put_i32(7);
        Ok(())
    });
    assert_eq!(bytes, hex(text));
    let mut input = open(&bytes);
    assert_eq!(&RequestHeader::decode(&mut input).unwrap(), header);
    assert_eq!(input.get_i32(), Ok(7));
    assert_eq!(input.remaining(), 0);
}

#[test]
fn request_1_0_has_its_contexts_first_and_a_principal_last() {
    let contexts = [(1, &[0xaa, 0xbb, 0xcc][..])];
    let header = request(ServiceContexts::new(&contexts));
    check_request(
        V1_0,
        Big,
        &header,
        "47494f50 0100 00 00 00000030 00000001 00000001 00000003 aabbcc 00 00000005 01 000000 \
         00000003 6b6579 00 00000003 6f7000 00 00000000 00000007",
    );
    check_request(
        V1_0,
        Little,
        &header,
        "47494f50 0100 01 00 30000000 01000000 01000000 03000000 aabbcc 00 05000000 01 000000 \
         03000000 6b6579 00 03000000 6f7000 00 00000000 07000000",
    );
}

#[test]
fn request_1_1_has_three_reserved_octets_behind_its_response_flag() {
    let mut header = request(ServiceContexts::none());
    header.response = ResponseFlags::NONE;
    check_request(
        V1_1,
        Big,
        &header,
        "47494f50 0101 00 00 00000024 00000000 00000005 00 000000 00000003 6b6579 00 \
         00000003 6f7000 00 00000000 00000007",
    );
    check_request(
        V1_1,
        Little,
        &header,
        "47494f50 0101 01 00 24000000 00000000 05000000 00 000000 03000000 6b6579 00 \
         03000000 6f7000 00 00000000 07000000",
    );
}

#[test]
fn request_1_2_has_its_contexts_last_and_its_body_at_a_multiple_of_eight() {
    let header = request(ServiceContexts::none());
    check_request(
        V1_2,
        Big,
        &header,
        "47494f50 0102 00 00 00000028 00000005 03 000000 0000 0000 00000003 6b6579 00 \
         00000003 6f7000 00 00000000 00000000 00000007",
    );
    let contexts = [(10, &[0x01][..]), (11, &[])];
    let mut header = request(ServiceContexts::new(&contexts));
    header.response = ResponseFlags::SYNC_WITH_SERVER;
    check_request(
        V1_2,
        Little,
        &header,
        "47494f50 0102 01 00 38000000 05000000 01 000000 0000 0000 03000000 6b6579 00 \
         03000000 6f7000 00 02000000 0a000000 01000000 01 000000 0b000000 00000000 07000000",
    );
}

#[test]
fn request_1_2_without_a_body_ends_with_its_header() {
    let header = request(ServiceContexts::none());
    let bytes = message(V1_2, Big, MessageKind::Request, |out| header.encode(out));
    assert_eq!(bytes.len(), 44);
    let mut input = open(&bytes);
    assert_eq!(RequestHeader::decode(&mut input).unwrap(), header);
    assert_eq!(input.remaining(), 0);
    // Padding before an absent body is skipped, however little there is.
    for padding in 1..=4 {
        let mut bytes = bytes.clone();
        bytes.resize(44 + padding, 0);
        bytes[8..12].copy_from_slice(&u32::try_from(32 + padding).unwrap().to_be_bytes());
        let mut input = open(&bytes);
        assert_eq!(RequestHeader::decode(&mut input).unwrap(), header);
        assert_eq!(input.remaining(), 0);
    }
}

#[test]
fn request_1_2_addresses_by_profile_or_by_reference_too() {
    let mut header = request(ServiceContexts::none());
    header.target = Target::Profile {
        tag: 0,
        data: &[0xdd],
    };
    check_request(
        V1_2,
        Big,
        &header,
        "47494f50 0102 00 00 00000028 00000005 03 000000 0001 0000 00000000 00000001 dd 000000 \
         00000003 6f7000 00 00000000 00000007",
    );
    let ior = Ior {
        type_id: "T".into(),
        profiles: vec![TaggedProfile {
            tag: 9,
            data: vec![0xee],
        }],
    };
    header.target = Target::Reference {
        selected: 0,
        ior: Box::new(ior),
    };
    check_request(
        V1_2,
        Big,
        &header,
        "47494f50 0102 00 00 00000038 00000005 03 000000 0002 0000 00000000 00000002 5400 0000 \
         00000001 00000009 00000001 ee 000000 00000003 6f7000 00 00000000 00000007",
    );
    let mut out = punctual_cdr::Encoder::new(Default::default(), Big, coding(V1_1));
    assert!(matches!(header.encode(&mut out), Err(CdrError::Invalid(_))));
}

#[test]
fn response_flags_are_not_sync_scopes() {
    for (flags, expected) in [(0x00, false), (0x01, true), (0x02, false), (0x03, true)] {
        assert_eq!(ResponseFlags(flags).response_expected(), expected);
    }
    let mut bytes = message(V1_2, Big, MessageKind::Request, |out| {
        request(ServiceContexts::none()).encode(out)
    });
    bytes[16] = 0xf2;
    let header = RequestHeader::decode(&mut open(&bytes)).unwrap();
    assert_eq!(header.response, ResponseFlags(0xf2));
}

fn check_reply(version: GiopVersion, order: ByteOrder, header: &ReplyHeader<'_>, text: &str) {
    let bytes = message(version, order, MessageKind::Reply, |out| {
        header.encode(out)?;
        align_body(out);
        out.put_u16(0x0102);
        Ok(())
    });
    assert_eq!(bytes, hex(text));
    let mut input = open(&bytes);
    assert_eq!(&ReplyHeader::decode(&mut input).unwrap(), header);
    assert_eq!(input.get_u16(), Ok(0x0102));
    assert_eq!(input.remaining(), 0);
}

#[test]
fn reply_has_its_contexts_first_before_1_2_and_last_since() {
    let contexts = [(10, &[0xaa][..])];
    let header = ReplyHeader {
        request_id: 6,
        status: ReplyStatus::LocationForward,
        contexts: ServiceContexts::new(&contexts),
    };
    check_reply(
        V1_0,
        Big,
        &header,
        "47494f50 0100 00 01 0000001a 00000001 0000000a 00000001 aa 000000 00000006 00000003 0102",
    );
    check_reply(
        V1_1,
        Little,
        &header,
        "47494f50 0101 01 01 1a000000 01000000 0a000000 01000000 aa 000000 06000000 03000000 0201",
    );
    check_reply(
        V1_2,
        Big,
        &header,
        "47494f50 0102 00 01 0000001e 00000006 00000003 00000001 0000000a 00000001 aa \
         00000000000000 0102",
    );
    check_reply(
        V1_2,
        Little,
        &header,
        "47494f50 0102 01 01 1e000000 06000000 03000000 01000000 0a000000 01000000 aa \
         00000000000000 0201",
    );
}

#[test]
fn statuses_that_a_version_lacks_are_refused_both_ways() {
    let header = ReplyHeader {
        request_id: 1,
        status: ReplyStatus::LocationForwardPerm,
        contexts: ServiceContexts::none(),
    };
    let mut out = punctual_cdr::Encoder::new(Default::default(), Big, coding(V1_1));
    assert!(header.encode(&mut out).is_err());
    let bytes = hex("47494f50 0101 00 01 0000000c 00000000 00000001 00000004");
    let read = ReplyHeader::decode(&mut open(&bytes));
    assert_eq!(read, Err(CdrError::UnknownEnumerator(4)));
    let bytes = hex("47494f50 0102 00 01 0000000c 00000001 00000006 00000000");
    let read = ReplyHeader::decode(&mut open(&bytes));
    assert_eq!(read, Err(CdrError::UnknownEnumerator(6)));
    let bytes = hex("47494f50 0100 00 04 00000008 00000001 00000003");
    let read = LocateReplyHeader::decode(&mut open(&bytes));
    assert_eq!(read, Err(CdrError::UnknownEnumerator(3)));
}

#[test]
fn locate_request_has_a_key_and_since_1_2_a_target() {
    let header = LocateRequestHeader {
        request_id: 8,
        target: Target::ObjectKey(b"k"),
    };
    let cases = [
        (
            V1_0,
            Big,
            "47494f50 0100 00 03 00000009 00000008 00000001 6b",
        ),
        (
            V1_1,
            Little,
            "47494f50 0101 01 03 09000000 08000000 01000000 6b",
        ),
        (
            V1_2,
            Big,
            "47494f50 0102 00 03 0000000d 00000008 0000 0000 00000001 6b",
        ),
        (
            V1_2,
            Little,
            "47494f50 0102 01 03 0d000000 08000000 0000 0000 01000000 6b",
        ),
    ];
    for (version, order, text) in cases {
        let bytes = message(version, order, MessageKind::LocateRequest, |out| {
            header.encode(out)
        });
        assert_eq!(bytes, hex(text));
        assert_eq!(
            LocateRequestHeader::decode(&mut open(&bytes)).as_ref(),
            Ok(&header)
        );
    }
}

#[test]
fn locate_reply_has_its_body_where_it_ends() {
    let header = LocateReplyHeader {
        request_id: 8,
        status: LocateStatus::ObjectForward,
    };
    let nil = Ior::nil();
    let cases = [
        (
            V1_0,
            Big,
            "47494f50 0100 00 04 00000014 00000008 00000002 00000001 00 000000 00000000",
        ),
        (
            V1_1,
            Big,
            "47494f50 0101 00 04 00000014 00000008 00000002 00000001 00 000000 00000000",
        ),
        (
            V1_2,
            Little,
            "47494f50 0102 01 04 14000000 08000000 02000000 01000000 00 000000 00000000",
        ),
    ];
    for (version, order, text) in cases {
        let bytes = message(version, order, MessageKind::LocateReply, |out| {
            header.encode(out)?;
            nil.marshal(out)
        });
        assert_eq!(bytes, hex(text));
        let mut input = open(&bytes);
        assert_eq!(LocateReplyHeader::decode(&mut input), Ok(header));
        assert!(Ior::unmarshal(&mut input).unwrap().is_nil());
    }
}

#[test]
fn control_messages_are_little_more_than_a_header() {
    let cancel = CancelRequest { request_id: 0x102 };
    let bytes = message(V1_1, Little, MessageKind::CancelRequest, |out| {
        cancel.encode(out);
        Ok(())
    });
    assert_eq!(bytes, hex("47494f50 0101 01 02 04000000 02010000"));
    assert_eq!(CancelRequest::decode(&mut open(&bytes)), Ok(cancel));
    assert_eq!(
        close_connection(V1_0, Big)[..],
        hex("47494f50 0100 00 05 00000000")
    );
    assert_eq!(
        message_error(V1_2, Little)[..],
        hex("47494f50 0102 01 06 00000000")
    );
}

#[test]
fn a_system_exception_is_a_string_and_two_longs() {
    let body = SystemExceptionBody {
        repository_id: "IDL:X:1.0",
        minor: 0x4f4d_0002,
        completed: 1,
    };
    let bytes = message(V1_2, Big, MessageKind::Reply, |out| {
        ReplyHeader {
            request_id: 1,
            status: ReplyStatus::SystemException,
            contexts: ServiceContexts::none(),
        }
        .encode(out)?;
        align_body(out);
        body.encode(out)
    });
    assert_eq!(
        bytes[24..],
        hex("0000000a 49444c3a583a312e3000 0000 4f4d0002 00000001")
    );
    let mut input = open(&bytes);
    ReplyHeader::decode(&mut input).unwrap();
    assert_eq!(SystemExceptionBody::decode(&mut input), Ok(body));
}

#[test]
fn an_addressing_mode_is_a_short() {
    let mut out = punctual_cdr::Encoder::new(Default::default(), Big, coding(V1_2));
    AddressingDisposition::Reference.marshal(&mut out).unwrap();
    let bytes = out.into_block();
    assert_eq!(*bytes, [0, 2]);
    let mut input = punctual_cdr::Decoder::new(&bytes, Big, coding(V1_2));
    assert_eq!(
        AddressingDisposition::unmarshal(&mut input),
        Ok(AddressingDisposition::Reference)
    );
}

#[test]
fn a_header_reads_back_with_all_it_says() {
    for version in [V1_0, V1_1, V1_2] {
        for order in [Big, Little] {
            for number in 0..=7 {
                let Some(kind) = MessageKind::from_number(number, version) else {
                    assert_eq!((version, number), (V1_0, 7));
                    continue;
                };
                let header = MessageHeader {
                    more_fragments: version != V1_0,
                    ..MessageHeader::new(version, order, kind, 0x0102_0304)
                };
                assert_eq!(MessageHeader::parse(&header.to_octets()), Ok(header));
                assert_eq!(header_of(&header.to_octets()).message_len(), 0x0102_0310);
            }
        }
    }
    // GIOP 1.0 has a boolean where later versions have flags: no fragments.
    let octets = hex("47494f50 0100 03 00 00000000");
    assert!(!header_of(&octets).more_fragments);
}

#[test]
fn contexts_are_found_by_id_and_an_announced_crowd_is_refused() {
    let contexts = [(1, &b"a"[..]), (7, b"bb"), (1, b"c"), (u32::MAX, b"")];
    let bytes = message(V1_2, Little, MessageKind::Request, |out| {
        request(ServiceContexts::new(&contexts)).encode(out)
    });
    let header = RequestHeader::decode(&mut open(&bytes)).unwrap();
    assert_eq!(header.contexts.len(), 4);
    assert_eq!(header.contexts.find(1), Some(&b"a"[..]));
    assert_eq!(header.contexts.find(u32::MAX), Some(&b""[..]));
    assert_eq!(header.contexts.find(2), None);
    assert_eq!(header.contexts.iter().collect::<Vec<_>>(), contexts);
    assert_eq!(
        format!("{:?}", header.contexts),
        "{1: 1, 7: 2, 1: 1, 4294967295: 0}"
    );

    let mut crowd = bytes.clone();
    crowd[40..44].copy_from_slice(&0x00ff_ffffu32.to_le_bytes());
    let read = RequestHeader::decode(&mut open(&crowd));
    assert!(matches!(read, Err(CdrError::Truncated { .. })));
}

#[test]
fn what_is_malformed_in_a_request_is_told() {
    let good = message(V1_1, Big, MessageKind::Request, |out| {
        request(ServiceContexts::none()).encode(out)
    });
    let read = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        RequestHeader::decode(&mut open(&bytes)).map(|header| header.request_id)
    };
    assert_eq!(read(&|_| ()), Ok(5));
    assert_eq!(read(&|bytes| bytes[20] = 2), Err(CdrError::BadBoolean(2)));
    assert_eq!(read(&|bytes| bytes[36] = 0xff), Err(CdrError::BadCharacter));
    assert_eq!(
        read(&|bytes| bytes[38] = 1),
        Err(CdrError::StringWithoutNul)
    );
    assert!(matches!(
        read(&|bytes| bytes[24] = 0x80),
        Err(CdrError::LengthOverLimit { .. })
    ));
    assert!(matches!(
        read(&|bytes| bytes.truncate(30)),
        Err(CdrError::Truncated { .. })
    ));
    let target = hex("47494f50 0102 00 00 0000000c 00000005 03 000000 0003 0000");
    let read = RequestHeader::decode(&mut open(&target));
    assert_eq!(read, Err(CdrError::UnknownDiscriminator));
}
