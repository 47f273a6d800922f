//! Construction of TypeCodes, by generated code and by all code that knows types only at run time.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use punctual_cdr::Char;

use super::TypeCode;
use super::arena::Arena;
use super::graft::Grafts;
use super::node::{Index, Member, Name, Node, Union, Value, ValueModifier, Visibility};
use crate::kind::TypeKind;

/// Index of a type under construction, valid for the [`TypeBuilder`] that returned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TypeIndex(pub(super) Index);

/// Builder of a type with all of its parts.
///
/// A type that has a repository id is described once: a second request for it, also while it is
/// being described, gets the same index, which ends recursion.
#[derive(Debug, Default)]
pub struct TypeBuilder {
    nodes: Vec<Node>,
    ids: HashMap<Box<str>, Index>,
    simple: HashMap<TypeKind, Index>,
    grafts: Grafts,
}

/// Discriminator values that select a member of a union.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Label {
    /// All discriminator values for which the union has no label.
    Default,
    /// Single value: a number; a boolean's 0 or 1, a character's code, an enumerator's number.
    Value(i128),
}

macro_rules! labels {
    ($($from:ty),*) => {$(
        impl From<$from> for Label {
            fn from(value: $from) -> Self {
                Self::Value(i128::from(value))
            }
        }
    )*};
}

labels!(bool, u8, i8, u16, i16, u32, i32, u64, i64, i128);

impl From<char> for Label {
    fn from(value: char) -> Self {
        Self::Value(i128::from(u32::from(value)))
    }
}

impl From<Char> for Label {
    fn from(value: Char) -> Self {
        Self::Value(i128::from(value.0))
    }
}

/// Description of a union. A member with several labels is listed once for each.
#[derive(Clone, Debug)]
pub struct UnionDescription<N> {
    /// Type of the union's discriminator.
    pub discriminator: TypeIndex,
    /// Label, name and type of each member of the union.
    pub members: Vec<(Label, N, TypeIndex)>,
}

/// Description of a valuetype, from which its TypeCode is built.
#[derive(Clone, Debug)]
pub struct ValueDescription<N> {
    /// Base valuetype with state, if there is one.
    pub concrete_base: Option<TypeIndex>,
    /// Name, type and visibility of each of its own members.
    pub members: Vec<(N, TypeIndex, Visibility)>,
}

impl TypeBuilder {
    /// Returns the TypeCode cached in `place`, and makes it at the first call. Shared by all
    /// generated types, to keep their code small.
    #[doc(hidden)]
    #[must_use]
    pub fn once(place: &OnceLock<TypeCode>, describe: fn(&mut Self) -> TypeIndex) -> TypeCode {
        place.get_or_init(|| Self::described(describe)).clone()
    }

    /// Makes the TypeCode that the given function describes.
    #[must_use]
    pub fn described(describe: fn(&mut Self) -> TypeIndex) -> TypeCode {
        let mut types = Self::default();
        let root = describe(&mut types);
        types.finish(root)
    }

    /// Ends building; returns the TypeCode of the type `root`.
    #[must_use]
    pub fn finish(self, root: TypeIndex) -> TypeCode {
        TypeCode::in_arena(Arc::new(Arena::new(self.nodes, root.0)), root.0)
    }

    /// Adds a type identified by its kind alone; also an unbounded string.
    ///
    /// # Panics
    /// Never; all other kinds become `null`.
    pub fn primitive(&mut self, kind: TypeKind) -> TypeIndex {
        if let Some(index) = self.simple.get(&kind) {
            return TypeIndex(*index);
        }
        let node = Arena::simple().node(kind.number()).clone();
        let index = self.push(node);
        self.simple.insert(kind, index.0);
        index
    }

    /// Adds a `string`, of up to `bound` characters unless that is 0.
    pub fn string(&mut self, bound: u32) -> TypeIndex {
        match bound {
            0 => self.primitive(TypeKind::String),
            _ => self.push(Node::Text {
                is_wide: false,
                bound,
            }),
        }
    }

    /// Adds a `wstring`, of up to `bound` characters unless that is 0.
    pub fn wstring(&mut self, bound: u32) -> TypeIndex {
        match bound {
            0 => self.primitive(TypeKind::WString),
            _ => self.push(Node::Text {
                is_wide: true,
                bound,
            }),
        }
    }

    /// Adds a `sequence`, of up to `bound` elements unless that is 0.
    pub fn sequence(&mut self, element: TypeIndex, bound: u32) -> TypeIndex {
        self.push(Node::Sequence {
            element: element.0,
            bound,
        })
    }

    /// Adds an array of one dimension; further dimensions are arrays of arrays.
    pub fn array(&mut self, element: TypeIndex, length: u32) -> TypeIndex {
        self.push(Node::Array {
            element: element.0,
            length,
        })
    }

    /// Adds a `fixed` type with these digits and this scale.
    pub fn fixed(&mut self, digits: u16, scale: i16) -> TypeIndex {
        self.push(Node::Fixed { digits, scale })
    }

    /// Adds a struct. `members` is called only if the id is not known yet.
    pub fn structure<N: Into<Box<str>>>(
        &mut self,
        id: &str,
        name: &str,
        members: impl FnOnce(&mut Self) -> Vec<(N, TypeIndex)>,
    ) -> TypeIndex {
        self.named(id, name, |types, name| Node::Struct {
            name,
            members: gather(members(types)),
        })
    }

    /// Adds an exception. `members` is called only if the id is not known yet.
    pub fn exception<N: Into<Box<str>>>(
        &mut self,
        id: &str,
        name: &str,
        members: impl FnOnce(&mut Self) -> Vec<(N, TypeIndex)>,
    ) -> TypeIndex {
        self.named(id, name, |types, name| Node::Exception {
            name,
            members: gather(members(types)),
        })
    }

    /// Adds a union. `description` is called only if the id is not known yet. Of several default
    /// members the last one counts.
    pub fn union_<N: Into<Box<str>>>(
        &mut self,
        id: &str,
        name: &str,
        description: impl FnOnce(&mut Self) -> UnionDescription<N>,
    ) -> TypeIndex {
        self.named(id, name, |types, name| {
            let description = description(types);
            let mut union = Union {
                name,
                discriminator: description.discriminator.0,
                default: None,
                members: Box::default(),
                labels: Box::default(),
                by_label: Box::default(),
            };
            let mut labels = Vec::with_capacity(description.members.len());
            let mut members = Vec::with_capacity(description.members.len());
            for (place, (label, name, index)) in (0u32..).zip(description.members) {
                members.push((name, index));
                labels.push(match label {
                    Label::Value(label) => label,
                    Label::Default => {
                        union.default = Some(place);
                        0
                    }
                });
            }
            union.members = gather(members);
            union.labels = labels.into();
            Node::Union(Box::new(union.index()))
        })
    }

    /// Adds an enum type.
    pub fn enumeration<N: AsRef<str>>(
        &mut self,
        id: &str,
        name: &str,
        enumerators: &[N],
    ) -> TypeIndex {
        self.named(id, name, |_, name| Node::Enum {
            name,
            enumerators: enumerators.iter().map(|one| one.as_ref().into()).collect(),
        })
    }

    /// Adds an alias, which is another name for a type.
    pub fn alias(
        &mut self,
        id: &str,
        name: &str,
        of: impl FnOnce(&mut Self) -> TypeIndex,
    ) -> TypeIndex {
        self.named(id, name, |types, name| Node::Alias {
            name,
            of: of(types).0,
        })
    }

    /// Adds the type of references to objects of an interface.
    pub fn interface(&mut self, id: &str, name: &str) -> TypeIndex {
        self.interface_of(TypeKind::Objref, id, name)
    }

    /// Adds an abstract interface: a reference or a valuetype.
    pub fn abstract_interface(&mut self, id: &str, name: &str) -> TypeIndex {
        self.interface_of(TypeKind::AbstractInterface, id, name)
    }

    /// Adds a local interface, which has no values on the wire.
    pub fn local_interface(&mut self, id: &str, name: &str) -> TypeIndex {
        self.interface_of(TypeKind::LocalInterface, id, name)
    }

    /// Adds a native type, which has no values on the wire.
    pub fn native(&mut self, id: &str, name: &str) -> TypeIndex {
        self.interface_of(TypeKind::Native, id, name)
    }

    fn interface_of(&mut self, kind: TypeKind, id: &str, name: &str) -> TypeIndex {
        self.named(id, name, |_, name| Node::Interface { kind, name })
    }

    /// Adds a valuetype. `description` is called only if the id is not known yet.
    pub fn value<N: Into<Box<str>>>(
        &mut self,
        id: &str,
        name: &str,
        modifier: ValueModifier,
        description: impl FnOnce(&mut Self) -> ValueDescription<N>,
    ) -> TypeIndex {
        self.named(id, name, |types, name| {
            let description = description(types);
            let mut members = Vec::with_capacity(description.members.len());
            let mut visibility = Vec::with_capacity(description.members.len());
            for (name, index, seen) in description.members {
                members.push((name, index));
                visibility.push(seen);
            }
            Node::Value(Box::new(Value {
                kind: TypeKind::Value,
                name,
                modifier,
                base: description.concrete_base.map(|base| base.0),
                members: gather(members),
                visibility: visibility.into(),
            }))
        })
    }

    /// Adds a boxed value type.
    pub fn value_box(
        &mut self,
        id: &str,
        name: &str,
        of: impl FnOnce(&mut Self) -> TypeIndex,
    ) -> TypeIndex {
        self.named(id, name, |types, name| Node::ValueBox {
            name,
            of: of(types).0,
        })
    }

    /// Adds a placeholder for a type that is, or will be, described under this id, for parts of it
    /// that are made first.
    pub fn recursive(&mut self, id: &str) -> TypeIndex {
        match self.ids.get(id) {
            Some(index) => TypeIndex(*index),
            None => self.push(Node::Recursive { id: id.into() }),
        }
    }

    /// Adds an existing type with all of its parts. Recursive placeholders in it that stand for
    /// types which are known here, or are being described, are replaced by those.
    pub fn include(&mut self, type_code: &TypeCode) -> TypeIndex {
        let known = |id: &str| self.ids.get(id).copied();
        TypeIndex(self.grafts.graft(&mut self.nodes, known, type_code))
    }

    /// Adds a node with an id, which may be requested while it is being described.
    fn named(
        &mut self,
        id: &str,
        name: &str,
        describe: impl FnOnce(&mut Self, Name) -> Node,
    ) -> TypeIndex {
        // A `describe` exists for each generated type: their common code stands outside.
        if let Some(known) = self.known(id) {
            return known;
        }
        let index = self.begin(id);
        let name = Name {
            id: id.into(),
            name: name.into(),
        };
        let node = describe(self, name);
        self.end(index, node);
        index
    }

    /// Returns the index of the type with this repository id, if it was added before.
    fn known(&self, id: &str) -> Option<TypeIndex> {
        // An empty id identifies nothing: each type without an id is a new one.
        self.ids
            .get(id)
            .filter(|_| !id.is_empty())
            .map(|&index| TypeIndex(index))
    }

    /// Reserves an index for a type that is about to be described.
    fn begin(&mut self, id: &str) -> TypeIndex {
        let index = self.push(Node::Recursive { id: id.into() });
        if !id.is_empty() {
            self.ids.insert(id.into(), index.0);
        }
        index
    }

    /// Stores the description of the type with this index.
    fn end(&mut self, index: TypeIndex, node: Node) {
        if let Some(place) = self.nodes.get_mut(index.0 as usize) {
            *place = node;
        }
    }

    fn push(&mut self, node: Node) -> TypeIndex {
        if self.nodes.is_empty() {
            // Many types are a single node: a vector would begin with room for four.
            self.nodes.reserve_exact(1);
        }
        // Memory is exhausted long before 32 bits are.
        let index = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        self.nodes.push(node);
        TypeIndex(index)
    }
}

fn gather<N: Into<Box<str>>>(members: Vec<(N, TypeIndex)>) -> Box<[Member]> {
    let member = |(name, index): (N, TypeIndex)| Member {
        name: name.into(),
        at: index.0,
    };
    members.into_iter().map(member).collect()
}
