//! Enumeration of the concurrency strategies.

use super::per_connection::PerConnection;
use super::reactor::OnReactor;
use super::strategy::{ConcurrencyStrategy, Followed};
use crate::budget::Account;
use crate::config::Timeouts;
use crate::lane::ServingThreads;
use crate::server::conversation::Conversation;
use crate::server::reader::Reader;
use punctual_cdr::Block;
use punctual_exec::lane_lock::LockProtocol;
use punctual_giop::MessageKind;
use std::sync::Arc;
use std::time::Duration;

/// Strategy of a connection. Its methods forward to the actual strategy, in a way that lets the
/// compiler inline those of thread-per-connection.
#[derive(Debug)]
pub(in crate::server) enum Strategy {
    /// A thread for each connection that blocks while it receives, and additional threads while it
    /// is in an upcall.
    PerConnection(PerConnection),
    /// Strategy in which the threads of a reactor serve the connection.
    OnReactor(Arc<OnReactor>),
}

impl Strategy {
    /// Returns the strategy for connections that these threads serve.
    pub(in crate::server) fn of(
        threads: Option<&ServingThreads>,
        timeouts: Timeouts,
        locks: LockProtocol,
    ) -> Self {
        match threads {
            Some(ServingThreads::Pool(pool, buffer)) => {
                let on = OnReactor::new((pool.clone(), buffer.clone()), timeouts, locks);
                Self::OnReactor(Arc::new(on))
            }
            _ => Self::PerConnection(PerConnection::default()),
        }
    }
}

/// Forwards a method call to the connection's actual concurrency strategy.
macro_rules! forward {
    ($self:ident.$method:ident($($argument:expr),*)) => {
        match $self {
            Self::PerConnection(strategy) => strategy.$method($($argument),*),
            Self::OnReactor(strategy) => strategy.$method($($argument),*),
        }
    };
}

impl ConcurrencyStrategy for Strategy {
    #[inline(always)]
    fn send(&self, to: &Conversation, message: &Block) {
        forward!(self.send(to, message));
    }

    fn send_together(&self, to: &Conversation, messages: &[u8]) {
        forward!(self.send_together(to, messages));
    }

    fn send_control(&self, to: &Conversation, kind: MessageKind) {
        forward!(self.send_control(to, kind));
    }

    fn close_when_sent(&self, connection: &Conversation) {
        forward!(self.close_when_sent(connection));
    }

    fn sends_without_waiting(&self) -> bool {
        forward!(self.sends_without_waiting())
    }

    fn has_unsent(&self) -> bool {
        forward!(self.has_unsent())
    }

    fn watch_unsent(&self, account: impl FnOnce() -> Account) {
        forward!(self.watch_unsent(account));
    }

    fn discard_unsent(&self) {
        forward!(self.discard_unsent());
    }

    fn hand_over(&self, connection: &Arc<impl Followed>, in_hand: u64) {
        forward!(self.hand_over(connection, in_hand));
    }

    fn stalled_at(&self, reader: &Reader, is_sending: bool) -> Option<u64> {
        forward!(self.stalled_at(reader, is_sending))
    }

    fn longest_block(&self, timeouts: &Timeouts) -> Option<Duration> {
        forward!(self.longest_block(timeouts))
    }

    fn is_served_alone(&self) -> bool {
        forward!(self.is_served_alone())
    }
}
