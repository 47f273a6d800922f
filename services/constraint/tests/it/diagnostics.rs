//! Mistakes in texts.

use crate::support::compile;
use punctual_constraint::{Constraint, Grammar, Limits};

#[test]
fn a_mistake_is_shown_where_it_is() {
    let mistake = compile("$type_name == 'x' and\n  and $a = 5").unwrap_err();
    assert_eq!(mistake.to_string(), "2:3: expected a value");
    assert_eq!(mistake.span(), 24..27);
    assert_eq!(mistake.line_column(), (2, 3));
    assert_eq!(
        mistake.render(false),
        "error: expected a value\n --> constraint:2:3\n  |\n2 |   and $a = 5\n  |   ^^^ not a value"
    );
    assert!(mistake.render(true).contains("\u{1b}["));
}

#[test]
fn a_remedy_is_shown_below() {
    let mistake = compile("$a = 5").unwrap_err();
    assert_eq!(
        mistake.render(false),
        "error: `=` is not an operator\n --> constraint:1:4\n  |\n1 | $a = 5\n  |    ^ not an operator\n  |\n  = help: `==` compares"
    );
}

#[test]
fn each_mistake_has_its_message() {
    for (text, message) in [
        ("1 ==", "1:5: expected a value, found the end"),
        ("== 1", "1:1: expected a value"),
        ("1 2", "1:3: expected an operator"),
        ("(1 == 1", "1:1: `(` is not closed"),
        ("1 == 1)", "1:7: `)` closes nothing"),
        ("1 < 2 < 3", "1:7: comparisons do not chain"),
        ("'a' ~ 'b' ~ 'c'", "1:11: comparisons do not chain"),
        ("1 in $a in $b", "1:9: `in` does not chain"),
        ("1 in $a + 1", "1:9: `in` is no operand of this operator"),
        ("1 in 2", "1:6: expected a component of the event"),
        ("exist 1", "1:7: expected a component of the event"),
        ("default x", "1:9: expected a component of the event"),
        ("'abc", "1:1: the string does not end"),
        ("'abc\\'", "1:1: the string does not end"),
        ("$a == \"x\"", "1:7: `\"` is not part of the language"),
        ("$a && $b", "1:4: `&` is not part of the language"),
        ("$a ! $b", "1:4: `!` is not part of the language"),
        ("1e + 1", "1:1: the exponent has no digits"),
        ("1e+ 1", "1:1: the exponent has no digits"),
        ("12ab", "1:1: a number ends in letters"),
        ("1e999", "1:1: the number is too large"),
        (
            "$.",
            "1:3: expected a member's name or position, or a union's discriminator",
        ),
        (
            "$.header.*",
            "1:10: expected a member's name or position, or a union's discriminator",
        ),
        ("$a[x]", "1:4: expected an index"),
        ("$a[1", "1:5: expected `]`"),
        ("$a[99999999999]", "1:4: expected an index"),
        ("$a(1)", "1:4: expected the name of a value in a list"),
        ("$a(b", "1:5: expected `)`"),
        (
            "$a.(x)",
            "1:5: expected a discriminator: a number, or a string",
        ),
        ("$a._length.x", "1:11: `.` is not part of the language"),
        ("$a not in $b", "1:4: expected an operator"),
        ("Ä == 1", "1:1: `Ä` is not part of the language"),
    ] {
        assert_eq!(compile(text).unwrap_err().to_string(), message, "{text}");
    }
}

#[test]
fn the_plain_language_names_properties_with_or_without_a_sign() {
    let compile = |text| Constraint::compile(Grammar::Tcl, text, &Limits::DEFAULT);
    let constraint =
        compile("Cost < 5 and 'a4' in papersizes and exist Rate and default > 1").unwrap();
    let fields: Vec<String> = constraint.fields().collect();
    assert_eq!(fields, ["$Cost", "$papersizes", "$Rate", "$default"]);
    let with = "$.header.fixed_header.event_type.type_name == 'NT_ALARM' and $Cost < 5 and exist $l(n)[0] \
        and 'a4' in $papersizes and $.0._length > 1";
    let extended = Constraint::compile(Grammar::ExtendedTcl, with, &Limits::DEFAULT).unwrap();
    assert_eq!(compile(with).unwrap().to_string(), extended.to_string());
    // All else is as the Trading Service has it: `default` is no operator, and a name has no parts.
    for (text, message) in [
        ("default $.u", "1:9: expected an operator"),
        ("Cost.unit == 1", "1:5: `.` is not part of the language"),
        ("$", ""),
        ("$ $", "1:3: expected an operator"),
    ] {
        let outcome = compile(text).map_or_else(|mistake| mistake.to_string(), |_| String::new());
        assert_eq!(outcome, message, "{text}");
    }
}

#[test]
fn grammars_have_the_names_of_the_standard() {
    for (name, grammar) in [
        ("EXTENDED_TCL", Some(Grammar::ExtendedTcl)),
        ("ETCL", Some(Grammar::ExtendedTcl)),
        ("TCL", Some(Grammar::Tcl)),
        ("tcl", None),
        ("", None),
    ] {
        assert_eq!(Grammar::named(name), grammar);
    }
    for grammar in [Grammar::ExtendedTcl, Grammar::Tcl] {
        assert_eq!(Grammar::named(grammar.name()), Some(grammar));
    }
}

#[test]
fn the_fields_of_a_constraint_are_listed_once_as_they_are_written() {
    let text = "$a == 1 and ($.header.0[3] == 2 or 'x' in $l(n).(-3)) and $a != 3 and exist $.('b').() \
        and $._type_id == '' and $b.\\_d._d == 0 and $c('d e') == 1 and default $u._d";
    let fields: Vec<String> = compile(text).unwrap().fields().collect();
    assert_eq!(
        fields,
        [
            "$a",
            "$.header.0[3]",
            "$l(n).(-3)",
            "$.('b').()",
            "$._type_id",
            "$b.\\_d._d",
            "$c('d e')",
            "$u"
        ]
    );
}

#[test]
fn terminals_do_not_obey_what_a_mistake_shows() {
    let text = format!("$a == '\u{1b}[31m\u{9b}' + {} ?", "x ~ ".repeat(100));
    let rendered = compile(&text).unwrap_err().render(false);
    assert!(!rendered.contains('\u{1b}') && !rendered.contains('\u{9b}'));
    assert!(rendered.lines().all(|line| line.len() < 200));
}
