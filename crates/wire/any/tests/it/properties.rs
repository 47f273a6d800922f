//! Properties for any type and value: an Any that is copied, one that is transcoded, and one that
//! is decoded and encoded again are the same.
#![allow(clippy::unwrap_used)]

use crate::support;

use proptest::prelude::{ProptestConfig, any, prop_assert_eq, proptest};
use punctual_any::{Any, TypeCode, Value};
use punctual_cdr::{
    Block, ByteOrder, CodeSets, Coding, Decoder, Encoder, GiopVersion, Limits, Marshal,
    NarrowCodeSet, Unmarshal,
};
use support::{Dice, any_type, any_value};

const ORDERS: [ByteOrder; 2] = [ByteOrder::Big, ByteOrder::Little];

fn octets(any: &Any, lead: usize, order: ByteOrder, coding: Coding<'_>) -> Vec<u8> {
    let mut out = Encoder::new(Block::default(), order, coding);
    out.put_bytes(&vec![0; lead]);
    any.marshal(&mut out).unwrap();
    out.into_block().into_vec()
}

fn read(octets: &[u8], lead: usize, order: ByteOrder, coding: Coding<'_>) -> Any {
    let mut input = Decoder::at(octets, lead, order, coding);
    let any = Any::unmarshal(&mut input).unwrap();
    assert_eq!(input.remaining(), 0);
    any
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_any_is_the_same_whichever_way_it_went(seed in any::<u64>(), lead in 0usize..9, on in 0usize..9) {
        let mut dice = Dice::new(seed);
        let type_code = any_type(&mut dice, 3, false);
        let value = any_value(&mut dice, &type_code, 4);
        let made = Any::of_value(&type_code, &value).unwrap();
        prop_assert_eq!(&made.value().unwrap(), &value);
        let coding = Coding::default();
        for order in ORDERS {
            let came = octets(&made, lead, order, coding);
            let received = read(&came, lead, order, coding);
            prop_assert_eq!(&received.value().unwrap(), &value);
            for other in ORDERS {
                // A copy where offset and byte order agree, and otherwise the result of reading and
                // writing.
                let passed_on = octets(&received, on, other, coding);
                let again = octets(&Any::of_value(&type_code, &value).unwrap(), on, other, coding);
                prop_assert_eq!(&passed_on, &again);
                prop_assert_eq!(&read(&passed_on, on, other, coding), &made);
            }
        }
    }

    #[test]
    fn text_is_converted_on_its_way_where_code_sets_or_versions_differ(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let type_code = TypeCode::sequence(&TypeCode::structure("", "", &[
            ("name", TypeCode::STRING), ("octet", TypeCode::OCTET), ("wide", TypeCode::WSTRING),
            ("letter", TypeCode::WCHAR), ("inner", TypeCode::ANY),
        ]), 0);
        let value = any_value(&mut dice, &type_code, 3);
        let made = Any::of_value(&type_code, &value).unwrap();
        let limits = Limits::default();
        let mut latin = Coding::new(GiopVersion::V1_1, &limits);
        latin.code_sets = CodeSets { narrow: NarrowCodeSet::Iso8859_1, ..CodeSets::NATIVE };
        let mut out = Encoder::new(Block::default(), ByteOrder::Big, latin);
        // A character that the other code set lacks is refused, and nothing else.
        if made.marshal(&mut out).is_ok() {
            let there = read(out.block().as_slice(), 0, ByteOrder::Big, latin);
            prop_assert_eq!(&there.value().unwrap(), &value);
            let back = octets(&there, 3, ByteOrder::Little, Coding::default());
            prop_assert_eq!(read(&back, 3, ByteOrder::Little, Coding::default()), made);
        }
    }

    #[test]
    fn valuetypes_in_anys_keep_their_state(seed in any::<u64>(), lead in 0usize..9) {
        let mut dice = Dice::new(seed);
        let type_code = any_type(&mut dice, 3, true);
        let value = any_value(&mut dice, &type_code, 5);
        let made = Any::of_value(&type_code, &value).unwrap();
        let coding = Coding::default();
        let sent = octets(&made, lead, ByteOrder::Big, coding);
        let received = read(&sent, lead, ByteOrder::Big, coding);
        prop_assert_eq!(octets(&received, lead, ByteOrder::Big, coding), sent);
    }

    #[test]
    fn octets_that_are_not_an_any_are_refused_and_nothing_else_happens(
        seed in any::<u64>(), changes in 1usize..6, cut in 0usize..4,
    ) {
        let mut dice = Dice::new(seed);
        let type_code = any_type(&mut dice, 3, true);
        let value = any_value(&mut dice, &type_code, 3);
        let mut sent = octets(&Any::of_value(&type_code, &value).unwrap(), 0, ByteOrder::Little, Coding::default());
        for _ in 0..changes {
            let place = usize::try_from(dice.below(sent.len() as u64)).unwrap();
            sent[place] = [0, 0xff, 1, 0x7f, 15, 8][usize::try_from(dice.below(6)).unwrap()];
        }
        if cut == 0 {
            sent.truncate(usize::try_from(dice.below(sent.len() as u64)).unwrap());
        }
        let mut input = Decoder::new(&sent, ByteOrder::Little, Coding::default());
        if let Ok(any) = Any::unmarshal(&mut input) {
            let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
            let _ = any.marshal(&mut out);
            if let Ok(value) = any.value() {
                prop_assert_eq!(Any::of_value(any.type_code(), &value).map(drop), Ok(()));
            }
            let _ = Value::default_of(any.type_code());
            let _ = any.type_code().compact() == *any.type_code();
        }
    }
}
