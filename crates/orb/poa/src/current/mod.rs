//! Upcall that the calling thread is serving (PortableServer::Current, CORBA 3.3 part 1, §15.3.10).
//!
//! Each thread has a stack of its upcalls ([`upcalls`]). Entering one writes a few numbers, and the
//! object's id unless that is its map entry; only a query interprets them ([`api`]).

mod api;
mod upcalls;

pub(crate) use api::serving;
pub use api::{Current, NoContext};
pub(crate) use upcalls::{
    EndingObject, InsideEntry, UpcallScope, adapter_in_upcall, is_in_upcall_of, is_in_upcall_on,
};
