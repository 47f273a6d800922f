//! Messages over a connection: what comes in, what goes out, and a look at both.
//!
//! The one place where messaging meets transport. GIOP is the one protocol so far.

mod inbox;
mod outbox;
mod trace;

pub(crate) use inbox::{Inbox, InboxError, Message, Taken};
pub(crate) use outbox::{Fragmenting, send, send_control};
pub(crate) use trace::{Direction, Tracer};
