//! Spreading of callers over several connections to one endpoint
//! ([`crate::policy::Mux::Adaptive`]).
//!
//! There is one connection, until callers repeatedly find another caller's request in progress on
//! it. Then a separate thread opens another connection, so that no call waits for that. The new
//! connection is used once the server has answered a LocateRequest on it; with a server that serves
//! only a single connection at a time, the first one thus remains the only one. A caller that finds
//! its connection in use takes an unused one, and keeps using it (`outgoing/pool/chosen.rs`).
//! Additional connections are closed when they are no longer needed (`outgoing/pool/spare.rs`).

use crate::lane::Lane;
use crate::lane::outgoing::{
    Broken, ClientConnection, Endpoint, LOOKS, ToEndpoint, chosen, open, still_wanted,
};
use crate::messaging::Head;
use crate::policy::Wait;
use punctual_cdr::{Block, ByteOrder, CdrError, Coding};
use punctual_exec::Deadline;
use punctual_giop::{LocateRequestHeader, MessageKind, Target};
use std::sync::Arc;
use std::time::Duration;

/// Maximum time for opening a further connection, including the server's answer to the
/// LocateRequest.
const OPENED: Duration = Duration::from_secs(5);

impl ClientConnection {
    /// Returns `true` if a caller waits for a reply on this connection.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.callers.has_any()
    }

    /// Returns another connection for the calling thread, which would otherwise share this one with
    /// another caller. If none is free, may start the opening of one more for later calls. Does not
    /// block.
    #[cold]
    pub(crate) fn elsewhere(
        &self,
        lane: &Arc<Lane>,
        endpoint: &Endpoint,
    ) -> Option<Arc<ClientConnection>> {
        if chosen::is_pinned(self.membership.spreads?) {
            return None;
        }
        let to = self.membership.to.upgrade()?;
        if let Some(idle) = to.idle_one() {
            chosen::choose(to.number, &idle);
            return Some(idle);
        }
        if to.wants_another() {
            let (opener, endpoint, opening) = (lane.clone(), endpoint.clone(), to.clone());
            let open = move || opening.open(&opener, &endpoint);
            if lane
                .openers
                .spawn(lane.thread("punctual-open"), open)
                .is_err()
            {
                to.ends_opening();
                to.pause_opening();
            }
        }
        None
    }

    /// Returns `true` if the server answers a LocateRequest on this connection.
    fn answers(&self, endpoint: &Endpoint, deadline: Deadline) -> bool {
        let Some(pending) = self.register() else {
            return false;
        };
        let request = self.locate_request(endpoint, pending.id());
        let sent =
            request.is_ok_and(|mut request| self.send(&mut request, false, deadline).is_ok());
        sent && self.wait(&pending, deadline).is_ok()
    }

    fn locate_request(&self, endpoint: &Endpoint, request_id: u32) -> Result<Block, CdrError> {
        let session = &*self.wire.session;
        let coding = Coding::new(self.wire.version, &self.wire.limits);
        let kind = MessageKind::LocateRequest;
        let mut out = session.begin(self.lend(), kind, ByteOrder::NATIVE, coding);
        let target = Target::ObjectKey(&endpoint.object_key);
        let header = LocateRequestHeader { request_id, target };
        session.put_head(&mut out, &Head::LocateRequest(header))?;
        let mut block = out.into_block();
        session.finish(&mut block)?;
        Ok(block)
    }
}

impl ToEndpoint<ClientConnection> {
    /// Returns a connection that is unused at the moment. Does not block, and may find none while
    /// another thread searches.
    fn idle_one(&self) -> Option<Arc<ClientConnection>> {
        let held = self.held.try_lock()?;
        let mut usable = held.iter().filter(|one| one.may_be_used());
        usable.find(|one| !one.is_busy()).cloned()
    }

    /// Returns `true` if it is time to open another connection. Only one caller gets `true`, and
    /// must then open the connection.
    fn wants_another(&self) -> bool {
        if !self.record_meeting() {
            return false;
        }
        let has_room = self.held.try_lock().is_some_and(|mut held| {
            let before = held.len();
            held.retain(|one| one.may_be_used());
            if held.len() < before {
                // The server refuses this many connections.
                self.pause_opening();
                return false;
            }
            held.len() < self.most
        });
        has_room && self.begins_opening()
    }

    fn open(self: &Arc<Self>, lane: &Arc<Lane>, endpoint: &Endpoint) {
        let opened = self.open_and_try(lane, endpoint);
        if let Some(connection) = &opened {
            self.held.lock().push(connection.clone());
            // The thread that ends the ORB closes the connections that exist by then.
            let _ = still_wanted(lane.broker(), connection);
            if let Some(spare) = self.spare {
                lane.flusher.look_after(spare / LOOKS, connection);
            }
        } else {
            self.pause_opening();
        }
        self.ends_opening();
    }

    fn open_and_try(
        self: &Arc<Self>,
        lane: &Arc<Lane>,
        endpoint: &Endpoint,
    ) -> Option<Arc<ClientConnection>> {
        if !lane.has_room_for_connections() {
            return None;
        }
        let deadline = Deadline::after(OPENED);
        let to = (endpoint, self);
        let opened = open(
            &lane.opened_for(),
            to,
            &self.properties,
            Wait::Read,
            deadline,
        );
        let connection = opened
            .inspect_err(|error| {
                tracing::debug!(address = %endpoint.address, "no further connection: {error}");
            })
            .ok()?;
        if connection.answers(endpoint, deadline) {
            return Some(connection);
        }
        tracing::debug!(address = %endpoint.address, "the server does not answer on additional connections");
        connection.break_off(&Broken::off("the server does not answer on it"));
        None
    }
}
