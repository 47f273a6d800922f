//! Tests of values on the wire and back: sharing, cycles, truncation, chunks, and hostile input.
#![allow(clippy::unwrap_used)]

mod careless;
mod hostile;
use crate::lender;
mod lent;
mod node;
mod sharing;
mod wire;

use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Decoder, Encoder, Nilable};

use node::KnowsAll;

fn coding() -> Coding<'static> {
    Coding {
        environment: Some(&KnowsAll),
        ..Coding::default()
    }
}

/// Returns the bytes that `write` encodes.
fn written(write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>) -> Vec<u8> {
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, coding());
    write(&mut out).unwrap();
    out.into_block().to_vec()
}

/// Encodes and decodes the value; returns the decoded value.
fn passed<T: Nilable>(value: &T) -> T {
    let octets = written(|out| T::marshal_nilable(Some(value), out));
    let mut input = Decoder::new(&octets, ByteOrder::Big, coding());
    let read = T::unmarshal_nilable(&mut input).unwrap().unwrap();
    assert_eq!(input.remaining(), 0);
    read
}

/// Encoded bytes that a test assembles by hand.
#[derive(Default)]
struct Octets(Vec<u8>);

impl Octets {
    fn long(mut self, number: u32) -> Self {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self.0.extend(number.to_be_bytes());
        self
    }

    fn string(mut self, text: &str) -> Self {
        self = self.long(u32::try_from(text.len() + 1).unwrap());
        self.0.extend(text.as_bytes());
        self.0.push(0);
        self
    }

    fn read<T: Nilable>(&self, coding: Coding<'_>) -> Result<Option<T>, CdrError> {
        T::unmarshal_nilable(&mut Decoder::new(&self.0, ByteOrder::Big, coding))
    }
}
