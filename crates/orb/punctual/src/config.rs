//! Values of an ORB's configuration, which [`OrbConfig`](crate::OrbConfig) is made of, and its errors.
//!
//! A program needs this module when it configures its ORB in code instead of by options or by a file.
//!
//! ```
//! use punctual::config::GiopVersion;
//! use punctual::prelude::*;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let orb = Orb::builder()
//!     .configure(|config| config.giop_version = GiopVersion::V1_1)
//!     .build()?;
//! # drop(orb);
//! # Ok(()) }
//! ```

pub use punctual_cdr::{GiopVersion, Limits};
pub use punctual_orb::{
    Budgets, Concurrency, ConfigError, DurationError, PoolSize, ReplyHandlers, Timeouts, Trace,
    parse_duration,
};
