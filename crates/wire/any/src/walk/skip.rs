//! Skipping of values.

use punctual_cdr::{CdrError, Decoder, GiopVersion, Unmarshal};
use punctual_ior::Ior;

use super::leaf::leaf;
use super::{discriminator, no_such_value, pass_id, phase, sequence_length};
use crate::any::Any;
use crate::kind::TypeKind;
use crate::shape::{Holds, run_size};
use crate::type_code::{Index, Member, Node, Shapes, TypeCode};
use crate::value::FormalType;

/// Skips a value, whose content is examined only where its length depends on it. In constant time
/// where a type's values are of one size, and for sequences of those.
///
/// # Errors
/// Errors of the encoding, as far as it is examined.
pub(crate) fn skip(
    types: Shapes<'_>,
    type_code: &TypeCode,
    input: &mut Decoder<'_>,
) -> Result<Skipped, CdrError> {
    let mut skip = Skip::new(type_code, Passing::Over);
    skip.value(types, type_code.at(), input)?;
    Ok(skip.skipped(types.shape(type_code.at()).holds))
}

/// Skips an Any, as [`skip`] does a value. One that is not self-contained need not be readable.
///
/// # Errors
/// Errors of the encoding, as far as it is examined.
pub(crate) fn skip_any(input: &mut Decoder<'_>) -> Result<Skipped, CdrError> {
    let (type_code, is_self_contained) = TypeCode::pass(input)?;
    let types = type_code.arena().shapes()?;
    let value = input.nested(|input| skip(types, &type_code, input))?;
    // A type with valuetypes is read value by value, also where none is there: that refuses more than skipping does.
    let has_values = types.shape(type_code.at()).holds.has_values();
    Ok(Skipped {
        is_self_contained: is_self_contained && value.is_self_contained && !has_values,
        holds: Holds::ANY_ALONE.without_anys().and(value.holds),
    })
}

/// Value that was skipped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skipped {
    /// `true` if the encoding is valid in another message: nothing in it refers to data outside of it.
    pub(crate) is_self_contained: bool,
    /// Sorts of content that the value holds, those in Anys among them.
    pub(crate) holds: Holds,
}

/// Skips a run of values, a type and their number, within a value of this type.
///
/// # Errors
/// Errors of the encoding, as far as it is examined.
pub(crate) fn skip_run(
    types: Shapes<'_>,
    type_code: &TypeCode,
    (at, count): (Index, u64),
    input: &mut Decoder<'_>,
) -> Result<(), CdrError> {
    Skip::new(type_code, Passing::Over).run(types, at, count, input)
}

/// Skips elements of a sequence or array within a value of this type; returns whether reading may
/// begin at any of them. A valuetype in an Any may refer to data written for an earlier one.
///
/// # Errors
/// Errors of the encoding, as far as it is examined.
pub(super) fn pass(
    types: Shapes<'_>,
    type_code: &TypeCode,
    element: Index,
    length: usize,
    passing: Passing,
    input: &mut Decoder<'_>,
) -> Result<bool, CdrError> {
    let mut skip = Skip::new(type_code, passing);
    let mut ahead = input.ahead();
    let passed = skip.run(types, element, length as u64, &mut ahead);
    if skip.has_values {
        return Ok(false);
    }
    passed?;
    input.catch_up(ahead);
    Ok(true)
}

/// Mode of skipping encoded values: with or without checking them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Passing {
    /// Bytes are examined only where the length depends on them.
    Over,
    /// Bytes are checked to be values of their types, which can be decoded afterwards.
    Checking,
}

struct Skip<'a> {
    type_code: &'a TypeCode,
    passing: Passing,
    is_self_contained: bool,
    /// Sorts of content of the skipped values of Anys. `ANY` stands for what is not known.
    in_anys: Holds,
    /// `true` if a valuetype has been found in the skipped values.
    has_values: bool,
    /// Type of the previous Any, kept so that it need not be decoded again if the next one refers
    /// to it.
    last: TypeCode,
}

impl<'a> Skip<'a> {
    fn new(type_code: &'a TypeCode, passing: Passing) -> Self {
        Self {
            type_code,
            passing,
            is_self_contained: true,
            in_anys: Holds::default(),
            has_values: false,
            last: TypeCode::NULL,
        }
    }

    /// Returns what was skipped, a value of a type that holds these sorts of content.
    fn skipped(&self, of_type: Holds) -> Skipped {
        Skipped {
            is_self_contained: self.is_self_contained,
            holds: of_type.without_anys().and(self.in_anys),
        }
    }

    fn value(
        &mut self,
        types: Shapes<'_>,
        at: Index,
        input: &mut Decoder<'_>,
    ) -> Result<(), CdrError> {
        if self.passing == Passing::Over && skip_at_once(types, at, 1, input)? {
            return Ok(());
        }
        match types.node(at) {
            Node::Primitive(TypeKind::Any) => self.any(input),
            Node::Primitive(TypeKind::TypeCode) => {
                self.in_anys = self.in_anys.and(Holds::ANY_ALONE);
                self.type_code(input).map(drop)
            }
            node @ (Node::Primitive(_)
            | Node::Text { .. }
            | Node::Fixed { .. }
            | Node::Enum { .. })
                if self.passing == Passing::Checking =>
            {
                leaf(node, input).map(drop)
            }
            Node::Primitive(kind) => self.primitive(*kind, input),
            Node::Text { is_wide, .. } => text(*is_wide, input),
            Node::Fixed { digits, .. } => input.skip(usize::from(digits / 2 + 1)),
            Node::Enum { .. } => input.get_u32().map(drop),
            Node::Sequence { element, bound } => {
                let length = sequence_length(types, *element, *bound, input)?;
                self.run(types, *element, length as u64, input)
            }
            Node::Array { element, length } => self.run(types, *element, u64::from(*length), input),
            Node::Alias { .. } => self.value(types, types.shape(at).original, input),
            Node::Struct { members, .. } => self.members(types, members, input),
            Node::Exception { name, members } => {
                pass_id(&name.id, input);
                self.members(types, members, input)
            }
            Node::Union(union) => {
                let chosen = discriminator::read(types, union.discriminator, input)?;
                let member = union.chosen(chosen).map(|place| place as usize);
                match member.and_then(|place| union.members.get(place)) {
                    Some(member) => input.nested(|input| self.value(types, member.at, input)),
                    None => Ok(()),
                }
            }
            Node::Interface { kind, .. } => match kind {
                TypeKind::Objref | TypeKind::Component if self.passing == Passing::Checking => {
                    Ior::unmarshal(input).map(drop)
                }
                TypeKind::Objref | TypeKind::Component => reference(input),
                TypeKind::AbstractInterface if input.get_bool()? => reference(input),
                TypeKind::AbstractInterface => self.valuetype(at, input),
                _ => Err(no_such_value()),
            },
            Node::Value(_) | Node::ValueBox { .. } => self.valuetype(at, input),
            Node::Recursive { .. } => Err(no_such_value()),
        }
    }

    fn members(
        &mut self,
        types: Shapes<'_>,
        members: &[Member],
        input: &mut Decoder<'_>,
    ) -> Result<(), CdrError> {
        input.nested(|input| {
            let mut members = members.iter();
            members.try_for_each(|member| self.value(types, member.at, input))
        })
    }

    /// Skips the elements of a sequence or array.
    fn run(
        &mut self,
        types: Shapes<'_>,
        element: Index,
        length: u64,
        input: &mut Decoder<'_>,
    ) -> Result<(), CdrError> {
        let shape = types.shape(element);
        // Any number of empty elements takes no bytes.
        if length == 0 || shape.sizes == Some([0; 8]) {
            return Ok(());
        }
        let original = types.node(shape.original);
        let is_looked_at = self.passing == Passing::Checking && !is_number(original);
        if let Node::Primitive(_) | Node::Enum { .. } = original
            && shape.sizes.is_some()
            && !is_looked_at
        {
            // A run of numbers may be lent, and is contiguous then.
            let octets = shape.min_size.saturating_mul(length);
            input.align(shape.first.into())?;
            return input.skip(usize::try_from(octets).unwrap_or(usize::MAX));
        }
        if self.passing == Passing::Over && skip_at_once(types, element, length, input)? {
            return Ok(());
        }
        refuse_impossible(shape.min_size, length, input)?;
        input.nested(|input| (0..length).try_for_each(|_| self.value(types, element, input)))
    }

    fn primitive(&mut self, kind: TypeKind, input: &mut Decoder<'_>) -> Result<(), CdrError> {
        let alignment = match kind {
            TypeKind::Null | TypeKind::Void => return Ok(()),
            TypeKind::Boolean | TypeKind::Octet | TypeKind::Char => 1,
            TypeKind::Short | TypeKind::UShort => 2,
            TypeKind::Long | TypeKind::ULong | TypeKind::Float => 4,
            TypeKind::LongLong | TypeKind::ULongLong | TypeKind::Double => 8,
            TypeKind::LongDouble => {
                input.align(8)?;
                return input.skip(16);
            }
            TypeKind::WChar if input.coding().version == GiopVersion::V1_2 => {
                let length = input.get_u8()?;
                return input.skip(length.into());
            }
            TypeKind::WChar => 2,
            TypeKind::Principal => return input.get_octets().map(drop),
            _ => return Ok(()),
        };
        input.align(alignment)?;
        input.skip(alignment)
    }

    fn any(&mut self, input: &mut Decoder<'_>) -> Result<(), CdrError> {
        let type_code = self.type_code(input)?;
        let types = type_code.arena().shapes()?;
        let is_self_contained = match self.passing {
            Passing::Over => {
                let mut within = Skip::new(&type_code, Passing::Over);
                let passed = input.nested(|input| within.value(types, type_code.at(), input));
                self.has_values |= within.has_values;
                passed?;
                let skipped = within.skipped(types.shape(type_code.at()).holds);
                self.in_anys = self.in_anys.and(skipped.holds);
                skipped.is_self_contained
            }
            Passing::Checking => input.nested(|input| self.any_value(types, &type_code, input))?,
        };
        self.is_self_contained &= is_self_contained;
        self.last = type_code;
        Ok(())
    }

    /// Skips the value of an Any as far as reading the Any would examine it: a copyable value is
    /// skipped, any other one transcoded by its type.
    fn any_value(
        &mut self,
        types: Shapes<'_>,
        type_code: &TypeCode,
        input: &mut Decoder<'_>,
    ) -> Result<bool, CdrError> {
        let mut ahead = input.ahead();
        let mut within = Skip::new(type_code, Passing::Over);
        let passed = within.value(types, type_code.at(), &mut ahead);
        self.has_values |= within.has_values;
        if passed.is_ok() && within.is_self_contained {
            input.catch_up(ahead);
            return Ok(true);
        }
        Any::default().unmarshal_as(type_code, input)?;
        Ok(false)
    }

    /// Skips a valuetype, whose end only reading finds. It may refer to values outside, and they to
    /// it.
    fn valuetype(&mut self, at: Index, input: &mut Decoder<'_>) -> Result<(), CdrError> {
        (self.is_self_contained, self.has_values) = (false, true);
        let formal = FormalType::new(&self.type_code.part(at));
        input.get_value(&formal).map(drop)
    }

    fn type_code(&mut self, input: &mut Decoder<'_>) -> Result<TypeCode, CdrError> {
        let (type_code, is_self_contained) = TypeCode::pass(input)?;
        self.is_self_contained &= is_self_contained;
        Ok(type_code)
    }
}

/// Returns whether the type is one for which any bytes are a valid value.
fn is_number(node: &Node) -> bool {
    use TypeKind as Kind;
    matches!(
        node.kind(),
        Kind::Octet
            | Kind::Short
            | Kind::UShort
            | Kind::Long
            | Kind::ULong
            | Kind::LongLong
            | Kind::ULongLong
            | Kind::Float
            | Kind::Double
            | Kind::LongDouble
    )
}

/// Skips `count` values if they are of one size and contiguous; returns whether it did.
fn skip_at_once(
    types: Shapes<'_>,
    at: Index,
    count: u64,
    input: &mut Decoder<'_>,
) -> Result<bool, CdrError> {
    let Some(sizes) = &types.shape(at).sizes else {
        return Ok(false);
    };
    let octets = run_size(sizes, phase(input), count);
    match usize::try_from(octets) {
        Ok(octets) if octets <= input.unbroken().len() => {
            input.skip(octets)?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Refuses more elements than the bytes left can hold.
pub(super) fn refuse_impossible(
    min_size: u64,
    length: u64,
    input: &Decoder<'_>,
) -> Result<(), CdrError> {
    let needed = length.saturating_mul(min_size.max(1));
    let left = input.remaining();
    if needed > left as u64 {
        return Err(CdrError::Truncated {
            needed: u32::try_from(needed).unwrap_or(u32::MAX),
            left: u32::try_from(left).unwrap_or(u32::MAX),
        });
    }
    Ok(())
}

fn text(is_wide: bool, input: &mut Decoder<'_>) -> Result<(), CdrError> {
    let length = input.get_u32()?;
    let limit = input.coding().limits.string;
    // The limit counts without a NUL or a byte-order mark.
    if length as usize > limit.saturating_add(2) {
        return Err(CdrError::LengthOverLimit {
            length,
            limit: u32::try_from(limit).unwrap_or(u32::MAX),
        });
    }
    let has_units = is_wide && input.coding().version != GiopVersion::V1_2;
    input.skip(length as usize * if has_units { 2 } else { 1 })
}

fn reference(input: &mut Decoder<'_>) -> Result<(), CdrError> {
    text(false, input)?;
    for _ in 0..input.get_length(8)? {
        input.get_u32()?;
        input.get_octets()?;
    }
    Ok(())
}
