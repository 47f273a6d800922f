//! Connections that this side has opened: what calls go out by.
//!
//! [`connection`] is one, shared by any number of callers; requests leave by [`send`], what comes is
//! passed on by [`receive`], and its callers stand in the [`reply_table`] while they [`wait`]. The lane's
//! connections are in the [`cache`].

mod awaited;
mod binding;
mod buffer;
mod buffered;
mod cache;
mod callers;
pub(crate) mod chosen;
mod connection;
mod delivered;
mod endpoint;
mod flusher;
mod gathering;
mod give_up;
mod last_words;
mod opened_for;
mod queue;
mod receive;
mod remarks;
mod reply_table;
#[cfg(test)]
mod reply_table_tests;
mod requests;
mod send;
mod sender;
mod serves;
mod slot;
mod spare;
mod to_endpoint;
mod wait;
mod watch;
mod watching;
mod wire_format;

pub(crate) use awaited::AwaitedReply;
pub(crate) use binding::{Binding, Bound};
pub(crate) use buffer::NotBuffered;
pub(crate) use cache::{ConnectionCache, Wanted};
pub(in crate::lane) use cache::{open, still_wanted};
pub(crate) use connection::{ClientConnection, PendingReply};
pub(crate) use delivered::{Broken, NoReply, Waited};
pub(crate) use endpoint::Endpoint;
pub(crate) use flusher::Flusher;
pub(crate) use last_words::at_thread_end;
pub(in crate::lane) use opened_for::OpenedFor;
pub(crate) use queue::Waiting;
pub(crate) use reply_table::MAX_WAITING;
pub(crate) use requests::{ServesBack, can_serve_back};
pub(crate) use serves::ServesRequests;
pub(in crate::lane) use spare::LOOKS;
pub(in crate::lane) use to_endpoint::ToEndpoint;
