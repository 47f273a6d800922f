//! Load of the measurement: a server, and clients in the same process, which call it until they are
//! paused.

use super::{Options, Serving};
use crate::Result;
use crate::rt::server::pool;
use crate::rt::setup::{LOWEST, corba, rt_orb};
use crate::rt::work;
use crate::timeprobes::servant::Ahead;
use punctual::poa::PoaPolicy;
use punctual::rt::{BufferLimits, PriorityModelPolicy, RequestBuffering, RtOrb};
use punctual::{Interface, ListenEndpoint, Orb, RootPoa};
use punctual_example_cubit::CubitImpl;
use punctual_example_cubit::idl::bench::Cubit;
use punctual_exec::thread::JoinHandle;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

/// Server under load by a number of clients.
pub(super) struct Load {
    orb: Orb,
    shared: Arc<Shared>,
    clients: Vec<JoinHandle<Result<()>>>,
}

/// State shared by the clients and the counting thread. All accesses are relaxed, as each field is
/// independent of the others.
struct Shared {
    /// Barrier for the clients and the counting thread, at the beginning and at the end of a
    /// stretch of calls.
    meeting: Barrier,
    calls: AtomicBool,
    ends: AtomicBool,
    made: AtomicU64,
    failed: AtomicUsize,
}

impl Load {
    /// Starts the server and connects all clients, which are paused.
    pub(super) fn start(options: &Options, serving: Serving) -> Result<Self> {
        let rt = rt_orb(options.best_effort)?;
        let (orb, reference) = server(options, serving, &rt)?;
        let shared = Arc::new(Shared {
            meeting: Barrier::new(usize::from(options.low) + 2),
            calls: AtomicBool::new(false),
            ends: AtomicBool::new(false),
            made: AtomicU64::new(0),
            failed: AtomicUsize::new(0),
        });
        // Calls go over the wire, although all is one process.
        let words = ["-ORBCollocationScope", "orb"].map(str::to_owned);
        let (calling, _) = rt.extend(Orb::builder())?.init(words)?;
        let mut clients = Vec::new();
        for number in 0..=options.low {
            let priority = options.priority_of(number);
            let name = format!("rt-client-{priority}");
            let thread = options.thread(&name, i32::from(priority));
            let (rt, orb, reference) = (rt.clone(), calling.clone(), reference.clone());
            let (shared, pace) = (shared.clone(), options.pace);
            clients.push(thread.start(move || {
                let client = Client::connect((&rt, &orb), &reference, priority);
                work_off(client, &shared, (number == 0, pace))
            })?);
        }
        Ok(Self {
            orb,
            shared,
            clients,
        })
    }

    /// Lets the paused clients make calls again.
    pub(super) fn go_on(&self) {
        self.shared.made.store(0, Ordering::Relaxed);
        self.shared.calls.store(true, Ordering::Relaxed);
        self.shared.meeting.wait();
    }

    /// Pauses the clients; returns when none of them is calling.
    pub(super) fn pause(&self) {
        self.shared.calls.store(false, Ordering::Relaxed);
        self.shared.meeting.wait();
    }

    /// Returns the number of calls since the clients were resumed.
    pub(super) fn made(&self) -> u64 {
        self.shared.made.load(Ordering::Relaxed)
    }

    pub(super) fn has_failed(&self) -> bool {
        self.shared.failed.load(Ordering::Relaxed) > 0
    }

    /// Ends clients and server.
    ///
    /// # Errors
    /// The exception that a client's call raised.
    pub(super) fn end(self) -> Result<()> {
        self.shared.ends.store(true, Ordering::Relaxed);
        self.shared.meeting.wait();
        for client in self.clients {
            client.join().map_err(|_| "a client panicked")??;
        }
        Ok(self.orb.shutdown(true)?)
    }
}

struct Client(Cubit);

impl Client {
    fn connect((rt, orb): (&Arc<RtOrb>, &Orb), reference: &str, priority: i16) -> Result<Self> {
        rt.current().set_the_priority(corba(priority)?)?;
        let cubit = Cubit::from_object(orb.string_to_object(reference)?);
        cubit.cube_void()?;
        Ok(Self(cubit))
    }
}

/// Makes calls in each stretch until the load ends. A client whose call has failed makes no more
/// calls, but still waits at the barrier, so that the others can go on.
fn work_off(client: Result<Client>, shared: &Shared, (is_high, pace): (bool, u64)) -> Result<()> {
    let mut outcome = client.inspect_err(|_| {
        shared.failed.fetch_add(1, Ordering::Relaxed);
    });
    // The pause differs from call to call, and is the same in each run.
    let mut rest = 0;
    loop {
        shared.meeting.wait();
        if shared.ends.load(Ordering::Relaxed) {
            return outcome.map(drop);
        }
        while shared.calls.load(Ordering::Relaxed)
            && let Ok(Client(cubit)) = &outcome
        {
            if let Err(error) = cubit.cube_void() {
                shared.failed.fetch_add(1, Ordering::Relaxed);
                outcome = Err(error.into());
                break;
            }
            shared.made.fetch_add(1, Ordering::Relaxed);
            rest = (rest + 37) % (pace + 1);
            let micros = if is_high { pace } else { rest };
            std::thread::sleep(Duration::from_micros(micros));
        }
        shared.meeting.wait();
    }
}

/// Starts a server whose objects are served at their clients' priorities, and returns it with a
/// reference to one.
fn server(options: &Options, serving: Serving, rt: &Arc<RtOrb>) -> Result<(Orb, String)> {
    let mut builder = Orb::builder();
    if serving == Serving::Lanes {
        for client in 0..=options.low {
            let priority = options.priority_of(client);
            let endpoint = options.link.endpoint(&format!("priority={priority}"));
            builder = builder.listen(endpoint.parse::<ListenEndpoint>()?);
        }
    } else {
        builder = builder.listen(options.link.endpoint("").parse::<ListenEndpoint>()?);
    }
    let orb = rt.extend(builder)?.build()?;
    let model = PriorityModelPolicy::client_propagated(corba(LOWEST)?);
    let mut policies = vec![PoaPolicy::of(model)];
    let buffering = match serving {
        Serving::Lanes => None,
        Serving::Pool => Some(RequestBuffering::Unbounded),
        Serving::BufferedPool => Some(RequestBuffering::Bounded(BufferLimits::default())),
    };
    if let Some(buffering) = buffering {
        let threads = (usize::from(options.threads), 0);
        policies.push(pool(rt, &orb, options.pool_priority, threads, buffering)?);
    }
    let root = orb.root_poa()?;
    let poa = root.create_poa("order", Some(root.manager()), &policies)?;
    let time = Duration::from_micros(options.work);
    let servant = Ahead(CubitImpl::new(orb.clone()), move || work::busy(time));
    let cubit: Cubit = poa.activate(servant)?;
    orb.listen()?;
    root.manager().activate()?;
    let reference = orb.object_to_string(cubit.as_object())?;
    Ok((orb, reference))
}
