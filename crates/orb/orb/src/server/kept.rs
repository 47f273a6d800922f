//! Requests that a pool's lane buffers until one of its threads is free ([`RequestBuffer`]).

use super::connection::ServerConnection;
use super::dispatch::Dispatcher;
use super::recorded_request::RecordedRequest;
use super::refusal::Refusal;
use crate::invocation_policies::queue_rank;
use crate::lane::{Buffered, RequestBuffer};
use crate::messaging::{Head, Message};
use crate::policy::QueueRank;
use crate::timeline;
use crate::upcall::Serving;
use crate::urgency::{ByPolicies, Urgency, WaitingRequest};
use punctual_exec::reactor::depth;
use punctual_giop::{MessageKind, RequestHeader, Target, service_context};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Buffered request. It counts as in progress, so that the ORB's shutdown waits for it.
struct BufferedRequest {
    connection: Arc<ServerConnection>,
    message: Option<Message>,
    seen: Option<RecordedRequest>,
}

/// Buffers a request, or refuses it if there is no room. Returns messages other than requests,
/// which are not buffered.
pub(super) fn keep(
    connection: &Arc<ServerConnection>,
    buffer: &RequestBuffer,
    message: Message,
) -> Option<Message> {
    if message.header.kind != MessageKind::Request {
        return Some(message);
    }
    let has_begun = connection.conversation.begin_request();
    let mut kept = BufferedRequest {
        connection: connection.clone(),
        message: None,
        seen: None,
    };
    if !has_begun {
        // CloseConnection informs the client; the count is undone.
        return None;
    }
    let (urgency, rank) = connection.urgency(&message, &mut kept.seen);
    if let Some(seen) = &kept.seen {
        seen.record_queued(urgency.priority());
    }
    let octets = message.block.full_len();
    kept.message = Some(message);
    if let Err(kept) = buffer.put((urgency, rank), octets, Box::new(kept)) {
        kept.refuse();
    }
    None
}

impl ServerConnection {
    /// Returns the urgency of a request, and its rank among those of equal urgency. Records the request in the timeline.
    fn urgency(
        &self,
        message: &Message,
        seen: &mut Option<RecordedRequest>,
    ) -> (Urgency, QueueRank) {
        let by_lane = Urgency::of_priority(self.lane().priority());
        let conversation = &self.conversation;
        let mut decoder = message.decoder(conversation.coding(message.header.version));
        // A request that cannot be decoded is refused when it is served.
        let head = conversation
            .session
            .get_head(MessageKind::Request, &mut decoder);
        let Ok(Head::Request(header, _)) = head else {
            return (by_lane, QueueRank::default());
        };
        if timeline::is_recording() {
            *seen = Some(RecordedRequest::read(self, header.request_id));
        }
        let policies = header.contexts.find(service_context::INVOCATION_POLICIES);
        // Invalid policies are refused later, too.
        let rank = policies.and_then(|data| queue_rank(data).ok());
        let urgency = self.urgency_of(&header, by_lane);
        (urgency, rank.unwrap_or_default())
    }

    /// Returns the urgency of a request according to the ORB's strategy. Looks up the policies of
    /// the object's adapter only if the lane has no priority, or the strategy may need them.
    fn urgency_of(&self, header: &RequestHeader<'_>, by_lane: Urgency) -> Urgency {
        let strategy = self.conversation.broker().urgency.as_deref();
        if strategy.is_none() && by_lane.priority().is_some() {
            return by_lane;
        }
        let strategy = strategy.unwrap_or(&ByPolicies);
        let request = WaitingRequest {
            operation: header.operation,
            contexts: header.contexts,
            policies: None,
            by_policies: by_lane,
        };
        let computed = catch_unwind(AssertUnwindSafe(|| {
            match (&header.target, self.adapter.get()) {
                (Target::ObjectKey(key), Some(adapter)) => adapter.urgency(key, request, strategy),
                _ => strategy.urgency(&request),
            }
        }));
        computed.unwrap_or_else(|_| {
            tracing::error!(
                ?strategy,
                "the urgency strategy panicked; the request waits by its lane's priority"
            );
            by_lane
        })
    }
}

impl BufferedRequest {
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

impl Buffered for BufferedRequest {
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

impl Drop for BufferedRequest {
    fn drop(&mut self) {
        self.connection.ends_request();
    }
}

impl fmt::Debug for BufferedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept")
            .field("connection", &self.connection)
            .finish_non_exhaustive()
    }
}
