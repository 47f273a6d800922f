//! Messages over a connection: receiving, sending and tracing.
//!
//! Only this module connects messaging protocols with transports. [`protocol`] is the interface of
//! messaging protocols, which have one file each.

mod body;
mod frames;
mod giop;
mod inbox;
mod lite;
mod outbox;
mod protocol;
mod template;
mod trace;

pub(crate) use body::body;
pub use frames::Frames;
pub use giop::Giop;
pub(crate) use inbox::{Inbox, InboxError, InboxStep, Message};
pub use lite::GiopLite;
pub(crate) use outbox::{Fragmenting, control, send, send_control, send_untraced, with_parts};
pub use protocol::{
    Abilities, BadFrame, EachRequest, Examined, Frame, FrameArrival, Head, Messaging, Needs,
    OwnReply, QueuedRequest, RepeatableHead, ReplyHead, Session,
};
pub(crate) use template::Template;
pub(crate) use trace::Tracer;
#[cfg(feature = "fuzzing")]
pub(crate) use trace::readable;
