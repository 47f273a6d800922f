//! Arena of types: all nodes of a type in one immutable list, referring to one another by index.

use std::sync::{Arc, LazyLock, OnceLock, Weak};

use punctual_cdr::CdrError;

use super::TypeCode;
use super::node::{Index, Node};
use crate::kind::TypeKind;
use crate::shape::{Shape, shapes};

/// Immutable description of a type, shared by TypeCodes.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    nodes: Vec<Node>,
    root: Index,
    has_wide_labels: bool,
    shapes: OnceLock<Result<Box<[Shape]>, CdrError>>,
    /// Cached content of the encapsulation of the root's parameters, if its kind has one.
    encoding: OnceLock<Box<[u8]>>,
    /// Another arena with a node known to be equivalent to one here. A static type is compared with
    /// received ones again and again.
    equivalent: OnceLock<(Index, Weak<Arena>, Index)>,
    /// Types made of the root's, once a Rust type has needed one. Types that are received need none, and are many.
    made_of: OnceLock<Box<MadeOf>>,
}

/// Types made of another one.
#[derive(Debug, Default)]
struct MadeOf {
    /// Unbounded sequence.
    sequence: OnceLock<TypeCode>,
    /// Array, of the length that a Rust type has needed first.
    array: OnceLock<(u32, TypeCode)>,
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

/// Unbounded sequences of the types identified by their kind alone, each at its kind's number.
static SEQUENCES: [OnceLock<TypeCode>; TypeKind::ALL.len()] =
    [const { OnceLock::new() }; TypeKind::ALL.len()];

/// Node returned for an index outside of its arena, which does not occur.
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

    /// Returns whether the encoding of its types differs between versions of GIOP, as that of a
    /// `wchar` does.
    pub(crate) fn has_wide_labels(&self) -> bool {
        self.has_wide_labels
    }

    fn is_chosen_by_wchar(&self, node: &Node) -> bool {
        let Node::Union(union) = node else {
            return false;
        };
        let mut at = union.discriminator;
        // Bounded, since an invalid type may be a cycle of aliases.
        for _ in &self.nodes {
            match self.node(at) {
                Node::Alias { of, .. } => at = *of,
                other => return other.kind() == TypeKind::WChar,
            }
        }
        false
    }

    /// Returns the arena of the types identified by their kind alone: each is at its kind's number.
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

    /// Returns the index of the node that remains after all aliases are resolved.
    pub(crate) fn resolved(&self, mut at: Index) -> Index {
        if let Ok(shapes) = self.shapes() {
            return shapes.shape(at).original;
        }
        // Bounded, since an invalid type may be a cycle of aliases.
        for _ in &self.nodes {
            match self.node(at) {
                Node::Alias { of, .. } => at = *of,
                _ => break,
            }
        }
        at
    }

    /// Returns the shapes of these types.
    ///
    /// # Errors
    /// [`CdrError::BadTypeCode`] if the types are invalid.
    pub(crate) fn shapes(&self) -> Result<Shapes<'_>, CdrError> {
        match self.shapes.get_or_init(|| shapes(&self.nodes)) {
            Ok(shapes) => Ok(Shapes {
                arena: self,
                shapes,
            }),
            Err(error) => Err(*error),
        }
    }

    /// Returns the place of the cached sequence of the root's type.
    pub(super) fn sequence(&self) -> &OnceLock<TypeCode> {
        &self.made_of().sequence
    }

    /// Returns the place of the cached sequence of the simple type at an index.
    pub(super) fn simple_sequence(at: Index) -> Option<&'static OnceLock<TypeCode>> {
        SEQUENCES.get(usize::try_from(at).ok()?)
    }

    /// Returns the place of the cached array of the root's type, with its length.
    pub(super) fn array(&self) -> &OnceLock<(u32, TypeCode)> {
        &self.made_of().array
    }

    fn made_of(&self) -> &MadeOf {
        self.made_of.get_or_init(Box::default)
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
        // The first entry stays: in a steady state there is one.
        let _ = self.equivalent.set((at, Arc::downgrade(other), there));
    }
}

/// Arena whose types have been found to be valid.
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
        self.shapes.get(place).unwrap_or(&Shape::EMPTY)
    }

    /// Returns whether the type is `octet`, or an alias of it.
    pub(crate) fn is_octet(&self, at: Index) -> bool {
        self.node(self.shape(at).original).kind() == TypeKind::Octet
    }
}
