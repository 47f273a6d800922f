//! Schedules: operations and what they need, the proof that they meet their deadlines, and the
//! priorities that follow (Schmidt, Levine and Mungee 1998; the papers call the needs of an
//! operation its `RT_Info`).
//!
//! A library of pure functions: no threads, no clock, no I/O, and no ORB.
//!
//! ```text
//! model     operations, calls, hosts, mutexes; read from TOML and IDL
//! graph     order of calls; rates and deadlines passed from suppliers to consumers
//! analysis  response times of the tasks of one processor; over hosts in analysis::holistic
//! assignment, strategy    priorities, processors, admission
//! plan      the outcome: priority, processor and response time of each operation
//! admission activities of a plan that come and go while the system runs
//! measured  a model made of measured times; the plan beside what ran
//! ```
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod admission;
pub mod analysis;
pub mod assignment;
pub mod chains;
pub mod draw;
mod level;
pub mod measured;
pub mod model;
pub mod plan;
pub mod release;
pub mod strategy;
mod time;
pub mod timeline;

pub use level::Level;
pub use punctual_idl::time::TimeError;
pub use time::Time;
