//! Sets of constraints.

use crate::support::{Structured, compile};
use punctual_constraint::{ConstraintSet, Literal};

fn matching(set: &ConstraintSet<usize>, event: &Structured) -> Vec<usize> {
    let mut found = Vec::new();
    set.for_each_match(event, |_, tag| found.push(*tag));
    found.sort_unstable();
    found
}

#[test]
fn keys_are_the_equalities_between_the_outermost_ands() {
    let keys = |text| {
        let constraint = compile(text).unwrap();
        let keys = constraint.keys().iter();
        keys.map(|key| format!("{} = {}", key.field(), key.value()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        keys("$a == 1 and ('x' == $.b[2].c and $d > 2) and TRUE"),
        ["$a = 1", "$.b[2].c = 'x'"]
    );
    assert_eq!(keys("$a == 1 and ($b == 2 or $c == 3)"), ["$a = 1"]);
    assert_eq!(keys("($b == 2 or $c == 3) and $a == 1"), ["$a = 1"]);
    for text in [
        "$a == 1 or $b == 2",
        "not ($a == 1)",
        "($a == 1) == TRUE",
        "$a == $b",
        "$a != 1",
    ] {
        assert!(keys(text).is_empty(), "{text}");
    }
    let literal = compile("$a == -1.5").unwrap().keys()[0].value().clone();
    assert_eq!(literal, Literal::Real(-1.5));
}

#[test]
fn constraints_that_are_true_are_found_whatever_they_need() {
    let mut set = ConstraintSet::new();
    let texts = [
        "$type_name == 'A'",
        "$type_name == 'B'",
        "$severity == 3 and $type_name == 'A'",
        "$severity > 2",
        "$severity == 3.0",
        "$severity == 4",
        "",
    ];
    for (tag, text) in texts.into_iter().enumerate() {
        set.insert(compile(text).unwrap(), tag);
    }
    let event = Structured::of_type("", "A", "").with("severity", &3u16);
    assert_eq!(matching(&set, &event), [0, 2, 3, 4, 6]);
    assert_eq!(matching(&set, &Structured::of_type("", "B", "")), [1, 6]);
}

#[test]
fn a_constraint_that_is_removed_is_found_no_more() {
    let mut set = ConstraintSet::new();
    let texts = ["$type_name == 'A'", "$type_name == 'A'", "$x == 1", "TRUE"];
    let ids = texts.map(|text| set.insert(compile(text).unwrap(), text.len()));
    assert_eq!(set.len(), 4);
    for id in ids {
        assert!(set.get(id).is_some());
        assert!(set.remove(id).is_some());
        assert_eq!(set.remove(id), None);
    }
    assert!(set.is_empty());
    assert!(matching(&set, &Structured::of_type("", "A", "")).is_empty());
    assert_eq!(
        format!("{set:?}"),
        "ConstraintSet { constraints: 0, fields: 0, tried_always: 0 }"
    );
}
