//! Tests of the real-time event service: its interface, forms of events, links to other channels, refusals.
#![allow(missing_docs, clippy::unwrap_used)]

mod addresses;
mod channel;
mod clients;
mod common_pool;
mod datagrams;
mod forms;
mod hostile;
mod hung;
mod inspect;
mod lanes;
mod leases;
mod levels;
mod links;
mod observers;
mod scheduler;
mod settings;
mod support;
mod typed;
mod warm;
