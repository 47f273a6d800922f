//! Tests of DynAnys of each kind: a value is read, changed part by part, and converted back to an
//! Any.
#![allow(clippy::unwrap_used)]

use crate::support;

use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};
use punctual_any::{Any, Label, TypeCode, TypeKind, UnionValue, Value, ValueModifier, Visibility};
use punctual_cdr::Char;
use punctual_dynamic::{DynAny, DynAnyError};
use support::{Dice, any_type, any_value};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_value_goes_through_a_dyn_any_unchanged(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let type_code = any_type(&mut dice, 3, false);
        let value = any_value(&mut dice, &type_code, 3);
        let came = Any::of_value(&type_code, &value).unwrap();
        let mut taken = DynAny::new(&came).unwrap();
        prop_assert_eq!(&taken.to_any().unwrap(), &came);
        prop_assert!(taken == taken.copy().unwrap());
        // Each component is a value by itself.
        let mut seen = 0;
        while taken.seek(seen) {
            let component = taken.current_component().unwrap().unwrap();
            let again = DynAny::new(&component.to_any().unwrap()).unwrap();
            prop_assert!(*component == again);
            seen += 1;
        }
        prop_assert_eq!(seen, taken.component_count());
        prop_assert_eq!(taken.position(), None);
    }

    #[test]
    fn each_type_has_a_value_to_begin_with(seed in any::<u64>()) {
        let type_code = any_type(&mut Dice::new(seed), 3, true);
        let begun = DynAny::of_type(&type_code).unwrap();
        let sent = begun.to_any().unwrap();
        prop_assert!(DynAny::new(&sent).unwrap().to_any().is_ok());
    }
}

fn point() -> TypeCode {
    TypeCode::structure(
        "IDL:Point:1.0",
        "Point",
        &[("x", TypeCode::LONG), ("name", TypeCode::string(4))],
    )
}

#[test]
fn primitive_values_are_their_own_place() {
    let mut number = DynAny::of_type(&TypeCode::LONG).unwrap();
    assert_eq!(number.get::<i32>(), Ok(0));
    number.insert(&7i32).unwrap();
    assert_eq!(number.to_any().unwrap().extract::<i32>(), Ok(7));
    assert_eq!(number.insert(&7i16), Err(DynAnyError::TypeMismatch));
    assert_eq!(number.get::<String>(), Err(DynAnyError::TypeMismatch));
    assert_eq!(
        number.current_component().unwrap_err(),
        DynAnyError::TypeMismatch
    );
    assert_eq!(number.component_count(), 0);
    assert!(!number.seek(0) && !number.next());
}

#[test]
fn members_of_a_struct_are_set_one_after_the_other() {
    let mut point = DynAny::of_type(&point()).unwrap();
    assert_eq!(point.position(), Some(0));
    point.insert(&3i32).unwrap();
    assert_eq!(point.insert("text"), Err(DynAnyError::TypeMismatch));
    assert!(point.next());
    assert_eq!(
        point.as_struct().unwrap().current_member_name().unwrap(),
        "name"
    );
    assert_eq!(
        point.as_struct().unwrap().current_member_kind(),
        Ok(TypeKind::String)
    );
    point.insert("Tom").unwrap();
    assert_eq!(point.insert("too long"), Err(DynAnyError::InvalidValue));
    assert!(!point.next());
    assert_eq!(point.insert("x"), Err(DynAnyError::InvalidValue));
    point.rewind();
    assert_eq!(point.get::<i32>(), Ok(3));
    let expected = Value::Struct(vec![Value::Long(3), Value::String("Tom".into())]);
    assert_eq!(point.to_value(), Ok(expected));
}

#[test]
fn members_of_a_struct_are_set_all_at_once_or_not_at_all() {
    let mut point = DynAny::of_type(&point()).unwrap();
    let long = |value: i32| Any::new(&value).unwrap();
    let text = Any::with_type(&TypeCode::string(4), "Kiki").unwrap();
    let mut view = point.as_struct_mut().unwrap();
    let named = |first: &str| vec![(first.to_owned(), long(1)), (String::new(), text.clone())];
    assert_eq!(view.set_members(&named("x")), Ok(()));
    assert_eq!(
        view.set_members(&named("y")),
        Err(DynAnyError::TypeMismatch)
    );
    assert_eq!(
        view.set_members(&named("x")[..1]),
        Err(DynAnyError::InvalidValue)
    );
    let wrong = vec![(String::new(), text.clone()), (String::new(), long(2))];
    assert_eq!(view.set_members(&wrong), Err(DynAnyError::TypeMismatch));
    assert_eq!(view.member_mut("x").unwrap().get::<i32>(), Ok(1));
    let members = point.as_struct().unwrap().members().unwrap();
    assert_eq!(members[1], ("name".to_owned(), text));
    assert!(point.as_union().is_none() && point.as_sequence().is_none());
}

fn food() -> TypeCode {
    TypeCode::union_(
        "IDL:Food:1.0",
        "Food",
        &TypeCode::CHAR,
        &[
            (Label::from('k'), "kilos", TypeCode::DOUBLE),
            (Label::from('p'), "pieces", TypeCode::LONG),
            (Label::from('q'), "pieces", TypeCode::LONG),
        ],
    )
}

fn char_of(letter: u8) -> DynAny {
    DynAny::new(&Any::new(&Char(letter)).unwrap()).unwrap()
}

#[test]
fn a_union_keeps_its_member_as_long_as_the_discriminator_chooses_it() {
    let mut food = DynAny::of_type(&food()).unwrap();
    assert_eq!(food.component_count(), 2);
    let mut view = food.as_union_mut().unwrap();
    assert_eq!(view.member_name().unwrap(), "kilos");
    view.set_discriminator(&char_of(b'p')).unwrap();
    assert_eq!(view.member_kind(), Ok(TypeKind::Long));
    view.member_mut().unwrap().insert(&3i32).unwrap();
    view.set_discriminator(&char_of(b'q')).unwrap();
    assert_eq!(view.member_mut().unwrap().get::<i32>(), Ok(3));
    view.set_discriminator(&char_of(b'k')).unwrap();
    assert_eq!(view.member_mut().unwrap().get::<f64>(), Ok(0.0));
    let other = DynAny::of_type(&TypeCode::LONG).unwrap();
    assert_eq!(
        view.set_discriminator(&other),
        Err(DynAnyError::TypeMismatch)
    );
    assert_eq!(food.position(), Some(1));
}

#[test]
fn a_union_without_a_default_member_can_have_no_member() {
    let mut food = DynAny::of_type(&food()).unwrap();
    let mut view = food.as_union_mut().unwrap();
    assert_eq!(view.set_to_default_member(), Err(DynAnyError::TypeMismatch));
    view.set_to_no_active_member().unwrap();
    assert!(view.has_no_active_member() && !view.is_set_to_default_member());
    assert_eq!(view.member().unwrap_err(), DynAnyError::InvalidValue);
    assert_eq!((food.component_count(), food.position()), (1, Some(0)));
    let sent = food.to_any().unwrap();
    assert!(matches!(sent.value().unwrap(), Value::Union(union) if union.member.is_none()));
}

#[test]
fn a_union_with_a_default_member_always_has_one() {
    let kind = TypeCode::enumeration("IDL:Kind:1.0", "Kind", &["a", "b"]);
    let members = [
        (Label::Value(0), "x", TypeCode::LONG),
        (Label::Default, "rest", TypeCode::STRING),
    ];
    let type_code = TypeCode::union_("IDL:U:1.0", "U", &kind, &members);
    let mut union = DynAny::of_type(&type_code).unwrap();
    let mut view = union.as_union_mut().unwrap();
    assert_eq!(
        view.set_to_no_active_member(),
        Err(DynAnyError::TypeMismatch)
    );
    view.set_to_default_member().unwrap();
    assert!(view.is_set_to_default_member());
    assert_eq!(view.discriminator_kind(), TypeKind::Enum);
    let expected = UnionValue {
        discriminator: 1,
        member: Some(Value::String(String::new())),
    };
    assert_eq!(union.to_value(), Ok(Value::Union(Box::new(expected))));
}

#[test]
fn a_sequence_grows_by_what_its_elements_begin_as_up_to_its_bound() {
    let mut list = DynAny::of_type(&TypeCode::sequence(&TypeCode::SHORT, 3)).unwrap();
    assert_eq!((list.component_count(), list.position()), (0, None));
    assert_eq!(list.insert(&1i16), Err(DynAnyError::InvalidValue));
    let mut view = list.as_sequence_mut().unwrap();
    assert_eq!(view.set_length(4), Err(DynAnyError::InvalidValue));
    view.set_length(2).unwrap();
    assert_eq!(list.position(), Some(0));
    list.insert(&5i16).unwrap();
    assert!(list.next());
    let mut view = list.as_sequence_mut().unwrap();
    view.set_length(1).unwrap();
    assert_eq!(view.element_mut(0).unwrap().get::<i16>(), Ok(5));
    assert_eq!(list.position(), None);
    let shorts = [1i16, 2, 3].map(|value| Any::new(&value).unwrap());
    let mut view = list.as_sequence_mut().unwrap();
    view.set_elements(&shorts).unwrap();
    assert_eq!(
        view.set_elements(&[Any::new(&1i32).unwrap()]),
        Err(DynAnyError::TypeMismatch)
    );
    assert_eq!(view.length(), 3);
    let sent = list.to_any().unwrap();
    assert_eq!(
        sent.value(),
        Ok(Value::Sequence(
            [1, 2, 3].map(Value::Short).into_iter().collect()
        ))
    );
}

#[test]
fn an_array_has_its_length() {
    let mut array = DynAny::of_type(&TypeCode::array(&TypeCode::OCTET, 3)).unwrap();
    let mut view = array.as_sequence_mut().unwrap();
    assert_eq!(view.length(), 3);
    assert_eq!(view.set_length(2), Err(DynAnyError::InvalidValue));
    view.element_mut(1).unwrap().insert(&9u8).unwrap();
    assert_eq!(array.to_any().unwrap().extract::<[u8; 3]>(), Ok([0, 9, 0]));
}

#[test]
fn enums_are_set_by_name_or_number() {
    let type_code = TypeCode::enumeration("IDL:Kind:1.0", "Kind", &["cat", "dog"]);
    let mut kind = DynAny::of_type(&type_code).unwrap();
    let mut view = kind.as_enum_mut().unwrap();
    assert_eq!(view.as_string().unwrap(), "cat");
    view.set_as_string("dog").unwrap();
    assert_eq!(view.as_ulong(), Ok(1));
    assert_eq!(view.set_as_string("fish"), Err(DynAnyError::InvalidValue));
    assert_eq!(view.set_as_ulong(2), Err(DynAnyError::InvalidValue));
    assert_eq!(kind.to_value(), Ok(Value::Enum(1)));
}

#[test]
fn digits_that_a_fixed_point_type_lacks_are_cut_behind_the_point_and_refused_before_it() {
    let mut price = DynAny::of_type(&TypeCode::fixed(5, 2)).unwrap();
    let mut view = price.as_fixed_mut().unwrap();
    assert_eq!(view.set_value("12.5"), Ok(true));
    assert_eq!(view.set_value("12.567"), Ok(false));
    assert_eq!(view.value().unwrap().to_string(), "12.56");
    assert_eq!(view.set_value("1000"), Err(DynAnyError::InvalidValue));
    assert_eq!(view.set_value("many"), Err(DynAnyError::TypeMismatch));
}

fn node() -> TypeCode {
    TypeCode::value(
        "IDL:Node:1.0",
        "Node",
        ValueModifier::None,
        None,
        &[
            (
                "next",
                TypeCode::recursive("IDL:Node:1.0"),
                Visibility::Public,
            ),
            ("number", TypeCode::LONG, Visibility::Private),
        ],
    )
}

#[test]
fn a_valuetype_is_null_until_it_is_made_a_value() {
    let mut first = DynAny::of_type(&node()).unwrap();
    assert_eq!(first.component_count(), 0);
    let mut view = first.as_value_mut().unwrap();
    assert!(view.is_null());
    view.set_to_value().unwrap();
    assert_eq!(view.current_member_name().unwrap(), "next");
    assert!(first.next());
    first.insert(&7i32).unwrap();
    first.rewind();
    let next = first.current_component().unwrap().unwrap();
    next.as_value_mut().unwrap().set_to_value().unwrap();
    let copy = first.copy().unwrap();
    let mut copy = copy;
    let members = copy.as_value_mut().unwrap().members().unwrap();
    assert_eq!(members[1].1.extract::<i32>(), Ok(7));
    assert_ne!(members[0].1.value(), Ok(Value::Valuetype(None)));
    first.as_value_mut().unwrap().set_to_null();
    assert_eq!(first.to_value(), Ok(Value::Valuetype(None)));
    assert!(!copy.as_value().unwrap().is_null(), "a copy shares nothing");
}

#[test]
fn a_boxed_value_has_one_component() {
    let type_code = TypeCode::value_box("IDL:Name:1.0", "Name", &TypeCode::STRING);
    let mut boxed = DynAny::of_type(&type_code).unwrap();
    let name = Any::new("Tom").unwrap();
    let mut view = boxed.as_value_mut().unwrap();
    view.set_members(&[(String::new(), name)]).unwrap();
    assert_eq!(boxed.component_count(), 1);
    assert_eq!(boxed.get::<String>().unwrap(), "Tom");
}

#[test]
fn values_are_assigned_between_equivalent_types_only() {
    let alias = TypeCode::alias("IDL:Place:1.0", "Place", &point());
    let mut one = DynAny::of_type(&point()).unwrap();
    let mut other = DynAny::of_type(&alias).unwrap();
    other.insert(&9i32).unwrap();
    one.assign(&other).unwrap();
    assert_eq!(one.get::<i32>(), Ok(9));
    assert!(one == other);
    let number = DynAny::of_type(&TypeCode::LONG).unwrap();
    assert_eq!(one.assign(&number), Err(DynAnyError::TypeMismatch));
    assert_eq!(
        one.from_any(&Any::new(&1i32).unwrap()),
        Err(DynAnyError::TypeMismatch)
    );
}

#[test]
fn there_is_no_dyn_any_of_what_does_not_travel() {
    for type_code in [
        TypeCode::native("IDL:N:1.0", "N"),
        TypeCode::local_interface("IDL:L:1.0", "L"),
        TypeCode::recursive("IDL:R:1.0"),
        TypeCode::array(&TypeCode::VOID, 2),
    ] {
        assert_eq!(
            DynAny::of_type(&type_code).unwrap_err(),
            DynAnyError::InconsistentTypeCode
        );
    }
}
