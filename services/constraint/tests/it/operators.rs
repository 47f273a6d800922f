//! Each operator, over literals.

use crate::support::{Structured, compile, fails, holds, is_true};
use punctual_constraint::Failure;

fn all(texts: &[&str]) {
    for text in texts {
        holds(text, &Structured::default());
    }
}

fn none(texts: &[&str]) {
    for text in texts {
        assert!(!is_true(text), "{text}");
    }
}

#[test]
fn and_needs_both_sides() {
    all(&["TRUE and TRUE"]);
    none(&["TRUE and FALSE", "FALSE and TRUE", "FALSE and FALSE"]);
}

#[test]
fn or_needs_one_side() {
    all(&["TRUE or FALSE", "FALSE or TRUE", "TRUE or TRUE"]);
    none(&["FALSE or FALSE"]);
}

#[test]
fn the_right_side_is_evaluated_only_if_the_left_one_leaves_the_result_open() {
    all(&["TRUE or 1 / 0 == 1", "not (FALSE and 1 / 0 == 1)"]);
    none(&["TRUE and 1 / 0 == 1", "FALSE or 1 / 0 == 1"]);
}

#[test]
fn not_negates() {
    all(&["not FALSE", "not not TRUE", "not (1 == 2)"]);
    none(&["not TRUE"]);
}

#[test]
fn equal_and_unequal_compare_values_of_one_kind() {
    all(&[
        "1 == 1",
        "1 != 2",
        "'a' == 'a'",
        "'a' != 'b'",
        "TRUE == TRUE",
        "TRUE != FALSE",
    ]);
    all(&[
        "1 == 1.0",
        "TRUE == 1",
        "0.5 == .5",
        "5. == 5",
        "1e2 == 100",
    ]);
    none(&["1 == 2", "1 != 1", "'a' == 'A'"]);
    let event = Structured::default();
    fails("'1' == 1", &event, Failure::Type);
    fails("'1' != 1", &event, Failure::Type);
    fails("'TRUE' == TRUE", &event, Failure::Type);
}

#[test]
fn less_and_greater_order_numbers_and_strings() {
    all(&[
        "1 < 2",
        "1 <= 1",
        "2 > 1",
        "2 >= 2",
        "'abc' < 'abd'",
        "'a' < 'aa'",
        "1 < 1.5",
    ]);
    none(&["2 < 2", "2 > 2", "3 <= 2", "1 >= 2", "'b' < 'a'"]);
    fails("'1' < 2", &Structured::default(), Failure::Type);
}

#[test]
fn large_integers_are_compared_exactly() {
    all(&[
        "18446744073709551615 > 9223372036854775807",
        "9007199254740993 != 9007199254740992",
        "9007199254740993 == 9007199254740992.0",
        "-1 < 18446744073709551615",
    ]);
}

#[test]
fn tilde_asks_for_a_part_of_a_string() {
    all(&[
        "'cat' ~ 'concatenate'",
        "'' ~ 'x'",
        "'x' ~ 'x'",
        "'it''s' ~ 'x' or TRUE",
    ]
    .map(|text| {
        // Quotes are not doubled.
        if text.contains("''s") {
            "'it\\'s' ~ 'it\\'s so'"
        } else {
            text
        }
    }));
    none(&["'concatenate' ~ 'cat'", "'X' ~ 'x'"]);
    fails("1 ~ '1'", &Structured::default(), Failure::Type);
}

#[test]
fn arithmetic_of_integers_is_exact_and_cuts_quotients() {
    all(&[
        "2 + 3 == 5",
        "2 - 3 == -1",
        "2 * 3 == 6",
        "7 / 2 == 3",
        "-7 / 2 == -3",
    ]);
    all(&["18446744073709551615 * 2 == 36893488147419103230"]);
    let most = "170141183460469231731687303715884105727";
    fails(
        &format!("{most} + 1 > 0"),
        &Structured::default(),
        Failure::Overflow,
    );
    fails(
        &format!("{most} * 2 > 0"),
        &Structured::default(),
        Failure::Overflow,
    );
}

#[test]
fn arithmetic_with_a_double_is_that_of_doubles() {
    all(&[
        "7 / 2.0 == 3.5",
        "0.5 + 1 == 1.5",
        "1 - 0.5 == 0.5",
        "2 * 0.25 == 0.5",
    ]);
}

#[test]
fn booleans_count_as_numbers() {
    all(&[
        "('a' ~ 'ab') + ('b' ~ 'ab') + ('c' ~ 'ab') == 2",
        "TRUE + TRUE == 2",
        "FALSE < TRUE",
    ]);
}

#[test]
fn a_division_by_zero_makes_the_constraint_false() {
    let event = Structured::default();
    for text in [
        "1 / 0 == 1",
        "1.0 / 0 == 1",
        "1 / 0.0 == 1",
        "not (1 / 0 == 1)",
        "TRUE and 1/0 != 1",
    ] {
        fails(text, &event, Failure::DivisionByZero);
    }
}

#[test]
fn signs_stand_before_numbers_and_what_has_one() {
    all(&[
        "-5 < 0",
        "+5 == 5",
        "- 5 == 0 - 5",
        "-(2 + 3) == -5",
        "3 - -2 == 5",
        "--2 == 2",
        "+(1) == 1",
    ]);
    fails("-'a' == 1", &Structured::default(), Failure::Type);
    fails("+'a' == 'a'", &Structured::default(), Failure::Type);
}

#[test]
fn operators_bind_as_the_standard_says() {
    for (text, understood) in [
        ("TRUE or FALSE and FALSE", "(TRUE or (FALSE and FALSE))"),
        ("1 + 2 * 3 == 7", "((1 + (2 * 3)) == 7)"),
        ("1 - 2 - 3 == -4", "(((1 - 2) - 3) == -4)"),
        ("8 / 2 * 2 == 8", "(((8 / 2) * 2) == 8)"),
        ("not $a == $b", "((not $a) == $b)"),
        ("'a' ~ $b == TRUE", "(('a' ~ $b) == TRUE)"),
        ("'a' in $b == TRUE", "(('a' in $b) == TRUE)"),
        ("'a' ~ 'b' in $c", "(('a' ~ 'b') in $c)"),
        (
            "exist $a and not exist $b.c",
            "(exist $a and (not exist $b.c))",
        ),
        ("-$a * 2 < $b or $c", "((((-$a) * 2) < $b) or $c)"),
        (
            "TRUE and (FALSE or $a) and $b",
            "((TRUE and (FALSE or $a)) and $b)",
        ),
    ] {
        assert_eq!(compile(text).unwrap().to_string(), understood);
        let again = compile(understood).unwrap();
        assert_eq!(
            again.to_string(),
            understood,
            "what is shown is read as the same"
        );
    }
}

#[test]
fn a_result_that_is_no_boolean_makes_the_constraint_false() {
    for text in [
        "1",
        "'TRUE'",
        "1 + 1",
        "1 and TRUE",
        "TRUE and 1",
        "FALSE or 1",
        "not 1",
    ] {
        fails(text, &Structured::default(), Failure::Type);
    }
}

#[test]
fn an_empty_constraint_is_true() {
    all(&["", "  \n "]);
}
