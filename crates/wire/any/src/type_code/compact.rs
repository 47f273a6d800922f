//! TypeCodes without names.

use std::sync::Arc;

use super::TypeCode;
use super::arena::Arena;
use super::graft::Grafts;
use super::node::Node;

impl TypeCode {
    /// Returns the same type without its names and those of its members, where they are optional,
    /// so that less is sent. Repository ids stay, and the result is equivalent to this type (CORBA
    /// 3.3 part 1, §8.11.1).
    #[must_use]
    pub fn compact(&self) -> Self {
        let mut nodes = Vec::new();
        let root = Grafts::default().graft(&mut nodes, |_| None, self);
        for node in &mut nodes {
            if let Some(name) = node.name_mut() {
                name.name = Box::default();
            }
            for member in node.members_mut() {
                member.name = Box::default();
            }
            if let Node::Enum { enumerators, .. } = node {
                enumerators.fill(Box::default());
            }
        }
        Self::in_arena(Arc::new(Arena::new(nodes, root)), root)
    }
}
