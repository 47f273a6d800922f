//! Real-time CORBA over the wire.
#![allow(clippy::unwrap_used, unreachable_pub)]

mod bands;
mod buffering;
mod crowded;
mod deadline_lanes;
mod distributable_threads;
mod lanes;
mod mutexes;
mod network_priorities;
mod object_priorities;
mod pools;
mod priority_model;
mod protocols;
mod segment_limits;
mod segments;
mod setting;
mod settings;
#[path = "../it/support/mod.rs"]
mod support;
mod timeline;
mod two_processes;
