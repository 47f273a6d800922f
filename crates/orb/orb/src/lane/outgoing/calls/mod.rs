//! Callers of one connection, from their requests to their replies.
//!
//! Each has an entry in the [`reply_table`] with a [`slot`] in which its reply is delivered;
//! [`callers`] decides which of them reads the connection.

mod abandon;
mod callers;
mod delivered;
mod pending;
mod reply_table;
#[cfg(test)]
mod reply_table_tests;
mod slot;

pub(in crate::lane::outgoing) use callers::{Callers, Followed};
pub(in crate::lane::outgoing) use delivered::Delivered;
pub(crate) use delivered::{Broken, NoReply, Waited};
pub(crate) use pending::PendingReply;
pub(crate) use reply_table::MAX_WAITING;
pub(in crate::lane::outgoing) use reply_table::ReplyPlace;
