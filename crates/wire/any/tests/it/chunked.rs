//! Tests of Anys with values in chunks, in values in chunks.
#![allow(missing_docs, clippy::unwrap_used)]

use punctual_any::{Any, DynamicValue, TypeCode, Value, ValueModifier, Visibility};
use punctual_cdr::{Block, ByteOrder, Coding, Decoder, Encoder, Marshal, Unmarshal};

/// Makes a type whose values are sent in chunks, as they may be truncated to its base.
fn truncatable(members: &[(&str, TypeCode, Visibility)]) -> TypeCode {
    let base = TypeCode::value("IDL:B:1.0", "B", ValueModifier::None, None, &[]);
    TypeCode::value(
        "IDL:V:1.0",
        "V",
        ValueModifier::Truncatable,
        Some(&base),
        members,
    )
}

fn of(type_code: &TypeCode, members: Vec<Value>) -> Any {
    let value = DynamicValue::create(type_code, members).unwrap();
    Any::of_value(type_code, &Value::Valuetype(Some(value))).unwrap()
}

/// Returns the Any as received in this byte order.
fn sent(any: &Any, order: ByteOrder) -> Any {
    let mut out = Encoder::new(Block::default(), order, Coding::default());
    any.marshal(&mut out).unwrap();
    let octets = out.into_block().into_vec();
    let mut input = Decoder::new(&octets, order, Coding::default());
    let read = Any::unmarshal(&mut input).unwrap();
    assert_eq!(input.remaining(), 0);
    read
}

#[test]
fn a_value_in_chunks_may_hold_an_any_of_another() {
    for before in [false, true] {
        let octet = ("before", TypeCode::OCTET, Visibility::Public);
        let any = ("any", TypeCode::ANY, Visibility::Public);
        let last = ("last", TypeCode::OCTET, Visibility::Public);
        let members: Vec<_> = if before {
            vec![octet, any, last]
        } else {
            vec![any, last]
        };
        let type_code = truncatable(&members);
        let state = |any: Any| {
            let mut state = vec![Value::Any(Box::new(any)), Value::Octet(9)];
            if before {
                state.insert(0, Value::Octet(7));
            }
            state
        };
        let innermost = of(&type_code, state(Any::new(&3i32).unwrap()));
        let middle = of(&type_code, state(innermost.clone()));
        let outer = of(&type_code, state(middle.clone()));
        for order in [ByteOrder::Big, ByteOrder::Little] {
            let mut any = sent(&outer, order);
            for level in 0..3 {
                let Ok(Value::Valuetype(Some(value))) = any.value() else {
                    panic!("level {level}: {:?}", any.value());
                };
                let (_, members) = DynamicValue::of(&value).unwrap();
                assert_eq!(members.last(), Some(&Value::Octet(9)));
                let Some(Value::Any(inner)) = members.get(usize::from(before)) else {
                    panic!("{members:?}");
                };
                any = (**inner).clone();
            }
            assert_eq!(any.extract::<i32>().unwrap(), 3);
        }
    }
}

/// Tests that a chunked value is found inside two nested Anys, although the type of the outer one
/// does not show that it contains values.
#[test]
fn a_value_in_chunks_may_hold_an_any_of_an_any_of_another() {
    let any = ("any", TypeCode::ANY, Visibility::Public);
    let type_code = truncatable(&[any]);
    let inner = of(&type_code, vec![Value::Any(Box::default())]);
    let between = Any::new(&inner).unwrap();
    let outer = of(&type_code, vec![Value::Any(Box::new(between.clone()))]);
    for order in [ByteOrder::Big, ByteOrder::Little] {
        let read = sent(&outer, order);
        let Ok(Value::Valuetype(Some(value))) = read.value() else {
            panic!("{:?}", read.value());
        };
        let (_, members) = DynamicValue::of(&value).unwrap();
        let Some(Value::Any(read)) = members.first() else {
            panic!("{members:?}");
        };
        let innermost: Any = read.extract().unwrap();
        assert_eq!(innermost.type_code(), &type_code);
        assert!(matches!(innermost.value(), Ok(Value::Valuetype(Some(_)))));
    }
}
