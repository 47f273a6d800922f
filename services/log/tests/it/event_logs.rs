//! Logs that are event channels.

use std::sync::Arc;

use parking_lot::Mutex;
use punctual::{
    Any, Interface, NotNil, OperationError, RootPoa, SystemException, SystemExceptionKind as Kind,
};
use punctual_events::cos_event_channel_admin::{
    EventChannel, ProxyPullSupplier, ProxyPushConsumer,
};
use punctual_events::cos_event_comm::{
    PullSupplier, PullSupplierPullError, PullSupplierServant, PullSupplierTryPullError,
    PushConsumer, PushConsumerPushError, PushConsumerServant,
};
use punctual_host::store::Faults;
use punctual_log::ds_event_log_admin::{EventLog, EventLogFactoryCreateWithIdError};
use punctual_log::ds_log_admin::{
    AdministrativeState, ForwardingState, HALT, InvalidLogFullAction, InvalidThreshold,
    LogIdAlreadyExists, OperationalState, TimeInterval, WRAP,
};

use crate::support::{Served, all, exists, number, until, write};

/// Returns the proxy of a supplier that pushes.
fn pushes_to(log: &EventLog) -> ProxyPushConsumer {
    let suppliers = log.for_suppliers().unwrap().not_nil().unwrap();
    let proxy = suppliers.obtain_push_consumer().unwrap();
    let proxy = proxy.not_nil().unwrap();
    proxy.connect_push_supplier(None).unwrap();
    proxy
}

/// Returns the proxy of a consumer that pulls.
fn pulls_from(log: &EventLog) -> ProxyPullSupplier {
    let consumers = log.for_consumers().unwrap().not_nil().unwrap();
    let proxy = consumers.obtain_pull_supplier().unwrap();
    let proxy = proxy.not_nil().unwrap();
    proxy.connect_pull_consumer(None).unwrap();
    proxy
}

/// Returns the numbers that a consumer can pull now.
fn pulled(proxy: &ProxyPullSupplier) -> Vec<i32> {
    let events = std::iter::from_fn(|| match proxy.try_pull().unwrap() {
        (event, true) => Some(event.extract().unwrap()),
        (_, false) => None,
    });
    events.collect()
}

/// Consumer that keeps the numbers that it is pushed.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<i32>>>);

impl PushConsumerServant for Sink {
    fn push(&self, data: &Any) -> Result<(), PushConsumerPushError> {
        self.0.lock().push(data.extract().unwrap());
        Ok(())
    }

    fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

/// Supplier that has some numbers to be pulled.
struct Source(Mutex<Vec<i32>>);

impl PullSupplierServant for Source {
    fn pull(&self) -> Result<Any, PullSupplierPullError> {
        Err(Kind::NoImplement
            .because("it is asked by `try_pull`")
            .into())
    }

    fn try_pull(&self) -> Result<(Any, bool), PullSupplierTryPullError> {
        Ok(match self.0.lock().pop() {
            Some(one) => (number(one), true),
            None => (Any::default(), false),
        })
    }

    fn disconnect_pull_supplier(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

#[test]
fn an_event_log_is_a_log_and_an_event_channel_with_the_standards_ids() {
    let served = Served::new();
    let log = served.event_log();
    for id in [
        "IDL:omg.org/DsEventLogAdmin/EventLog:1.0",
        "IDL:omg.org/DsLogAdmin/Log:1.0",
        "IDL:omg.org/CosEventChannelAdmin/EventChannel:1.0",
    ] {
        assert!(log.as_object().is_a(id).unwrap(), "{id}");
    }
    for id in [
        "IDL:omg.org/DsEventLogAdmin/EventLogFactory:1.0",
        "IDL:omg.org/DsLogAdmin/LogMgr:1.0",
        "IDL:omg.org/CosEventChannelAdmin/ConsumerAdmin:1.0",
    ] {
        assert!(served.events.as_object().is_a(id).unwrap(), "{id}");
    }
    let manager = log.log_factory().unwrap().not_nil().unwrap();
    assert!(manager.as_object().is_equivalent(served.events.as_object()));
}

#[test]
fn event_logs_are_created_with_thresholds_and_are_none_of_the_basic_factory() {
    let served = Served::new();
    let (log, id) = served.events.create(WRAP, 900, &[90, 50]).unwrap();
    let log = log.not_nil().unwrap();
    assert_eq!(log.get_capacity_alarm_thresholds().unwrap(), [50, 90]);
    assert_eq!((log.get_max_size().unwrap(), id), (900, 1));
    assert!(served.factory.list_logs().unwrap().is_empty());
    assert_eq!(served.events.list_logs_by_id().unwrap(), [1]);
    let named = served.events.create_with_id(5, HALT, 0, &[]).unwrap();
    assert_eq!(named.not_nil().unwrap().id().unwrap(), 5);
    for ((id, action, threshold), expected) in [
        (
            (5, HALT, 1),
            EventLogFactoryCreateWithIdError::LogIdAlreadyExists(LogIdAlreadyExists),
        ),
        (
            (6, 2, 1),
            EventLogFactoryCreateWithIdError::InvalidLogFullAction(InvalidLogFullAction),
        ),
        (
            (6, HALT, 101),
            EventLogFactoryCreateWithIdError::InvalidThreshold(InvalidThreshold),
        ),
    ] {
        let refused = served.events.create_with_id(id, action, 0, &[threshold]);
        assert_eq!(refused.unwrap_err(), expected);
    }
    let (copy, _) = log.copy().unwrap();
    let copy = EventLog::narrow(copy.not_nil().unwrap().as_object().clone()).unwrap();
    pushes_to(&copy).push(&number(3)).unwrap();
    assert_eq!(all(&copy), [3]);
}

#[test]
fn events_are_records_when_their_push_has_returned_and_reach_consumers() {
    let served = Served::new();
    let log = served.event_log();
    let (pushes, pulls) = (pushes_to(&log), pulls_from(&log));
    let sink = Sink::default();
    let consumer: PushConsumer = served
        .orb
        .root_poa()
        .unwrap()
        .activate(sink.clone())
        .unwrap();
    let consumers = log.for_consumers().unwrap().not_nil().unwrap();
    let proxy = consumers.obtain_push_supplier().unwrap().not_nil().unwrap();
    proxy.connect_push_consumer(Some(&consumer)).unwrap();
    for one in 0..5 {
        pushes.push(&number(one)).unwrap();
        assert_eq!(
            log.get_n_records().unwrap(),
            u64::try_from(one).unwrap() + 1
        );
    }
    assert_eq!(all(&log), [0, 1, 2, 3, 4]);
    assert_eq!(pulled(&pulls), [0, 1, 2, 3, 4]);
    until(|| *sink.0.lock() == [0, 1, 2, 3, 4]);
    // Clients may write records of their own, which are no events.
    write(&log, [9]);
    assert_eq!(all(&log), [0, 1, 2, 3, 4, 9]);
    assert_eq!(pulled(&pulls), [0_i32; 0]);
}

#[test]
fn events_are_pulled_from_suppliers() {
    let served = Served::new();
    let log = served.event_log();
    let source = Source(Mutex::new(vec![3, 2, 1]));
    let supplier: PullSupplier = served.orb.root_poa().unwrap().activate(source).unwrap();
    let suppliers = log.for_suppliers().unwrap().not_nil().unwrap();
    let proxy = suppliers.obtain_pull_consumer().unwrap().not_nil().unwrap();
    proxy.connect_pull_supplier(Some(&supplier)).unwrap();
    until(|| log.get_n_records().unwrap() == 3);
    assert_eq!(all(&log), [1, 2, 3]);
}

#[test]
fn consumers_get_no_events_while_forwarding_is_off() {
    let served = Served::new();
    let log = served.event_log();
    let (pushes, pulls) = (pushes_to(&log), pulls_from(&log));
    log.set_forwarding_state(ForwardingState::Off).unwrap();
    pushes.push(&number(1)).unwrap();
    log.set_forwarding_state(ForwardingState::On).unwrap();
    pushes.push(&number(2)).unwrap();
    assert_eq!(pulled(&pulls), [2]);
    assert_eq!(all(&log), [1, 2]);
}

#[test]
fn events_that_the_log_does_not_take_pass_on() {
    let served = Served::new();
    let log = served.event_log();
    let (pushes, pulls) = (pushes_to(&log), pulls_from(&log));
    log.set_administrative_state(AdministrativeState::Locked)
        .unwrap();
    pushes.push(&number(1)).unwrap();
    log.set_administrative_state(AdministrativeState::Unlocked)
        .unwrap();
    log.set_interval(&TimeInterval { start: 0, stop: 1 })
        .unwrap();
    pushes.push(&number(2)).unwrap();
    log.set_interval(&TimeInterval::default()).unwrap();
    pushes.push(&number(3)).unwrap();
    log.set_max_size(log.get_current_size().unwrap()).unwrap();
    pushes.push(&number(4)).unwrap();
    assert_eq!(pulled(&pulls), [1, 2, 3, 4]);
    assert_eq!(all(&log), [3]);
    assert!(log.get_availability_status().unwrap().log_full);
}

#[test]
fn an_event_that_cannot_be_stored_is_refused_and_reaches_no_consumer() {
    let folder = tempfile::tempdir().unwrap();
    let faults = Faults::default();
    let served = Served::faulty(&folder.path().join("logs.redb"), &faults);
    let log = served.event_log();
    let (pushes, pulls) = (pushes_to(&log), pulls_from(&log));
    faults.fill_after(0);
    let refused = pushes.push(&number(1)).unwrap_err();
    assert_eq!(refused.system().unwrap().kind(), Kind::PersistStore);
    assert_eq!(
        log.get_operational_state().unwrap(),
        OperationalState::Disabled
    );
    faults.mend();
    pushes.push(&number(2)).unwrap();
    assert_eq!(pulled(&pulls), [2]);
    assert_eq!(all(&log), [2]);
}

#[test]
fn destroying_the_channel_destroys_the_log_and_ends_its_connections() {
    let served = Served::new();
    let log = served.event_log();
    let pushes = pushes_to(&log);
    pushes.push(&number(1)).unwrap();
    let channel = EventChannel::narrow(log.as_object().clone()).unwrap();
    channel.destroy().unwrap();
    assert!(!exists(&log));
    assert!(pushes.push(&number(2)).is_err());
    assert!(served.events.find_log(1).unwrap().is_none());
    until(|| served.metric("records") == 0 && served.metric("proxies") == 0);
}

#[test]
fn event_logs_are_there_after_a_restart_and_take_new_connections() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs.redb");
    let served = Served::at(&path, ("127.0.0.1", 0));
    pushes_to(&served.event_log()).push(&number(1)).unwrap();
    drop(served);
    let served = Served::at(&path, ("127.0.0.1", 0));
    assert!(served.factory.find_log(1).unwrap().is_none());
    let log = served.events.find_log(1).unwrap().not_nil().unwrap();
    let log = EventLog::narrow(log.as_object().clone()).unwrap();
    pushes_to(&log).push(&number(2)).unwrap();
    assert_eq!(all(&log), [1, 2]);
}
