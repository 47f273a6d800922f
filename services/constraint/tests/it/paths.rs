//! Components of events.

use crate::support::{
    Structured, Unstructured, any, enumeration, event, fails, holds, property_list,
    property_list_type, sequence_type, simple, structure, structure_type,
};
use punctual_any::{
    Any, Label, TypeBuilder, TypeCode, TypeKind, UnionDescription, UnionValue, Value,
};
use punctual_cdr::{Char, Decimal, Marshal};
use punctual_constraint::Failure;

#[test]
fn the_header_is_reached_by_names_by_positions_and_by_short_names() {
    let event = Structured::of_type("Domain", "Type", "Event");
    for text in [
        "$domain_name == 'Domain' and $type_name == 'Type' and $event_name == 'Event'",
        "$.header.fixed_header.event_type.domain_name == 'Domain'",
        "$.header.fixed_header.event_type.type_name == 'Type'",
        "$.header.fixed_header.event_name == 'Event'",
        "$.0.0.0.0 == 'Domain' and $.0.0.0.1 == 'Type' and $.0.0.1 == 'Event'",
        "$ . header . fixed_header . event_name == 'Event'",
        "exist $.header and exist $.header.fixed_header and exist $",
        "$.header.fixed_header._type_id == 'FixedEventHeader'",
    ] {
        holds(text, &event);
    }
}

#[test]
fn a_component_that_is_absent_makes_the_constraint_false() {
    let event = Structured::default();
    for text in [
        "$x == 1",
        "not ($x == 1)",
        "$.header.x == 1",
        "$x",
        "1 in $x",
        "default $.x",
        "$.header.0.0.0.0 == ''",
        "$.filterable_data[0].value == 1",
        "$.filterable_data.x == 1",
        "$domain_name.x == 1",
        "$domain_name._type_id == 'string'",
        "$curtime > 0",
    ] {
        fails(text, &event, Failure::Absent);
    }
}

#[test]
fn exist_asks_for_components_without_reading_them() {
    let event = Structured::default()
        .with("a", &1)
        .with("list", &vec![1i32, 2]);
    for text in [
        "exist $a and exist $.filterable_data(a) and exist a",
        "exist $.filterable_data and exist $list and exist $list[1]",
        "not exist $b and not exist $a.x and not exist $list[2] and not exist $.x.y",
        "not exist $.header.x and not exist $.filterable_data[2]",
    ] {
        holds(text, &event);
    }
}

#[test]
fn properties_are_found_by_name_and_by_place() {
    let event = Structured::default()
        .with("a", &1)
        .with("b", &"x".to_owned())
        .with_header("h", &5);
    for text in [
        "$.filterable_data(a) == 1 and $.filterable_data(b) == 'x' and $.header.variable_header(h) == 5",
        "$.filterable_data('b') == 'x'",
        "$.filterable_data[1].name == 'b' and $.filterable_data[1].value == 'x'",
        "$.1[1].0 == 'b' and $.1[1].1 == 'x' and $.0.1[0].1 == 5",
        "$.filterable_data._length == 2 and $.header.variable_header._length == 1",
        "$.filterable_data[0]._repos_id == 'IDL:omg.org/CosNotification/Property:1.0'",
        "$.b == 'x' and $(b) == 'x' and b == 'x' and $.h == 5",
    ] {
        holds(text, &event);
    }
}

#[test]
fn a_variable_is_looked_up_in_the_fixed_header_the_variable_header_and_the_body() {
    let event = Structured::of_type("D", "T", "E")
        .with_header("x", &1)
        .with_header("type_name", &"hidden".to_owned())
        .with("x", &2)
        .with("y", &3);
    holds("$type_name == 'T' and $x == 1 and $y == 3", &event);
    holds("$.filterable_data(x) == 2 and $.x == 2", &event);
    holds("exist $header and $filterable_data._length == 2", &event);
}

#[test]
fn the_remainder_of_the_body_is_an_any() {
    let event = Structured {
        remainder: structure("Rest", &[("n", simple(TypeKind::Long), Value::Long(7))]),
        ..Structured::default()
    };
    holds(
        "$.remainder_of_body.n == 7 and $.2.0 == 7 and $remainder_of_body.n == 7",
        &event,
    );
    holds("$.remainder_of_body._type_id == 'Rest'", &event);
}

#[test]
fn the_current_time_comes_with_the_event() {
    let event = Structured {
        time: Some(1_000),
        ..Structured::default()
    };
    holds(
        "$curtime == 1000 and $curtime.time >= 1000 and $curtime._type_id == 'UtcT'",
        &event,
    );
    let utc = |time| {
        let members = [
            ("time", simple(TypeKind::ULongLong)),
            ("inacclo", simple(TypeKind::ULong)),
        ];
        let its = structure_type("UtcT", members.iter().map(|(name, its)| (*name, its)));
        let mut types = TypeBuilder::default();
        let root = types.structure("IDL:omg.org/TimeBase/UtcT:1.0", "UtcT", |types| {
            (0..2)
                .map(|at| {
                    let part = its.member_type(at).unwrap();
                    (members[at].0, types.include(&part))
                })
                .collect()
        });
        Any::of_value(
            &types.finish(root),
            &Value::Struct(vec![Value::ULongLong(time), Value::ULong(0)]),
        )
    };
    let event = event.with_any("StartTime", utc(2_000).unwrap());
    holds("$StartTime > $curtime and $StartTime.time == 2000", &event);
}

#[test]
fn numbers_of_all_kinds_are_compared_by_value() {
    holds("$ == 255", &event(&255u8));
    holds("$ == -32768", &event(&i16::MIN));
    holds(
        "$ == 18446744073709551615 and $ > 9223372036854775807",
        &event(&u64::MAX),
    );
    holds("$ == -9223372036854775808", &event(&i64::MIN));
    holds("$ == 0.5 and $ * 2 == 1", &event(&0.5f32));
    holds("$ > 1e100", &event(&1e101f64));
    let fixed = |scaled, scale| {
        let mut types = TypeBuilder::default();
        let root = types.fixed(10, scale);
        let number = Value::Fixed(Decimal::new(scaled, scale).unwrap());
        Unstructured(Any::of_value(&types.finish(root), &number).unwrap())
    };
    holds("$ == 12.5 and $ < 13", &fixed(1250, 2));
    holds("$ == 12 and $ / 5 == 2", &fixed(1200, 2));
    holds("$ == 1200", &fixed(12, -2));
}

#[test]
fn a_number_that_is_none_is_unequal_to_everything() {
    holds(
        "not ($ == $) and $ != $ and not ($ < 1) and not ($ >= 1)",
        &event(&f64::NAN),
    );
}

#[test]
fn characters_and_strings_narrow_and_wide_are_text() {
    holds(
        "$ == 'x' and 'x' == $ and $ < 'xx' and 'w' < $ and $ ~ 'axb'",
        &event(&Char(b'x')),
    );
    let wide = Unstructured(Any::of_wide("Grüße").unwrap());
    holds("$ == 'Grüße' and 'üß' ~ $", &wide);
    let wide = Any::of_value(&simple(TypeKind::WChar), &Value::WChar('ß')).unwrap();
    holds("$ == 'ß'", &Unstructured(wide));
    holds("$ == 'a\\'b\\\\c\\d'", &event(&"a'b\\c\\d".to_owned()));
    fails("$ == 1", &event(&Char(b'1')), Failure::Type);
}

#[test]
fn enumerators_are_their_labels_and_their_numbers() {
    let severity = enumeration("Severity", &["cleared", "minor", "major", "critical"]);
    let of = |number| Any::of_value(&severity, &Value::Enum(number)).unwrap();
    let event = Structured::default()
        .with_any("severity", of(2))
        .with_any("other", of(1));
    for text in [
        "$severity == 'major' and 'major' == $severity and $severity != 'minor'",
        "$severity == 2 and $severity > 1 and $severity + 1 == 3",
        "$severity > 'minor' and 'critical' > $severity and $severity >= 'major'",
        "$severity > $other and $severity != $other",
        "$severity != 'unknown' and not ($severity < 'unknown')",
        "'maj' ~ $severity",
    ] {
        holds(text, &event);
    }
    let colour = enumeration("Colour", &["red", "green", "blue"]);
    let event = event.with_any("colour", Any::of_value(&colour, &Value::Enum(2)).unwrap());
    fails("$severity == $colour", &event, Failure::Type);
}

#[test]
fn aliases_are_seen_through_and_name_their_type() {
    let mut types = TypeBuilder::default();
    let root = types.alias("IDL:Outer:1.0", "Outer", |types| {
        types.alias("IDL:Inner:1.0", "Inner", |types| {
            types.primitive(TypeKind::Long)
        })
    });
    let number = Unstructured(Any::of_value(&types.finish(root), &Value::Long(5)).unwrap());
    holds(
        "$ == 5 and $._type_id == 'Outer' and $._repos_id == 'IDL:Outer:1.0'",
        &number,
    );
}

#[test]
fn anys_within_values_are_unwrapped() {
    let inner = structure("Inner", &[("n", simple(TypeKind::Long), Value::Long(5))]);
    let outer = structure(
        "Outer",
        &[
            (
                "first",
                simple(TypeKind::Any),
                Value::Any(Box::new(any(&any(&"skipped".to_owned())))),
            ),
            (
                "second",
                simple(TypeKind::Any),
                Value::Any(Box::new(any(&inner))),
            ),
            ("third", simple(TypeKind::Long), Value::Long(6)),
        ],
    );
    let event = Unstructured(outer);
    holds(
        "$.second.n == 5 and $.1.0 == 5 and $.third == 6 and $.first == 'skipped'",
        &event,
    );
    holds(
        "$.second._type_id == 'Inner' and $.second._repos_id == 'IDL:Inner:1.0'",
        &event,
    );
}

#[test]
fn elements_of_sequences_and_arrays_are_reached_by_index() {
    let event = Structured::default().with("texts", &vec!["a".to_owned(), "bc".to_owned()]);
    holds(
        "$texts[1] == 'bc' and $texts._length == 2 and 'bc' in $texts and not ('b' in $texts)",
        &event,
    );
    fails("$texts[2] == 'x'", &event, Failure::Absent);
    fails("$texts == 'a'", &event, Failure::Type);
    let mut types = TypeBuilder::default();
    let long = types.primitive(TypeKind::Long);
    let root = types.array(long, 3);
    let array = Any::written(&types.finish(root), |out| {
        [7, 8, 9].into_iter().for_each(|number| out.put_i32(number));
        Ok(())
    });
    let event = event.with_any("array", array.unwrap());
    holds(
        "$array[2] == 9 and $array._length == 3 and 8 in $array and not (1 in $array)",
        &event,
    );
    fails("$array[3] == 9", &event, Failure::Absent);
    fails("$array._d == 9", &event, Failure::Absent);
}

#[test]
fn in_finds_equal_elements_of_all_kinds() {
    let anys = sequence_type(&simple(TypeKind::Any));
    let elements = [any(&5i16), any(&"x".to_owned()), any(&2.5f64)];
    let list = Any::written(&anys, |out| {
        out.put_u32(3);
        elements.iter().try_for_each(|element| element.marshal(out))
    });
    let event = Structured::default().with_any("list", list.unwrap());
    holds(
        "5 in $list and 'x' in $list and 2.5 in $list and 5.0 in $list",
        &event,
    );
    holds("not (6 in $list) and not ('y' in $list)", &event);
    fails("1 in $.filterable_data", &event, Failure::Absent);
    fails("1 in $list[0]", &event, Failure::Absent);
}

#[test]
fn lists_of_named_values_are_reached_by_name() {
    let inner = property_list(&[("deep", any(&9i32))]);
    let list = property_list(&[("a", any(&1i32)), ("b", any(&"x".to_owned())), ("c", inner)]);
    let event = Structured::default().with_any("list", list);
    holds(
        "$list(b) == 'x' and $list(a) == 1 and $list(c)(deep) == 9",
        &event,
    );
    holds(
        "$list[1].name == 'b' and $list[1].value == 'x' and exist $list(c)",
        &event,
    );
    fails("$list(d) == 1", &event, Failure::Absent);
    fails("$list(a)(b) == 1", &event, Failure::Absent);
}

fn union_type(discriminator: &TypeCode, labels: [Label; 3]) -> TypeCode {
    let mut types = TypeBuilder::default();
    let root = types.union_("IDL:U:1.0", "U", |types| {
        let discriminator = types.include(discriminator);
        let long = types.primitive(TypeKind::Long);
        let text = types.string(0);
        let [one, two, three] = labels;
        UnionDescription {
            discriminator,
            members: vec![
                (one, "number", long),
                (two, "text", text),
                (three, "other", long),
            ],
        }
    });
    types.finish(root)
}

fn union_value(its: &TypeCode, discriminator: i128, member: Value) -> Unstructured {
    let value = Value::Union(Box::new(UnionValue {
        discriminator,
        member: Some(member),
    }));
    let members = [
        ("before", simple(TypeKind::Octet), Value::Octet(1)),
        ("u", its.clone(), value),
    ];
    Unstructured(structure("S", &members))
}

#[test]
fn members_of_unions_are_reached_by_name_and_discriminator() {
    let its = union_type(
        &simple(TypeKind::Short),
        [Label::Value(-1), Label::Value(2), Label::Default],
    );
    let number = union_value(&its, -1, Value::Long(5));
    holds(
        "$.u.number == 5 and $.u.(-1) == 5 and $.u.('number') == 5 and $.u._d == -1",
        &number,
    );
    holds(
        "not exist $.u.text and not exist $.u.(2) and not exist $.u.() and not default $.u",
        &number,
    );
    fails("$.u.text == 'x'", &number, Failure::Absent);
    fails("$.u.0 == 5", &number, Failure::Absent);
    let text = union_value(&its, 2, Value::String("x".into()));
    holds(
        "$.u.text == 'x' and $.u.(+2) == 'x' and $.u.(2) == 'x'",
        &text,
    );
}

#[test]
fn the_default_member_of_a_union_is_asked_for() {
    let its = union_type(
        &simple(TypeKind::Short),
        [Label::Value(1), Label::Value(2), Label::Default],
    );
    let other = union_value(&its, 77, Value::Long(5));
    holds(
        "default $.u and default $.u._d and $.u.() == 5 and $.u.other == 5 and $.u.(77) == 5",
        &other,
    );
    fails("default $.before", &other, Failure::Absent);
}

#[test]
fn unions_of_enums_and_characters_are_reached_by_label() {
    let colour = enumeration("Colour", &["red", "green", "blue"]);
    let its = union_type(&colour, [Label::Value(0), Label::Value(1), Label::Default]);
    let green = union_value(&its, 1, Value::String("x".into()));
    holds(
        "$.u.('green') == 'x' and $.u._d == 'green' and $.u._d == 1",
        &green,
    );
    holds("not exist $.u.('red')", &green);
    let its = union_type(
        &simple(TypeKind::Char),
        [Label::from('a'), Label::from('b'), Label::Default],
    );
    let b = union_value(&its, 98, Value::String("x".into()));
    holds(
        "$.u.('b') == 'x' and $.u._d == 'b' and not exist $.u.('a')",
        &b,
    );
}

/// Any that holds a `CosNotification::StructuredEvent`.
fn structured_event_in_an_any() -> Any {
    let text = simple(TypeKind::String);
    let strings = |name, members: [&'static str; 2]| {
        structure_type(name, members.into_iter().map(|name| (name, &text)))
    };
    let event_type = strings("EventType", ["domain_name", "type_name"]);
    let fixed = [("event_type", event_type), ("event_name", text.clone())];
    let fixed = structure_type(
        "FixedEventHeader",
        fixed.iter().map(|(name, its)| (*name, its)),
    );
    let header = [
        ("fixed_header", fixed),
        ("variable_header", property_list_type()),
    ];
    let header = structure_type("EventHeader", header.iter().map(|(name, its)| (*name, its)));
    let event = [
        ("header", header),
        ("filterable_data", property_list_type()),
        ("remainder_of_body", simple(TypeKind::Any)),
    ];
    let event = structure_type(
        "StructuredEvent",
        event.iter().map(|(name, its)| (*name, its)),
    );
    Any::written(&event, |out| {
        ["Domain", "Type", "Event"]
            .iter()
            .try_for_each(|text| out.put_string(text))?;
        property_list(&[("x", any(&1i32))]).marshal_value(out)?;
        property_list(&[("x", any(&2i32)), ("y", any(&3i32))]).marshal_value(out)?;
        any(&4i32).marshal(out)
    })
    .unwrap()
}

#[test]
fn constraints_on_structured_events_hold_for_those_within_an_any() {
    let event = Unstructured(structured_event_in_an_any());
    for text in [
        "$domain_name == 'Domain' and $type_name == 'Type' and $event_name == 'Event'",
        "$x == 1 and $y == 3 and $.filterable_data(x) == 2",
        "$.header.fixed_header.event_type.type_name == 'Type' and $.0.0.0.1 == 'Type'",
        "$.remainder_of_body == 4 and $.2 == 4",
        "$.filterable_data._length == 2 and $.filterable_data[1].name == 'y'",
    ] {
        holds(text, &event);
    }
    fails("$z == 1", &event, Failure::Absent);
}

#[test]
fn a_variable_of_another_event_is_a_member() {
    let event = Unstructured(structure(
        "S",
        &[("n", simple(TypeKind::Long), Value::Long(5))],
    ));
    holds("$n == 5 and $.n == 5 and n == 5", &event);
    fails("$type_name == 'S'", &event, Failure::Absent);
}

#[test]
fn names_that_are_words_of_the_language_are_escaped() {
    let event = Structured::default()
        .with("or", &1)
        .with("in", &2)
        .with("_length", &3)
        .with("curtime", &4);
    holds("$\\curtime == 4 and curtime == 4", &event);
    fails("$curtime == 4", &event, Failure::Absent);
    holds(
        "\\or == 1 and $\\or == 1 and $.or == 1 and $in == 2 and $.\\_length == 3",
        &event,
    );
}

#[test]
fn a_bounded_string_beyond_its_bound_is_an_error() {
    let mut types = TypeBuilder::default();
    let root = types.string(2);
    let text = Any::written(&types.finish(root), |out| out.put_string("abc")).unwrap();
    let constraint = crate::support::compile("$ == 'abc'").unwrap();
    assert!(matches!(
        constraint.evaluate(&Unstructured(text)),
        Err(Failure::Encoding(_))
    ));
}
