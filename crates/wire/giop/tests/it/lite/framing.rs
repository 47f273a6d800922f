//! Tests of framing, in a block that other messages share and with runs that are lent beside it.

use punctual_cdr::{Block, CdrError, Coding, Limits};
use punctual_giop::lite::{self, Examined, Kind, MessageHeader, examine};
use punctual_giop::{FrameError, align_body};

use super::lender::TakesAll;
use super::{lite_request, request};

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
