//! Nodes of types, which refer to one another by index.

use crate::kind::TypeKind;

/// Index of a node in the arena of a type.
pub(crate) type Index = u32;

/// Node of one type. Parts are indices into the same arena.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Primitive(TypeKind),
    /// Node of a `string` or `wstring`; the bound 0 means none.
    Text {
        is_wide: bool,
        bound: u32,
    },
    Fixed {
        digits: u16,
        scale: i16,
    },
    Sequence {
        element: Index,
        bound: u32,
    },
    Array {
        element: Index,
        length: u32,
    },
    /// Node of a type identified by id and name alone: interfaces of all kinds, `native`,
    /// components and homes.
    Interface {
        kind: TypeKind,
        name: Name,
    },
    Alias {
        name: Name,
        of: Index,
    },
    ValueBox {
        name: Name,
        of: Index,
    },
    Struct {
        name: Name,
        members: Box<[Member]>,
    },
    Exception {
        name: Name,
        members: Box<[Member]>,
    },
    Union(Box<Union>),
    Enum {
        name: Name,
        enumerators: Box<[Box<str>]>,
    },
    Value(Box<Value>),
    /// Placeholder for a type known only by its id, until it becomes part of the type with that id.
    Recursive {
        id: Box<str>,
    },
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Name {
    pub(crate) id: Box<str>,
    pub(crate) name: Box<str>,
}

#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: Box<str>,
    pub(crate) at: Index,
}

#[derive(Clone, Debug)]
pub(crate) struct Union {
    pub(crate) name: Name,
    pub(crate) discriminator: Index,
    pub(crate) default: Option<u32>,
    pub(crate) members: Box<[Member]>,
    /// Label of each member; that of the default member is meaningless.
    pub(crate) labels: Box<[i128]>,
    /// Labels and indices of members, ascending by label, for a fast look-up however many there
    /// are. The default member is not among them.
    pub(crate) by_label: Box<[(i128, u32)]>,
}

impl Union {
    /// Builds the index by which union members are found from labels.
    pub(crate) fn index(mut self) -> Self {
        let places = (0u32..).zip(&self.labels);
        let mut by_label: Vec<(i128, u32)> = places
            .filter(|(place, _)| Some(*place) != self.default)
            .map(|(place, label)| (*label, place))
            .collect();
        by_label.sort_unstable();
        self.by_label = by_label.into();
        self
    }

    /// Returns the index of the member that a discriminator selects, the default one included.
    pub(crate) fn chosen(&self, discriminator: i128) -> Option<u32> {
        let found = self
            .by_label
            .binary_search_by_key(&discriminator, |(label, _)| *label);
        match found.ok().and_then(|place| self.by_label.get(place)) {
            Some((_, member)) => Some(*member),
            None => self.default,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Value {
    /// Kind of the type: `Value` or `Event`.
    pub(crate) kind: TypeKind,
    pub(crate) name: Name,
    pub(crate) modifier: ValueModifier,
    pub(crate) base: Option<Index>,
    pub(crate) members: Box<[Member]>,
    /// Visibility of each member of the valuetype.
    pub(crate) visibility: Box<[Visibility]>,
}

/// Modifier of a valuetype (CORBA's `ValueModifier`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(i16)]
pub enum ValueModifier {
    /// Ordinary valuetype.
    #[default]
    None = 0,
    /// Valuetype whose state is marshalled by user code.
    Custom = 1,
    /// Valuetype without state, from which other valuetypes inherit.
    Abstract = 2,
    /// Valuetype whose values may be truncated to the base type.
    Truncatable = 3,
}

/// Visibility of a member of a valuetype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(i16)]
pub enum Visibility {
    /// Visible to the operations of the valuetype only.
    #[default]
    Private = 0,
    /// Visible to all code that uses the valuetype.
    Public = 1,
}

impl Node {
    pub(crate) fn kind(&self) -> TypeKind {
        match self {
            Self::Primitive(kind) | Self::Interface { kind, .. } => *kind,
            Self::Text { is_wide: false, .. } => TypeKind::String,
            Self::Text { is_wide: true, .. } => TypeKind::WString,
            Self::Fixed { .. } => TypeKind::Fixed,
            Self::Sequence { .. } => TypeKind::Sequence,
            Self::Array { .. } => TypeKind::Array,
            Self::Alias { .. } => TypeKind::Alias,
            Self::ValueBox { .. } => TypeKind::ValueBox,
            Self::Struct { .. } => TypeKind::Struct,
            Self::Exception { .. } => TypeKind::Except,
            Self::Union(_) => TypeKind::Union,
            Self::Enum { .. } => TypeKind::Enum,
            Self::Value(value) => value.kind,
            Self::Recursive { .. } => TypeKind::Null,
        }
    }

    pub(crate) fn name(&self) -> Option<&Name> {
        match self {
            Self::Interface { name, .. }
            | Self::Alias { name, .. }
            | Self::ValueBox { name, .. }
            | Self::Struct { name, .. }
            | Self::Exception { name, .. }
            | Self::Enum { name, .. } => Some(name),
            Self::Union(this) => Some(&this.name),
            Self::Value(this) => Some(&this.name),
            _ => None,
        }
    }

    pub(crate) fn name_mut(&mut self) -> Option<&mut Name> {
        match self {
            Self::Interface { name, .. }
            | Self::Alias { name, .. }
            | Self::ValueBox { name, .. }
            | Self::Struct { name, .. }
            | Self::Exception { name, .. }
            | Self::Enum { name, .. } => Some(name),
            Self::Union(this) => Some(&mut this.name),
            Self::Value(this) => Some(&mut this.name),
            _ => None,
        }
    }

    /// Returns the members of a struct, exception, union or valuetype.
    pub(crate) fn members(&self) -> Option<&[Member]> {
        match self {
            Self::Struct { members, .. } | Self::Exception { members, .. } => Some(members),
            Self::Union(this) => Some(&this.members),
            Self::Value(this) => Some(&this.members),
            _ => None,
        }
    }

    pub(crate) fn members_mut(&mut self) -> &mut [Member] {
        match self {
            Self::Struct { members, .. } | Self::Exception { members, .. } => members,
            Self::Union(this) => &mut this.members,
            Self::Value(this) => &mut this.members,
            _ => &mut [],
        }
    }

    /// Returns the single type that a node contains, other than by members.
    pub(crate) fn content(&self) -> Option<Index> {
        match self {
            Self::Sequence { element, .. } | Self::Array { element, .. } => Some(*element),
            Self::Alias { of, .. } | Self::ValueBox { of, .. } => Some(*of),
            Self::Union(this) => Some(this.discriminator),
            Self::Value(this) => this.base,
            _ => None,
        }
    }

    /// Returns all parts: the one of [`Node::content`], and those of members.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Index> + '_ {
        let members = self.members().unwrap_or_default();
        self.content()
            .into_iter()
            .chain(members.iter().map(|member| member.at))
    }

    /// Replaces the node indices of all types that are parts of this type.
    pub(crate) fn replace_parts(&mut self, mut replace: impl FnMut(Index) -> Index) {
        match self {
            Self::Sequence { element, .. } | Self::Array { element, .. } => {
                *element = replace(*element);
            }
            Self::Alias { of, .. } | Self::ValueBox { of, .. } => *of = replace(*of),
            Self::Union(this) => this.discriminator = replace(this.discriminator),
            Self::Value(this) => this.base = this.base.map(&mut replace),
            _ => {}
        }
        for member in self.members_mut() {
            member.at = replace(member.at);
        }
    }
}
