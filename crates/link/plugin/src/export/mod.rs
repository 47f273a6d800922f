//! Library's side: a link, as C functions. For [`crate::export_link!`] only.
//!
//! No function here unwinds: a panic becomes [`crate::abi::PANICKED`]. Handles are boxes; the host
//! guarantees that they are valid, as the table's documentation says.

mod acceptor;
mod connection;
mod guard;
mod lent;
mod link;
mod received;

pub use link::open;

use crate::abi::{Failure, MAGIC, RESIDENT, RawLink, SIGNATURE, Table, VERSION};
use std::ffi::c_int;
use std::mem;

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
        drop_link: Some(link::discard),
        name: Some(link::name),
        guarantees: Some(link::guarantees),
        connect: Some(link::connect),
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
