//! Tests of schedules at run time.
#![allow(clippy::unwrap_used)]

mod admission;
mod expected;
mod keeping;
mod machine;
mod noise;
mod queues;
mod rehearsal;
mod schedule;
mod setting;
