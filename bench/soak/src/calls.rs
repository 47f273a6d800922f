//! Calls of every kind, with every answer checked.

use crate::idl::soak::{Choice, Colour, Octets, Part, Parts, Target, TargetAddError};
use crate::random::Random;
use crate::servant::are_one;
use crate::work::Work;
use punctual::dynamic::{InvokeError, Request};
use punctual::{Any, Interface, TypeCode};
use std::fmt::{Debug, Display};
use std::time::{Duration, Instant};

/// Size in bytes of the octet sequence in the largest call.
const LARGE: usize = 1 << 20;
/// Inverse of the probability that a call with a sequence of octets has the largest size.
const LARGE_EVERY: usize = 16;
/// Text in each wide string, with an emoji appended there. Other strings carry no text beyond an
/// 8-bit code set.
const TEXT: &str = "Grüße, soak";
/// Time after which a one-way request that has not arrived counts as lost.
const ARRIVAL: Duration = Duration::from_secs(20);

/// Makes a round of calls on an object: one sum, and some of the other kinds, chosen at random.
///
/// # Errors
/// The first wrong answer.
pub(crate) fn round(target: &Target, random: &mut Random, work: &Work) -> Result<(), String> {
    let calls: [(&str, Call); 9] = [
        ("a user exception", too_large),
        ("a struct, a union, strings", turn),
        ("an Any", pass),
        ("a request without a stub", dynamic),
        ("octets", octets),
        ("a reference", reference),
        ("LocateRequest", locate),
        ("_is_a, _non_existent", implicit),
        ("a wait", wait),
    ];
    add(target, random).map_err(|error| format!("a number: {error}"))?;
    for _ in 0..4 {
        let (name, call) = random.one_of(&calls);
        call(target, random).map_err(|error| format!("{name}: {error}"))?;
        work.record_done();
    }
    work.record_done();
    Ok(())
}

type Call = fn(&Target, &mut Random) -> Result<(), String>;

/// Calls the operation that adds two numbers once, and checks the sum.
///
/// # Errors
/// The wrong answer or the exception.
pub(crate) fn add(target: &Target, random: &mut Random) -> Result<(), String> {
    let (a, b) = (small(random), small(random));
    expect(&target.add(a, b).map_err(shown)?, &(a + b))
}

fn too_large(target: &Target, random: &mut Random) -> Result<(), String> {
    let by = 1 + small(random).abs();
    match target.add(i32::MAX, by) {
        Err(TargetAddError::Refused(refused)) => expect(&refused.by, &by),
        Err(TargetAddError::System(exception)) => Err(shown(exception)),
        Ok(sum) => Err(format!("{sum} is no sum")),
    }
}

fn turn(target: &Target, random: &mut Random) -> Result<(), String> {
    let given = parts(random);
    let sent = match random.below(3) {
        0 => Choice::Number(small(random)),
        1 => Choice::Text(text(random)),
        _ => Choice::Several(Colour::Blue, parts(random)),
    };
    let mut choice = sent.clone();
    let (turned, names) = target.turn(&mut choice, &given).map_err(shown)?;
    expect(&choice, &sent)?;
    let expected: Parts = given.iter().rev().cloned().collect();
    expect(&turned, &expected)?;
    let expected: Vec<String> = given.into_iter().map(|part| part.name).collect();
    expect(&names, &expected)
}

fn pass(target: &Target, random: &mut Random) -> Result<(), String> {
    let sent = parts(random);
    let back = target.pass(&Any::new(&sent).map_err(shown)?);
    let back: Parts = back.map_err(shown)?.extract().map_err(shown)?;
    expect(&back, &sent)?;
    let inner = Any::new(text(random).as_str()).map_err(shown)?;
    let back = target.pass(&Any::new(&inner).map_err(shown)?);
    let back: Any = back.map_err(shown)?.extract().map_err(shown)?;
    expect(&back, &inner)
}

fn dynamic(target: &Target, random: &mut Random) -> Result<(), String> {
    let (a, b) = (small(random), small(random));
    let long = |value: &i32| Any::new(value).map_err(shown);
    let mut request = Request::new(target, "add");
    request
        .add_in("a", long(&a)?)
        .add_in("b", long(&b)?)
        .set_return_type(&TypeCode::LONG);
    request.invoke().map_err(invoked)?;
    let sum: i32 = request.return_value().extract().map_err(shown)?;
    expect(&sum, &(a + b))?;
    let sent = parts(random);
    let mut request = Request::new(target, "pass");
    let value = Any::new(&Any::new(&sent).map_err(shown)?).map_err(shown)?;
    request
        .add_in("value", value)
        .set_return_type(&TypeCode::ANY);
    request.invoke().map_err(invoked)?;
    let back: Any = request.return_value().extract().map_err(shown)?;
    expect(&back.extract::<Parts>().map_err(shown)?, &sent)
}

fn octets(target: &Target, random: &mut Random) -> Result<(), String> {
    let length = match random.below(LARGE_EVERY) {
        0 => LARGE,
        _ => random.below(9000),
    };
    let sent: Octets = vec![random.octets(1)[0]; length];
    match target.echo(&sent).map_err(shown)? == sent {
        true => Ok(()),
        false => Err(format!("{length} octets came back as others")),
    }
}

fn reference(target: &Target, _: &mut Random) -> Result<(), String> {
    let back = target.same(Some(target)).map_err(shown)?;
    let is_same = back.is_some_and(|back| are_one(&back, target));
    expect(&is_same, &true)?;
    expect(&target.same(None).map_err(shown)?.is_none(), &true)
}

fn locate(target: &Target, _: &mut Random) -> Result<(), String> {
    expect(&target.as_object().locate().map_err(shown)?, &true)
}

fn implicit(target: &Target, _: &mut Random) -> Result<(), String> {
    let object = target.as_object();
    expect(&object.is_a(Target::REPOSITORY_ID).map_err(shown)?, &true)?;
    expect(&object.is_a("IDL:soak/Other:1.0").map_err(shown)?, &false)?;
    expect(&object.non_existent().map_err(shown)?, &false)
}

fn wait(target: &Target, random: &mut Random) -> Result<(), String> {
    target
        .wait(u32::try_from(random.below(5)).unwrap_or_default())
        .map_err(shown)
}

/// Sends one-ways by the reference `way` to an object that receives them from this caller only, and
/// waits until all have arrived; `sent` is the number sent so far, and is updated.
///
/// # Errors
/// Some one-ways do not arrive, or more arrive than were sent.
pub(crate) fn one_ways(
    (way, target): (&Target, &Target),
    sent: &mut u64,
    random: &mut Random,
    work: &Work,
) -> Result<(), String> {
    let count = 1 + random.below(40);
    for _ in 0..count {
        let length = random.below(200);
        way.note(&random.octets(length)).map_err(shown)?;
        *sent += 1;
        work.record_done();
    }
    way.as_object().flush();
    let began = Instant::now();
    loop {
        let noted = target.noted().map_err(shown)?;
        if noted == *sent {
            return Ok(());
        }
        if noted > *sent || began.elapsed() > ARRIVAL {
            return Err(format!("{noted} one-ways arrived of {sent}"));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn parts(random: &mut Random) -> Parts {
    let count = random.below(12);
    let part = |random: &mut Random| Part {
        name: text(random),
        note: format!("{TEXT} \u{1f980} {}", random.below(1000))
            .as_str()
            .into(),
        weight: f64::from(small(random)) / 8.0,
        shade: *random.one_of(&[Colour::Red, Colour::Green, Colour::Blue]),
        count: random.next().cast_signed(),
    };
    (0..count).map(|_| part(random)).collect()
}

fn text(random: &mut Random) -> String {
    let length = random.below(120);
    (0..length)
        .map(|_| char::from(b'a' + random.octets(1)[0] % 26))
        .collect()
}

/// Returns a random number small enough for the sum of two to fit.
fn small(random: &mut Random) -> i32 {
    i32::try_from(random.below(2_000_000)).unwrap_or_default() - 1_000_000
}

fn expect<T: PartialEq + Debug>(got: &T, expected: &T) -> Result<(), String> {
    match got == expected {
        true => Ok(()),
        false => Err(format!("{got:.200?} instead of {expected:.200?}")),
    }
}

pub(crate) fn shown(error: impl Display) -> String {
    error.to_string()
}

fn invoked(error: InvokeError) -> String {
    match error {
        InvokeError::System(exception) => shown(exception),
        InvokeError::User(exception) => format!("{exception:?}"),
    }
}
