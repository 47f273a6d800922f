//! Replies that no thread waits for: their calls have been put away.

mod awaited;
mod watch;
mod watching;

pub(crate) use awaited::AwaitedReply;
pub(in crate::lane::outgoing) use watch::Watch;
