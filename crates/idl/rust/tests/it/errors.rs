//! Tests of the errors of operations that raise the same exceptions: one enum each, laid out alike.
#![allow(clippy::unwrap_used)]

use crate::support;

use support::generated;

const EXCEPTIONS: &str = "exception First {}; exception SecondOfThem { string why; };
    exception AnErrorWithAVeryLongNameThatTakesALineByItself {};";

fn operation(name: &str, raises: &str) -> String {
    format!("void {name}() raises ({raises});")
}

/// Returns the lines that define an enum, from its comment to the macro's call, without the
/// attributes of a file's items.
fn definition(text: &str, method: &str) -> Vec<String> {
    let start = text.find(&format!("/// Errors of `{method}`.")).unwrap();
    let lines = text[start..].lines().map(str::trim);
    let mut lines = lines.filter(|line| !line.starts_with("#[allow(dead_code"));
    let mut definition: Vec<String> = Vec::new();
    loop {
        let line = lines.next().unwrap();
        definition.push(line.to_owned());
        if line.ends_with(");") {
            return definition;
        }
    }
}

#[test]
fn enums_of_the_same_exceptions_are_laid_out_as_one_by_itself_is() {
    let long = "First, SecondOfThem, AnErrorWithAVeryLongNameThatTakesALineByItself";
    let operations = [
        ("a", "First"),
        ("b", "First"),
        ("another_operation_of_some_length", "First"),
        ("c", long),
        ("d", long),
        ("with_a_name_that_breaks_lines_elsewhere", long),
        ("with_a_name_that_breaks_lines_somewhere", long),
        ("e", "SecondOfThem"),
        ("one_of_two", "First, SecondOfThem"),
    ];
    let all: String = operations
        .map(|(name, raises)| operation(name, raises))
        .concat();
    let together = generated(&format!(
        "module m {{ {EXCEPTIONS} interface I {{ {all} }}; }};"
    ));
    for (name, raises) in operations {
        let alone = operation(name, raises);
        // The enums of a file are each laid out by themselves; names that are longer by an indent
        // take its place.
        let alone = generated(&format!("{EXCEPTIONS} interface Iiiii {{ {alone} }};"));
        let expected = definition(&alone, name).join("\n").replace("Iiiii", "I");
        assert_eq!(definition(&together, name).join("\n"), expected);
    }
    assert_eq!(
        together.matches("/// Errors of `").count(),
        operations.len()
    );
    assert!(!together.contains("E__"), "{together}");
}
