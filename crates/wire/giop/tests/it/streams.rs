//! Tests of messages found in streams, fragmented and reassembled.

#![allow(clippy::unwrap_used)]

use crate::support;

use proptest::collection::vec;
use proptest::prelude::*;
use punctual_cdr::{ByteOrder, Coding, GiopVersion, Limits};
use punctual_giop::{
    Accepted, Assembled, Examined, FragmentError, FrameError, MessageHeader, MessageKind,
    Reassembly, examine, split,
};
use support::{header_of, hex, message};

use GiopVersion::{V1_0, V1_1, V1_2};

#[test]
fn errors_in_a_header_are_told_by_the_first_octet_that_shows_them() {
    let limits = Limits::default();
    let whole = hex("47494f50 0102 00 00 00000002 aabb");
    for have in 0..whole.len() {
        let need = if have < 12 { 12 } else { 14 };
        let found = examine(&whole[..have], &limits);
        assert_eq!(found, Ok(Examined::Incomplete { need }), "{have}");
    }
    let mut two = whole.clone();
    two.extend_from_slice(&whole);
    for bytes in [&whole, &two] {
        let Ok(Examined::Complete(header)) = examine(bytes, &limits) else {
            panic!("a whole message expected");
        };
        assert_eq!(header.message_len(), 14);
    }

    let oversized = FrameError::Oversized {
        size: 0xffff_ffff,
        limit: 64 << 20,
    };
    let version = |major, minor| FrameError::UnsupportedVersion { major, minor };
    let cases = [
        ("00", FrameError::BadMagic),
        ("47494f51", FrameError::BadMagic),
        ("474554202f20485454502f31", FrameError::BadMagic),
        ("1503", FrameError::TlsAlert),
        ("150303 0002 0246", FrameError::TlsAlert),
        ("160301 0100 01 0000fc 0303 00", FrameError::TlsHandshake),
        ("47494f50 0200", version(2, 0)),
        ("47494f50 0103", version(1, 3)),
        ("47494f50 0000", version(0, 0)),
        ("47494f50 0102 00 08", FrameError::UnknownKind(8)),
        ("47494f50 0100 00 07", FrameError::UnknownKind(7)),
        ("47494f50 0102 00 00 ffffffff", oversized),
        ("47494f50 0102 01 00 ffffffff", oversized),
    ];
    for (text, error) in cases {
        let bytes = hex(text);
        assert_eq!(examine(&bytes, &limits), Err(error), "{text}");
        let before = examine(&bytes[..bytes.len() - 1], &limits);
        let has_magic = text.starts_with("47494f50");
        assert!(before.is_ok() || !has_magic, "{text}");
    }
}

#[test]
fn the_limit_on_messages_counts_the_header() {
    let limits = Limits {
        message: 14,
        ..Limits::default()
    };
    assert!(examine(&hex("47494f50 0102 00 00 00000002"), &limits).is_ok());
    assert!(examine(&hex("47494f50 0102 00 00 00000003"), &limits).is_err());
}

/// Makes a request of any content, which is not examined here.
fn request(version: GiopVersion, order: ByteOrder, id: u32, body: &[u8]) -> Vec<u8> {
    message(version, order, MessageKind::Request, |out| {
        out.put_u32(id);
        out.put_bytes(body);
        Ok(())
    })
}

fn pieces(message: &[u8], max: usize) -> Vec<Vec<u8>> {
    split(message, max)
        .map(|piece| [&piece.header, piece.body].concat())
        .collect()
}

fn accept(reassembly: &mut Reassembly, piece: &[u8]) -> Result<Accepted, FragmentError> {
    reassembly.accept(&header_of(piece), piece)
}

fn assembled(accepted: Result<Accepted, FragmentError>) -> Assembled {
    match accepted {
        Ok(Accepted::Assembled(assembled)) => assembled,
        other => panic!("a whole message expected, not {other:?}"),
    }
}

#[test]
fn a_1_2_message_is_cut_into_multiples_of_eight_that_name_its_id() {
    let whole = request(V1_2, ByteOrder::Big, 0x0a0b, &[0x11; 40]);
    let pieces = pieces(&whole, 35);
    assert_eq!(pieces.len(), 3);
    assert_eq!(
        pieces[0],
        hex("47494f50 0102 02 00 00000014 00000a0b 11111111 11111111 11111111 11111111")
    );
    assert_eq!(
        pieces[1],
        hex("47494f50 0102 02 07 00000014 00000a0b 11111111 11111111 11111111 11111111")
    );
    assert_eq!(
        pieces[2],
        hex("47494f50 0102 00 07 0000000c 00000a0b 11111111 11111111")
    );
}

#[test]
fn a_1_1_message_is_cut_where_both_ways_to_count_agree() {
    let whole = request(V1_1, ByteOrder::Little, 1, &[0x22; 33]);
    let pieces = pieces(&whole, 32);
    let lengths: Vec<_> = pieces.iter().map(Vec::len).collect();
    assert_eq!(lengths, [28, 28, 17]);
    assert_eq!(pieces[0][..12], hex("47494f50 0101 03 00 10000000"));
    assert_eq!(pieces[1][..12], hex("47494f50 0101 03 07 10000000"));
    assert_eq!(pieces[2][..12], hex("47494f50 0101 01 07 05000000"));
    let mut reassembly = Reassembly::new(&Limits::default());
    for piece in &pieces[..2] {
        assert!(matches!(
            accept(&mut reassembly, piece),
            Ok(Accepted::Pending)
        ));
    }
    let assembled = assembled(accept(&mut reassembly, &pieces[2]));
    assert_eq!(assembled.bytes, whole);
    assert!(assembled.seams.is_empty());
}

#[test]
fn what_fits_or_may_not_be_fragmented_stays_whole() {
    let long = [0x33; 200];
    let small = request(V1_2, ByteOrder::Big, 1, &[]);
    let old = request(V1_0, ByteOrder::Big, 1, &long);
    let locate = |version| {
        message(version, ByteOrder::Big, MessageKind::LocateRequest, |out| {
            out.put_bytes(&long);
            Ok(())
        })
    };
    for whole in [small, old, locate(V1_1)] {
        assert_eq!(pieces(&whole, 64), [whole]);
    }
    assert!(pieces(&locate(V1_2), 64).len() > 1);
    let close = punctual_giop::close_connection(V1_2, ByteOrder::Big);
    assert_eq!(pieces(&close, 0), [close.to_vec()]);
    assert_eq!(pieces(b"no message", 64), [b"no message".to_vec()]);
}

#[test]
fn interleaved_messages_are_told_apart_by_their_ids() {
    let mut reassembly = Reassembly::new(&Limits::default());
    let first = request(V1_2, ByteOrder::Big, 1, &[1; 60]);
    let second = request(V1_2, ByteOrder::Little, 2, &[2; 60]);
    let (a, b) = (pieces(&first, 32), pieces(&second, 40));
    let whole = request(V1_2, ByteOrder::Big, 3, &[]);
    for piece in [&a[0], &b[0], &b[1], &a[1], &a[2]] {
        assert!(matches!(
            accept(&mut reassembly, piece),
            Ok(Accepted::Pending)
        ));
        assert!(matches!(
            accept(&mut reassembly, &whole),
            Ok(Accepted::Whole)
        ));
    }
    assert_eq!(reassembly.pending(), 2);
    assert_eq!(assembled(accept(&mut reassembly, &b[2])).bytes, second);
    let done = assembled(accept(&mut reassembly, &a[3]));
    assert_eq!(done.bytes, first);
    assert_eq!(done.header, header_of(&first));
    assert_eq!(reassembly.pending(), 0);
}

#[test]
fn an_empty_last_fragment_ends_a_message() {
    for (version, id) in [(V1_1, ""), (V1_2, "00000001")] {
        let mut reassembly = Reassembly::new(&Limits::default());
        let mut start = request(version, ByteOrder::Big, 1, &[1, 2, 3, 4]);
        start[6] |= 2;
        let mut end = MessageHeader::new(version, ByteOrder::Big, MessageKind::Fragment, 0);
        end.size = u32::try_from(hex(id).len()).unwrap();
        let end = [&end.to_octets()[..], &hex(id)].concat();
        assert!(accept(&mut reassembly, &start).is_ok());
        let done = assembled(accept(&mut reassembly, &end));
        assert_eq!(done.bytes[12..], start[12..]);
    }
}

#[test]
fn fragments_that_break_the_rules_are_refused() {
    let mut reassembly = Reassembly::new(&Limits::default());
    let lone = hex("47494f50 0102 00 07 00000004 00000001");
    let error = accept(&mut reassembly, &lone).unwrap_err();
    assert_eq!(error, FragmentError::WithoutStart);
    let lone = hex("47494f50 0101 00 07 00000000");
    let error = accept(&mut reassembly, &lone).unwrap_err();
    assert_eq!(error, FragmentError::WithoutStart);
    let short = hex("47494f50 0102 02 00 00000003 000000");
    let error = accept(&mut reassembly, &short).unwrap_err();
    assert_eq!(error, FragmentError::TooShort);
    let close = hex("47494f50 0102 02 05 00000000");
    let error = accept(&mut reassembly, &close).unwrap_err();
    assert_eq!(
        error,
        FragmentError::NotFragmentable(MessageKind::CloseConnection)
    );
    assert_eq!(reassembly.pending(), 0);

    let start = hex("47494f50 0102 02 00 00000004 00000001");
    assert!(accept(&mut reassembly, &start).is_ok());
    let error = accept(&mut reassembly, &start).unwrap_err();
    assert_eq!(error, FragmentError::Interleaved);
    let swapped = hex("47494f50 0102 01 07 04000000 01000000");
    let error = accept(&mut reassembly, &swapped).unwrap_err();
    assert_eq!(error, FragmentError::Inconsistent);

    let start = hex("47494f50 0101 02 00 00000004 00000000");
    assert!(accept(&mut reassembly, &start).is_ok());
    let whole = hex("47494f50 0101 00 00 00000004 00000000");
    for message in [&start, &whole] {
        let error = accept(&mut reassembly, message).unwrap_err();
        assert_eq!(error, FragmentError::Interleaved);
    }
    // The end of a connection may come at any time.
    let close = punctual_giop::close_connection(V1_1, ByteOrder::Big);
    assert!(matches!(
        accept(&mut reassembly, &close),
        Ok(Accepted::Whole)
    ));
}

#[test]
fn limits_hold_for_each_message_for_their_number_and_for_all_together() {
    let limits = Limits {
        message: 64,
        fragments_pending: 2,
        fragments_bytes: 100,
        ..Limits::default()
    };
    let start = |id: u32, len: usize| {
        let mut start = request(V1_2, ByteOrder::Big, id, &vec![0; len]);
        start[6] |= 2;
        start
    };
    let mut reassembly = Reassembly::new(&limits);
    assert!(accept(&mut reassembly, &start(1, 44)).is_ok());
    let more = hex("47494f50 0102 02 07 00000009 00000001 0102030405");
    let error = accept(&mut reassembly, &more).unwrap_err();
    assert_eq!(error, FragmentError::Oversized { limit: 64 });
    let error = accept(&mut reassembly, &start(2, 30)).unwrap_err();
    assert_eq!(error, FragmentError::TooManyBytes { limit: 100 });
    assert!(accept(&mut reassembly, &start(3, 0)).is_ok());
    let error = accept(&mut reassembly, &start(4, 0)).unwrap_err();
    assert_eq!(error, FragmentError::TooManyPending { limit: 2 });
    // A finished message makes room.
    let end = hex("47494f50 0102 00 07 00000004 00000001");
    assert!(accept(&mut reassembly, &end).is_ok());
    assert!(accept(&mut reassembly, &start(2, 30)).is_ok());
}

#[test]
fn a_cancelled_message_is_dropped() {
    let mut reassembly = Reassembly::new(&Limits::default());
    let cancel = |version: GiopVersion, id| {
        message(version, ByteOrder::Big, MessageKind::CancelRequest, |out| {
            out.put_u32(id);
            Ok(())
        })
    };
    for version in [V1_1, V1_2] {
        let mut start = message(version, ByteOrder::Big, MessageKind::Request, |out| {
            punctual_giop::RequestHeader {
                request_id: 7,
                response: punctual_giop::ResponseFlags::SYNC_WITH_TARGET,
                target: punctual_giop::Target::ObjectKey(b"k"),
                operation: "op",
                contexts: punctual_giop::ServiceContexts::none(),
            }
            .encode(out)
        });
        start[6] |= 2;
        assert!(accept(&mut reassembly, &start).is_ok());
        let accepted = accept(&mut reassembly, &cancel(version, 6));
        assert!(matches!(accepted, Ok(Accepted::Whole)));
        assert_eq!(reassembly.pending(), 1, "{version}");
        let accepted = accept(&mut reassembly, &cancel(version, 7));
        assert!(matches!(accepted, Ok(Accepted::Whole)));
        assert_eq!(reassembly.pending(), 0, "{version}");
    }
}

#[test]
fn a_cancelled_1_1_request_is_known_by_its_header_in_several_fragments() {
    let whole = message(V1_1, ByteOrder::Big, MessageKind::Request, |out| {
        punctual_giop::RequestHeader {
            request_id: 7,
            response: punctual_giop::ResponseFlags::SYNC_WITH_TARGET,
            target: punctual_giop::Target::ObjectKey(b"a key of some length"),
            operation: "an_operation_of_some_length",
            contexts: punctual_giop::ServiceContexts::none(),
        }
        .encode(out)?;
        out.put_bytes(&[0; 64]);
        Ok(())
    });
    let mut reassembly = Reassembly::new(&Limits::default());
    let pieces = pieces(&whole, 32);
    for piece in &pieces[..pieces.len() - 1] {
        assert!(accept(&mut reassembly, piece).is_ok());
    }
    for (id, left) in [(6, 1), (8, 1), (7, 0)] {
        let cancel = message(V1_1, ByteOrder::Big, MessageKind::CancelRequest, |out| {
            out.put_u32(id);
            Ok(())
        });
        assert!(accept(&mut reassembly, &cancel).is_ok());
        assert_eq!(reassembly.pending(), left, "{id}");
    }
}

/// Makes a message in fragments of the given lengths; the last one takes the rest.
fn tiny_pieces(whole: &[u8], first: usize, lengths: &[usize]) -> Vec<Vec<u8>> {
    let mut header = header_of(whole);
    let id = match header.version {
        V1_2 => &whole[12..16],
        _ => &[][..],
    };
    let (start, mut rest) = whole[12..].split_at(id.len().max(first));
    let mut piece = |kind, more, id: &[u8], body: &[u8]| {
        header.kind = kind;
        header.more_fragments = more;
        header.size = u32::try_from(id.len() + body.len()).unwrap();
        [&header.to_octets()[..], id, body].concat()
    };
    let mut pieces = vec![piece(MessageKind::Request, true, &[], start)];
    for length in lengths {
        let (body, left) = rest.split_at(rest.len().min(*length));
        pieces.push(piece(MessageKind::Fragment, true, id, body));
        rest = left;
    }
    pieces.push(piece(MessageKind::Fragment, false, id, rest));
    pieces
}

#[test]
fn a_message_in_very_many_fragments_is_refused() {
    // 4 MiB have 8,192 parts of 512 octets, and so on.
    for (message, limit) in [(300 << 10, 1024), (4 << 20, 8192), (64 << 20, 131_072)] {
        for length in [0, 1] {
            for version in [V1_1, V1_2] {
                let limits = Limits {
                    message,
                    ..Limits::default()
                };
                let whole = request(version, ByteOrder::Big, 1, &vec![1; limit + 10]);
                let pieces = tiny_pieces(&whole, 4, &vec![length; limit + 9]);
                let mut reassembly = Reassembly::new(&limits);
                let mut results = pieces.iter().map(|piece| accept(&mut reassembly, piece));
                let taken = results.position(|result| result.is_err());
                assert_eq!(taken, Some(limit + 1), "{version} {message} {length}");
                let error = accept(&mut reassembly, &pieces[1]).unwrap_err();
                assert_eq!(error, FragmentError::TooManyFragments { limit });
            }
        }
    }
}

#[test]
fn a_1_1_message_in_fragments_of_one_octet_takes_no_stack() {
    let limits = Limits {
        message: 512 * 200_001,
        ..Limits::default()
    };
    let whole = message(V1_1, ByteOrder::Big, MessageKind::Reply, |out| {
        out.put_bytes(&[0; 12]);
        out.put_bytes(&[1; 200_000]);
        Ok(())
    });
    let mut reassembly = Reassembly::new(&limits);
    let mut pieces = tiny_pieces(&whole, 12, &vec![1; 199_999]);
    pieces[0][7] = 1;
    let (last, others) = pieces.split_last().unwrap();
    for piece in others {
        assert!(matches!(
            accept(&mut reassembly, piece),
            Ok(Accepted::Pending)
        ));
    }
    let done = assembled(accept(&mut reassembly, last));
    assert_eq!(done.bytes, whole);
    assert_eq!(done.seams.len(), 200_000);
    let decode = move || {
        let mut input = done.decoder(Coding::default());
        punctual_giop::ReplyHeader::decode(&mut input).unwrap();
        assert!(input.clone().get_u64().is_err());
        for _ in 0..200_000 {
            assert_eq!(input.get_u8(), Ok(1));
        }
        assert_eq!(input.remaining(), 0);
    };
    let thread = std::thread::Builder::new().stack_size(128 << 10);
    thread.spawn(decode).unwrap().join().unwrap();
}

#[test]
fn seams_count_as_octets_that_are_held() {
    let limits = Limits {
        fragments_bytes: 1024,
        ..Limits::default()
    };
    let whole = request(V1_1, ByteOrder::Big, 1, &[0; 400]);
    let count = |first, length| {
        let mut reassembly = Reassembly::new(&limits);
        let pieces = tiny_pieces(&whole, first, &vec![length; 400 / length - 1]);
        let mut results = pieces.iter().map(|piece| accept(&mut reassembly, piece));
        let limit = FragmentError::TooManyBytes { limit: 1024 };
        results.position(|result| result.is_err_and(|error| error == limit))
    };
    // A piece that begins where alignment continues is no seam, nor is an empty one.
    assert_eq!(count(8, 8), None);
    // 16 bytes, then 1 byte and a seam each.
    let seam = size_of::<usize>();
    let taken = count(4, 1).unwrap() - 1;
    assert!(taken * (1 + seam) <= 1024, "{taken}");
    assert!((taken + 2) * (1 + seam) > 1024 - 16, "{taken}");

    // A finished message frees the memory of its seams.
    let mut reassembly = Reassembly::new(&limits);
    for _ in 0..20 {
        for piece in tiny_pieces(&whole[..72], 4, &[1; 50]) {
            assert!(accept(&mut reassembly, &piece).is_ok());
        }
    }
}

#[test]
fn each_1_1_fragment_counts_alignment_from_its_own_header() {
    // The second fragment begins where alignment would continue from the message's start, but not
    // from the first fragment's.
    let mut reassembly = Reassembly::new(&Limits::default());
    let start = hex("47494f50 0101 02 01 0000000c 00000000 00000001 00000000");
    let middle = hex("47494f50 0101 02 07 0000000c 00000000 3ff0000000000000");
    let end = hex("47494f50 0101 00 07 0000000c 00000000 4000000000000000");
    for piece in [&start, &middle] {
        assert!(matches!(
            accept(&mut reassembly, piece),
            Ok(Accepted::Pending)
        ));
    }
    let done = assembled(accept(&mut reassembly, &end));
    assert_eq!(done.seams, [24, 36]);
    let mut input = done.decoder(Coding::default());
    punctual_giop::ReplyHeader::decode(&mut input).unwrap();
    assert_eq!(input.get_f64(), Ok(1.0));
    assert_eq!(input.get_f64(), Ok(2.0));
    assert_eq!(input.remaining(), 0);
}

#[test]
fn a_1_1_fragment_is_aligned_as_a_message_of_its_own() {
    // As omniORB cuts: each piece is a multiple of 8 long, and a value of 8 bytes that comes next
    // lies at 16 in its fragment.
    let mut reassembly = Reassembly::new(&Limits::default());
    let start = hex("47494f50 0101 02 01 0000000c 00000000 00000001 00000000");
    let end = hex("47494f50 0101 00 07 0000000c 00000000 3ff0000000000000");
    assert!(accept(&mut reassembly, &start).is_ok());
    let done = assembled(accept(&mut reassembly, &end));
    assert_eq!(done.seams, [24]);
    let mut input = done.decoder(Coding::default());
    punctual_giop::ReplyHeader::decode(&mut input).unwrap();
    assert_eq!(input.get_f64(), Ok(1.0));
    assert_eq!(input.remaining(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn cutting_and_putting_together_changes_nothing(
        version in prop_oneof![Just(V1_1), Just(V1_2)],
        big: bool,
        id: u32,
        body in vec(any::<u8>(), 0..400),
        max in 0usize..200,
    ) {
        let order = if big { ByteOrder::Big } else { ByteOrder::Little };
        let whole = request(version, order, id, &body);
        let pieces = pieces(&whole, max);
        let mut reassembly = Reassembly::new(&Limits::default());
        let (last, others) = pieces.split_last().unwrap();
        for piece in others {
            prop_assert!(piece.len() <= max.max(32));
            prop_assert_eq!(piece.len() % 8, if version == V1_2 { 0 } else { 4 });
            let found = examine(piece, &Limits::default());
            prop_assert_eq!(found, Ok(Examined::Complete(header_of(piece))));
            prop_assert!(matches!(accept(&mut reassembly, piece), Ok(Accepted::Pending)));
        }
        match accept(&mut reassembly, last) {
            Ok(Accepted::Whole) => prop_assert_eq!(last, &whole),
            Ok(Accepted::Assembled(done)) => {
                prop_assert_eq!(done.bytes, whole);
                prop_assert!(done.seams.is_empty());
            }
            other => prop_assert!(false, "{other:?}"),
        }
        prop_assert_eq!(reassembly.pending(), 0);
    }

    #[test]
    fn tiny_fragments_put_together_are_the_message(
        version in prop_oneof![Just(V1_1), Just(V1_2)],
        big: bool,
        body in vec(any::<u8>(), 0..200),
        first in 0usize..5,
        lengths in vec(0usize..5, 0..200),
    ) {
        let order = if big { ByteOrder::Big } else { ByteOrder::Little };
        let whole = request(version, order, 5, &body);
        let pieces = tiny_pieces(&whole, first, &lengths);
        let mut reassembly = Reassembly::new(&Limits::default());
        let (last, others) = pieces.split_last().unwrap();
        for piece in others {
            prop_assert!(matches!(accept(&mut reassembly, piece), Ok(Accepted::Pending)));
        }
        let done = assembled(accept(&mut reassembly, last));
        prop_assert_eq!(&done.bytes, &whole);
        prop_assert!(done.seams.is_sorted_by(|a, b| a < b));
        prop_assert!(version == V1_1 || done.seams.is_empty());
        prop_assert_eq!(reassembly.pending(), 0);
        let mut input = done.decoder(Coding::default());
        prop_assert_eq!(input.get_bytes(whole.len() - 12), Ok(&whole[12..]));
    }

    #[test]
    fn many_messages_interleave(
        bodies in vec(vec(any::<u8>(), 30..300), 1..8),
        max in 32usize..100,
        turns in vec(any::<prop::sample::Index>(), 300),
    ) {
        let wholes: Vec<_> = (0u32..)
            .zip(&bodies)
            .map(|(id, body)| request(V1_2, ByteOrder::NATIVE, id, body))
            .collect();
        let mut queues: Vec<_> = wholes
            .iter()
            .map(|whole| pieces(whole, max).into_iter())
            .collect();
        let mut reassembly = Reassembly::new(&Limits::default());
        let mut turns = turns.into_iter();
        let mut done = 0;
        while done < wholes.len() {
            let start = turns.next().map_or(0, |turn| turn.index(queues.len()));
            let order = (start..queues.len()).chain(0..start);
            let mut next = order.filter_map(|at| Some((at, queues[at].next()?)));
            let (at, piece) = next.next().unwrap();
            match accept(&mut reassembly, &piece).unwrap() {
                Accepted::Pending => continue,
                Accepted::Whole => prop_assert_eq!(&piece, &wholes[at]),
                Accepted::Assembled(message) => prop_assert_eq!(&message.bytes, &wholes[at]),
            }
            done += 1;
        }
    }
}
