//! Interpreted stubs, which must send the requests that compiled stubs send.
#![allow(clippy::unwrap_used)]

use crate::support;

/// Rust that the IDL compiler generates from `idl/interpreted.idl`.
mod generated {
    include!(concat!(env!("OUT_DIR"), "/interpreted.rs"));
}

use generated::interpreted::{Desk, DeskServant, DeskShortenError, Numbers, Point, Refused, Words};
use punctual::{Context, ListenEndpoint, Orb, Poa, RootPoa, SystemException, SystemExceptionKind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI16, Ordering};
use std::time::Duration;
use support::watchdog;

#[derive(Default)]
struct Office {
    level: AtomicI16,
    notes: Mutex<String>,
}

impl DeskServant for Office {
    fn level(&self) -> Result<i16, SystemException> {
        Ok(self.level.load(Ordering::Relaxed))
    }

    fn set_level(&self, value: i16) -> Result<(), SystemException> {
        self.level.store(value, Ordering::Relaxed);
        Ok(())
    }

    fn note(&self, text: &str) -> Result<(), SystemException> {
        self.notes.lock().unwrap().push_str(text);
        Ok(())
    }

    fn double_of(&self, value: i32) -> Result<i32, SystemException> {
        Ok(value * 2)
    }

    fn shorten(&self, text: &str, list: &mut Numbers) -> Result<(String, Words), DeskShortenError> {
        let why = || "empty".to_owned();
        let first = text.split(' ').next().filter(|word| !word.is_empty());
        let first = first.ok_or_else(|| Refused { why: why() })?;
        list.pop();
        let rest = text.split(' ').skip(1).map(str::to_owned).collect();
        Ok((first.to_owned(), rest))
    }

    fn turn(
        &self,
        place: &mut Point,
        other: Option<&Desk>,
    ) -> Result<Option<Desk>, SystemException> {
        (place.x, place.y) = (place.y, -place.x);
        Ok(other.cloned())
    }

    fn told(&self) -> Result<String, SystemException> {
        Ok(self.notes.lock().unwrap().clone())
    }

    fn setting(&self, context: &Context) -> Result<String, SystemException> {
        Ok(context.value("desk.lamp").unwrap_or("none").to_owned())
    }
}

fn desk() -> (Poa, Desk) {
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()
        .unwrap();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let desk = poa.activate(Office::default()).unwrap();
    (poa, desk)
}

#[test]
fn arguments_and_results_of_all_directions_pass_through_interpreted_stubs() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let (poa, desk): (Poa, Desk) = desk();
    assert_eq!(desk.double_of(21), Ok(42));
    desk.set_level(-7).unwrap();
    assert_eq!(desk.level(), Ok(-7));
    let mut list = vec![1, 2, 3];
    let shortened = desk.shorten("one größere two", &mut list);
    let rest = vec!["größere".to_owned(), "two".to_owned()];
    assert_eq!(shortened, Ok(("one".to_owned(), rest)));
    assert_eq!(list, [1, 2]);
    let mut place = Point { x: 1.0, y: 2.0 };
    let same = desk.turn(&mut place, Some(&desk)).unwrap();
    assert_eq!(same.as_ref(), Some(&desk));
    assert_eq!(place, Point { x: 2.0, y: -1.0 });
    assert_eq!(desk.turn(&mut place, None), Ok(None));
    poa.orb().shutdown(true).unwrap();
}

#[test]
fn one_ways_and_contexts_pass_through_interpreted_stubs() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let (poa, desk) = desk();
    desk.note("a").unwrap();
    desk.note("b").unwrap();
    // Requests of one connection are served in their order.
    assert_eq!(desk.told().as_deref(), Ok("ab"));
    let mut context = Context::new();
    context.set("desk.lamp", "on");
    context.set("chair", "red");
    assert_eq!(desk.setting(&context).as_deref(), Ok("on"));
    poa.orb().shutdown(true).unwrap();
}

#[test]
fn exceptions_pass_through_interpreted_stubs_and_leave_parameters_as_they_were() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let (poa, desk) = desk();
    let mut list = vec![1, 2, 3];
    let refused = Refused {
        why: "empty".to_owned(),
    };
    assert_eq!(
        desk.shorten("", &mut list),
        Err(DeskShortenError::Refused(refused))
    );
    assert_eq!(list, [1, 2, 3]);
    // The result exceeds its bound, which the server detects.
    let Err(DeskShortenError::System(exception)) = desk.shorten("unbelievable", &mut list) else {
        panic!("a result beyond its bound was sent");
    };
    assert_eq!(exception.kind(), SystemExceptionKind::BadParam);
    let kind = |result: Result<i32, SystemException>| result.map_err(|e| e.kind());
    poa.destroy(true, true).unwrap();
    let gone = kind(desk.double_of(1));
    assert!(gone.is_err(), "{gone:?}");
}
