//! Server with objects of each priority model, clients, and a record of the priorities of upcalls.

use crate::support::{Answering, Echo};
use punctual::poa::{CreatePoaError, PoaPolicy};
use punctual::rt::{
    Mapping, NativePolicy, Priority, PriorityModelPolicy, Propagated, RtConfig, RtOrb,
};
use punctual::stub::{Arc, DispatchError, Dispatched, Marshal, ServerCall};
use punctual::{Interface, ListenEndpoint, Orb, OrbBuilder, Poa, RootPoa};
use std::sync::Mutex;
use std::time::Duration;

pub(crate) const LIMIT: Duration = Duration::from_secs(60);
/// Id of Real-time CORBA's service context RTCorbaPriority.
const PRIORITY: u32 = 10;

pub(crate) fn at(priority: i16) -> Priority {
    Priority::new(priority).unwrap()
}

/// Returns the kernel's scheduling of the calling thread: its policy (0 SCHED_OTHER, 1 SCHED_FIFO)
/// and its real-time priority (`proc(5)`, fields 41 and 40).
pub(crate) fn scheduled() -> (u32, u32) {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    // Behind the name, which may hold spaces, the fields begin with the third.
    let fields: Vec<&str> = stat
        .rsplit_once(')')
        .unwrap()
        .1
        .split_whitespace()
        .collect();
    (fields[38].parse().unwrap(), fields[37].parse().unwrap())
}

/// State of a thread during an upcall: its CORBA priority, its scheduling, and the request's
/// context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) corba: Option<i16>,
    pub(crate) scheduled: (u32, u32),
    pub(crate) carried: Option<Vec<u8>>,
}

/// Servant that answers each `long` with its argument, and records its priority.
#[derive(Debug)]
pub(crate) struct Noting {
    pub(crate) rt: Arc<RtOrb>,
    pub(crate) seen: Mutex<Vec<Seen>>,
}

impl Answering for Noting {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        let carried = call.contexts().find(PRIORITY).map(<[u8]>::to_vec);
        let corba = self.rt.current().the_priority().ok().map(Priority::get);
        self.seen.lock().unwrap().push(Seen {
            corba,
            scheduled: scheduled(),
            carried,
        });
        if call.operation() == "panic" {
            panic!("as it was told");
        }
        let value = call.arguments().get_i32()?;
        call.reply(|out| value.marshal(out))
    }
}

impl Noting {
    pub(crate) fn last(&self) -> Seen {
        self.seen.lock().unwrap().pop().unwrap()
    }
}

/// Returns an RTORB with SCHED_FIFO and the direct mapping if this process may use it; otherwise
/// prints the reason and returns `None`.
pub(crate) fn fifo(propagated: Propagated) -> Option<Arc<RtOrb>> {
    let config = RtConfig {
        mapping: Mapping::Direct,
        propagated,
        ..RtConfig::default()
    };
    match RtOrb::new(config) {
        Ok(rt) => Some(rt),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

/// Returns an RTORB whose CORBA priorities have no effect on the kernel, for tests of what is sent.
pub(crate) fn ordinary(propagated: Propagated) -> Arc<RtOrb> {
    let config = RtConfig {
        policy: NativePolicy::Other,
        propagated,
        ..RtConfig::default()
    };
    RtOrb::new(config).unwrap()
}

pub(crate) struct Server {
    pub(crate) orb: Orb,
    pub(crate) noting: Arc<Noting>,
}

impl Server {
    pub(crate) fn new(rt: &Arc<RtOrb>) -> Self {
        Self::at(rt, &["iiop://127.0.0.1:0"])
    }

    /// Makes a test server that listens on the given endpoints.
    pub(crate) fn at(rt: &Arc<RtOrb>, endpoints: &[&str]) -> Self {
        let endpoints = endpoints.iter().map(|text| text.parse::<ListenEndpoint>());
        let listening = endpoints.fold(Orb::builder(), |builder, endpoint| {
            builder.listen(endpoint.unwrap())
        });
        Self::of(rt, listening)
    }

    /// Makes a test server from an RTORB and an ORB builder.
    pub(crate) fn of(rt: &Arc<RtOrb>, builder: OrbBuilder) -> Self {
        let orb = rt.extend(builder).unwrap().build().unwrap();
        orb.root_poa().unwrap().manager().activate().unwrap();
        let noting = Arc::new(Noting {
            rt: rt.clone(),
            seen: Mutex::default(),
        });
        Self { orb, noting }
    }

    pub(crate) fn poa(&self, name: &str, policies: &[PoaPolicy]) -> Result<Poa, CreatePoaError> {
        let root = self.orb.root_poa().unwrap();
        root.create_poa(name, Some(root.manager()), policies)
    }

    /// Returns a reference, as text, to an object of a POA with this priority model.
    pub(crate) fn object(&self, model: PriorityModelPolicy) -> String {
        let poa = self.poa("model", &[PoaPolicy::of(model)]).unwrap();
        let echo: Echo = poa.activate(self.noting.clone()).unwrap();
        self.orb.object_to_string(echo.as_object()).unwrap()
    }

    /// Returns a reference, as text, to an object of a POA without a priority model.
    pub(crate) fn plain(&self) -> String {
        let root = self.orb.root_poa().unwrap();
        let echo: Echo = root.activate(self.noting.clone()).unwrap();
        self.orb.object_to_string(echo.as_object()).unwrap()
    }
}

pub(crate) fn client(rt: &Arc<RtOrb>) -> Orb {
    rt.extend(Orb::builder()).unwrap().build().unwrap()
}

pub(crate) fn echo(orb: &Orb, reference: &str) -> Echo {
    Echo::from_object(orb.string_to_object(reference).unwrap())
}

/// Runs a test on a thread of its own, whose priority ends with it.
pub(crate) fn on_a_thread(test: impl FnOnce() + Send) {
    std::thread::scope(|scope| scope.spawn(test).join().unwrap());
}
