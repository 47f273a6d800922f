//! Acceptor of a library.

use super::connection;
use super::opened::{Opened, lend_properties, lend_text};
use crate::abi::{Failure, OK, RawAcceptor};
use punctual_link::{Acceptor, Address, Connection, LinkError, Phase, Properties};
use std::ptr::{self, NonNull};
use std::sync::Arc;

#[derive(Debug)]
struct LoadedAcceptor {
    handle: Handle,
    address: Address,
}

/// Library's handle, which drops the library's acceptor when it is dropped, even if the acceptor's
/// address turns out to be invalid.
#[derive(Debug)]
struct Handle {
    // Dropped by hand, before the link.
    raw: NonNull<RawAcceptor>,
    opened: Arc<Opened>,
}

// SAFETY: as for `Opened`: all functions of an acceptor except the one that drops it may be called
// from any thread, several at once.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

pub(super) fn listen(
    opened: &Arc<Opened>,
    address: &Address,
    properties: &Properties,
) -> Result<Box<dyn Acceptor>, LinkError> {
    let lent = lend_properties(properties);
    let mut failure = Failure::NONE;
    let mut raw = ptr::null_mut();
    // SAFETY: the link is open; lent memory lives through the call.
    let status = unsafe {
        (opened.functions().listen)(
            opened.raw(),
            &raw mut failure,
            lend_text(address.place()),
            lent.as_ptr(),
            lent.len(),
            &raw mut raw,
        )
    };
    if status != OK {
        return Err(opened.error(Phase::Listen, status, &failure));
    }
    let Some(raw) = NonNull::new(raw) else {
        return Err(opened.broken(Phase::Listen, "returned null in place of an acceptor"));
    };
    let handle = Handle {
        raw,
        opened: opened.clone(),
    };
    // SAFETY: the acceptor is open, and owns the text as long as it is.
    let address = unsafe {
        opened.address(Phase::Listen, "an acceptor", |text| {
            (opened.functions().acceptor_place)(raw.as_ptr(), text);
        })
    }?;
    Ok(Box::new(LoadedAcceptor { handle, address }))
}

impl Acceptor for LoadedAcceptor {
    fn address(&self) -> &Address {
        &self.address
    }

    fn accept(&self) -> Result<Arc<dyn Connection>, LinkError> {
        let opened = &self.handle.opened;
        let mut failure = Failure::NONE;
        let mut raw = ptr::null_mut();
        // SAFETY: the acceptor is open; lent memory lives through the call.
        let status = unsafe {
            (opened.functions().accept)(self.handle.raw.as_ptr(), &raw mut failure, &raw mut raw)
        };
        // SAFETY: the library's own handle, which no other code has.
        unsafe { connection::adopt(opened, Phase::Accept, status, &failure, raw) }
    }

    fn close(&self) {
        // SAFETY: the acceptor is open.
        unsafe { (self.handle.opened.functions().close_acceptor)(self.handle.raw.as_ptr()) };
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: made once, dropped once, and no thread is in `accept`, which borrows the
        // acceptor.
        unsafe { (self.opened.functions().drop_acceptor)(self.raw.as_ptr()) };
    }
}
