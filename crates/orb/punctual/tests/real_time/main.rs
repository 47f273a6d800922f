//! Real-time CORBA over the wire.
#![allow(clippy::unwrap_used, unreachable_pub)]

mod bands;
mod buffering;
mod crowded;
mod lanes;
mod object_priorities;
mod pools;
mod priority_model;
mod protocols;
mod setting;
mod settings;
#[path = "../support/mod.rs"]
mod support;
mod timeline;
