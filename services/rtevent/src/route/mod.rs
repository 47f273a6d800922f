//! Routing: which consumers receive events of a type and source.
//!
//! ```text
//! hash        hashing of types and sources
//! connection  a consumer's connection: its link and its mailboxes
//! subscribed  a subscription made ready
//! target      route: what consumers do with events of one type and source, the most urgent first
//! table       all subscriptions, and the routes that are kept
//! deliver     delivery of events to consumers and mailboxes, by their levels
//! ```

mod connection;
mod deliver;
mod hash;
mod subscribed;
mod table;
mod target;

pub(crate) use connection::Connection;
pub(crate) use deliver::Deliveries;
pub(crate) use subscribed::{Due, Subscribed};
pub(crate) use table::{Refused, Table};
