//! General Inter-ORB Protocol, versions 1.0, 1.1 and 1.2 (CORBA 3.3 part 2, clause 9), as pure
//! functions from bytes to messages and back.
//!
//! A received message passes through [`examine`], which finds its end and its kind, [`Reassembly`],
//! which joins fragments, [`message_decoder`], which opens it, and the `decode` of a header type
//! ([`RequestHeader`], [`ReplyHeader`], …), which leaves the decoder at the body.
//!
//! A message to be sent passes through [`begin_message`], a header's `encode`, [`align_body`] and
//! the body, [`finish_message`]; [`split`] if it has to be sent in pieces.
//!
//! No I/O, no clock, no threads. Hostile input cannot cause a panic, and nothing is allocated for a
//! length that was not checked against the bytes at hand.
#![warn(unnameable_types)]
#![deny(clippy::indexing_slicing, clippy::cast_possible_truncation)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        clippy::cast_possible_truncation
    )
)]

mod batch;
pub mod code_sets;
mod control;
mod exception;
mod fragment;
mod frame_error;
mod framing;
mod header;
pub mod lite;
mod locate;
mod message;
mod numbers;
mod plain;
mod reassembly;
mod reply;
mod request;
pub mod sequenced;
pub mod service_context;
mod target;
pub mod trace;

pub use control::{CancelRequest, close_connection, message_error};
pub use exception::SystemExceptionBody;
pub use fragment::{Piece, PieceHeader, Pieces, split};
pub use frame_error::FrameError;
pub use framing::{Examined, examine};
pub use header::{MessageHeader, MessageKind};
pub use locate::{LocateReplyHeader, LocateRequestHeader, LocateStatus};
pub use message::{align_body, begin_message, finish_message, finish_message_at, message_decoder};
pub use plain::{PlainRequest, PlainRequests, match_plain_reply, parse_plain_reply};
pub use reassembly::{Accepted, Assembled, FragmentError, Reassembly};
pub use reply::{ReplyHeader, ReplyStatus};
pub use request::{RequestHeader, ResponseFlags};
pub use service_context::{ServiceContext, ServiceContexts};
pub use target::{AddressingDisposition, Target};
