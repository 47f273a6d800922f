//! Tests of elements that stay encoded until they are accessed.
#![allow(missing_docs, clippy::unwrap_used)]

use punctual_any::{
    Any, DynamicValue, Elements, Label, TypeCode, TypeKind, UnionValue, Value, ValueModifier,
    Visibility,
};
use punctual_cdr::{
    Block, ByteOrder, CdrError, Coding, Decoder, Encoder, Marshal, Unmarshal, ValueRef,
};

fn octets(
    order: ByteOrder,
    write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
) -> Vec<u8> {
    let mut out = Encoder::new(Block::default(), order, Coding::default());
    write(&mut out).unwrap();
    out.into_block().into_vec()
}

fn elements(value: Value) -> Elements {
    let Value::Sequence(elements) = value else {
        panic!("{value:?} is no sequence");
    };
    elements
}

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

/// Makes a struct of a boolean, a bounded string, an enum, a wchar and a sequence of shorts.
fn record() -> TypeCode {
    TypeCode::structure(
        "IDL:R:1.0",
        "R",
        &[
            ("is_on", TypeCode::BOOLEAN),
            ("name", TypeCode::string(4)),
            (
                "colour",
                TypeCode::enumeration("IDL:C:1.0", "C", &["red", "green"]),
            ),
            ("sign", TypeCode::WCHAR),
            ("counts", TypeCode::sequence(&TypeCode::SHORT, 0)),
        ],
    )
}

fn recorded(number: i16) -> Value {
    let counts = (0..number).map(Value::Short).collect();
    Value::Struct(vec![
        Value::Boolean(number % 2 == 0),
        text(["", "one", "four"][number as usize % 3]),
        Value::Enum(u32::from(number % 2 == 1)),
        Value::WChar('ß'),
        Value::Sequence(counts),
    ])
}

#[test]
fn they_are_equal_to_values_in_either_order_from_a_message_and_from_an_any() {
    let records = TypeCode::sequence(&record(), 0);
    let made = Value::Sequence((0..50).map(recorded).collect());
    for order in [ByteOrder::Big, ByteOrder::Little] {
        let message = octets(order, |out| {
            out.put_u8(7);
            made.marshal(&records, out)?;
            out.put_u32(0xfeed_beef);
            Ok(())
        });
        let mut input = Decoder::new(&message, order, Coding::default());
        input.get_u8().unwrap();
        let read = Value::unmarshal(&records, &mut input).unwrap();
        assert_eq!(input.get_u32(), Ok(0xfeed_beef), "it ends where it ends");
        assert_eq!(read, made);
        assert_eq!(made, read);
        assert_eq!(format!("{read:?}"), format!("{made:?}"));
        assert_eq!(
            elements(read.clone()).to_vec(),
            elements(made.clone()).into_vec()
        );
        let written = octets(order, |out| {
            out.put_u8(7);
            read.marshal(&records, out)?;
            out.put_u32(0xfeed_beef);
            Ok(())
        });
        assert_eq!(written, message);
    }
    let any = Any::of_value(&records, &made).unwrap();
    assert_eq!(any.value().as_ref(), Ok(&made));
    assert_eq!(any, Any::of_value(&records, &any.value().unwrap()).unwrap());
    let other = Value::Sequence((1..51).map(recorded).collect());
    assert_ne!(any.value(), Ok(other));
    let shorter = Value::Sequence((0..49).map(recorded).collect());
    assert_ne!(any.value(), Ok(shorter));
}

#[test]
fn each_is_shown_in_its_order_until_somebody_has_seen_enough() {
    struct Enough;
    impl From<CdrError> for Enough {
        fn from(error: CdrError) -> Self {
            panic!("{error}");
        }
    }
    let any = Any::new(&(0..1000i32).collect::<Vec<_>>()).unwrap();
    let numbers = elements(any.value().unwrap());
    assert_eq!((numbers.len(), numbers.is_empty()), (1000, false));
    let mut seen = Vec::new();
    let ended = numbers.each(|value| {
        seen.push(value.clone());
        match seen.len() {
            3 => Err(Enough),
            _ => Ok(()),
        }
    });
    assert!(ended.is_err());
    assert_eq!(seen, [0, 1, 2].map(Value::Long));
    // The elements keep the encoding alive.
    drop(any);
    assert_eq!(numbers.to_vec().unwrap().last(), Some(&Value::Long(999)));
}

/// Returns the error for a sequence of 40 elements whose last one `write` writes.
fn refused(
    of: &TypeCode,
    write: impl Fn(&mut Encoder<'_>, bool) -> Result<(), CdrError>,
) -> CdrError {
    let message = |is_wrong: bool| {
        octets(ByteOrder::Big, |out| {
            out.put_u32(40);
            (0..39).try_for_each(|_| write(out, false))?;
            write(out, is_wrong)
        })
    };
    let type_code = TypeCode::sequence(of, 0);
    let read = |octets: &[u8]| {
        let mut input = Decoder::new(octets, ByteOrder::Big, Coding::default());
        let value = Value::unmarshal(&type_code, &mut input);
        let mut input = Decoder::new(octets, ByteOrder::Big, Coding::default());
        let mut any = Any::default();
        let from_any = any
            .unmarshal_as(&type_code, &mut input)
            .and_then(|()| any.value());
        assert_eq!(value, from_any);
        value
    };
    read(&message(false)).unwrap();
    read(&message(true)).unwrap_err()
}

#[test]
fn what_is_no_value_is_refused_before_it_is_looked_at() {
    let wrong = refused(&TypeCode::BOOLEAN, |out, is_wrong| {
        out.put_u8(if is_wrong { 2 } else { 1 });
        Ok(())
    });
    assert!(matches!(wrong, CdrError::BadBoolean(2)), "{wrong}");
    let colour = TypeCode::enumeration("IDL:C:1.0", "C", &["red", "green"]);
    let wrong = refused(&colour, |out, is_wrong| {
        out.put_u32(if is_wrong { 2 } else { 1 });
        Ok(())
    });
    assert_eq!(wrong, CdrError::UnknownEnumerator(2));
    let wrong = refused(&TypeCode::string(3), |out, is_wrong| {
        out.put_string(if is_wrong { "four" } else { "two" })
    });
    assert!(matches!(wrong, CdrError::BoundExceeded { .. }), "{wrong}");
    let wrong = refused(&TypeCode::fixed(3, 1), |out, is_wrong| {
        out.put_bytes(if is_wrong {
            &[0x12, 0x3e]
        } else {
            &[0x12, 0x3c]
        });
        Ok(())
    });
    assert_eq!(wrong, CdrError::BadFixed);
    let pair = TypeCode::array(&TypeCode::sequence(&TypeCode::BOOLEAN, 0), 2);
    let wrong = refused(&pair, |out, is_wrong| {
        out.put_u32(0);
        vec![u8::from(is_wrong) * 9; 1].marshal(out)
    });
    assert!(matches!(wrong, CdrError::BadBoolean(9)), "{wrong}");
}

#[test]
fn unions_and_references_and_anys_among_them_are_what_they_were() {
    let members = [
        (Label::Value(1), "yes", TypeCode::ANY),
        (Label::Value(0), "no", TypeCode::interface("IDL:I:1.0", "I")),
    ];
    let union = TypeCode::union_("IDL:U:1.0", "U", &TypeCode::BOOLEAN, &members);
    let choice = |number: i32| {
        let (discriminator, member) = match number % 2 {
            0 => (0, Value::Object(None)),
            _ => (1, Value::Any(Box::new(Any::new(&number).unwrap()))),
        };
        Value::Union(Box::new(UnionValue {
            discriminator,
            member: Some(member),
        }))
    };
    let choices = TypeCode::array(&union, 30);
    let made = Value::Sequence((0..30).map(choice).collect());
    let any = Any::of_value(&choices, &made).unwrap();
    assert_eq!(any.value(), Ok(made));
}

#[test]
fn a_discriminator_that_its_enumeration_lacks_is_refused_though_the_union_has_a_default() {
    let colour = TypeCode::enumeration("IDL:C:1.0", "C", &["red", "green"]);
    let members = [
        (Label::Value(0), "red", TypeCode::LONG),
        (Label::Default, "other", TypeCode::LONG),
    ];
    for members in [&members[..], &members[..1]] {
        let union = TypeCode::union_("IDL:U:1.0", "U", &colour, members);
        let read = |discriminator: u32| {
            let message = octets(ByteOrder::Big, |out| {
                union.marshal(out)?;
                out.put_u32(discriminator);
                out.put_i32(7);
                Ok(())
            });
            let mut input = Decoder::new(&message, ByteOrder::Big, Coding::default());
            Any::unmarshal(&mut input).map(|any| any.value())
        };
        assert!(read(0).unwrap().is_ok() && read(1).unwrap().is_ok());
        // Be it when it is taken over or when it is looked at.
        let refused = read(2).and_then(|value| value).unwrap_err();
        assert_eq!(refused, CdrError::UnknownEnumerator(2));
        let value = Value::Union(Box::new(UnionValue {
            discriminator: 2,
            member: None,
        }));
        let made = Any::of_value(&union, &value).unwrap_err();
        assert_eq!(made, CdrError::UnknownEnumerator(2));
    }
}

/// Anys in elements whose types are an indirection to that of the first: the indirections hold
/// wherever reading begins.
#[test]
fn an_any_among_them_may_share_the_type_of_another() {
    let pairs = TypeCode::sequence(&TypeCode::sequence(&TypeCode::ANY, 0), 0);
    let point = TypeCode::structure("IDL:P:1.0", "P", &[("x", TypeCode::LONG)]);
    let message = octets(ByteOrder::Big, |out| {
        out.put_u32(10);
        let mut first = None;
        for number in 0..10 {
            out.put_u32(1);
            let here = out.position();
            match first {
                None => point.marshal(out)?,
                Some(first) => {
                    out.put_u32(u32::MAX);
                    out.put_i32(first as i32 - out.position() as i32);
                }
            }
            first.get_or_insert(here);
            out.put_i32(number);
        }
        Ok(())
    });
    let mut input = Decoder::new(&message, ByteOrder::Big, Coding::default());
    let read = elements(Value::unmarshal(&pairs, &mut input).unwrap());
    let inner = read.to_vec().unwrap().into_iter().map(elements);
    let inner = inner.map(|inner| inner.to_vec().unwrap());
    let expected = |number| {
        let value = Value::Struct(vec![Value::Long(number)]);
        vec![Value::Any(Box::new(Any::of_value(&point, &value).unwrap()))]
    };
    assert_eq!(
        inner.collect::<Vec<_>>(),
        (0..10).map(expected).collect::<Vec<_>>()
    );
}

#[test]
fn values_among_them_stay_shared() {
    let node = TypeCode::value("IDL:V:1.0", "V", ValueModifier::None, None, &[]);
    let message = octets(ByteOrder::Big, |out| {
        out.put_u32(20);
        out.put_u32(0x7fff_ff00);
        for number in 1..20 {
            out.put_u32(u32::MAX);
            out.put_i32(-4 - 8 * number + 4);
        }
        Ok(())
    });
    let mut input = Decoder::new(&message, ByteOrder::Big, Coding::default());
    let values = Value::unmarshal(&TypeCode::sequence(&node, 0), &mut input).unwrap();
    let mut first: Option<ValueRef> = None;
    let all: Result<(), CdrError> = elements(values).each(|value| {
        let Value::Valuetype(Some(value)) = value else {
            panic!("{value:?} is no value");
        };
        assert_eq!(first.get_or_insert_with(|| value.clone()), value);
        Ok(())
    });
    all.unwrap();
}

#[test]
fn what_is_made_here_is_a_list_of_values() {
    assert!(Elements::default().is_empty());
    let made: Elements = [true, false].map(Value::Boolean).into_iter().collect();
    assert_eq!(
        made,
        Elements::from(vec![Value::Boolean(true), Value::Boolean(false)])
    );
    assert_ne!(made, Elements::default());
    let any = Any::of_value(
        &TypeCode::sequence(&TypeCode::BOOLEAN, 0),
        &Value::Sequence(made),
    );
    let any = any.unwrap();
    assert_eq!(any.extract::<Vec<bool>>().unwrap(), [true, false]);
    assert_eq!(any.type_code().kind(), TypeKind::Sequence);
}

/// The second value of a type refers to the type information of the first one.
#[test]
fn values_in_anys_are_read_wherever_they_stand() {
    let number = ("n", TypeCode::LONG, Visibility::Public);
    let node = TypeCode::value("IDL:V:1.0", "V", ValueModifier::None, None, &[number]);
    let any = |number| {
        let value = DynamicValue::create(&node, vec![Value::Long(number)]).unwrap();
        let any = Any::of_value(&node, &Value::Valuetype(Some(value))).unwrap();
        Value::Any(Box::new(any))
    };
    let anys = TypeCode::sequence(&TypeCode::ANY, 0);
    let rest = |numbers: &[i32]| Value::Sequence(numbers.iter().map(|one| any(*one)).collect());
    let both = TypeCode::structure(
        "IDL:S:1.0",
        "S",
        &[("first", TypeCode::ANY), ("rest", anys.clone())],
    );
    let shapes = [
        (both, Value::Struct(vec![any(1), rest(&[2, 3, 4])])),
        (
            TypeCode::sequence(&anys, 0),
            Value::Sequence([rest(&[1, 2]), rest(&[3])].into_iter().collect()),
        ),
    ];
    for (type_code, made) in shapes {
        let kept = Any::of_value(&type_code, &made).unwrap();
        for order in [ByteOrder::Big, ByteOrder::Little] {
            let message = octets(order, |out| kept.marshal(out));
            let mut input = Decoder::new(&message, order, Coding::default());
            let read = Any::unmarshal(&mut input).unwrap().value().unwrap();
            assert_eq!(numbers(&read), numbers(&made));
        }
    }
}

/// Returns the numbers of all values in a value.
fn numbers(value: &Value) -> Vec<i32> {
    match value {
        Value::Long(number) => vec![*number],
        Value::Sequence(elements) => elements
            .to_vec()
            .unwrap()
            .iter()
            .flat_map(numbers)
            .collect(),
        Value::Struct(members) => members.iter().flat_map(numbers).collect(),
        Value::Any(any) => numbers(&any.value().unwrap()),
        Value::Valuetype(Some(value)) => {
            let (_, members) = DynamicValue::of(value).unwrap();
            members.iter().flat_map(numbers).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// Each octet becomes sixty values: they may be examined one at a time, and compared, but not kept.
#[test]
fn more_values_than_are_in_proportion_are_looked_at_and_not_kept() {
    let deep = (0..60).fold(TypeCode::OCTET, |of, _| {
        TypeCode::structure("IDL:s:1.0", "s", &[("m", of)])
    });
    let message = octets(ByteOrder::Big, |out| vec![7_u8; 20_000].marshal(out));
    let type_code = TypeCode::sequence(&deep, 0);
    let read = || {
        let mut input = Decoder::new(&message, ByteOrder::Big, Coding::default());
        elements(Value::unmarshal(&type_code, &mut input).unwrap())
    };
    let mut count = 0;
    let looked: Result<(), CdrError> = read().each(|_| {
        count += 1;
        Ok(())
    });
    looked.unwrap();
    assert_eq!(count, 20_000);
    assert_eq!(read(), read());
    let kept = read().into_vec();
    assert!(
        matches!(kept, Err(CdrError::LengthOverLimit { .. })),
        "{kept:?}"
    );
}
