//! What a concurrency strategy decides of a connection.

use crate::config::Timeouts;
use crate::server::conversation::Conversation;
use crate::server::reader::Reader;
use punctual_cdr::Block;
use punctual_exec::{SpawnError, WorkerPool};
use punctual_giop::MessageKind;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

/// Whose threads serve a connection, and whether they wait for its peer.
pub(in crate::server) trait ConcurrencyStrategy {
    /// Sends a message; a connection on which that fails is closed. Under the reply sender's lock, as are the next
    /// two.
    fn send(&self, to: &Conversation, message: &Block);

    /// Sends whole messages that stand behind one another.
    fn send_together(&self, to: &Conversation, messages: &[u8]);

    /// Sends a message without a body, to a peer whose connection is closed next.
    fn send_control(&self, to: &Conversation, kind: MessageKind);

    /// Closes the connection once all that was sent has gone.
    fn close_when_sent(&self, connection: &Conversation);

    /// Whether sending waits for no peer.
    fn sends_without_waiting(&self) -> bool;

    /// Whether something that was sent has not left yet, or may not have.
    fn has_unsent(&self) -> bool;

    /// Has another thread receive, as the one that serves the request is about to block. `in_hand` is the
    /// number of that request, where a reactor's thread serves it.
    fn hand_over(&self, connection: &Arc<impl Followed>, in_hand: u64);

    /// Where the connection stands, if nobody receives there at the moment and no reply is being sent: a number
    /// that changes with each message.
    fn stands_still_at(&self, reader: &Reader, is_sending: bool) -> Option<u64>;

    /// How long an upcall may block at most, where other connections may need its thread.
    fn longest_block(&self, timeouts: &Timeouts) -> Option<Duration>;

    /// Whether one thread serves all connections of its kind.
    fn is_served_alone(&self) -> bool;
}

/// A connection on which another thread can receive.
pub(in crate::server) trait Followed: Send + Sync + 'static {
    fn conversation(&self) -> &Conversation;

    /// The threads that can.
    fn followers(&self) -> Result<&WorkerPool, SpawnError>;

    /// How many of them are at work beyond one for each connection.
    fn extra_followers(&self) -> &Arc<AtomicUsize>;

    /// Serves the client by the calling thread until its connection ends, or another thread receives instead.
    fn follow(self: Arc<Self>);
}
