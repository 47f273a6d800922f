//! Tests of the schedules' library.
#![allow(clippy::unwrap_used)]

mod admission;
mod assignment;
mod draw;
mod extremes;
mod fixed_priority;
mod measured;
mod plan;
mod published;
mod second;
mod simulation;
mod strategies;
mod timeline;
