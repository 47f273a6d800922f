//! Decoding of TypeCodes (CORBA 3.3 part 2, §9.3.5.1).
//!
//! A peer decides how large a type is, so its parts are counted; nesting is limited like that of
//! values. An indirection may lead to any type that was begun before it, in this TypeCode or, as
//! some ORBs do it, earlier in the same message; and nowhere else.

mod named;

use std::collections::HashMap;
use std::sync::Arc;

use punctual_cdr::{ByteOrder, CdrError, Decoder, Unmarshal};

use super::TypeCode;
use super::arena::Arena;
use super::cache;
use super::encode::INDIRECTION;
use super::node::{Index, Node};
use crate::kind::TypeKind;

/// Upper bound of the types, members and enumerators of a TypeCode from a peer, all together.
const MAX_PARTS: usize = 65_536;

/// Cost of decoding a type, relative to finding a known one.
const PARSED: usize = 12;

impl Unmarshal for TypeCode {
    const MIN_SIZE: usize = 4;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        Self::pass(input).map(|(type_code, _)| type_code)
    }
}

impl TypeCode {
    /// Reads a TypeCode as [`Unmarshal::unmarshal`] does; also returns whether its encoding is
    /// position-independent: it is not where an indirection leads out of it.
    pub(crate) fn pass(input: &mut Decoder<'_>) -> Result<(Self, bool), CdrError> {
        // Most types come again and again: the encoding of a known one is not decoded twice.
        if let Some(known) = known_here(input) {
            return Ok((known, true));
        }
        match input.peek_u32() {
            Some(INDIRECTION) | None => {
                if let Some(known) = known_earlier(input)? {
                    return Ok((known, false));
                }
            }
            Some(number) => {
                if let Some(kind) = simple(number, input)? {
                    return Ok((Self::simple(kind), true));
                }
            }
        }
        let mut ahead = input.ahead();
        let kind = TypeKind::from_number(ahead.get_u32()?);
        let content = match kind.filter(|kind| is_encapsulated(*kind)) {
            Some(kind) => ahead.get_octets().ok().map(|content| (kind, content)),
            None => None,
        };
        if let Some(known) = content.and_then(|(kind, content)| cache::find(kind, content)) {
            input.catch_up(ahead);
            return Ok((known, true));
        }
        let (type_code, refers_outside) = Reader::read(input)?;
        let means_the_same = !refers_outside && !type_code.arena().has_wide_labels();
        if let Some((kind, content)) = content.filter(|_| means_the_same) {
            // It is sent on as it was received.
            let _ = type_code.arena().encoding().set(content.into());
            cache::keep(kind, content, &type_code);
        }
        Ok((type_code, means_the_same))
    }
}

/// Returns the next type, if it is a known one that stands in one piece; otherwise reads nothing.
#[inline]
fn known_here(input: &mut Decoder<'_>) -> Option<TypeCode> {
    let padding = input.padding(4);
    let octets = input.unbroken().get(padding..)?;
    let (kind, octets) = octets.split_first_chunk()?;
    let (length, octets) = octets.split_first_chunk()?;
    let number = |octets: [u8; 4]| match input.order() {
        ByteOrder::Big => u32::from_be_bytes(octets),
        ByteOrder::Little => u32::from_le_bytes(octets),
    };
    let kind = TypeKind::from_number(number(*kind)).filter(|kind| is_encapsulated(*kind))?;
    let length = usize::try_from(number(*length)).ok()?;
    let content = octets.get(..length)?;
    if length > input.coding().limits.sequence {
        return None;
    }
    let known = cache::find(kind, content)?;
    input.skip(padding + 8 + length).ok()?;
    Some(known)
}

/// Reads the kind of the next type, which has this number, if that alone identifies it, or if it is text without a bound; otherwise reads nothing.
/// Most types of events' fields are such ones.
fn simple(number: u32, input: &mut Decoder<'_>) -> Result<Option<TypeKind>, CdrError> {
    let Some(kind) = TypeKind::from_number(number) else {
        return Ok(None);
    };
    if kind.is_primitive() {
        input.get_u32()?;
        return Ok(Some(kind));
    }
    if !matches!(kind, TypeKind::String | TypeKind::WString) {
        return Ok(None);
    }
    let mut ahead = input.ahead();
    ahead.get_u32()?;
    if ahead.get_u32()? != 0 {
        return Ok(None);
    }
    input.catch_up(ahead);
    Ok(Some(kind))
}

/// Returns a type that occurred earlier in the message, if it is known. The next item is an indirection, or cannot be read.
fn known_earlier(input: &mut Decoder<'_>) -> Result<Option<TypeCode>, CdrError> {
    let mut ahead = input.ahead();
    ahead.get_u32()?;
    let here = offset(&ahead);
    let target = usize::try_from(here + i64::from(ahead.get_i32()?)).ok();
    let earlier = target.filter(|target| target % 4 == 0);
    let Some(mut earlier) = earlier.and_then(|target| input.earlier(target)) else {
        return Ok(None);
    };
    let kind = TypeKind::from_number(earlier.get_u32()?).filter(|kind| is_encapsulated(*kind));
    let Some((kind, Ok(content))) = kind.map(|kind| (kind, earlier.get_octets())) else {
        return Ok(None);
    };
    if let Some(known) = cache::find(kind, content) {
        ahead.read_again(content.len())?;
        input.catch_up(ahead);
        return Ok(Some(known));
    }
    // Decoded once, it serves all indirections to it. Long ones are not cached: their holders share
    // them.
    ahead.read_again(content.len().saturating_mul(PARSED))?;
    let Some(mut earlier) = target.and_then(|target| ahead.earlier(target)) else {
        return Ok(None);
    };
    let made = TypeCode::unmarshal(&mut earlier)?;
    ahead.take_count_of(&earlier);
    input.catch_up(ahead);
    Ok(Some(made))
}

fn is_encapsulated(kind: TypeKind) -> bool {
    !kind.is_primitive() && !matches!(kind, TypeKind::String | TypeKind::WString | TypeKind::Fixed)
}

struct Reader<'d> {
    nodes: Vec<Node>,
    /// Index of the type behind aliases, for each node.
    originals: Vec<Index>,
    simple: HashMap<TypeKind, Index>,
    /// Types by the offsets of their kinds in the outermost input.
    seen: HashMap<i64, Index>,
    parts: usize,
    depth: u16,
    /// Decoder at the start of the TypeCode; it can also read the earlier data of the message.
    outermost: Decoder<'d>,
    refers_outside: bool,
}

impl<'d> Reader<'d> {
    fn read(input: &mut Decoder<'d>) -> Result<(TypeCode, bool), CdrError> {
        let mut this = Self {
            nodes: Vec::new(),
            originals: Vec::new(),
            simple: HashMap::new(),
            seen: HashMap::new(),
            parts: 0,
            depth: 0,
            outermost: input.ahead(),
            refers_outside: false,
        };
        let root = this.type_code(input, 0)?;
        input.take_count_of(&this.outermost);
        let arena = Arc::new(Arena::new(this.nodes, root));
        arena.shapes()?;
        Ok((TypeCode::in_arena(arena, root), this.refers_outside))
    }

    /// Reads a type. `base` is the offset of the input's first byte in the outermost input.
    fn type_code(&mut self, input: &mut Decoder<'d>, base: i64) -> Result<Index, CdrError> {
        input.align(4)?;
        let here = base + offset(input);
        let number = input.get_u32()?;
        if number == INDIRECTION {
            return self.indirection(input, base);
        }
        let kind = TypeKind::from_number(number).ok_or(CdrError::BadTypeCode("unknown TCKind"))?;
        if kind.is_primitive() {
            let index = self.primitive(kind)?;
            self.seen.insert(here, index);
            return Ok(index);
        }
        let index = self.push(Node::Primitive(TypeKind::Null))?;
        self.seen.insert(here, index);
        let node = match kind {
            TypeKind::String | TypeKind::WString => Node::Text {
                is_wide: kind == TypeKind::WString,
                bound: input.get_u32()?,
            },
            TypeKind::Fixed => Node::Fixed {
                digits: input.get_u16()?,
                scale: input.get_i16()?,
            },
            _ => {
                input.align(4)?;
                let base = base + offset(input) + 4;
                input.nested(|input| {
                    let mut content = input.encapsulation()?;
                    self.deeper(|this| this.parameters(kind, &mut content, base))
                })?
            }
        };
        if let Node::Alias { of, .. } = node {
            self.note_original(index, of);
        }
        if let Some(place) = self.nodes.get_mut(index as usize) {
            *place = node;
        }
        Ok(index)
    }

    fn indirection(&mut self, input: &mut Decoder<'d>, base: i64) -> Result<Index, CdrError> {
        let here = base + offset(input);
        let distance = i64::from(input.get_i32()?);
        // -4 would be the indirection itself.
        if distance > -8 {
            return Err(CdrError::BadTypeCode("an indirection must lead back"));
        }
        let target = here + distance;
        if let Some(index) = self.seen.get(&target) {
            return Ok(*index);
        }
        let begin = offset(&self.outermost);
        let earlier = usize::try_from(target)
            .ok()
            .filter(|_| target < begin && target % 4 == 0)
            .and_then(|target| self.outermost.earlier(target));
        let mut earlier = earlier.ok_or(CdrError::BadTypeCode(
            "an indirection does not lead to the beginning of a type",
        ))?;
        self.refers_outside = true;
        let begin = earlier.position();
        let index = self.deeper(|this| this.type_code(&mut earlier, 0))?;
        let octets = earlier.position().saturating_sub(begin);
        self.outermost.read_again(octets.saturating_mul(PARSED))?;
        Ok(index)
    }

    /// Enters one more level of nesting. Earlier types in the message have levels of their own, so
    /// that those of a decoder alone would not bound the stack.
    fn deeper<R>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<R, CdrError>,
    ) -> Result<R, CdrError> {
        let limit = self.outermost.coding().limits.nesting;
        if self.depth >= limit {
            return Err(CdrError::TooDeep { limit });
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Returns the kind behind aliases of a type that has been read.
    fn resolved_kind(&self, at: Index) -> TypeKind {
        let original = self.originals.get(at as usize).copied().unwrap_or(at);
        let node = self.nodes.get(original as usize);
        node.map_or(TypeKind::Null, Node::kind)
    }

    /// Records the type behind an alias, so that chains of aliases are not followed again and
    /// again.
    fn note_original(&mut self, at: Index, of: Index) {
        let original = self.originals.get(of as usize).copied().unwrap_or(of);
        if let Some(place) = self.originals.get_mut(at as usize) {
            *place = original;
        }
    }

    fn primitive(&mut self, kind: TypeKind) -> Result<Index, CdrError> {
        if let Some(index) = self.simple.get(&kind) {
            return Ok(*index);
        }
        let index = self.push(Node::Primitive(kind))?;
        self.simple.insert(kind, index);
        Ok(index)
    }

    fn push(&mut self, node: Node) -> Result<Index, CdrError> {
        self.account(1)?;
        let index = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        self.nodes.push(node);
        self.originals.push(index);
        Ok(index)
    }

    /// Reads the number of members of a type in an encoded TypeCode.
    fn count(&mut self, input: &mut Decoder<'_>, min_size: usize) -> Result<usize, CdrError> {
        let count = input.get_length(min_size)?;
        self.account(count)?;
        Ok(count)
    }

    fn account(&mut self, parts: usize) -> Result<(), CdrError> {
        self.parts = self.parts.saturating_add(parts);
        if self.parts > MAX_PARTS {
            return Err(CdrError::BadTypeCode("the type has more than 65,536 parts"));
        }
        Ok(())
    }
}

fn offset(input: &Decoder<'_>) -> i64 {
    i64::try_from(input.position()).unwrap_or(i64::MAX / 4)
}
