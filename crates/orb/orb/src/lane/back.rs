//! Calls to the client of an incoming connection, over that connection (bidirectional GIOP; CORBA
//! 3.3 part 2, §9.8).
//!
//! References that arrive over a connection keep its [`BackChannel`]. Calls to them use the
//! connection if the client has announced, over that connection, that it listens at their endpoint.
//! References that arrived another way never use it, whatever a client announces.
//!
//! Both directions share one link. The side that opened or accepted the connection reads, and
//! passes on what belongs to the other direction: requests to [`ServesRequests`], replies to the
//! callers of [`BackChannel::connection`]. Messages are sent under that side's sending lock.

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

/// Factory of the servers that handle requests arriving over an ORB's outgoing connections.
pub(crate) trait ServesConnections: Send + Sync {
    /// Returns the server of a connection's requests, and the data of the service context that
    /// announces it to the peer; `None` if the ORB serves no requests.
    fn serve(
        &self,
        lane: &Arc<Lane>,
        connection: &Arc<ClientConnection>,
    ) -> Option<(Arc<dyn ServesRequests>, Vec<u8>)>;
}

/// Factory of the ORB's servers for requests that arrive over outgoing connections.
pub(crate) struct Back(pub(crate) Arc<dyn ServesConnections>);

/// Server of requests that arrive over the outgoing connections of a lane.
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

/// Access to the client of an incoming connection, for calls over that connection.
pub(crate) struct BackChannel {
    lane: Arc<Lane>,
    pair: Arc<Pair>,
    /// Link of the connection; messages on it are sent under the server's sending lock.
    link: Arc<dyn Connection>,
    /// Reactor whose threads read the connection, if they are threads of a reactor.
    reactor: Option<Weak<Reactor>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    told: Vec<ListenPoint>,
    /// Client side of the connection; made for the first call.
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

    /// Records the endpoints at which the client says that it listens.
    ///
    /// # Errors
    /// If the data cannot be decoded.
    pub(crate) fn accept_listen_points(&self, data: &[u8]) -> Result<(), CdrError> {
        let points = listen_points::decode(data)?;
        // A peer that is connected to over TLS proves its identity, so a client that is to be
        // called back must do so too.
        let is_proved = self.pair.link.protection() != Protection::Encryption
            || !self.link.peer_certificates().is_empty();
        if is_proved {
            self.state.lock().told = points;
        } else {
            tracing::warn!(peer = %self.link.peer(), "no callbacks over this connection: its client has presented no certificate");
        }
        Ok(())
    }

    /// Returns the client side of this connection, if the client listens at `endpoint` according to
    /// its announcement.
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
        let to = Arc::new(ToEndpoint::new(
            &none,
            false,
            None,
            self.lane.broker().config(),
        ));
        let reactor = self.reactor.as_ref().and_then(Weak::upgrade);
        let terms = (endpoint.version, endpoint.code_sets);
        let opened_for = (&self.lane.opened_for(), &to);
        ClientConnection::back(self.link.clone(), &self.pair, terms, opened_for, reactor)
    }

    /// Returns the client side of this connection, if calls have used it.
    pub(crate) fn existing(&self) -> Option<Arc<ClientConnection>> {
        self.state.lock().connection.clone()
    }

    /// Returns `true` if a call waits for a reply over this connection.
    pub(crate) fn is_awaited(&self) -> bool {
        let connection = self.existing();
        connection.is_some_and(|connection| !connection.callers.is_idle())
    }

    /// Fails the calls over a connection that has ended.
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
