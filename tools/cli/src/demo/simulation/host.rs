//! Process of a host. It reads a line for each request, `start`, `stop` or `count`, answers each with its counts as a
//! line of JSON, and ends when its input ends.

use super::EntityState;
use super::motion::Entity;
use super::picture::{Picture, Received};
use super::world::World;
use parking_lot::Mutex;
use punctual::{Orb, RootPoa};
use punctual_rtevent::{Channel, ChannelOptions, Supplier, SupplierHandle, ThreadSpec};
use punctual_rtevent_service::federation::{Federation, Link};
use punctual_rtevent_service::{Data, Event, ServiceOptions, typed};
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Answer of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HostCounts {
    /// Number of the host, from 0 on.
    pub(super) host: u32,
    /// States that it published.
    pub(super) sent: u64,
    /// Ticks of entities whose extrapolation by others was good enough.
    pub(super) saved: u64,
    #[serde(flatten)]
    pub(super) received: Received,
}

/// Host with its share of the entities.
struct Host {
    world: World,
    number: u32,
    began: Instant,
    own: Mutex<Own>,
    picture: Arc<Mutex<Picture>>,
    supplier: SupplierHandle<Data>,
    runs: AtomicBool,
    _federation: Federation,
    _orb: Orb,
}

/// Entities of the host, and what it has published.
struct Own {
    entities: Vec<Entity>,
    sent: u64,
    saved: u64,
}

struct Silent;

impl Supplier for Silent {}

/// Executes requests until the input ends.
pub(super) fn serve(world: &World, number: u32) -> Outcome<()> {
    let host = Arc::new(Host::new(world.clone(), number)?);
    answer(host.counts())?;
    for line in std::io::stdin().lock().lines() {
        match line?.trim() {
            "start" => host.start()?,
            "stop" => host.stop()?,
            "count" => {}
            other => {
                return Err(format!("there is no request `{other}`: start, stop, count").into());
            }
        }
        answer(host.counts())?;
    }
    host.runs.store(false, Ordering::Relaxed);
    Ok(())
}

fn answer(counts: HostCounts) -> Outcome<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(&counts)?)?;
    Ok(out.flush()?)
}

impl Host {
    fn new(world: World, number: u32) -> Outcome<Self> {
        let orb = Orb::builder().build()?;
        let poa = orb.root_poa()?;
        let channel: Channel<Data> = Channel::new(ChannelOptions::default())?;
        let link: Link = world.link().parse()?;
        let options = ServiceOptions {
            sends: vec![link.clone()],
            receives: vec![link],
            ..ServiceOptions::default()
        };
        let federation = Federation::start(&channel, &options, &poa)?;
        let picture = Arc::new(Mutex::new(Picture::new(world.entities)));
        let source = source(number);
        let supplier = typed::publications::<EntityState>(source);
        let entities = (0..world.entities).filter(|entity| entity % world.hosts == number);
        let shown = picture.clone();
        let consumer = typed::consumer(move |header, state: &EntityState| {
            if header.source != source {
                shown.lock().take(state);
            }
        });
        channel.connect_consumer(typed::subscription::<EntityState>(), consumer)?;
        Ok(Self {
            own: Mutex::new(Own {
                entities: entities.map(Entity::new).collect(),
                sent: 0,
                saved: 0,
            }),
            supplier: channel.connect_supplier(supplier, Arc::new(Silent))?,
            began: Instant::now(),
            runs: AtomicBool::new(false),
            _federation: federation,
            _orb: orb,
            world,
            number,
            picture,
        })
    }

    /// Begins to publish states at the rate, by a thread of its own.
    fn start(self: &Arc<Self>) -> Outcome<()> {
        if self.runs.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let host = Arc::downgrade(self);
        let period = self.world.period();
        ThreadSpec::named("simulation").start(move || {
            let mut next = Instant::now();
            while let Some(host) = host.upgrade().filter(|it| it.runs.load(Ordering::Relaxed)) {
                host.tick();
                drop(host);
                next += period;
                std::thread::sleep(next.saturating_duration_since(Instant::now()));
            }
        })?;
        Ok(())
    }

    /// Ends the publication, with a last state of each entity, so that all numbers before it are known.
    fn stop(&self) -> Outcome<()> {
        self.runs.store(false, Ordering::Relaxed);
        let mut own = self.own.lock();
        let now = self.began.elapsed().as_secs_f64();
        let states = own.entities.iter_mut().map(|entity| entity.publish(now));
        let states: Vec<_> = states.collect();
        self.push(&mut own, &states)
    }

    fn tick(&self) {
        let mut own = self.own.lock();
        let now = self.began.elapsed().as_secs_f64();
        let entities = own.entities.iter_mut();
        let due = entities.filter_map(|entity| entity.due(now, self.world.reckoning()));
        let due: Vec<_> = due.collect();
        own.saved += (own.entities.len() - due.len()) as u64;
        if let Err(error) = self.push(&mut own, &due) {
            eprintln!("states are not published: {error}");
        }
    }

    fn push(&self, own: &mut Own, states: &[EntityState]) -> Outcome<()> {
        let events = states.iter().map(|state| self.event(state));
        let events = events.collect::<Outcome<Vec<Event>>>()?;
        self.supplier.push(&events)?;
        own.sent += events.len() as u64;
        Ok(())
    }

    /// Returns the event of a state, which may cross a link.
    fn event(&self, state: &EntityState) -> Outcome<Event> {
        let mut event = typed::event(source(self.number), state)?;
        event.header.ttl = 1;
        Ok(event)
    }

    fn counts(&self) -> HostCounts {
        let own = self.own.lock();
        HostCounts {
            host: self.number,
            sent: own.sent,
            saved: own.saved,
            received: self.picture.lock().counts(),
        }
    }
}

/// Returns the source of a host's events.
fn source(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX - 1) + 1
}
