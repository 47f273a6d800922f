//! TAO's registry of reconnections: clients are called when the service has been started again; and clients that take the
//! place of those that proxies have.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use punctual::{Interface, ObjectRef, SystemException, SystemExceptionKind as Kind};
use punctual_notification::cos_notify_channel_admin::EventChannelFactory;
use punctual_notification::notify_ext::{
    ReconnectionCallback, ReconnectionCallbackServant, ReconnectionRegistry,
};
use punctual_notification::{Limits, NotificationService};

use crate::clients::{Peer, Received};
use crate::restarts::{persistent, place, stored};
use crate::support::{Program, Served, event, exists, kind_of, limits, until};

/// Callback that counts its calls, of which the first ones fail.
#[derive(Clone, Default)]
struct Callback(Arc<Calls>);

#[derive(Default)]
struct Calls {
    count: AtomicUsize,
    failing: AtomicUsize,
    last: Mutex<Option<ObjectRef>>,
}

impl Callback {
    fn count(&self) -> usize {
        self.0.count.load(Ordering::SeqCst)
    }
}

impl ReconnectionCallbackServant for Callback {
    fn reconnect(&self, new_connection: Option<&ObjectRef>) -> Result<(), SystemException> {
        let failing = &self.0.failing;
        let fails = |left: usize| left.checked_sub(1);
        if failing
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, fails)
            .is_ok()
        {
            return Err(Kind::Transient.because("not yet"));
        }
        *self.0.last.lock() = new_connection.cloned();
        self.0.count.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn is_alive(&self) -> Result<bool, SystemException> {
        Ok(true)
    }
}

fn registry(program: &Program, served: &Served) -> ReconnectionRegistry {
    let factory = program.see(&served.factory);
    ReconnectionRegistry::narrow(factory.as_object().clone()).unwrap()
}

fn open(path: &Path) -> NotificationService {
    stored(path)
}

#[test]
fn clients_that_have_registered_are_called_when_the_service_has_been_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notification.redb");
    let (place, program) = (place("127.79.6.1"), Program::new());
    let served = Served::of(open(&path), place);
    let registry = registry(&program, &served);
    assert!(registry.is_alive().unwrap());
    let [staying, leaving, gone] = [(); 3].map(|()| Callback::default());
    let object: ReconnectionCallback = program.object(staying.clone());
    let id = registry.register_callback(Some(&object)).unwrap();
    assert_eq!(registry.register_callback(Some(&object)).unwrap(), id);
    let other: ReconnectionCallback = program.object(leaving.clone());
    let leaving_id = registry.register_callback(Some(&other)).unwrap();
    assert_ne!(leaving_id, id);
    registry.unregister_callback(leaving_id).unwrap();
    registry.unregister_callback(leaving_id).unwrap();
    let ended: ReconnectionCallback = program.object(gone.clone());
    registry.register_callback(Some(&ended)).unwrap();
    program.poa.deactivate(&ended).unwrap();
    assert_eq!(kind_of(registry.register_callback(None)), Kind::BadParam);
    drop(served);

    // Until it answers.
    staying.0.failing.store(2, Ordering::SeqCst);
    let served = Served::of(open(&path), place);
    until(|| staying.count() == 1);
    let factory = staying.0.last.lock().clone().unwrap();
    let factory = EventChannelFactory::narrow(factory).unwrap();
    assert!(factory.get_all_channels().unwrap().is_empty());
    drop(served);
    let _served = Served::of(open(&path), place);
    until(|| staying.count() == 2);
    assert_eq!((leaving.count(), gone.count()), (0, 0));
    assert!(registry.register_callback(Some(&ended)).unwrap() > id);
}

#[test]
fn reconnections_beyond_the_limit_are_refused() {
    let served = Served::with(Limits {
        proxies: 1,
        ..limits()
    });
    let program = Program::new();
    let registry = registry(&program, &served);
    let first = program.object(Callback::default());
    let second = program.object(Callback::default());
    let id = registry.register_callback(Some(&first)).unwrap();
    let refused = registry.register_callback(Some(&second));
    assert_eq!(kind_of(refused), Kind::ImpLimit);
    registry.unregister_callback(id).unwrap();
    registry.register_callback(Some(&second)).unwrap();
}

/// Limits under which clients may be replaced, and a client that cannot be called is not called again during a test.
fn replacing() -> Limits {
    let hour = Duration::from_secs(3600);
    Limits {
        reconnect: true,
        retry: hour,
        longest_retry: hour,
        ..limits()
    }
}

#[test]
fn another_consumer_takes_the_place_of_one_that_has_left_and_gets_what_waits() {
    let (served, program) = (Served::with(replacing()), Program::new());
    let leaving = Program::new();
    let channel = served.channel(&[], &[]);
    let (proxy, sink) = leaving.sink(&channel);
    let pushes = program.pushes_to(&channel);
    pushes.push_structured_event(&event(1)).unwrap();
    assert_eq!(sink.wait_for(1), [1]);
    // The consumer must not leave before the service has its answer.
    until(|| served.metric("pushed_total") == 1);
    let proxy = program.see(&proxy);
    drop(leaving);
    for number in 2..4 {
        pushes.push_structured_event(&event(number)).unwrap();
    }
    until(|| served.metric("retried_total") >= 1);
    let staying = program.connect(&proxy);
    assert_eq!(staying.wait_for(2), [2, 3]);
    let last = program.connect(&proxy);
    pushes.push_structured_event(&event(4)).unwrap();
    assert_eq!(last.wait_for(1), [4]);
    assert_eq!(staying.numbers(), [2, 3]);
    assert_eq!(staying.disconnects(), 0);
}

#[test]
fn an_event_whose_push_fails_as_the_consumer_is_replaced_goes_to_the_other_one() {
    let (served, program) = (Served::with(replacing()), Program::new());
    let channel = served.channel(&[], &[]);
    let (proxy, sink) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    sink.block(true);
    pushes.push_structured_event(&event(1)).unwrap();
    until(|| sink.begun() == 1);
    let other = program.connect(&proxy);
    // By itself, that would end the connection.
    sink.refuse(Some(Kind::ObjectNotExist.because("it has gone")));
    sink.block(false);
    assert_eq!(other.wait_for(1), [1]);
    assert!(exists(&proxy));
}

#[test]
fn another_supplier_takes_the_place_of_the_one_that_was_pulled_from() {
    let (served, program) = (Served::with(replacing()), Program::new());
    let channel = served.channel(&[], &[]);
    let (_, sink) = program.sink(&channel);
    let (proxy, before) = program.is_pulled_by(&channel);
    let peer = Peer::default();
    let object = program.object(peer.clone());
    proxy
        .connect_structured_pull_supplier(Some(&object))
        .unwrap();
    peer.supply(Received::Structured(Box::new(event(5))));
    assert_eq!(sink.wait_for(1), [5]);
    before.supply(Received::Structured(Box::new(event(6))));
    peer.supply(Received::Structured(Box::new(event(7))));
    assert_eq!(sink.wait_for(2), [5, 7]);
    assert!(!before.supplies_nothing());
}

#[test]
fn a_client_that_has_replaced_another_is_connected_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notification.redb");
    let opened = || {
        let service = NotificationService::open(&path).unwrap();
        service.set_limits(replacing());
        service
    };
    let (place, program) = (place("127.79.6.9"), Program::new());
    let served = Served::of(opened(), place);
    let channel = served.channel(&[persistent()], &[]);
    let (proxy, sink) = program.sink(&channel);
    let other = program.connect(&proxy);
    let pushes = program.pushes_to(&channel);
    drop(served);
    let _served = Served::of(opened(), place);
    pushes.push_structured_event(&event(1)).unwrap();
    assert_eq!(other.wait_for(1), [1]);
    assert_eq!(sink.numbers(), [0; 0]);
}
