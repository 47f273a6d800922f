//! Test cases in which our client calls objects implemented by the peer. The answers are compared
//! with texts written by hand, so that a mistake that our client and our server share is found.

mod unions;

use crate::params as p;
use crate::values::{BEYOND_ASCII, ORDERED, as_ordered, refused_as_not_convertible};
use punctual::policy::SyncScope;
use punctual::{Char, Fixed, Interface, ObjectRef, Orb, Policy, SetOverride, SystemExceptionKind};
use punctual_example_cubit::calls;
use punctual_example_cubit::idl::bench::Cubit;
use std::time::{Duration, Instant};
use unions::{
    by_boolean, by_char, by_colour, by_half, by_long, by_longlong, by_short, by_ulong,
    by_ulonglong, by_ushort,
};

/// Objects of the peer that test cases call, with the calling ORB.
#[derive(Debug)]
pub(crate) struct Objects {
    /// Object of the peer that returns a description of its arguments.
    pub(crate) describe: p::Describe,
    /// Reference to `describe` in a client ORB that sends no fragments.
    pub(crate) whole: p::Describe,
    /// Object of the peer that forwards its callers to `describe`.
    pub(crate) forwarder: p::Describe,
    /// Reference to an object of the peer that no longer exists.
    pub(crate) unknown: p::Describe,
    /// Cubit object of the peer.
    pub(crate) cubit: Cubit,
    /// `corbaloc:` URL of an object at a well-known key.
    pub(crate) corbaloc: String,
    /// Object of ours, for the peer to call back.
    pub(crate) mine: p::Named,
    /// Punctual ORB that makes the calls.
    pub(crate) orb: Orb,
    /// Name that the peer's objects return as their own.
    pub(crate) peer: &'static str,
    /// Set if UTF-8 is the code set; there, a char of one octet can hold ASCII only.
    pub(crate) utf8: bool,
}

/// Test case of Punctual's client, which is one row of the interoperability matrix.
#[derive(Debug)]
pub(crate) struct Case {
    /// Name of the test case, which is the matrix row.
    pub(crate) name: &'static str,
    /// `true` if the test case sends wide characters.
    pub(crate) wide: bool,
    /// Function that runs the case; its error says what was wrong.
    pub(crate) run: fn(&Objects) -> Result<(), String>,
}

/// Returns all test cases of Punctual's client.
pub(crate) fn cases() -> Vec<Case> {
    let case = |name, run| Case {
        name,
        wide: false,
        run,
    };
    vec![
        case("locate", locate),
        case("forward", forward),
        case("say_numbers", numbers),
        case("say_text", text),
        case(BEYOND_ASCII, beyond_ascii),
        Case {
            name: "say_wide",
            wide: true,
            run: wide,
        },
        case("say_decimals", decimals),
        case("say_shapes", shapes),
        case("say_by_short", by_short),
        case("say_by_ushort", by_ushort),
        case("say_by_long", by_long),
        case("say_by_ulong", by_ulong),
        case("say_by_longlong", by_longlong),
        case("say_by_ulonglong", by_ulonglong),
        case("say_by_boolean", by_boolean),
        case("say_by_half", by_half),
        case("say_by_char", by_char),
        case("say_by_colour", by_colour),
        case("user exceptions", user_exceptions),
        case("system exceptions", system_exceptions),
        case("references", references),
        case("is_a, non_existent", identity),
        case("one-ways", one_ways),
        case("one-ways that are answered", answered_one_ways),
        case("cubit", cubit),
        case("corbaloc", corbaloc),
        case("16 MiB", |objects| large(&objects.describe)),
        case("16 MiB, one message", |objects| large(&objects.whole)),
    ]
}

/// Checks that a call with wide text fails where wide text is not supported.
pub(crate) fn wide_is_refused(objects: &Objects) -> Result<(), String> {
    match objects.describe.say_wide('€', "€", "€") {
        Err(_) => Ok(()),
        Ok(said) => Err(format!("wide text has travelled: `{said}`")),
    }
}

fn same<T: PartialEq + std::fmt::Debug>(got: T, expected: T) -> Result<(), String> {
    if got == expected {
        return Ok(());
    }
    Err(format!("got {got:?} instead of {expected:?}"))
}

fn says<E: std::fmt::Display>(said: Result<String, E>, expected: &str) -> Result<(), String> {
    same(said.map_err(|error| error.to_string())?.as_str(), expected)
}

fn ok<T, E: std::fmt::Display>(result: Result<T, E>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

fn locate(objects: &Objects) -> Result<(), String> {
    same(ok(objects.describe.as_object().locate())?, true)?;
    match objects.unknown.as_object().locate() {
        Ok(there) => same(there, false)?,
        // From GIOP 1.2 on a LocateReply can also hold the exception (CORBA 3.3 part 2, 9.4.6.1).
        Err(exception) => same(exception.kind(), SystemExceptionKind::ObjectNotExist)?,
    }
    match objects.unknown.name() {
        Err(exception) => same(exception.kind(), SystemExceptionKind::ObjectNotExist),
        Ok(name) => Err(format!("an object that is no more is called `{name}`")),
    }
}

fn forward(objects: &Objects) -> Result<(), String> {
    says(objects.forwarder.name(), objects.peer)?;
    says(objects.forwarder.greet("you"), "hello, you")?;
    same(ok(objects.forwarder.as_object().locate())?, true)
}

fn numbers(objects: &Objects) -> Result<(), String> {
    let v = p::Numbers {
        b: true,
        o: 255,
        s: i16::MIN,
        us: u16::MAX,
        l: i32::MIN,
        ul: u32::MAX,
        ll: i64::MIN,
        ull: u64::MAX,
        f: -0.0,
        d: f64::INFINITY,
    };
    says(
        objects.describe.say_numbers(&v),
        "b=1 o=255 s=-32768 us=65535 l=-2147483648 ul=4294967295 ll=-9223372036854775808 \
         ull=18446744073709551615 f=80000000 d=7ff0000000000000",
    )
}

fn text(objects: &Objects) -> Result<(), String> {
    says(
        objects.describe.say_text(Char(b'~'), "grüß", "12345678"),
        "7e 67,72,fc,df, 31,32,33,34,35,36,37,38,",
    )?;
    says(objects.describe.say_text(Char(0), "", ""), "00  ")
}

fn beyond_ascii(objects: &Objects) -> Result<(), String> {
    let said = objects.describe.say_text(Char(0xe9), "", "");
    if objects.utf8 {
        return refused_as_not_convertible(said);
    }
    says(said, "e9  ")
}

fn wide(objects: &Objects) -> Result<(), String> {
    says(
        objects
            .describe
            .say_wide('€', "a€\u{1f980}ß", &("€".repeat(7) + "\u{ffee}")),
        "20ac, 61,20ac,1f980,df, 20ac,20ac,20ac,20ac,20ac,20ac,20ac,ffee,",
    )
}

fn decimals(objects: &Objects) -> Result<(), String> {
    says(
        objects.describe.say_decimals(
            Fixed::literal(-123_456_789),
            Fixed::literal(9_999_999_999_999_999_999_999_999_999_999),
            Fixed::literal(1),
        ),
        "-1234567.89 9999999999999999999999999999999 0.0001",
    )
}

fn leaf(label: &str) -> p::Tree {
    p::Tree {
        label: label.to_owned(),
        branches: Vec::new(),
    }
}

fn shapes(objects: &Objects) -> Result<(), String> {
    let line = p::Line {
        origin: p::Point {
            kind: 1,
            x: 1.5,
            mark: Char(b'o'),
            y: -1,
        },
        goal: p::Point {
            kind: 255,
            x: -0.0,
            mark: Char(b'~'),
            y: i16::MAX,
        },
        owner: p::Person {
            name: "A".to_owned(),
            label: String::new(),
            favourite: p::Colour::Blue,
        },
    };
    let second = p::Tree {
        branches: vec![leaf("")],
        ..leaf("b")
    };
    let tree = p::Tree {
        branches: vec![leaf("a"), second],
        ..leaf("r")
    };
    says(
        objects.describe.say_shapes(
            &line,
            &tree,
            &[[1, 2], [3, 4], [5, -6]],
            &["x".to_owned(), String::new()],
            &[vec![1, -2], vec![], vec![3]],
        ),
        "(1 3ff8000000000000 6f -1)(255 8000000000000000 7e 32767)(41,  blue) \
         72,[61,[]62,[[]]] 1,2,3,4,5,-6, 78,| 1,-2,||3,|",
    )
}

fn user_exceptions(objects: &Objects) -> Result<(), String> {
    same(ok(objects.describe.fail(0))?, 0)?;
    match objects.describe.fail(1) {
        Err(p::DescribeFailError::Empty(_)) => {}
        other => return Err(format!("{other:?} instead of Empty")),
    }
    match objects.describe.fail(2) {
        Err(p::DescribeFailError::Detailed(got)) => same(got, crate::servants::detailed()),
        other => Err(format!("{other:?} instead of Detailed")),
    }
}

fn system_exceptions(objects: &Objects) -> Result<(), String> {
    ORDERED.into_iter().try_for_each(|order| {
        let (name, minor, completed) = order;
        as_ordered(objects.describe.fail_system(name, minor, completed), order)
    })
}

fn references(objects: &Objects) -> Result<(), String> {
    says(objects.describe.name_of(Some(&objects.mine)), "Punctual")?;
    says(objects.describe.name_of(None), "nil")?;
    let again = ok(objects.describe.myself())?.ok_or("nil came back instead of an object")?;
    same(again.as_object(), objects.describe.as_object())?;
    says(again.name(), objects.peer)?;
    says(objects.describe.name_of(Some(&again.into())), objects.peer)?;
    same(ok(objects.describe.nothing())?, None::<ObjectRef>)
}

fn identity(objects: &Objects) -> Result<(), String> {
    let object = objects.describe.as_object();
    same(ok(object.is_a("IDL:params/Describe:1.0"))?, true)?;
    same(ok(object.is_a("IDL:params/Named:1.0"))?, true)?;
    same(ok(object.is_a("IDL:params/Parameters:1.0"))?, false)?;
    same(ok(object.non_existent())?, false)?;
    same(ok(objects.unknown.as_object().non_existent())?, true)
}

fn one_ways(objects: &Objects) -> Result<(), String> {
    let before = ok(objects.describe.posted())?;
    for value in 1..=100 {
        ok(objects.describe.post(value))?;
    }
    ask_until(5050, || Ok(ok(objects.describe.posted())? - before))
}

/// Tests one-ways that the server confirms (SYNC_WITH_SERVER) and that the servant confirms
/// (SYNC_WITH_TARGET).
fn answered_one_ways(objects: &Objects) -> Result<(), String> {
    let under = |object: &ObjectRef, scope| {
        let policies = [Policy::SyncScope(scope)];
        ok(object.set_policy_overrides(&policies, SetOverride::Add))
    };
    let describe = objects.describe.as_object();
    let by_server = p::Describe::from_object(under(describe, SyncScope::WithServer)?);
    let by_target = p::Describe::from_object(under(describe, SyncScope::WithTarget)?);
    let before = ok(objects.describe.posted())?;
    for value in 1..=100 {
        let so_far = ok(objects.describe.posted())?;
        ok(by_target.post(value))?;
        same(ok(objects.describe.posted())? - so_far, value)?;
    }
    for value in 1..=100 {
        ok(by_server.post(value))?;
    }
    ask_until(10_100, || Ok(ok(objects.describe.posted())? - before))?;
    for scope in [SyncScope::WithServer, SyncScope::WithTarget] {
        let unknown = p::Describe::from_object(under(objects.unknown.as_object(), scope)?);
        let heard = unknown.post(1).map_err(|error| error.kind());
        same(heard, Err(SystemExceptionKind::ObjectNotExist))?;
    }
    Ok(())
}

/// Repeats a call until the answer is as expected or 10 seconds have passed: omniORB may serve a
/// call before a one-way that came earlier on the same connection.
fn ask_until<T: PartialEq + std::fmt::Debug>(
    expected: T,
    ask: impl Fn() -> Result<T, String>,
) -> Result<(), String> {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let got = ask()?;
        if got == expected || Instant::now() > deadline {
            return same(got, expected);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn cubit(objects: &Objects) -> Result<(), String> {
    const CALLS: u64 = 50;
    let before = ok(objects.cubit.pings())?;
    for kind in calls::kinds(&objects.cubit) {
        ok(kind.time(CALLS)).map_err(|problem| format!("{}: {problem}", kind.name))?;
    }
    let sent = calls::pings_of(CALLS);
    ask_until(sent, || Ok(ok(objects.cubit.pings())? - before))?;
    ok(calls::verify(&objects.cubit, before, sent))
}

fn corbaloc(objects: &Objects) -> Result<(), String> {
    let object = ok(objects.orb.string_to_object(&objects.corbaloc))?;
    // The reference has no type id, so that the server is asked.
    let known: p::Describe = ok(Interface::narrow(object))?;
    says(known.name(), objects.peer)
}

fn large(describe: &p::Describe) -> Result<(), String> {
    let octets: Vec<u8> = (0_u32..16 << 20)
        .map(|i| (i ^ (i >> 8) ^ (i >> 16)).to_le_bytes()[0])
        .collect();
    let back = ok(describe.invert(&octets))?;
    same(back.len(), octets.len())?;
    match back
        .iter()
        .zip(&octets)
        .position(|(got, sent)| *got != !sent)
    {
        Some(at) => Err(format!("another octet at {at}")),
        None => Ok(()),
    }
}
