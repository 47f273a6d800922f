//! Places in encoded values.

mod scalar;

use std::borrow::Cow;

use punctual_cdr::{ByteOrder, CdrError, Coding, Decoder};

use crate::any::Any;
use crate::kind::TypeKind;
use crate::type_code::{Index, Node, TypeCode};
use crate::walk::{discriminator, pass_id, sequence_length, skip_run};

pub use scalar::Scalar;

/// Place in the encoded value of an [`Any`], which moves to parts of the value: members, elements,
/// the content of Anys. What stands before a part is skipped by its TypeCode, and nothing is
/// decoded but what is asked for.
///
/// Moving takes time in proportion to the members or elements that are passed, constant time for
/// elements of one size; it allocates only where an Any within the value has a TypeCode that the
/// thread has not seen lately, and where valuetypes are passed. After an error the place is
/// unspecified.
#[derive(Clone, Debug)]
pub struct Cursor<'d> {
    /// Type whose arena the two indices belong to.
    type_code: Cow<'d, TypeCode>,
    /// Type as declared, which may be an alias.
    declared: Index,
    /// Type after all aliases are resolved.
    at: Index,
    input: Decoder<'d>,
}

impl Any {
    /// Returns a cursor at the value.
    ///
    /// # Errors
    /// [`CdrError::BadTypeCode`].
    pub fn cursor(&self) -> Result<Cursor<'_>, CdrError> {
        let input = match self.body() {
            Some(body) => body.decoder(),
            None => Decoder::new(&[], ByteOrder::NATIVE, Coding::default()),
        };
        Cursor::new(Cow::Borrowed(self.type_code()), input)
    }
}

impl<'d> Cursor<'d> {
    /// Returns a cursor at the content of an Any within the value of another, at this offset of it.
    ///
    /// # Errors
    /// Errors of the encoding, as where no Any begins there.
    pub(crate) fn in_any(any: &'d Any, offset: usize) -> Result<Self, CdrError> {
        let mut input = match any.body() {
            Some(body) => body.decoder_at(offset),
            None => Decoder::new(&[], ByteOrder::NATIVE, Coding::default()),
        };
        let (type_code, _) = TypeCode::pass(&mut input)?;
        Self::new(Cow::Owned(type_code), input)
    }

    fn new(type_code: Cow<'d, TypeCode>, input: Decoder<'d>) -> Result<Self, CdrError> {
        let declared = type_code.at();
        let at = type_code.arena().shapes()?.shape(declared).original;
        Ok(Self {
            type_code,
            declared,
            at,
            input,
        })
    }

    fn node(&self) -> &Node {
        self.type_code.arena().node(self.at)
    }

    /// Returns the kind of the value's type, which is no alias.
    #[must_use]
    pub fn kind(&self) -> TypeKind {
        self.node().kind()
    }

    /// Returns the value's type after all aliases are resolved.
    #[must_use]
    pub fn type_code(&self) -> Cow<'d, TypeCode> {
        match &self.type_code {
            Cow::Borrowed(whole) if whole.at() == self.at => Cow::Borrowed(whole),
            whole => Cow::Owned(whole.part(self.at)),
        }
    }

    /// Returns the value's type as it is declared, which may be an alias.
    #[must_use]
    pub fn declared_type(&self) -> Cow<'d, TypeCode> {
        match &self.type_code {
            Cow::Borrowed(whole) if whole.at() == self.declared => Cow::Borrowed(whole),
            whole => Cow::Owned(whole.part(self.declared)),
        }
    }

    /// Returns the number of encoded bytes that are left from here on, for callers that bound their
    /// work.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.input.remaining()
    }

    /// Moves into the Any that stands here, which is of kind [`TypeKind::Any`].
    ///
    /// # Errors
    /// [`CdrError::BadTypeCode`], and errors of the encoding.
    pub fn enter_any(&mut self) -> Result<(), CdrError> {
        let (type_code, _) = TypeCode::pass(&mut self.input)?;
        let declared = type_code.at();
        self.at = type_code.arena().shapes()?.shape(declared).original;
        self.declared = declared;
        self.type_code = Cow::Owned(type_code);
        Ok(())
    }

    /// Returns the number of members of the struct, exception or union; 0 for other kinds.
    #[must_use]
    pub fn member_count(&self) -> usize {
        self.node().members().map_or(0, <[_]>::len)
    }

    /// Returns the index of the struct's, exception's or union's member with this name.
    #[must_use]
    pub fn member_named(&self, name: &str) -> Option<usize> {
        let mut members = self.node().members()?.iter();
        members.position(|member| *member.name == *name)
    }

    /// Moves to a member of the struct or exception, or of the union whose discriminator selects it.
    /// Returns `false` if there is no such member, or another one is selected.
    ///
    /// # Errors
    /// Errors of the encoding.
    pub fn enter_member(&mut self, index: usize) -> Result<bool, CdrError> {
        let types = self.type_code.arena().shapes()?;
        let target = match types.node(self.at) {
            Node::Union(union) => {
                let number = discriminator::read(types, union.discriminator, &mut self.input)?;
                let chosen = union.chosen(number).map(|place| place as usize);
                let member = union.members.get(index).filter(|_| chosen == Some(index));
                member.map(|member| member.at)
            }
            node @ (Node::Struct { members, .. } | Node::Exception { members, .. }) => {
                if let Node::Exception { name, .. } = node {
                    pass_id(&name.id, &mut self.input);
                }
                let target = members.get(index).map(|member| member.at);
                let passed = members.get(..index).filter(|_| target.is_some());
                for member in passed.unwrap_or_default() {
                    skip_run(types, &self.type_code, (member.at, 1), &mut self.input)?;
                }
                target
            }
            _ => None,
        };
        self.settle(target)
    }

    /// Moves to the discriminator of the union. Returns `false` for other kinds.
    ///
    /// # Errors
    /// [`CdrError::BadTypeCode`].
    pub fn enter_discriminator(&mut self) -> Result<bool, CdrError> {
        let target = match self.node() {
            Node::Union(union) => Some(union.discriminator),
            _ => None,
        };
        self.settle(target)
    }

    /// Returns the discriminator of the union as a number, and the index of the member that it
    /// selects, if any; `None` for other kinds. The cursor stays.
    ///
    /// # Errors
    /// Errors of the encoding.
    pub fn chosen(&self) -> Result<Option<(i128, Option<usize>)>, CdrError> {
        let types = self.type_code.arena().shapes()?;
        let Node::Union(union) = types.node(self.at) else {
            return Ok(None);
        };
        let mut ahead = self.input.clone();
        let number = discriminator::read(types, union.discriminator, &mut ahead)?;
        let member = union.chosen(number).map(|place| place as usize);
        Ok(Some((number, member)))
    }

    /// Moves to the first element of the sequence or array, and returns the number of elements;
    /// `None` for other kinds. With no elements, the cursor must not be read.
    ///
    /// # Errors
    /// Errors of the encoding.
    pub fn enter_elements(&mut self) -> Result<Option<usize>, CdrError> {
        let types = self.type_code.arena().shapes()?;
        let (element, length) = match types.node(self.at) {
            Node::Sequence { element, bound } => {
                let length = sequence_length(types, *element, *bound, &mut self.input)?;
                (*element, length)
            }
            Node::Array { element, length } => (*element, *length as usize),
            _ => return Ok(None),
        };
        self.settle(Some(element))?;
        Ok(Some(length))
    }

    /// Skips `count` values of the type of the one that stands here, such as elements.
    ///
    /// # Errors
    /// Errors of the encoding.
    pub fn pass(&mut self, count: usize) -> Result<(), CdrError> {
        let types = self.type_code.arena().shapes()?;
        let run = (self.declared, count as u64);
        skip_run(types, &self.type_code, run, &mut self.input)
    }

    /// Goes on with a part of the type; returns whether there is one.
    fn settle(&mut self, target: Option<Index>) -> Result<bool, CdrError> {
        let Some(target) = target else {
            return Ok(false);
        };
        self.declared = target;
        self.at = self.type_code.arena().shapes()?.shape(target).original;
        Ok(true)
    }
}
