//! Host of a service: everything that the process of a CORBA service needs in addition to the
//! service's domain logic.
//!
//! | module | contents |
//! |---|---|
//! | [`service`] | the [`Service`] trait: name, objects, readiness, metrics; the [`Turn`] of one of several processes |
//! | [`run`] | [`run::run`], which starts the ORB, publishes, serves, notifies systemd and shuts down in order |
//! | [`store`] | an embedded database in one file: locked, versioned, guarded against panics; typed records |
//! | [`commit`] | group commit: one commit for the changes of all callers that wait |
//! | [`access`] | the peer of a request, and rules on the changes it may make |
//! | [`settings`] | flags and a TOML file from one table of keys |
//! | [`status`] | liveness, readiness and metrics by HTTP |
//! | [`metrics`] | counters of operations, and Prometheus' text format |
//! | [`systemd`] | readiness, watchdog and stop notifications |
//! | [`publish`] | initial reference, IOR table, reference file, name in a Naming Service |
//! | [`making`] | the number of long answers that are made at a time |
//! | [`log`] | log lines on standard error |
//!
//! `services/README.md` describes how a new service uses it. There is no async runtime: blocking
//! work has its own threads.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod access;
pub mod commit;
pub mod log;
pub mod making;
pub mod metrics;
mod problem;
pub mod publish;
pub mod run;
pub mod service;
pub mod settings;
pub mod status;
pub mod store;
pub mod systemd;

pub use problem::Problem;
pub use punctual_sys::quota::memory;
pub use service::{NotReady, ServeError, Service, Turn};
