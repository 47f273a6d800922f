//! Mistakes in texts.

use crate::support::compile;

#[test]
fn a_mistake_is_shown_where_it_is() {
    let mistake = compile("$type_name == 'x' and\n  and $a = 5").unwrap_err();
    assert_eq!(mistake.to_string(), "2:3: expected a value");
    assert_eq!(mistake.span(), 24..27);
    assert_eq!(
        mistake.render(false),
        "error: expected a value\n --> constraint:2:3\n  |\n2 |   and $a = 5\n  |   ^^^ not a value"
    );
}
