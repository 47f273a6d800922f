//! Client side of a lane: the connections that this side has opened.
//!
//! [`connection`] is one connection, shared by any number of callers. Its parts have a module each:
//!
//! | module | contents |
//! |---|---|
//! | [`calls`] | the table of callers that wait for replies, and the choice of the caller that reads |
//! | [`wait`] | strategies of waiting for a reply: the caller reads, or serves a reactor |
//! | [`sending`] | immediate sending of messages, and floods of one-ways |
//! | [`buffering`] | one-ways that are collected and sent together, and the threads that send them in time |
//! | [`receiving`] | reading of messages, and their delivery to callers |
//! | [`replies`] | replies that no thread waits for |
//! | [`callbacks`] | requests that the server sends back over the connection |
//! | [`pool`] | the lane's connections by endpoint, and the binding of calls to them |

mod buffering;
mod callbacks;
mod calls;
mod connection;
mod pool;
mod receiving;
mod replies;
mod sending;
mod thread_end;
mod wait;

pub(crate) use buffering::{Flusher, NotBuffered, Waiting};
pub(crate) use callbacks::{ServesBack, ServesRequests, can_serve_back};
pub(crate) use calls::{Broken, MAX_WAITING, NoReply, PendingReply, Waited};
pub(crate) use connection::ClientConnection;
pub(crate) use pool::{Binding, Bound, ConnectionCache, ConnectionTerms, Endpoint, chosen};
pub(in crate::lane) use pool::{LOOKS, OpenedFor, ToEndpoint, open, still_wanted};
pub(crate) use replies::AwaitedReply;
pub(crate) use thread_end::at_thread_end;
