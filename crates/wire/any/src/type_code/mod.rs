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
mod node;
mod typed;

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use crate::kind::TypeKind;

pub(crate) use arena::{Arena, Shapes};
pub use builder::{Label, TypeBuilder, TypeIndex, UnionDescription, ValueDescription};
pub(crate) use node::{Index, Member, Node, Union, Value};
pub use node::{ValueModifier, Visibility};
pub use typed::Typed;

/// Description of a type.
///
/// Its parts share the memory of the whole, so that accessing one copies nothing; a clone counts
/// one reference, and not even that for types identified by their kind alone.
///
/// `==` is CORBA's `equal`: the same names, the same members. See [`TypeCode::equivalent`] for
/// whether a value of one type may be taken for one of another.
#[derive(Clone)]
pub struct TypeCode {
    /// Arena with the type's description; `None` for [`Arena::simple`].
    arena: Option<Arc<Arena>>,
    at: Index,
}

/// Reason why a TypeCode cannot answer a query about the type.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
pub enum TypeCodeError {
    /// Types of this kind lack the requested property.
    #[error("types of this kind lack the requested property")]
    BadKind,
    /// The type has no member with this number.
    #[error("the type has no member with this number")]
    Bounds,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for TypeCodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl TypeCode {
    pub(crate) const fn simple(kind: TypeKind) -> Self {
        Self {
            arena: None,
            at: kind.number(),
        }
    }

    /// Returns the arena, unless it is the one that all simple types share.
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

    /// Returns the type at an index of the same arena.
    pub(crate) fn part(&self, at: Index) -> Self {
        match &self.arena {
            Some(arena) => Self::in_arena(Arc::clone(arena), at),
            None => self.clone(),
        }
    }

    /// Returns the kind. That of a recursive TypeCode that is not yet part of the type it stands
    /// for is `Null`.
    #[must_use]
    pub fn kind(&self) -> TypeKind {
        self.node().kind()
    }

    /// Returns the type that remains after all aliases are resolved.
    #[must_use]
    pub fn original_type(&self) -> Self {
        self.part(self.arena().resolved(self.at))
    }

    /// Returns the repository id; empty in some TypeCodes from peers.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for types that have none.
    pub fn id(&self) -> Result<&str, TypeCodeError> {
        let name = self.node().name().ok_or(TypeCodeError::BadKind)?;
        Ok(&name.id)
    }

    /// Returns the name without its scope; empty in compact TypeCodes.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for types that have none.
    pub fn name(&self) -> Result<&str, TypeCodeError> {
        let name = self.node().name().ok_or(TypeCodeError::BadKind)?;
        Ok(&name.name)
    }

    /// Returns the number of members of a struct, exception, union or valuetype, or of enumerators
    /// of an enum.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for all others.
    pub fn member_count(&self) -> Result<usize, TypeCodeError> {
        match self.node() {
            Node::Enum { enumerators, .. } => Ok(enumerators.len()),
            node => Ok(node.members().ok_or(TypeCodeError::BadKind)?.len()),
        }
    }

    /// Returns the name of a member or enumerator; empty in compact TypeCodes.
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

    /// Returns the type of a member.
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

    /// Returns the index of the member or enumerator with this name.
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

    /// Returns the label of a union's member.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for a type that is not a union, [`TypeCodeError::Bounds`].
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

    /// Returns the index of the union's member that a discriminator selects, the default one
    /// included; `None` if it selects none. In time logarithmic in the number of members.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for a type that is not a union.
    pub fn member_chosen(&self, discriminator: i128) -> Result<Option<usize>, TypeCodeError> {
        let chosen = self.union()?.chosen(discriminator);
        Ok(chosen.map(|place| place as usize))
    }

    /// Returns the type of a union's discriminator.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for a type that is not a union.
    pub fn discriminator_type(&self) -> Result<Self, TypeCodeError> {
        Ok(self.part(self.union()?.discriminator))
    }

    /// Returns the index of a union's default member, if there is one.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for a type that is not a union.
    pub fn default_index(&self) -> Result<Option<usize>, TypeCodeError> {
        Ok(self.union()?.default.map(|place| place as usize))
    }

    fn union(&self) -> Result<&Union, TypeCodeError> {
        match self.node() {
            Node::Union(union) => Ok(union),
            _ => Err(TypeCodeError::BadKind),
        }
    }

    /// Returns the bound of a string or sequence, 0 for none; the number of an array's elements.
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

    /// Returns the type of the elements of a sequence or array, or the type that an alias or a
    /// boxed value stands for.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for all others.
    pub fn content_type(&self) -> Result<Self, TypeCodeError> {
        match self.node() {
            Node::Union(_) | Node::Value(_) => Err(TypeCodeError::BadKind),
            node => Ok(self.part(node.content().ok_or(TypeCodeError::BadKind)?)),
        }
    }

    /// Returns the digits of a fixed-point type.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for all others.
    pub fn fixed_digits(&self) -> Result<u16, TypeCodeError> {
        match self.node() {
            Node::Fixed { digits, .. } => Ok(*digits),
            _ => Err(TypeCodeError::BadKind),
        }
    }

    /// Returns the digits after the point of a fixed-point type.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for all others.
    pub fn fixed_scale(&self) -> Result<i16, TypeCodeError> {
        match self.node() {
            Node::Fixed { scale, .. } => Ok(*scale),
            _ => Err(TypeCodeError::BadKind),
        }
    }

    /// Returns the visibility of a member of a valuetype.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for a type that is not a valuetype, [`TypeCodeError::Bounds`].
    pub fn member_visibility(&self, index: usize) -> Result<Visibility, TypeCodeError> {
        let visibility = self.value_type()?.visibility.get(index);
        visibility.copied().ok_or(TypeCodeError::Bounds)
    }

    /// Returns the modifier of a valuetype.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for a type that is not a valuetype.
    pub fn type_modifier(&self) -> Result<ValueModifier, TypeCodeError> {
        Ok(self.value_type()?.modifier)
    }

    /// Returns the valuetype with state that a valuetype inherits from, if there is one.
    ///
    /// # Errors
    /// [`TypeCodeError::BadKind`] for a type that is not a valuetype.
    pub fn concrete_base_type(&self) -> Result<Option<Self>, TypeCodeError> {
        Ok(self.value_type()?.base.map(|base| self.part(base)))
    }

    fn value_type(&self) -> Result<&Value, TypeCodeError> {
        match self.node() {
            Node::Value(value) => Ok(value),
            _ => Err(TypeCodeError::BadKind),
        }
    }

    /// Returns whether the type holds itself, through sequences or valuetypes.
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

    /// Checks that the type is valid, as [`crate::Any`] and all code that decodes values does
    /// first.
    ///
    /// # Errors
    /// [`CdrError::BadTypeCode`](punctual_cdr::CdrError::BadTypeCode): values would be endless, a
    /// part is void or was never defined, or labels of a union are duplicated.
    pub fn check(&self) -> Result<(), punctual_cdr::CdrError> {
        self.arena().shapes().map(drop)
    }

    /// Returns whether a value of this type may hold valuetypes, not counting those in Anys: such a value
    /// is a graph, where others are written from begin to end.
    ///
    /// # Errors
    /// As [`TypeCode::check`].
    pub fn holds_values(&self) -> Result<bool, punctual_cdr::CdrError> {
        let types = self.arena().shapes()?;
        Ok(types.shape(self.at).holds.has_values())
    }
}

/// Returns the TypeCode of the type `null`.
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
