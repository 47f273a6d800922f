//! Tests of the schedules' library.
#![allow(clippy::unwrap_used)]

mod admission;
mod extremes;
mod fixed_priority;
mod published;
mod second;
mod simulation;
