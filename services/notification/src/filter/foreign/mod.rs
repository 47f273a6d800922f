//! Foreign filters: objects of other servers, which are asked about each event by a call that no thread waits for.
//!
//! ```text
//! core        the filter: one call at a time, and its failures
//! question    one event that it is asked about
//! opinion     what all filters of an object say of an event
//! rest        the time in which a filter that did not answer is not asked
//! ```
//! No verdict is kept: the constraints of a foreign filter may change between two events, so that it needs no callback to
//! tell of that (`attach_callback`), and none is attached.

mod core;
mod opinion;
mod question;
mod rest;
#[cfg(test)]
mod tests;

pub(crate) use self::core::Foreign;
pub(super) use self::core::Target;
pub(crate) use opinion::Opinion;
pub(crate) use question::{Answer, Asked, Question, Questions, Waiter};
