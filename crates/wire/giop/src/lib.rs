//! The General Inter-ORB Protocol, versions 1.0, 1.1 and 1.2 (CORBA 3.3 part 2, clause 9), as
//! pure functions from octets to messages and back.
//!
//! The way of a received message: [`examine`] finds where it ends and what it is,
//! [`Reassembly`] puts fragments together, [`message_decoder`] opens it, a header type
//! ([`RequestHeader`], [`ReplyHeader`], …) is decoded and leaves the decoder at the body.
//!
//! The way of one to be sent: [`begin_message`], a header's `encode`, [`align_body`] and the
//! body, [`finish_message`]; [`split`] if it has to travel in pieces.
//!
//! No I/O, no clock, no threads. Nothing a peer can send makes any of this panic, and nothing is
//! allocated on account of a length that was not checked against the octets at hand.
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
mod framing;
mod header;
pub mod lite;
mod locate;
mod message;
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
pub use framing::{Examined, FrameError, examine};
pub use header::{MessageHeader, MessageKind};
pub use locate::{LocateReplyHeader, LocateRequestHeader, LocateStatus};
pub use message::{align_body, begin_message, finish_message, finish_message_at, message_decoder};
pub use plain::{PlainRequest, PlainRequests, glance_at_reply, own_reply};
pub use reassembly::{Accepted, Assembled, FragmentError, Reassembly};
pub use reply::{ReplyHeader, ReplyStatus};
pub use request::{RequestHeader, ResponseFlags};
pub use service_context::{ServiceContext, ServiceContexts};
pub use target::{AddressingDisposition, Target};
