//! Data of an event: an Any that all consumers share.

use punctual::Any;
use punctual::any::TypeKind;
use punctual::stub::{Block, ByteOrder, Coding, Encoder, Marshal};
use punctual_rtevent::Payload;

/// Bytes that an event counts for besides its value and its type.
const OVERHEAD: usize = 128;

/// Event: its data, and the number of bytes that it counts for in queues. Clones share the data.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventData {
    any: Any,
    bytes: usize,
}

impl EventData {
    /// Makes an event. Takes time in proportion to its type; the value is not read.
    pub(crate) fn new(any: Any) -> Self {
        let value = any.read(|input| Ok(input.remaining())).unwrap_or_default();
        let bytes = value + type_bytes(&any) + OVERHEAD;
        Self { any, bytes }
    }

    /// Returns the data of the event.
    pub(crate) fn any(&self) -> &Any {
        &self.any
    }

    /// Returns the number of bytes of the event, its type included.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Payload for EventData {
    fn size(&self) -> usize {
        self.bytes
    }

    fn empty() -> Self {
        Self::default()
    }
}

/// Returns the number of bytes of the event's type as it is sent; basic types take none.
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
