//! A bridge between two protocols: what passes, what is refused, and what becomes of both when one side
//! fails.
#![allow(clippy::unwrap_used)]

#[cfg(feature = "tls")]
#[path = "../support/authority.rs"]
mod authority;
mod bridged;
mod calls;
mod failures;
mod references;
#[path = "../support/mod.rs"]
mod support;
#[cfg(feature = "tls")]
mod tls;
mod user_exceptions;
mod versions;
