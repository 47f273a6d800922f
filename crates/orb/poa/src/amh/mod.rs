//! Servants that answer later: asynchronous method handling (AMH), and servants with `async`
//! operations.
//!
//! The skeleton of such a servant takes the arguments out of a request, makes a [`Response`] of the
//! data that its reply needs, and gives both to the servant, whose method may return before the
//! answer is given ([`Amh`]). A call from within the process waits for its answer on the caller's
//! thread ([`Blocking`]). A servant with `async` operations lets a future answer ([`Async`]).
//!
//! An unanswered request is in progress: it is counted at its POA until it is answered
//! ([`crate::adapter::HeldRequest`]). Its upcall is over, however: the POA's work around and after
//! upcalls is done when the servant's method returns.

mod asynchronous;
mod blocking;
mod here;
mod response;
mod servant;

pub use asynchronous::{Async, Spawn};
pub use blocking::Blocking;
pub use response::{AnswerWith, Response};
pub use servant::Amh;
