//! Integration tests: one program, a module for each subject.
#![allow(clippy::unwrap_used)]

#[cfg(feature = "tls")]
#[path = "support/authority.rs"]
mod authority;
mod bidirectional;
mod bridge;
mod bridge_raw;
mod buffer_policies;
mod buffering;
mod bulk;
mod calls;
mod code_sets;
mod concurrency;
mod connections;
mod contexts;
mod deadlines;
mod defined_policies;
mod end_times;
mod errors;
mod foreign_references;
mod hostile;
mod late;
mod lending;
mod long_arguments;
mod long_results;
mod multicast;
mod never_activated;
mod not_exist;
mod own_end;
mod poa;
mod policies;
mod profiles;
mod protocols;
mod published_endpoints;
mod rebind;
mod reconfigure;
mod references;
mod stop_signals;
mod support;
mod sync_scope;
mod tls;
mod unset_priority;
