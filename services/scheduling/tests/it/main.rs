//! Tests of the schedules' library.
#![allow(clippy::unwrap_used)]

mod fixed_priority;
mod second;
mod simulation;
