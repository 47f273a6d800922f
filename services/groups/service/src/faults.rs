//! Faults of members, pushed to consumers as structured events (Fault Tolerant CORBA, CORBA 3.0, §23.5.2).
//!
//! Each consumer has a queue and one call at a time, on one of a few threads: one that is slow or hangs delays no other. A queue
//! that is full loses its oldest event. A consumer that fails several times in succession is disconnected.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use punctual::{Any, Interface, SystemException, SystemExceptionKind as Kind};
use punctual_events::Workers;
use punctual_exec::SpawnError;

use crate::bounded::bounded;
use crate::cos_notification::{
    EventHeader, EventType, FixedEventHeader, Property, StructuredEvent,
};
use crate::cos_notify_comm::{SequencePushConsumer, StructuredPushConsumer};
use crate::cos_notify_filter::Filter;
use crate::ft::FaultNotifier;
use crate::names::location;
use crate::refusal::{Refusal, Refused};

/// Maximum number of events that wait for one consumer.
const QUEUE: usize = 1_000;

/// Number of failures in succession after which a consumer is disconnected.
const FAILURES: u32 = 5;

/// Threads that push.
const PUSHERS: usize = 8;

/// Object that faults are pushed to.
#[derive(Clone, Debug)]
pub(crate) enum Sink {
    Structured(StructuredPushConsumer),
    Sequence(SequencePushConsumer),
    /// Notifier that was registered in place of this one.
    Notifier(FaultNotifier),
}

#[derive(Debug)]
struct Consumer {
    sink: Sink,
    filter: Option<Filter>,
    queue: VecDeque<Arc<StructuredEvent>>,
    is_busy: bool,
    failures: u32,
}

/// Consumers of faults.
#[derive(Debug, Default)]
pub(crate) struct Notifier(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    consumers: Mutex<BTreeMap<u64, Consumer>>,
    lost: AtomicU64,
    pushers: OnceLock<Workers>,
    time: Mutex<Option<Duration>>,
}

/// Number of the notifier that was registered in place of this one.
const REGISTERED: u64 = 0;

impl Notifier {
    pub(crate) fn serve(&self) -> Result<(), SpawnError> {
        let workers = Workers::new("group-faults", PUSHERS)?;
        self.0.pushers.get_or_init(|| workers);
        Ok(())
    }

    pub(crate) fn set_time(&self, time: Duration) {
        *self.0.time.lock() = Some(time);
    }

    pub(crate) fn end(&self) {
        if let Some(pushers) = self.0.pushers.get() {
            pushers.end();
        }
    }

    pub(crate) fn consumers(&self) -> usize {
        self.0.consumers.lock().len()
    }

    pub(crate) fn lost(&self) -> u64 {
        self.0.lost.load(Ordering::Relaxed)
    }

    /// Connects a consumer; returns its number, which is random: a client that knows it may disconnect the consumer.
    ///
    /// # Errors
    /// IMP_LIMIT; NO_RESOURCES if the system has no random numbers.
    pub(crate) fn connect(&self, sink: Sink, filter: Option<&Filter>, most: usize) -> Refused<u64> {
        let mut consumers = self.0.consumers.lock();
        if consumers.len() >= most {
            return Err(Refusal::limit("consumers of faults"));
        }
        loop {
            let number = getrandom::u64();
            let number = number.map_err(|error| Kind::NoResources.because(error.to_string()))?;
            if number != REGISTERED && !consumers.contains_key(&number) {
                consumers.insert(number, Consumer::of(sink, filter.cloned()));
                return Ok(number);
            }
        }
    }

    /// Registers the notifier that gets all faults in place of the service's consumers.
    pub(crate) fn register(&self, notifier: FaultNotifier) {
        let consumer = Consumer::of(Sink::Notifier(notifier), None);
        self.0.consumers.lock().insert(REGISTERED, consumer);
    }

    pub(crate) fn registered(&self) -> Option<FaultNotifier> {
        match &self.0.consumers.lock().get(&REGISTERED)?.sink {
            Sink::Notifier(notifier) => Some(notifier.clone()),
            Sink::Structured(_) | Sink::Sequence(_) => None,
        }
    }

    /// Disconnects a consumer; returns false if there is no such.
    pub(crate) fn disconnect(&self, number: u64) -> bool {
        number != REGISTERED && self.0.consumers.lock().remove(&number).is_some()
    }

    /// Reports that a member has crashed.
    pub(crate) fn crashed(&self, domain: &str, group: u64, type_id: &str, key: &str) {
        let property = |name: &str, value: Option<Any>| Property {
            name: name.to_owned(),
            value: value.unwrap_or_default(),
        };
        self.push(StructuredEvent {
            header: EventHeader {
                fixed_header: FixedEventHeader {
                    event_type: EventType {
                        domain_name: "FT_CORBA".to_owned(),
                        type_name: "ObjectCrashFault".to_owned(),
                    },
                    event_name: String::new(),
                },
                variable_header: Vec::new(),
            },
            filterable_data: vec![
                property("FTDomainId", Any::new(domain).ok()),
                property("Location", Any::new(&location(key)).ok()),
                property("TypeId", Any::new(type_id).ok()),
                property("ObjectGroupId", Any::new(&group).ok()),
            ],
            remainder_of_body: Any::default(),
        });
    }

    /// Pushes an event to all consumers, on other threads.
    pub(crate) fn push(&self, event: StructuredEvent) {
        let event = Arc::new(event);
        let mut to_run = Vec::new();
        for (number, consumer) in &mut *self.0.consumers.lock() {
            if consumer.queue.len() >= QUEUE {
                consumer.queue.pop_front();
                self.0.lost.fetch_add(1, Ordering::Relaxed);
            }
            consumer.queue.push_back(event.clone());
            if !std::mem::replace(&mut consumer.is_busy, true) {
                to_run.push(*number);
            }
        }
        for number in to_run {
            self.0.clone().run(number);
        }
    }
}

impl Consumer {
    fn of(sink: Sink, filter: Option<Filter>) -> Self {
        Self {
            sink,
            filter,
            queue: VecDeque::new(),
            is_busy: false,
            failures: 0,
        }
    }
}

impl Inner {
    fn run(self: Arc<Self>, number: u64) {
        if let Some(pushers) = self.pushers.get() {
            let inner = self.clone();
            pushers.run(move || inner.push_next(number));
        }
    }

    /// Pushes the next event of a consumer, and queues the one behind it.
    fn push_next(self: Arc<Self>, number: u64) {
        let (event, sink, filter) = {
            let mut consumers = self.consumers.lock();
            let Some(consumer) = consumers.get_mut(&number) else {
                return;
            };
            let Some(event) = consumer.queue.pop_front() else {
                consumer.is_busy = false;
                return;
            };
            (event, consumer.sink.clone(), consumer.filter.clone())
        };
        let time = self.time.lock().unwrap_or(Duration::from_secs(1));
        let pushed = push(&event, &sink, filter.as_ref(), time);
        if let Some(consumer) = self.consumers.lock().get_mut(&number) {
            consumer.failures = match &pushed {
                Ok(()) => 0,
                Err(_) => consumer.failures + 1,
            };
        }
        if let Err(error) = pushed {
            tracing::info!("a consumer of faults cannot be called: {error}");
            let mut consumers = self.consumers.lock();
            if consumers
                .get(&number)
                .is_some_and(|one| one.failures >= FAILURES)
            {
                consumers.remove(&number);
            }
        }
        self.run(number);
    }
}

fn push(
    event: &StructuredEvent,
    sink: &Sink,
    filter: Option<&Filter>,
    time: Duration,
) -> Result<(), String> {
    if let Some(filter) = filter {
        let filter: Filter = bounded(filter, time);
        match filter.match_structured(event) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(error) => return Err(error.to_string()),
        }
    }
    let system = |exception: SystemException| exception.to_string();
    match sink {
        Sink::Structured(consumer) => {
            let consumer: StructuredPushConsumer = bounded(consumer, time);
            consumer
                .push_structured_event(event)
                .map_err(|error| error.to_string())
        }
        Sink::Sequence(consumer) => {
            let consumer: SequencePushConsumer = bounded(consumer, time);
            let events = std::slice::from_ref(event);
            consumer
                .push_structured_events(events)
                .map_err(|error| error.to_string())
        }
        Sink::Notifier(notifier) => {
            let notifier = FaultNotifier::from_object(notifier.as_object().with_timeout(time));
            notifier.push_structured_fault(event).map_err(system)
        }
    }
}
