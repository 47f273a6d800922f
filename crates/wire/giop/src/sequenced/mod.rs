//! Frame-sequencing protocol, an environment-specific protocol for one-way media (Schmidt et al.
//! 2001, §3.4.1): each request bears a sequence number and a time stamp, and none is repeated,
//! because a late frame is worth nothing.
//!
//! ```text
//!  0  4  magic "PUNF"
//!  4  1  version: 1
//!  5  1  flags: bit 0 byte order as in GIOP, bit 1 batch; the others are 0
//!  6  2  reserved: 0, not looked at
//!  8  4  size of what follows, in the message's byte order
//! 12  4  stream: whose sequence numbers these are
//! 16  8  sequence number
//! 24  8  time stamp, nanoseconds of the sender's CLOCK_REALTIME
//! 32     sequence<octet> key, string operation; then
//!        one request: its body aligned to 8, if there is one
//!        a batch: ulong count, then for each request: unsigned long long sequence number, unsigned
//!        long long time stamp, ulong length, the body aligned to 8, if there is one
//! ```
//!
//! Alignment counts from the message's start, values are encoded as in GIOP 1.2. The sequence
//! number of a batch is that of its first request, its time stamp tells when the batch left: the
//! requests' own tell when they were made.
//!
//! A received message passes through [`examine`], [`message_decoder`], then [`FrameHeader::decode`]
//! and, for a batch, [`decode_batch`]; [`Sequence`] tracks losses and order. A message to be sent
//! passes through [`begin_message`], [`FrameHeader::encode`], [`align_body`](crate::align_body) and
//! the body, [`finish_message`]; or a [`BatchWriter`].

mod batch;
mod framing;
mod header;
mod sequence;

pub use batch::{BatchWriter, Frame, Frames, decode_batch};
pub use framing::{Examined, FrameError, MessageHeader, examine};
pub use header::{
    FrameHeader, begin_message, finish_message, finish_message_at, message_decoder,
    message_decoder_with_lent,
};
pub use sequence::{Arrival, Sequence, Statistics};
