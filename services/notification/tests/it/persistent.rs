//! Persistent events: what survives a restart, what waits in the log, and what is refused.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use punctual::{CompletionStatus, SystemException, SystemExceptionKind as Kind};
use punctual_durable::{
    Appended, DurableError, EventLog, EventStore, FileOptions, FileStore, LogSettings, LogStatus,
    Name, NewEvent, Reader,
};
use punctual_host::store::Faults;
use punctual_notification::cos_notification::{
    self as names, BEST_EFFORT, CONNECTION_RELIABILITY, EVENT_RELIABILITY, PERSISTENT, Property,
    QoSErrorCode as Code, StructuredEvent, UnsupportedQoS,
};
use punctual_notification::cos_notify_channel_admin::{
    EventChannel, EventChannelFactoryCreateChannelError,
};
use punctual_notification::cos_notify_comm::StructuredPullSupplier;
use punctual_notification::{Limits, NotificationService};

use crate::clients::Received;
use crate::restarts::{filter, persistent, place, stored};
use crate::support::{
    Program, Served, event, event_of, event_type, exists, kind_of, limits, narrowed, number,
    property, until,
};

/// Properties of a channel with persistent events.
pub(crate) fn persistent_events() -> [Property; 2] {
    [persistent(), property(EVENT_RELIABILITY, PERSISTENT)]
}

fn best_effort(name: &str) -> Property {
    property(name, BEST_EFFORT)
}

/// Service in a file with limits, with a channel of persistent events and a program.
fn served(path: &Path, limits: Limits) -> (Served, Program, EventChannel) {
    let service = NotificationService::open(path).unwrap();
    service.set_limits(limits);
    let (served, program) = (Served::of(service, ("127.0.0.1", 0)), Program::new());
    let channel = program.see(&served.channel(&persistent_events(), &[]));
    (served, program, channel)
}

fn numbers(events: &[StructuredEvent]) -> Vec<i32> {
    events.iter().map(number).collect()
}

#[test]
fn persistent_events_that_were_not_delivered_come_after_a_restart_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notification.redb");
    let (place, program) = (place("127.79.2.1"), Program::new());
    let served = Served::of(stored(&path), place);
    let channel = served.channel(&persistent_events(), &[]);
    let (push_supplier, sink) = program.sink(&channel);
    let pulls = program.pulls_sequences_from(&channel);
    let pushes = program.pushes_to(&channel);
    let sequences = program.pushes_sequences_to(&channel);
    let (_, source) = program.is_pulled_by(&channel);
    pushes.push_structured_event(&event(1)).unwrap();
    assert_eq!(sink.wait_for(1), [1]);
    push_supplier.suspend_connection().unwrap();
    pushes.push_structured_event(&event(2)).unwrap();
    sequences
        .push_structured_events(&[event(3), event(4)])
        .unwrap();
    source.supply(Received::Structured(Box::new(event(5))));
    until(|| served.metric("received_total") == 5);
    assert_eq!(numbers(&pulls.pull_structured_events(1).unwrap()), [1]);
    let mut header = event(6);
    header.header.variable_header = vec![best_effort(EVENT_RELIABILITY)];
    pushes.push_structured_event(&header).unwrap();
    drop(served);

    let _served = Served::of(stored(&path), place);
    pushes.push_structured_event(&event(7)).unwrap();
    push_supplier.resume_connection().unwrap();
    // The first one has answered a pull, and no other pull has come after it.
    let mut pulled = Vec::new();
    while pulled.last() != Some(&7) {
        pulled.extend(numbers(&pulls.pull_structured_events(10).unwrap()));
    }
    assert_eq!(pulled, [1, 2, 3, 4, 5, 7]);
    until(|| sink.numbers().ends_with(&[2, 3, 4, 5, 7]));
}

#[test]
fn what_the_queue_has_no_room_for_waits_in_the_log_and_nothing_is_discarded() {
    let folder = tempfile::tempdir().unwrap();
    let few = Limits {
        queue_events: 3,
        ..limits()
    };
    let (served, program, channel) = served(&folder.path().join("store.redb"), few);
    let (proxy, sink) = program.sink(&channel);
    let pulls = program.pulls_from(&channel);
    proxy.suspend_connection().unwrap();
    let sequences = program.pushes_sequences_to(&channel);
    let all: Vec<i32> = (0..50).collect();
    let events: Vec<StructuredEvent> = all.iter().map(|number| event(*number)).collect();
    sequences.push_structured_events(&events).unwrap();
    until(|| served.metric("queued") == 6);
    proxy.resume_connection().unwrap();
    assert_eq!(sink.wait_for(50), all);
    let pulled = all
        .iter()
        .map(|_| number(&pulls.pull_structured_event().unwrap()));
    assert_eq!(pulled.collect::<Vec<_>>(), all);
    assert_eq!(served.metric("discarded_total"), 0);
}

#[test]
fn persistent_events_are_for_the_consumers_whose_types_and_filters_let_them_through() {
    let folder = tempfile::tempdir().unwrap();
    let (served, program, channel) = served(&folder.path().join("store.redb"), limits());
    let (filtered, odd) = program.sink(&channel);
    filtered
        .add_filter(Some(&filter(&channel, "$number == 1 or $number == 3")))
        .unwrap();
    let (typed, alarms) = program.sink(&channel);
    typed
        .subscription_change(&[event_type("Telecom", "Alarm")], &[])
        .unwrap();
    // One without a persistent connection gets events as in any channel.
    let plain = program.unconnected(&channel);
    plain
        .set_qos(&[best_effort(CONNECTION_RELIABILITY)])
        .unwrap();
    let all = program.connect(&plain);
    let pushes = program.pushes_to(&channel);
    for number in 1..4 {
        pushes.push_structured_event(&event(number)).unwrap();
    }
    let other = event_of(("Telecom", "Heartbeat"), 4);
    pushes.push_structured_event(&other).unwrap();
    assert_eq!(odd.wait_for(2), [1, 3]);
    assert_eq!(alarms.wait_for(3), [1, 2, 3]);
    assert_eq!(all.wait_for(4), [1, 2, 3, 4]);
    assert_eq!(served.metric("undelivered_total"), 0);
}

#[test]
fn an_event_with_an_id_that_is_pushed_again_is_stored_once() {
    let folder = tempfile::tempdir().unwrap();
    let (_served, program, channel) = served(&folder.path().join("store.redb"), limits());
    let (_, sink) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    let mut first = event(1);
    let id = Property {
        name: "EventId".to_owned(),
        value: punctual::Any::new("plant-7").unwrap(),
    };
    first.header.variable_header = vec![id];
    for _ in 0..3 {
        pushes.push_structured_event(&first).unwrap();
    }
    pushes.push_structured_event(&event(2)).unwrap();
    assert_eq!(sink.wait_for(2), [1, 2]);
}

#[test]
fn persistent_events_whose_life_has_ended_are_not_delivered() {
    let folder = tempfile::tempdir().unwrap();
    let (served, program, channel) = served(&folder.path().join("store.redb"), limits());
    let (proxy, sink) = program.sink(&channel);
    proxy.suspend_connection().unwrap();
    let pushes = program.pushes_to(&channel);
    let mut short = event(1);
    short.header.variable_header = vec![property(names::TIMEOUT, 200_000_u64)];
    pushes.push_structured_event(&short).unwrap();
    pushes.push_structured_event(&event(2)).unwrap();
    until(|| served.metric("queued") >= 1);
    std::thread::sleep(Duration::from_millis(20));
    proxy.resume_connection().unwrap();
    assert_eq!(sink.wait_for(1), [2]);
}

#[test]
fn a_push_without_a_reply_is_made_again_and_one_that_is_refused_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let (served, program, channel) = served(&folder.path().join("store.redb"), limits());
    let (_, sink) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    let raised = |kind| Some(SystemException::new(kind, 0, CompletionStatus::Maybe));
    sink.refuse(raised(Kind::CommFailure));
    pushes.push_structured_event(&event(1)).unwrap();
    until(|| sink.begun() >= 3);
    assert_eq!(served.metric("undelivered_total"), 0);
    sink.refuse(raised(Kind::Internal));
    until(|| served.metric("undelivered_total") == 1);
    sink.refuse(None);
    pushes.push_structured_event(&event(2)).unwrap();
    assert_eq!(sink.wait_for(1), [2]);
}

#[test]
fn a_full_log_refuses_events_until_consumers_have_taken_some_or_are_disconnected() {
    let folder = tempfile::tempdir().unwrap();
    let few = Limits {
        log_events: 3,
        ..limits()
    };
    let (served, program, channel) = served(&folder.path().join("store.redb"), few);
    let (slow, _) = program.sink(&channel);
    let (proxy, sink) = program.sink(&channel);
    slow.suspend_connection().unwrap();
    proxy.suspend_connection().unwrap();
    let pushes = program.pushes_to(&channel);
    for number in 0..3 {
        pushes.push_structured_event(&event(number)).unwrap();
    }
    let refused = || pushes.push_structured_event(&event(3));
    assert_eq!(kind_of(refused()), Kind::ImpLimit);
    let counted = |name| served.metric(name);
    assert_eq!(
        (counted("received_total"), counted("rejected_total")),
        (3, 1)
    );
    proxy.resume_connection().unwrap();
    assert_eq!(sink.wait_for(3), [0, 1, 2]);
    assert_eq!(kind_of(refused()), Kind::ImpLimit);
    slow.disconnect_structured_push_supplier().unwrap();
    until(|| refused().is_ok());
    assert_eq!(sink.wait_for(4), [0, 1, 2, 3]);
}

#[test]
fn a_push_that_a_full_disk_refuses_raises_and_nothing_that_was_taken_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notification.redb");
    let (place, program, faults) = (place("127.79.2.2"), Program::new(), Faults::default());
    let service = NotificationService::open_with_faults(&path, faults.clone()).unwrap();
    service.set_limits(limits());
    let served = Served::of(service, place);
    let channel = served.channel(&persistent_events(), &[]);
    let (proxy, sink) = program.sink(&channel);
    proxy.suspend_connection().unwrap();
    let pushes = program.pushes_to(&channel);
    let mut taken = Vec::new();
    let mut next = 0;
    let refusals = faults.at_each_write(
        |_| {
            next += 1;
            match pushes.push_structured_event(&event(next)) {
                Ok(()) => {
                    taken.push(next);
                    false
                }
                refused => {
                    assert_eq!(kind_of(refused), Kind::PersistStore);
                    true
                }
            }
        },
        |_, _| {},
    );
    assert!(refusals > 0);
    pushes.push_structured_event(&event(1_000)).unwrap();
    taken.push(1_000);
    drop(served);
    let _served = Served::of(stored(&path), place);
    proxy.resume_connection().unwrap();
    assert_eq!(sink.wait_for(taken.len()), taken);
}

#[test]
fn reliability_is_what_the_store_can_keep_and_the_connection_was_made_with() {
    let in_memory = Served::new();
    let code = |refused: UnsupportedQoS| (refused.qos_err[0].code, refused.qos_err.len());
    let refused = |served: &Served, qos: &[Property]| match served.factory.create_channel(qos, &[])
    {
        Err(EventChannelFactoryCreateChannelError::UnsupportedQoS(refused)) => code(refused),
        other => panic!("{other:?}"),
    };
    let both = persistent_events();
    assert_eq!(refused(&in_memory, &both), (Code::UnsupportedValue, 2));
    let folder = tempfile::tempdir().unwrap();
    let (served, program, channel) = served(&folder.path().join("store.redb"), limits());
    // Persistent events need persistent connections.
    let alone = [property(EVENT_RELIABILITY, PERSISTENT)];
    assert_eq!(refused(&served, &alone), (Code::UnavailableValue, 1));
    let set = |properties: &[Property]| channel.set_qos(properties).is_ok();
    assert!(!set(&[best_effort(CONNECTION_RELIABILITY)]));
    let reliability = || {
        let all = channel.get_qos().unwrap();
        let found = all.iter().find(|one| one.name == EVENT_RELIABILITY);
        found.unwrap().value.extract::<i16>().unwrap()
    };
    assert_eq!(reliability(), PERSISTENT);
    // It is the default of events, which may change; the log stays.
    assert!(set(&[best_effort(EVENT_RELIABILITY)]) && set(&alone));
    // A channel that was made without a log gets none.
    let other = program.see(&served.channel(&[persistent()], &[]));
    assert!(other.set_qos(&alone).is_err() && other.validate_qos(&alone).is_err());
    let events = |channel: &EventChannel| {
        let proxy = program.unconnected(channel);
        proxy.validate_event_qos(&alone).is_ok()
    };
    assert!(events(&channel) && !events(&other));
    // A reader of the log stays one while it is connected.
    let (proxy, _) = program.sink(&channel);
    assert!(
        proxy
            .set_qos(&[best_effort(CONNECTION_RELIABILITY)])
            .is_err()
    );
    assert!(proxy.set_qos(&[persistent()]).is_ok());
}

#[test]
fn a_channel_that_is_destroyed_leaves_no_events_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notification.redb");
    let (served, program, channel) = served(&path, limits());
    let (proxy, _) = program.sink(&channel);
    proxy.suspend_connection().unwrap();
    let pushes = program.pushes_to(&channel);
    pushes.push_structured_event(&event(1)).unwrap();
    channel.destroy().unwrap();
    assert!(!exists(&proxy));
    drop(served);
    assert_eq!(crate::logs::names(&path), Vec::<String>::new());
}

/// Store of events, none of whose readers can be opened.
#[derive(Debug)]
pub(crate) struct WithoutReaders(pub(crate) FileStore);

#[derive(Debug)]
struct LogWithoutReaders(Arc<dyn EventLog>);

impl EventStore for WithoutReaders {
    fn open_log(
        &self,
        name: &Name,
        settings: LogSettings,
    ) -> Result<Arc<dyn EventLog>, DurableError> {
        let log = self.0.open_log(name, settings)?;
        Ok(Arc::new(LogWithoutReaders(log)))
    }

    fn remove_log(&self, name: &Name) -> Result<bool, DurableError> {
        self.0.remove_log(name)
    }

    fn log_names(&self) -> Result<Vec<Name>, DurableError> {
        self.0.log_names()
    }
}

impl EventLog for LogWithoutReaders {
    fn append(&self, events: Vec<NewEvent>) -> Result<Appended, DurableError> {
        self.0.append(events)
    }

    fn open_reader(&self, _: &Name) -> Result<Arc<dyn Reader>, DurableError> {
        Err(DurableError::Away("its server is gone".to_owned()))
    }

    fn remove_reader(&self, name: &Name) -> Result<bool, DurableError> {
        self.0.remove_reader(name)
    }

    fn reader_names(&self) -> Result<Vec<Name>, DurableError> {
        self.0.reader_names()
    }

    fn status(&self) -> Result<LogStatus, DurableError> {
        self.0.status()
    }
}

#[test]
fn a_connection_whose_events_cannot_be_read_at_the_start_is_there_after_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notification.redb");
    let events = || FileStore::open(&folder.path().join("events.redb"), FileOptions::default());
    let (place, program) = (place("127.79.2.3"), Program::new());
    let service = |events: Arc<dyn EventStore>, limits| {
        let service = NotificationService::open(&path).unwrap();
        service.set_event_store(events);
        service.set_limits(limits);
        Served::of(service, place)
    };
    let served = service(Arc::new(events().unwrap()), limits());
    let channel = served.channel(&persistent_events(), &[]);
    let (proxy, sink) = program.sink(&channel);
    proxy.suspend_connection().unwrap();
    let pushes = program.pushes_to(&channel);
    pushes.push_structured_event(&event(1)).unwrap();
    drop(served);

    let impatient = Limits {
        connect_within: Duration::from_millis(50),
        ..limits()
    };
    let served = service(Arc::new(WithoutReaders(events().unwrap())), impatient);
    until(|| !exists(&proxy));
    drop(served);

    let _served = service(Arc::new(events().unwrap()), limits());
    proxy.resume_connection().unwrap();
    assert_eq!(sink.wait_for(1), [1]);
}

#[test]
fn an_event_is_for_the_next_pull_when_the_client_of_one_that_waits_has_closed_its_connection() {
    for quality in [&[][..], &persistent_events()] {
        let folder = tempfile::tempdir().unwrap();
        let service = stored(&folder.path().join("store.redb"));
        let (served, program) = (Served::of(service, ("127.0.0.1", 0)), Program::new());
        let channel = program.see(&served.channel(quality, &[]));
        let pulls = program.pulls_from(&channel);
        let pushes = program.pushes_to(&channel);
        let gone = Program::new();
        let theirs: StructuredPullSupplier = narrowed(&gone.see(&pulls));
        let waits = theirs.sendp_pull_structured_event();
        // A call on the same connection, which comes after it.
        assert!(exists(&gone.see(&pulls)));
        let before = served.orb.client_connections();
        gone.orb.shutdown(false).unwrap();
        assert!(waits.wait().is_err());
        until(|| served.orb.client_connections() < before);
        pushes.push_structured_event(&event(1)).unwrap();
        assert_eq!(number(&pulls.pull_structured_event().unwrap()), 1);
    }
}
