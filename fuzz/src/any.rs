//! Anys, with their TypeCodes: received, sent on by each way there is, taken apart and put together again.

use punctual_any::{Any, TypeCode, Value};
use punctual_cdr::{
    Block, ByteOrder, CdrError, Coding, Decoder, Encoder, Limits, Marshal, Unmarshal,
};

/// Small ones, so that inputs reach them.
fn limits() -> Limits {
    Limits {
        nesting: 24,
        ..Limits::default()
    }
}

/// Takes one input.
///
/// # Panics
/// If something is wrong with what the input does.
pub fn run(input: &[u8]) {
    let (how, octets) = crate::choice(input);
    let limits = limits();
    let coding = Coding {
        limits: &limits,
        ..Coding::default()
    };
    let order = ByteOrder::from_flag(how & 1);
    let mut decoder = Decoder::new(octets, order, coding);
    if how & 2 == 0 {
        if let Ok(type_code) = TypeCode::unmarshal(&mut decoder) {
            look_at(&type_code, coding);
        }
        return;
    }
    while let Ok(any) = Any::unmarshal(&mut decoder) {
        pass_on(&any, coding);
        if decoder.remaining() == 0 {
            break;
        }
    }
}

/// All that can be asked of a TypeCode; written and read once more it is the same.
fn look_at(type_code: &TypeCode, coding: Coding<'_>) {
    assert!(!type_code.to_string().is_empty());
    assert!(type_code.equivalent(type_code));
    assert!(type_code.equivalent(&type_code.compact()));
    for member in 0..type_code.member_count().unwrap_or(0).min(50) {
        let _ = type_code.member_name(member);
        let _ = type_code.member_type(member).map(|member| member.kind());
        let _ = type_code.member_label(member);
    }
    let written = written(ByteOrder::Big, 4, coding, |out| type_code.marshal(out));
    let written = written.expect("what was read can be written");
    let mut input = Decoder::at(&written, 4, ByteOrder::Big, coding);
    let again = TypeCode::unmarshal(&mut input).expect("what was written can be read");
    assert!(again == *type_code, "{again} instead of {type_code}");
    let _ = Value::default_of(type_code);
}

fn pass_on(any: &Any, coding: Coding<'_>) {
    let value = any.value();
    for (order, lead) in [
        (ByteOrder::NATIVE, 0),
        (ByteOrder::Big, 3),
        (ByteOrder::Little, 5),
    ] {
        // Octets that nobody has read may be no value, in an Any within it even where it was taken apart:
        // some ways find out, and copying does not.
        let Ok(sent) = written(order, lead, coding, |out| any.marshal(out)) else {
            continue;
        };
        let mut input = Decoder::at(&sent, lead, order, coding);
        let received = Any::unmarshal(&mut input).expect("what was written can be read");
        assert_eq!(received.value().is_ok(), value.is_ok());
    }
    if let Ok(value) = value
        // What is in an Any within it has not been read.
        && !shown(&value).contains("Any(")
    {
        let again = Any::of_value(any.type_code(), &value);
        match again.map(|again| again.value()) {
            Ok(Ok(again)) => assert_eq!(shown(&again), shown(&value)),
            Ok(Err(error)) => panic!("what was put together is not taken apart: {error}"),
            Err(CdrError::CharacterNotInCodeSet) => {}
            Err(error) => panic!("what was taken apart is not put together: {error}"),
        }
    }
}

/// Numbers that are none are not equal to themselves, but look the same. How many octets an Any within takes
/// is no part of it.
fn shown(value: &Value) -> String {
    let text = format!("{value:?}");
    let parts = text.split(" octets");
    parts
        .map(|part| part.trim_end_matches(|character: char| character.is_ascii_digit()))
        .collect()
}

fn written(
    order: ByteOrder,
    lead: usize,
    coding: Coding<'_>,
    write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
) -> Result<Vec<u8>, CdrError> {
    let mut out = Encoder::new(Block::default(), order, coding);
    out.put_bytes(&vec![0; lead]);
    write(&mut out)?;
    Ok(out.into_block().into_vec())
}
