//! `PICurrent`: slots that follow a request (CORBA 3.3 part 1, §16.4).

use super::closures::{AtClient, AtServer};
use super::fixture::{Allocates, Near, Pair};
use super::support::watchdog;
use punctual::interceptor::{ClientRequestInfo, InterceptorError, ServerRequestInfo, SlotId};
use punctual::{Any, Orb, SystemExceptionKind as Kind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SLOT: u32 = 0x1234_5678;

/// Makes a client whose requests carry the value of its thread's slot, and a server that copies the
/// value to a slot of the upcall. Also returns the values that these slots had at the end of each
/// upcall.
fn carrying(near: Near) -> (Pair, SlotId, Arc<Mutex<Vec<i32>>>) {
    let left = Arc::new(Mutex::new(Vec::new()));
    let (client_slots, server_slots) = (
        Arc::new(Allocates::default()),
        Arc::new(Allocates::default()),
    );
    let (at_client, at_server) = (client_slots.clone(), server_slots.clone());
    let note = left.clone();
    let client = AtClient(move |point, info: &mut ClientRequestInfo<'_>| {
        if point == "send_request" {
            let slot = *at_client.0.get().unwrap();
            if let Ok(value) = info.get_slot(slot)?.extract::<i32>() {
                info.add_request_service_context(SLOT, &value.to_be_bytes(), false)?;
            }
        }
        Ok(())
    });
    let server = AtServer(move |point, info: &mut ServerRequestInfo<'_>| {
        let slot = *at_server.0.get().unwrap();
        if point == "receive_request_service_contexts" {
            assert!(
                info.get_slot(slot)?.is_null(),
                "a request begins with empty slots"
            );
            if let Ok(data) = info.get_request_service_context(SLOT) {
                let value = i32::from_be_bytes(data.try_into().unwrap());
                info.set_slot(slot, Any::new(&value).unwrap())?;
            }
        }
        if point == "send_reply" {
            note.lock()
                .unwrap()
                .push(info.get_slot(slot)?.extract().unwrap_or(0));
        }
        Ok::<_, InterceptorError>(())
    });
    let server = Orb::builder()
        .initializer(server_slots.clone())
        .server_interceptor(Arc::new(server));
    let client = Orb::builder()
        .initializer(client_slots.clone())
        .client_interceptor(Arc::new(client));
    let pair = Pair::new(near, server, client);
    let slot = *server_slots.0.get().unwrap();
    let known = pair.vault.slots.set((pair.server.clone(), slot));
    assert!(known.is_ok());
    let slot = *client_slots.0.get().unwrap();
    (pair, slot, left)
}

#[test]
fn what_a_thread_has_in_a_slot_comes_to_the_upcall_and_what_that_leaves_to_the_ending_point() {
    let _watchdog = watchdog(Duration::from_secs(120));
    for near in [Near::ByWire, Near::WithinProcess] {
        let (pair, slot, left) = carrying(near);
        let account = pair.account();
        assert_eq!(account.slot().unwrap(), 0, "nothing is set");
        let current = pair.client.pi_current();
        current.set_slot(slot, Any::new(&21).unwrap()).unwrap();
        assert_eq!(account.slot().unwrap(), 21, "{near:?}");
        assert_eq!(
            account.slot().unwrap(),
            21,
            "an upcall leaves nothing to the next"
        );
        // Another thread has slots of its own.
        std::thread::scope(|scope| {
            let other = scope.spawn(|| account.slot().unwrap());
            assert_eq!(other.join().unwrap(), 0);
        });
        let own: i32 = current.get_slot(slot).unwrap().extract().unwrap();
        assert_eq!(
            own, 21,
            "an upcall on the caller's thread leaves its slots alone"
        );
        assert_eq!(*left.lock().unwrap(), [0, 42, 42, 0], "{near:?}");
        pair.end();
    }
}

#[test]
fn an_asynchronous_call_has_the_slots_of_the_thread_that_made_it() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let (pair, slot, left) = carrying(Near::ByWire);
    let account = pair.account();
    let current = pair.client.pi_current();
    current.set_slot(slot, Any::new(&8).unwrap()).unwrap();
    let poller = account.sendp_slot();
    current.set_slot(slot, Any::new(&9).unwrap()).unwrap();
    assert_eq!(poller.wait().unwrap(), 8);
    assert_eq!(*left.lock().unwrap(), [16]);
    pair.end();
}

#[test]
fn a_slot_that_nobody_has_allocated_is_refused() {
    let orb = Orb::builder().build().unwrap();
    let current = orb.pi_current();
    let none = current.get_slot(SlotId::from(0)).unwrap_err();
    assert_eq!(none.kind(), Kind::BadParam);
    let none = current
        .set_slot(SlotId::from(3), Any::default())
        .unwrap_err();
    assert_eq!(none.kind(), Kind::BadParam);
    orb.shutdown(true).unwrap();
}
