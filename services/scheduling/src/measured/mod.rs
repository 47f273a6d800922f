//! Measured operations: a model made of them, and their comparison with a plan.
//!
//! The ORB measures (`-ORBRecord`, `punctual_orb::measurement`); [`Measurements`] is the form of its
//! file.

mod compare;
mod file;
mod model;
mod noise;

pub use compare::{Compared, Finding, compare};
pub use file::{MeasuredOperation, Measurements, Times};
pub use model::{Margin, MarginError, write_model};
pub use noise::{Gap, most_taken};
