//! Real-time CORBA over the wire.
#![allow(clippy::unwrap_used, unreachable_pub)]

mod deadline_lanes;
mod distributable_threads;
mod lanes;
mod pools;
mod priority_model;
mod segment_limits;
mod segments;
mod setting;
mod settings;
#[path = "../support/mod.rs"]
mod support;
