//! Tests of encodings given by the standard.

use punctual_cdr::{Coding, Limits, Marshal, Nilable, Unmarshal, ValueRef};

use super::node::{Far, FarState, Node, NodeState, Own, OwnState};
use super::{Octets, coding, passed, written};

fn plain(number: i32) -> NodeState {
    NodeState {
        number,
        ..NodeState::default()
    }
}

#[test]
fn a_value_is_its_tag_its_id_and_its_state() {
    let octets = written(|out| Node::marshal_nilable(Some(&Node::new(plain(5))), out));
    let expected = Octets::default()
        .long(0x7fff_ff02)
        .string("IDL:Node:1.0")
        .long(5)
        .long(0)
        .long(0);
    assert_eq!(octets, expected.0);
}

#[test]
fn the_second_time_a_value_and_an_id_are_indirections() {
    let first = Node::new(plain(1));
    let second = Node::new(plain(2));
    let octets = written(|out| vec![Some(first.clone()), Some(second), Some(first)].marshal(out));
    let expected = Octets::default()
        .long(3)
        .long(0x7fff_ff02) // at 4
        .string("IDL:Node:1.0") // at 8, to 25
        .long(1) // at 28
        .long(0)
        .long(0)
        .long(0x7fff_ff02) // at 40
        .long(0xffff_ffff)
        .long(0u32.wrapping_sub(40)) // from 48 to 8
        .long(2)
        .long(0)
        .long(0)
        .long(0xffff_ffff)
        .long(0u32.wrapping_sub(64)); // from 68 to 4
    assert_eq!(octets, expected.0);
}

#[test]
fn a_truncatable_value_travels_in_chunks_with_all_its_ids() {
    let far = Far::new(FarState {
        base: plain(1),
        text: "ab".to_owned(),
        last: Some(Node::new(plain(2))),
    });
    let octets = written(|out| Far::marshal_nilable(Some(&far), out));
    let expected = Octets::default()
        .long(0x7fff_ff0e)
        .long(2)
        .string("IDL:Far:1.0") // at 8
        .string("IDL:Node:1.0") // at 24, to 41
        .long(19) // at 44: number, no next, no more, text
        .long(1) // at 48
        .long(0)
        .long(0)
        .string("ab") // to 67
        .long(0x7fff_ff0a) // at 68
        .long(0xffff_ffff)
        .long(0u32.wrapping_sub(52)) // from 76 to 24
        .long(12)
        .long(2)
        .long(0)
        .long(0)
        .long(0u32.wrapping_sub(2))
        .long(0u32.wrapping_sub(1));
    assert_eq!(octets, expected.0);
    let read = passed(&far);
    assert_eq!(read.0.read(|state: &FarState| state.text.clone()), "ab");
    let last = read.0.read(|state: &FarState| state.last.clone()).unwrap();
    assert_eq!(last.0.read(|state: &NodeState| state.number), 2);
}

/// Makes a `Far` under an unknown type id, in as many chunks as possible, ended by one tag.
fn strange() -> Octets {
    Octets::default()
        .long(0x7fff_ff0f)
        .string("http://example.org/code")
        .long(3)
        .string("IDL:Strange:1.0")
        .string("IDL:Far:1.1")
        .string("IDL:Node:1.0")
        .long(4)
        .long(77)
        .long(8)
        .long(0)
        .long(0)
        .long(7)
        .string("ab")
        .long(0x7fff_ff0a)
        .string("IDL:AlsoStrange:1.0")
        .long(4)
        .long(1)
        .long(0xffff_ffff)
        .long(99)
}

#[test]
fn a_value_of_an_unknown_type_is_taken_for_a_base_that_is_known() {
    let octets = strange();
    let mut input = punctual_cdr::Decoder::new(&octets.0, punctual_cdr::ByteOrder::Big, coding());
    let read = Node::unmarshal_nilable(&mut input).unwrap().unwrap();
    assert_eq!(read.0.read(|state: &NodeState| state.number), 77);
    assert_eq!(read.0.repository_id(), "IDL:Node:1.0");
    // The data behind the value can be read.
    assert_eq!(input.get_u32(), Ok(99));
}

#[test]
fn a_list_of_ids_and_a_codebase_may_be_indirections() {
    let state = |octets: Octets| {
        octets
            .long(12)
            .long(1)
            .long(0)
            .long(0)
            .long(0u32.wrapping_sub(1))
    };
    let first = Octets::default()
        .long(0x7fff_ff0f)
        .string("http:code") // at 4, to 18
        .long(2) // at 20
        .string("IDL:Who:1.0")
        .string("IDL:Node:1.0"); // to 57
    let first = state(first); // to 80
    let second = first
        .long(0x7fff_ff0f)
        .long(0xffff_ffff)
        .long(0u32.wrapping_sub(84)) // from 88 to 4
        .long(0xffff_ffff)
        .long(0u32.wrapping_sub(76)); // from 96 to 20
    let octets = state(second);
    let mut input = punctual_cdr::Decoder::new(&octets.0, punctual_cdr::ByteOrder::Big, coding());
    for _ in 0..2 {
        let read = Node::unmarshal_nilable(&mut input).unwrap().unwrap();
        assert_eq!(read.0.repository_id(), "IDL:Node:1.0");
    }
    assert_eq!(input.remaining(), 0);
}

#[test]
fn a_static_type_needs_no_factory() {
    let octets = Octets::default().long(0x7fff_ff00).long(3).long(0).long(0);
    let read: Node = octets.read(Coding::default()).unwrap().unwrap();
    assert_eq!(read.0.read(|state: &NodeState| state.number), 3);
}

#[test]
fn custom_code_writes_a_state_and_what_it_leaves_is_passed_over() {
    let own = Own::new(OwnState {
        text: "custom".to_owned(),
    });
    let octets = written(|out| {
        Own::marshal_nilable(Some(&own), out)?;
        out.put_u32(99);
        Ok(())
    });
    assert_eq!(octets[..4], 0x7fff_ff0a_u32.to_be_bytes());
    let mut input = punctual_cdr::Decoder::new(&octets, punctual_cdr::ByteOrder::Big, coding());
    let read = Own::unmarshal_nilable(&mut input).unwrap().unwrap();
    assert_eq!(read.0.read(|state: &OwnState| state.text.clone()), "custom");
    assert_eq!(input.get_u32(), Ok(99));
}

#[test]
fn values_within_sequences_of_a_chunked_one_are_in_chunks_of_their_own() {
    let inner = Far::new(FarState {
        text: "inner".to_owned(),
        ..FarState::default()
    });
    let shared = Node(inner.0.clone());
    let far = Far::new(FarState {
        base: NodeState {
            more: vec![
                None,
                Some(shared.clone()),
                Some(Node::new(plain(4))),
                Some(shared),
            ],
            ..plain(3)
        },
        text: "outer".to_owned(),
        last: None,
    });
    let read = passed(&far);
    let (more, text) = read
        .0
        .read(|state: &FarState| (state.base.more.clone(), state.text.clone()));
    assert_eq!(text, "outer");
    assert_eq!(more[0], None);
    assert_eq!(more[1], more[3]);
    let inner = more[1].as_ref().unwrap().0.downcast::<Far>().unwrap();
    assert_eq!(inner.0.read(|state: &FarState| state.text.clone()), "inner");
    let plain = more[2].as_ref().unwrap();
    assert_eq!(plain.0.read(|state: &NodeState| state.number), 4);
}

#[test]
fn an_encapsulation_shares_nothing_with_what_is_around_it() {
    let node = Node::new(plain(6));
    let octets = written(|out| {
        out.put_value(Some(&node.0))?;
        out.encapsulation(|out| out.put_value(Some(&node.0)))?;
        out.put_value(Some(&node.0))
    });
    let mut input = punctual_cdr::Decoder::new(&octets, punctual_cdr::ByteOrder::Big, coding());
    let outer = Option::<ValueRef>::unmarshal(&mut input).unwrap();
    let mut content = input.encapsulation().unwrap();
    let inner = Option::<ValueRef>::unmarshal(&mut content).unwrap();
    let again = Option::<ValueRef>::unmarshal(&mut input).unwrap();
    assert!(outer.is_some());
    assert_eq!(outer, again);
    assert_ne!(outer, inner);
}

#[test]
fn both_byte_orders_carry_values() {
    use punctual_cdr::{Block, ByteOrder, Decoder, Encoder};
    let far = Far::new(FarState {
        text: "little".to_owned(),
        ..FarState::default()
    });
    let mut out = Encoder::new(Block::default(), ByteOrder::Little, coding());
    out.put_u8(1);
    out.put_value(Some(&far.0)).unwrap();
    let octets = out.into_block();
    let mut input = Decoder::at(&octets, 1, ByteOrder::Little, coding());
    let read = Far::unmarshal_nilable(&mut input).unwrap().unwrap();
    assert_eq!(read.0.read(|state: &FarState| state.text.clone()), "little");
}

#[test]
fn more_values_than_the_limit_are_refused() {
    let limits = Limits {
        values: 2,
        ..Limits::DEFAULT
    };
    let three = (0..3).map(|number| Some(Node::new(plain(number))));
    let octets = written(|out| three.collect::<Vec<_>>().marshal(out));
    let coding = Coding {
        limits: &limits,
        ..coding()
    };
    let mut input = punctual_cdr::Decoder::new(&octets, punctual_cdr::ByteOrder::Big, coding);
    let read = Vec::<Option<Node>>::unmarshal(&mut input);
    assert_eq!(
        read.unwrap_err(),
        punctual_cdr::CdrError::TooManyValues { limit: 2 }
    );
}
