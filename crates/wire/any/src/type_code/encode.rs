//! Encoding of TypeCodes (CORBA 3.3 part 2, §9.3.5.1).
//!
//! A type that is being or was written within the same TypeCode is written as an indirection, so
//! that recursion ends and nothing is written twice. The encoding of the root's parameters is
//! cached in the arena: an encapsulation is the same wherever it stands, unless a `wchar` is a
//! union's discriminator, which versions of GIOP write differently.

use std::collections::HashMap;
use std::num::TryFromIntError;

use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Encoder, Marshal, NarrowCodeSet};

use super::TypeCode;
use super::arena::Arena;
use super::node::{Index, Member, Name, Node, Union, Value};
use crate::kind::TypeKind;
use crate::type_code::label;

/// Marker in place of a kind; the position of the type follows.
pub(super) const INDIRECTION: u32 = 0xffff_ffff;

impl Marshal for TypeCode {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        let (arena, at) = (self.arena(), self.at());
        let node = arena.node(at);
        if let Node::Primitive(_) | Node::Text { .. } = node {
            out.put_u32(node.kind().number());
            if let Node::Text { bound, .. } = node {
                out.put_u32(*bound);
            }
            return Ok(());
        }
        if at != arena.root() || self.arena.is_none() {
            return Writer::new(arena).write(at, out);
        }
        if is_encapsulated(arena.node(at)) && !arena.has_wide_labels() {
            let content = match arena.encoding().get() {
                Some(content) => content,
                None => {
                    let content = encode_root(arena)?;
                    arena.encoding().get_or_init(|| content)
                }
            };
            out.put_u32(arena.node(at).kind().number());
            return out.put_octets(content);
        }
        Writer::new(arena).write(at, out)
    }
}

/// Encodes the parameters of the root, whose kind has an encapsulation of them.
fn encode_root(arena: &Arena) -> Result<Box<[u8]>, CdrError> {
    let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
    Writer::new(arena).write(arena.root(), &mut out)?;
    // Behind the kind and the length.
    let content = out.block().as_slice().get(8..).unwrap_or_default();
    Ok(content.into())
}

fn is_encapsulated(node: &Node) -> bool {
    !matches!(
        node,
        Node::Primitive(_) | Node::Text { .. } | Node::Fixed { .. } | Node::Recursive { .. }
    )
}

struct Writer<'a> {
    arena: &'a Arena,
    /// Offsets in the block of the kinds of types that were begun.
    written: HashMap<Index, u32>,
    depth: u16,
}

impl<'a> Writer<'a> {
    fn new(arena: &'a Arena) -> Self {
        Self {
            arena,
            written: HashMap::new(),
            depth: 0,
        }
    }

    fn write(&mut self, at: Index, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        let node = self.arena.node(at);
        out.align(4);
        if let Some(target) = self.written.get(&at) {
            return indirect(*target, out);
        }
        let here = out.position();
        out.put_u32(node.kind().number());
        match node {
            Node::Primitive(_) => return Ok(()),
            Node::Text { bound, .. } => {
                out.put_u32(*bound);
                return Ok(());
            }
            Node::Fixed { digits, scale } => {
                out.put_u16(*digits);
                out.put_i16(*scale);
                return Ok(());
            }
            Node::Recursive { .. } => {
                return Err(CdrError::BadTypeCode(
                    "a recursive TypeCode outside of the type that it stands for",
                ));
            }
            _ => {}
        }
        self.written
            .insert(at, u32::try_from(here).map_err(too_large)?);
        let limit = out.coding().limits.nesting;
        if self.depth >= limit {
            return Err(CdrError::TooDeep { limit });
        }
        self.depth += 1;
        let result = out.encapsulation(|out| self.parameters(node, out));
        self.depth -= 1;
        result
    }

    /// Writes the parameters of a TypeCode, as the content of their encapsulation.
    fn parameters(&mut self, node: &Node, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        if let Some(Name { id, name }) = node.name() {
            put_text(id, out)?;
            put_text(name, out)?;
        }
        match node {
            Node::Sequence {
                element,
                bound: length,
            }
            | Node::Array { element, length } => {
                self.write(*element, out)?;
                out.put_u32(*length);
                Ok(())
            }
            Node::Alias { of, .. } | Node::ValueBox { of, .. } => self.write(*of, out),
            Node::Struct { members, .. } | Node::Exception { members, .. } => {
                put_count(members.len(), out)?;
                members
                    .iter()
                    .try_for_each(|member| self.member(member, out))
            }
            Node::Enum { enumerators, .. } => {
                put_count(enumerators.len(), out)?;
                enumerators.iter().try_for_each(|name| put_text(name, out))
            }
            Node::Union(union) => self.union(union, out),
            Node::Value(value) => self.value(value, out),
            _ => Ok(()),
        }
    }

    fn member(&mut self, member: &Member, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        put_text(&member.name, out)?;
        self.write(member.at, out)
    }

    fn union(&mut self, union: &Union, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.write(union.discriminator, out)?;
        // -1 means that there is no default member.
        out.put_u32(union.default.unwrap_or(u32::MAX));
        put_count(union.members.len(), out)?;
        let discriminator = self.arena.resolved(union.discriminator);
        let kind = self.arena.node(discriminator).kind();
        for (place, (label, member)) in (0u32..).zip(union.labels.iter().zip(&union.members)) {
            if Some(place) == union.default {
                // The zero octet that stands for a default label (§9.3.5.1.1) has the
                // discriminator's size in all existing ORBs.
                put_label(kind, 0, out)?;
            } else {
                put_label(kind, *label, out)?;
            }
            self.member(member, out)?;
        }
        Ok(())
    }

    fn value(&mut self, value: &Value, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_i16(value.modifier as i16);
        match value.base {
            Some(base) => self.write(base, out)?,
            None => out.put_u32(TypeKind::Null.number()),
        }
        put_count(value.members.len(), out)?;
        for (member, visibility) in value.members.iter().zip(&value.visibility) {
            self.member(member, out)?;
            out.put_i16(*visibility as i16);
        }
        Ok(())
    }
}

/// Writes an indirection. The offset counts from its own position to the target's kind, in octets
/// (§9.3.5.1.3).
fn indirect(target: u32, out: &mut Encoder<'_>) -> Result<(), CdrError> {
    out.put_u32(INDIRECTION);
    let distance = out.position() - target as usize;
    let distance = i32::try_from(distance).map_err(too_large)?;
    out.put_i32(-distance);
    Ok(())
}

fn too_large(_: TryFromIntError) -> CdrError {
    CdrError::BadTypeCode("the TypeCode is too large")
}

/// Writes a name. Names are those of the IDL, whatever code set was negotiated for text.
fn put_text(text: &str, out: &mut Encoder<'_>) -> Result<(), CdrError> {
    out.put_string_in(NarrowCodeSet::Iso8859_1, text)
}

fn put_count(count: usize, out: &mut Encoder<'_>) -> Result<(), CdrError> {
    let count =
        u32::try_from(count).map_err(|_| CdrError::BadTypeCode("the type has too many members"))?;
    out.put_u32(count);
    Ok(())
}

/// Writes a label, a value of the discriminator's type. An impossible value is meaningless.
fn put_label(kind: TypeKind, label: i128, out: &mut Encoder<'_>) -> Result<(), CdrError> {
    let is_wchar = || u32::try_from(label).is_ok_and(|label| char::from_u32(label).is_some());
    match kind == TypeKind::WChar && !is_wchar() {
        true => label::write(kind, 0, out),
        false => label::write(kind, label, out),
    }
}
