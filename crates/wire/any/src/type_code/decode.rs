//! Octets to TypeCodes (CORBA 3.3 part 2, §9.3.5.1).
//!
//! Octets that a peer sends decide how large a type is, so that its parts are counted; nesting is limited
//! like that of values. An indirection may lead to any type that was begun before it, in this TypeCode or, as
//! some ORBs have it, in what precedes it in the same message; and nowhere else.

use std::collections::HashMap;
use std::sync::Arc;

use punctual_cdr::{CdrError, Decoder, NarrowCodeSet, Unmarshal};

use super::TypeCode;
use super::arena::{Arena, Index, Member, Name, Node, Union, Value, ValueModifier, Visibility};
use super::cache;
use super::encode::INDIRECTION;
use crate::kind::TypeKind;

/// The most types, members and enumerators that a TypeCode from a peer may have, all together.
const MAX_PARTS: usize = 65_536;

/// What a name takes at least: a length and a NUL.
const MIN_NAME: usize = 5;

/// What a name and a type take at least: a length and a NUL, padding, a kind.
const MIN_MEMBER: usize = 12;

impl Unmarshal for TypeCode {
    const MIN_SIZE: usize = 4;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        let mut ahead = input.ahead();
        let kind = ahead.get_u32()?;
        let kind = TypeKind::from_number(kind);
        if let Some(kind) = kind.filter(|kind| kind.is_primitive()) {
            input.catch_up(ahead);
            return Ok(Self::simple(kind));
        }
        // Most types come again and again: the octets of one that is known are not read twice.
        let content = match kind.filter(|kind| is_encapsulated(*kind)) {
            Some(kind) => ahead.get_octets().ok().map(|content| (kind, content)),
            None => None,
        };
        if let Some(known) = content.and_then(|(kind, content)| cache::find(kind, content)) {
            input.catch_up(ahead);
            return Ok(known);
        }
        let (type_code, refers_outside) = Reader::read(input)?;
        if let Some((kind, content)) = content.filter(|_| !refers_outside) {
            // It is sent on as it came.
            let _ = type_code.arena().encoding().set(content.into());
            cache::keep(kind, content, &type_code);
        }
        Ok(type_code)
    }
}

impl TypeCode {
    /// Reads a TypeCode as [`Unmarshal::unmarshal`] does, and says whether its octets mean the same at
    /// another place: they don't where an indirection leads out of it.
    pub(crate) fn pass(input: &mut Decoder<'_>) -> Result<(Self, bool), CdrError> {
        let mut ahead = input.ahead();
        if let Some(kind) =
            TypeKind::from_number(ahead.get_u32()?).filter(|kind| is_encapsulated(*kind))
            && let Ok(content) = ahead.get_octets()
            && let Some(known) = cache::find(kind, content)
        {
            input.catch_up(ahead);
            return Ok((known, true));
        }
        let (type_code, refers_outside) = Reader::read(input)?;
        Ok((type_code, !refers_outside))
    }
}

fn is_encapsulated(kind: TypeKind) -> bool {
    !kind.is_primitive() && !matches!(kind, TypeKind::String | TypeKind::WString | TypeKind::Fixed)
}

struct Reader<'d> {
    nodes: Vec<Node>,
    /// For each node, the one behind aliases.
    originals: Vec<Index>,
    simple: HashMap<TypeKind, Index>,
    /// Types by the offsets of their kinds in the outermost octets.
    seen: HashMap<i64, Index>,
    parts: usize,
    depth: u16,
    /// Where the TypeCode begins, and what precedes it.
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
        let arena = Arc::new(Arena::new(this.nodes, root));
        arena.shapes()?;
        Ok((TypeCode::in_arena(arena, root), this.refers_outside))
    }

    /// A type. `base` is the offset of the input's first octet in the outermost octets.
    fn type_code(&mut self, input: &mut Decoder<'d>, base: i64) -> Result<Index, CdrError> {
        input.align(4)?;
        let here = base + offset(input);
        let number = input.get_u32()?;
        if number == INDIRECTION {
            return self.indirection(input, base);
        }
        let kind = TypeKind::from_number(number)
            .ok_or(CdrError::BadTypeCode("there is no kind of this number"))?;
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
            return Err(CdrError::BadTypeCode("an indirection does not lead back"));
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
            "an indirection leads to where no type begins",
        ))?;
        self.refers_outside = true;
        self.deeper(|this| this.type_code(&mut earlier, 0))
    }

    /// One level more. What precedes a TypeCode has levels of its own, so that those of a decoder alone would
    /// not bound the stack.
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

    fn parameters(
        &mut self,
        kind: TypeKind,
        input: &mut Decoder<'d>,
        base: i64,
    ) -> Result<Node, CdrError> {
        match kind {
            TypeKind::Sequence => Ok(Node::Sequence {
                element: self.type_code(input, base)?,
                bound: input.get_u32()?,
            }),
            TypeKind::Array => Ok(Node::Array {
                element: self.type_code(input, base)?,
                length: input.get_u32()?,
            }),
            _ => {
                let name = Name {
                    id: text(input)?,
                    name: text(input)?,
                };
                self.named(kind, name, input, base)
            }
        }
    }

    /// What follows id and name.
    fn named(
        &mut self,
        kind: TypeKind,
        name: Name,
        input: &mut Decoder<'d>,
        base: i64,
    ) -> Result<Node, CdrError> {
        Ok(match kind {
            TypeKind::Struct => Node::Struct {
                name,
                members: self.members(input, base)?,
            },
            TypeKind::Except => Node::Exception {
                name,
                members: self.members(input, base)?,
            },
            TypeKind::Alias => Node::Alias {
                name,
                of: self.type_code(input, base)?,
            },
            TypeKind::ValueBox => Node::ValueBox {
                name,
                of: self.type_code(input, base)?,
            },
            TypeKind::Enum => {
                let count = self.count(input, MIN_NAME)?;
                let enumerators: Result<_, _> = (0..count).map(|_| text(input)).collect();
                Node::Enum {
                    name,
                    enumerators: enumerators?,
                }
            }
            TypeKind::Union => self.union(name, input, base)?,
            TypeKind::Value | TypeKind::Event => self.value(kind, name, input, base)?,
            _ => Node::Interface { kind, name },
        })
    }

    fn members(&mut self, input: &mut Decoder<'d>, base: i64) -> Result<Box<[Member]>, CdrError> {
        let count = self.count(input, MIN_MEMBER)?;
        (0..count).map(|_| self.member(input, base)).collect()
    }

    fn member(&mut self, input: &mut Decoder<'d>, base: i64) -> Result<Member, CdrError> {
        Ok(Member {
            name: text(input)?,
            at: self.type_code(input, base)?,
        })
    }

    fn union(&mut self, name: Name, input: &mut Decoder<'d>, base: i64) -> Result<Node, CdrError> {
        let discriminator = self.type_code(input, base)?;
        let kind = self.resolved_kind(discriminator);
        let default = input.get_i32()?;
        let count = self.count(input, MIN_MEMBER)?;
        let mut labels = Vec::with_capacity(count);
        let mut members = Vec::with_capacity(count);
        for place in 0..count {
            let is_default = usize::try_from(default) == Ok(place);
            labels.push(label(kind, is_default, input)?);
            members.push(self.member(input, base)?);
        }
        let default = match u32::try_from(default) {
            Ok(default) if (default as usize) < count => Some(default),
            Err(_) if default == -1 => None,
            _ => return Err(CdrError::BadTypeCode("a union's default member is none")),
        };
        let union = Union {
            name,
            discriminator,
            default,
            members: members.into(),
            labels: labels.into(),
            by_label: Box::default(),
        };
        Ok(Node::Union(Box::new(union.index())))
    }

    fn value(
        &mut self,
        kind: TypeKind,
        name: Name,
        input: &mut Decoder<'d>,
        base: i64,
    ) -> Result<Node, CdrError> {
        let modifier = match input.get_i16()? {
            0 => ValueModifier::None,
            1 => ValueModifier::Custom,
            2 => ValueModifier::Abstract,
            3 => ValueModifier::Truncatable,
            _ => return Err(CdrError::BadTypeCode("there is no such sort of valuetype")),
        };
        let concrete_base = self.type_code(input, base)?;
        // A base that is being read is none yet: it holds itself, which is found out below.
        let null = self.simple.get(&TypeKind::Null);
        let has_base = null != Some(&concrete_base);
        let count = self.count(input, MIN_MEMBER)?;
        let mut members = Vec::with_capacity(count);
        let mut visibility = Vec::with_capacity(count);
        for _ in 0..count {
            members.push(self.member(input, base)?);
            visibility.push(match input.get_i16()? {
                0 => Visibility::Private,
                1 => Visibility::Public,
                _ => return Err(CdrError::BadTypeCode("there is no such visibility")),
            });
        }
        Ok(Node::Value(Box::new(Value {
            kind,
            name,
            modifier,
            base: has_base.then_some(concrete_base),
            members: members.into(),
            visibility: visibility.into(),
        })))
    }

    /// The kind behind aliases of what has been read.
    fn resolved_kind(&self, at: Index) -> TypeKind {
        let original = self.originals.get(at as usize).copied().unwrap_or(at);
        let node = self.nodes.get(original as usize);
        node.map_or(TypeKind::Null, Node::kind)
    }

    /// Notes what an alias stands for, so that chains of them are not followed again and again.
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

    /// How many members follow.
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

fn text(input: &mut Decoder<'_>) -> Result<Box<str>, CdrError> {
    let text = input.get_string_in(NarrowCodeSet::Iso8859_1)?;
    Ok(text.into())
}

/// A label, which is a value of the discriminator's type. That of the default member is an octet that is zero
/// by the book, and a value of the discriminator's type as ORBs write it: it is as long, and not looked at.
fn label(kind: TypeKind, is_default: bool, input: &mut Decoder<'_>) -> Result<i128, CdrError> {
    Ok(match kind {
        TypeKind::Boolean if is_default => i128::from(input.get_u8()?),
        TypeKind::Boolean => i128::from(input.get_bool()?),
        TypeKind::Char | TypeKind::Octet => i128::from(input.get_u8()?),
        TypeKind::WChar => i128::from(u32::from(input.get_wchar()?)),
        TypeKind::Short => i128::from(input.get_i16()?),
        TypeKind::UShort => i128::from(input.get_u16()?),
        TypeKind::Long => i128::from(input.get_i32()?),
        TypeKind::ULong | TypeKind::Enum => i128::from(input.get_u32()?),
        TypeKind::LongLong => i128::from(input.get_i64()?),
        TypeKind::ULongLong => i128::from(input.get_u64()?),
        _ => {
            return Err(CdrError::BadTypeCode(
                "a union's discriminator is neither integer, character, boolean nor enum",
            ));
        }
    })
}
