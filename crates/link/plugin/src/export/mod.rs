//! Library's side: a link, as C functions. For [`crate::export_link!`] only.
//!
//! No function here unwinds: a panic becomes [`crate::abi::PANICKED`]. Handles are boxes; their
//! holder vouches for them, as the table's documentation says.

mod acceptor;
mod connection;
mod guard;
mod received;

use crate::abi::{
    DATAGRAM, Failure, MAGIC, NEVER, Property, RESIDENT, RawConnection, RawGuarantees, RawLink,
    SIGNATURE, STREAM, Table, Text, VERSION,
};
use guard::{Refused, guarded, quietly};
use punctual_exec::Deadline;
use punctual_link::{Address, Cause, Framing, Guarantees, Link, LinkError, Phase, Properties};
use std::ffi::c_int;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

/// Target of a link's handle.
type Exported = Arc<dyn Link>;

/// Returns the table of a library whose link is opened by `open`.
///
/// Resident: the threads that a link starts, and Rust's own thread-local state, may outlive it.
#[must_use]
pub const fn table(open: unsafe extern "C" fn(*mut Failure, *mut *mut RawLink) -> c_int) -> Table {
    Table {
        magic: MAGIC,
        version: VERSION,
        size: TABLE_SIZE,
        signature: SIGNATURE,
        flags: RESIDENT,
        open: Some(open),
        drop_link: Some(drop_link),
        name: Some(name),
        guarantees: Some(guarantees),
        connect: Some(connect),
        listen: Some(acceptor::listen),
        acceptor_place: Some(acceptor::place),
        accept: Some(acceptor::accept),
        close_acceptor: Some(acceptor::close),
        drop_acceptor: Some(acceptor::discard),
        send: Some(connection::send),
        receive: Some(connection::receive),
        pending: Some(connection::pending),
        close: Some(connection::close),
        peer: Some(connection::peer),
        local: Some(connection::local),
        descriptor: Some(connection::descriptor),
        drop_connection: Some(connection::discard),
    }
}

const TABLE_SIZE: u32 = {
    assert!(mem::size_of::<Table>() < u32::MAX as usize);
    mem::size_of::<Table>() as u32
};

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

unsafe extern "C" fn drop_link(link: *mut RawLink) {
    quietly((), || {
        // SAFETY: the host returns, once, the handle that `open` made.
        drop(unsafe { Box::from_raw(link.cast::<Exported>()) })
    });
}

/// Returns the link behind a handle.
///
/// # Safety
/// The handle is open, and stays so for `'a`.
unsafe fn exported<'a>(link: *const RawLink) -> &'a dyn Link {
    // SAFETY: `open` made it of such a box.
    unsafe { &**link.cast::<Exported>() }
}

unsafe extern "C" fn name(link: *const RawLink, text: *mut Text) {
    // SAFETY: the handle is open, and the host lends the text.
    quietly((), || unsafe { lend(exported(link).name(), text) });
}

unsafe extern "C" fn guarantees(link: *const RawLink, raw: *mut RawGuarantees) {
    quietly((), || {
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

unsafe extern "C" fn connect(
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
unsafe fn endpoint(
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

fn deadline(nanoseconds: i64) -> Deadline {
    if nanoseconds == NEVER {
        return Deadline::NEVER;
    }
    Deadline::after(Duration::from_nanos(
        u64::try_from(nanoseconds).unwrap_or(0),
    ))
}

/// Lends the host `text`, which lives as long as its handle.
///
/// # Safety
/// `to` is valid for writing.
unsafe fn lend(text: &str, to: *mut Text) {
    let lent = Text {
        octets: text.as_ptr(),
        length: text.len(),
    };
    // SAFETY: by this function's own condition.
    unsafe { to.write(lent) };
}

/// Converts a text to a string, if it is UTF-8.
///
/// # Safety
/// The text is valid for its length during `'a`, or null.
unsafe fn borrow<'a>(text: Text) -> Option<&'a str> {
    // SAFETY: by this function's own condition.
    std::str::from_utf8(unsafe { slice(text.octets, text.length) }).ok()
}

/// Converts pointer and length to a slice; null gives an empty one.
///
/// # Safety
/// `first` begins `count` elements that live for `'a`, or is null.
unsafe fn slice<'a, T>(first: *const T, count: usize) -> &'a [T] {
    if first.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: by this function's own condition.
    unsafe { std::slice::from_raw_parts(first, count) }
}
