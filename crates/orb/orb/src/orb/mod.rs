//! The ORB's interface for applications: start, protocols, endpoints, and shutdown.

#[cfg(test)]
mod answer_tests;
mod bidirectional;
mod block_on;
#[cfg(test)]
mod closure_adapter;
mod current;
mod handle;
#[cfg(test)]
mod inheriting_tests;
mod initialize;
mod listening;
mod main_thread;
mod process;
mod proxies;
mod reach;
mod run_error;
mod start;
mod task;
mod values;

pub use current::PiCurrent;
pub(crate) use handle::{MakeProxy, Registered, UnproxiedObject};
pub use handle::{Orb, WeakOrb};
pub use initialize::{OrbInitInfo, OrbInitializer};
pub(crate) use process::listening;
pub use reach::{Reached, Unreachable};
pub use run_error::RunError;
pub use start::{InitError, OrbBuilder};
pub use task::BoxFuture;
