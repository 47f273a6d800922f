//! Client process of `dispatching`: the channel's library, suppliers and consumers in one process.

use super::consumers::{Computing, Receipts, Urgent};
use super::load::{Over, wait_for_next};
use super::priorities::SUPPLIER;
use super::setup::{Batch, By, Local};
use crate::Result;
use crate::placement::Placement;
use crate::protocol::obey;
use crate::rt::awake::Awake;
use punctual_exec::ThreadSpec;
use punctual_rtevent::{
    Channel, ChannelOptions, Dispatching, Event, Filter, Header, Level, Pool, PoolOptions,
    Publications, QueueOptions, Subscription, Supplier, SupplierHandle, Threads, ThreadsOptions,
    codes,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Type of urgent events.
const HIGH: i32 = codes::FIRST_OF_USERS;
/// Type of the events for which consumers compute.
const LOW: i32 = HIGH + 1;
/// Level of urgent consumers.
const MOST_URGENT: Level = Level::new(0, 0);
/// Level of the supplier of the other events: that of the most urgent consumer that computes.
const OF_LOAD: Level = Level::new(1, 0);
/// Queue of a consumer that computes: each push has one event, and a backlog stays small.
const QUEUE: QueueOptions = QueueOptions {
    events: 16,
    bytes: 1 << 20,
    batch: 1,
    overflow: punctual_rtevent::Overflow::DropOldest,
};
/// Number of threads of the pool.
const POOL: usize = 4;
/// Time after which events that have not come count as lost.
const LONGEST: Duration = Duration::from_secs(60);

/// Makes the batches that the input asks for. Of an answer, the first number counts the events for
/// which consumers have computed; the others are the times of urgent events.
///
/// # Errors
/// The harness is gone.
pub(super) fn call(setup: &Local) -> Result<()> {
    obey("", |batch: Batch| perform(setup, batch))
}

/// Channel of one batch.
struct Engine {
    channel: Channel<u64>,
    receipts: Arc<Receipts>,
    /// Number of events for which consumers have computed.
    served: Arc<AtomicU64>,
}

/// Makes a batch with a channel of its own, so that no backlog is left for the next one.
fn perform(setup: &Local, batch: Batch) -> Result<Vec<u64>> {
    let expected = (batch.warm_up + batch.events) as usize * usize::from(setup.high);
    let engine = Engine::new(setup, expected)?;
    let (over, supplier) = (Over::default(), engine.supplier()?);
    // Without a load the processors would halt between events.
    let awake = (!batch.loaded).then(stay_awake).transpose()?;
    let load = match batch.loaded {
        true => Some(over.load(
            ThreadSpec::named("events-low").scheduling(setup.policy.of_level(OF_LOAD)),
            engine.supplier()?,
            Event::new(Header::new(LOW, 2), 0),
            Duration::from_micros(setup.low_pace),
        )?),
        false => None,
    };
    let (receipts, pace) = (engine.receipts.clone(), Duration::from_micros(setup.pace));
    let urgent = ThreadSpec::named("events-high").scheduling(setup.policy.at(SUPPLIER));
    let pushes = batch.warm_up + batch.events;
    // The load ends with this thread, which is more urgent.
    let pushed = urgent.start(move || push(&over, &supplier, &receipts, pushes, pace))?;
    pushed
        .join()
        .map_err(|_| "the supplier's thread panicked")??;
    drop(awake);
    if let Some(load) = load {
        load.join().map_err(|_| "the load's thread panicked")?;
    }
    engine.channel.destroy();
    let mut answer = vec![engine.served.load(Ordering::Relaxed)];
    let warm_up = batch.warm_up as usize * usize::from(setup.high);
    answer.extend(engine.receipts.take().into_iter().skip(warm_up));
    Ok(answer)
}

/// Keeps the processors of this process from halting. The threads are of this process, as the load
/// is: a change of the address space costs time, too.
fn stay_awake() -> Result<Awake> {
    let processors = Placement::Cross.pinned();
    Awake::on(processors.or_else(|_| Placement::Same.pinned())?)
}

/// Pushes urgent events at their pace, and waits until all have come.
fn push(
    _over: &Over,
    supplier: &SupplierHandle<u64>,
    receipts: &Receipts,
    pushes: u32,
    pace: Duration,
) -> Result<()> {
    let mut due = Instant::now();
    for _ in 0..pushes {
        let event = Event::new(Header::new(HIGH, 1), receipts.now());
        supplier.push(&[event])?;
        due = wait_for_next(due, pace);
    }
    receipts.check(LONGEST)
}

impl Engine {
    fn new(setup: &Local, expected: usize) -> Result<Self> {
        let engine = Self {
            channel: Channel::new(ChannelOptions {
                dispatching: dispatching(setup)?,
                ..ChannelOptions::default()
            })?,
            receipts: Arc::new(Receipts::new(Instant::now(), expected)),
            served: Arc::default(),
        };
        for _ in 0..setup.high {
            let wanted = Subscription::new(Filter::event(HIGH, 0)).level(MOST_URGENT);
            let urgent = Urgent(engine.receipts.clone());
            engine.channel.connect_consumer(wanted, Arc::new(urgent))?;
        }
        for group in 1..=u8::try_from(setup.low)? {
            let wanted = Subscription::new(Filter::event(LOW, 0));
            let wanted = wanted.level(Level::new(group, 0)).queue(QUEUE);
            let computing = Computing {
                work: Duration::from_micros(setup.work),
                served: engine.served.clone(),
            };
            engine
                .channel
                .connect_consumer(wanted, Arc::new(computing))?;
        }
        Ok(engine)
    }

    fn supplier(&self) -> Result<SupplierHandle<u64>> {
        let publications = Publications::default();
        Ok(self
            .channel
            .connect_supplier(publications, Arc::new(Silent))?)
    }
}

/// Returns the threads that deliver events. Those of a pool have the priority of the most urgent
/// level, as each of them may have to serve it.
fn dispatching(setup: &Local) -> Result<Dispatching> {
    let policy = setup.policy;
    let spec = move |level| ThreadSpec::named("events").scheduling(policy.of_level(level));
    let pool = |threads| -> Result<Dispatching> {
        Ok(Dispatching::Queued(Arc::new(Pool::new(PoolOptions {
            thread: spec(MOST_URGENT),
            threads,
            most_threads: threads,
            ..PoolOptions::default()
        })?)))
    };
    match setup.by {
        By::Reactive => Ok(Dispatching::Reactive),
        By::Pool => pool(POOL),
        By::Single => pool(1),
        By::Threads => Ok(Dispatching::Queued(Arc::new(Threads::new(
            ThreadsOptions {
                thread: Arc::new(spec),
                ..ThreadsOptions::default()
            },
        )?))),
    }
}

/// Supplier that does not care how its channel ends.
struct Silent;

impl Supplier for Silent {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::priorities::Policy;

    #[test]
    fn every_way_of_dispatching_delivers_all_urgent_events_alone_and_beside_a_load() {
        for by in [By::Reactive, By::Threads, By::Pool, By::Single] {
            let setup = Local {
                by,
                high: 2,
                low: 3,
                work: 1,
                pace: 1,
                low_pace: 100,
                policy: Policy::Other,
            };
            for loaded in [false, true] {
                let batch = Batch {
                    warm_up: 2,
                    events: 5,
                    loaded,
                };
                let answer = perform(&setup, batch).unwrap();
                assert_eq!(answer.len(), 1 + 2 * 5, "{by}");
                assert!(loaded || answer[0] == 0, "{by}");
            }
        }
    }
}
