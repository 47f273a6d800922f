//! Server and client in one process that communicate over the wire.
#![allow(dead_code)]

use super::desk::Desk;
use super::generated::asynchronous::Clerk;
use punctual::asynchronous::{Amh, Async};
use punctual::policy::Collocation;
use punctual::{Implements, Interface, ListenEndpoint, Orb, OrbConfig, Poa, RootPoa};
use std::sync::Arc;

/// ORB of a server, ORB of a client, and the client's reference to the server's object.
pub(super) struct Pair {
    pub(super) server: Orb,
    pub(super) client: Orb,
    pub(super) poa: Poa,
    pub(super) clerk: Clerk,
}

impl Pair {
    pub(super) fn with<S>(
        servant: impl FnOnce(&Orb) -> S,
        endpoint: ListenEndpoint,
        server: impl FnOnce(&mut OrbConfig),
        client: impl FnOnce(&mut OrbConfig),
    ) -> Self
    where
        Clerk: Implements<S>,
    {
        // Both are in one process, but calls are to go by wire.
        let client = Orb::builder().configure(|config| {
            config.collocation = Collocation::None;
            client(config);
        });
        let client = client.build().unwrap();
        let server = Orb::builder().listen(endpoint).configure(server);
        let server = server.build().unwrap();
        let servant = servant(&server);
        Self::of_orbs(server, client, servant)
    }

    /// Activates the servant in the server's root POA, and gives its reference to the client.
    pub(super) fn of_orbs<S>(server: Orb, client: Orb, servant: S) -> Self
    where
        Clerk: Implements<S>,
    {
        let poa = server.root_poa().unwrap();
        let clerk: Clerk = poa.activate(servant).unwrap();
        poa.manager().activate().unwrap();
        let clerk = over_wire(&server, &client, &clerk);
        Self {
            server,
            client,
            poa,
            clerk,
        }
    }

    /// Makes a server, over TCP, whose servant is `desk` and answers by responses (AMH), and a
    /// client.
    pub(super) fn of(desk: &Arc<Desk>) -> Self {
        Self::with(|_| Amh::shared(desk.clone()), tcp(), |_| {}, |_| {})
    }

    pub(super) fn end(self) {
        self.client.shutdown(true).unwrap();
        self.server.shutdown(true).unwrap();
    }
}

pub(super) fn tcp() -> ListenEndpoint {
    ListenEndpoint::iiop("127.0.0.1", 0)
}

/// Transfers a reference from the server's ORB to the client's, as text.
pub(super) fn over_wire<I: Interface>(server: &Orb, client: &Orb, reference: &I) -> I {
    let text = server.object_to_string(reference).unwrap();
    I::narrow(client.string_to_object(&text).unwrap()).unwrap()
}

/// Makes a servant whose futures are polled by the server ORB's own threads.
pub(super) fn by_orb<T>(servant: T) -> impl FnOnce(&Orb) -> Async<T> {
    move |orb| Async::on(orb.clone(), servant)
}

/// Waits until a condition holds; a watchdog ends a wait that does not end.
pub(super) fn until(holds: impl Fn() -> bool) {
    while !holds() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
