//! Client process of `throughput`: a supplier, and consumers with an ORB each.

use super::peer::{KIND, LONGEST, wait_for};
use super::setup::{Flow, Stream};
use crate::Result;
use crate::peer::nanoseconds_since;
use crate::protocol::obey;
use punctual::{Orb, RootPoa};
use punctual_rtevent::{Consumer, Dependency, Header, Pushed, Selector};
use punctual_rtevent_service::client::{Publisher, Subscriber, SubscriberOptions};
use punctual_rtevent_service::{Data, Event, Form, RtecEventData};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time between two looks whether all events have come.
const LOOK: Duration = Duration::from_micros(50);

/// Makes the flows that the input asks for.
///
/// # Errors
/// The channel cannot be reached, or the harness is gone.
pub(super) fn call(setup: &Stream, at: &str) -> Result<()> {
    let consumers = (0..setup.consumers).map(|_| Receiving::connect(setup, at));
    let consumers: Vec<_> = consumers.collect::<Result<_>>()?;
    let orb = Orb::builder()
        .listen(setup.remote.link.endpoint()?)
        .build()?;
    let poa = orb.root_poa()?;
    poa.manager().activate()?;
    let publisher = Publisher::new(&poa, at, Form::default(), vec![Selector::new(KIND, 1)]);
    publisher.connect()?;
    let data = RtecEventData {
        payload: vec![0x5a; setup.remote.octets],
        ..RtecEventData::default()
    };
    let event = Event::new(Header::new(KIND, 1), Arc::new(data.into()));
    let mut all = 0;
    obey("", |flow: Flow| {
        let batch = vec![event.clone(); flow.batch as usize];
        all += u64::from(flow.events / flow.batch * flow.batch);
        let began = Instant::now();
        for _ in 0..flow.events / flow.batch {
            publisher.push(&batch)?;
        }
        wait_for_all(&consumers, all)?;
        Ok(vec![nanoseconds_since(began)])
    })?;
    drop((publisher, consumers));
    Ok(orb.shutdown(true)?)
}

/// Waits until each consumer has all events.
fn wait_for_all(consumers: &[Receiving], all: u64) -> Result<()> {
    let began = Instant::now();
    while consumers.iter().any(|one| one.count.events() < all) {
        if began.elapsed() > LONGEST {
            return Err("events have not arrived in 30 s: they were lost".into());
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}

/// Consumer with its ORB, and so with a connection of its own.
struct Receiving {
    count: Arc<Count>,
    _subscriber: Subscriber,
    orb: Orb,
}

impl Receiving {
    fn connect(setup: &Stream, at: &str) -> Result<Self> {
        let orb = Orb::builder()
            .listen(setup.remote.link.endpoint()?)
            .build()?;
        let poa = orb.root_poa()?;
        poa.manager().activate()?;
        let wanted = vec![Dependency {
            header: Header::new(KIND, 0),
            rt_info: 0,
        }];
        let count = Arc::new(Count::default());
        let options = SubscriberOptions::default();
        let subscriber = Subscriber::start(&poa, at, wanted, options, count.clone())?;
        wait_for(&subscriber)?;
        Ok(Self {
            count,
            _subscriber: subscriber,
            orb,
        })
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        // Its process ends.
        let _ = self.orb.shutdown(false);
    }
}

/// Consumer that counts.
#[derive(Default)]
struct Count(AtomicU64);

impl Count {
    fn events(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Consumer<Data> for Count {
    fn push(&self, events: &[Event]) -> Pushed {
        self.0.fetch_add(events.len() as u64, Ordering::Relaxed);
        Pushed::Done
    }
}
