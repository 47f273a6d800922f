//! Members of object groups with active replication: each member runs all requests, in the order of a log that they share
//! (Fault Tolerant CORBA, style ACTIVE; `punctual_durable::EventLog`, as JetStream has it for several hosts).
//!
//! ```text
//!  client ──► front (any member) ──► appender ──► log ──► each member: executor ──► its servant
//!    ▲                                                        │
//!    └──────────── the member that took the request ◄─────────┘
//! ```
//!
//! | module | contents |
//! |---|---|
//! | `member` | [`ActiveMember`]: its beginning and its end |
//! | `front` | the servant that clients call: requests become entries of the log; the thread that answers them |
//! | `appender` | the thread that appends entries, many at once |
//! | `executor` | the thread that runs the log's requests on the servant, one at a time |
//! | `digest` | by which members notice that the log has lost an entry for some of them |
//! | `start` | how a member gets its state: from the service of groups, or as the first one by founding the group |
//! | `runs` | requests that come into the log twice or late, which are not run |
//! | `record` | entries and states as bytes |
//!
//! Requests are run from their records, and replies kept, by `punctual-groups-requests`: the same ones at all members.
//!
//! The servant has to be deterministic: its state and replies depend on its state before and on the requests alone. All members
//! run a request's own calls, too.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod appender;
mod digest;
mod executor;
mod front;
mod member;
mod record;
mod runs;
mod start;

pub use member::{ActiveError, ActiveMember, ActiveOptions};

include!(concat!(env!("OUT_DIR"), "/records.rs"));
