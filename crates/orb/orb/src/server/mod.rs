//! Server side: from a listening endpoint to a reply.
//!
//! [`accept`] accepts connections; a dedicated thread or the threads of a reactor ([`concurrency`])
//! run the loop that receives and serves ([`serve`]); [`dispatch`] reads each request's header and
//! lets the object [`adapter`] answer the [`call`]; [`send`] sends the replies. A [`connection`] is
//! a reader, a reply sender and a strategy; their shared state is the [`conversation`].

mod accept;
mod adapter;
mod adapter_wrapper;
mod around;
mod back;
mod call;
mod code_sets;
mod complaint;
mod concurrency;
mod connection;
mod conversation;
mod dispatch;
mod hand_over;
#[cfg(feature = "fuzzing")]
mod here;
mod host;
mod intercepted;
mod keeping;
mod kept;
mod kept_reply;
mod memory;
mod panics;
mod pass;
mod peer_connection;
mod pending;
mod pending_location;
mod pending_reply;
mod reader;
mod recorded_request;
mod refusal;
mod reply;
mod send;
mod serve;
mod shared_link;

pub(crate) use accept::{listen, listen_at};
pub use adapter::ObjectAdapter;
pub use adapter_wrapper::AdapterWrapper;
pub use around::{AroundUpcall, AroundUpcalls, UpcallHook};
pub(crate) use back::serve_back;
pub use call::{Dispatched, ServerCall};
#[cfg(feature = "fuzzing")]
pub(crate) use here::serve_here;
pub(crate) use host::{AdapterCell, Host};
pub(crate) use intercepted::Intercepted;
pub use kept_reply::{KeptReply, ReplyKeeper};
pub(crate) use panics::panicked;
pub use peer_connection::PeerConnection;
pub use pending_location::{LocateRequest, PendingLocation};
pub use pending_reply::{AnswerError, PendingReply};
