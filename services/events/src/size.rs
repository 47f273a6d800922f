//! Sizes of Anys in memory.

use punctual::Any;
use punctual::any::TypeKind;
use punctual::stub::{Block, ByteOrder, Coding, Encoder, Marshal};

/// Returns the number of bytes of an Any's value and type. Takes time in proportion to the type; the value is not read.
#[must_use]
pub fn bytes_of(any: &Any) -> usize {
    let value = any.read(|input| Ok(input.remaining())).unwrap_or_default();
    value + type_bytes(any)
}

/// Returns the number of bytes of a type as it is sent; basic types take none.
fn type_bytes(any: &Any) -> usize {
    if is_basic(any.type_code().kind()) {
        return 0;
    }
    let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
    match any.type_code().marshal(&mut out) {
        Ok(()) => out.position(),
        Err(_) => 0,
    }
}

const fn is_basic(kind: TypeKind) -> bool {
    !matches!(
        kind,
        TypeKind::Struct
            | TypeKind::Union
            | TypeKind::Enum
            | TypeKind::Sequence
            | TypeKind::Array
            | TypeKind::Alias
            | TypeKind::Except
            | TypeKind::Objref
            | TypeKind::Value
            | TypeKind::ValueBox
            | TypeKind::AbstractInterface
            | TypeKind::Event
    )
}
