//! Tests of the schedules' library.
#![allow(clippy::unwrap_used)]

mod assignment;
mod draw;
mod fixed_priority;
mod plan;
mod strategies;
mod timeline;
