//! Calls on objects of this process, which go to their servants without a request.
//!
//! A generated stub asks its reference first ([`crate::ObjectRef::call`]). Where the object is, is found
//! out at the first call and kept ([`locality`]): a reference to an object elsewhere pays a look at one octet
//! from then on. An object of this process is called on the caller's thread, through its adapter or past it
//! ([`call`](mod@call); [`crate::Collocation`]), as what its skeleton provides ([`crate::Provided`]).
//!
//! What can be told from the wire is as over the wire, but for time-outs, which end no call that is not waited
//! for, and for bounds, which are checked where something is marshaled. The caller's ORB stays that of the
//! references that it passes. Operations of `CORBA::Object`, and calls by hand
//! ([`crate::ObjectRef::invoke`]), are requests always.
//!
//! Where either end's ORB has interceptors, the call goes between them ([`intercepted`]), and through its adapter always.
//!
//! Whatever is unusual goes by the wire, which knows what to do: an ORB that has ended, a forward, a servant
//! that has no such interface, an adapter that wants its own thread.

mod call;
mod intercepted;
mod locality;

pub(crate) use call::{call, one_way};
pub(crate) use locality::{Caller, Locality};
