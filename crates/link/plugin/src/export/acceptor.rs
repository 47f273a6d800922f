//! C functions of an acceptor.

use super::connection;
use super::guard::{catching_panic_or, guarded};
use super::lent::lend;
use super::link::{endpoint, exported};
use crate::abi::{Failure, Property, RawAcceptor, RawConnection, RawLink, Text};
use punctual_link::{Acceptor, Phase};
use std::ffi::c_int;

/// Object to which the handle of an acceptor points.
type Exported = Box<dyn Acceptor>;

/// Returns the acceptor behind a handle.
///
/// # Safety
/// The handle is open, and stays so for `'a`.
unsafe fn acceptor<'a>(raw: *const RawAcceptor) -> &'a dyn Acceptor {
    // SAFETY: `listen` made it of such a box.
    unsafe { &**raw.cast::<Exported>() }
}

pub(super) unsafe extern "C" fn listen(
    link: *const RawLink,
    failure: *mut Failure,
    place: Text,
    properties: *const Property,
    count: usize,
    raw: *mut *mut RawAcceptor,
) -> c_int {
    // SAFETY: the handle is open; the host vouches for the memory it lends.
    unsafe {
        guarded(failure, || {
            let link = exported(link);
            let (address, properties) = endpoint(link, Phase::Listen, place, properties, count)?;
            let made: Exported = link.listen(&address, &properties)?;
            raw.write(Box::into_raw(Box::new(made)).cast());
            Ok(())
        })
    }
}

pub(super) unsafe extern "C" fn place(raw: *const RawAcceptor, text: *mut Text) {
    // SAFETY: the handle is open, and the host lends the text.
    catching_panic_or((), || unsafe {
        lend(acceptor(raw).address().place(), text)
    });
}

pub(super) unsafe extern "C" fn accept(
    raw: *const RawAcceptor,
    failure: *mut Failure,
    connection: *mut *mut RawConnection,
) -> c_int {
    // SAFETY: the handle is open; the host vouches for the memory it lends.
    unsafe {
        guarded(failure, || {
            let made = acceptor(raw).accept()?;
            connection.write(connection::hand_out(made));
            Ok(())
        })
    }
}

pub(super) unsafe extern "C" fn close(raw: *const RawAcceptor) {
    // SAFETY: the handle is open.
    catching_panic_or((), || unsafe { acceptor(raw) }.close());
}

pub(super) unsafe extern "C" fn discard(raw: *mut RawAcceptor) {
    catching_panic_or((), || {
        // SAFETY: the host returns, once, the handle that `listen` made.
        drop(unsafe { Box::from_raw(raw.cast::<Exported>()) })
    });
}
