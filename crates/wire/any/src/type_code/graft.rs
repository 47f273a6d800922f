//! Copying of types from one arena into another.

use std::collections::HashMap;
use std::sync::Arc;

use super::TypeCode;
use super::arena::Arena;
use super::node::{Index, Node};

/// Record of the types copied, by the addresses of their arenas. The arenas are kept alive
/// meanwhile, so that no other can get the same address.
#[derive(Debug, Default)]
pub(super) struct Grafts {
    places: HashMap<(usize, Index), Index>,
    kept: Vec<Arc<Arena>>,
}

impl Grafts {
    /// Copies a type and all of its parts into `nodes`. `known` returns the type that a recursive
    /// TypeCode's id stands for.
    pub(super) fn graft(
        &mut self,
        nodes: &mut Vec<Node>,
        known: impl Fn(&str) -> Option<Index>,
        type_code: &TypeCode,
    ) -> Index {
        let arena = type_code.arena();
        if let Some(arena) = &type_code.arena {
            self.kept.push(Arc::clone(arena));
        }
        let mut to_copy = Vec::new();
        let root = self.place(nodes, &known, arena, type_code.at(), &mut to_copy);
        while let Some((from, to)) = to_copy.pop() {
            let mut node = arena.node(from).clone();
            node.replace_parts(|part| self.place(nodes, &known, arena, part, &mut to_copy));
            if let Some(place) = nodes.get_mut(to as usize) {
                *place = node;
            }
        }
        root
    }

    /// Returns the index at which the node has been, or will be, copied; in the latter case queues
    /// it for copying.
    fn place(
        &mut self,
        nodes: &mut Vec<Node>,
        known: &impl Fn(&str) -> Option<Index>,
        arena: &Arena,
        at: Index,
        to_copy: &mut Vec<(Index, Index)>,
    ) -> Index {
        if let Node::Recursive { id } = arena.node(at)
            && let Some(index) = known(id)
        {
            return index;
        }
        *self
            .places
            .entry((std::ptr::from_ref(arena).addr(), at))
            .or_insert_with(|| {
                let index = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
                nodes.push(Node::Primitive(crate::TypeKind::Null));
                to_copy.push((at, index));
                index
            })
    }
}
