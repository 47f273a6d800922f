//! C functions of a connection.

use super::guard::{catching_panic_or, guarded};
use super::lent::{deadline, lend, slice};
use super::received::Received;
use crate::abi::{DATA, END, Failure, NO_DESCRIPTOR, Part, QUIET, RawConnection, Text};
use punctual_link::{Connection, Pending, Waitable};
use std::ffi::c_int;
use std::io::IoSlice;
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

/// Object to which the handle of a connection points.
struct Exported {
    connection: Arc<dyn Connection>,
    /// Received data; locked by the receiving thread while it receives.
    received: Mutex<Received>,
}

/// Makes a handle by which the host refers to the connection.
pub(super) fn hand_out(connection: Arc<dyn Connection>) -> *mut RawConnection {
    let exported = Exported {
        connection,
        received: Mutex::default(),
    };
    Box::into_raw(Box::new(exported)).cast()
}

/// Returns the object that a handle points to.
///
/// # Safety
/// The handle is open, and stays so for `'a`.
unsafe fn exported<'a>(raw: *const RawConnection) -> &'a Exported {
    // SAFETY: `hand_out` made it of such a box.
    unsafe { &*raw.cast::<Exported>() }
}

pub(super) unsafe extern "C" fn send(
    raw: *const RawConnection,
    failure: *mut Failure,
    parts: *const Part,
    count: usize,
    nanoseconds: i64,
    sent: *mut usize,
) -> c_int {
    // SAFETY: the handle is open; the host vouches for the memory it lends; a `Part` is laid out as
    // POSIX's `struct iovec`, which `IoSlice` is.
    unsafe {
        guarded(failure, || {
            let parts: &[IoSlice<'_>] = slice(parts.cast(), count);
            let connection = &exported(raw).connection;
            connection
                .send(parts, deadline(nanoseconds))
                .map_err(|failed| {
                    sent.write(failed.sent);
                    failed.error.into()
                })
        })
    }
}

#[allow(clippy::too_many_arguments)] // The ABI's: results go out through pointers.
pub(super) unsafe extern "C" fn receive(
    raw: *const RawConnection,
    failure: *mut Failure,
    octets: *mut u8,
    capacity: usize,
    wanted: usize,
    nanoseconds: i64,
    count: *mut usize,
    more: *mut usize,
) -> c_int {
    // SAFETY: the handle is open; the host vouches for the memory it lends.
    unsafe {
        guarded(failure, || {
            let exported = exported(raw);
            let received = exported.received.lock();
            let mut received = received.unwrap_or_else(PoisonError::into_inner);
            if received.is_empty() {
                received.refill(&*exported.connection, wanted, deadline(nanoseconds))?;
            }
            let taken = received.take(capacity);
            octets.copy_from_nonoverlapping(taken.as_ptr(), taken.len());
            count.write(taken.len());
            more.write(received.bytes_left_or_release());
            Ok(())
        })
    }
}

pub(super) unsafe extern "C" fn pending(raw: *const RawConnection) -> c_int {
    catching_panic_or(END, || {
        // SAFETY: the handle is open.
        let exported = unsafe { exported(raw) };
        // Locked: another thread receives, and will take the data.
        let held = match exported.received.try_lock() {
            Ok(received) => !received.is_empty(),
            Err(TryLockError::Poisoned(received)) => !received.into_inner().is_empty(),
            Err(TryLockError::WouldBlock) => false,
        };
        match exported.connection.pending() {
            _ if held => DATA,
            Pending::Nothing => QUIET,
            Pending::Data => DATA,
            Pending::End => END,
        }
    })
}

pub(super) unsafe extern "C" fn close(raw: *const RawConnection) {
    // SAFETY: the handle is open.
    catching_panic_or((), || unsafe { exported(raw) }.connection.close());
}

pub(super) unsafe extern "C" fn peer(raw: *const RawConnection, text: *mut Text) {
    // SAFETY: the handle is open, and the host lends the text.
    catching_panic_or((), || unsafe {
        lend(exported(raw).connection.peer().place(), text)
    });
}

pub(super) unsafe extern "C" fn local(raw: *const RawConnection, text: *mut Text) {
    // SAFETY: the handle is open, and the host lends the text.
    catching_panic_or((), || unsafe {
        lend(exported(raw).connection.local().place(), text)
    });
}

pub(super) unsafe extern "C" fn descriptor(raw: *const RawConnection) -> c_int {
    catching_panic_or(NO_DESCRIPTOR, || {
        // SAFETY: the handle is open.
        match unsafe { exported(raw) }.connection.waitable() {
            Waitable::Descriptor(descriptor) => descriptor.as_raw_fd(),
            _ => NO_DESCRIPTOR,
        }
    })
}

pub(super) unsafe extern "C" fn discard(raw: *mut RawConnection) {
    catching_panic_or((), || {
        // SAFETY: the host returns, once, the handle that `hand_out` made.
        drop(unsafe { Box::from_raw(raw.cast::<Exported>()) })
    });
}
