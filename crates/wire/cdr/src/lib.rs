//! Common Data Representation (CORBA 3.3 part 2, §9.3): values to bytes and back.
//!
//! This crate is the lowest layer of the data path. It knows primitive types, text, sequences and
//! encapsulations, the alignment of each, both byte orders and the three GIOP versions, and nothing
//! of messages, references or requests. It does no I/O, reads no clock, and starts no thread.
//!
//! - [`Encoder`] appends to a [`Block`], memory that a connection lends and gets back on drop.
//! - [`Decoder`] reads a slice. Hostile input cannot cause a panic, and every allocation is in
//!   proportion to the bytes actually received.
//! - [`Marshal`] and [`Unmarshal`] are implemented by generated code for each IDL type.
//! - [`PlainData`] is a type that consists of numbers; [`plain_struct!`] makes structs such a type,
//!   and runs of them are copied whole where CDR has them as memory has.
//! - [`SharedEncoding`] is an encoding that several messages get copies of.
//! - [`View`] is a received sequence as a servant sees it: without a copy where that is possible.
//!
//! Alignment counts from an origin: the first byte of a message (its header included), or the
//! byte-order octet of an encapsulation.
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

mod block;
#[allow(unsafe_code)]
mod bulk;
mod caller_memory;
mod character;
mod code_set;
mod coding;
mod decoder;
mod each;
mod encoder;
mod error;
mod fixed;
mod lend;
mod limits;
mod long_double;
mod map;
mod order;
mod owned_memory;
mod plain_struct;
mod primitives;
mod sequence;
mod shared;
mod structs;
mod text;
mod thread_cache;
mod value;
mod valuetype;
mod version;
mod view;

pub use block::{Block, Charge, MemoryPool};
pub use bulk::{InMemory, Layout, Part, PlainData};
#[doc(hidden)]
pub use bulk::{clear, gap_end, member, prove_order};
pub use caller_memory::CallerMemory;
pub use character::Char;
pub use code_set::{CodeSets, NarrowCodeSet, RegisteredCodeSet, WideCodeSet};
pub use coding::{Coding, Environment};
pub use decoder::Decoder;
pub use each::{check_bound, marshal_each, unmarshal_array_with, unmarshal_each};
pub use encoder::Encoder;
pub use error::CdrError;
pub use fixed::{Decimal, Fixed, FixedError};
pub use lend::{Lender, Lent, Segment, SharedCopy};
pub use limits::Limits;
pub use long_double::LongDouble;
pub use map::{marshal_map, marshal_optional, unmarshal_map, unmarshal_optional};
pub use order::ByteOrder;
pub use owned_memory::marshal_owned;
pub use sequence::{
    marshal_bounded, marshal_bounded_string, marshal_bounded_wstring, unmarshal_bounded,
    unmarshal_bounded_into, unmarshal_bounded_str, unmarshal_bounded_string,
    unmarshal_bounded_string_into, unmarshal_bounded_wstring, unmarshal_bounded_wstring_into,
    unmarshal_slice, unmarshal_slice_bounded,
};
pub use shared::SharedEncoding;
pub use structs::{marshal_structs, unmarshal_structs, view_structs};
pub use value::{Marshal, Nilable, Unmarshal};
pub use valuetype::{
    CustomMarshal, DataInputStream, DataOutputStream, Formal, FormalValue, Graph, HoldsValues,
    OpenValue, ReadStep, Supports, ValueFactory, ValueRef, ValueState, ValueType, WriteStep,
    marshal_abstract, marshal_value, unmarshal_abstract, unmarshal_value,
};
#[doc(hidden)]
pub use valuetype::{length_of_all, one_of_all};
pub use version::GiopVersion;
pub use view::View;
