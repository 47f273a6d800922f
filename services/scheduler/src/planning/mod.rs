//! Planning: from the operations of a scheduler to their places.
//!
//! ```text
//! considered  the enabled operations, as a model of the library
//! rates       the admitted rate of each operation that has several
//! places      level, sub-priority and native priority of each operation; queues of the levels
//! anomalies   observations, for the client
//! ```

mod anomalies;
mod compute;
mod considered;
mod places;
mod rates;

pub(crate) use compute::{Computed, Request, compute};
pub(crate) use places::Priorities;
