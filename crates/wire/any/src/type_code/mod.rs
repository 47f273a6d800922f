//! TypeCodes: descriptions of types, as values (CORBA 3.3 part 1, §8.11).

mod arena;
mod builder;
mod cache;
mod compact;
mod construct;
mod decode;
mod display;
mod encode;
mod equality;
mod graft;
pub(crate) mod label;
mod typed;

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use crate::kind::TypeKind;

pub(crate) use arena::{Arena, Index, Member, Node, Shapes, Union, Value};
pub use arena::{ValueModifier, Visibility};
pub use builder::{Label, TypeBuilder, TypeIndex, UnionDescription, ValueDescription};
pub use typed::Typed;

/// The description of a type.
///
/// Its parts share the memory of the whole, so that taking one apart copies nothing; a clone counts one
/// reference, and not even that for types that their kind says all of.
///
/// `==` is CORBA's `equal`: the same names, the same members. See [`TypeCode::equivalent`] for what decides
/// whether a value of one type may be taken for one of another.
#[derive(Clone)]
pub struct TypeCode {
    /// `None` for [`Arena::simple`].
    arena: Option<Arc<Arena>>,
    at: Index,
}

/// Why a TypeCode has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TypeCodeError {
    /// Types of this kind have nothing of what was asked for.
    #[error("types of this kind have no such part")]
    BadKind,
    /// There is no member with this number.
    #[error("the type has no member with this number")]
    Bounds,
}

impl TypeCode {
    pub(crate) const fn simple(kind: TypeKind) -> Self {
        Self {
            arena: None,
            at: kind.number(),
        }
    }

    /// The arena, unless it is the one that all simple types share.
    pub(super) fn own_arena(&self) -> Option<&Arc<Arena>> {
        self.arena.as_ref()
    }

    pub(crate) fn in_arena(arena: Arc<Arena>, at: Index) -> Self {
        let simple = match arena.node(at) {
            Node::Primitive(kind) => Some(*kind),
            node @ Node::Text { bound: 0, .. } => Some(node.kind()),
            _ => None,
        };
        match simple {
            Some(kind) => Self::simple(kind),
            None => Self {
                arena: Some(arena),
                at,
            },
        }
    }

    #[inline]
    pub(crate) fn arena(&self) -> &Arena {
        match &self.arena {
            Some(arena) => arena,
            None => Arena::simple(),
        }
    }

    #[inline]
    pub(crate) fn at(&self) -> Index {
        self.at
    }

    pub(crate) fn node(&self) -> &Node {
        self.arena().node(self.at)
    }

    /// The type at a place of the same arena.
    pub(crate) fn part(&self, at: Index) -> Self {
        match &self.arena {
            Some(arena) => Self::in_arena(Arc::clone(arena), at),
            None => self.clone(),
        }
    }

    /// The kind. That of a recursive TypeCode that is not yet part of the type it stands for is `Null`.
    #[must_use]
    pub fn kind(&self) -> TypeKind {
        self.node().kind()
    }

    /// The type behind aliases.
    #[must_use]
    pub fn original_type(&self) -> Self {
        self.part(self.arena().resolved(self.at))
    }

    /// The repository id; empty in some that came from peers.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for types that have none.
    pub fn id(&self) -> Result<&str, TypeCodeError> {
        let name = self.node().name().ok_or(TypeCodeError::BadKind)?;
        Ok(&name.id)
    }

    /// The name without its scope; empty in compact TypeCodes.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for types that have none.
    pub fn name(&self) -> Result<&str, TypeCodeError> {
        let name = self.node().name().ok_or(TypeCodeError::BadKind)?;
        Ok(&name.name)
    }

    /// How many members a struct, exception, union or valuetype has, or enumerators an enum.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for all others.
    pub fn member_count(&self) -> Result<usize, TypeCodeError> {
        match self.node() {
            Node::Enum { enumerators, .. } => Ok(enumerators.len()),
            node => Ok(node.members().ok_or(TypeCodeError::BadKind)?.len()),
        }
    }

    /// The name of a member or enumerator; empty in compact TypeCodes.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for types without members, [`TypeCodeError::Bounds`].
    pub fn member_name(&self, index: usize) -> Result<&str, TypeCodeError> {
        match self.node() {
            Node::Enum { enumerators, .. } => {
                let name = enumerators.get(index).ok_or(TypeCodeError::Bounds)?;
                Ok(name)
            }
            _ => Ok(&self.member(index)?.name),
        }
    }

    /// The type of a member.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for types without members, [`TypeCodeError::Bounds`].
    pub fn member_type(&self, index: usize) -> Result<Self, TypeCodeError> {
        Ok(self.part(self.member(index)?.at))
    }

    fn member(&self, index: usize) -> Result<&Member, TypeCodeError> {
        let members = self.node().members().ok_or(TypeCodeError::BadKind)?;
        members.get(index).ok_or(TypeCodeError::Bounds)
    }

    /// Which member or enumerator has this name.
    #[must_use]
    pub fn member_index(&self, name: &str) -> Option<usize> {
        match self.node() {
            Node::Enum { enumerators, .. } => enumerators.iter().position(|one| **one == *name),
            node => {
                let mut members = node.members()?.iter();
                members.position(|member| *member.name == *name)
            }
        }
    }

    /// The label of a union's member.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for what is no union, [`TypeCodeError::Bounds`].
    pub fn member_label(&self, index: usize) -> Result<Label, TypeCodeError> {
        let union = self.union()?;
        let label = union.labels.get(index).ok_or(TypeCodeError::Bounds)?;
        let is_default = union
            .default
            .is_some_and(|default| default as usize == index);
        Ok(if is_default {
            Label::Default
        } else {
            Label::Value(*label)
        })
    }

    /// Which of a union's members a discriminator chooses, the default one included; `None` if it chooses
    /// none. In time of the logarithm of their number.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for what is no union.
    pub fn member_chosen(&self, discriminator: i128) -> Result<Option<usize>, TypeCodeError> {
        let chosen = self.union()?.chosen(discriminator);
        Ok(chosen.map(|place| place as usize))
    }

    /// The type of a union's discriminator.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for what is no union.
    pub fn discriminator_type(&self) -> Result<Self, TypeCodeError> {
        Ok(self.part(self.union()?.discriminator))
    }

    /// Which member of a union is the default one, if there is one.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for what is no union.
    pub fn default_index(&self) -> Result<Option<usize>, TypeCodeError> {
        Ok(self.union()?.default.map(|place| place as usize))
    }

    fn union(&self) -> Result<&Union, TypeCodeError> {
        match self.node() {
            Node::Union(union) => Ok(union),
            _ => Err(TypeCodeError::BadKind),
        }
    }

    /// The bound of a string or sequence, 0 for none; the number of an array's elements.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for all others.
    pub fn length(&self) -> Result<u32, TypeCodeError> {
        match self.node() {
            Node::Text { bound, .. } | Node::Sequence { bound, .. } => Ok(*bound),
            Node::Array { length, .. } => Ok(*length),
            _ => Err(TypeCodeError::BadKind),
        }
    }

    /// The type of the elements of a sequence or array, or that which an alias or a boxed value stands for.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for all others.
    pub fn content_type(&self) -> Result<Self, TypeCodeError> {
        match self.node() {
            Node::Union(_) | Node::Value(_) => Err(TypeCodeError::BadKind),
            node => Ok(self.part(node.content().ok_or(TypeCodeError::BadKind)?)),
        }
    }

    /// The digits of a fixed-point type.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for all others.
    pub fn fixed_digits(&self) -> Result<u16, TypeCodeError> {
        match self.node() {
            Node::Fixed { digits, .. } => Ok(*digits),
            _ => Err(TypeCodeError::BadKind),
        }
    }

    /// The digits after the point of a fixed-point type.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for all others.
    pub fn fixed_scale(&self) -> Result<i16, TypeCodeError> {
        match self.node() {
            Node::Fixed { scale, .. } => Ok(*scale),
            _ => Err(TypeCodeError::BadKind),
        }
    }

    /// Who sees a member of a valuetype.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for what is no valuetype, [`TypeCodeError::Bounds`].
    pub fn member_visibility(&self, index: usize) -> Result<Visibility, TypeCodeError> {
        let visibility = self.value_type()?.visibility.get(index);
        visibility.copied().ok_or(TypeCodeError::Bounds)
    }

    /// What sort of valuetype.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for what is none.
    pub fn type_modifier(&self) -> Result<ValueModifier, TypeCodeError> {
        Ok(self.value_type()?.modifier)
    }

    /// The valuetype with state that a valuetype inherits from, if there is one.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for what is no valuetype.
    pub fn concrete_base_type(&self) -> Result<Option<Self>, TypeCodeError> {
        Ok(self.value_type()?.base.map(|base| self.part(base)))
    }

    fn value_type(&self) -> Result<&Value, TypeCodeError> {
        match self.node() {
            Node::Value(value) => Ok(value),
            _ => Err(TypeCodeError::BadKind),
        }
    }

    /// Whether the type holds itself, through sequences or valuetypes.
    #[must_use]
    pub fn is_recursive(&self) -> bool {
        let mut seen = vec![false; self.arena().nodes().len()];
        let mut to_see: Vec<Index> = self.node().parts().collect();
        while let Some(at) = to_see.pop() {
            if at == self.at {
                return true;
            }
            if let Some(seen @ false) = seen.get_mut(at as usize) {
                *seen = true;
                to_see.extend(self.arena().node(at).parts());
            }
        }
        false
    }

    /// Whether values can be of this type, which [`crate::Any`] and all that takes values apart ask first.
    ///
    /// # Errors
    /// [`CdrError::BadTypeCode`](punctual_cdr::CdrError::BadTypeCode): values would be endless, a part is void or was never defined, labels
    /// of a union are doubled.
    pub fn check(&self) -> Result<(), punctual_cdr::CdrError> {
        self.arena().shapes().map(drop)
    }

    /// Whether a value of this type may hold valuetypes, those in Anys aside: it is then one end of a graph, where
    /// others are written from one end to the other.
    ///
    /// # Errors
    /// As [`TypeCode::check`].
    pub fn holds_values(&self) -> Result<bool, punctual_cdr::CdrError> {
        let types = self.arena().shapes()?;
        Ok(types.shape(self.at).holds.has_values())
    }
}

/// The null type.
impl Default for TypeCode {
    fn default() -> Self {
        Self::simple(TypeKind::Null)
    }
}

impl fmt::Debug for TypeCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TypeCode({self})")
    }
}
