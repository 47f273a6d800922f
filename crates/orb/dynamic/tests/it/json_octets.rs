//! Tests of JSON that is read into the octets of an Any, compared with reading it into values.
#![allow(clippy::unwrap_used)]

use crate::support;

use proptest::prelude::{ProptestConfig, any, prop_assert_eq, proptest};
use punctual_any::{Any, DynamicValue, TypeCode, Value, ValueModifier, Visibility};
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Encoder, Marshal};
use punctual_dynamic::json::{
    Json, JsonError, Names, any_from_json, any_from_json_text, from_json, from_json_text,
    members_of_json,
};
use serde_json::Value as JsonValue;
use support::{Dice, any_type, any_value};

/// Resolver of type names that knows a fixed list of types.
struct Known(Vec<TypeCode>);

impl Names for Known {
    fn type_code(&self, name: &str) -> Option<TypeCode> {
        let mut known = self.0.iter();
        known.find(|one| one.to_string() == name).cloned()
    }
}

fn octets(any: &Any) -> Result<Vec<u8>, CdrError> {
    let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
    any.marshal(&mut out)?;
    Ok(out.into_block().into_vec())
}

/// Adds a type, and those that it consists of.
fn add(type_code: &TypeCode, known: &mut Vec<TypeCode>) {
    if let Ok(of) = type_code.content_type() {
        add(&of, known);
    }
    known.push(type_code.clone());
}

/// Adds to `known` all types that the JSON text of a value may name.
fn types_in(type_code: &TypeCode, value: &Value, known: &mut Vec<TypeCode>) {
    add(type_code, known);
    match value {
        Value::Any(any) => types_in(any.type_code(), &any.value().unwrap(), known),
        Value::TypeCode(named) => add(named, known),
        Value::Sequence(values) => {
            let of = type_code.original_type().content_type().unwrap();
            let values = values.to_vec().unwrap();
            values.iter().for_each(|value| types_in(&of, value, known));
        }
        Value::Struct(values) => {
            for (index, value) in values.iter().enumerate() {
                let of = type_code.original_type().member_type(index).unwrap();
                types_in(&of, value, known);
            }
        }
        Value::Union(union) => {
            let original = type_code.original_type();
            let chosen = original.member_chosen(union.discriminator).unwrap();
            if let (Some(index), Some(value)) = (chosen, &union.member) {
                types_in(&original.member_type(index).unwrap(), value, known);
            }
        }
        Value::Valuetype(Some(value)) => {
            let (own, members) = DynamicValue::of(value).unwrap();
            let types = DynamicValue::members_of(&own).unwrap();
            for ((_, of), value) in types.iter().zip(&members) {
                types_in(of, value, known);
            }
        }
        _ => {}
    }
}

/// Returns the JSON with the members of objects in another order, and with spaces.
fn shuffled(dice: &mut Dice, json: &JsonValue) -> String {
    match json {
        JsonValue::Array(elements) => {
            let elements: Vec<_> = elements.iter().map(|one| shuffled(dice, one)).collect();
            format!("[ {}\n]", elements.join(" ,"))
        }
        JsonValue::Object(members) => {
            let mut members: Vec<_> = members
                .iter()
                .map(|(name, json)| {
                    let name = JsonValue::from(name.as_str());
                    (dice.roll(), format!("{name}\t: {}", shuffled(dice, json)))
                })
                .collect();
            members.sort();
            let members: Vec<_> = members.into_iter().map(|(_, member)| member).collect();
            format!("{{ {} }}", members.join(",\r\n"))
        }
        json => json.to_string(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_any_has_the_octets_of_the_value_that_is_read_from_the_same_json(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let type_code = any_type(&mut dice, 3, true);
        let value = any_value(&mut dice, &type_code, 4);
        let json = serde_json::to_value(Json::new(&type_code, &value)).unwrap();
        let mut types = Vec::new();
        types_in(&type_code, &value, &mut types);
        let known = Known(types);
        let text = shuffled(&mut dice, &json);
        let value = from_json_text(&type_code, &text, &known).unwrap();
        let again = serde_json::to_value(Json::new(&type_code, &value)).unwrap();
        prop_assert_eq!(&again, &json, "{}", text);
        let of_value = Any::of_value(&type_code, &value).unwrap();
        let read = any_from_json_text(&type_code, &text, &known).unwrap();
        prop_assert_eq!(octets(&read), octets(&of_value), "{}", text);
    }
}

fn node() -> TypeCode {
    let next = TypeCode::recursive("IDL:Node:1.0");
    TypeCode::value(
        "IDL:Node:1.0",
        "Node",
        ValueModifier::None,
        None,
        &[
            ("next", next, Visibility::Public),
            ("any", TypeCode::ANY, Visibility::Public),
        ],
    )
}

fn read(type_code: &TypeCode, text: &str) -> Result<Any, JsonError> {
    any_from_json_text(type_code, text, &Known(vec![node()]))
}

/// Returns the JSON text of a value that was read from the given JSON text.
fn through(type_code: &TypeCode, text: &str) -> String {
    let any = read(type_code, text).unwrap();
    let value = any.value().unwrap();
    serde_json::to_string(&Json::new(type_code, &value)).unwrap()
}

#[test]
fn valuetypes_that_are_mentioned_again_are_indirections() {
    let ring = r#"{"$type":"Node","next":{"$type":"Node","next":{"$ref":""},"any":1},"any":null}"#;
    let ring = ring.replace(":1}", r#":{"type":"long","value":1}}"#);
    assert_eq!(through(&node(), &ring), ring);
    let nodes = TypeCode::sequence(&node(), 0);
    let shared = r#"[{"$type":"Node","next":null,"any":null},{"$ref":"[0]"},null,{"$ref":"[0]"}]"#;
    assert_eq!(through(&nodes, shared), shared);
    let forward = r#"[{"$ref":"[1]"},{"next":null,"any":null}]"#;
    let error = read(&nodes, forward).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`[0]`: no valuetype has begun at `[1]` before this"
    );
}

#[test]
fn an_any_has_its_own_copy_of_a_value_that_is_elsewhere_too() {
    let anys = TypeCode::sequence(&TypeCode::ANY, 0);
    let first = r#"{"type":"Node","value":{"$type":"Node","next":null,"any":null}}"#;
    let text = format!(r#"[{first},{{"type":"Node","value":{{"$ref":"[0].value"}}}}]"#);
    assert_eq!(through(&anys, &text), format!("[{first},{first}]"));
    // The enclosing value is not complete yet.
    let within = r#"{"next":null,"any":{"type":"Node","value":{"$ref":""}}}"#;
    assert_eq!(read(&node(), within).unwrap_err().path, ".any");
}

#[test]
fn the_last_one_counts_of_members_with_one_name() {
    let pair = TypeCode::structure(
        "IDL:P:1.0",
        "P",
        &[("a", TypeCode::LONG), ("b", TypeCode::LONG)],
    );
    let twice = r#"{"b":[],"a":1,"\u0062":2,"a":3}"#;
    assert_eq!(through(&pair, twice), r#"{"a":3,"b":2}"#);
    // Even if the first code set would suffice.
    assert_eq!(
        read(&pair, r#"{"a":1,"b":2,"a":""}"#).unwrap_err().path,
        ".a"
    );
}

#[test]
fn what_no_code_set_has_is_a_value_and_no_any() {
    let both = TypeCode::structure(
        "IDL:P:1.0",
        "P",
        &[("c", TypeCode::CHAR), ("s", TypeCode::STRING)],
    );
    assert_eq!(
        through(&both, r#"{"c":"é","s":"ü"}"#),
        r#"{"c":"é","s":"ü"}"#
    );
    let text = r#"{"c":"é","s":"€"}"#;
    assert!(from_json_text(&both, text, &Known(Vec::new())).is_ok());
    let error = read(&both, text).unwrap_err();
    assert_eq!(
        error.to_string(),
        CdrError::CharacterNotInCodeSet.to_string()
    );
    // Each Any has a code set of its own, and no code set has both characters.
    let anys = r#"[{"type":"char","value":"é"},"€"]"#;
    let anys_type = TypeCode::sequence(&TypeCode::ANY, 0);
    assert!(from_json_text(&anys_type, anys, &Known(Vec::new())).is_ok());
    let within = format!(r#"{{"type":"sequence<any>","value":{anys}}}"#);
    let error = read(
        &TypeCode::sequence(&TypeCode::ANY, 0),
        &format!("[1,{within}]"),
    );
    assert_eq!(error.unwrap_err().path, "[1]");
}

#[test]
fn json_is_as_deep_as_serde_reads_it() {
    let deep = |levels| (0..levels).fold(TypeCode::LONG, |of, _| TypeCode::sequence(&of, 0));
    let text = |levels| "[".repeat(levels) + &"]".repeat(levels);
    assert_eq!(through(&deep(60), &text(60)), text(60));
    // An Any may not be read at that depth; a value is made nonetheless.
    assert!(from_json_text(&deep(127), &text(127), &Known(Vec::new())).is_ok());
    let error = read(&deep(128), &text(128)).unwrap_err();
    assert!(
        error
            .message
            .ends_with("the text is not JSON: recursion limit exceeded at line 1 column 128"),
        "{error}"
    );
    let tree = serde_json::from_str(&text(127)).unwrap();
    assert!(from_json(&deep(127), &tree, &Known(Vec::new())).is_ok());
}

#[test]
fn members_of_an_object_are_read_each_by_its_type() {
    let members = members_of_json(r#" {"b": [1, 2] , "a": "x", "b": 7}"#);
    let members = members.unwrap().unwrap();
    let names: Vec<_> = members.keys().map(|name| &**name).collect();
    assert_eq!(names, ["a", "b"]);
    let read = |type_code: &TypeCode, name: &str| {
        let any = any_from_json(type_code, members[name], &Known(Vec::new()));
        any.map(|any| any.value().unwrap())
    };
    assert_eq!(read(&TypeCode::LONG, "b"), Ok(Value::Long(7)));
    assert_eq!(read(&TypeCode::STRING, "a"), Ok(Value::String("x".into())));
    // The text is JSON, and not a string typed by a user.
    assert!(read(&TypeCode::STRING, "b").is_err());
    assert!(members_of_json("[1]").unwrap().is_none());
    assert!(members_of_json(r#"{"a": 1e999}"#).is_err());
}

#[test]
fn boxed_values_are_printed_each_time_and_what_they_hold_once() {
    let id = "IDL:Box:1.0";
    let boxed = TypeCode::value_box(id, "Box", &TypeCode::sequence(&node(), 0));
    let boxes = TypeCode::sequence(&boxed, 0);
    let one = DynamicValue::create(
        &node(),
        vec![Value::Valuetype(None), Value::Any(Box::default())],
    );
    let one = Value::Valuetype(Some(one.unwrap()));
    let of_one = DynamicValue::create(&boxed, vec![Value::Sequence(vec![one].into())]);
    let of_one = Value::Valuetype(Some(of_one.unwrap()));
    let twice = Value::Sequence(vec![of_one.clone(), of_one].into());
    let text = serde_json::to_string(&Json::new(&boxes, &twice)).unwrap();
    assert_eq!(
        text,
        r#"[[{"$type":"Node","next":null,"any":null}],[{"$ref":"[0][0]"}]]"#
    );
}

#[test]
fn boxes_that_are_mentioned_twice_by_each_other_are_not_printed_without_end() {
    let own = TypeCode::sequence(&TypeCode::recursive("IDL:Box:1.0"), 0);
    let boxed = TypeCode::value_box("IDL:Box:1.0", "Box", &own);
    let mut value = Value::Valuetype(None);
    for _ in 0..60 {
        let both = Value::Sequence(vec![value.clone(), value].into());
        let next = DynamicValue::create(&boxed, vec![both]).unwrap();
        value = Value::Valuetype(Some(next));
    }
    let error = serde_json::to_string(&Json::new(&boxed, &value)).unwrap_err();
    assert!(
        error.to_string().contains("too many repeated references"),
        "{error}"
    );
}

/// The expected octets follow CORBA 3.3 part 2, §9.3.5.5: an exception's repository id comes before
/// its members.
#[test]
fn an_exception_in_an_any_has_its_id_before_its_members() {
    let raised = TypeCode::exception("IDL:E:1.0", "E", &[("code", TypeCode::LONG)]);
    let names = Known(vec![raised.clone()]);
    let inner = Any::of_value(&raised, &Value::Struct(vec![Value::Long(7)])).unwrap();
    let anys = TypeCode::sequence(&TypeCode::ANY, 0);
    for (type_code, text, made) in [
        (
            &TypeCode::ANY,
            r#"{"type": "E", "value": {"code": 7}}"#,
            Value::Any(Box::new(inner.clone())),
        ),
        (
            &anys,
            r#"[{"type": "E", "value": {"code": 7}}]"#,
            Value::Sequence(vec![Value::Any(Box::new(inner.clone()))].into()),
        ),
    ] {
        let read = any_from_json_text(type_code, text, &names).unwrap();
        let made = Any::of_value(type_code, &made).unwrap();
        assert_eq!(octets(&read), octets(&made), "{text}");
    }
}

/// The second valuetype of a type has an indirection to the repository id of the first one on the
/// wire.
#[test]
fn valuetypes_in_anys_are_printed_wherever_they_stand() {
    let members = [("n", TypeCode::LONG, Visibility::Public)];
    let node = TypeCode::value("IDL:N:1.0", "N", ValueModifier::None, None, &members);
    let names = Known(vec![node]);
    let one = r#"{"type":"N","value":{"$type":"N","n":3}}"#;
    for text in [
        format!("[[{one}],[{one},{one}]]"),
        format!("[[],[{one},{one}]]"),
    ] {
        let anys = TypeCode::sequence(&TypeCode::sequence(&TypeCode::ANY, 0), 0);
        let any = any_from_json_text(&anys, &text, &names).unwrap();
        let value = any.value().unwrap();
        assert_eq!(
            serde_json::to_string(&Json::new(&anys, &value)).unwrap(),
            text
        );
    }
}
