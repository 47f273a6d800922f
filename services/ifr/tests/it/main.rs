//! The Interface Repository on the host: faults of its store, access, metrics, settings.
#![allow(missing_docs, clippy::unwrap_used)]

mod changes;
mod faults;
mod settings;
