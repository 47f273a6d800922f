//! Tests of the Interface Repository in the service host: faults of its store, access, metrics,
//! settings.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../../../crates/orb/punctual/tests/it/support/alone.rs"]
mod alone;
mod ancestry;
mod browse;
mod changes;
mod characters;
mod faults;
mod full_disk;
mod hostile;
mod jacorb;
mod large_answers;
mod quota;
mod reopened;
mod settings;
mod support;
