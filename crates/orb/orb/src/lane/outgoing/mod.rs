//! Connections that this side has opened, by which calls go out.
//!
//! [`connection`] is one, shared by any number of callers. Its parts have a room each:
//!
//! | room | what is in it |
//! |---|---|
//! | [`calls`] | the table of callers that wait for replies, and which of them reads |
//! | [`wait`] | how a caller waits for its reply: it reads, or serves a reactor |
//! | [`sending`] | messages onto the link at once, and floods of one-ways |
//! | [`buffering`] | one-ways that wait to be sent together, and the threads that send them in time |
//! | [`receiving`] | what has been read, and for which caller it is |
//! | [`replies`] | replies that no thread waits for |
//! | [`callbacks`] | requests that the server sends back by the connection |
//! | [`pool`] | the lane's connections by endpoint, and which of them a call is bound to |

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
