//! What the calling thread is serving (PortableServer::Current, CORBA 3.3 part 1, §15.3.10).
//!
//! Each thread has a stack of the upcalls that it is in ([`upcalls`]). Entering one writes a few numbers, and
//! the id where it is not the entry; what they mean is looked up only when somebody asks ([`api`]).

mod api;
mod upcalls;

pub(crate) use api::serving;
pub use api::{Current, NoContext};
pub(crate) use upcalls::{
    Engaged, Inside, InsideEntry, adapter_in_upcall, is_in_upcall_of, is_in_upcall_on,
};
