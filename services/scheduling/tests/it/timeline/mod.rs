//! Tests of simulated plans.

mod bounds;
mod models;
mod runs;
