//! Calls to the client of an incoming connection, by that connection (bidirectional GIOP; CORBA 3.3 part 2, §9.8).
//!
//! A server's [`BackChannel`] is what references remember of the connection that they came by. They are called by it where the
//! client has told, by this very connection, that it would be found at their endpoint: no reference that came by another way
//! is, whatever a client tells.
//!
//! Both kinds of connection share one link. What comes is read by the side that opened or accepted it, which passes on what
//! is not its own: requests to [`ServesRequests`], replies to [`BackChannel::connection`]'s callers. What is sent goes through
//! that side's sending lock.

use super::listen_points::{self, ListenPoint};
use super::outgoing::{Broken, ClientConnection, Endpoint, ServesBack, ServesRequests, ToEndpoint};
use super::owned::Lane;
use crate::protocol::Pair;
use parking_lot::Mutex;
use punctual_cdr::CdrError;
use punctual_exec::Reactor;
use punctual_link::{Connection, Properties, Protection};
use std::fmt;
use std::io;
use std::sync::{Arc, Weak};

/// Makes what serves them, for an ORB.
pub(crate) trait ServesConnections: Send + Sync {
    /// What serves the requests of a connection, and the data of the context that tells the server of it; `None` where the ORB
    /// does not serve.
    fn serve(
        &self,
        lane: &Arc<Lane>,
        connection: &Arc<ClientConnection>,
    ) -> Option<(Arc<dyn ServesRequests>, Vec<u8>)>;
}

/// What an ORB has of that, at its broker.
pub(crate) struct Back(pub(crate) Arc<dyn ServesConnections>);

/// How the connections of a lane have their servers' requests served.
pub(crate) struct ServedBack {
    pub(crate) lane: Arc<Lane>,
    pub(crate) by: Arc<Back>,
}

impl ServesBack for ServedBack {
    fn begin(&self, connection: &Arc<ClientConnection>) -> io::Result<()> {
        let Some((requests, listen_points)) = self.by.0.serve(&self.lane, connection) else {
            return Ok(());
        };
        connection.serve_requests(requests, listen_points);
        connection.read_for_good(self.lane.replies())
    }
}

/// See the module.
pub(crate) struct BackChannel {
    lane: Arc<Lane>,
    pair: Arc<Pair>,
    /// What is sent by it goes through the server's sending lock.
    link: Arc<dyn Connection>,
    /// The one whose threads read, if those of one do.
    reactor: Option<Weak<Reactor>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    told: Vec<ListenPoint>,
    /// Made for the first call.
    connection: Option<Arc<ClientConnection>>,
    is_over: bool,
}

impl BackChannel {
    pub(crate) fn new(
        lane: &Arc<Lane>,
        pair: &Arc<Pair>,
        link: Arc<dyn Connection>,
        reactor: Option<&Arc<Reactor>>,
    ) -> Self {
        Self {
            lane: lane.clone(),
            pair: pair.clone(),
            link,
            reactor: reactor.map(Arc::downgrade),
            state: Mutex::default(),
        }
    }

    /// The client has told where it would be listened to.
    ///
    /// # Errors
    /// What does not decode.
    pub(crate) fn accept_listen_points(&self, data: &[u8]) -> Result<(), CdrError> {
        let points = listen_points::decode(data)?;
        // Whoever is connected to by TLS proves who it is, and so has to be who is called back.
        let is_proved = self.pair.link.protection() != Protection::Encryption
            || !self.link.peer_certificates().is_empty();
        if is_proved {
            self.state.lock().told = points;
        } else {
            tracing::warn!(peer = %self.link.peer(), "no callbacks by this connection: its client has shown no certificate");
        }
        Ok(())
    }

    /// The way to an endpoint, if it is this connection.
    pub(crate) fn connection(&self, endpoint: &Endpoint) -> Option<Arc<ClientConnection>> {
        let mut state = self.state.lock();
        let is_there = endpoint.pair.name == self.pair.name
            && state.told.contains(&ListenPoint::of(&endpoint.address));
        if !is_there || state.is_over {
            return None;
        }
        let made = || Arc::new(self.made(endpoint));
        let connection = state.connection.get_or_insert_with(made).clone();
        let fits = connection.wire.version == endpoint.version
            && connection.wire.code_sets == endpoint.code_sets;
        (fits && connection.may_be_used()).then_some(connection)
    }

    fn made(&self, endpoint: &Endpoint) -> ClientConnection {
        let none = Properties::NONE;
        let to = Arc::new(ToEndpoint::new(&none, false, self.lane.broker().config()));
        let reactor = self.reactor.as_ref().and_then(Weak::upgrade);
        let terms = (endpoint.version, endpoint.code_sets);
        let opened_for = (&self.lane.opened_for(), &to);
        ClientConnection::back(self.link.clone(), &self.pair, terms, opened_for, reactor)
    }

    /// The connection that is there, if calls have gone by it.
    pub(crate) fn existing(&self) -> Option<Arc<ClientConnection>> {
        self.state.lock().connection.clone()
    }

    /// Whether a call waits for its reply.
    pub(crate) fn is_awaited(&self) -> bool {
        let connection = self.existing();
        connection.is_some_and(|connection| !connection.callers.is_idle())
    }

    /// The connection has ended: calls by it fail.
    pub(crate) fn fail_callbacks(&self, reason: &str) {
        let connection = {
            let mut state = self.state.lock();
            state.is_over = true;
            state.told.clear();
            state.connection.take()
        };
        if let Some(connection) = connection {
            connection.break_off(&Broken::off(reason));
        }
    }
}

impl fmt::Debug for BackChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BackChannel")
            .field("peer", self.link.peer())
            .finish_non_exhaustive()
    }
}
