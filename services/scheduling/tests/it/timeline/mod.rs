//! Tests of simulated plans.

mod bounds;
pub(crate) mod models;
mod runs;
