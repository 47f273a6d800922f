//! Configuration: one public struct of defaults that can be overridden.
//!
//! It comes from code, then a TOML file, then `-ORB…` options, each overriding the one before it. An unknown
//! key or option is an error, and an invalid value prevents the ORB from starting. The module `settings` has
//! the table of all keys and options.

mod budgets;
mod collocation;
mod concurrency;
mod duration;
mod endpoint;
mod error;
mod fault_tolerance;
mod initial_reference;
mod network_priority;
mod orb_config;
mod real_time;
mod reply_handlers;
mod reservation;
mod settings;
mod timeouts;
mod trace;

pub use budgets::Budgets;
pub use collocation::CollocationScope;
pub use concurrency::{Concurrency, PoolSize};
pub use duration::{DurationError, parse_duration};
pub use endpoint::ListenEndpoint;
pub use error::ConfigError;
pub use fault_tolerance::FaultToleranceSettings;
pub(crate) use initial_reference::has_scheme;
pub use network_priority::{DscpByPriority, NetworkDirection, NoDscpByPriority};
pub use orb_config::OrbConfig;
pub use real_time::{
    AboveHighest, Discipline, DynamicSchedulingSettings, NativePolicy, RealTime, RealTimeSettings,
    StandardMapping,
};
pub use reply_handlers::ReplyHandlers;
pub(crate) use reservation::pool_size as pool_size_of_reservation;
pub use timeouts::Timeouts;
pub use trace::Trace;
