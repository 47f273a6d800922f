//! Groups of objects. A service determines the members; this crate records their loads and whether
//! they are alive, and chooses among them.
//!
//! | module | contents |
//! |---|---|
//! | `choice` | [`Choice`], the strategies |
//! | `knowledge` | [`Groups`]: turns, loads and failures of members, by group |
//! | `liveness` | [`Checking`], a thread that asks all members if they exist |
//! | `answer` | [`Answer`] of an object that was asked |
//! | `merge` | one reference with the profiles of several |
//!
//! These data do not survive a restart, and are not shared with other processes.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod answer;
mod choice;
mod knowledge;
mod liveness;
mod merge;

pub use answer::Answer;
pub use choice::Choice;
pub use knowledge::{Chosen, Groups, Members, Status};
pub use liveness::{Checking, Watched};
pub use merge::{MOST_MERGED, merged};
