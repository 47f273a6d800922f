//! Fuzz target for data that crosses the C ABI of links loaded from libraries: a link of this
//! program is exported and loaded again; and a function table returns what the input says.
#![allow(unsafe_code)]

use crate::wire::{self, Slices};
use punctual::protocol::Deadline;
use punctual_link::{Address, Connection, Link, Properties, Waitable};
use punctual_plugin::abi::{
    self, Failure, Part, RawConnection, RawGuarantees, RawLink, Table, Text,
};
use punctual_plugin::export;
use std::cell::RefCell;
use std::ffi::c_int;
use std::io::IoSlice;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Time limit for each step of the fuzz target for link plug-ins.
const LONG: Duration = Duration::from_secs(60);

thread_local! {
    /// Octets that the functions of the table will return, the last one first.
    static SAYS: RefCell<Vec<u8>> = RefCell::default();
}

/// Runs the target on one input.
///
/// # Panics
/// The input breaks a property.
pub fn run(input: &[u8]) {
    let (how, octets) = crate::choice(input);
    match how % 2 {
        0 => through_both(octets, usize::from(how >> 1)),
        _ => told_by(octets),
    }
}

/// Checks that all octets arrive through an exported and reloaded link, in pieces of any size.
fn through_both(octets: &[u8], piece: usize) {
    static LINK: OnceLock<Arc<dyn Link>> = OnceLock::new();
    unsafe extern "C" fn open(failure: *mut Failure, link: *mut *mut RawLink) -> c_int {
        // SAFETY: the conditions of this function itself.
        unsafe { export::open(failure, link, || Slices) }
    }
    static TABLE: Table = export::table(open);
    // SAFETY: the crate's own functions.
    let link = LINK.get_or_init(|| unsafe { punctual_plugin::take_in(&TABLE) }.expect("it opens"));
    wire::opens([octets.to_vec()], piece);
    let connection = connect(&**link).expect("there is an input");
    let mut block = connection.lend(0);
    let mut need = 0;
    while let Ok(count) = connection.receive(&mut block, need, Deadline::NEVER) {
        assert!(count > 0);
        need = block.len() + piece;
    }
    assert_eq!(*block, *octets);
    let parts = [IoSlice::new(octets), IoSlice::new(b"x")];
    let sent = connection.send(&parts, Deadline::NEVER);
    assert!(sent.is_ok());
    drop(connection);
    let sent = wire::close_opened().concat();
    assert!(sent.strip_suffix(b"x") == Some(octets));
}

fn connect(link: &dyn Link) -> Option<Arc<dyn Connection>> {
    let elsewhere = Address::new("elsewhere", "here");
    let refused = link.connect(&elsewhere, &Properties::NONE, Deadline::NEVER);
    assert!(refused.is_err(), "the address is of another link");
    let place = Address::new(link.name(), "here");
    let properties = Properties::from_iter([("key", "value")]);
    link.connect(&place, &properties, Deadline::after(LONG))
        .ok()
}

fn told_by(octets: &[u8]) {
    SAYS.set(octets.iter().rev().copied().collect());
    let table: &'static Table = &LIES;
    // SAFETY: the functions below write only within the buffers they are lent, and return readable
    // texts.
    let Ok(link) = (unsafe { punctual_plugin::take_in(table) }) else {
        return;
    };
    assert!(link.guarantees().largest != Some(0));
    for _ in 0..2 {
        let Some(connection) = connect(&*link) else {
            continue;
        };
        let mut block = connection.lend(0);
        for _ in 0..8 {
            let before = block.len();
            let need = usize::from(next());
            match connection.receive(&mut block, need, Deadline::NEVER) {
                Ok(count) => assert_eq!(block.len(), before + count),
                Err(error) => {
                    assert_eq!(block.len(), before);
                    assert!(!error.to_string().is_empty());
                }
            }
            if let Err(failed) = connection.send(&[IoSlice::new(&[0; 9])], Deadline::NEVER) {
                assert!(failed.sent <= 9);
            }
            let _ = connection.pending();
        }
        assert_eq!(connection.peer().link(), link.name());
        assert_eq!(connection.local().link(), link.name());
        if let Waitable::Descriptor(descriptor) = connection.waitable() {
            assert_eq!(descriptor.as_raw_fd(), OPEN);
        }
        connection.close();
    }
}

fn next() -> u8 {
    SAYS.with_borrow_mut(Vec::pop).unwrap_or_default()
}

/// Returns a usually small number from the input, sometimes an impossibly large one.
fn number() -> usize {
    match next() {
        255 => usize::MAX,
        254 => isize::MAX.cast_unsigned(),
        small => usize::from(small),
    }
}

/// Writes an error cause and its details as the input says; returns a status.
///
/// # Safety
/// `failure` must be valid for writes.
unsafe fn cause(failure: *mut Failure) -> c_int {
    let cause = next();
    if cause < 160 {
        return abi::OK;
    }
    let mut told = Failure::NONE;
    told.phase = next().into();
    told.number = number() as u64;
    for octet in told.text.iter_mut().take(4) {
        *octet = next();
    }
    told.text_length = next().into();
    told.expected = told.text;
    told.expected_length = u32::try_from(number()).unwrap_or(u32::MAX);
    // SAFETY: `failure` is valid for writes, as this function requires.
    unsafe { failure.write(told) };
    c_int::from(cause) - 200
}

/// Writes a text as the input says.
///
/// # Safety
/// `to` must be valid for writes.
unsafe fn say(to: *mut Text) {
    const TEXTS: [&str; 8] = [
        "lies", "here", "", "he\nre", "a link", "x:1", "l\u{e9}", "-",
    ];
    let text = TEXTS[usize::from(next()) % TEXTS.len()];
    let text = match next() {
        255 => Text {
            octets: ptr::null(),
            length: 7,
        },
        254 => Text {
            octets: text.as_ptr(),
            length: 1 << 40,
        },
        _ => Text {
            octets: text.as_ptr(),
            length: text.len(),
        },
    };
    // SAFETY: `to` is valid for writes, as this function requires.
    unsafe { to.write(text) };
}

/// File descriptor that is certainly open: standard error.
const OPEN: RawFd = 2;

const HANDLE: *mut u8 = ptr::dangling_mut();

unsafe extern "C" fn open(failure: *mut Failure, link: *mut *mut RawLink) -> c_int {
    let comes = SAYS.with_borrow(|says| says.last().copied());
    let handle = match comes {
        // Success without a result.
        Some(159) => ptr::null_mut(),
        _ => HANDLE.cast(),
    };
    // SAFETY: the host's own conditions.
    unsafe {
        link.write(handle);
        cause(failure)
    }
}

unsafe extern "C" fn drop_link(_: *mut RawLink) {}

unsafe extern "C" fn name(_: *const RawLink, to: *mut Text) {
    // SAFETY: the host's own condition.
    unsafe { say(to) };
}

unsafe extern "C" fn guarantees(_: *const RawLink, raw: *mut RawGuarantees) {
    // SAFETY: the host's own condition.
    unsafe {
        (*raw).reliable = next() >> 6;
        (*raw).framing = next() >> 6;
        (*raw).largest = number() as u64;
        (*raw).reserved[0] = u8::from((*raw).largest == isize::MAX as u64);
    }
}

unsafe extern "C" fn connect_to(
    _: *const RawLink,
    failure: *mut Failure,
    _: Text,
    _: *const abi::Property,
    _: usize,
    _: i64,
    connection: *mut *mut RawConnection,
) -> c_int {
    // SAFETY: the host's own conditions.
    unsafe {
        if next() < 250 {
            connection.write(HANDLE.cast());
        }
        cause(failure)
    }
}

unsafe extern "C" fn send(
    _: *const RawConnection,
    failure: *mut Failure,
    _: *const Part,
    _: usize,
    _: i64,
    sent: *mut usize,
) -> c_int {
    // SAFETY: the host's own conditions.
    unsafe {
        sent.write(number());
        cause(failure)
    }
}

#[allow(clippy::too_many_arguments)] // The ABI's.
unsafe extern "C" fn receive(
    _: *const RawConnection,
    failure: *mut Failure,
    octets: *mut u8,
    capacity: usize,
    _: usize,
    _: i64,
    count: *mut usize,
    more: *mut usize,
) -> c_int {
    let said = number();
    // SAFETY: the host's own conditions; no more is written than there is room for.
    unsafe {
        octets.write_bytes(next(), said.min(capacity));
        count.write(said);
        more.write(number());
        cause(failure)
    }
}

unsafe extern "C" fn pending(_: *const RawConnection) -> c_int {
    c_int::from(next()) - 2
}

unsafe extern "C" fn place(_: *const RawConnection, to: *mut Text) {
    // SAFETY: the host's own condition.
    unsafe { say(to) };
}

unsafe extern "C" fn no_descriptor(_: *const RawConnection) -> c_int {
    match next() {
        255 => -7,
        254 => c_int::MAX,
        253 => OPEN,
        _ => abi::NO_DESCRIPTOR,
    }
}

unsafe extern "C" fn close(_: *const RawConnection) {}

unsafe extern "C" fn drop_connection(_: *mut RawConnection) {}

static LIES: Table = Table {
    flags: 0,
    open: Some(open),
    drop_link: Some(drop_link),
    name: Some(name),
    guarantees: Some(guarantees),
    connect: Some(connect_to),
    send: Some(send),
    receive: Some(receive),
    pending: Some(pending),
    close: Some(close),
    peer: Some(place),
    local: Some(place),
    descriptor: Some(no_descriptor),
    drop_connection: Some(drop_connection),
    ..export::table(open)
};
