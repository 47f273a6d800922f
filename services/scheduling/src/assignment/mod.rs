//! Assignment of priorities to tasks, and of tasks to processors.
//!
//! ```text
//! rank         rate monotonic, deadline monotonic, criticality first
//! audsley      optimal priorities where no monotonic order is optimal
//! packing      many abstract priorities on few native ones
//! partition    tasks on processors; search where the heuristics fail
//! sensitivity  changes that mend a set, and slack of a set that fits
//! prepared     responses of a placed set, kept for single changes
//! lineup, load, decision     the test that all of them share: exact, with cheap bounds first
//! ```

pub mod audsley;
mod decision;
pub(crate) mod lineup;
pub(crate) mod load;
pub mod packing;
pub mod partition;
pub mod prepared;
pub mod rank;
pub mod sensitivity;

pub use lineup::fits;
pub use rank::{Candidate, Order};
