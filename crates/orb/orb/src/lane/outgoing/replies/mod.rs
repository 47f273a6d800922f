//! Replies to suspended calls, for which no thread waits.

mod awaited;
mod watch;
mod watching;

pub(crate) use awaited::AwaitedReply;
pub(in crate::lane::outgoing) use watch::Watch;
