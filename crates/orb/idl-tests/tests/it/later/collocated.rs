//! Calls from within the process on servants that answer later.

use super::desk::{Desk, exercise};
use super::generated::asynchronous::Clerk;
use super::support::watchdog;
use super::{tcp, until};
use punctual::asynchronous::Amh;
use punctual::policy::Collocation;
use punctual::{Orb, RootPoa, SystemExceptionKind as Kind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);

fn served(desk: &Arc<Desk>, way: Collocation, listens: bool) -> (Orb, Clerk) {
    let mut builder = Orb::builder().configure(|config| config.collocation = way);
    if listens {
        builder = builder.listen(tcp());
    }
    let orb = builder.build().unwrap();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let clerk = poa.activate(Amh::shared(desk.clone())).unwrap();
    (orb, clerk)
}

#[test]
fn a_caller_of_the_process_waits_for_the_answer() {
    let _watchdog = watchdog(LIMIT);
    for way in [Collocation::ThruPoa, Collocation::Direct, Collocation::None] {
        let desk = Desk::new();
        let (orb, clerk) = served(&desk, way, true);
        exercise(&clerk).unwrap();
        let other = clerk.clone();
        let waits = thread::spawn(move || other.wait_at("gate"));
        until(|| desk.waiting() == 1);
        clerk.open("gate").unwrap();
        assert_eq!(waits.join().unwrap().unwrap(), 4);
        assert_eq!(
            clerk.wait_at("nowhere").unwrap_err().kind(),
            Kind::NoResponse
        );
        assert_eq!(clerk.stumble().unwrap_err().kind(), Kind::Unknown);
        orb.shutdown(true).unwrap();
    }
}

#[test]
fn a_call_of_the_process_whose_caller_goes_on_does_not_wait() {
    let _watchdog = watchdog(LIMIT);
    let desk = Desk::new();
    let (orb, clerk) = served(&desk, Collocation::ThruPoa, true);
    let waits = clerk.sendp_wait_at("gate");
    until(|| desk.waiting() == 1);
    clerk.open("gate").unwrap();
    assert_eq!(waits.wait().unwrap(), 4);
    orb.shutdown(true).unwrap();
}

#[test]
fn an_orb_that_does_not_listen_has_such_servants_all_the_same() {
    let _watchdog = watchdog(LIMIT);
    let desk = Desk::new();
    let (orb, clerk) = served(&desk, Collocation::ThruPoa, false);
    exercise(&clerk).unwrap();
    assert_eq!(clerk.sendp_add(1, 2).wait().unwrap(), 3);
    orb.shutdown(true).unwrap();
}
