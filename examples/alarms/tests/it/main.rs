//! The two programs of the example, and a service process that is killed and started again.
#![allow(missing_docs, clippy::unwrap_used)]

mod failures;
mod forms;
mod list;
mod manager;
mod mistakes;
mod restarts;
mod service;
mod support;
