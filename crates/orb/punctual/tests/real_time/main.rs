//! Real-time CORBA over the wire.
#![allow(clippy::unwrap_used, unreachable_pub)]

mod buffering;
mod lanes;
mod pools;
mod priority_model;
mod setting;
mod settings;
#[path = "../support/mod.rs"]
mod support;
mod timeline;
