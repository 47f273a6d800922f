//! All shapes, grouped by decoder.

mod any;
mod batches;
mod bridge;
mod connection;
mod constraint;
mod giop;
mod idl;
mod json;
mod reference;
mod text;
mod type_code;
mod values;

use crate::Shape;
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Decoder, Encoder};

/// List of all kinds of expensive input, grouped by decoder.
pub const SHAPES: &[&[Shape]] = &[
    type_code::SHAPES,
    any::SHAPES,
    values::SHAPES,
    reference::SHAPES,
    giop::SHAPES,
    batches::SHAPES,
    connection::SHAPES,
    bridge::SHAPES,
    json::SHAPES,
    text::SHAPES,
    constraint::SHAPES,
    idl::SHAPES,
];

/// Returns the shape with the given decoder and name.
#[must_use]
pub fn shape(decoder: &str, name: &str) -> Option<&'static Shape> {
    let mut all = SHAPES.iter().flat_map(|some| some.iter());
    all.find(|one| one.decoder == decoder && one.name == name)
}

/// Returns the bytes that `write` encodes. The encoding of a shape never fails.
fn written(write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>) -> Vec<u8> {
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    let written = write(&mut out);
    debug_assert!(written.is_ok(), "{written:?}");
    out.into_block().into_vec()
}

fn decoder(octets: &[u8]) -> Decoder<'_> {
    Decoder::new(octets, ByteOrder::Big, Coding::default())
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
