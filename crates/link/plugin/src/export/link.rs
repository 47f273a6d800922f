//! C functions of a link.

use super::connection;
use super::guard::{Refused, catching_panic_or, guarded};
use super::lent::{borrow, deadline, lend, slice};
use crate::abi::{
    DATAGRAM, Failure, Property, RawConnection, RawGuarantees, RawLink, STREAM, Text,
};
use punctual_link::{Address, Cause, Framing, Guarantees, Link, LinkError, Phase, Properties};
use std::ffi::c_int;
use std::sync::Arc;

/// Object to which the handle of a link points.
type Exported = Arc<dyn Link>;

/// Opens the link that `make` makes.
///
/// # Safety
/// Both pointers are valid for writing.
pub unsafe fn open<L: Link + 'static>(
    failure: *mut Failure,
    link: *mut *mut RawLink,
    make: impl FnOnce() -> L,
) -> c_int {
    // SAFETY: by this function's own condition.
    unsafe {
        guarded(failure, || {
            let exported: Exported = Arc::new(make());
            link.write(Box::into_raw(Box::new(exported)).cast());
            Ok(())
        })
    }
}

pub(super) unsafe extern "C" fn discard(link: *mut RawLink) {
    catching_panic_or((), || {
        // SAFETY: the host returns, once, the handle that `open` made.
        drop(unsafe { Box::from_raw(link.cast::<Exported>()) })
    });
}

/// Returns the link behind a handle.
///
/// # Safety
/// The handle is open, and stays so for `'a`.
pub(super) unsafe fn exported<'a>(link: *const RawLink) -> &'a dyn Link {
    // SAFETY: `open` made it of such a box.
    unsafe { &**link.cast::<Exported>() }
}

pub(super) unsafe extern "C" fn name(link: *const RawLink, text: *mut Text) {
    // SAFETY: the handle is open, and the host lends the text.
    catching_panic_or((), || unsafe { lend(exported(link).name(), text) });
}

pub(super) unsafe extern "C" fn guarantees(link: *const RawLink, raw: *mut RawGuarantees) {
    catching_panic_or((), || {
        // SAFETY: the handle is open.
        let guarantees: Guarantees = unsafe { exported(link) }.guarantees();
        let flat = RawGuarantees {
            reliable: u8::from(guarantees.reliable),
            ordered: u8::from(guarantees.ordered),
            framing: match guarantees.framing {
                Framing::Stream => STREAM,
                Framing::Datagram => DATAGRAM,
            },
            reserved: [0; 5],
            largest: guarantees.largest.map_or(0, |octets| octets as u64),
        };
        // SAFETY: the host lends it.
        unsafe { raw.write(flat) };
    });
}

pub(super) unsafe extern "C" fn connect(
    link: *const RawLink,
    failure: *mut Failure,
    place: Text,
    properties: *const Property,
    count: usize,
    nanoseconds: i64,
    connection: *mut *mut RawConnection,
) -> c_int {
    // SAFETY: the handle is open; the host vouches for the memory it lends.
    unsafe {
        guarded(failure, || {
            let link = exported(link);
            let (address, properties) = endpoint(link, Phase::Connect, place, properties, count)?;
            let made = link.connect(&address, &properties, deadline(nanoseconds))?;
            connection.write(connection::hand_out(made));
            Ok(())
        })
    }
}

/// Converts address and properties lent by the host.
///
/// # Safety
/// All pointers are valid for the lengths beside them, or null.
pub(super) unsafe fn endpoint(
    link: &dyn Link,
    phase: Phase,
    place: Text,
    properties: *const Property,
    count: usize,
) -> Result<(Address, Properties), Refused> {
    let no_text = || {
        Refused::from(LinkError {
            phase,
            cause: Cause::BadAddress("addresses and properties in UTF-8"),
        })
    };
    // SAFETY: by this function's own condition, here and below.
    let place = unsafe { borrow(place) }.ok_or_else(no_text)?;
    let mut pairs = Vec::with_capacity(count);
    // SAFETY: as above.
    for property in unsafe { slice(properties, count) } {
        // SAFETY: as above.
        let pair = unsafe { borrow(property.key).zip(borrow(property.value)) };
        pairs.push(pair.ok_or_else(no_text)?);
    }
    Ok((
        Address::new(link.name(), place),
        pairs.into_iter().collect(),
    ))
}
