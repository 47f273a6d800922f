//! Shared memory, between processes of one machine.
//!
//! Each side of a connection has a memory of its own (`layout`), which it alone can write and the
//! other reads: a *ring*, through which bytes go in order, and a *pool*, from which it lends large
//! runs of bytes that do not go through the ring. Neither side ever writes the other's memory, so
//! each side can trust its own state, and checks everything it reads of the other's (Schmidt et al.
//! 2001, §3.4.1: a send and a receive pool for each connection, zero-copy and single-copy). By option
//! a link also has a *common pool* for all of its connections, so that what goes to several peers is
//! copied there once ([`ShmOptions::common_pool`]).
//!
//! | file | what |
//! |---|---|
//! | `acceptor`, `accept_queue`, `handshake_thread`, `connector`, `greeting` | Unix socket for connecting: the peer's credentials (`SO_PEERCRED`), and its memory's descriptor |
//! | `connection` | both directions |
//! | `writer`, `reader` | the ring |
//! | `pool`, `allocator`, `lending`, `incoming`, `written` | lent memory, on the lender's side and on the other |
//! | `common`, `holder` | the common pool, and which pieces of it are out at each peer |
//! | `ends`, `spin` | waiting, waking, and detecting a dead peer |
//! | `copies` | counters of copied bytes |
//!
//! **Path of a message.** Data that is not lent is copied into the ring by the sender and out of
//! it, into a private block, by the receiver: headers, lengths and strings are thus only ever read
//! in private memory. A run of bytes that [`crate::Connection::lender`] took is in the pool: put
//! there with one copy, or with none where it lies in a [`crate::Loan`]. The receiver copies it
//! once. Where the peer is trusted by explicit choice ([`Trust::SameUser`]), a view of a sequence
//! of octets or numbers is the pool itself; all other data is still copied, as checked data must
//! not change any more. In all: one copy on each side, none on a side that fills loans or uses
//! views; [`Shmiop::copied`] counts.
//!
//! **Waiting** costs no system call while the other side is quick: a thread spins for a while
//! ([`ShmOptions::spin`]), then sleeps, and is woken only if it sleeps.
//!
//! **A peer that dies** in mid-message leaves whole records behind, and the kernel closes its
//! socket: a thread that waits for it notices at once, or within a tenth of a second. One that
//! breaks the protocol in any way is [`crate::Cause::BadPeer`], and its connection is closed.
//!
//! An address names the absolute path of the socket, as in [`crate::uiop`]. Memory files that only
//! their maker can write need Linux 5.1.

mod accept_queue;
mod acceptor;
mod address;
mod allocator;
mod common;
mod connection;
mod connector;
mod copies;
mod ends;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod greeting;
mod handshake_thread;
mod holder;
mod incoming;
mod layout;
mod lending;
mod options;
mod pool;
mod reader;
mod writer;
mod written;

pub use address::NAME;
pub use copies::Copied;
pub use options::{Allow, ShmOptions, Trust};

use crate::{
    Acceptor, Address, Connection, Guarantees, Link, LinkError, Phase, Places, Properties,
};
use common::LinkState;
use punctual_exec::Deadline;
use std::sync::Arc;

/// Link over shared memory. Clones share their options, counters and common pool.
#[derive(Clone, Debug, Default)]
pub struct Shmiop {
    options: ShmOptions,
    state: Arc<LinkState>,
}

impl Shmiop {
    /// Makes a shared-memory link with the given options.
    #[must_use]
    pub fn new(options: ShmOptions) -> Self {
        Self {
            options,
            state: Arc::default(),
        }
    }

    /// Returns the number of bytes that this link's connections have copied so far, on this side.
    /// Takes a lock.
    #[must_use]
    pub fn copied(&self) -> Copied {
        self.state.counters.total()
    }
}

impl Link for Shmiop {
    fn name(&self) -> &str {
        NAME
    }

    fn is_local(&self) -> bool {
        true
    }

    fn places(&self) -> Places {
        Places::Own
    }

    fn guarantees(&self) -> Guarantees {
        Guarantees::STREAM
    }

    fn check(&self, properties: &Properties) -> Result<(), LinkError> {
        self.options.with(properties, Phase::Connect).map(drop)
    }

    fn connect(
        &self,
        address: &Address,
        properties: &Properties,
        deadline: Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError> {
        let options = self.options.with(properties, Phase::Connect)?;
        connector::connect(address, &options, &self.state, deadline)
    }

    fn listen(
        &self,
        address: &Address,
        properties: &Properties,
    ) -> Result<Box<dyn Acceptor>, LinkError> {
        let options = self.options.with(properties, Phase::Listen)?;
        acceptor::listen(address, options, self.state.clone())
    }
}
