//! Alarms of a network, as telecom management passes them through a Notification Service.
//!
//! ```text
//! alarm      severities, and alarms as the manager lists them
//! form       the two forms of events: tmf, of TMF 814, and itf_n, of 3GPP's Itf-N
//! fields     properties of an event's filterable data
//! time       times as both forms write them
//! list       active alarms: raised, changed and cleared; events that repeat
//! sources    management systems, and when each was heard
//! exit       ends of both programs
//! channel    the channel, which both programs find by the service's factory
//! ```
//!
//! `alarm-element` is the supplier, `alarm-manager` the consumer.

mod alarm;
pub mod channel;
pub mod exit;
mod fields;
mod form;
mod itf_n;
mod list;
mod sources;
mod time;
mod tmf;

pub use alarm::{Alarm, Notice, Report, Severity};
pub use form::{Form, Reading, alarm_types, clear_types, heartbeat_types, read};
pub use list::{AlarmList, Change};
pub use sources::{SourceState, Sources};
pub use time::now;
pub use tmf::CLEARED;

/// Rust code that the IDL compiler generates from the types of TMF 814.
mod idl {
    include!(concat!(env!("OUT_DIR"), "/tmf814.rs"));
}

pub use idl::{globaldefs, notifications};
