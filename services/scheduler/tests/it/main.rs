//! Tests of the scheduling service: its interface, its schedules, persistence, and refusals.
#![allow(missing_docs, clippy::unwrap_used)]

mod anomalies;
mod changes;
mod dynamic;
mod hostile;
mod interface;
mod schedules;
mod settings;
mod stored;
mod support;
