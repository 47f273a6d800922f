//! Tests that malformed input is an error, without a panic or any other effect.

use proptest::prelude::*;
use punctual_cdr::{ByteOrder, CdrError, Coding, Decoder, Marshal, Nilable, Unmarshal, ValueRef};

use super::node::{Far, FarState, Node, NodeState};
use super::{Octets, coding, written};

fn refused(octets: &Octets) -> CdrError {
    octets.read::<Node>(coding()).unwrap_err()
}

fn head() -> Octets {
    Octets::default().long(0x7fff_ff02).string("IDL:Node:1.0")
}

/// Makes the tag and the repository id of a chunked value.
fn chunked() -> Octets {
    Octets::default().long(0x7fff_ff0a).string("IDL:Node:1.0")
}

#[test]
fn an_indirection_must_lead_to_a_value_before_it() {
    for offset in [0u32, 4, 0xffff_fffc, 0xffff_fff0, 0x8000_0000] {
        let octets = Octets::default().long(0xffff_ffff).long(offset).long(0);
        assert!(
            matches!(refused(&octets), CdrError::Invalid(_)),
            "{offset:#x}"
        );
        let octets = head().long(1).long(0xffff_ffff).long(offset).long(0);
        assert!(
            matches!(refused(&octets), CdrError::Invalid(_)),
            "{offset:#x}"
        );
    }
}

#[test]
fn an_indirection_must_lead_to_a_value_of_the_type() {
    let far = Octets::default()
        .long(0x7fff_ff02)
        .string("IDL:Node:1.0") // to 21
        .long(1)
        .long(0)
        .long(0) // to 36
        .long(0xffff_ffff)
        .long(0u32.wrapping_sub(40));
    let mut input = Decoder::new(&far.0, ByteOrder::Big, coding());
    assert!(Node::unmarshal_nilable(&mut input).unwrap().is_some());
    let error = Far::unmarshal_nilable(&mut input).unwrap_err();
    assert!(matches!(error, CdrError::Invalid(_)));
}

#[test]
fn a_value_of_another_type_than_its_place_is_refused() {
    let octets = Octets::default().long(0x7fff_ff0a).string("IDL:Own:1.0");
    assert!(matches!(refused(&octets), CdrError::Invalid(_)));
}

#[test]
fn a_value_that_nobody_knows_is_refused_as_that() {
    let octets = Octets::default()
        .long(0x7fff_ff02)
        .string("IDL:Who:1.0")
        .long(1);
    assert_eq!(refused(&octets), CdrError::UnknownValue);
    assert_eq!(
        Octets::default()
            .long(0x7fff_ff00)
            .read::<ValueRef>(coding())
            .unwrap_err(),
        CdrError::UnknownValue
    );
}

#[test]
fn what_is_to_be_truncated_must_be_chunked() {
    let octets = Octets::default()
        .long(0x7fff_ff06)
        .long(2)
        .string("IDL:Who:1.0")
        .string("IDL:Node:1.0")
        .long(1);
    assert!(matches!(refused(&octets), CdrError::Invalid(_)));
}

#[test]
fn a_chunk_must_hold_the_state_and_no_more() {
    let state = |octets: Octets| octets.long(1).long(0).long(0);
    for (what, octets) in [
        ("no size", state(chunked().long(0)).long(0xffff_ffff)),
        ("negative", state(chunked().long(0x8000_0000))),
        ("beyond the end", state(chunked().long(13))),
        (
            "too long",
            state(chunked().long(16)).long(5).long(0xffff_ffff),
        ),
        (
            "within a number",
            state(chunked().long(2)).long(0xffff_ffff),
        ),
        ("too short", state(chunked().long(8)).long(0xffff_ffff)),
        ("no end", state(chunked().long(12))),
        (
            "no end, but a chunk",
            state(chunked().long(12)).long(4).long(0),
        ),
        ("end of level 0", state(chunked().long(12)).long(0)),
        (
            "end of level 2",
            state(chunked().long(12)).long(0xffff_fffe),
        ),
        ("ended at once", chunked().long(0xffff_ffff)),
        ("huge", chunked().long(0x7fff_fe00)),
    ] {
        assert!(octets.read::<Node>(coding()).is_err(), "{what}");
    }
    let fine = state(chunked().long(12)).long(0xffff_ffff);
    assert!(fine.read::<Node>(coding()).is_ok());
}

#[test]
fn an_end_tag_within_must_not_end_a_value_that_has_more_to_come() {
    // The inner value's end tag ends the outer one, too, though that still has a sequence to read.
    let octets = chunked()
        .long(4)
        .long(1)
        .long(0x7fff_ff08)
        .long(12)
        .long(2)
        .long(0)
        .long(0)
        .long(0xffff_ffff)
        .long(0);
    assert!(matches!(refused(&octets), CdrError::Invalid(_)));
}

#[test]
fn a_value_within_a_chunked_one_must_be_chunked() {
    let octets = chunked().long(4).long(1).long(0x7fff_ff00).long(2);
    assert!(matches!(refused(&octets), CdrError::Invalid(_)));
}

#[test]
fn ids_that_are_indirections_to_nowhere_are_refused() {
    for tag in [0x7fff_ff01, 0x7fff_ff02, 0x7fff_ff06] {
        let octets = Octets::default()
            .long(tag)
            .long(0xffff_ffff)
            .long(0xffff_fff8)
            .long(0);
        assert!(matches!(refused(&octets), CdrError::Invalid(_)), "{tag:#x}");
    }
}

#[test]
fn more_ids_than_any_value_has_are_refused() {
    let mut octets = Octets::default().long(0x7fff_ff0e).long(65);
    for _ in 0..65 {
        octets = octets.string("IDL:Who:1.0");
    }
    assert!(matches!(refused(&octets), CdrError::LengthOverLimit { .. }));
}

#[test]
fn values_that_nest_in_sequences_stay_within_the_limit() {
    let mut node = Node::new(NodeState::default());
    for _ in 0..100 {
        node = Node::new(NodeState {
            more: vec![Some(node)],
            ..NodeState::default()
        });
    }
    let mut out = punctual_cdr::Encoder::new(Default::default(), ByteOrder::Big, coding());
    assert!(matches!(
        node.0.marshal(&mut out),
        Err(CdrError::TooDeep { .. })
    ));

    let mut octets = Octets::default();
    for _ in 0..100 {
        octets = octets.long(0x7fff_ff00).long(1).long(0).long(1);
    }
    assert!(matches!(refused(&octets), CdrError::TooDeep { .. }));
}

fn sample() -> Vec<u8> {
    let shared = Node::new(NodeState {
        number: 3,
        ..NodeState::default()
    });
    let far = Far::new(FarState {
        base: NodeState {
            number: 1,
            next: Some(shared.clone()),
            more: vec![Some(shared.clone()), None],
        },
        text: "text".to_owned(),
        last: Some(shared),
    });
    written(|out| vec![Some(Node(far.0.clone())), Some(Node(far.0))].marshal(out))
}

proptest! {
    #[test]
    fn any_octets_are_read_or_refused(octets: Vec<u8>, tag in 0x7fff_ff00u32..0x7fff_ff10) {
        let mut whole = tag.to_be_bytes().to_vec();
        whole.extend(octets);
        let mut input = Decoder::new(&whole, ByteOrder::Big, coding());
        let _ = Option::<Node>::unmarshal(&mut input);
        let mut input = Decoder::new(&whole, ByteOrder::Big, Coding::default());
        let _ = Option::<Far>::unmarshal(&mut input);
    }

    #[test]
    fn octets_that_were_changed_are_read_or_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut octets = sample();
        for (place, octet) in changes {
            let length = octets.len();
            octets[place.index(length)] = octet;
        }
        let _ = Vec::<Option<Node>>::unmarshal(&mut Decoder::new(&octets, ByteOrder::Big, coding()));
        octets.truncate(cut.index(octets.len()));
        let _ = Vec::<Option<Node>>::unmarshal(&mut Decoder::new(&octets, ByteOrder::Big, coding()));
    }
}
