//! Service contexts of fixed size, which requests can carry in the prepared headers of the fast path
//! (CORBA 3.3 part 2, §9.7).
//!
//! A fixed-size context has a slot in the prepared header of a message. A client writes the
//! context's data into the slot for each request ([`RequestContext`]). A server recognises a request with few
//! such contexts quickly, and answers one with a single context by a prepared header that has a slot
//! of equal size ([`ReplyContexts`]). None of this allocates or locks.
//!
//! A context of four bytes is called a *word*. Both sides handle words specially:
//!
//! - A client writes a word that encodes the calling thread's priority from a [`WordLayout`],
//!   without a virtual call.
//! - A server's thread remembers the last word that determined its scheduling ([`RunsAt::obeys`]).
//!   For a request with an equal word ([`ObeyedWord`]) the thread takes on that scheduling again,
//!   without decoding the word.
//!
//! Real-time CORBA is the first user (RTCorbaPriority, in `punctual_rt`). This module does not know
//! the meaning of a word.

mod reply;
mod request;
mod thread;
mod word;

pub(crate) use reply::{ReplyContexts, ShortContext};
pub use request::{CallPolicies, RequestContext, RequestContextError};
pub(crate) use request::{check, wanted};
pub use thread::RunsAt;
pub(crate) use word::{ContextWord, WORD};
pub use word::{ObeyedWord, WordLayout};
