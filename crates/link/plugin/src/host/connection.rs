//! Connection of a library.
//!
//! Blocks are the host's own: a library receives into a block's spare room, and data it holds
//! beyond that is fetched at once, so that no data waits unreported by a descriptor.

use super::opened::{Opened, lend_properties, lend_text, nanoseconds, pending};
use crate::abi::{Failure, NO_DESCRIPTOR, OK, Part, RawConnection};
use punctual_cdr::Block;
use punctual_exec::Deadline;
use punctual_link::{
    Address, BlockPool, Cause, Connection, LinkError, Pending, Phase, Properties, SendError,
    Waitable,
};
use std::ffi::c_int;
use std::io::IoSlice;
use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// Number of blocks that a connection keeps for reuse: one to send, one to receive, one for a reply
/// in use.
const BLOCKS: usize = 4;
/// Initial size of a buffer that a connection lends, in bytes.
const BLOCK: usize = 4096;
/// Size in bytes beyond which blocks are not kept.
const BLOCK_KEPT: usize = 256 * 1024;
/// Least increment, in bytes, of the memory for an announced message, which grows with the data
/// that arrives.
const GROWTH: usize = 64 * 1024;

#[derive(Debug)]
struct LoadedConnection {
    handle: Handle,
    peer: Address,
    local: Address,
    descriptor: Option<c_int>,
    pool: Arc<BlockPool>,
}

/// Library's handle, which drops the library's connection when it is dropped, even if the
/// connection's addresses turn out to be invalid.
#[derive(Debug)]
struct Handle {
    // Dropped by hand, before the link.
    raw: NonNull<RawConnection>,
    opened: Arc<Opened>,
}

// SAFETY: as for `Opened`: all functions of a connection except the one that drops it may be called
// from any thread, several at once (at most one that sends and one that receives, as the trait
// requires).
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

pub(super) fn connect(
    opened: &Arc<Opened>,
    address: &Address,
    properties: &Properties,
    deadline: Deadline,
) -> Result<Arc<dyn Connection>, LinkError> {
    let lent = lend_properties(properties);
    let mut failure = Failure::NONE;
    let mut raw = ptr::null_mut();
    // SAFETY: the link is open; lent memory lives through the call.
    let status = unsafe {
        (opened.functions().connect)(
            opened.raw(),
            &raw mut failure,
            lend_text(address.place()),
            lent.as_ptr(),
            lent.len(),
            nanoseconds(deadline),
            &raw mut raw,
        )
    };
    // SAFETY: the library's own handle, which no other code has.
    unsafe { adopt(opened, Phase::Connect, status, &failure, raw) }
}

/// Wraps the connection that `connect` or `accept` returned.
///
/// # Safety
/// Where `status` is [`OK`], `raw` is null or a handle that the library has just made.
pub(super) unsafe fn adopt(
    opened: &Arc<Opened>,
    during: Phase,
    status: c_int,
    failure: &Failure,
    raw: *mut RawConnection,
) -> Result<Arc<dyn Connection>, LinkError> {
    if status != OK {
        return Err(opened.error(during, status, failure));
    }
    let Some(raw) = NonNull::new(raw) else {
        return Err(opened.broken(during, "returned null in place of a connection"));
    };
    let handle = Handle {
        raw,
        opened: opened.clone(),
    };
    let functions = opened.functions();
    // SAFETY: the connection is open, and owns the texts as long as it is.
    let (peer, local) = unsafe {
        (
            opened.address(during, "a peer", |text| {
                (functions.peer)(raw.as_ptr(), text)
            })?,
            opened.address(during, "this side", |text| {
                (functions.local)(raw.as_ptr(), text);
            })?,
        )
    };
    Ok(Arc::new(LoadedConnection {
        descriptor: handle.descriptor(during)?,
        handle,
        peer,
        local,
        pool: BlockPool::new(BLOCKS, BLOCK_KEPT),
    }))
}

impl Handle {
    /// Returns the connection's file descriptor, after checking its validity.
    fn descriptor(&self, during: Phase) -> Result<Option<c_int>, LinkError> {
        // SAFETY: the connection is open.
        let descriptor = unsafe { (self.opened.functions().descriptor)(self.raw.as_ptr()) };
        if descriptor == NO_DESCRIPTOR {
            return Ok(None);
        }
        let bad = || {
            let how = format!("gave a descriptor that is not open: {descriptor}");
            self.opened.broken(during, &how)
        };
        if descriptor < 0 {
            return Err(bad());
        }
        // SAFETY: not -1. If it is not open, the system call reports an error.
        let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
        rustix::io::fcntl_getfd(borrowed).map_err(|_| bad())?;
        Ok(Some(descriptor))
    }

    /// Receives data and appends it to `block`, which must have spare room. Returns the number of
    /// bytes received, and the number that the library still holds.
    fn receive(
        &self,
        block: &mut Block,
        wanted: usize,
        deadline: Deadline,
    ) -> Result<(usize, usize), LinkError> {
        let bytes = block.as_mut_vec();
        let held = bytes.len();
        let room = bytes.spare_capacity_mut();
        let (mut failure, mut received, mut more) = (Failure::NONE, 0, 0);
        // SAFETY: the connection is open; the room, and the lent variables, live through the call.
        let status = unsafe {
            (self.opened.functions().receive)(
                self.raw.as_ptr(),
                &raw mut failure,
                room.as_mut_ptr().cast(),
                room.len(),
                wanted,
                nanoseconds(deadline),
                &raw mut received,
                &raw mut more,
            )
        };
        if status != OK {
            return Err(self.opened.error(Phase::Receive, status, &failure));
        }
        if received == 0 || received > room.len() {
            let how = format!("received {received} octets with room for {}", room.len());
            return Err(self.opened.broken(Phase::Receive, &how));
        }
        // SAFETY: not more than the room, and the library states that it has filled as many.
        unsafe { bytes.set_len(held + received) };
        Ok((received, more))
    }
}

impl Connection for LoadedConnection {
    fn lend(&self, capacity: usize) -> Block {
        self.pool.lend(capacity.max(BLOCK))
    }

    fn send(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError> {
        let opened = &self.handle.opened;
        let (mut failure, mut sent) = (Failure::NONE, 0);
        // SAFETY: the connection is open; an `IoSlice` is laid out as POSIX's `struct iovec`, which
        // `Part` is; all lent memory lives through the call.
        let status = unsafe {
            (opened.functions().send)(
                self.handle.raw.as_ptr(),
                &raw mut failure,
                parts.as_ptr().cast::<Part>(),
                parts.len(),
                nanoseconds(deadline),
                &raw mut sent,
            )
        };
        if status == OK {
            return Ok(());
        }
        let total: usize = parts.iter().map(|part| part.len()).sum();
        let sent = if is_credible_status(status) {
            sent.min(total)
        } else {
            // Its progress is unknown, so the message must not be taken for unsent.
            sent.clamp(1, total.max(1))
        };
        Err(SendError {
            error: opened.error(Phase::Send, status, &failure),
            sent,
        })
    }

    fn receive(
        &self,
        block: &mut Block,
        need: usize,
        deadline: Deadline,
    ) -> Result<usize, LinkError> {
        let wanted = need.saturating_sub(block.len()).max(1);
        make_room(block, wanted.min(block.len().max(GROWTH)))?;
        let (mut total, mut more) = self.handle.receive(block, wanted, deadline)?;
        while more > 0 {
            // Received data is not lost for want of room: the next call fetches the rest, or fails.
            let fetched = make_room(block, more.min(GROWTH))
                .and_then(|()| self.handle.receive(block, more, deadline));
            let Ok((received, _)) = fetched else { break };
            total += received;
            // As announced at first: further announcements wait, to bound the loop.
            more = more.saturating_sub(received);
        }
        Ok(total)
    }

    fn pending(&self) -> Pending {
        // SAFETY: the connection is open.
        pending(unsafe { (self.handle.opened.functions().pending)(self.handle.raw.as_ptr()) })
    }

    fn close(&self) {
        // SAFETY: the connection is open: closing keeps the handle.
        unsafe { (self.handle.opened.functions().close)(self.handle.raw.as_ptr()) };
    }

    fn peer(&self) -> &Address {
        &self.peer
    }

    fn local(&self) -> &Address {
        &self.local
    }

    fn waitable(&self) -> Waitable<'_> {
        match self.descriptor {
            // SAFETY: it was open when the connection was made, and is as long as the handle lives,
            // which the result borrows.
            Some(number) => Waitable::Descriptor(unsafe { BorrowedFd::borrow_raw(number) }),
            None => Waitable::Own,
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: made once, dropped once, and no thread is in another function, which borrow the handle.
        unsafe { (self.opened.functions().drop_connection)(self.raw.as_ptr()) };
    }
}

/// Returns whether a status is one that a library conforming to the ABI returns: success or an
/// error, not a panic or an unknown code.
fn is_credible_status(status: c_int) -> bool {
    (OK..crate::abi::PANICKED).contains(&status)
}

fn make_room(block: &mut Block, octets: usize) -> Result<(), LinkError> {
    let need = block.len().saturating_add(octets);
    block
        .as_mut_vec()
        .try_reserve(octets)
        .map_err(|_| LinkError {
            phase: Phase::Receive,
            cause: Cause::NoMemory(need),
        })
}
