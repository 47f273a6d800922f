//! Texts and events that are made to cost much.

use crate::support::{
    Encoded, Structured, Unstructured, any, compile, enumeration, evaluate, property_list,
    sequence_type, simple, structure, structure_type,
};
use punctual_any::{Any, TypeBuilder, TypeKind, Value};
use punctual_cdr::{Block, ByteOrder, Coding, Decoder, Encoder, Marshal, Unmarshal};
use punctual_constraint::{
    Budget, Constraint, ConstraintSet, Diagnostic, Failure, Grammar, Limits,
};

const MIB: usize = 1 << 20;

fn large(text: &str) -> Result<Constraint, Diagnostic> {
    let limits = Limits {
        length: MIB,
        ..Limits::DEFAULT
    };
    Constraint::compile(Grammar::ExtendedTcl, text, &limits)
}

/// Repeats a part to a text of nearly 1 MiB.
fn repeated(begin: &str, part: &str, end: &str) -> String {
    let count = (MIB - begin.len() - end.len()) / part.len();
    format!("{begin}{}{end}", part.repeat(count))
}

#[test]
fn a_text_beyond_the_limit_is_refused() {
    let limits = Limits {
        length: 10,
        ..Limits::DEFAULT
    };
    let compile = |text| Constraint::compile(Grammar::ExtendedTcl, text, &limits);
    assert!(compile("1234567890").is_ok());
    let mistake = compile("1234567890 ").unwrap_err();
    assert_eq!(
        mistake.to_string(),
        "1:1: the constraint has 11 bytes, and the limit is 10"
    );
}

#[test]
fn texts_of_a_mebibyte_are_compiled_and_printed() {
    for text in [
        repeated("$a == 0", " or $a == 1", ""),
        repeated("0 == 0", "+1", ""),
        repeated("'", "x", "' == ''"),
        repeated("0.", "1", " > 0"),
    ] {
        let constraint = large(&text).unwrap();
        assert!(constraint.to_string().len() >= 4);
        let _ = constraint.evaluate(&Structured::default());
    }
}

#[test]
fn a_text_nested_ten_thousand_deep_is_refused_where_it_is_too_deep() {
    for part in ["(", "not ", "-", "+", "( not ", "TRUE and ("] {
        let text = format!("{} 1", part.repeat(10_000));
        let mistake = large(&text).unwrap_err();
        assert_eq!(
            mistake.message(),
            "the constraint nests deeper than 100 levels",
            "{part}"
        );
    }
}

#[test]
fn a_component_with_ten_thousand_steps_is_refused() {
    for part in [".x", "[1]", "(x)", ".(1)", ".1"] {
        let mistake = large(&format!("${} == 1", part.repeat(10_000))).unwrap_err();
        assert_eq!(
            mistake.message(),
            "a component has more than 64 steps",
            "{part}"
        );
    }
}

#[test]
fn nesting_up_to_the_limit_is_evaluated() {
    let text = format!("{}$a == 1{}", "TRUE and (".repeat(99), ")".repeat(99));
    assert_eq!(
        evaluate(&text, &Structured::default().with("a", &1)),
        Ok(true)
    );
    let sum = format!("{}1{} == 100", "1 + (".repeat(99), ")".repeat(99));
    assert_eq!(evaluate(&sum, &Structured::default()), Ok(true));
}

#[test]
fn an_evaluation_ends_after_its_steps() {
    let limits = Limits {
        steps: 100,
        ..Limits::DEFAULT
    };
    let evaluate = |text: &str, event: &Structured| {
        Constraint::compile(Grammar::ExtendedTcl, text, &limits)
            .unwrap()
            .evaluate(event)
    };
    let event = Structured::default()
        .with("short", &"x".to_owned())
        .with("long", &"x".repeat(10_000))
        .with("numbers", &vec![1i16; 1_000]);
    assert_eq!(evaluate("$short == 'x' and 'x' ~ $short", &event), Ok(true));
    for text in [
        "$long == 'x'".to_owned(),
        "'x' ~ $long".to_owned(),
        "2 in $numbers".to_owned(),
        format!("1 == 1{}", " and 1 == 1".repeat(50)),
    ] {
        assert_eq!(evaluate(&text, &event), Err(Failure::Steps), "{text}");
    }
    assert_eq!(evaluate("$numbers._length == 1000", &event), Ok(true));
}

#[test]
fn patterns_that_repeat_take_steps_in_proportion_to_the_texts() {
    let event = Structured::default()
        .with("part", &format!("{}b", "a".repeat(100_000)))
        .with("whole", &"a".repeat(1_000_000));
    assert_eq!(evaluate("$part ~ $whole", &event), Ok(false));
    let text = format!("FALSE{}", " or $part ~ $whole".repeat(1_000));
    assert_eq!(evaluate(&text, &event), Err(Failure::Steps));
}

/// Reads the encoding of an Any from a peer, whose value is `octets`.
fn received(type_code: &punctual_any::TypeCode, octets: &[u8]) -> Option<Any> {
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    type_code.marshal(&mut out).unwrap();
    out.align(8);
    out.put_bytes(octets);
    let bytes = out.into_block().into_vec();
    Any::unmarshal(&mut Decoder::new(&bytes, ByteOrder::Big, Coding::default())).ok()
}

#[test]
fn lengths_that_lie_are_errors() {
    let texts = sequence_type(&simple(TypeKind::String));
    // A sequence that announces more than it has is not even received; within an Any made here it is.
    assert!(received(&texts, &[0xff; 8]).is_none());
    let liar = Any::written(&texts, |out| {
        out.put_u32(u32::MAX);
        Ok(())
    });
    let event = Structured::default().with_any("x", liar.unwrap());
    for text in ["$x[1] == 'a'", "$x._length > 0", "'a' in $x", "$x(a) == 1"] {
        let result = evaluate(text, &event);
        assert!(
            matches!(result, Err(Failure::Encoding(_))),
            "{text}: {result:?}"
        );
    }
}

#[test]
fn arrays_of_enormous_bounds_cost_no_more_than_their_bytes() {
    let mut types = TypeBuilder::default();
    let text = types.string(0);
    let inner = types.array(text, u32::MAX);
    let root = types.array(inner, u32::MAX);
    let huge = Any::written(&types.finish(root), |out| {
        out.put_bytes(&[0; 64]);
        Ok(())
    });
    let event = Unstructured(huge.unwrap());
    for text in [
        "$[4294967294][4294967294] == 'a'",
        "$[1][0] == 'a'",
        "'a' in $[3]",
        "$[0](x) == 1",
    ] {
        assert!(evaluate(text, &event).is_err(), "{text}");
    }
    assert_eq!(
        evaluate("$._length == 4294967295 and $[0][1] == ''", &event),
        Ok(true)
    );
}

#[test]
fn recursive_types_are_followed_as_far_as_values_go() {
    let mut types = TypeBuilder::default();
    let root = types.structure("IDL:Node:1.0", "Node", |types| {
        let node = types.recursive("IDL:Node:1.0");
        let nodes = types.sequence(node, 0);
        vec![("nodes", nodes)]
    });
    let its = types.finish(root);
    // Each node has one, but for the 20th, which has none.
    let chain = Any::written(&its, |out| {
        (0..20).for_each(|_| out.put_u32(1));
        out.put_u32(0);
        Ok(())
    });
    let event = Unstructured(chain.unwrap());
    let path = ".nodes[0]".repeat(20);
    assert_eq!(
        evaluate(&format!("${path}.nodes._length == 0"), &event),
        Ok(true)
    );
    assert_eq!(
        evaluate(&format!("exist ${path}.nodes[0]"), &event),
        Ok(false)
    );
}

#[test]
fn anys_within_anys_cost_steps() {
    let mut nested = any(&5i32);
    for _ in 0..60 {
        nested = any(&nested);
    }
    let event = Unstructured(nested);
    assert_eq!(evaluate("$ == 5", &event), Ok(true));
    let limits = Limits {
        steps: 50,
        ..Limits::DEFAULT
    };
    let constraint = Constraint::compile(Grammar::ExtendedTcl, "$ == 5", &limits).unwrap();
    assert_eq!(constraint.evaluate(&event), Err(Failure::Steps));
}

#[test]
fn members_and_labels_without_number_cost_steps() {
    let text = simple(TypeKind::String);
    let names: Vec<String> = (0..20_000).map(|at| format!("m{at}")).collect();
    let its = structure_type("Wide", names.iter().map(|name| (&**name, &text)));
    let wide = Any::written(&its, |out| {
        names.iter().try_for_each(|_| out.put_string("x"))
    });
    let event = Unstructured(wide.unwrap());
    assert_eq!(evaluate("$.m19999 == 'x'", &event), Ok(true));
    let text = format!("FALSE{}", " or $.m19999 == 'y'".repeat(1_000));
    assert_eq!(evaluate(&text, &event), Err(Failure::Steps));
    let entries: Vec<(&str, Any)> = names.iter().map(|name| (&**name, any(&1i32))).collect();
    let list = Structured::default().with_any("list", property_list(&entries));
    assert_eq!(evaluate("$list(m19999) == 1", &list), Ok(true));
}

#[test]
fn a_set_reads_fields_of_hostile_events_as_constraints_do() {
    let mut set = ConstraintSet::new();
    set.insert(compile("$.a[5] == 1").unwrap(), ());
    set.insert(compile("$._length == 4294967295").unwrap(), ());
    let event = Unstructured(any(&vec![1i32; 10]));
    set.for_each_match(&event, |_, ()| panic!("neither is true"));
}

#[test]
fn constraints_that_share_a_budget_cost_no_more_than_it_together() {
    let event = Structured::default();
    let constraint = large("1 + 1 + 1 == 3").unwrap();
    let mut budget = Budget::new(100);
    let met = (0..100).filter(|_| constraint.matches_within(&event, &mut budget));
    let met = met.count();
    assert!((5..50).contains(&met), "{met}");
    assert_eq!(budget.left(), 0);
    assert!(!budget.take(1));
    let mut budget = Budget::new(u32::MAX);
    let greedy = Limits {
        steps: 3,
        ..Limits::DEFAULT
    };
    let greedy = Constraint::compile(Grammar::ExtendedTcl, "1 + 1 + 1 == 3", &greedy).unwrap();
    assert!(!greedy.matches_within(&event, &mut budget));
    assert_eq!(budget.left(), u32::MAX - 3);
    assert!(constraint.matches_within(&event, &mut budget));
}

#[test]
fn types_in_encoded_events_count_each_time_that_they_are_read() {
    // Beyond what threads remember of types.
    let labels: Vec<String> = (0..2_000).map(|label| format!("label{label}")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let enumeration = enumeration("Many", &labels);
    let value = Any::of_value(&enumeration, &Value::Enum(7)).unwrap();
    let point = structure("Point", &[("at", enumeration, Value::Enum(7))]);
    let event = Structured::default()
        .with_any("a", value)
        .with_any("b", point);
    let event = Encoded::of(&event);
    for (part, component) in [(" or $a == 1", "$a"), (" or $b.at == 1", "$b.at")] {
        let few = compile(&format!("{component} == 7{}", part.repeat(100))).unwrap();
        assert_eq!(few.evaluate(&event), Ok(true));
        let many = format!("{component} == 0{}", part.repeat(4_000));
        let many = compile(&many).unwrap().evaluate(&event);
        assert_eq!(many, Err(Failure::Steps), "{component}");
    }
}
