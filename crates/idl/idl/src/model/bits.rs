//! Types that pack small values into one integer: bitmasks and bitsets (IDL 4.2, §7.4.13.4.3.2).

use super::{Annotation, DeclId, Primitive};
use crate::source::Location;

/// Bitmask type (`bitmask`): a set of flags.
#[derive(Clone, Debug)]
pub struct Bitmask {
    /// Upper bound of the number of flags, 1 to 64: as given by `@bit_bound`, else 32.
    pub bits: u8,
    /// Flags of the bitmask in source order; at least one.
    pub flags: Vec<Flag>,
}

/// Flag of a bitmask. Its name lives in the bitmask's own scope.
#[derive(Clone, Debug)]
pub struct Flag {
    /// Name of the flag, without an escaping underscore.
    pub name: String,
    /// Bit number, counted from the least significant one: as given by `@position`, else the one
    /// above the flag before.
    pub position: u8,
    /// Lines of the IDL comment directly before the definition.
    pub doc: Vec<String>,
    /// Annotations (`@…`) of the flag, in source order.
    pub annotations: Vec<Annotation>,
    /// Source position of the flag's name.
    pub location: Location,
}

impl Bitmask {
    /// Returns the smallest unsigned integer type that holds all bits.
    pub fn holder(&self) -> Primitive {
        holder(self.bits)
    }
}

/// Bitset type (`bitset`): small integers packed side by side.
#[derive(Clone, Debug)]
pub struct Bitset {
    /// Base bitset, whose fields precede those of the derived bitset.
    pub base: Option<DeclId>,
    /// Number of bits that the fields of the base bitset occupy.
    pub inherited_bits: u8,
    /// Number of bits in all, those of the base among them, 1 to 64.
    pub bits: u8,
    /// Fields in source order, without the base's and without skipped bits.
    pub fields: Vec<Bitfield>,
}

/// Field of a bitset. Its name lives in the bitset's own scope.
#[derive(Clone, Debug)]
pub struct Bitfield {
    /// Name of the bit field, without an escaping underscore.
    pub name: String,
    /// Position of the bit field's least significant bit in the bitset.
    pub position: u8,
    /// Number of bits of the field, 1 to 64.
    pub bits: u8,
    /// Type of the field's value: a boolean or an integer.
    pub ty: Primitive,
    /// Lines of the IDL comment directly before the definition.
    pub doc: Vec<String>,
    /// Annotations (`@…`) of the bit field, in source order.
    pub annotations: Vec<Annotation>,
    /// Source position of the bit field's name.
    pub location: Location,
}

impl Bitset {
    /// Returns the smallest unsigned integer type that holds all bits.
    pub fn holder(&self) -> Primitive {
        holder(self.bits)
    }
}

fn holder(bits: u8) -> Primitive {
    match bits {
        0..=8 => Primitive::UInt8,
        9..=16 => Primitive::UShort,
        17..=32 => Primitive::ULong,
        _ => Primitive::ULongLong,
    }
}
