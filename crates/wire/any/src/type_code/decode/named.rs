//! Decoding of the encapsulation of a type's parameters.

use punctual_cdr::{CdrError, Decoder, NarrowCodeSet};

use super::Reader;
use crate::kind::TypeKind;
use crate::type_code::encode::INDIRECTION;
use crate::type_code::label;
use crate::type_code::node::{Member, Name, Node, Union, Value, ValueModifier, Visibility};

/// Least size of a name: a length and a NUL.
const MIN_NAME: usize = 5;

/// Least size of a name and a type: a length and a NUL, padding, a kind.
const MIN_MEMBER: usize = 12;

impl<'d> Reader<'d> {
    /// Reads the parameters of a type of this kind.
    pub(super) fn parameters(
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

    /// Reads the parameters of a TypeCode that follow its id and its name.
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
            labels.push(if is_default {
                default_label(kind, input)?;
                0
            } else {
                label::read(kind, input)?
            });
            members.push(self.member(input, base)?);
        }
        let default = match u32::try_from(default) {
            Ok(default) if (default as usize) < count => Some(default),
            Err(_) if default == -1 => None,
            _ => {
                return Err(CdrError::BadTypeCode(
                    "invalid index of a union's default member",
                ));
            }
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
            _ => return Err(CdrError::BadTypeCode("unknown value modifier")),
        };
        let concrete_base = self.type_code(input, base)?;
        // A base still being read counts as none: it would hold itself, which is found out below.
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
                _ => return Err(CdrError::BadTypeCode("unknown visibility")),
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
}

fn text(input: &mut Decoder<'_>) -> Result<Box<str>, CdrError> {
    let text = input.get_string_in(NarrowCodeSet::Iso8859_1)?;
    // Names are shown to people, on terminals.
    if text.chars().any(char::is_control) {
        return Err(CdrError::BadTypeCode("a control character in a name"));
    }
    Ok(text.into())
}

/// Reads the label of the default member, which is meaningless: a value of the discriminator's type
/// (CORBA 3.3 part 2, §9.3.5.1, table 9.2), or, from JacORB, an octet. The data after it shows
/// which, where it makes a difference.
fn default_label(kind: TypeKind, input: &mut Decoder<'_>) -> Result<(), CdrError> {
    let mut ahead = input.ahead();
    let number = match kind {
        // Any octet is accepted.
        TypeKind::Boolean => ahead.get_u8().map(i128::from),
        _ => label::read(kind, &mut ahead),
    };
    if number.is_err() || !begins_member(&mut ahead) {
        let mut octet = input.ahead();
        octet.get_u8()?;
        if begins_member(&mut octet) {
            input.catch_up(octet);
            return Ok(());
        }
    }
    input.catch_up(ahead);
    number.map(drop)
}

/// Returns whether a name and a type come next.
fn begins_member(input: &mut Decoder<'_>) -> bool {
    let mut ahead = input.ahead();
    let is_kind = |number: u32| number == INDIRECTION || TypeKind::from_number(number).is_some();
    text(&mut ahead).is_ok() && ahead.get_u32().is_ok_and(is_kind)
}
