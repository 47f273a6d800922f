//! Values that are kept as they were encoded in a message.

use punctual_any::{Any, PassedAnys, Scalar, TypeCode, TypeKind, Value, ValueModifier, Visibility};
use punctual_cdr::{
    Block, ByteOrder, CdrError, Coding, Decoder, Encoder, GiopVersion, Marshal, Unmarshal,
};

/// Makes `struct Entry { string name; any value; };`.
fn entry_type() -> TypeCode {
    let members = [("name", TypeCode::string(0)), ("value", TypeCode::ANY)];
    TypeCode::structure("IDL:Entry:1.0", "Entry", &members)
}

/// Returns a message with an entry behind some bytes.
fn message(lead: usize, order: ByteOrder, name: &str, value: &Any) -> Vec<u8> {
    let mut out = Encoder::new(Block::default(), order, Coding::default());
    out.put_bytes(&vec![0xaa; lead]);
    out.put_string(name).unwrap();
    value.marshal(&mut out).unwrap();
    out.put_u8(0xbb);
    out.into_block().into_vec()
}

/// Passes over an entry; returns it with the offset of its Any.
fn pass(input: &mut Decoder<'_>) -> Result<Option<(Any, usize)>, CdrError> {
    input.align(4)?;
    let begin = input.clone();
    input.get_string()?;
    let offset = input.position() - begin.position();
    let mut anys = PassedAnys::default();
    anys.pass(input)?;
    let any = Any::of_passed(&entry_type(), &begin, input, anys)?;
    Ok(any.map(|any| (any, offset)))
}

fn passed(lead: usize, order: ByteOrder, value: &Any) -> (Any, usize) {
    let bytes = message(lead, order, "name", value);
    let mut input = Decoder::at(&bytes, lead, order, Coding::default());
    let passed = pass(&mut input).unwrap().unwrap();
    assert_eq!(input.get_u8(), Ok(0xbb), "it is passed to its end");
    passed
}

fn written(any: &Any, lead: usize, order: ByteOrder) -> Vec<u8> {
    let mut out = Encoder::new(Block::default(), order, Coding::default());
    out.put_bytes(&vec![0xaa; lead]);
    any.marshal_value(&mut out).unwrap();
    out.put_u8(0xbb);
    out.into_block().into_vec()
}

#[test]
fn a_value_that_was_passed_over_is_written_wherever_it_is_to_stand() {
    let within = Any::new(&Any::new(&1.5_f64).unwrap()).unwrap();
    let values = [
        Any::new("text").unwrap(),
        Any::new(&7_i16).unwrap(),
        Any::new(&u64::MAX).unwrap(),
        Any::default(),
        within,
    ];
    let orders = [ByteOrder::Big, ByteOrder::Little];
    for value in &values {
        for (from, to) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            for (lead, target) in (0..8).flat_map(|lead| (0..8).map(move |to| (lead, to))) {
                let (any, offset) = passed(lead, orders[from], value);
                let wanted = message(target, orders[to], "name", value);
                assert_eq!(written(&any, target, orders[to]), wanted, "{value:?}");
                let held = any.read_from(offset, Any::unmarshal).unwrap();
                assert_eq!(&held, value);
                let Value::Struct(members) = any.value().unwrap() else {
                    panic!("an entry is a struct");
                };
                assert_eq!(members[1], Value::Any(Box::new(value.clone())));
            }
        }
    }
}

#[test]
fn an_any_within_is_reached_by_its_offset() {
    for (lead, order) in [(0, ByteOrder::Big), (3, ByteOrder::Little)] {
        let (any, offset) = passed(lead, order, &Any::new(&9_i64).unwrap());
        let mut cursor = any.cursor_in(offset).unwrap();
        assert_eq!(cursor.kind(), TypeKind::LongLong);
        assert_eq!(cursor.scalar().unwrap(), Some(Scalar::Integer(9)));
        assert!(any.encoding().starts_with(&match order {
            ByteOrder::Big => [0, 0, 0, 5, b'n', b'a'],
            ByteOrder::Little => [5, 0, 0, 0, b'n', b'a'],
        }));
        assert!(any.cursor_in(usize::MAX).is_err());
        assert!(any.cursor_in(any.encoding().len()).is_err());
    }
}

#[test]
fn wide_text_is_copied_only_into_messages_of_its_version() {
    let value = Any::written(&TypeCode::wstring(0), |out| out.put_wstring("wide")).unwrap();
    let (any, _) = passed(0, ByteOrder::NATIVE, &value);
    let coding = Coding {
        version: GiopVersion::V1_1,
        ..Coding::default()
    };
    let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, coding);
    any.marshal_value(&mut out).unwrap();
    let bytes = out.into_block().into_vec();
    let mut input = Decoder::new(&bytes, ByteOrder::NATIVE, coding);
    input.get_string().unwrap();
    assert_eq!(Any::unmarshal(&mut input).unwrap(), value);
}

#[test]
fn what_is_in_pieces_or_refers_to_what_is_outside_is_not_kept() {
    // The second Any has the type of the first one, by an indirection.
    let entry = Any::written(&entry_type(), |out| {
        out.put_string("inner")?;
        Any::new(&1_i32).unwrap().marshal(out)
    });
    let entry = entry.unwrap();
    let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
    entry.marshal(&mut out).unwrap();
    out.put_string("name").unwrap();
    out.align(4);
    out.put_u32(u32::MAX);
    let distance = i32::try_from(out.position()).unwrap();
    out.put_i32(-distance);
    entry.marshal_value(&mut out).unwrap();
    let bytes = out.into_block().into_vec();
    let mut input = Decoder::new(&bytes, ByteOrder::NATIVE, Coding::default());
    assert_eq!(Any::unmarshal(&mut input).unwrap(), entry);
    assert!(pass(&mut input).unwrap().is_none());

    let bytes = message(0, ByteOrder::NATIVE, "name", &Any::new("text").unwrap());
    let seams = [16];
    let mut input = Decoder::with_seams(&bytes, &seams, ByteOrder::NATIVE, Coding::default());
    assert!(!matches!(pass(&mut input), Ok(Some(_))));
}

#[test]
fn what_may_have_valuetypes_is_not_kept_and_is_for_reading_to_judge() {
    let members = [("number", TypeCode::LONG, Visibility::Public)];
    let value = TypeCode::value("IDL:V:1.0", "V", ValueModifier::None, None, &members);
    let members = [
        ("text", TypeCode::string(0)),
        ("values", TypeCode::sequence(&value, 0)),
    ];
    let type_code = TypeCode::structure("IDL:S:1.0", "S", &members);
    let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
    out.put_string("name").unwrap();
    type_code.marshal(&mut out).unwrap();
    // Text without a NUL at its end, and no values.
    out.put_u32(1);
    out.put_u8(b'x');
    out.put_u32(0);
    let bytes = out.into_block().into_vec();
    let input = Decoder::new(&bytes, ByteOrder::NATIVE, Coding::default());
    assert!(pass(&mut input.clone()).unwrap().is_none());
    let mut input = input;
    input.get_string().unwrap();
    assert_eq!(Any::unmarshal(&mut input), Err(CdrError::StringWithoutNul));
}

#[test]
fn a_message_that_ends_within_an_any_is_refused() {
    let bytes = message(0, ByteOrder::NATIVE, "name", &Any::new("text").unwrap());
    for end in 0..bytes.len() - 1 {
        let mut input = Decoder::new(&bytes[..end], ByteOrder::NATIVE, Coding::default());
        assert!(pass(&mut input).is_err(), "{end}");
    }
}

#[test]
fn what_nests_as_deep_as_may_be_is_written_in_any_order() {
    let orders = [ByteOrder::Big, ByteOrder::Little];
    let mut deep = Any::new(&7_i32).unwrap();
    let mut levels = 0;
    loop {
        let deeper = Any::new(&deep).unwrap();
        let bytes = message(0, ByteOrder::Big, "name", &deeper);
        let mut input = Decoder::new(&bytes, ByteOrder::Big, Coding::default());
        if !matches!(pass(&mut input), Ok(Some(_))) {
            break;
        }
        deep = deeper;
        levels += 1;
    }
    assert!(levels > 60, "{levels}");
    for (from, to) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let (any, _) = passed(0, orders[from], &deep);
        let wanted = message(0, orders[to], "name", &deep);
        assert_eq!(written(&any, 0, orders[to]), wanted);
    }
}
