//! Client process of `latency`: supplier and consumer of the channel at once, so that one clock
//! times each event.

use super::channel::message;
use super::priorities::SUPPLIER;
use super::setup::{Batch, Remote, Through};
use crate::Result;
use crate::peer::socket::Socket;
use crate::peer::{nanoseconds, nanoseconds_since, sampled};
use crate::protocol::obey;
use punctual::{Orb, RootPoa};
use punctual_rtevent::{Consumer, Dependency, Header, Pushed, Selector, codes};
use punctual_rtevent_service::client::{Publisher, Subscriber, SubscriberOptions};
use punctual_rtevent_service::{Data, Event, Form, RtecEventData};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Type of the events.
pub(super) const KIND: i32 = codes::FIRST_OF_USERS;
/// Time after which an event counts as lost: long, for busy machines.
pub(super) const LONGEST: Duration = Duration::from_secs(30);
/// Time between two looks whether the consumer is connected.
const LOOK: Duration = Duration::from_millis(1);

/// Makes the batches that the input asks for.
///
/// # Errors
/// The channel cannot be reached, the scheduling is not granted, or the harness is gone.
pub(super) fn call(setup: &Remote, at: &str) -> Result<()> {
    punctual_sys::scheduling::set_own(setup.policy.at(SUPPLIER))?;
    match setup.through {
        Through::Floor => exchange(setup, at),
        Through::Reactive | Through::Threads => push(setup, at),
    }
}

/// Sends messages by raw sockets; a sample is the time until one is back.
fn exchange(setup: &Remote, at: &str) -> Result<()> {
    let socket = Socket::connect(setup.link.sockets(), at)?;
    let request = vec![0x5a; message(setup.octets)];
    let mut reply = request.clone();
    batches(move || {
        let began = Instant::now();
        socket.send_all(&request)?;
        socket.read_exact(&mut reply)?;
        Ok(nanoseconds_since(began))
    })
}

/// Pushes events; a sample is the time from before a push until the consumer has the event.
fn push(setup: &Remote, at: &str) -> Result<()> {
    let orb = Orb::builder().listen(setup.link.endpoint()?).build()?;
    let poa = orb.root_poa()?;
    poa.manager().activate()?;
    let arrival = Arc::new(Arrival::default());
    let wanted = vec![Dependency {
        header: Header::new(KIND, 0),
        rt_info: 0,
    }];
    let options = SubscriberOptions::default();
    let subscriber = Subscriber::start(&poa, at, wanted, options, arrival.clone())?;
    let publisher = Publisher::new(&poa, at, Form::default(), vec![Selector::new(KIND, 1)]);
    publisher.connect()?;
    wait_for(&subscriber)?;
    let data = RtecEventData {
        payload: vec![0x5a; setup.octets],
        ..RtecEventData::default()
    };
    let event = [Event::new(Header::new(KIND, 1), Arc::new(data.into()))];
    batches(|| timed(&publisher, &event, &arrival))?;
    drop((publisher, subscriber));
    Ok(orb.shutdown(true)?)
}

/// Waits until the channel has the consumer.
pub(super) fn wait_for(subscriber: &Subscriber) -> Result<()> {
    let began = Instant::now();
    while !subscriber.counts().is_connected {
        if began.elapsed() > LONGEST {
            return Err("the consumer was not connected in 30 s".into());
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}

/// Pushes an event, and returns the nanoseconds until it has arrived.
fn timed(publisher: &Publisher, event: &[Event], arrival: &Arrival) -> Result<u64> {
    let began = Instant::now();
    publisher.push(event)?;
    let arrived = arrival.wait();
    let arrived = arrived.ok_or("an event has not arrived in 30 s: it was lost")?;
    Ok(nanoseconds(arrived.duration_since(began)))
}

/// Carries out the orders of the harness, with a function that makes one sample.
fn batches(mut one: impl FnMut() -> Result<u64>) -> Result<()> {
    obey("", |batch: Batch| {
        sampled(batch.warm_up, &mut one)?;
        sampled(batch.events, &mut one)
    })
}

/// Consumer that notes when an event arrived. The supplier's thread waits for it without spinning, as
/// that of raw sockets does.
#[derive(Default)]
struct Arrival {
    at: Mutex<Option<Instant>>,
    changed: Condvar,
}

impl Arrival {
    /// Waits for an event; returns the time of its arrival, if it has come in time.
    fn wait(&self) -> Option<Instant> {
        let at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .changed
            .wait_timeout_while(at, LONGEST, |at| at.is_none());
        let (mut at, _) = waited.unwrap_or_else(PoisonError::into_inner);
        at.take()
    }

    fn note(&self, now: Instant) {
        *self.at.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        self.changed.notify_one();
    }
}

impl Consumer<Data> for Arrival {
    fn push(&self, _: &[Event]) -> Pushed {
        self.note(Instant::now());
        Pushed::Done
    }
}
