//! Support for the tests of messages.

#![allow(dead_code, unused_imports, reason = "no test uses all of it")]

#[path = "../../../../cdr/tests/it/support/hex.rs"]
mod hex;

pub(crate) use hex::hex;
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Decoder, Encoder, GiopVersion};
use punctual_giop::{MessageHeader, MessageKind, begin_message, finish_message, message_decoder};

pub(crate) fn coding(version: GiopVersion) -> Coding<'static> {
    Coding {
        version,
        ..Coding::default()
    }
}

/// Makes a whole message with the output of `write` after its header.
pub(crate) fn message(
    version: GiopVersion,
    order: ByteOrder,
    kind: MessageKind,
    write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
) -> Vec<u8> {
    let mut out = Encoder::new(Block::default(), order, coding(version));
    begin_message(&mut out, kind);
    write(&mut out).unwrap();
    let mut block = out.into_block();
    finish_message(&mut block).unwrap();
    block.into_vec()
}

pub(crate) fn header_of(message: &[u8]) -> MessageHeader {
    MessageHeader::parse(message.first_chunk().unwrap()).unwrap()
}

pub(crate) fn open(message: &[u8]) -> Decoder<'_> {
    message_decoder(&header_of(message), message, Coding::default())
}
