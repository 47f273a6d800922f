//! Tests of a peer that changes lent memory, on a connection whose operator trusts it: structured
//! data was copied before it was read, only octets and numbers are viewed in place.

use crate::shmiop::raw::*;
use crate::shmiop::support::limit;
use punctual_cdr::{
    Block, ByteOrder, CdrError, Char, CodeSets, Coding, Decoder, NarrowCodeSet, Unmarshal,
    unmarshal_slice,
};
use punctual_link::shmiop::{ShmOptions, Shmiop, Trust};

/// Number of lent bytes, at the start of the pool.
const LENGTH: u32 = 1000;

fn trusting() -> Shmiop {
    Shmiop::new(ShmOptions {
        trust: Trust::SameUser,
        ..raw_options()
    })
}

/// Makes a received message: a length, followed by that many lent bytes, which `fill` sets.
fn message(link: &Shmiop, fill: impl FnOnce(&mut [u8])) -> (Raw, Block) {
    let (mut raw, connection) = Raw::pair(link);
    fill(&mut raw.pool.as_mut_slice()[..LENGTH as usize]);
    raw.put(0, INLINE, 4);
    raw.ring.as_mut_slice()[8..12].copy_from_slice(&LENGTH.to_ne_bytes());
    raw.put(16, LENT, LENGTH);
    raw.put(24, 3, 0);
    raw.set_head(32);
    let mut block = connection.lend(0);
    let need = 4 + LENGTH as usize;
    while block.full_len() < need {
        connection.receive(&mut block, need, limit()).unwrap();
    }
    assert_eq!((block.len(), block.lent().len()), (4, 1));
    (raw, block)
}

fn decoder(block: &Block) -> Decoder<'_> {
    Decoder::with_lent(block, block.lent(), ByteOrder::NATIVE, Coding::default())
}

fn are(octets: &[u8], value: u8) -> bool {
    octets.iter().all(|octet| *octet == value)
}

/// Fills the bytes with a string of the letter `a`, and its terminating NUL.
fn text(octets: &mut [u8]) {
    octets.fill(b'a');
    octets[LENGTH as usize - 1] = 0;
}

#[test]
fn a_string_stays_as_it_was_when_it_was_checked() {
    let (mut raw, block) = message(&trusting(), text);
    let read = decoder(&block).get_string().unwrap();
    raw.pool.as_mut_slice().fill(0xff);
    assert!(are(read.as_bytes(), b'a'));
}

#[test]
fn a_name_of_the_protocol_stays_as_it_was_when_it_was_checked() {
    let (mut raw, block) = message(&trusting(), text);
    let read = decoder(&block).get_identifier().unwrap();
    raw.pool.as_mut_slice().fill(0xff);
    assert!(are(read.as_bytes(), b'a'));
}

#[test]
fn an_encapsulation_stays_as_it_was_when_it_was_entered() {
    let (mut raw, block) = message(&trusting(), |octets| {
        octets.fill(b'b');
        octets[0] = ByteOrder::NATIVE.flag();
        octets[4..8].copy_from_slice(&9_u32.to_ne_bytes());
        octets[16] = 0;
    });
    let mut inner = decoder(&block).encapsulation().unwrap();
    raw.pool.as_mut_slice().fill(0xff);
    assert_eq!(inner.get_string().as_deref(), Ok("bbbbbbbb"));
}

#[test]
fn characters_stay_as_they_were_when_they_were_checked() {
    let (mut raw, block) = message(&trusting(), |octets| octets.fill(b'c'));
    let mut input = decoder(&block);
    input.set_code_sets(CodeSets {
        narrow: NarrowCodeSet::Utf8,
        ..CodeSets::default()
    });
    let read = unmarshal_slice::<Char>(&mut input).unwrap();
    raw.pool.as_mut_slice().fill(0xff);
    assert!(read.iter().all(|char| *char == Char(b'c')));
}

#[test]
fn booleans_are_copied() {
    let (mut raw, block) = message(&trusting(), |octets| octets.fill(1));
    let read = unmarshal_slice::<bool>(&mut decoder(&block)).unwrap();
    raw.pool.as_mut_slice().fill(0xff);
    assert!(read.iter().all(|is_true| *is_true));
}

#[test]
fn object_keys_and_the_like_stay_as_they_were() {
    let (mut raw, block) = message(&trusting(), |octets| octets.fill(4));
    let read = decoder(&block).get_octets().unwrap();
    raw.pool.as_mut_slice().fill(5);
    assert!(are(read, 4));
}

#[test]
fn sequences_of_octets_and_numbers_are_seen_where_they_lie_by_choice_only() {
    let by_default = Shmiop::new(ShmOptions {
        trust: Trust::default(),
        ..raw_options()
    });
    for (link, copies) in [(trusting(), 0), (by_default, LENGTH)] {
        let (_raw, block) = message(&link, |octets| octets.fill(6));
        let seen = unmarshal_slice::<u8>(&mut decoder(&block)).unwrap();
        assert!(are(&seen, 6));
        assert_eq!(link.copied().out_of_pool, u64::from(copies));
        drop(seen);
        let mut input = decoder(&block);
        input.skip(4).unwrap();
        let seen = i32::unmarshal_view(&mut input, LENGTH as usize / 4).unwrap();
        assert!(seen.iter().all(|number| *number == 0x0606_0606));
        assert_eq!(link.copied().out_of_pool, u64::from(copies));
    }
}

#[test]
fn what_the_application_gets_for_its_own_is_copied_once() {
    for link in [trusting(), link()] {
        let (_raw, block) = message(&link, |octets| octets.fill(6));
        assert!(are(&Vec::unmarshal(&mut decoder(&block)).unwrap(), 6));
        assert_eq!(link.copied().out_of_pool, u64::from(LENGTH));
        let mut input = decoder(&block);
        input.skip(4).unwrap();
        let array = u8::unmarshal_array::<{ LENGTH as usize }>(&mut input).unwrap();
        assert!(are(&array, 6));
        assert_eq!(link.copied().out_of_pool, 2 * u64::from(LENGTH));
    }
}

#[test]
fn what_is_passed_over_is_not_copied() {
    let link = link();
    let (raw, block) = message(&link, |octets| octets.fill(6));
    let mut input = decoder(&block);
    input.skip(4).unwrap();
    input.skip(LENGTH as usize).unwrap();
    assert_eq!((input.remaining(), link.copied().out_of_pool), (0, 0));
    assert_eq!(raw.theirs.load_acquire(MARKS + 3), 0);
}

#[test]
fn what_was_read_as_text_is_no_longer_seen_where_it_lies() {
    let (mut raw, block) = message(&trusting(), text);
    let mut input = decoder(&block);
    assert!(input.clone().get_string().is_ok());
    raw.pool.as_mut_slice().fill(0xff);
    let seen = unmarshal_slice::<u8>(&mut input).unwrap();
    assert_eq!((seen[0], seen[LENGTH as usize - 1]), (b'a', 0));
    assert_eq!(Vec::<u8>::unmarshal(&mut decoder(&block)).unwrap(), *seen);
}

#[test]
fn lent_memory_that_is_seen_is_not_given_back_by_a_copy_of_it() {
    let (raw, block) = message(&trusting(), text);
    let seen = unmarshal_slice::<u8>(&mut decoder(&block)).unwrap();
    assert!(decoder(&block).get_string().is_ok());
    assert_eq!(raw.theirs.load_acquire(MARKS + 3), 0);
    assert_eq!(seen[0], b'a');
    drop(seen);
    drop(block);
    assert_eq!(raw.theirs.load_acquire(MARKS + 3), 1);
}

#[test]
fn characters_that_are_lent_are_the_ones_that_are_checked() {
    let (_raw, block) = message(&trusting(), |octets| octets.fill(0xe4));
    let read = |code_set| {
        let mut input = decoder(&block);
        input.set_code_sets(CodeSets {
            narrow: code_set,
            ..CodeSets::default()
        });
        let seen = unmarshal_slice::<Char>(&mut input.clone()).map(|seen| seen.to_vec());
        let read = Vec::<Char>::unmarshal(&mut input);
        assert_eq!(seen.is_ok(), read.is_ok());
        read.map(|read| read.iter().all(|char| *char == Char(0xe4)))
    };
    assert_eq!(read(NarrowCodeSet::Iso8859_1), Ok(true));
    assert_eq!(read(NarrowCodeSet::Utf8), Err(CdrError::BadCharacter));
}
