//! Calls whose callers go on: polled, awaited, with reply handlers, and what becomes of them when servers do not answer.
#![allow(clippy::unwrap_used)]

#[path = "../../../punctual/tests/support/mod.rs"]
mod support;

mod faults;
mod futures;
mod giop_server;
mod guide;
mod handler_objects;
mod handler_threads;
mod handlers;
mod in_flight;
mod pollable_sets;
mod polling;

/// What `idl/asynchronous.idl` becomes.
mod generated {
    include!(concat!(env!("OUT_DIR"), "/asynchronous.rs"));
}

use generated::asynchronous::{Clerk, ClerkCopiesError, ClerkServant, Refused};
use punctual::{Collocation, Interface, ListenEndpoint, Orb, OrbConfig, RootPoa, SystemException};
use std::collections::HashSet;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Condvar, Mutex};

/// Whom the tests call.
#[derive(Debug, Default)]
struct Behind {
    rate: AtomicI32,
    open: Mutex<HashSet<String>>,
    opened: Condvar,
}

impl ClerkServant for Behind {
    fn rate(&self) -> Result<i32, SystemException> {
        Ok(self.rate.load(Ordering::Relaxed))
    }

    fn set_rate(&self, value: i32) -> Result<(), SystemException> {
        self.rate.store(value, Ordering::Relaxed);
        Ok(())
    }

    fn add(&self, a: i32, b: i32) -> Result<i32, SystemException> {
        Ok(a + b)
    }

    fn copies(&self, text: &str, number: &mut i32) -> Result<(String, bool), ClerkCopiesError> {
        let times = usize::try_from(*number).unwrap_or_default();
        if times == 0 {
            let why = format!("no copies of {text}");
            return Err(Refused { why }.into());
        }
        *number = 0;
        Ok((text.repeat(times), times > 1))
    }

    fn back(&self, data: &[u8]) -> Result<Vec<u8>, SystemException> {
        Ok(data.to_vec())
    }

    fn wait_at(&self, gate: &str) -> Result<i32, SystemException> {
        let open = self.open.lock().unwrap();
        let passed = self.opened.wait_while(open, |open| !open.contains(gate));
        drop(passed.unwrap());
        Ok(i32::try_from(gate.len()).unwrap_or_default())
    }

    fn open(&self, gate: &str) -> Result<(), SystemException> {
        self.open.lock().unwrap().insert(gate.to_owned());
        self.opened.notify_all();
        Ok(())
    }

    fn self_or_nil(&self, other: Option<&Clerk>) -> Result<Option<Clerk>, SystemException> {
        Ok(other.cloned())
    }

    fn stumble(&self) -> Result<(), SystemException> {
        panic!("on purpose")
    }

    fn note(&self, _: &str) -> Result<(), SystemException> {
        Ok(())
    }
}

/// A server's ORB, a client's, and the client's reference.
struct Pair {
    server: Orb,
    client: Orb,
    clerk: Clerk,
}

impl Pair {
    fn at(endpoint: ListenEndpoint) -> Self {
        Self::whose_client(|_| (), endpoint)
    }

    fn whose_client(configure: impl FnOnce(&mut OrbConfig), endpoint: ListenEndpoint) -> Self {
        let client = Orb::builder().configure(|config| {
            // Both are of one process: calls are to go by wire.
            config.collocation = Collocation::None;
            configure(config);
        });
        let client = client.build().unwrap();
        let server = Orb::builder().listen(endpoint).build().unwrap();
        let poa = server.root_poa().unwrap();
        let clerk: Clerk = poa.activate(Behind::default()).unwrap();
        poa.manager().activate().unwrap();
        let text = server.object_to_string(&clerk).unwrap();
        let clerk = Clerk::narrow(client.string_to_object(&text).unwrap()).unwrap();
        Self {
            server,
            client,
            clerk,
        }
    }

    fn over_tcp() -> Self {
        Self::at(ListenEndpoint::iiop("127.0.0.1", 0))
    }

    fn end(self) {
        self.client.shutdown(true).unwrap();
        self.server.shutdown(true).unwrap();
    }
}

/// A clerk of the client's own process.
fn collocated(way: Collocation) -> (Orb, Clerk) {
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .configure(|config| config.collocation = way)
        .build()
        .unwrap();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let clerk = poa.activate(Behind::default()).unwrap();
    (orb, clerk)
}
