//! Channels within another service, whose gates see the events of suppliers first.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use parking_lot::Mutex;
use punctual::policy::Collocation;
use punctual::{
    Any, ListenEndpoint, NotNil, Orb, RootPoa, SystemException, SystemExceptionKind as Kind,
};
use punctual_host::Service;
use punctual_host::store::{StoreFile, StoreKind};
use punctual_notification::cos_notification::{MAX_CONSUMERS, StructuredEvent};
use punctual_notification::cos_notify_channel_admin::{ConsumerAdminServant, EventChannel};
use punctual_notification::cos_notify_filter::{ConstraintExp, Filter};
use punctual_notification::{
    EmbeddedChannel, EmbeddedChannels, EventFilter, Gate, Incoming, NotificationService,
    Unsupported,
};

use crate::clients::Received;
use crate::support::{Program, event, kind_of, limits, number, property, until};

/// Service whose channels are those of another one, with that one's file.
struct Embedded {
    orb: Orb,
    service: NotificationService,
    channels: EmbeddedChannels,
    filters: HashMap<u64, EventFilter>,
}

impl Embedded {
    fn at(path: &Path, channels: &[i32], filters: &[u64]) -> Self {
        let file = StoreFile::open(path, StoreKind::new("embedding", 1)).unwrap();
        let service = NotificationService::within(Arc::new(file));
        service.set_limits(limits());
        let orb = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .configure(|config| {
                NotificationService::configure(config);
                config.collocation = Collocation::None;
            })
            .build()
            .unwrap();
        let poa = orb.root_poa().unwrap();
        let (channels, filters) = service.embed(&poa, channels, filters).unwrap();
        poa.manager().activate().unwrap();
        Self {
            orb,
            service,
            channels,
            filters,
        }
    }

    /// Makes a channel and opens it.
    fn channel(&self, gate: impl Gate + 'static) -> (EmbeddedChannel, EventChannel) {
        let properties = self.channels.properties(&[], &[]).unwrap();
        let id = self.channels.make(properties).unwrap();
        let channel = self.channels.open(id, Arc::new(gate), None).unwrap();
        let admin = channel.consumers().unwrap();
        let reference = admin.my_channel().unwrap().not_nil().unwrap();
        (channel, reference)
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.service.end_waiting();
        let _ = self.orb.shutdown(true);
        self.service.stop();
    }
}

/// Gate that notes how many events it sees together, and lets those of even numbers of events pass.
#[derive(Clone, Default)]
struct Even(Arc<Mutex<Vec<usize>>>);

impl Gate for Even {
    fn pass(&self, events: &[Incoming<'_>]) -> Result<bool, SystemException> {
        self.0.lock().push(events.len());
        for event in events {
            assert!(event.to_any().extract::<StructuredEvent>().is_ok());
        }
        Ok(events.len().is_multiple_of(2))
    }
}

/// Gate that tells of the events that it sees, and lets none pass before it is opened.
struct Shut {
    seen: Sender<usize>,
    opened: Mutex<Receiver<()>>,
}

impl Gate for Shut {
    fn pass(&self, events: &[Incoming<'_>]) -> Result<bool, SystemException> {
        self.seen.send(events.len()).unwrap();
        // It ends with the sender, too.
        let _ = self.opened.lock().recv();
        Ok(true)
    }
}

/// Gate that refuses all events, each time or for now.
struct Refusing(Kind);

impl Gate for Refusing {
    fn pass(&self, _: &[Incoming<'_>]) -> Result<bool, SystemException> {
        Err(self.0.because("the gate is shut"))
    }
}

fn folder() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    (folder, path)
}

fn filter_of(channel: &EventChannel, constraint: &str) -> Filter {
    let factory = channel.default_filter_factory().unwrap().not_nil().unwrap();
    let filter = factory.create_filter("EXTENDED_TCL").unwrap();
    let filter = filter.not_nil().unwrap();
    let constraint = ConstraintExp {
        event_types: Vec::new(),
        constraint_expr: constraint.to_owned(),
    };
    filter.add_constraints(&[constraint]).unwrap();
    filter
}

#[test]
fn a_gate_sees_the_events_of_a_call_together_and_decides_whether_consumers_get_them() {
    let (_folder, path) = folder();
    let (embedded, program) = (Embedded::at(&path, &[], &[]), Program::new());
    let gate = Even::default();
    let (channel, reference) = embedded.channel(gate.clone());
    let pulls = program.pulls_from(&reference);
    let pushes = program.pushes_sequences_to(&reference);
    for batch in [vec![event(1)], vec![event(2), event(3)], Vec::new()] {
        pushes.push_structured_events(&batch).unwrap();
    }
    assert_eq!(*gate.0.lock(), [1, 2]);
    channel.deliver(&Any::new(&event(4)).unwrap()).unwrap();
    for expected in [2, 3, 4] {
        let (event, is_there) = pulls.try_pull_structured_event().unwrap();
        assert!(is_there);
        assert_eq!(number(&event), expected);
    }
    assert!(!pulls.try_pull_structured_event().unwrap().1);
}

#[test]
fn a_gate_that_blocks_delays_no_events_that_are_pulled_for_other_channels() {
    let (_folder, path) = folder();
    let (embedded, program) = (Embedded::at(&path, &[], &[]), Program::new());
    let (seen, sees) = channel();
    let (open, opened) = channel();
    let opened = Mutex::new(opened);
    let (_, shut) = embedded.channel(Shut { seen, opened });
    let gate = Even::default();
    let (_, other) = embedded.channel(gate.clone());
    let pulls = program.pulls_from(&shut);
    let (_first, source) = program.is_pulled_by(&shut);
    source.supply(Received::Structured(Box::new(event(1))));
    assert_eq!(sees.recv().unwrap(), 1);
    // The replies of this supplier come by the same connection.
    let (_second, source) = program.is_pulled_by(&other);
    source.supply(Received::Structured(Box::new(event(2))));
    until(|| *gate.0.lock() == [1]);
    assert!(!pulls.try_pull_structured_event().unwrap().1);
    drop(open);
    assert_eq!(number(&pulls.pull_structured_event().unwrap()), 1);
}

#[test]
fn suppliers_get_the_exception_of_a_gate_that_refuses() {
    let (_folder, path) = folder();
    let (embedded, program) = (Embedded::at(&path, &[], &[]), Program::new());
    let (_, reference) = embedded.channel(Refusing(Kind::PersistStore));
    let pushes = program.pushes_to(&reference);
    let refused = pushes.push_structured_event(&event(1));
    assert_eq!(kind_of(refused), Kind::PersistStore);
}

#[test]
fn events_that_were_pulled_are_lost_where_a_gate_refuses_them_for_ever() {
    let (_folder, path) = folder();
    let (embedded, program) = (Embedded::at(&path, &[], &[]), Program::new());
    let (_, reference) = embedded.channel(Refusing(Kind::ImpLimit));
    let (_proxy, source) = program.is_pulled_by(&reference);
    for one in 1..=3 {
        source.supply(Received::Structured(Box::new(event(one))));
    }
    // It goes on to ask for others.
    until(|| source.supplies_nothing());
}

#[test]
fn channels_of_a_store_are_there_by_their_ids_and_the_others_removed() {
    let (_folder, path) = folder();
    let embedded = Embedded::at(&path, &[], &[]);
    let (first, reference) = embedded.channel(Even::default());
    let (second, _) = embedded.channel(Even::default());
    let limit = property(MAX_CONSUMERS, 7);
    reference.set_admin(std::slice::from_ref(&limit)).unwrap();
    let odd = filter_of(&reference, "$number == 1");
    let found = embedded.channels.filter(&odd).unwrap();
    odd.destroy().unwrap();
    let (first, second, filter) = (first.id(), second.id(), found.number());
    drop((found, embedded));

    let embedded = Embedded::at(&path, &[first], &[filter]);
    assert_eq!(embedded.service.size().0, 1);
    assert!(embedded.filters.contains_key(&filter));
    let gate = Arc::new(Even::default());
    let again = embedded.channels.open(second, gate.clone(), None);
    assert!(again.is_err());
    let channel = embedded.channels.open(first, gate.clone(), None).unwrap();
    assert!(channel.operations().get_admin().unwrap().contains(&limit));
    assert!(embedded.channels.open(first, gate, None).is_err());
    embedded.channels.remove(first).unwrap();
    assert_eq!(embedded.service.size().0, 0);
}

#[test]
fn clients_cannot_end_a_channel_of_another_service() {
    let (_folder, path) = folder();
    let embedded = Embedded::at(&path, &[], &[]);
    let (_, reference) = embedded.channel(Even::default());
    assert_eq!(kind_of(reference.destroy()), Kind::BadInvOrder);
    assert!(reference.my_factory().unwrap().is_none());
    assert_eq!(embedded.service.size().0, 1);
}

#[test]
fn persistent_events_are_not_supported() {
    let (_folder, path) = folder();
    let embedded = Embedded::at(&path, &[], &[]);
    let persistent = [property("EventReliability", 1_i16)];
    let refused = embedded.channels.properties(&persistent, &[]);
    assert!(matches!(refused.unwrap_err(), Unsupported::Quality(_)));
    let connections = [property("ConnectionReliability", 1_i16)];
    assert!(embedded.channels.properties(&connections, &[]).is_ok());
}
