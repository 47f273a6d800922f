//! Connection: a ring and a pool in each direction, and access to common pools.

use super::address::Addresses;
use super::allocator::Marks;
use super::common::{CommonAccess, Offer};
use super::copies::Copies;
use super::ends::Ends;
use super::incoming::{Incoming, PeerCommon};
use super::layout::{COMMON_MARKS, Sizes};
use super::lending::{self, PoolLoan};
use super::options::ShmOptions;
use super::pool::Pool;
use super::reader::{Lent, Reader};
use super::writer::{Memories, Writer};
use crate::{Address, Cause, Connection, LinkError, Loan, Pending, SendError, Waitable};
use punctual_cdr::{Block, Lender, Segment};
use punctual_exec::{Deadline, LockProtocol};
use punctual_sys::memory::{PeerMemory, Region, Trusted};
use std::io::IoSlice;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// Connection over shared memory. The locks enforce that one thread sends and one receives; they
/// are contended only if that rule is broken.
#[derive(Debug)]
pub(super) struct ShmConnection {
    ends: Arc<Ends>,
    writer: Mutex<Writer>,
    reader: Mutex<Reader>,
    pool: Arc<Pool>,
    /// Access to the link's common pool, if this connection lends from it.
    common: Option<CommonAccess>,
    incoming: Lent,
    copies: Arc<Copies>,
    block: usize,
    block_kept: usize,
    threshold: usize,
    addresses: Addresses,
}

/// Memory and other resources from which a shared-memory connection is made.
pub(super) struct Parts<'o> {
    pub(super) control: Region,
    pub(super) ring: Region,
    pub(super) pool: Region,
    pub(super) theirs: PeerMemory,
    pub(super) their_sizes: Sizes,
    /// Common pool of this side's link, if the peer was given it.
    pub(super) common: Option<Offer>,
    pub(super) their_common: Option<PeerCommon>,
    pub(super) socket: OwnedFd,
    pub(super) trusted: Option<Trusted>,
    pub(super) copies: Arc<Copies>,
    pub(super) addresses: Addresses,
    pub(super) options: &'o ShmOptions,
}

/// Marks by which the peer returns pieces of the common pool.
struct CommonMarks(Arc<Ends>);

impl Marks for CommonMarks {
    fn mark(&self, slot: usize) -> u32 {
        self.0.theirs.load_acquire(COMMON_MARKS + slot)
    }
}

impl ShmConnection {
    pub(super) fn new(parts: Parts<'_>) -> Self {
        let (options, copies) = (parts.options, parts.copies);
        let sizes = parts.their_sizes;
        let words = parts.control.into_words();
        let ends = Arc::new(Ends::new(
            words,
            parts.theirs,
            parts.socket,
            options.descriptor,
        ));
        let (pool_at, pool_len) = (sizes.pool_at(), sizes.pool as usize);
        let incoming = Lent {
            pool: Incoming::new(
                ends.clone(),
                pool_at,
                pool_len,
                parts.trusted,
                copies.clone(),
            ),
            common: parts.their_common.map(|common| {
                Incoming::common(ends.clone(), common, parts.trusted, copies.clone())
            }),
        };
        let common_marks = || Arc::new(CommonMarks(ends.clone()));
        Self {
            writer: Mutex::new(Writer::new(parts.ring, options.looks())),
            reader: Mutex::new(Reader::new(sizes.ring, options.looks())),
            pool: Pool::new(
                parts.pool,
                ends.clone(),
                copies.clone(),
                LockProtocol::Plain,
            ),
            common: parts.common.map(|offer| offer.accepted(common_marks())),
            incoming,
            ends,
            copies,
            block: options.block,
            block_kept: options.block_kept,
            threshold: options.lend_threshold,
            addresses: parts.addresses,
        }
    }

    fn reader(&self) -> MutexGuard<'_, Reader> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the connection to a peer that broke the protocol.
    fn close_if_broken(&self, cause: &Cause) {
        if matches!(cause, Cause::BadPeer(_)) {
            self.close();
        }
    }
}

impl Connection for ShmConnection {
    fn lend(&self, capacity: usize) -> Block {
        Block::of_thread(capacity.max(self.block), self.block_kept)
    }

    fn send(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let memories = Memories {
            pool: &self.pool,
            holder: self.common.as_ref().map(|common| &*common.holder),
        };
        let sent = writer.send(&self.ends, memories, parts, deadline);
        if let Err(failed) = &sent {
            self.close_if_broken(&failed.error.cause);
        }
        sent
    }

    fn receive(
        &self,
        block: &mut Block,
        need: usize,
        deadline: Deadline,
    ) -> Result<usize, LinkError> {
        let (held, lent) = (block.len(), block.lent().len());
        let received = self.reader().receive(
            &self.ends,
            &self.incoming,
            &self.copies,
            block,
            need,
            deadline,
        );
        if let Err(failed) = &received {
            block.truncate(held);
            if block.lent().len() > lent {
                block.lent_mut().truncate(lent);
            }
            self.close_if_broken(&failed.cause);
        }
        received
    }

    fn pending(&self) -> Pending {
        match self.reader.try_lock() {
            Ok(mut reader) => reader.pending(&self.ends),
            Err(TryLockError::Poisoned(reader)) => reader.into_inner().pending(&self.ends),
            // Another thread receives, and will notice new data.
            Err(TryLockError::WouldBlock) => Pending::Nothing,
        }
    }

    fn close(&self) {
        self.ends.close();
    }

    fn peer(&self) -> &Address {
        &self.addresses.peer
    }

    fn local(&self) -> &Address {
        &self.addresses.local
    }

    fn waitable(&self) -> Waitable<'_> {
        let descriptor = self.ends.descriptor();
        descriptor.map_or(Waitable::Own, Waitable::Descriptor)
    }

    fn lender(&self) -> Option<&dyn Lender> {
        (!self.pool.is_empty() || self.common.is_some()).then_some(self)
    }

    fn loan(&self, length: usize) -> Option<Loan> {
        let loan = PoolLoan::new(&self.pool, length)?;
        Some(Loan::new(Box::new(loan)))
    }
}

impl Lender for ShmConnection {
    fn threshold(&self) -> usize {
        self.threshold
    }

    fn lend(&self, octets: &[u8]) -> Option<Arc<dyn Segment>> {
        if octets.len() < self.threshold {
            return None;
        }
        let common = self.common.as_ref();
        let of_common = common.filter(|common| common.holder.holds(octets));
        of_common
            .and_then(|common| common.holder.lend(octets))
            .or_else(|| lending::lend(&self.pool, octets))
    }

    fn share(&self, octets: &[u8]) -> Option<Arc<dyn Segment>> {
        let common = self.common.as_ref();
        common.and_then(|common| common.common().put(octets))
    }
}

impl Drop for ShmConnection {
    fn drop(&mut self) {
        self.close();
    }
}
