#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]
//! In-line bridge: requests that arrive by one protocol leave by another, and their bodies are not
//! unmarshaled in between (Schmidt et al. 2001, §3.4.2, where an ORB bridges other ORBs and remote
//! terminals).
//!
//! A [`Bridge`] is the object adapter of its ORB. Whatever object key a request names, unless
//! [`BridgeOptions::objects`] excludes it, the bridge passes the request on to the target's server,
//! to the object of that key, and passes the reply back: results and exceptions unchanged, forwards
//! followed. The message header is written anew in the messaging protocol of the other side;
//! service contexts are passed on, except those that concern one connection.
//!
//! **What both sides must share.** A body's octets mean the same on both sides only in the same
//! GIOP version and the same code sets. The bridge calls its target in the version and in the code
//! sets of its client, if the target has them; otherwise the request is refused with IMP_LIMIT or
//! CODESET_INCOMPATIBLE. A request whose byte order is not the machine's is refused, too, if the
//! target's protocol has only the machine's byte order (GIOPlite). [`Bridge::reference`] announces
//! the target's own version and code sets, so that clients that use this reference get neither
//! error. Protocols without service contexts drop them.
//!
//! **Threads.** A request that is passed on occupies its thread until the reply arrives. Meanwhile
//! another thread receives on the request's connection if more data has arrived on it, or if the
//! reply takes longer than a short time; otherwise a bridge causes no change of threads.
//!
//! **References inside bodies** stay as they are, unless [`BridgeOptions::rewrite_references`] says
//! otherwise; its documentation lists what that can and cannot do.

mod bridge;
mod counters;
mod options;
mod rewrite;
mod targets;

pub use bridge::Bridge;
pub use counters::Counts;
pub use options::BridgeOptions;
