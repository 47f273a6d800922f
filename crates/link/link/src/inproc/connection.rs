//! End of a connection inside the process.

use super::address::NAME;
use super::clock::Clock;
use super::pipe::Pipe;
use crate::{Address, BlockPool, Connection, LinkError, Pending, SendError, Waitable};
use punctual_cdr::Block;
use punctual_exec::Deadline;
use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Number of blocks that a connection keeps for reuse.
const BLOCKS: usize = 4;
/// Initial size of a buffer that a connection lends, in bytes.
const BLOCK: usize = 4096;
/// Size in bytes beyond which blocks are not kept.
const BLOCK_KEPT: usize = 256 * 1024;

/// Both directions of a connection, and the names of its ends on the network.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) acceptor: Box<str>,
    pub(super) client: Box<str>,
    pub(super) to_acceptor: Pipe,
    pub(super) to_client: Pipe,
}

impl Wire {
    pub(super) fn ends_at(&self, place: &str) -> bool {
        *self.acceptor == *place || *self.client == *place
    }

    pub(super) fn pipes(&self) -> [&Pipe; 2] {
        [&self.to_acceptor, &self.to_client]
    }
}

/// Conditions of a connection: the network's time, and its latency.
#[derive(Clone, Debug)]
pub(super) struct Conditions {
    pub(super) clock: Clock,
    /// Simulated latency of the connection, in nanoseconds. Accessed with relaxed ordering: no other
    /// data depends on it.
    pub(super) latency: Arc<AtomicU64>,
}

impl Conditions {
    fn latency(&self) -> Duration {
        Duration::from_nanos(self.latency.load(Ordering::Relaxed))
    }
}

#[derive(Debug)]
pub(super) struct InprocConnection {
    wire: Arc<Wire>,
    is_client: bool,
    conditions: Conditions,
    peer: Address,
    local: Address,
    pool: Arc<BlockPool>,
}

impl InprocConnection {
    /// Makes both ends of a connection, the client's end first.
    pub(super) fn ends(wire: &Arc<Wire>, conditions: &Conditions) -> [Arc<Self>; 2] {
        let client = Address::new(NAME, &wire.client);
        let acceptor = Address::new(NAME, &wire.acceptor);
        let end = |is_client, peer: &Address, local: &Address| {
            Arc::new(Self {
                wire: wire.clone(),
                is_client,
                conditions: conditions.clone(),
                peer: peer.clone(),
                local: local.clone(),
                pool: BlockPool::new(BLOCKS, BLOCK_KEPT),
            })
        };
        [
            end(true, &acceptor, &client),
            end(false, &client, &acceptor),
        ]
    }

    fn outward(&self) -> &Pipe {
        let [to_acceptor, to_client] = self.wire.pipes();
        if self.is_client {
            to_acceptor
        } else {
            to_client
        }
    }

    fn inward(&self) -> &Pipe {
        let [to_acceptor, to_client] = self.wire.pipes();
        if self.is_client {
            to_client
        } else {
            to_acceptor
        }
    }
}

impl Connection for InprocConnection {
    fn lend(&self, capacity: usize) -> Block {
        self.pool.lend(capacity.max(BLOCK))
    }

    fn send(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError> {
        let mut sent = 0;
        for part in parts {
            let mut rest: &[u8] = part;
            while !rest.is_empty() {
                let wrote = self.outward().write(
                    rest,
                    &self.conditions.clock,
                    self.conditions.latency(),
                    deadline,
                );
                let count = wrote.map_err(|error| SendError { error, sent })?;
                sent += count;
                rest = rest.get(count..).unwrap_or_default();
            }
        }
        Ok(())
    }

    fn receive(
        &self,
        block: &mut Block,
        need: usize,
        deadline: Deadline,
    ) -> Result<usize, LinkError> {
        let pipe = self.inward();
        pipe.read(block, need, &self.conditions.clock, deadline)
    }

    fn pending(&self) -> Pending {
        self.inward().pending(&self.conditions.clock)
    }

    fn close(&self) {
        let at = self.conditions.clock.now() + self.conditions.latency();
        self.outward().end(at);
        self.inward().stop_reading();
    }

    fn peer(&self) -> &Address {
        &self.peer
    }

    fn local(&self) -> &Address {
        &self.local
    }

    fn waitable(&self) -> Waitable<'_> {
        Waitable::Own
    }
}

impl Drop for InprocConnection {
    fn drop(&mut self) {
        self.close();
    }
}
