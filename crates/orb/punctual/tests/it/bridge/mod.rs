//! Bridge between two protocols: requests that pass, requests that are refused, and failures of one
//! side.
#![allow(clippy::unwrap_used)]

mod bridged;
mod calls;
mod failures;
mod references;
#[cfg(feature = "tls")]
mod tls;
mod user_exceptions;
mod versions;
