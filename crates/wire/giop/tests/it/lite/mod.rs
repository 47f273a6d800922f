//! Tests of GIOPlite: octet by octet, against GIOP, and with hostile input.
#![allow(clippy::unwrap_used)]

mod batches;
mod framing;
mod hostile;
use crate::lender;
mod messages;
use crate::support;

use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Decoder, Encoder};
use punctual_giop::lite::{self, Kind, message_decoder};
use punctual_giop::{RequestHeader, ResponseFlags, ServiceContexts, Target, align_body};
use support::hex;

/// Makes a whole message with the output of `write` after its header.
fn lite_message(
    kind: Kind,
    write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
) -> Vec<u8> {
    let mut out = lite::begin_message(Block::default(), kind, Coding::default());
    write(&mut out).unwrap();
    let mut block = out.into_block();
    lite::finish_message(&mut block).unwrap();
    block.into_vec()
}

fn request<'m>(key: &'m [u8], operation: &'m str) -> RequestHeader<'m> {
    RequestHeader {
        request_id: 5,
        response: ResponseFlags::SYNC_WITH_TARGET,
        target: Target::ObjectKey(key),
        operation,
        contexts: ServiceContexts::none(),
    }
}

fn lite_request(header: &RequestHeader<'_>, body: &[u8]) -> Vec<u8> {
    lite_message(Kind::Request, |out| {
        lite::encode_request(header, out)?;
        if !body.is_empty() {
            align_body(out);
        }
        out.put_bytes(body);
        Ok(())
    })
}

fn open(message: &[u8]) -> Decoder<'_> {
    message_decoder(message, Coding::default())
}

/// Selects the text for the machine's own byte order, little-endian or big-endian.
fn native(little: &str, big: &str) -> Vec<u8> {
    match ByteOrder::NATIVE {
        ByteOrder::Little => hex(little),
        ByteOrder::Big => hex(big),
    }
}
