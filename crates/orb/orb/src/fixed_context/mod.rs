//! Service contexts of fixed size: the fast path has them in place of interceptors (CORBA 3.3 part
//! 2, §9.7).
//!
//! A fixed-size context has a slot in the prepared head of a message. A client writes its data into
//! the slot for each request ([`RequestContext`]); a server recognises it quickly, as the one
//! context of a plain request, and answers with a prepared head that has a slot of the same size
//! ([`ReplyContexts`]). None of this allocates or locks.
//!
//! A context of four bytes is a *word*, for which both sides have a path of their own:
//!
//! - A client writes a word that encodes the calling thread's priority from a [`WordLayout`],
//!   without a virtual call.
//! - A server's thread remembers the last word that it obeyed ([`RunsAt::obeys`]). A request with
//!   the same word
//!   ([`ObeyedWord`]) has the thread run as it did then, without decoding the word.
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
