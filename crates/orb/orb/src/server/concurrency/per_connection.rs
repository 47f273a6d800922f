//! *Thread per connection*: a thread for each connection, which blocks in receiving
//! ([`super::blocking`]) and in sending, until a deadline.
//!
//! When an upcall is about to block in a call of its own, or takes long while more requests wait,
//! another thread takes over receiving. So a peer that shares the connection among its threads gets
//! its replies even if an upcall calls it back, or waits for another of its requests.

use super::strategy::{ConcurrencyStrategy, Followed};
use crate::budget::Account;
use crate::config::{Budgets, Timeouts};
use crate::messaging;
use crate::policy;
use crate::probe::{self, Point};
use crate::server::conversation::Conversation;
use crate::server::reader::Reader;
use punctual_cdr::Block;
use punctual_exec::{Deadline, SpawnError};
use punctual_giop::MessageKind;
use punctual_link::SendError;
use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

/// Number of threads beside its first up to which a connection may start another one even if three
/// quarters of the process's threads are in use. The last quarter is so left to connections with few threads.
const FEW: u32 = 8;
/// Number of additional threads from which no further one is started while a reply is being sent: if
/// the peer reads none, each would make another that waits.
const MANY: u32 = 4;
/// Maximum time for sending CloseConnection or MessageError.
const CLOSE_CONNECTION: Duration = Duration::from_millis(100);

/// State of a connection served by threads of its own: the number of threads beside the first.
#[derive(Debug, Default)]
pub(in crate::server) struct PerConnection(Arc<AtomicU32>);

/// One of the additional threads of a connection, counted until dropped.
struct Follower {
    of_connection: Arc<AtomicU32>,
    /// Counter of the threads beyond one for each connection, if this thread is one of those.
    extra: Option<Arc<AtomicUsize>>,
}

impl PerConnection {
    /// Counts one more thread; returns `None` when there are too many. Each connection may always
    /// have one additional thread, which may permanently replace the connection's own thread. Beyond
    /// that, the number is limited for all connections together.
    fn begin_follower(&self, extra: &Arc<AtomicUsize>, budgets: &Budgets) -> Option<Follower> {
        // Relaxed throughout: only limits; no other data depends on them.
        let others = self.0.fetch_add(1, Ordering::Relaxed);
        let mut follower = Follower {
            of_connection: self.0.clone(),
            extra: None,
        };
        if others == 0 {
            return Some(follower);
        }
        let most = match others < FEW {
            true => budgets.threads,
            false => budgets.threads - budgets.threads / 4,
        };
        let are = extra.fetch_add(1, Ordering::Relaxed);
        follower.extra = Some(extra.clone());
        (others < budgets.requests_per_connection && are < most).then_some(follower)
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.of_connection.fetch_sub(1, Ordering::Relaxed);
        if let Some(extra) = &self.extra {
            extra.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl ConcurrencyStrategy for PerConnection {
    #[inline(always)]
    fn send(&self, to: &Conversation, message: &Block) {
        let deadline = Deadline::after_optional(to.broker().config().timeouts.reply);
        let is_plain = message.lent().is_empty() && !to.broker().tracer().is_on();
        probe::begins!(Point::ServerSend);
        let sent = if is_plain && !to.fragmenting.applies_to(message) {
            to.link().send(&[IoSlice::new(message)], deadline)
        } else {
            send_otherwise(to, message, deadline)
        };
        probe::begins!(Point::ServerTransportSend);
        if let Err(error) = sent {
            to.reply_failed(&error);
        }
    }

    fn send_together(&self, to: &Conversation, messages: &[u8]) {
        let deadline = Deadline::after_optional(to.broker().config().timeouts.reply);
        if let Err(error) = to.link().send(&[IoSlice::new(messages)], deadline) {
            to.reply_failed(&error);
        }
    }

    fn send_control(&self, to: &Conversation, kind: MessageKind) {
        let (link, session, version) = (to.link(), &*to.session, to.spoken());
        let (tracer, soon) = (to.broker().tracer(), Deadline::after(CLOSE_CONNECTION));
        // The connection is closed next: if the peer is gone already, the message is lost.
        let _ = messaging::send_control(link, session, kind, version, tracer, soon);
    }

    fn close_when_sent(&self, connection: &Conversation) {
        connection.link().close();
    }

    fn sends_without_waiting(&self) -> bool {
        false
    }

    fn has_unsent(&self) -> bool {
        false
    }

    /// Does nothing: messages are never queued, as each thread blocks until its message has been
    /// sent.
    fn watch_unsent(&self, _: impl FnOnce() -> Account) {}

    fn discard_unsent(&self) {}

    /// A client with the maximum number of concurrent upcalls waits for one of them to end. One with
    /// several whose replies it does not take waits until it has: the thread that sends receives
    /// afterwards, or the watcher starts another.
    fn hand_over(&self, connection: &Arc<impl Followed>, _: u64) {
        let conversation = connection.conversation();
        let is_watched = conversation.broker().config().timeouts.hand_over.is_some();
        // Relaxed: only a limit, as below.
        if is_watched && self.0.load(Ordering::Relaxed) >= MANY && connection.is_sending() {
            return;
        }
        let threads = match connection.followers() {
            Ok(threads) => threads,
            Err(error) => return none_to_receive(conversation, &error),
        };
        let budgets = &conversation.broker().config().budgets;
        let Some(follower) = self.begin_follower(connection.extra_followers(), budgets) else {
            let what = "the peer has too many calls in progress; more wait for them";
            return conversation.complain(what);
        };
        let followed = connection.clone();
        let receive = move || {
            followed.follow();
            drop(follower);
            // The thread is reused, and serves another connection next.
            policy::forget_own();
        };
        if let Err(error) = threads.run(receive) {
            none_to_receive(conversation, &error);
        }
    }

    fn stalled_at(&self, reader: &Reader, is_sending: bool) -> Option<u64> {
        let is_still = !reader.is_receiving() && !is_sending;
        is_still.then(|| reader.number_received())
    }

    /// Returns no limit, as the thread serves no other connection.
    fn longest_block(&self, _: &Timeouts) -> Option<Duration> {
        None
    }

    fn is_served_alone(&self) -> bool {
        false
    }
}

/// Logs that no thread could be started to receive during an upcall. The upcall continues; only
/// later requests on this connection wait.
#[cold]
fn none_to_receive(conversation: &Conversation, error: &SpawnError) {
    tracing::debug!(peer = %conversation.peer(), "no thread could be started to receive during upcalls: {error}");
}

/// Sends a message that the fast path does not cover: in fragments, with lent memory, or with
/// tracing.
#[inline(never)]
fn send_otherwise(to: &Conversation, message: &Block, deadline: Deadline) -> Result<(), SendError> {
    let (fragmenting, tracer) = (to.fragmenting, to.broker().tracer());
    messaging::send(to.link(), message, fragmenting, tracer, deadline)
}
