//! Tests of the Notification Service: each operation, events between clients of every kind, filters, quality of service,
//! limits, and clients that fail.
#![allow(missing_docs, clippy::unwrap_used)]

mod clients;
mod connections;
mod crossing;
mod failing;
mod filters;
mod mapping;
mod omniorb;
mod quality;
mod settings;
mod support;
mod topology;
mod types;
