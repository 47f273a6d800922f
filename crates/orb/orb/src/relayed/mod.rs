//! Parts of an in-line bridge: requests and replies that are passed on with their bodies unchanged.
//!
//! A message's header is decoded and encoded again, since ids, keys and protocols differ on the two
//! sides; its body is copied as bytes. The body is valid on the other side if GIOP version, code
//! sets and byte order are equal ([`Terms`]), and if it begins at an equal alignment.
//! [`ServerCall::passed_on`] takes a request as it arrived, [`crate::ObjectRef::relay`] makes the
//! call, and [`ServerCall::pass_back`] answers with the reply as it arrived (Schmidt et al. 2001,
//! §3.4.2).
//!
//! [`ServerCall::passed_on`]: crate::ServerCall::passed_on
//!
//! [`ServerCall::pass_back`]: crate::ServerCall::pass_back

mod body;
mod reply;
mod request;
mod terms;

pub use body::RawBody;
pub use reply::RelayedReply;
pub use request::{MAX_HOPS, RelayedRequest};
pub use terms::Terms;

pub(crate) use request::{put_reply_head, refused};
pub(crate) use terms::on_terms;
