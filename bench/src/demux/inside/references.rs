//! Cost of references: making one for an activated object, writing it as text, reading it from
//! text, narrowing it.

use super::super::idl::demux::One;
use super::super::interfaces::Idle;
use super::{Line, each};
use crate::Result;
use punctual::{Interface, ListenEndpoint, ObjectRef, Orb, RootPoa};

/// Goal: upper bound in nanoseconds of activating an object and returning its typed reference, as
/// in a program that makes an object for each of its clients.
const ACTIVATED: f64 = 1000.0;
/// Goal: upper bound in nanoseconds of writing the reference as text in addition.
const TEXT: f64 = 1500.0;

/// Number of object references in a timed batch.
const OBJECTS: usize = 1000;

pub(super) fn measure() -> Result<Vec<Line>> {
    let orb = Orb::builder()
        .configure(|config| config.listen.push(ListenEndpoint::iiop("127.0.0.1", 0)))
        .build()?;
    let root = orb.root_poa()?;
    orb.listen()?;
    root.manager().activate()?;
    let mut failed = 0_u32;
    let times = vec![(); OBJECTS];

    let mut objects: Vec<One> = Vec::new();
    let activated = each(&times, |()| match root.activate(Idle) {
        Ok(object) => objects.push(object),
        Err(_) => failed += 1,
    });
    objects.truncate(OBJECTS);
    let mut longest = 0;
    let written = each(&objects, |object| match orb.object_to_string(object) {
        Ok(text) => longest = text.len().max(longest),
        Err(_) => failed += 1,
    });
    let texts: Vec<String> = objects
        .iter()
        .map(|object| orb.object_to_string(object))
        .collect::<std::result::Result<_, _>>()?;
    let read = each(&texts, |text| {
        failed += u32::from(orb.string_to_object(text).is_err());
    });
    let untyped: Vec<ObjectRef> = texts
        .iter()
        .map(|text| orb.string_to_object(text))
        .collect::<std::result::Result<_, _>>()?;
    let narrowed = each(&untyped, |object| {
        failed += u32::from(One::narrow(object.clone()).is_err());
    });
    drop((objects, untyped, root));
    orb.shutdown(true)?;
    if failed > 0 {
        return Err(format!("{failed} references failed").into());
    }
    Ok(vec![
        Line::new("activating, and the typed reference", "ns", activated).at_most(ACTIVATED),
        Line::new("object_to_string", "ns", written).at_most(TEXT),
        Line::new("string_to_object", "ns", read),
        Line::new("narrow, to the type it says it has", "ns", narrowed),
        Line::new("a reference's text", "octets", super::count(longest)),
    ])
}
