//! Tests of hostile valuetypes: the cost of their values is in proportion to their bytes.
#![allow(clippy::unwrap_used)]

use punctual_any::{Any, DynamicValue, TypeCode, TypeKind, Value, ValueModifier, Visibility};
use punctual_cdr::{
    Block, ByteOrder, CdrError, Coding, Decoder, Encoder, Limits, Marshal, Unmarshal,
};

/// Returns the bytes that `write` encodes, in big-endian order.
fn octets(write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>) -> Vec<u8> {
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    write(&mut out).unwrap();
    out.into_block().into_vec()
}

fn read(octets: &[u8]) -> Result<TypeCode, CdrError> {
    TypeCode::unmarshal(&mut Decoder::new(octets, ByteOrder::Big, Coding::default()))
}

fn kind(out: &mut Encoder<'_>, kind: TypeKind) {
    out.put_u32(kind.number());
}

fn indirection(out: &mut Encoder<'_>, to: usize) {
    out.align(4);
    out.put_u32(0xffff_ffff);
    let here = i32::try_from(out.position()).unwrap();
    out.put_i32(i32::try_from(to).unwrap() - here);
}

/// Returns a chain of valuetypes without state, each truncatable to the one before, and as many
/// members of a struct.
fn line_of_values(length: u32) -> Vec<u8> {
    octets(|out| {
        kind(out, TypeKind::Struct);
        out.encapsulation(|out| {
            out.put_string("IDL:S:1.0")?;
            out.put_string("S")?;
            out.put_u32(length);
            let mut before = None;
            for line in 0..length {
                out.put_string("m")?;
                out.align(4);
                let here = out.position();
                kind(out, TypeKind::Value);
                out.encapsulation(|out| {
                    out.put_string(&format!("IDL:V{line}:1.0"))?;
                    out.put_string("V")?;
                    out.put_i16(ValueModifier::Truncatable as i16);
                    match before {
                        Some(before) => indirection(out, before),
                        None => TypeCode::NULL.marshal(out)?,
                    }
                    out.put_u32(0);
                    Ok(())
                })?;
                before = Some(here);
            }
            Ok(())
        })
    })
}

#[test]
fn valuetypes_inherit_through_no_more_others_than_each_value_may_cost_time() {
    let short = read(&line_of_values(64)).unwrap();
    short.check().unwrap();
    let last = short.member_type(63).unwrap();
    let value = DynamicValue::create(&last, Vec::new()).unwrap();
    let factory = value.factory();
    assert_eq!(factory.truncatable_to(0), Some("IDL:V62:1.0"));
    assert_eq!(factory.truncatable_to(62), Some("IDL:V0:1.0"));
    assert_eq!(factory.truncatable_to(63), None);
    let long = read(&line_of_values(65)).and_then(|long| long.check());
    assert!(matches!(long, Err(CdrError::BadTypeCode(_))), "{long:?}");
}

/// Reads `count` values of a type with 40 octets as members, under a limit on decoding.
fn values_of_octets(count: u32, message_limit: usize) -> Result<Value, CdrError> {
    let names: Vec<String> = (0..40).map(|number| format!("m{number}")).collect();
    let member = |name: &'_ String| (name.clone(), TypeCode::OCTET, Visibility::Public);
    let members: Vec<_> = names.iter().map(member).collect();
    let members: Vec<_> = members
        .iter()
        .map(|(n, t, v)| (&**n, t.clone(), *v))
        .collect();
    let one = TypeCode::value("IDL:V:1.0", "V", ValueModifier::None, None, &members);
    let message = octets(|out| {
        out.put_u32(count);
        for _ in 0..count {
            out.put_u32(0x7fff_ff00);
            out.put_bytes(&[7; 40]);
        }
        Ok(())
    });
    let limits = Limits {
        message: message_limit,
        ..Limits::DEFAULT
    };
    let coding = Coding {
        limits: &limits,
        ..Coding::default()
    };
    let mut input = Decoder::new(&message, ByteOrder::Big, coding);
    Value::unmarshal(&TypeCode::sequence(&one, 0), &mut input)
}

#[test]
fn what_all_values_of_a_message_hold_is_limited_as_a_whole() {
    let limit = 16 * 40 * 1000;
    let values = values_of_octets(500, limit).unwrap();
    let Value::Sequence(values) = values else {
        panic!("it is a sequence");
    };
    let values = values.to_vec().unwrap();
    let Some(Value::Valuetype(Some(last))) = values.last() else {
        panic!("it is of values");
    };
    let (_, members) = DynamicValue::of(last).unwrap();
    assert_eq!(members, vec![Value::Octet(7); 40]);
    assert!(matches!(
        values_of_octets(1001, limit),
        Err(CdrError::LengthOverLimit { .. })
    ));
}

#[test]
fn a_value_in_the_place_of_what_is_none_is_told() {
    let members = [("n", TypeCode::LONG, Visibility::Public)];
    let one = TypeCode::value("IDL:V:1.0", "V", ValueModifier::None, None, &members);
    let wrong = DynamicValue::create(&one, vec![Value::Valuetype(None)]).unwrap();
    let written = Any::of_value(&one, &Value::Valuetype(Some(wrong)));
    assert!(matches!(written, Err(CdrError::Invalid(_))), "{written:?}");
}
