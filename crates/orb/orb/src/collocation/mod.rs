//! Calls on objects of this process, which go to their servants without a request.
//!
//! A generated stub calls through its reference ([`crate::ObjectRef::call`]). The locality of the
//! object is determined at the first call and kept ([`locality`]); for a remote object, later calls
//! read only one byte for it. An object of this process is called on the caller's thread, through
//! its adapter or past it ([`call`](mod@call); [`crate::Collocation`]), by the interface that its
//! skeleton provides ([`crate::Provided`]).
//!
//! Calls behave as over the wire, with two exceptions: time-outs do not interrupt a servant that
//! runs on the caller's thread, and bounds of IDL types are not checked, as that happens in
//! marshaling. References that are passed keep belonging to the caller's ORB. Operations of
//! `CORBA::Object`, and calls without a stub ([`crate::ObjectRef::invoke`]), are always requests.
//!
//! If the ORB of either end has interceptors, they are called around the servant ([`intercepted`]),
//! and the call always goes through the adapter.
//!
//! All unusual cases are handled by sending a request: an ORB that has ended, a forward, a servant
//! that has no such interface, an adapter that requires its own thread.

mod call;
mod intercepted;
mod locality;

pub(crate) use call::{call, one_way};
pub(crate) use locality::{Caller, Locality};
