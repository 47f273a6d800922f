//! Values that go to the peer's server, through the peer's client, to our servant, and back.

use crate::params as p;
use punctual::{Char, Context, Fixed, Interface, ObjectRef, SystemExceptionKind, UserException};
use std::fmt::Debug;
use std::time::{Duration, Instant};

/// What a case is tried with.
#[derive(Debug)]
pub(crate) struct Relay {
    /// The peer's relay.
    pub(crate) there: p::Parameters,
    /// Our servant behind it, called directly.
    pub(crate) here: p::Parameters,
    /// Whether UTF-8 is the code set of a hop, where one octet carries ASCII only.
    pub(crate) utf8: bool,
}

/// The row of characters that take two octets in UTF-8.
pub(crate) const BEYOND_ASCII: &str = "char beyond ASCII";

/// A row of the matrix.
#[derive(Debug)]
pub(crate) struct Case {
    /// The row's name.
    pub(crate) name: &'static str,
    /// Whether wide characters travel.
    pub(crate) wide: bool,
    /// What is tried; the error says what was wrong.
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

/// What came back of one call: returned is the inout parameter, the in parameter is inout and out.
fn twisted<T: PartialEq + Debug>(
    (first, second): (&T, &T),
    inout: &T,
    (result, out): (&T, &T),
) -> Result<(), String> {
    same("the result", result, second)?;
    same("the inout parameter", inout, first)?;
    same("the out parameter", out, first)
}

/// Calls an operation with each pair, and with each pair the other way round.
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

/// Every case there is.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = scalars();
    cases.extend(texts());
    cases.extend(structures());
    cases.extend(sequences());
    cases.extend(arrays_and_unions());
    cases.extend(objects());
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

/// By their bits: a NaN is not equal to itself, and -0 is equal to 0.
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

/// A char is one octet, whatever the code set (CORBA 3.3 part 2, §9.3.1.6).
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

/// Whether it raised DATA_CONVERSION.
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

fn sequences() -> Vec<Case> {
    vec![
        pairs!(
            e_octets,
            [
                (vec![], vec![0, 127, 128, 255]),
                (vec![7; 300_000], vec![1])
            ]
        ),
        pairs!(e_booleans, [(vec![], vec![true, false, true])]),
        pairs!(e_chars, [(vec![], vec![Char(b'a'), Char(0x7f), Char(0)])]),
        pairs!(e_widechars, true, [(vec![], vec!['€', 'a', '\u{ffee}'])]),
        pairs!(
            e_shorts,
            [
                (vec![], vec![i16::MIN, 0, i16::MAX]),
                (vec![-7; 100_001], vec![1])
            ]
        ),
        pairs!(e_ushorts, [(vec![], vec![u16::MIN, u16::MAX])]),
        pairs!(
            e_longs,
            [
                (vec![], vec![i32::MIN, 0, i32::MAX]),
                (vec![-7; 100_001], vec![1])
            ]
        ),
        pairs!(e_ulongs, [(vec![], vec![u32::MIN, u32::MAX])]),
        pairs!(
            e_longlongs,
            [
                (vec![], vec![i64::MIN, 0, i64::MAX]),
                (vec![-7; 100_001], vec![1])
            ]
        ),
        pairs!(e_ulonglongs, [(vec![], vec![u64::MIN, u64::MAX])]),
        pairs!(e_floats, [(vec![], vec![f32::INFINITY, -0.5])]),
        pairs!(
            e_doubles,
            [
                (vec![], vec![f64::INFINITY, -0.5]),
                (vec![0.5; 100_001], vec![1.0])
            ]
        ),
        pairs!(
            e_strings,
            [(vec![], vec![text(""), text("ß"), text("xyz")])]
        ),
        pairs!(
            e_widestrings,
            true,
            [(vec![], vec![text(""), text("\u{1f980}"), text("xyz")])]
        ),
        pairs!(e_colours, [(vec![], vec![p::Colour::Blue, p::Colour::Red])]),
        pairs!(
            e_points,
            [
                (vec![], vec![point(1), point(2)]),
                (vec![point(3); 10_000], vec![])
            ]
        ),
        pairs!(e_persons, [(vec![], vec![person("a"), person("")])]),
        pairs!(e_rows, [(vec![], vec![vec![1, 2], vec![], vec![3]])]),
        pairs!(e_fewlongs, [(vec![], vec![1, 2, 3, 4, 5])]),
        pairs!(
            e_fewtags,
            [(vec![], vec![text("12345678"), text(""), text("é")])]
        ),
    ]
}

fn arrays_and_unions() -> Vec<Case> {
    vec![
        pairs!(
            e_matrix,
            [([[1, 2], [3, 4], [5, 6]], [[0, -1], [i32::MIN, 7], [8, 9]])]
        ),
        pairs!(
            e_corners,
            [(
                [point(1), point(2), point(3), point(4)],
                p::Corners::default()
            )]
        ),
        pairs!(
            e_words,
            [([text("one"), text("")], [text("ß"), text("two")])]
        ),
        pairs!(e_digest, [([0; 20], [255; 20])]),
        pairs!(e_ragged, [([vec![1, 2], vec![]], [vec![], vec![3]])]),
        pairs!(
            e_byshort,
            [
                (p::ByShort::Minus(-5), p::ByShort::Few(0, text("x"))),
                (p::ByShort::Few(1, text("")), p::ByShort::Many(point(9))),
                (p::ByShort::Unlabeled(-2), p::ByShort::Unlabeled(i16::MAX)),
            ]
        ),
        pairs!(
            e_byushort,
            [(p::ByUShort::Most(1), p::ByUShort::Other(0, text("ß")))]
        ),
        pairs!(
            e_bylong,
            [
                (p::ByLong::One(0.5), p::ByLong::Rest(2, text("12345678"))),
                (
                    p::ByLong::Rest(i32::MIN, text("")),
                    p::ByLong::Rest(i32::MAX, text("x"))
                ),
            ]
        ),
        pairs!(
            e_byulong,
            [
                (
                    p::ByULong::Large([[1, 2], [3, 4], [5, 6]]),
                    p::ByULong::List(vec![7])
                ),
                (p::ByULong::Unlabeled(5), p::ByULong::List(vec![])),
            ]
        ),
        pairs!(
            e_bylonglong,
            [
                (p::ByLongLong::D(0.5), p::ByLongLong::F(-0.5)),
                (
                    p::ByLongLong::Unlabeled(i64::MIN),
                    p::ByLongLong::Unlabeled(i64::MAX)
                ),
            ]
        ),
        pairs!(
            e_byulonglong,
            [(p::ByULongLong::B(true), p::ByULongLong::S(1 << 63, -1))]
        ),
        pairs!(
            e_byboolean,
            [(p::ByBoolean::Yes(1), p::ByBoolean::No(text("no")))]
        ),
        pairs!(e_byhalf, [(p::ByHalf::Yes(1), p::ByHalf::Unlabeled(false))]),
        pairs!(
            e_bychar,
            [
                (p::ByChar::A(1), p::ByChar::B(Char(b'c'), text("s"))),
                (
                    p::ByChar::Rest(Char(b'~'), 8),
                    p::ByChar::Rest(Char(0), 255)
                ),
            ]
        ),
        pairs!(
            e_bycolour,
            [
                (
                    p::ByColour::Owner(person("o")),
                    p::ByColour::Others(p::Colour::Blue, vec![p::Colour::Red])
                ),
                (
                    p::ByColour::Others(p::Colour::Green, vec![]),
                    p::ByColour::Owner(person(""))
                ),
            ]
        ),
    ]
}

fn objects() -> Vec<Case> {
    let case = |name, run| Case {
        name,
        wide: false,
        run,
    };
    vec![
        case("e_object", references),
        case("e_named, e_parameters", typed_references),
        case("e_objects", |relay| {
            let objects = [
                Some(ObjectRef::from(relay.here.clone())),
                None,
                Some(ObjectRef::from(relay.there.clone())),
            ];
            let mut inout = vec![None];
            let returned = relay.there.e_objects(&objects, &mut inout);
            let (result, out) = returned.map_err(|error| error.to_string())?;
            twisted((&objects.to_vec(), &vec![None]), &inout, (&result, &out))
        }),
        case("attributes", attributes),
        case("user exceptions", user_exceptions),
        case("system exceptions", system_exceptions),
        case("one-ways", one_ways),
        case("context", |relay| {
            let mut context = Context::new();
            context.set("user", "anna");
            context.set("project_a", "orb");
            context.set("secret", "not asked for");
            let said = relay
                .there
                .in_context(7, &context)
                .map_err(|error| error.to_string())?;
            same("the answer", &said, &text("7 project_a=orb user=anna"))
        }),
    ]
}

fn references(relay: &Relay) -> Result<(), String> {
    let here = Some(ObjectRef::from(relay.here.clone()));
    let there = Some(ObjectRef::from(relay.there.clone()));
    for (first, second) in [
        (&here, &there),
        (&there, &None),
        (&None, &here),
        (&None, &None),
    ] {
        let mut inout = second.clone();
        let returned = relay.there.e_object(first.as_ref(), &mut inout);
        let (result, out) = returned.map_err(|error| error.to_string())?;
        twisted((first, second), &inout, (&result, &out))?;
    }
    Ok(())
}

fn typed_references(relay: &Relay) -> Result<(), String> {
    let here = p::Named::from(relay.here.clone());
    let mut inout = None;
    let returned = relay.there.e_named(Some(&here), &mut inout);
    let (result, out) = returned.map_err(|error| error.to_string())?;
    same("the result", &result.is_none(), &true)?;
    // What came back can be called.
    let named = out.ok_or("nil came back instead of an object")?;
    same(
        "its name",
        &named.name().map_err(|error| error.to_string())?,
        &text("Punctual"),
    )?;

    let mut inout = Some(relay.here.clone());
    let returned = relay.there.e_parameters(Some(&relay.there), &mut inout);
    let (result, _) = returned.map_err(|error| error.to_string())?;
    let inout = inout.ok_or("nil came back as inout parameter")?;
    same(
        "the inout parameter",
        inout.as_object(),
        relay.there.as_object(),
    )?;
    let result = result.ok_or("nil came back as result")?;
    same(
        "a call",
        &result.fail(5).map_err(|error| error.to_string())?,
        &5,
    )
}

fn attributes(relay: &Relay) -> Result<(), String> {
    let failed = |error: punctual::SystemException| error.to_string();
    for value in [i32::MIN, 0, 42] {
        relay.there.set_counter(value).map_err(failed)?;
        same("counter", &relay.there.counter().map_err(failed)?, &value)?;
        same(
            "counter here",
            &relay.here.counter().map_err(failed)?,
            &value,
        )?;
    }
    for value in [p::Colour::Blue, p::Colour::Red] {
        relay.there.set_tint(value).map_err(failed)?;
        same("tint", &relay.there.tint().map_err(failed)?, &value)?;
    }
    same(
        "name",
        &relay.there.name().map_err(failed)?,
        &text("Punctual"),
    )
}

fn user_exceptions(relay: &Relay) -> Result<(), String> {
    same(
        "fail(0)",
        &relay.there.fail(0).map_err(|error| error.to_string())?,
        &0,
    )?;
    match relay.there.fail(1) {
        Err(p::ParametersFailError::Empty(p::Empty)) => {}
        other => return Err(format!("{other:?} instead of {}", p::Empty::REPOSITORY_ID)),
    }
    match relay.there.fail(2) {
        Err(p::ParametersFailError::Detailed(detailed)) => {
            same("the exception", &detailed, &crate::servants::detailed())?;
        }
        other => {
            return Err(format!(
                "{other:?} instead of {}",
                p::Detailed::REPOSITORY_ID
            ));
        }
    }
    match relay.there.greet("") {
        Err(p::NamedGreetError::Refused(refused)) => same("why", &refused.why, &text("nobody")),
        other => Err(format!(
            "{other:?} instead of {}",
            p::Refused::REPOSITORY_ID
        )),
    }
}

/// The system exceptions that a peer is told to raise: name, minor code, completion.
pub(crate) const ORDERED: [(&str, u32, u32); 4] = [
    ("NO_PERMISSION", 0x1234_5678, 0),
    ("BAD_QOS", u32::MAX, 1),
    ("INTERNAL", 0, 2),
    ("DATA_CONVERSION", 0x4f4d_0001, 1),
];

/// Whether a system exception is the one that was ordered.
pub(crate) fn as_ordered(
    got: Result<(), punctual::SystemException>,
    (name, minor, completed): (&str, u32, u32),
) -> Result<(), String> {
    let Err(exception) = got else {
        return Err(format!("{name} was not raised"));
    };
    let got = (
        exception.kind().name(),
        exception.minor(),
        exception.completed().number(),
    );
    same("the exception", &got, &(name, minor, completed))
}

fn system_exceptions(relay: &Relay) -> Result<(), String> {
    ORDERED.into_iter().try_for_each(|order| {
        let (name, minor, completed) = order;
        as_ordered(relay.there.fail_system(name, minor, completed), order)
    })
}

fn one_ways(relay: &Relay) -> Result<(), String> {
    let failed = |error: punctual::SystemException| error.to_string();
    let before = relay.here.posted().map_err(failed)?;
    for value in 1..=100 {
        relay.there.post(value).map_err(failed)?;
    }
    // The peer's server has threads of its own, which pass the one-ways on when they will.
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let sum = relay.here.posted().map_err(failed)? - before;
        if sum == 5050 || Instant::now() > deadline {
            return same("the sum", &sum, &5050);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
