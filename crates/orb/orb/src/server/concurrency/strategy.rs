//! Interface of concurrency strategies for a connection.

use crate::budget::Account;
use crate::config::Timeouts;
use crate::server::conversation::Conversation;
use crate::server::reader::Reader;
use punctual_cdr::Block;
use punctual_exec::{SpawnError, WorkerPool};
use punctual_giop::MessageKind;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

/// Concurrency strategy: determines the threads that serve a connection, and whether they wait for
/// its peer.
pub(in crate::server) trait ConcurrencyStrategy {
    /// Sends a message; if that fails, closes the connection. Called under the reply sender's lock,
    /// as are `send_together` and `send_control`.
    fn send(&self, to: &Conversation, message: &Block);

    /// Sends several complete messages, concatenated in one buffer, to a client.
    fn send_together(&self, to: &Conversation, messages: &[u8]);

    /// Sends a message without a body, to a peer whose connection is closed next.
    fn send_control(&self, to: &Conversation, kind: MessageKind);

    /// Closes the connection once all queued messages have been sent.
    fn close_when_sent(&self, connection: &Conversation);

    /// Returns `true` if sending never waits for the peer.
    fn sends_without_waiting(&self) -> bool;

    /// Returns `true` if there is, or may be, data that has not been sent yet.
    fn has_unsent(&self) -> bool;

    /// Reports the memory of short messages that wait to be sent to an account from now on, if the
    /// strategy lets any wait.
    fn watch_unsent(&self, account: impl FnOnce() -> Account);

    /// Frees the messages that wait to be sent on a closed connection, unless a thread is sending
    /// them: its next attempt fails.
    fn discard_unsent(&self);

    /// Makes another thread receive, as the one that serves the request is about to block.
    /// `in_hand` is the number of that request if a reactor's thread serves it.
    fn hand_over(&self, connection: &Arc<impl Followed>, in_hand: u64);

    /// Returns a number that changes with each message, if currently no thread receives on the
    /// connection and no reply is being sent; otherwise `None`.
    fn stalled_at(&self, reader: &Reader, is_sending: bool) -> Option<u64>;

    /// Returns the maximum time for which an upcall may block, if other connections may need its
    /// thread.
    fn longest_block(&self, timeouts: &Timeouts) -> Option<Duration>;

    /// Returns `true` if a single thread serves all connections of this strategy.
    fn is_served_alone(&self) -> bool;
}

/// Client connection on which additional threads can receive requests.
pub(in crate::server) trait Followed: Send + Sync + 'static {
    fn conversation(&self) -> &Conversation;

    /// Returns the pool of threads that can receive on the connection in addition.
    fn followers(&self) -> Result<&WorkerPool, SpawnError>;

    /// Returns the counter of active additional threads beyond one for each connection.
    fn extra_followers(&self) -> &Arc<AtomicUsize>;

    /// Returns `true` if a thread is sending, or is about to.
    fn is_sending(&self) -> bool;

    /// Serves the client on the calling thread until its connection ends, or another thread takes
    /// over receiving.
    fn follow(self: Arc<Self>);
}
