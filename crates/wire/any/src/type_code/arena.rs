//! Where types live: all nodes of a type in one immutable list, naming one another by index.

use std::sync::{Arc, LazyLock, OnceLock, Weak};

use punctual_cdr::CdrError;

use crate::kind::TypeKind;
use crate::shape::{Shape, shapes};

/// A node's place in its arena.
pub(crate) type Index = u32;

/// A type as TypeCodes share it. It never changes once it is made.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    nodes: Vec<Node>,
    root: Index,
    has_wide_labels: bool,
    shapes: OnceLock<Result<Box<[Shape]>, CdrError>>,
    /// The content of the encapsulation that the root's parameters are, if its kind has one.
    encoding: OnceLock<Box<[u8]>>,
    /// Another arena whose node is known to be equivalent to one here. Whoever has a static type compares
    /// it with what comes from peers again and again.
    equivalent: OnceLock<(Index, Weak<Arena>, Index)>,
}

/// One type. Parts are places in the same arena.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Primitive(TypeKind),
    /// `string` or `wstring`; the bound 0 means none.
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
    /// What an id and a name say all of: interfaces of all kinds, `native`, components and homes.
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
    /// A type that is known by its id only, until it is built into the one that has that id.
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
    /// One for each member; that of the default member means nothing.
    pub(crate) labels: Box<[i128]>,
    /// Labels and places of members, ascending, so that a value's member is found quickly however many
    /// there are. The default member is not among them.
    pub(crate) by_label: Box<[(i128, u32)]>,
}

impl Union {
    /// With no index of labels yet.
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

    /// The place of the member that a discriminator chooses, the default one included.
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
    /// `Value` or `Event`.
    pub(crate) kind: TypeKind,
    pub(crate) name: Name,
    pub(crate) modifier: ValueModifier,
    pub(crate) base: Option<Index>,
    pub(crate) members: Box<[Member]>,
    /// One for each member.
    pub(crate) visibility: Box<[Visibility]>,
}

/// What sort of valuetype (CORBA's `ValueModifier`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(i16)]
pub enum ValueModifier {
    /// An ordinary one.
    #[default]
    None = 0,
    /// One that marshals itself.
    Custom = 1,
    /// One without state, that others inherit from.
    Abstract = 2,
    /// One that may be cut down to its base.
    Truncatable = 3,
}

/// Who sees a member of a valuetype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(i16)]
pub enum Visibility {
    /// The valuetype's own operations.
    #[default]
    Private = 0,
    /// Everybody.
    Public = 1,
}

static SIMPLE: LazyLock<Arena> = LazyLock::new(|| {
    let node = |kind: TypeKind| match kind {
        TypeKind::String | TypeKind::WString => Node::Text {
            is_wide: kind == TypeKind::WString,
            bound: 0,
        },
        _ if kind.is_primitive() => Node::Primitive(kind),
        _ => Node::Primitive(TypeKind::Null),
    };
    Arena::new(TypeKind::ALL.map(node).into(), 0)
});

/// What stands where a place is not in its arena, which no code makes.
static NULL: Node = Node::Primitive(TypeKind::Null);

impl Arena {
    pub(crate) fn new(nodes: Vec<Node>, root: Index) -> Self {
        let arena = Self {
            nodes,
            root,
            ..Self::default()
        };
        let has_wide_labels = arena
            .nodes
            .iter()
            .any(|node| arena.is_chosen_by_wchar(node));
        Self {
            has_wide_labels,
            ..arena
        }
    }

    /// Whether the octets of its types differ from one version of GIOP to another, as a `wchar` does.
    pub(crate) fn has_wide_labels(&self) -> bool {
        self.has_wide_labels
    }

    fn is_chosen_by_wchar(&self, node: &Node) -> bool {
        let Node::Union(union) = node else {
            return false;
        };
        let mut at = union.discriminator;
        // What is no type may be asked, too: even a ring of aliases.
        for _ in &self.nodes {
            match self.node(at) {
                Node::Alias { of, .. } => at = *of,
                other => return other.kind() == TypeKind::WChar,
            }
        }
        false
    }

    /// The arena of the types that their kind says all of: each is at its kind's number.
    pub(crate) fn simple() -> &'static Self {
        &SIMPLE
    }

    pub(crate) fn node(&self, at: Index) -> &Node {
        let place = usize::try_from(at).unwrap_or(usize::MAX);
        self.nodes.get(place).unwrap_or(&NULL)
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn root(&self) -> Index {
        self.root
    }

    /// The node behind aliases.
    pub(crate) fn resolved(&self, mut at: Index) -> Index {
        if let Ok(shapes) = self.shapes() {
            return shapes.shape(at).original;
        }
        // What is no type may be asked, too: even a ring of aliases.
        for _ in &self.nodes {
            match self.node(at) {
                Node::Alias { of, .. } => at = *of,
                _ => break,
            }
        }
        at
    }

    /// What is known of how values of these types look.
    ///
    /// # Errors
    /// [`CdrError::BadTypeCode`] if these are no types.
    pub(crate) fn shapes(&self) -> Result<Shapes<'_>, CdrError> {
        match self.shapes.get_or_init(|| shapes(&self.nodes)) {
            Ok(shapes) => Ok(Shapes {
                arena: self,
                shapes,
            }),
            Err(error) => Err(*error),
        }
    }

    pub(crate) fn encoding(&self) -> &OnceLock<Box<[u8]>> {
        &self.encoding
    }

    pub(crate) fn is_known_equivalent(&self, at: Index, other: &Arc<Self>, there: Index) -> bool {
        self.equivalent.get().is_some_and(|(here, arena, its)| {
            (*here, *its) == (at, there) && std::ptr::eq(arena.as_ptr(), Arc::as_ptr(other))
        })
    }

    pub(crate) fn know_equivalent(&self, at: Index, other: &Arc<Self>, there: Index) {
        // The first one stays: in a steady state there is one.
        let _ = self.equivalent.set((at, Arc::downgrade(other), there));
    }
}

/// An arena whose types have been found to be types.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shapes<'a> {
    arena: &'a Arena,
    shapes: &'a [Shape],
}

impl<'a> Shapes<'a> {
    pub(crate) fn node(&self, at: Index) -> &'a Node {
        self.arena.node(at)
    }

    pub(crate) fn shape(&self, at: Index) -> &'a Shape {
        let place = usize::try_from(at).unwrap_or(usize::MAX);
        self.shapes.get(place).unwrap_or(&Shape::NOTHING)
    }
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

    /// The members of a struct, exception, union or valuetype.
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

    /// The one type that this one is made of, where it is not by members.
    pub(crate) fn content(&self) -> Option<Index> {
        match self {
            Self::Sequence { element, .. } | Self::Array { element, .. } => Some(*element),
            Self::Alias { of, .. } | Self::ValueBox { of, .. } => Some(*of),
            Self::Union(this) => Some(this.discriminator),
            Self::Value(this) => this.base,
            _ => None,
        }
    }

    /// All parts: the one of [`Node::content`], and those of members.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Index> + '_ {
        let members = self.members().unwrap_or_default();
        self.content()
            .into_iter()
            .chain(members.iter().map(|member| member.at))
    }

    /// Puts other places in the place of each part.
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
