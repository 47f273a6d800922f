//! The Naming Service on the host: faults of its store, its settings.
#![allow(missing_docs, clippy::unwrap_used)]

mod faults;
mod settings;
mod stores;
