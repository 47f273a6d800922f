//! Asynchronous calls: polled, awaited, with reply handlers, and their outcome if servers do not
//! answer.
#![allow(clippy::unwrap_used)]

use crate::support;

mod behind;
mod dynamic_requests;
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
mod repeated;

pub(crate) use punctual_idl_tests::clerks as generated;

use behind::Behind;
use generated::asynchronous::Clerk;
use punctual::policy::Collocation;
use punctual::{Interface, ListenEndpoint, Orb, OrbConfig, RootPoa};

/// ORB of a server, ORB of a client, and the client's reference to the server's object.
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
            // Both are in one process, but calls are to go by wire.
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

/// Makes an ORB with a clerk object that callers of the same process reach with the collocation
/// strategy `way`.
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
