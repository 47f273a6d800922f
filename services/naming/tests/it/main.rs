//! Tests of the Naming Service in the service host: faults of its store, its settings.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../../../crates/orb/punctual/tests/it/support/alone.rs"]
mod alone;
#[path = "../../../../crates/orb/punctual/tests/it/support/authority.rs"]
mod authority;
mod faults;
mod full_disk;
mod groups_served;
mod jacorb;
mod memory;
mod naming;
mod settings;
mod stores;
#[path = "naming/support.rs"]
mod support;
