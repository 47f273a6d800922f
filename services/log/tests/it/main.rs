//! Tests of the Telecom Log Service: each operation, what makes logs full, off duty and disabled, queries, restarts and
//! kills of the process.
#![allow(missing_docs, clippy::unwrap_used)]

mod access;
mod attributes;
mod event_logs;
mod factory;
mod hostile;
mod interface;
mod kills;
mod notices;
mod notify;
mod notify_factory;
mod notify_kills;
mod notify_logs;
mod notify_pulling;
mod notify_restarts;
mod omniorb;
mod queries;
mod record_attributes;
mod removing;
mod restarts;
mod settings;
mod support;
mod writing;
