//! Tests of the Debug output of Anys that hold valuetypes.
#![allow(clippy::unwrap_used)]

use punctual_any::{Any, DynamicValue, TypeCode, Value, ValueModifier, Visibility};
use punctual_cdr::ValueRef;

/// Makes `valuetype Node { public long number; public string text; private Node next; };`.
fn node_type() -> TypeCode {
    let next = TypeCode::recursive("IDL:Node:1.0");
    TypeCode::value(
        "IDL:Node:1.0",
        "Node",
        ValueModifier::None,
        None,
        &[
            ("number", TypeCode::LONG, Visibility::Public),
            ("text", TypeCode::STRING, Visibility::Public),
            ("next", next, Visibility::Private),
        ],
    )
}

fn node(number: i32, text: &str, next: Option<ValueRef>) -> Vec<Value> {
    vec![
        Value::Long(number),
        Value::String(text.to_owned()),
        Value::Valuetype(next),
    ]
}

fn shown(type_code: &TypeCode, value: ValueRef) -> String {
    let any = Any::of_value(type_code, &Value::Valuetype(Some(value))).unwrap();
    format!("{any:?}")
}

#[test]
fn the_state_of_a_value_is_shown_member_by_member() {
    let type_code = node_type();
    let last = DynamicValue::create(&type_code, node(2, "last", None)).unwrap();
    let members = node(1, "first", Some(last.clone()));
    let first = DynamicValue::create_beside(&last, &type_code, members).unwrap();
    let text = shown(&type_code, first);
    let state = concat!(
        "Valuetype(IDL:Node:1.0 { number: Long(1), text: String(\"first\"), next: ",
        "Valuetype(IDL:Node:1.0 { number: Long(2), text: String(\"last\"), next: ",
        "Valuetype(None) }) }))"
    );
    assert!(text.starts_with("Any("), "{text}");
    assert!(text.ends_with(state), "{text}");
}

#[test]
fn a_value_that_leads_back_to_itself_is_shown_once() {
    let type_code = node_type();
    let ring = DynamicValue::create(&type_code, node(1, "ring", None)).unwrap();
    DynamicValue::assign(&ring, node(1, "ring", Some(ring.clone()))).unwrap();
    let text = shown(&type_code, ring);
    assert_eq!(text.matches("number: ").count(), 1, "{text}");
    assert!(
        text.ends_with("next: Valuetype(IDL:Node:1.0 again) }))"),
        "{text}"
    );
}

#[test]
fn of_a_large_graph_only_the_beginning_is_shown() {
    let type_code = node_type();
    let mut list = DynamicValue::create(&type_code, node(0, "ß", None)).unwrap();
    for number in 1..1000 {
        let members = node(number, &"ß".repeat(number as usize % 7), Some(list.clone()));
        list = DynamicValue::create_beside(&list, &type_code, members).unwrap();
    }
    let text = shown(&type_code, list);
    assert!(text.contains("number: Long(999)"), "{text}");
    assert!(text.ends_with("…)"), "{text}");
    assert!((1500..2500).contains(&text.len()), "{}", text.len());

    let long = "x".repeat(1_000_000);
    let one = DynamicValue::create(&type_code, node(1, &long, None)).unwrap();
    assert!(shown(&type_code, one).len() < 2500);
}

#[test]
fn values_are_shown_where_they_are_parts_of_others() {
    let type_code = node_type();
    let sequence = TypeCode::sequence(&type_code, 0);
    let one = DynamicValue::create(&type_code, node(5, "in a list", None)).unwrap();
    let values = vec![Value::Valuetype(Some(one)), Value::Valuetype(None)];
    let list = Value::Sequence(values.into());
    let any = Any::of_value(&sequence, &list).unwrap();
    let text = format!("{any:?}");
    assert!(
        text.contains("Sequence([Valuetype(IDL:Node:1.0 { number: Long(5)"),
        "{text}"
    );
    assert!(text.ends_with(", Valuetype(None)]))"), "{text}");
}
