//! Values that are sent to the peer's server, passed on by the peer's client to our servant, and
//! returned.

use crate::params as p;
use punctual::{Char, Fixed, SystemExceptionKind};
use std::fmt::Debug;

/// Objects that a relayed test case calls.
#[derive(Debug)]
pub(crate) struct Relay {
    /// Object of the peer that relays calls to Punctual's servant.
    pub(crate) there: p::Parameters,
    /// Our servant to which the peer relays, called directly.
    pub(crate) here: p::Parameters,
    /// Set if UTF-8 is the code set of one of the two calls; there, a char of one octet can hold
    /// ASCII only.
    pub(crate) utf8: bool,
}

/// Name of the row that tests characters that take two octets in UTF-8.
pub(crate) const BEYOND_ASCII: &str = "char beyond ASCII";

/// Test case for relayed values, which is one row of the interoperability matrix.
#[derive(Debug)]
pub(crate) struct Case {
    /// Name of the test case, which is the matrix row.
    pub(crate) name: &'static str,
    /// `true` if the test case sends wide characters.
    pub(crate) wide: bool,
    /// Function that runs the case; its error says what was wrong.
    pub(crate) run: fn(&Relay) -> Result<(), String>,
}

fn same<T: PartialEq + Debug>(what: &str, got: &T, expected: &T) -> Result<(), String> {
    if got == expected {
        return Ok(());
    }
    let mut text = format!("{what} is {got:?} instead of {expected:?}");
    if let Some((cut, _)) = text.char_indices().nth(400) {
        text.truncate(cut);
        text.push('…');
    }
    Err(text)
}

/// Checks the results of one call: the result must be the inout argument's value, and the inout and
/// out parameters must have the in argument's value.
fn twisted<T: PartialEq + Debug>(
    (first, second): (&T, &T),
    inout: &T,
    (result, out): (&T, &T),
) -> Result<(), String> {
    same("the result", result, second)?;
    same("the inout parameter", inout, first)?;
    same("the out parameter", out, first)
}

/// Calls an operation with each pair of arguments, and with each pair in reverse order.
macro_rules! pairs {
    (@each $operation:ident, $relay:ident, $pairs:expr, |$a:ident| $argument:expr) => {{
        for (first, second) in $pairs {
            for (first, second) in [(first.clone(), second.clone()), (second, first)] {
                let mut inout = second.clone();
                let $a = &first;
                let returned = $relay.there.$operation($argument, &mut inout);
                let (result, out) = returned.map_err(|error| error.to_string())?;
                twisted((&first, &second), &inout, (&result, &out))?;
            }
        }
        Ok(())
    }};
    (value $operation:ident, $pairs:expr) => {
        pairs!(value $operation, false, $pairs)
    };
    (value $operation:ident, $wide:expr, $pairs:expr) => {
        Case {
            name: stringify!($operation),
            wide: $wide,
            run: |relay| pairs!(@each $operation, relay, $pairs, |a| *a),
        }
    };
    ($operation:ident, $pairs:expr) => {
        pairs!($operation, false, $pairs)
    };
    ($operation:ident, $wide:expr, $pairs:expr) => {
        Case {
            name: stringify!($operation),
            wide: $wide,
            run: |relay| pairs!(@each $operation, relay, $pairs, |a| a),
        }
    };
}

// The modules follow the macro, which they use.
mod collections;
mod objects;

pub(crate) use objects::{ORDERED, as_ordered};

fn text(text: &str) -> String {
    text.to_owned()
}

fn numbers() -> p::Numbers {
    p::Numbers {
        b: true,
        o: 255,
        s: i16::MIN,
        us: u16::MAX,
        l: i32::MIN,
        ul: u32::MAX,
        ll: i64::MIN,
        ull: u64::MAX,
        f: f32::NEG_INFINITY,
        d: f64::MIN_POSITIVE / 2.0,
    }
}

fn point(kind: u8) -> p::Point {
    p::Point {
        kind,
        x: -0.25,
        mark: Char(b'~'),
        y: i16::MIN,
    }
}

fn person(name: &str) -> p::Person {
    p::Person {
        name: text(name),
        label: text("12345678"),
        favourite: p::Colour::Blue,
    }
}

fn tree(depth: u32) -> p::Tree {
    let branches = if depth == 0 {
        Vec::new()
    } else {
        vec![tree(depth - 1); 2]
    };
    p::Tree {
        label: depth.to_string(),
        branches,
    }
}

/// Returns all test cases for values that the peer relays.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = scalars();
    cases.extend(texts());
    cases.extend(structures());
    cases.extend(collections::sequences());
    cases.extend(collections::arrays());
    cases.extend(collections::unions());
    cases.extend(objects::cases());
    cases
}

fn scalars() -> Vec<Case> {
    vec![
        pairs!(value e_boolean, [(true, false)]),
        pairs!(value e_octet, [(0, 255), (128, 1)]),
        pairs!(value e_char, [(Char(b'x'), Char(0)), (Char(0x7f), Char(b'~'))]),
        pairs!(value e_wchar, true, [('€', 'x'), ('é', '\u{ffee}')]),
        pairs!(value e_short, [(i16::MIN, i16::MAX), (0, -1)]),
        pairs!(value e_ushort, [(u16::MIN, u16::MAX)]),
        pairs!(value e_long, [(i32::MIN, i32::MAX), (0, -1)]),
        pairs!(value e_ulong, [(u32::MIN, u32::MAX)]),
        pairs!(value e_longlong, [(i64::MIN, i64::MAX), (0, -1)]),
        pairs!(value e_ulonglong, [(u64::MIN, u64::MAX)]),
        Case {
            name: "e_float",
            wide: false,
            run: floats,
        },
        Case {
            name: "e_double",
            wide: false,
            run: doubles,
        },
        pairs!(value e_money, [
            (p::Money::literal(-999_999_999), p::Money::literal(1)),
            (p::Money::literal(0), p::Money::literal(-100)),
        ]),
        pairs!(value e_huge, [
            (Fixed::literal(9_999_999_999_999_999_999_999_999_999_999), Fixed::literal(-1)),
            (Fixed::literal(0), Fixed::literal(-9_999_999_999_999_999_999_999_999_999_999)),
        ]),
        pairs!(value e_fraction, [(Fixed::literal(1), Fixed::literal(-9999))]),
        pairs!(value e_colour, [(p::Colour::Red, p::Colour::Blue)]),
    ]
}

/// Tests floating-point numbers. They are compared by their bits: a NaN is not equal to itself, and
/// -0 is equal to 0.
fn floats(relay: &Relay) -> Result<(), String> {
    let values = [
        f32::NAN,
        -0.0,
        0.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
        f32::MIN,
    ];
    for a in values
        .into_iter()
        .chain([f32::MIN_POSITIVE, f32::from_bits(1)])
    {
        let mut b = -1.5;
        let returned = relay
            .there
            .e_float(a, &mut b)
            .map_err(|error| error.to_string())?;
        let back = [returned.0, b, returned.1].map(f32::to_bits);
        same("what came back", &back, &[-1.5, a, a].map(f32::to_bits))?;
    }
    Ok(())
}

fn doubles(relay: &Relay) -> Result<(), String> {
    let values = [
        f64::NAN,
        -0.0,
        0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
    ];
    for a in values
        .into_iter()
        .chain([f64::MIN_POSITIVE, f64::from_bits(1)])
    {
        let mut b = -1.5;
        let returned = relay
            .there
            .e_double(a, &mut b)
            .map_err(|error| error.to_string())?;
        let back = [returned.0, b, returned.1].map(f64::to_bits);
        same("what came back", &back, &[-1.5, a, a].map(f64::to_bits))?;
    }
    Ok(())
}

/// Tests characters beyond ASCII: a char is one octet, whatever the code set (CORBA 3.3 part 2,
/// §9.3.1.6).
fn beyond_ascii(relay: &Relay) -> Result<(), String> {
    for (first, second) in [(Char(0xe9), Char(0xdf)), (Char(0xff), Char(0xa0))] {
        let mut inout = second;
        let returned = relay.there.e_char(first, &mut inout);
        if relay.utf8 {
            refused_as_not_convertible(returned)?;
        } else {
            let (result, out) = returned.map_err(|error| error.to_string())?;
            twisted((&first, &second), &inout, (&result, &out))?;
        }
    }
    Ok(())
}

/// Checks that a call raised the system exception DATA_CONVERSION.
pub(crate) fn refused_as_not_convertible<T: Debug>(
    returned: Result<T, punctual::SystemException>,
) -> Result<(), String> {
    match returned {
        Err(exception) if exception.kind() == SystemExceptionKind::DataConversion => Ok(()),
        other => Err(format!("{other:?} instead of DATA_CONVERSION")),
    }
}

fn texts() -> Vec<Case> {
    vec![
        pairs!(
            e_string,
            [
                (text(""), text("grüße")),
                ("é".repeat(1 << 20), text("\u{1}\t\u{7f}\u{a0}ÿ")),
            ]
        ),
        Case {
            name: BEYOND_ASCII,
            wide: false,
            run: beyond_ascii,
        },
        pairs!(e_tag, [(text(""), text("é234567"))]),
        pairs!(
            e_wstring,
            true,
            [
                (text(""), text("a€\u{1f980}ß")),
                ("\u{1f980}".repeat(100_000), text("\u{ffff}\u{10ffff}")),
            ]
        ),
        pairs!(e_widetag, true, [(text(""), "€".repeat(8))]),
    ]
}

fn structures() -> Vec<Case> {
    vec![
        pairs!(e_numbers, [(numbers(), p::Numbers::default())]),
        pairs!(e_point, [(point(0), point(255))]),
        pairs!(e_person, [(person(""), person("ß"))]),
        pairs!(
            e_wideperson,
            true,
            [(
                p::WidePerson {
                    name: text("\u{1f980}"),
                    label: "€".repeat(8),
                    initial: '€'
                },
                p::WidePerson {
                    name: text(""),
                    label: text(""),
                    initial: 'a'
                },
            )]
        ),
        pairs!(
            e_line,
            [(
                p::Line {
                    origin: point(1),
                    goal: point(2),
                    owner: person("x")
                },
                p::Line::default(),
            )]
        ),
        pairs!(e_tree, [(tree(0), tree(6))]),
    ]
}
