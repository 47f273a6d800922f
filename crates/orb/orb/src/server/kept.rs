//! Requests that a pool's lane keeps until one of its threads is free ([`RequestBuffer`]).

use super::connection::ServerConnection;
use super::dispatch::Dispatcher;
use super::refusal::Refusal;
use super::seen::Seen;
use crate::invocation_policies::queue_rank;
use crate::lane::{Buffered, RequestBuffer};
use crate::messaging::{Head, Message};
use crate::policy::QueueRank;
use crate::priority::Priority;
use crate::timeline;
use crate::upcall::Serving;
use punctual_exec::reactor::depth;
use punctual_giop::{MessageKind, RequestHeader, Target, service_context};
use std::fmt;
use std::sync::Arc;

/// One that waits. Counted as in progress, so that whoever shuts the ORB down waits for it.
struct Kept {
    connection: Arc<ServerConnection>,
    message: Option<Message>,
    seen: Option<Seen>,
}

/// Keeps a request, or refuses it where there is no room. Other messages come back: they wait for nobody.
pub(super) fn keep(
    connection: &Arc<ServerConnection>,
    buffer: &RequestBuffer,
    message: Message,
) -> Option<Message> {
    if message.header.kind != MessageKind::Request {
        return Some(message);
    }
    let has_begun = connection.conversation.begin_request();
    let mut kept = Kept {
        connection: connection.clone(),
        message: None,
        seen: None,
    };
    if !has_begun {
        // CloseConnection tells the client so; what was counted is taken back.
        return None;
    }
    let (priority, rank) = connection.urgency(&message, &mut kept.seen);
    if let Some(seen) = &kept.seen {
        seen.is_queued(priority);
    }
    let octets = message.block.full_len();
    kept.message = Some(message);
    if let Err(kept) = buffer.put((priority, rank), octets, Box::new(kept)) {
        kept.refuse();
    }
    None
}

impl ServerConnection {
    /// The priority at which a request is to be served, and how it stands among others of that. Tells the timeline of the
    /// request.
    fn urgency(&self, message: &Message, seen: &mut Option<Seen>) -> (Option<Priority>, QueueRank) {
        let of_lane = self.lane().priority();
        let conversation = &self.conversation;
        let mut decoder = message.decoder(conversation.coding(message.header.version));
        // One that does not decode is refused when it is served.
        let head = conversation
            .session
            .get_head(MessageKind::Request, &mut decoder);
        let Ok(Head::Request(header, _)) = head else {
            return (of_lane, QueueRank::default());
        };
        if timeline::is_recording() {
            *seen = Some(Seen::read(self, header.request_id));
        }
        let policies = header.contexts.find(service_context::INVOCATION_POLICIES);
        // What does not decode is refused, too.
        let rank = policies.and_then(|data| queue_rank(data).ok());
        let priority = of_lane.or_else(|| self.urgency_of(&header));
        (priority, rank.unwrap_or_default())
    }

    fn urgency_of(&self, header: &RequestHeader<'_>) -> Option<Priority> {
        let Target::ObjectKey(key) = header.target else {
            return None;
        };
        self.adapter.get()?.urgency(key, header.contexts)
    }
}

impl Kept {
    fn handle(mut self, refuses: Option<Refusal>) {
        let Some(message) = self.message.take() else {
            return;
        };
        let connection = &self.connection;
        let orb = connection.conversation.broker().number();
        let serving = Serving::for_another(orb, connection.clone());
        let dispatcher = Dispatcher {
            connection,
            serving: &serving,
            refuses,
            has_begun: true,
            seen: self.seen,
        };
        dispatcher.handle(message);
        connection.send_pending();
    }
}

impl Buffered for Kept {
    fn serve(self: Box<Self>) {
        let broker = self.connection.conversation.broker();
        let refusal = match broker.life.serves() {
            false => Some(Refusal::ShutDown),
            true if depth() > broker.config().max_nesting.saturating_add(1) => {
                Some(Refusal::TooDeep)
            }
            true => None,
        };
        self.handle(refusal);
    }

    fn refuse(self: Box<Self>) {
        self.handle(Some(Refusal::BufferFull));
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.connection.ends_request();
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept")
            .field("connection", &self.connection)
            .finish_non_exhaustive()
    }
}
