//! GIOPlite: GIOP without the information that machines of one kind need not exchange (Schmidt et
//! al. 2001, §3.4.2).
//!
//! No magic, no version, no byte order, no service contexts: both ends are machines of one byte
//! order, configured to speak it. Features that need a service context (a priority that the client
//! propagates, a code set that is negotiated) do not work over it.
//!
//! ```text
//!  0  4  size of what follows the header, in the machine's byte order
//!  4  1  kind: GIOP's numbers, and 8 for a batch
//!
//! Request        ulong id, octet flags, sequence<octet> key, string operation; the body is aligned
//!                to 8, if there is one
//! Reply          ulong id, ulong status; the body as above
//! CancelRequest  ulong id
//! LocateRequest  ulong id, sequence<octet> key
//! LocateReply    ulong id, ulong status; the body follows as it is
//! Batch          see [`BatchWriter`]
//! ```
//!
//! **Alignment** counts from a message's second octet ([`ORIGIN`]), so that the data after the
//! header stands 4 beyond a multiple of 8, as it does after GIOP's header of 12. A body thus has
//! the alignment that GIOP 1.2 gives it and passes from one protocol to the other unchanged, and
//! each request and reply is at least 15 octets shorter than in GIOP. If alignment counted from
//! after the header, the padding before a body could use up 4 of them.
//!
//! The headers are those of GIOP with [`ServiceContexts::none`](crate::ServiceContexts::none) and
//! an object key as the target. Values are encoded as in GIOP 1.2.

mod batch;
mod framing;
mod messages;

pub use batch::{Batch, BatchWriter, Bodies, decode_batch};
pub use framing::{Examined, Kind, MessageHeader, examine};
pub use messages::{
    ORIGIN, begin_message, close_connection, decode_locate_reply, decode_locate_request,
    decode_reply, decode_request, encode_locate_reply, encode_locate_request, encode_reply,
    encode_request, finish_message, finish_message_at, match_plain_reply, message_decoder,
    message_decoder_with_lent, message_error, read_plain_request,
};
