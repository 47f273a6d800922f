//! Asynchronous calls and servants that answer later, beyond a single poller, reply handler or response.
//!
//! A client needs this module to wait for the first of several calls ([`PollableSet`]); a server, when servants keep their
//! requests ([`Amh`]) or have operations that are `async` ([`Async`]). [`Poller`](crate::Poller),
//! [`ReplyHandler`](crate::ReplyHandler) and [`Response`](crate::Response) are in the root of the crate; how many calls may
//! be in flight is a policy, [`CallsInFlight`](crate::policy::CallsInFlight).

pub use punctual_orb::{
    AnswerError, BoxFuture, PendingReply, Pollable, PollableId, PollableKey, PollableSet,
    PollableSetError,
};
pub use punctual_poa::{Amh, Async, Spawn};
