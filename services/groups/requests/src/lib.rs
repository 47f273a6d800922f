//! Members of object groups that run requests from records: members of passive groups that log their requests (the logging
//! mechanism of Fault Tolerant CORBA), and what `punctual-groups-active` shares with them.
//!
//! ```text
//!  client ──► guard ──► front ──► log at the service ──► runner ──► servant
//!    ▲                    │                                │
//!    └────────────────────┴──────── reply ◄────────────────┘
//! ```
//!
//! | module | contents |
//! |---|---|
//! | `member` | [`LoggedMember`]: its beginning and its end |
//! | `front` | the servant that clients call: it tells requests that change the state from those that read it |
//! | `queue` | requests on their way to the thread that stores and runs them |
//! | `answers` | the thread that gives answers |
//! | `log` | a request is stored, and then run; checkpoints; requests that are run again on a checkpoint |
//! | `behind` | the two objects of a member: the one that clients call, and the one behind it |
//! | `runner` | runs requests on the servant, and keeps replies |
//! | `replies` | replies to requests that clients may repeat |
//! | `record` | requests and replies as records |
//! | `digest` | by which members compare replies |
//!
//! The servant has to be deterministic: its state and its replies depend on its state before and on the requests alone.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod answers;
mod behind;
mod digest;
mod front;
mod log;
mod member;
mod pace;
mod queue;
mod record;
mod replies;
mod runner;

pub use answers::{Answer, refuse, start_answering};
pub use behind::Behind;
pub use digest::digest_of;
pub use member::{LoggedMember, LoggedOptions};
pub use record::bytes_of;
pub use replies::Bound;
pub use runner::{Outcome, Runner};

include!(concat!(env!("OUT_DIR"), "/requests.rs"));

/// Records that members of passive groups store.
mod stored {
    include!(concat!(env!("OUT_DIR"), "/passive.rs"));
}
