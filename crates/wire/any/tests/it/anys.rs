//! Tests of Anys: insertion, extraction, and transfer.
#![allow(clippy::unwrap_used)]

use punctual_any::{
    Any, AnyError, DynamicFactory, DynamicValue, TypeBuilder, TypeCode, TypeIndex, TypeKind, Typed,
    Value, ValueModifier, Visibility,
};
use punctual_cdr::{
    Block, ByteOrder, CdrError, Char, Coding, Decoder, Encoder, Environment, Fixed, Limits,
    LongDouble, Marshal, Unmarshal, ValueFactory,
};
use std::sync::Arc;

const ORDERS: [ByteOrder; 2] = [ByteOrder::Big, ByteOrder::Little];

#[derive(Clone, Debug, PartialEq)]
struct Reading {
    flag: bool,
    value: f64,
    name: String,
    nested: Any2,
}

/// Rust type whose only member is an Any.
#[derive(Clone, Debug)]
struct Any2(Any);

impl PartialEq for Any2 {
    fn eq(&self, other: &Self) -> bool {
        self.0.extract::<i16>() == other.0.extract::<i16>()
    }
}

impl Typed for Reading {
    fn describe(types: &mut TypeBuilder) -> TypeIndex {
        types.structure("IDL:Reading:1.0", "Reading", |types| {
            vec![
                ("flag", bool::describe(types)),
                ("value", f64::describe(types)),
                ("name", String::describe(types)),
                ("nested", Any::describe(types)),
            ]
        })
    }
}

impl Marshal for Reading {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.flag.marshal(out)?;
        self.value.marshal(out)?;
        self.name.marshal(out)?;
        self.nested.0.marshal(out)
    }
}

impl Unmarshal for Reading {
    const MIN_SIZE: usize = 17;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            flag: bool::unmarshal(input)?,
            value: f64::unmarshal(input)?,
            name: String::unmarshal(input)?,
            nested: Any2(Any::unmarshal(input)?),
        })
    }
}

fn reading() -> Reading {
    Reading {
        flag: true,
        value: -2.5,
        name: "Grüße".into(),
        nested: Any2(Any::new(&7i16).unwrap()),
    }
}

/// Returns the encoding of the Any after `lead` bytes.
fn octets(any: &Any, lead: usize, order: ByteOrder) -> Vec<u8> {
    let mut out = Encoder::new(Block::default(), order, Coding::default());
    out.put_bytes(&vec![0xee; lead]);
    any.marshal(&mut out).unwrap();
    out.into_block().into_vec()
}

fn read(octets: &[u8], lead: usize, order: ByteOrder) -> Result<Any, CdrError> {
    let mut input = Decoder::at(octets, lead, order, Coding::default());
    let any = Any::unmarshal(&mut input)?;
    assert_eq!(input.remaining(), 0, "all of it is read");
    Ok(any)
}

fn comes_back<T>(value: &T)
where
    T: Typed + Marshal + Unmarshal + PartialEq + std::fmt::Debug,
{
    let any = Any::new(value).unwrap();
    assert_eq!(any.extract::<T>().unwrap(), *value);
    for (here, there) in [(0, 0), (1, 4), (4, 3), (8, 6), (5, 1)] {
        for (order, on) in ORDERS
            .into_iter()
            .flat_map(|one| ORDERS.map(|other| (one, other)))
        {
            let received = read(&octets(&any, here, order), here, order).unwrap();
            assert_eq!(received.extract::<T>().unwrap(), *value);
            let passed_on = read(&octets(&received, there, on), there, on).unwrap();
            assert_eq!(passed_on.extract::<T>().unwrap(), *value);
            assert_eq!(*passed_on.type_code(), T::type_code());
        }
    }
}

#[test]
fn values_of_rusts_types_come_back_from_either_byte_order_and_every_place() {
    comes_back(&true);
    comes_back(&0xffu8);
    comes_back(&-1i8);
    comes_back(&-2i16);
    comes_back(&0xfffeu16);
    comes_back(&-3i32);
    comes_back(&0xffff_fffdu32);
    comes_back(&i64::MIN);
    comes_back(&u64::MAX);
    comes_back(&1.5f32);
    comes_back(&-0.1f64);
    comes_back(&LongDouble::from_f64(0.1));
    comes_back(&Char(b'x'));
    comes_back(&'€');
    comes_back(&String::from("text, и текст"));
    comes_back(&Vec::<i32>::new());
    comes_back(&vec![1i64, -2, 3]);
    comes_back(&vec![String::from("a"), String::new()]);
    comes_back(&[[1.0f64, 2.0], [3.0, 4.0]]);
    comes_back(&Fixed::<5, 2>::literal(-12345));
    comes_back(&TypeCode::sequence(&TypeCode::ANY, 3));
    comes_back(&reading());
    comes_back(&vec![reading(), reading()]);
}

#[test]
fn a_char_beyond_ascii_is_kept_though_utf_8_cannot_send_it() {
    let any = Any::new(&Char(0xe9)).unwrap();
    assert_eq!(any.extract::<Char>(), Ok(Char(0xe9)));
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    assert_eq!(any.marshal(&mut out), Err(CdrError::CharacterNotInCodeSet));
}

#[test]
fn what_is_told_of_an_any_names_both_types_and_the_value() {
    let any = Any::new(&3i32).unwrap();
    let error = any.extract::<String>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the Any holds a value of type long, not of type string"
    );
    assert_eq!(format!("{error:?}"), error.to_string());
    assert_eq!(
        any.text().unwrap_err().to_string(),
        "the Any holds a value of type long, not of type text"
    );
    assert_eq!(format!("{any:?}"), "Any(long: Long(3))");
}

#[test]
fn a_value_of_another_type_is_not_extracted() {
    let any = Any::new(&3i32).unwrap();
    assert!(matches!(
        any.extract::<u32>(),
        Err(AnyError::TypeMismatch { .. })
    ));
    assert!(matches!(
        any.extract::<String>(),
        Err(AnyError::TypeMismatch { .. })
    ));
    assert!(matches!(
        Any::default().extract::<i32>(),
        Err(AnyError::TypeMismatch { .. })
    ));
    assert_eq!(any.extract::<i32>(), Ok(3));
}

/// Returns an Any as received from a peer, of a type that no Rust type has.
fn received<T: Marshal>(type_code: &TypeCode, value: &T) -> Any {
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    type_code.marshal(&mut out).unwrap();
    value.marshal(&mut out).unwrap();
    let octets = out.into_block().into_vec();
    Any::unmarshal(&mut Decoder::new(
        &octets,
        ByteOrder::Big,
        Coding::default(),
    ))
    .unwrap()
}

#[test]
fn what_has_a_bound_is_read_as_what_has_none() {
    let numbers = TypeCode::sequence(&TypeCode::LONG, 5);
    let lists = TypeCode::alias("IDL:L:1.0", "L", &TypeCode::sequence(&numbers, 3));
    let any = received(&lists, &vec![vec![1, 2], vec![3i32]]);
    assert_eq!(
        any.extract::<Vec<Vec<i32>>>(),
        Ok(vec![vec![1, 2], vec![3]])
    );
    assert!(matches!(
        any.extract::<Vec<Vec<u32>>>(),
        Err(AnyError::TypeMismatch { .. })
    ));
    assert!(matches!(
        any.extract::<Vec<i32>>(),
        Err(AnyError::TypeMismatch { .. })
    ));
    let any = received(&TypeCode::string(8), &String::from("short"));
    assert_eq!(any.extract::<String>(), Ok("short".into()));
    let any = received(&TypeCode::array(&TypeCode::LONG, 2), &[1i32, 2]);
    assert!(matches!(
        any.extract::<[i32; 1]>(),
        Err(AnyError::TypeMismatch { .. })
    ));
    assert_eq!(any.extract::<[i32; 2]>(), Ok([1, 2]));
}

#[test]
fn what_goes_beyond_its_bound_is_not_read_as_what_has_none() {
    let short = TypeCode::string(2);
    let too_long = String::from("long");
    let any = received(&short, &too_long);
    assert!(matches!(any.extract::<String>(), Err(AnyError::Cdr(_))));
    assert!(matches!(any.text(), Err(AnyError::Cdr(_))));
    let bounds = [TypeCode::sequence(&short, 0), TypeCode::sequence(&short, 2)];
    for type_code in bounds {
        let any = received(&type_code, &vec![too_long.clone(), too_long.clone()]);
        assert!(matches!(
            any.extract::<Vec<String>>(),
            Err(AnyError::Cdr(_))
        ));
    }
}

#[test]
fn an_any_of_nothing_travels() {
    for order in ORDERS {
        let sent = octets(&Any::default(), 0, order);
        assert_eq!(sent, [0, 0, 0, 0]);
        assert!(read(&sent, 0, order).unwrap().is_null());
    }
}

#[test]
fn an_alias_may_be_said_of_a_value_and_another_type_may_not() {
    let metres = TypeCode::alias("IDL:Metres:1.0", "Metres", &TypeCode::DOUBLE);
    let mut any = Any::new(&2.5f64).unwrap();
    any.set_type(&metres).unwrap();
    assert_eq!(any.type_code().kind(), TypeKind::Alias);
    assert_eq!(any.extract::<f64>(), Ok(2.5));
    assert!(matches!(
        any.set_type(&TypeCode::LONG),
        Err(AnyError::TypeMismatch { .. })
    ));
}

#[test]
fn memory_is_used_again_unless_somebody_else_has_it() {
    let first = octets(&Any::new(&vec![1i32; 100]).unwrap(), 0, ByteOrder::NATIVE);
    let second = octets(&Any::new(&vec![2i32; 50]).unwrap(), 0, ByteOrder::NATIVE);
    let mut any = Any::default();
    any.unmarshal_into(&mut Decoder::new(
        &first,
        ByteOrder::NATIVE,
        Coding::default(),
    ))
    .unwrap();
    let kept = any.clone();
    any.unmarshal_into(&mut Decoder::new(
        &second,
        ByteOrder::NATIVE,
        Coding::default(),
    ))
    .unwrap();
    assert_eq!(kept.extract::<Vec<i32>>(), Ok(vec![1; 100]));
    assert_eq!(any.extract::<Vec<i32>>(), Ok(vec![2; 50]));
}

#[test]
fn exceptions_are_read_with_and_without_their_repository_id() {
    let refused = TypeCode::exception(
        "IDL:Refused:1.0",
        "Refused",
        &[("code", TypeCode::SHORT), ("why", TypeCode::STRING)],
    );
    let any = Any::with_type(&refused, &Members(9, "closed".into())).unwrap();
    let sent = octets(&any, 0, ByteOrder::Big);
    let id = sent.windows(16).rposition(|at| at == b"IDL:Refused:1.0\0");
    assert!(id.is_some_and(|at| at > 40), "the id precedes the members");

    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    refused.marshal(&mut out).unwrap();
    Members(9, "closed".into()).marshal(&mut out).unwrap();
    let without = out.into_block().into_vec();
    for octets in [sent, without] {
        let any = read(&octets, 0, ByteOrder::Big).unwrap();
        assert_eq!(any.extract::<Members>(), Ok(Members(9, "closed".into())));
    }
}

#[test]
fn an_exception_without_a_name_keeps_its_members_in_another_order() {
    let nameless = TypeCode::exception("", "", &[("why", TypeCode::STRING)]);
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    nameless.marshal(&mut out).unwrap();
    // No id, and an empty string of the form without a NUL, which is written with one, just as an
    // empty id is.
    out.put_u32(0);
    let any = read(&out.into_block(), 0, ByteOrder::Big).unwrap();
    let written = octets(&any, 0, ByteOrder::Little);
    let again = read(&written, 0, ByteOrder::Little).unwrap();
    assert_eq!(octets(&again, 0, ByteOrder::Little), written);
}

#[derive(Debug, PartialEq)]
struct Members(i16, String);

impl Typed for Members {
    fn describe(types: &mut TypeBuilder) -> TypeIndex {
        types.exception("IDL:Refused:1.0", "Refused", |types| {
            vec![
                ("code", i16::describe(types)),
                ("why", String::describe(types)),
            ]
        })
    }
}

impl Marshal for Members {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.0.marshal(out)?;
        self.1.marshal(out)
    }
}

impl Unmarshal for Members {
    const MIN_SIZE: usize = 7;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        Ok(Self(i16::unmarshal(input)?, String::unmarshal(input)?))
    }
}

#[test]
fn text_is_extracted_whatever_its_bound_and_width() {
    let narrow = Any::with_type(&TypeCode::string(8), "Tom").unwrap();
    assert_eq!(narrow.extract::<String>().unwrap(), "Tom");
    assert_eq!(narrow.text().unwrap(), "Tom");
    let wide = Any::of_wide("Кики").unwrap();
    for order in ORDERS {
        let received = read(&octets(&wide, 1, order), 1, order).unwrap();
        assert_eq!(received.text().unwrap(), "Кики");
        assert_eq!(*received.type_code(), TypeCode::WSTRING);
    }
    assert!(matches!(
        Any::new(&3i32).unwrap().text(),
        Err(AnyError::TypeMismatch { .. })
    ));
}

#[test]
fn an_exception_of_no_octets_may_stand_where_the_state_of_a_value_ends() {
    let exception = TypeCode::exception("IDL:e:1.0", "e", &[]);
    // Without its id, as some ORBs write it.
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    exception.marshal(&mut out).unwrap();
    let octets = out.into_block();
    let mut input = Decoder::new(&octets, ByteOrder::Big, Coding::default());
    let without_id = Any::unmarshal(&mut input).unwrap();
    let base = TypeCode::value("IDL:b:1.0", "b", ValueModifier::None, None, &[]);
    // A truncatable value is written in chunks, of which the Any is the last.
    let type_code = TypeCode::value(
        "IDL:v:1.0",
        "v",
        ValueModifier::Truncatable,
        Some(&base),
        &[("any", TypeCode::ANY, Visibility::Public)],
    );
    let members = vec![Value::Any(Box::new(without_id))];
    let value = DynamicValue::create(&type_code, members).unwrap();
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    let written = Value::Valuetype(Some(value)).marshal(&type_code, &mut out);
    written.unwrap();
    let octets = out.into_block();
    let mut input = Decoder::new(&octets, ByteOrder::Big, Coding::default());
    let read = Value::unmarshal(&type_code, &mut input).unwrap();
    let Value::Valuetype(Some(read)) = read else {
        panic!("{read:?} is no value");
    };
    let (_, members) = DynamicValue::of(&read).unwrap();
    let [Value::Any(any)] = &members[..] else {
        panic!("{members:?} is no Any");
    };
    assert_eq!(*any.type_code(), exception);
    assert_eq!(any.value(), Ok(Value::Struct(Vec::new())));
}

/// Returns a valuetype of one long, truncatable to `base` if there is one.
fn value_of_long(id: &str, base: Option<&TypeCode>) -> TypeCode {
    let modifier = base.map_or(ValueModifier::None, |_| ValueModifier::Truncatable);
    let members = [("number", TypeCode::LONG, Visibility::Public)];
    TypeCode::value(id, "V", modifier, base, &members)
}

#[test]
fn a_derived_value_in_a_bases_place_stays_whole_in_another_encoding() {
    let base = value_of_long("IDL:Base:1.0", None);
    let derived = value_of_long("IDL:Derived:1.0", Some(&base));
    let pair = TypeCode::structure(
        "IDL:P:1.0",
        "P",
        &[("one", base.clone()), ("any", TypeCode::ANY)],
    );
    let made = |number: i32| {
        let members = vec![Value::Long(number), Value::Long(number + 1)];
        Value::Valuetype(Some(DynamicValue::create(&derived, members).unwrap()))
    };
    // One as a member, and one in an Any within the Any.
    let within = Any::of_value(&base, &made(3)).unwrap();
    let both = Value::Struct(vec![made(1), Value::Any(Box::new(within))]);
    let any = Any::of_value(&pair, &both).unwrap();
    for order in [ByteOrder::Big, ByteOrder::Little] {
        // Behind an octet nothing stands where it stood in the Any.
        let mut out = Encoder::new(Block::default(), order, Coding::default());
        out.put_u8(0);
        any.marshal(&mut out).unwrap();
        let octets = out.into_block().into_vec();
        let id = b"IDL:Derived:1.0";
        let found = octets.windows(id.len()).filter(|part| part == id).count();
        assert!(found >= 1, "{order:?}");
        // The numbers of both are there, the derived type's own among them.
        let number = |number: i32| match order {
            ByteOrder::Big => number.to_be_bytes(),
            ByteOrder::Little => number.to_le_bytes(),
        };
        for one in [1, 2, 3, 4] {
            let is_there = octets.windows(4).any(|part| part == number(one));
            assert!(is_there, "{one} in {order:?}");
        }
    }
}

#[test]
fn a_value_of_a_type_that_does_not_inherit_from_the_declared_one_is_refused() {
    struct Knows(TypeCode);
    impl Environment for Knows {
        fn share(&self) -> Arc<dyn Environment> {
            Arc::new(Self(self.0.clone()))
        }

        fn value_factory(&self, id: &str) -> Option<Arc<dyn ValueFactory>> {
            let is_it = self.0.id() == Ok(id);
            is_it.then(|| Arc::new(DynamicFactory::new(&self.0).unwrap()) as _)
        }
    }
    let base = value_of_long("IDL:Base:1.0", None);
    let derived = value_of_long("IDL:Derived:1.0", Some(&base));
    let other = value_of_long("IDL:Other:1.0", None);
    for (sent, is_admitted) in [(&base, true), (&derived, true), (&other, false)] {
        let count = DynamicValue::members_of(sent).unwrap().len();
        let members = vec![Value::Long(7); count];
        let value = Value::Valuetype(Some(DynamicValue::create(sent, members).unwrap()));
        let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
        value.marshal(sent, &mut out).unwrap();
        let octets = out.into_block();
        let knows = Knows(sent.clone());
        let coding = Coding {
            environment: Some(&knows),
            ..Coding::default()
        };
        let mut input = Decoder::new(&octets, ByteOrder::Big, coding);
        let read = Value::unmarshal(&base, &mut input);
        assert_eq!(read.is_ok(), is_admitted, "{sent}: {read:?}");
    }
}

#[test]
fn a_known_type_is_found_at_each_offset_and_in_either_order() {
    let values: Vec<(u8, Any)> = (0..3)
        .map(|number| (number, Any::new(&vec![i32::from(number); 9]).unwrap()))
        .collect();
    for order in ORDERS {
        for before in 0..9 {
            let block = Block::from_vec(vec![0xaa; before]);
            let mut out = Encoder::new(block, order, Coding::default());
            for (number, any) in &values {
                number.marshal(&mut out).unwrap();
                any.marshal(&mut out).unwrap();
            }
            let bytes = out.into_block();
            // The first time the type is decoded, then it is known.
            for _ in 0..2 {
                let mut input = Decoder::new(&bytes, order, Coding::default());
                input.skip(before).unwrap();
                for (number, any) in &values {
                    assert_eq!(u8::unmarshal(&mut input).unwrap(), *number);
                    let read = Any::unmarshal(&mut input).unwrap();
                    assert_eq!(read, *any);
                    let numbers: Vec<i32> = read.extract().unwrap();
                    assert_eq!(numbers, [i32::from(*number); 9]);
                }
                assert!(input.rest().is_empty());
            }
            for length in before..bytes.len() {
                let mut input = Decoder::new(&bytes[..length], order, Coding::default());
                input.skip(before).unwrap();
                let refused = values.iter().try_for_each(|_| {
                    u8::unmarshal(&mut input)?;
                    Any::unmarshal(&mut input).map(drop)
                });
                assert!(refused.is_err(), "{length} of {} octets", bytes.len());
            }
        }
    }
}

#[test]
fn a_known_type_longer_than_a_limit_is_refused_as_an_unknown_one_is() {
    let any = Any::new(&vec![1_i32]).unwrap();
    let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
    any.marshal(&mut out).unwrap();
    let bytes = out.into_block();
    let mut input = Decoder::new(&bytes, ByteOrder::NATIVE, Coding::default());
    assert_eq!(Any::unmarshal(&mut input).unwrap(), any);
    let limits = Limits {
        sequence: 4,
        ..Limits::DEFAULT
    };
    let coding = Coding {
        limits: &limits,
        ..Coding::default()
    };
    let mut input = Decoder::new(&bytes, ByteOrder::NATIVE, coding);
    assert!(Any::unmarshal(&mut input).is_err());
}

#[test]
fn values_of_all_sizes_are_kept_in_their_own_memory() {
    for count in [0, 1, 8, 9, 100, 16_383, 16_384, 100_000] {
        let numbers: Vec<i32> = (0..count).collect();
        let any = Any::new(&numbers).unwrap();
        let another = Any::new(&vec![7_i32; 3]).unwrap();
        assert_eq!(any.extract::<Vec<i32>>().unwrap(), numbers);
        assert_eq!(another.extract::<Vec<i32>>().unwrap(), [7; 3]);
    }
}

#[test]
fn type_codes_of_vectors_and_arrays_are_those_of_their_descriptions() {
    fn check<T: Typed + ?Sized>() {
        for _ in 0..2 {
            assert_eq!(T::type_code(), TypeBuilder::of::<T>());
        }
    }
    check::<Vec<i32>>();
    check::<Vec<u8>>();
    check::<[Reading]>();
    check::<Vec<Vec<Reading>>>();
    check::<Vec<String>>();
    check::<[Reading; 3]>();
    check::<[Reading; 4]>();
    check::<[Vec<i32>; 3]>();
    check::<[Vec<i32>; 4]>();
    check::<Vec<[Vec<i32>; 4]>>();
    check::<Vec<i8>>();
    assert_ne!(<[Vec<i32>; 3]>::type_code(), <[Vec<i32>; 4]>::type_code());
}
