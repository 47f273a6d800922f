//! A bridge between two protocols: what passes, what is refused, and what becomes of both when one side
//! fails.
#![allow(clippy::unwrap_used)]

mod bridged;
mod calls;
mod failures;
mod references;
#[cfg(feature = "tls")]
mod tls;
mod user_exceptions;
mod versions;
