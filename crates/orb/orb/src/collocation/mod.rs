//! Calls on objects of this process, which go to their servants without a request.
//!
//! A generated stub asks its reference first ([`crate::ObjectRef::call`]). The locality of the
//! object is determined at the first call and kept ([`locality`]): a reference to an object
//! elsewhere pays for reading one byte from then on. An object of this process is called on the
//! caller's thread, through its adapter or past it ([`call`](mod@call); [`crate::Collocation`]), by
//! the interface that its skeleton provides ([`crate::Provided`]).
//!
//! Observable behaviour is as over the wire, but for time-outs, which do not end a call that is not
//! waited for, and for bounds, which are checked only in marshaling. The caller's ORB stays that of
//! the references that it passes. Operations of `CORBA::Object`, and calls by hand
//! ([`crate::ObjectRef::invoke`]), are always requests.
//!
//! Where either end's ORB has interceptors, the call goes between them ([`intercepted`]), and
//! always through its adapter.
//!
//! All unusual cases go by the wire, which handles them: an ORB that has ended, a forward, a
//! servant that has no such interface, an adapter that wants its own thread.

mod call;
mod intercepted;
mod locality;

pub(crate) use call::{call, one_way};
pub(crate) use locality::{Caller, Locality};
