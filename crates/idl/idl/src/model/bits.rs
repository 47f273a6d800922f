//! What packs small things into one integer: bitmasks and bitsets (IDL 4.2, §7.4.13.4.3.2).

use super::{Annotation, DeclId, Primitive};
use crate::source::Location;

/// `bitmask`: a set of flags.
#[derive(Clone, Debug)]
pub struct Bitmask {
    /// How many flags there may be, 1 to 64: what `@bit_bound` says, else 32.
    pub bits: u8,
    /// In source order; at least one.
    pub flags: Vec<Flag>,
}

/// A flag of a bitmask. Its name lives in the bitmask's own scope.
#[derive(Clone, Debug)]
pub struct Flag {
    /// The name, without an escaping underscore.
    pub name: String,
    /// Its bit, counted from the least significant one: what `@position` says, else the one above
    /// the flag before.
    pub position: u8,
    /// Lines of the comment directly before it.
    pub doc: Vec<String>,
    /// `@…` annotations in source order.
    pub annotations: Vec<Annotation>,
    /// Where its name stands.
    pub location: Location,
}

impl Bitmask {
    /// The smallest unsigned integer that holds it.
    pub fn holder(&self) -> Primitive {
        holder(self.bits)
    }
}

/// `bitset`: small integers side by side.
#[derive(Clone, Debug)]
pub struct Bitset {
    /// The bitset whose fields come first.
    pub base: Option<DeclId>,
    /// How many bits the base's fields take.
    pub inherited_bits: u8,
    /// How many bits there are in all, those of the base among them, 1 to 64.
    pub bits: u8,
    /// In source order, the base's not among them, nor bits that are only skipped.
    pub fields: Vec<Bitfield>,
}

/// A field of a bitset. Its name lives in the bitset's own scope.
#[derive(Clone, Debug)]
pub struct Bitfield {
    /// The name, without an escaping underscore.
    pub name: String,
    /// Its least significant bit.
    pub position: u8,
    /// How many bits it has, 1 to 64.
    pub bits: u8,
    /// As what its value is seen: a boolean or an integer.
    pub ty: Primitive,
    /// Lines of the comment directly before it.
    pub doc: Vec<String>,
    /// `@…` annotations in source order.
    pub annotations: Vec<Annotation>,
    /// Where its name stands.
    pub location: Location,
}

impl Bitset {
    /// The smallest unsigned integer that holds it.
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
