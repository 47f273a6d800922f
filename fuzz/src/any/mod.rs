//! Fuzz target for Anys with their TypeCodes: received, sent on in each way, decomposed into values
//! and composed again.

use punctual_any::{Any, DynamicValue, Label, PassedAnys, TypeCode, TypeKind, Value};
use punctual_cdr::{
    Block, ByteOrder, CdrError, Coding, Decoder, Encoder, GiopVersion, Limits, Marshal, Unmarshal,
};

const VERSIONS: [GiopVersion; 3] = [GiopVersion::V1_2, GiopVersion::V1_1, GiopVersion::V1_0];

/// Returns limits small enough for inputs to reach them.
fn limits() -> Limits {
    Limits {
        nesting: 24,
        ..Limits::default()
    }
}

/// Runs the target on one input.
///
/// # Panics
/// The input breaks a property.
pub fn run(input: &[u8]) {
    let (how, octets) = crate::choice(input);
    let limits = limits();
    let coding = Coding {
        limits: &limits,
        version: VERSIONS[usize::from(how >> 4) % VERSIONS.len()],
        ..Coding::default()
    };
    let order = ByteOrder::from_flag(how & 1);
    let mut decoder = Decoder::new(octets, order, coding);
    if how & 2 == 0 {
        let mut before = TypeCode::VOID;
        while let Ok(type_code) = TypeCode::unmarshal(&mut decoder) {
            look_at(&type_code, coding);
            compare(&before, &type_code);
            before = type_code;
            if decoder.remaining() == 0 {
                break;
            }
        }
        return;
    }
    loop {
        let passed = passed(&decoder);
        let read = Any::unmarshal(&mut decoder);
        if let Some((left, _)) = &passed {
            assert!(read.is_ok(), "what is kept is read, too: {read:?}");
            assert_eq!(decoder.remaining(), *left);
        }
        let Ok(any) = read else {
            break;
        };
        if let Some((_, kept)) = &passed {
            keep(kept, &any, coding);
        }
        // The form that logs print.
        let seen = any.to_string();
        assert!(seen.len() < 2500 && !format!("{any:?}").is_empty());
        pass_on(&any, coding);
        if decoder.remaining() == 0 {
            break;
        }
    }
}

/// Passes over an Any; returns how many bytes are left, and the Any as it is kept where it is encoded, if it can be kept.
fn passed(input: &Decoder<'_>) -> Option<(usize, Any)> {
    let mut begin = input.clone();
    begin.align(4).ok()?;
    let mut end = begin.clone();
    let mut anys = PassedAnys::default();
    anys.pass(&mut end).ok()?;
    let kept = Any::of_passed(&TypeCode::ANY, &begin, &end, anys).ok()??;
    Some((end.remaining(), kept))
}

/// Checks that an Any that was kept where it was encoded is the one that was read, also where it is sent on.
fn keep(kept: &Any, any: &Any, coding: Coding<'_>) {
    let mut cursor = kept.cursor_in(0).expect("what was passed over is found");
    assert!(cursor.declared_type().equivalent(any.type_code()));
    let scalar = kept
        .scalar_in(0)
        .map(|found| found.map(|(scalar, ..)| scalar));
    // As text, in which numbers that are none are equal.
    let text = format!("{:?}", scalar.ok());
    assert_eq!(format!("{:?}", cursor.scalar().ok()), text);
    let sent = |order, lead: usize, write: &dyn Fn(&mut Encoder<'_>) -> Result<(), CdrError>| {
        let mut out = Encoder::new(Block::default(), order, coding);
        out.put_bytes(&vec![0; lead]);
        write(&mut out).ok()?;
        let bytes = out.into_block().into_vec();
        let read = Any::unmarshal(&mut Decoder::at(&bytes, lead, order, coding)).ok()?;
        Some(format!("{read:?}"))
    };
    for order in [ByteOrder::Big, ByteOrder::Little] {
        for lead in 0..8 {
            let here = sent(order, lead, &|out| kept.marshal_value(out));
            let there = sent(order, lead, &|out| any.marshal(out));
            if let (Some(here), Some(there)) = (here, there) {
                assert_eq!(here, there);
            }
        }
    }
}

/// Calls every accessor of a TypeCode, and checks that it is the same after writing and reading.
fn look_at(type_code: &TypeCode, coding: Coding<'_>) {
    assert!(!type_code.to_string().is_empty());
    assert!(!type_code.kind().keyword().is_empty());
    assert!(type_code.equivalent(type_code));
    assert!(type_code.equivalent(&type_code.compact()));
    let _ = type_code.is_recursive();
    members(type_code);
    let again = sent(type_code, coding).expect("what was read can be written");
    assert!(again == *type_code, "{again} instead of {type_code}");
    // A received TypeCode is sent as it came, and one without names is written anew.
    if let Ok(again) = sent(&type_code.compact(), coding) {
        assert!(
            again.equivalent(type_code),
            "{again} instead of {type_code}"
        );
    }
    if let Ok(value) = Value::default_of(type_code) {
        default_value(type_code, &value);
    }
}

fn sent(type_code: &TypeCode, coding: Coding<'_>) -> Result<TypeCode, CdrError> {
    let written = written(ByteOrder::Big, 4, coding, |out| type_code.marshal(out))?;
    let mut input = Decoder::at(&written, 4, ByteOrder::Big, coding);
    Ok(TypeCode::unmarshal(&mut input).expect("what was written can be read"))
}

/// Checks that a type gives access to those parts of its members that its kind has, and to no
/// others.
fn members(type_code: &TypeCode) {
    let kind = type_code.kind();
    let is_value = matches!(kind, TypeKind::Value | TypeKind::Event);
    for member in 0..type_code.member_count().unwrap_or(0).min(50) {
        let name = type_code.member_name(member).expect("it has a name");
        let named = type_code.member_index(name).expect("it is found");
        assert_eq!(type_code.member_name(named), Ok(name));
        let _ = type_code.member_type(member).map(|member| member.kind());
        if let Ok(Label::Value(label)) = type_code.member_label(member) {
            assert!(
                type_code
                    .member_chosen(label)
                    .is_ok_and(|chosen| chosen.is_some())
            );
        }
        assert_eq!(type_code.member_visibility(member).is_ok(), is_value);
    }
    let is_union = kind == TypeKind::Union;
    assert_eq!(type_code.discriminator_type().is_ok(), is_union);
    assert_eq!(type_code.default_index().is_ok(), is_union);
    assert!(type_code.member_label(usize::MAX).is_err());
    let is_fixed = kind == TypeKind::Fixed;
    assert_eq!(type_code.fixed_digits().is_ok(), is_fixed);
    assert_eq!(type_code.fixed_scale().is_ok(), is_fixed);
    assert_eq!(type_code.type_modifier().is_ok(), is_value);
    assert_eq!(type_code.concrete_base_type().is_ok(), is_value);
    let has_content = [
        TypeKind::Sequence,
        TypeKind::Array,
        TypeKind::Alias,
        TypeKind::ValueBox,
    ];
    assert_eq!(
        type_code.content_type().is_ok(),
        has_content.contains(&kind)
    );
    let has_length = [TypeKind::Sequence, TypeKind::Array];
    assert!(type_code.length().is_ok() || !has_length.contains(&kind));
    if let Ok(members) = DynamicValue::members_of(type_code) {
        assert!(members.len() >= type_code.original_type().member_count().unwrap_or(0));
    }
}

/// Checks that a type's default value is unchanged after it was inserted into an Any and extracted.
fn default_value(type_code: &TypeCode, value: &Value) {
    if let Ok(any) = Any::of_value(type_code, value) {
        let again = any.value().expect("what was put together is taken apart");
        assert_eq!(shown(&again), shown(value));
    }
}

/// Checks that comparison is symmetric, and that equal types are equivalent.
fn compare(one: &TypeCode, other: &TypeCode) {
    assert_eq!(
        one.equivalent(other),
        other.equivalent(one),
        "{one} and {other}"
    );
    assert_eq!(one.eq(other), other.eq(one));
    assert!(one != other || one.equivalent(other));
}

fn pass_on(any: &Any, coding: Coding<'_>) {
    let value = any.value();
    for (order, lead, version) in [
        (ByteOrder::NATIVE, 0, coding.version),
        (ByteOrder::Big, 3, GiopVersion::V1_2),
        (ByteOrder::Little, 5, GiopVersion::V1_1),
    ] {
        let coding = Coding { version, ..coding };
        // Octets that were never decoded may be no value, in a nested Any even where the outer one
        // was taken apart: some paths find out, and copying does not.
        let Ok(sent) = written(order, lead, coding, |out| any.marshal(out)) else {
            continue;
        };
        let mut input = Decoder::at(&sent, lead, order, coding);
        let received = Any::unmarshal(&mut input).expect("what was written can be read");
        assert_eq!(received.value().is_ok(), value.is_ok());
    }
    taken_out(any, value.as_ref().ok());
    if let Ok(value) = &value {
        look_through(value);
    }
    if let Ok(Value::Valuetype(Some(value))) = &value
        && let Some((type_code, members)) = DynamicValue::of(value)
    {
        assert!(DynamicValue::assign(value, members.clone()).is_ok());
        let beside = DynamicValue::create_beside(value, &type_code, members);
        assert_eq!(
            beside.map(|it| it.repository_id()),
            Ok(value.repository_id())
        );
    }
    if any.type_code().original_type().kind() == TypeKind::Except {
        as_exception(any, coding);
    }
    if let Ok(value) = value
        // The contents of a nested Any have not been read.
        && !shown(&value).contains("Any(")
    {
        let again = Any::of_value(any.type_code(), &value);
        match again.map(|again| (again.value(), again)) {
            Ok((Ok(again), other)) => {
                assert_eq!(shown(&again), shown(&value));
                // NaNs are unequal both here and there.
                assert_eq!(other == *any, again == value);
            }
            Ok((Err(error), _)) => panic!("what was put together is not taken apart: {error}"),
            Err(CdrError::CharacterNotInCodeSet) => {}
            Err(error) => panic!("what was taken apart is not put together: {error}"),
        }
    }
}

/// Checks that a value can be read completely, at every depth, as the validation of its Any has
/// promised.
fn look_through(value: &Value) {
    match value {
        Value::Sequence(elements) => {
            let mut count = 0;
            let looked = elements.each(|value| {
                count += 1;
                look_through(value);
                Ok::<(), CdrError>(())
            });
            looked.expect("they were checked");
            assert_eq!(count, elements.len());
        }
        Value::Struct(members) => members.iter().for_each(look_through),
        Value::Union(union) => union.member.iter().for_each(look_through),
        _ => {}
    }
}

/// Checks that the value extracted as a Rust type is the one that the Any holds.
fn taken_out(any: &Any, value: Option<&Value>) {
    let mut other = any.clone();
    assert!(other == *any || value.is_none());
    assert!(!format!("{any:?}").is_empty());
    assert!(other.set_type(&any.type_code().compact()).is_ok());
    let is_void = any.type_code().original_type().kind() == TypeKind::Void;
    assert!(is_void || other.set_type(&TypeCode::VOID).is_err());
    assert_eq!(any.is_null(), any.type_code().kind() == TypeKind::Null);
    match (any.extract::<i32>(), value) {
        (Ok(number), value) => assert_eq!(value, Some(&Value::Long(number))),
        (Err(error), value) => {
            assert!(!error.to_string().is_empty());
            assert!(!matches!(value, Some(Value::Long(_))));
        }
    }
    match (any.text(), value) {
        (Ok(text), Some(Value::String(its))) => {
            assert_eq!(text, *its);
            let wide = Any::of_wide(&text).and_then(|wide| wide.value());
            assert!(wide.is_ok_and(|wide| wide == Value::String(text)));
        }
        (Ok(text), None) => panic!("{text} is text, and no value"),
        (Ok(text), Some(_)) => panic!("{text} is no text"),
        (Err(_), value) => assert!(!matches!(value, Some(Value::String(_)))),
    }
    if let Ok(texts) = any.extract::<Vec<String>>() {
        let texts = texts.into_iter().map(Value::String).collect();
        assert_eq!(value, Some(&Value::Sequence(texts)));
    }
}

/// Checks that an exception in a reply equals the one in the Any.
fn as_exception(any: &Any, coding: Coding<'_>) {
    let Ok(members) = written(ByteOrder::Big, 0, coding, |out| any.marshal_members(out)) else {
        return;
    };
    let input = Decoder::new(&members, ByteOrder::Big, coding);
    let again = Any::unmarshal_exception(any.type_code(), &input);
    let again = again.expect("what was written can be read").value();
    assert_eq!(
        again.ok().as_ref().map(shown),
        any.value().ok().as_ref().map(shown)
    );
}

/// Describes a value for comparison: NaNs, which differ from themselves, have one description. The
/// length of a nested Any is left out, and a nil of an abstract interface, which is neither an
/// object nor a value, is described as a nil valuetype.
fn shown(value: &Value) -> String {
    let text = format!("{value:?}").replace("Object(None)", "Valuetype(None)");
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
