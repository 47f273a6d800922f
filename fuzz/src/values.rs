//! Fuzz target for graphs of values: shared, cyclic, chunked, truncated, in both byte orders.

use punctual_any::{Any, DynamicValue, TypeCode, Value, ValueModifier, Visibility};
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Decoder, Encoder, Limits, ValueRef};
use std::collections::HashSet;
use std::sync::OnceLock;

/// Returns the value types as which fuzz inputs are decoded.
fn types() -> &'static [TypeCode; 4] {
    static TYPES: OnceLock<[TypeCode; 4]> = OnceLock::new();
    TYPES.get_or_init(|| {
        let public = Visibility::Public;
        let node = TypeCode::value(
            "IDL:fuzz/Node:1.0",
            "Node",
            ValueModifier::None,
            None,
            &[
                ("number", TypeCode::LONG, public),
                ("next", TypeCode::recursive("IDL:fuzz/Node:1.0"), public),
                ("text", TypeCode::STRING, public),
                (
                    "others",
                    TypeCode::sequence(&TypeCode::recursive("IDL:fuzz/Node:1.0"), 0),
                    public,
                ),
            ],
        );
        let longer = TypeCode::value(
            "IDL:fuzz/Longer:1.0",
            "Longer",
            ValueModifier::Truncatable,
            Some(&node),
            &[
                ("more", TypeCode::DOUBLE, public),
                ("any", TypeCode::ANY, public),
            ],
        );
        let boxed = TypeCode::value_box(
            "IDL:fuzz/Box:1.0",
            "Box",
            &TypeCode::sequence(&TypeCode::SHORT, 0),
        );
        let all = TypeCode::structure(
            "IDL:fuzz/All:1.0",
            "All",
            &[
                ("node", node.clone()),
                ("longer", longer.clone()),
                ("boxed", boxed.clone()),
            ],
        );
        [node, longer, boxed, all]
    })
}

/// Runs the target on one input.
///
/// # Panics
/// The input breaks a property.
#[allow(clippy::mutable_key_type)] // What is hashed is where it is.
pub fn run(input: &[u8]) {
    let (how, octets) = crate::choice(input);
    let limits = Limits {
        nesting: 24,
        ..Limits::default()
    };
    let coding = Coding {
        limits: &limits,
        ..Coding::default()
    };
    let order = ByteOrder::from_flag(how & 1);
    let [node, longer, boxed, all] = types();
    let type_code = [node, longer, boxed, all][usize::from(how >> 1) % 4];
    let mut any = Any::default();
    let skipped = any.unmarshal_as(type_code, &mut Decoder::new(octets, order, coding));
    let read = Value::unmarshal(type_code, &mut Decoder::new(octets, order, coding));
    if skipped.is_ok() {
        // In the other byte order the value has to be written anew.
        let other = ByteOrder::from_flag(!how & 1);
        let mut out = Encoder::new(Block::default(), other, coding);
        if any.marshal_value(&mut out).is_ok() {
            let sent = out.into_block();
            let mut input = Decoder::new(&sent, other, coding);
            let received = Any::default().unmarshal_as(type_code, &mut input);
            assert_eq!(received, Ok(()));
        }
    }
    let Ok(value) = read else {
        return;
    };
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, coding);
    if value.marshal(type_code, &mut out).is_ok() {
        let written = out.into_block();
        let mut input = Decoder::new(&written, ByteOrder::Big, coding);
        let again = Value::unmarshal(type_code, &mut input);
        assert!(again.is_ok(), "what was written is not read: {again:?}");
    }
    let mut seen = HashSet::new();
    look_at(&value, &mut seen);
    // When a graph is dropped, handles to values within it stay, and are empty.
    let within: Vec<ValueRef> = seen.iter().flat_map(values_of).collect();
    drop((value, seen));
    for gone in within
        .iter()
        .filter(|value| value.repository_id().is_empty())
    {
        assert!(gone.factory().kinds().is_empty() && DynamicValue::of(gone).is_none());
        assert_eq!(format!("{gone:?}"), "ValueRef()");
        let other = gone.beside(gone.factory(), gone.factory().create());
        let mut out = Encoder::new(Block::default(), ByteOrder::Big, coding);
        let written = Value::Valuetype(Some(other)).marshal(node, &mut out);
        assert!(written.is_err() || !out.into_block().is_empty());
    }
}

/// Returns the values that are members of a value.
fn values_of(value: &ValueRef) -> Vec<ValueRef> {
    let members = DynamicValue::of(value).map(|(_, members)| members);
    let members = members.into_iter().flatten();
    let values = members.filter_map(|member| match member {
        Value::Valuetype(value) => value,
        _ => None,
    });
    values.collect()
}

/// Visits each value of a graph once: checks that it has the members of its type, and that it is
/// unchanged after its members were read and set again.
#[allow(clippy::mutable_key_type)] // What is hashed is where it is.
fn look_at(value: &Value, seen: &mut HashSet<ValueRef>) {
    match value {
        Value::Sequence(values) => {
            let looked = values.each(|value| {
                look_at(value, seen);
                Ok::<(), CdrError>(())
            });
            looked.expect("it was checked");
        }
        Value::Struct(values) => values.iter().for_each(|value| look_at(value, seen)),
        Value::Valuetype(Some(value)) if seen.len() < 200 && seen.insert(value.clone()) => {
            let Some((type_code, members)) = DynamicValue::of(value) else {
                return;
            };
            let all = DynamicValue::members_of(&type_code).expect("it is a valuetype");
            assert_eq!(all.len(), members.len());
            let id = type_code.original_type();
            assert_eq!(Ok(value.repository_id().as_str()), id.id());
            assert!(
                value
                    .downcast::<ValueRef>()
                    .is_some_and(|same| same == *value)
            );
            assert_eq!(value.view::<u8>(), None);
            let beside = DynamicValue::create_beside(value, &type_code, members.clone());
            let alone = DynamicValue::create(&type_code, members.clone());
            for made in [beside, alone] {
                let made = made.expect("it has all members");
                assert!(made != *value && made.repository_id() == value.repository_id());
            }
            assert!(DynamicValue::create(&type_code, Vec::new()).is_err());
            assert!(DynamicValue::assign(value, Vec::new()).is_err());
            assert!(DynamicValue::assign(value, members.clone()).is_ok());
            members.iter().for_each(|member| look_at(member, seen));
        }
        _ => {}
    }
}
