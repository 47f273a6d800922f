//! Requests that are answered later, as interceptors see them.

use super::desk::Desk;
use super::front::Front;
use super::generated::asynchronous::Clerk;
use super::support::watchdog;
use super::{over_wire, tcp, until};
use punctual::asynchronous::{Amh, Async};
use punctual::interceptor::{InterceptorError, ServerRequestInfo, ServerRequestInterceptor};
use punctual::policy::Collocation;
use punctual::{Orb, RootPoa, SystemException, SystemExceptionKind as Kind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const CONTEXT: u32 = 0x1234_5601;

/// Server interceptor that records its interception points, and adds a service context to replies.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn at(&self, point: &str, info: &ServerRequestInfo<'_>) {
        if !info.operation().starts_with('_') {
            let note = format!("{point} {}", info.operation());
            self.0.lock().unwrap().push(note);
        }
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl ServerRequestInterceptor for Notes {
    fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        self.at("receive_request", info);
        Ok(())
    }

    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        self.at("send_reply", info);
        info.add_reply_service_context(CONTEXT, b"behind the upcall", true)
    }

    fn send_exception(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        self.at("send_exception", info);
        Ok(())
    }

    fn send_other(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        self.at("send_other", info);
        Ok(())
    }
}

#[test]
fn ending_points_are_called_once_when_the_answer_is_given_and_not_when_the_upcall_ends() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let (notes, desk) = (Notes::default(), Desk::new());
    let server = Orb::builder()
        .server_interceptor(Arc::new(notes.clone()))
        .listen(tcp());
    let server = server.build().unwrap();
    let poa = server.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let clerk: Clerk = poa.activate(Amh::shared(desk.clone())).unwrap();
    let client = Orb::builder().configure(|config| config.collocation = Collocation::None);
    let client = client.build().unwrap();
    let clerk = over_wire(&server, &client, &clerk);
    notes.take();

    let waits = clerk.sendp_wait_at("gate");
    until(|| desk.waiting() == 1);
    // Another call on the same connection has gone through its upcall since: the first one's is
    // over.
    assert_eq!(clerk.add(1, 2).unwrap(), 3);
    assert_eq!(
        notes.take(),
        [
            "receive_request wait_at",
            "receive_request add",
            "send_reply add"
        ]
    );
    desk.open_gate("gate");
    assert_eq!(waits.wait().unwrap(), 4);
    assert_eq!(notes.take(), ["send_reply wait_at"]);

    assert_eq!(
        clerk.wait_at("nowhere").unwrap_err().kind(),
        Kind::NoResponse
    );
    assert!(clerk.copies("none", &mut 0).is_err());
    assert_eq!(
        notes.take(),
        [
            "receive_request wait_at",
            "send_exception wait_at",
            "receive_request copies",
            "send_exception copies"
        ]
    );
    client.shutdown(true).unwrap();
    server.shutdown(true).unwrap();
}

/// Server interceptor that counts the upcalls that have begun and those that have ended.
#[derive(Clone, Default)]
struct Upcalls(Arc<(AtomicUsize, AtomicUsize)>);

impl ServerRequestInterceptor for Upcalls {
    fn receive_request(&self, _: &mut ServerRequestInfo<'_>) -> Result<(), InterceptorError> {
        self.0.0.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    fn upcall_ended(&self, _: u32) {
        self.0.1.fetch_add(1, Ordering::AcqRel);
    }
}

#[test]
fn an_upcall_that_is_answered_later_ends_for_interceptors_when_it_returns() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let (upcalls, desk) = (Upcalls::default(), Desk::new());
    let server = Orb::builder()
        .server_interceptor(Arc::new(upcalls.clone()))
        .listen(tcp());
    let server = server.build().unwrap();
    let poa = server.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let clerk: Clerk = poa.activate(Amh::shared(desk.clone())).unwrap();
    let client = Orb::builder().configure(|config| config.collocation = Collocation::None);
    let client = client.build().unwrap();
    let clerk = over_wire(&server, &client, &clerk);
    let waits = clerk.sendp_wait_at("gate");
    until(|| desk.waiting() == 1);
    let (begun, ended) = &*upcalls.0;
    until(|| ended.load(Ordering::Acquire) == begun.load(Ordering::Acquire));
    assert!(begun.load(Ordering::Acquire) > 0);
    desk.open_gate("gate");
    assert_eq!(waits.wait().unwrap(), 4);
    client.shutdown(true).unwrap();
    server.shutdown(true).unwrap();
    assert_eq!(begun.load(Ordering::Acquire), ended.load(Ordering::Acquire));
}

#[test]
fn an_async_servant_that_awaits_another_of_its_process_keeps_nobody_waiting_beside_interceptors() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let desk = Desk::new();
    let server = Orb::builder()
        .server_interceptor(Arc::new(Upcalls::default()))
        .listen(tcp());
    let server = server.build().unwrap();
    let poa = server.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let behind: Clerk = poa.activate(Amh::shared(desk.clone())).unwrap();
    let front = Front {
        behind: Some(behind),
        ..Front::default()
    };
    let front: Clerk = poa.activate(Async::on(server.clone(), front)).unwrap();
    let client = Orb::builder().configure(|config| config.collocation = Collocation::None);
    let client = client.build().unwrap();
    let front = over_wire(&server, &client, &front);
    let waits = front.sendp_wait_at("gate");
    until(|| desk.waiting() == 1);
    // By the thread that drives the first one's future.
    front.open("gate").unwrap();
    assert_eq!(waits.wait().unwrap(), 4);
    client.shutdown(true).unwrap();
    server.shutdown(true).unwrap();
}
