//! Tests of values as JSON: round trips, and the error messages for JSON that is not a value of its
//! type.
#![allow(clippy::unwrap_used)]

use crate::support;

use proptest::prelude::{ProptestConfig, any, prop_assert_eq, proptest};
use punctual_any::{
    Any, DynamicValue, Label, TypeCode, TypeKind, Value, ValueModifier, Visibility,
};
use punctual_dynamic::json::{
    Json, JsonError, Names, NoNames, OctetForm, from_json, from_json_text, parse_type,
};
use serde_json::json;
use support::{Dice, any_type, any_value};

/// Resolver that knows the given types, and all types that they consist of.
#[derive(Default)]
struct Known(Vec<TypeCode>);

impl Known {
    fn add(&mut self, type_code: &TypeCode) {
        if self.0.contains(type_code) {
            return;
        }
        self.0.push(type_code.clone());
        let count = type_code.member_count().unwrap_or(0);
        let members = (0..count).filter_map(|index| type_code.member_type(index).ok());
        let parts: Vec<_> = members.chain(type_code.content_type()).collect();
        parts.iter().for_each(|part| self.add(part));
    }

    fn add_all(&mut self, value: &Value) {
        match value {
            Value::Any(any) => {
                self.add(any.type_code());
                self.add_all(&any.value().unwrap());
            }
            Value::TypeCode(type_code) => self.add(type_code),
            Value::Sequence(values) => {
                let values = values.to_vec().unwrap();
                values.iter().for_each(|value| self.add_all(value));
            }
            Value::Struct(values) => values.iter().for_each(|value| self.add_all(value)),
            Value::Union(union) => union.member.iter().for_each(|value| self.add_all(value)),
            _ => {}
        }
    }
}

impl Names for Known {
    fn type_code(&self, name: &str) -> Option<TypeCode> {
        let mut known = self.0.iter();
        known.find(|one| one.to_string() == name).cloned()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_value_comes_back_from_its_json(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let type_code = any_type(&mut dice, 3, false);
        let value = any_value(&mut dice, &type_code, 4);
        let mut known = Known::default();
        known.add(&type_code);
        known.add_all(&value);
        for form in [OctetForm::Base64, OctetForm::Hex, OctetForm::Array] {
            let text = serde_json::to_string(&Json::new(&type_code, &value).octets(form)).unwrap();
            let json = serde_json::from_str(&text).unwrap();
            let back = from_json(&type_code, &json, &known);
            prop_assert_eq!(back.as_ref(), Ok(&value), "{}", text);
        }
    }

    #[test]
    fn any_json_is_a_value_or_an_error(seed in any::<u64>(), text in "\\PC*") {
        let type_code = any_type(&mut Dice::new(seed), 3, true);
        let _ = from_json_text(&type_code, &text, &NoNames);
        let _ = parse_type(&text, &NoNames);
    }
}

fn leg() -> TypeCode {
    let side = TypeCode::enumeration("IDL:Side:1.0", "Side", &["left", "right"]);
    TypeCode::structure(
        "IDL:Leg:1.0",
        "Leg",
        &[
            ("name", TypeCode::string(8)),
            ("side", side),
            ("joints", TypeCode::sequence(&TypeCode::SHORT, 3)),
            ("toes", TypeCode::array(&TypeCode::OCTET, 2)),
        ],
    )
}

fn animal() -> TypeCode {
    TypeCode::structure(
        "IDL:Animal:1.0",
        "Animal",
        &[
            ("legs", TypeCode::sequence(&leg(), 0)),
            ("price", TypeCode::fixed(5, 2)),
        ],
    )
}

fn error_of(type_code: &TypeCode, json: &serde_json::Value) -> JsonError {
    from_json(type_code, json, &NoNames).unwrap_err()
}

#[test]
fn an_error_points_at_its_place_and_says_what_is_wanted() {
    let leg = |name: serde_json::Value| json!({"name": name, "side": "left", "joints": [], "toes": "hex:0102"});
    let wrong = json!({"legs": [leg(json!("a")), leg(json!("b")), leg(json!(7))], "price": "1.50"});
    let error = error_of(&animal(), &wrong);
    assert_eq!(error.path, ".legs[2].name");
    assert_eq!(
        error.message,
        "expected text (string<8>), found the number 7"
    );
}

#[test]
fn each_kind_of_misfit_has_its_message() {
    let good = json!({"name": "a", "side": "left", "joints": [1], "toes": [1, 2]});
    let with = |member: &str, json: serde_json::Value| {
        let mut wrong = good.clone();
        wrong[member] = json;
        error_of(&leg(), &wrong)
    };
    assert!(from_json(&leg(), &good, &NoNames).is_ok());
    for (member, json, message) in [
        (
            "name",
            json!("too long a name"),
            "expected text of up to 8 characters, found 15",
        ),
        (
            "side",
            json!("lefd"),
            "expected an enumerator (Side), found the text \"lefd\"",
        ),
        (
            "joints",
            json!([1, 2, 3, 4]),
            "expected up to 3 elements (sequence<short, 3>), found 4",
        ),
        (
            "toes",
            json!([1]),
            "expected 2 elements (octet[2]), found 1",
        ),
        (
            "toes",
            json!("01"),
            "octets are written `base64:…`, `hex:…` or as an array of numbers",
        ),
        (
            "toes",
            json!(null),
            "expected an array (octet[2]), found `null`",
        ),
    ] {
        let error = with(member, json);
        assert_eq!(
            (error.path.as_str(), error.message.as_str()),
            (&*format!(".{member}"), message)
        );
    }
    let error = with("joints", json!([1, 70000]));
    assert_eq!(
        error.to_string(),
        "`.joints[1]`: expected a whole number from -32768 to 32767 (short), found 70000"
    );
    assert_eq!(
        with("side", json!("lefd")).help.unwrap(),
        "did you mean `left`?"
    );
    assert_eq!(
        with("side", json!("up")).help.unwrap(),
        "there are `left`, `right`"
    );
}

#[test]
fn unknown_and_missing_members_are_told_by_name() {
    let error = error_of(
        &leg(),
        &json!({"nam": "a", "side": "left", "joints": [], "toes": [1, 2]}),
    );
    assert_eq!(error.to_string(), "`.nam`: unknown member");
    assert_eq!(error.help.unwrap(), "did you mean `name`?");
    let error = error_of(
        &leg(),
        &json!({"name": "a", "side": "left", "toes": [1, 2]}),
    );
    assert_eq!(
        error.message,
        "the member `joints` is missing: an array (sequence<short, 3>)"
    );
}

#[test]
fn fixed_point_numbers_are_text_or_numbers_that_fit() {
    let price = TypeCode::fixed(5, 2);
    for json in [json!("12.50"), json!(12.5)] {
        let value = from_json(&price, &json, &NoNames).unwrap();
        assert_eq!(
            serde_json::to_value(Json::new(&price, &value)).unwrap(),
            json!("12.50")
        );
    }
    assert!(from_json(&price, &json!("1.234"), &NoNames).is_err());
    assert!(from_json(&price, &json!(100_000), &NoNames).is_err());
    let exact = TypeCode::fixed(31, 3);
    let digits = "1234567890123456789012345678.901";
    let value = from_json_text(&exact, digits, &NoNames).unwrap();
    assert_eq!(
        serde_json::to_value(Json::new(&exact, &value)).unwrap(),
        json!(digits)
    );
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
            (Label::Default, "name", TypeCode::STRING),
        ],
    )
}

#[test]
fn a_union_is_its_member_and_tells_its_discriminator_where_that_is_open() {
    let through = |json: serde_json::Value| {
        let value = from_json(&food(), &json, &NoNames).unwrap();
        serde_json::to_value(Json::new(&food(), &value)).unwrap()
    };
    assert_eq!(through(json!({"kilos": 2.5})), json!({"kilos": 2.5}));
    assert_eq!(
        through(json!({"$discriminator": "k", "kilos": 2.5})),
        json!({"kilos": 2.5})
    );
    let pieces = json!({"$discriminator": "q", "pieces": 3});
    assert_eq!(through(pieces.clone()), pieces);
    assert_eq!(
        through(json!({"pieces": 3})),
        json!({"$discriminator": "p", "pieces": 3})
    );
    let error = error_of(&food(), &json!({"$discriminator": "k", "pieces": 3}));
    assert_eq!(
        error.message,
        "the discriminator chooses `kilos`, not `pieces`"
    );
    let error = error_of(&food(), &json!({"kilo": 1}));
    assert_eq!(error.help.unwrap(), "did you mean `kilos`?");
    assert!(
        error_of(&food(), &json!({}))
            .message
            .contains("`kilos`, `pieces`, `name`")
    );
    assert!(from_json(&food(), &json!({"kilos": 1, "pieces": 2}), &NoNames).is_err());
}

#[test]
fn an_any_is_what_it_looks_like_or_of_the_type_that_is_said() {
    let kind = |json: serde_json::Value| match from_json(&TypeCode::ANY, &json, &NoNames) {
        Ok(Value::Any(any)) => any.type_code().to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(kind(json!(null)), "null");
    assert_eq!(kind(json!(true)), "boolean");
    assert_eq!(kind(json!(3)), "long");
    assert_eq!(kind(json!(5_000_000_000i64)), "long long");
    assert_eq!(kind(json!(u64::MAX)), "unsigned long long");
    assert_eq!(kind(json!(2.5)), "double");
    assert_eq!(kind(json!("text")), "string");
    assert_eq!(
        kind(json!({"type": "sequence<unsigned short, 3>", "value": [1]})),
        "sequence<unsigned short, 3>"
    );
    assert_eq!(
        kind(json!({"type": "double[2][1]", "value": [[1.5], [2.5]]})),
        "double[2][1]"
    );
    let error = error_of(&TypeCode::ANY, &json!({"type": "Nowhere", "value": 1}));
    assert_eq!(error.to_string(), "`.type`: unknown type `Nowhere`");
    let error = error_of(&TypeCode::ANY, &json!({"type": "short", "value": "x"}));
    assert_eq!(error.path, ".value");
    assert!(error_of(&TypeCode::ANY, &json!([1])).help.is_some());
}

#[test]
fn text_needs_no_quotes_where_text_is_wanted() {
    let read = |type_code: &TypeCode, text: &str| from_json_text(type_code, text, &NoNames);
    assert_eq!(
        read(&TypeCode::STRING, "42"),
        Ok(Value::String("42".into()))
    );
    assert_eq!(
        read(&TypeCode::STRING, "two words"),
        Ok(Value::String("two words".into()))
    );
    assert_eq!(
        read(&TypeCode::STRING, "\"quoted\""),
        Ok(Value::String("quoted".into()))
    );
    assert_eq!(
        read(&leg().member_type(1).unwrap(), "right"),
        Ok(Value::Enum(1))
    );
    assert_eq!(read(&TypeCode::LONG, "-3"), Ok(Value::Long(-3)));
    let error = read(&TypeCode::LONG, "three").unwrap_err();
    assert!(
        error
            .message
            .starts_with("expected a number (long), but the text is not JSON")
    );
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
            ("number", TypeCode::LONG, Visibility::Public),
        ],
    )
}

#[test]
fn valuetypes_that_are_mentioned_again_are_told_by_their_place() {
    let ring = json!({
        "$type": "Node", "number": 1,
        "next": {"$type": "Node", "number": 2, "next": {"$ref": ""}},
    });
    let value = from_json(&node(), &ring, &NoNames).unwrap();
    assert_eq!(
        serde_json::to_value(Json::new(&node(), &value)).unwrap(),
        ring
    );
    let sent = Any::of_value(&node(), &value).unwrap();
    let Value::Valuetype(Some(first)) = sent.value().unwrap() else {
        panic!("it is a valuetype");
    };
    let (_, members) = DynamicValue::of(&first).unwrap();
    let Value::Valuetype(Some(second)) = &members[0] else {
        panic!("there is a next one");
    };
    assert_eq!(
        DynamicValue::of(second).unwrap().1[0],
        Value::Valuetype(Some(first.clone()))
    );
    assert!(from_json(&node(), &json!({"$ref": ".nowhere"}), &NoNames).is_err());
    assert_eq!(node().kind(), TypeKind::Value);
}

#[test]
fn a_list_of_valuetypes_that_is_too_long_for_json_is_an_error() {
    let mut list = Value::Valuetype(None);
    for number in 0..100_000 {
        let node = DynamicValue::create(&node(), vec![list, Value::Long(number)]);
        list = Value::Valuetype(Some(node.unwrap()));
    }
    let error = serde_json::to_string(&Json::new(&node(), &list)).unwrap_err();
    assert!(error.to_string().contains("nest deeper"), "{error}");
}

#[test]
fn an_int8_is_a_number_with_a_sign() {
    let int8 = TypeCode::alias("IDL:omg.org/CORBA/Int8:1.0", "int8", &TypeCode::OCTET);
    let named = TypeCode::alias("IDL:T:1.0", "T", &int8);
    let two = TypeCode::structure("IDL:S:1.0", "S", &[("a", named), ("b", TypeCode::OCTET)]);
    let any = from_json(&two, &json!({"a": -100, "b": 200}), &NoNames).unwrap();
    let members = vec![Value::Octet(156), Value::Octet(200)];
    assert_eq!(any, Value::Struct(members));
    let shown = serde_json::to_value(Json::new(&two, &any)).unwrap();
    assert_eq!(shown, json!({"a": -100, "b": 200}));
    let wrong = from_json(&two, &json!({"a": 156, "b": 0}), &NoNames).unwrap_err();
    assert!(wrong.to_string().contains("from -128 to 127"), "{wrong}");
}

#[test]
fn types_are_named_as_idl_spells_them() {
    let named = |text: &str| parse_type(text, &NoNames);
    for spelled in ["TypeCode", "CORBA::TypeCode", "::CORBA::TypeCode"] {
        assert_eq!(named(spelled), Some(TypeCode::TYPE_CODE), "{spelled}");
    }
    let object = TypeCode::interface("IDL:omg.org/CORBA/Object:1.0", "Object");
    for spelled in ["Object", "CORBA::Object", "::CORBA::Object"] {
        assert_eq!(named(spelled), Some(object.clone()), "{spelled}");
    }
    for (spelled, type_code) in [
        ("unsigned   long", TypeCode::ULONG),
        ("unsigned long long", TypeCode::ULONG_LONG),
        ("sequence < long >", TypeCode::sequence(&TypeCode::LONG, 0)),
        (
            "sequence<CORBA::TypeCode, 3>",
            TypeCode::sequence(&TypeCode::TYPE_CODE, 3),
        ),
        ("string < 8 >", TypeCode::string(8)),
        ("fixed<5, 2>", TypeCode::fixed(5, 2)),
        (
            "long [2][3]",
            TypeCode::array(&TypeCode::array(&TypeCode::LONG, 3), 2),
        ),
    ] {
        assert_eq!(named(spelled), Some(type_code), "{spelled}");
    }
    let names = named("CORBA::StringSeq").unwrap();
    assert_eq!(names.id(), Ok("IDL:omg.org/CORBA/StringSeq:1.0"));
    assert_eq!(
        names.original_type(),
        TypeCode::sequence(&TypeCode::string(0), 0)
    );
    assert_eq!(named("CORBA::Nothing"), None);
    assert_eq!(named("CORBA::NothingSeq"), None);
    assert_eq!(named("long seq"), None);
    // The expected form of a map.
    let map = named("map<string, sequence<short>>").unwrap();
    let value = from_json(&map, &json!({"a": [1, 2]}), &NoNames).unwrap();
    assert_eq!(
        serde_json::to_value(Json::new(&map, &value)).unwrap(),
        json!({"a": [1, 2]})
    );
}

#[test]
fn scoped_names_may_begin_at_the_outermost_scope() {
    let colour = TypeCode::enumeration("IDL:Paint/Colour:1.0", "Colour", &["red", "blue"]);
    let mut known = Known::default();
    known.add(&colour);
    for spelled in ["Paint::Colour", "::Paint::Colour"] {
        assert_eq!(
            parse_type(spelled, &known),
            Some(colour.clone()),
            "{spelled}"
        );
    }
    let any = json!({"type": "CORBA::TypeCode", "value": "sequence<::Paint::Colour>"});
    let value = from_json(&TypeCode::ANY, &any, &known).unwrap();
    let Value::Any(any) = value else {
        panic!("{value:?}");
    };
    assert_eq!(any.type_code(), &TypeCode::TYPE_CODE);
    let Value::TypeCode(told) = any.value().unwrap() else {
        panic!("{any:?}");
    };
    assert_eq!(told, TypeCode::sequence(&colour, 0));
}
