//! Implementation of [`relay`](crate::relay), whose documentation gives the invariants.

mod body;
mod reply;
mod request;
mod terms;

pub use body::RawBody;
pub use reply::RelayedReply;
pub use request::{MAX_HOPS, RelayedRequest};
pub use terms::Terms;

pub(crate) use request::{put_reply_head, refused};
pub(crate) use terms::{on_terms, under_key};
