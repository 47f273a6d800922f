//! References, attributes, exceptions, one-ways and contexts.

use super::{Case, Relay, same, text, twisted};
use crate::params as p;
use punctual::{Context, Interface, ObjectRef, UserException};
use std::time::{Duration, Instant};

pub(super) fn cases() -> Vec<Case> {
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
    // The reference that came back can be called.
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

/// System exceptions that a peer is asked to raise: name, minor code, completion status.
pub(crate) const ORDERED: [(&str, u32, u32); 4] = [
    ("NO_PERMISSION", 0x1234_5678, 0),
    ("BAD_QOS", u32::MAX, 1),
    ("INTERNAL", 0, 2),
    ("DATA_CONVERSION", 0x4f4d_0001, 1),
];

/// Checks that the raised system exception is the one that was asked for.
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
    // The peer's server passes the one-ways on by threads of its own, at any time.
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let sum = relay.here.posted().map_err(failed)? - before;
        if sum == 5050 || Instant::now() > deadline {
            return same("the sum", &sum, &5050);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
